"""Sentences around the candidates, and the scores of the windows around each of them.

A window is a sentence with w neighbours on either side, within one run of stored sentences. Its
vector is the mean of its sentences' vectors and its term counts are their sum, so windows of every
size cost two cumulative sums and no model call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import SentenceRange, Store, Terms, Vectors
from citespan.text import hash_terms

K1 = 1.2
B = 0.75
"""BM25's usual saturation and length normalisation (Robertson and Zaragoza 2009)."""


@dataclass(frozen=True, slots=True)
class SentencePool:
    """Sentences of one or several documents, laid end to end in runs.

    ``documents[i]`` and ``orders[i]`` name sentence i; ``runs`` holds the first sentence of each
    run and, at the end, their number; no window crosses from one run into the next. ``vectors`` is
    None where there are none. ``terms`` and ``counts`` are as in ``SentenceRange``.
    """

    documents: list[str]
    orders: NDArray[np.int64]
    spans: NDArray[np.int32]
    runs: NDArray[np.int64]
    vectors: Vectors | None
    terms: NDArray[np.uint32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.orders)


def join_ranges(
    requests: Iterable[tuple[str, int, int]], *, margin: int
) -> list[tuple[str, int, int]]:
    """Return the ranges widened by ``margin`` sentences and merged within each document.

    >>> join_ranges([("a", 4, 6), ("b", 0, 2), ("a", 7, 9)], margin=1)
    [('a', 3, 10), ('b', 0, 3)]
    """
    merged: list[tuple[str, int, int]] = []
    for document, first, last in sorted(requests):
        start, end = max(0, first - margin), last + margin
        if merged and merged[-1][0] == document and start <= merged[-1][2]:
            merged[-1] = (document, merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((document, start, end))
    return merged


def read_pool(store: Store, requests: Sequence[tuple[str, int, int]]) -> SentencePool:
    """Return the sentences of these ranges (document, first, last), in their order."""
    return make_pool(store.get_sentence_ranges(requests))


def make_pool(ranges: Iterable[SentenceRange]) -> SentencePool:
    """Return the pool of the ranges that hold any sentence."""
    filled = [r for r in ranges if len(r.spans)]
    sizes = [len(r.spans) for r in filled]
    with_vectors = bool(filled) and all(r.vectors is not None for r in filled)
    return SentencePool(
        documents=[r.document_id for r in filled for _ in range(len(r.spans))],
        orders=_join([np.arange(r.first, r.first + n) for r, n in zip(filled, sizes, strict=True)]),
        spans=np.concatenate([r.spans for r in filled])
        if filled
        else np.zeros((0, 2), dtype=np.int32),
        runs=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        vectors=np.concatenate([r.vectors for r in filled if r.vectors is not None])
        if with_vectors
        else None,
        terms=np.concatenate([r.terms for r in filled]) if filled else np.zeros(0, np.uint32),
        counts=np.concatenate([r.counts for r in filled]) if filled else np.zeros(0, np.int32),
    )


def _join(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, dtype=np.int64)


def count_terms(pool: SentencePool, terms: Terms) -> NDArray[np.float64]:
    """Return how often each of the question's groups stands in each sentence, ``[n, groups]``.

    A group's members are alternatives; their occurrences are added.
    """
    groups = [hash_terms(group) for group in terms]
    found = np.zeros((len(pool), len(groups)), dtype=np.float64)
    if not groups or not len(pool.terms):
        return found
    owner = np.repeat(np.arange(len(pool)), pool.counts)
    known = np.unique(np.concatenate(groups))
    place = np.minimum(np.searchsorted(known, pool.terms), len(known) - 1)
    hit = known[place] == pool.terms
    flat = owner[hit] * len(known) + place[hit]
    counts = np.bincount(flat, minlength=len(pool) * len(known)).reshape(len(pool), len(known))
    for column, group in enumerate(groups):
        found[:, column] = counts[:, np.searchsorted(known, np.unique(group))].sum(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class WindowScores:
    """The scores of every sentence's window of one size; ``cosine`` is None without vectors."""

    width: int
    bm25: NDArray[np.float64]
    cosine: NDArray[np.float64] | None


def score_windows(
    pool: SentencePool,
    counts: NDArray[np.float64],
    weights: Sequence[float],
    query: NDArray[np.float32] | None,
    widths: Sequence[int],
) -> list[WindowScores]:
    """Return BM25 and cosine of each sentence's windows, one entry a width.

    ``bm25 = sum over groups of weight * tf * (K1 + 1) / (tf + K1 * (1 - B + B * length / mean))``
    with the window's term counts and length, the mean over the windows of that width, and the
    group's idf in the collection as its weight. The cosine is that of the mean of the window's
    sentence vectors.

    Parameters
    ----------
    counts
        From ``count_terms``, ``[n, groups]``.
    weights
        One a group.
    query
        The question's vector, or None.
    widths
        Neighbours on either side: 0 is the sentence alone.
    """
    n = len(pool)
    starts, ends = _find_runs(pool)
    places = np.arange(n)
    idf = np.asarray(weights, dtype=np.float64)
    cumulated = _cumulate(counts)
    lengths = _cumulate(pool.counts.astype(np.float64))
    # The dot product with a sum of vectors is the sum of the dot products; only the norm of the
    # mean needs the vectors themselves.
    dots = norms = None
    if query is not None and pool.vectors is not None:
        dots = _cumulate((pool.vectors @ query).astype(np.float64))
        norms = pool.vectors
    scores: list[WindowScores] = []
    for width in widths:
        first = np.maximum(starts, places - width)
        last = np.minimum(ends, places + width + 1)
        tf = cumulated[last] - cumulated[first]
        length = lengths[last] - lengths[first]
        mean = length.mean() if n else 1.0
        base = K1 * (1 - B + B * length / max(mean, 1e-9))
        bm25 = (idf * tf * (K1 + 1) / (tf + base[:, None])).sum(axis=1)
        cosine = None
        if dots is not None and norms is not None:
            total = dots[last] - dots[first]
            cosine = total / np.maximum(_measure_sums(norms, first, last), 1e-9)
        scores.append(WindowScores(width, bm25, cosine))
    return scores


def _find_runs(pool: SentencePool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each sentence, the first sentence of its run and the end of the run."""
    sizes = np.diff(pool.runs)
    return np.repeat(pool.runs[:-1], sizes), np.repeat(pool.runs[1:], sizes)


def _cumulate(values: NDArray[np.float64]) -> NDArray[np.float64]:
    zero = np.zeros((1, *values.shape[1:]))
    return np.concatenate([zero, np.cumsum(values, axis=0)])


def _measure_sums(
    vectors: Vectors, first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the norm of the sum of ``vectors[first:last]`` for each pair."""
    norms = np.empty(len(first))
    widest = int((last - first).max(initial=0))
    if widest <= 1:
        return np.asarray(np.linalg.norm(vectors, axis=1)[first], dtype=np.float64)
    # Windows of neighbours differ by a row or two: |sum|^2 is the sum of all products of two rows
    # within the window, and those are the near diagonals of the matrix of products.
    n = len(vectors)
    total = np.zeros(len(first))
    for distance in range(widest):
        products = np.einsum("ij,ij->i", vectors[: n - distance], vectors[distance:])
        along = np.concatenate([[0.0], np.cumsum(products, dtype=np.float64)])
        # The last sentences have no row at this distance: their sum is empty.
        begin = np.minimum(first, n - distance)
        end = np.maximum(last - distance, begin)
        total += (along[end] - along[begin]) * (1 if distance == 0 else 2)
    np.sqrt(np.maximum(total, 0.0), out=norms)
    return norms
