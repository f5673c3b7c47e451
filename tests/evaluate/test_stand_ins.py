"""The automatic stand-ins, by hand and against listing all pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.evaluate.stand_ins import (
    StandIns,
    boundary_sharpness,
    inner_similarity,
    leading_pronoun,
    leading_pronouns,
    sentences_cut,
)
from citespan.types import Span


def unit_vectors(seed: int, count: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@given(st.integers(0, 999), st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_inner_similarity_equals_listing_all_pairs(seed, owners):
    vectors = unit_vectors(seed, len(owners))
    means = []
    for owner in set(owners):
        own = [v.astype(float) for v, o in zip(vectors, owners, strict=True) if o == owner]
        pairs = [float(a @ b) for a, b in itertools.combinations(own, 2)]
        if pairs:
            means.append(sum(pairs) / len(pairs))
    expected = sum(means) / len(means) if means else None
    assert inner_similarity(vectors, owners) == (
        None if expected is None else pytest.approx(expected, abs=1e-6)
    )


def test_sharpness_prefers_the_true_boundary():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 4, axis=0)
    true, shifted = [0] * 4 + [1] * 4, [0] * 2 + [1] * 6
    assert boundary_sharpness(vectors, true) == 1.0
    assert boundary_sharpness(vectors, shifted) == pytest.approx(5 / 6 - 1)
    assert boundary_sharpness(vectors, [0] * 8) is None
    assert boundary_sharpness(vectors[:1], [0]) is None


def test_sentences_cut():
    sentences = [Span(0, 10), Span(11, 20), Span(21, 30)]
    assert sentences_cut([[Span(0, 20)], [Span(21, 30)]], sentences) == 0
    assert sentences_cut([[Span(0, 15)], [Span(15, 30)]], sentences) == pytest.approx(1 / 3)
    assert sentences_cut([[Span(0, 15)], [Span(8, 30)]], sentences) == 0, "an overlap may hold it"
    assert sentences_cut([], sentences) == 1
    assert sentences_cut([], []) is None


@pytest.mark.parametrize(
    ("text", "language", "word"),
    [
        ("“He said so.", "en", "He"),
        ("It's late.", "en", "It's"),
        ("Italy is far.", "en", None),
        ("Она ушла.", "ru", "Она"),
        ("Онтология", "ru", None),
        ("这是", "zh", "这"),
        ("他们来了", "zh-Hans", "他们"),
        ("北京是", "zh", None),
        ("", "en", None),
        ("Er kam.", "de", None),
    ],
)
def test_leading_pronoun(text, language, word):
    assert leading_pronoun(text, language) == word


def test_an_unknown_language_is_unmeasured_not_zero():
    assert leading_pronouns([(5, "Er kam.")], "de") is None
    assert leading_pronouns([(0, "It is.")], "en") is None
    assert "leading pronouns unmeasured" in StandIns(0.1, 0.2, 0.3, None).describe()
    assert StandIns(0.1, 0.2, 0.3, None).describe().startswith("automatic stand-ins, no ratings")
