"""Embedding many texts: order, progress, what was cut off, and what an embedder may not return."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.embed import texts as module
from citespan.embed.hashing import HashingEmbedder
from citespan.embed.texts import describe_truncation, embed_texts
from citespan.errors import InputError, ModelError


@given(st.lists(st.sampled_from(["a", "b c", "", "d " * 20, "e"]), max_size=12))
def test_order_is_kept_and_long_texts_are_named(texts):
    embedder = HashingEmbedder(dimension=8, max_tokens=10)
    found = embed_texts(texts, embedder)
    np.testing.assert_array_equal(found.vectors, embedder.embed(texts))
    assert found.truncated == tuple(i for i, text in enumerate(texts) if text.startswith("d"))


def test_each_distinct_text_once():
    class Once(HashingEmbedder):
        def embed(self, texts, *, kind="document"):
            assert len(set(texts)) == len(texts)
            return super().embed(texts, kind=kind)

    assert embed_texts(["a", "b", "a"] * 3, Once(8)).vectors.shape == (9, 8)


def test_progress_reaches_the_end(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 4)
    clock = iter(range(100))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(clock)))
    seen = []
    embed_texts([f"word{n}" for n in range(10)], HashingEmbedder(8), progress=seen.append)
    assert [(step.done, step.total) for step in seen] == [(4, 10), (8, 10), (10, 10)]
    # A slice a second, three tokens a text: 12 tokens after 1 s leaves 18 for 1.5 s.
    assert (seen[0].rate, seen[0].seconds_left) == (12.0, 1.5)
    assert (seen[1].rate, seen[1].seconds_left) == (12.0, 0.5)
    assert seen[2].seconds_left == 0


def test_no_texts():
    seen = []
    found = embed_texts([], HashingEmbedder(8), progress=seen.append)
    assert found.vectors.shape == (0, 8)
    assert (found.truncated, seen) == ((), [])


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.zeros((1, 8), dtype=np.float32), r"returned \(1, 8\) where \(2, 8\)"),
        (np.zeros((2, 7), dtype=np.float32), r"returned \(2, 7\) where \(2, 8\)"),
        (np.full((2, 8), np.nan, dtype=np.float32), "not finite"),
    ],
)
def test_nonsense_is_refused(result, said):
    class Wrong(HashingEmbedder):
        def embed(self, texts, *, kind="document"):
            return result

    with pytest.raises(ModelError, match=said):
        embed_texts(["a", "b"], Wrong(8))


def test_warning_says_how_many():
    embedder = HashingEmbedder(dimension=8, max_tokens=4)
    assert describe_truncation(embed_texts(["a"], embedder), 4) == ""
    assert describe_truncation(embed_texts(["a b c", "d e f"], embedder), 4).startswith(
        "of 2 texts"
    )


def test_hashing_by_hand():
    # One word is one place: the vector is a unit vector, and its opposite words meet nowhere else.
    vector = HashingEmbedder(dimension=512).embed(["pump"])[0]
    assert sorted(set(np.abs(vector).tolist())) == [0.0, 1.0]
    assert np.count_nonzero(vector) == 1
    assert HashingEmbedder("16").dimension == 16
    with pytest.raises(InputError, match="no dimension"):
        HashingEmbedder("x")
