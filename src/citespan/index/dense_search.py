"""Searching the rows of a dense index: exact scores, for all rows or for faiss's candidates.

Whatever way candidates were found, their scores are computed anew from the stored vectors in
float64, so that one vector has one score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citespan.index import quantised
from citespan.index.truth import Ranges

MARGIN = 1e-5
"""float32 sums of one vector in two places of a matrix differ by less than this."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a search reads: the files' vectors, newer ones in memory, and which rows are dead.

    ``keys`` ``[n]`` are in ascending order, the file's and then the tail's; ``base``
    ``[m, dimension]`` lies in the files, ``tail`` ``[n - m, dimension]`` is newer than them and
    held in memory by a reader beside a writer. ``faiss`` covers the first ``faiss_rows`` rows.
    """

    keys: NDArray[np.int64]
    base: NDArray[np.float32]
    tail: NDArray[np.float32]
    dead: NDArray[np.bool_]
    faiss: Any
    faiss_rows: int


def search_rows(
    state: Rows, vector: NDArray[np.float32], k: int, within: Ranges | None = None
) -> list[tuple[int, float]]:
    """Return up to k (key, cosine), best first, ties by key; a zero vector finds nothing."""
    if k < 1 or not len(state.keys) or not np.any(vector):
        return []
    query = np.ascontiguousarray(vector, dtype=np.float32)
    if within is not None:
        rows = rows_within(state.keys, within)
        rows = rows[~state.dead[rows]]
        # A row picked out costs as much as four or five read one after the other.
        many = 5 * len(rows) > len(state.keys)
        scores = _score_from(state, query, 0)[rows] if many else _score(state, query, rows)
        return _best(state, query, _shortlist(scores, rows, k), k)
    alive = len(state.keys) - int(state.dead.sum())
    if state.faiss is not None and 4 * k < alive:
        scores = _score_from(state, query, state.faiss_rows)
        rest = np.flatnonzero(~state.dead[state.faiss_rows :])
        rest = _shortlist(scores[rest], rest + state.faiss_rows, k)
        wanted = quantised.candidates(k)
        while wanted < state.faiss_rows:
            found = quantised.search(state.faiss, query, wanted)
            found = found[~state.dead[found]]
            if len(found) >= min(k, alive):
                found = _shortlist(_score(state, query, found), found, k)
                return _best(state, query, np.concatenate([found, rest]), k)
            wanted *= 4
    rows = np.flatnonzero(~state.dead)
    return _best(state, query, _shortlist(_score_from(state, query, 0)[rows], rows, k), k)


def rows_within(keys: NDArray[np.int64], within: Ranges) -> NDArray[np.int64]:
    """Return the rows whose keys lie in one of the ranges, in order."""
    if not within:
        return np.zeros(0, np.int64)
    bounds = np.asarray(within, dtype=np.int64)
    first = np.searchsorted(keys, bounds[:, 0], side="left")
    last = np.searchsorted(keys, bounds[:, 1], side="right")
    pieces = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)


def take_rows(state: Rows, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the vectors of some rows, from the files and from memory."""
    split = len(state.base)
    if not len(state.tail):
        return state.base[rows]
    matrix = np.empty((len(rows), state.base.shape[1]), np.float32)
    old = rows < split
    matrix[old] = state.base[rows[old]]
    matrix[~old] = state.tail[rows[~old] - split]
    return matrix


def _products(matrix: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``matrix @ query`` in one thread.

    Reading the matrix is what takes the time, so BLAS threads gain little on an idle machine, and
    on a busy one they wait for each other: 13 ms instead of 2 for 5,000 rows of 384.
    """
    products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, query)
    return products


def _score_from(state: Rows, query: NDArray[np.float32], first: int) -> NDArray[np.float32]:
    """Return the products of all rows from ``first`` on, which lies in the files."""
    return np.concatenate([_products(state.base[first:], query), _products(state.tail, query)])


def _score(
    state: Rows, query: NDArray[np.float32], rows: NDArray[np.int64], step: int = 16_384
) -> NDArray[np.float32]:
    """Return the products of some rows, a block at a time so that memory stays flat."""
    starts = range(0, len(rows), step)
    blocks = [_products(take_rows(state, rows[i : i + step]), query) for i in starts]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def _shortlist(scores: NDArray[np.float32], rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows that may be among the best k once scores are computed exactly."""
    if len(rows) <= k:
        return rows
    limit = np.partition(scores, len(scores) - k)[len(scores) - k] - MARGIN
    kept: NDArray[np.int64] = rows[scores >= limit]
    return kept


def _best(
    state: Rows, query: NDArray[np.float32], rows: NDArray[np.int64], k: int
) -> list[tuple[int, float]]:
    """Score rows in float64, each by itself, and order them."""
    wide = query.astype(np.float64)
    scores = (take_rows(state, rows) * wide).sum(axis=1)
    keys = state.keys[rows]
    order = np.lexsort((keys, -scores))[:k]
    return [(int(keys[i]), float(scores[i])) for i in order]
