"""Exact cosines of the database's vectors, whatever way their chunks were found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Hits = list[tuple[int, float]]
"""(chunk key, cosine), best first, ties by key."""


def score_blobs(rows: Sequence[tuple[int, bytes]], vector: NDArray[np.float32]) -> Hits:
    """Score rows of (key, float32 little-endian), as the database keeps them."""
    if not rows:
        return []
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(len(rows), -1)
    return score_rows(np.array([row[0] for row in rows]), matrix, vector)


def score_rows(
    keys: NDArray[np.int64], matrix: NDArray[np.float32], vector: NDArray[np.float32]
) -> Hits:
    """Score rows in float64, each by itself, and order them: a score depends on no other row.

    >>> rows = np.array([[0.6, 0.8], [1, 0]], np.float32)
    >>> hits = score_rows(np.array([7, 9]), rows, np.array([1, 0], np.float32))
    >>> [(key, round(score, 3)) for key, score in hits]
    [(9, 1.0), (7, 0.6)]
    """
    scores = (matrix * vector.astype(np.float64)).sum(axis=1)
    return [(int(keys[i]), float(scores[i])) for i in np.lexsort((keys, -scores))]


def merge_hits(some: Hits, others: Hits) -> Hits:
    """Return hits of two lists, best first, ties by key."""
    return sorted([*some, *others], key=lambda hit: (-hit[1], hit[0]))
