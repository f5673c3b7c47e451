"""Window scores, held to plain sums over each window."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.protocols import SentenceRange
from citespan.retrieve.windows import (
    K1,
    B,
    SentencePool,
    count_terms,
    join_ranges,
    make_pool,
    score_windows,
)
from citespan.text import hash_terms


def make_range(document: str, first: int, terms: list[list[str]], seed: int = 0) -> SentenceRange:
    n = len(terms)
    vectors = np.random.default_rng(seed).normal(size=(n, 5)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    spans = np.array([[10 * i, 10 * i + 9] for i in range(n)], np.int32).reshape(-1, 2)
    return SentenceRange(
        document,
        first,
        spans,
        vectors,
        hash_terms([term for row in terms for term in row]),
        np.array([len(row) for row in terms], np.int32),
    )


@pytest.fixture
def pool() -> SentencePool:
    return make_pool(
        [
            make_range("a", 3, [["tea", "pot"], ["tea"], [], ["cup"]], 1),
            make_range("b", 0, [["pot", "pot"]], 2),
        ]
    )


def test_ranges_are_widened_and_merged_within_a_document_only() -> None:
    wanted = [("b", 5, 6), ("a", 4, 6), ("a", 9, 11), ("a", 0, 1)]
    assert join_ranges(wanted, margin=2) == [("a", 0, 13), ("b", 3, 8)]
    assert join_ranges(wanted, margin=0) == [("a", 0, 1), ("a", 4, 6), ("a", 9, 11), ("b", 5, 6)]


def test_terms_are_counted_by_group(pool: SentencePool) -> None:
    # Alternatives are added up; a term twice in a group counts once.
    counts = count_terms(pool, [("tea",), ("pot", "cup", "pot"), ("absent",)])
    assert counts.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 2, 0]]


def test_windows_stay_within_a_run(pool: SentencePool) -> None:
    counts = count_terms(pool, [("pot",)])
    (wide,) = score_windows(pool, counts, [1.0], None, [9])
    # All four of "a" see one "pot" in four terms; "b" sees two in two. Mean length: 18 / 5.
    mean = (4 * 4 + 2) / 5
    in_a = 1 * (K1 + 1) / (1 + K1 * (1 - B + B * 4 / mean))
    in_b = 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 2 / mean))
    assert wide.bm25.tolist() == pytest.approx([in_a] * 4 + [in_b])
    assert wide.cosine is None


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    width=st.integers(0, 9),
    seed=st.integers(0, 99),
)
def test_the_cosine_is_that_of_the_mean_vector(sizes: list[int], width: int, seed: int) -> None:
    ranges = [make_range(f"d{i}", 0, [["x"]] * n, seed + i) for i, n in enumerate(sizes)]
    pool = make_pool(ranges)
    query = ranges[0].vectors[0]  # type: ignore[index]
    (found,) = score_windows(pool, count_terms(pool, []), [], query, [width])
    expected = []
    for one in ranges:
        assert one.vectors is not None
        for i in range(len(one.vectors)):
            mean = one.vectors[max(0, i - width) : i + width + 1].mean(axis=0, dtype=np.float64)
            expected.append(float(mean @ query) / math.sqrt(float(mean @ mean)))
    assert found.cosine is not None
    assert found.cosine.tolist() == pytest.approx(expected, abs=1e-4)


def test_nothing_found_is_an_empty_pool() -> None:
    pool = make_pool([])
    assert len(pool) == 0
    counts = count_terms(pool, [("tea",)])
    assert counts.shape == (0, 1)
    (found,) = score_windows(pool, counts, [1.0], None, [2])
    assert found.bm25.shape == (0,)
