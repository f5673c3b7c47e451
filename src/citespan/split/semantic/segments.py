"""Contiguous segments: the best of all segmentations, or cuts at the drops of similarity."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from citespan.split.semantic.vectors import Floats

SHORT = 1e6
"""Taken off for each sentence that a segment lacks to the minimum: it gives way to nothing but the
hard maximum."""
CROSSING = 1e3
"""Taken off for a section's start inside a segment: only the minimum is stronger."""


def segment_band(
    scores: Floats,
    reach: NDArray[np.int64],
    least: NDArray[np.int64],
    heads: Set[int] = frozenset(),
    exponent: float = 0.5,
) -> list[int]:
    """Return the boundaries of the best contiguous segmentation, by dynamic programming.

    Maximises the sum over segments ``[i, j)`` of ``Σ_{i ≤ a < b < j} score(a, b) / (j - i)^e``
    exactly, in time and memory n × the band's width. The idea is that of optimal partitioning
    (Jackson et al. 2005; for text Utiyama and Isahara 2001), with similarities of pairs as in
    Chroma's ClusterSemanticChunker (Smith and Troynikov 2024).

    Parameters
    ----------
    scores
        The band ``[n, width + 1]`` of pair scores, positive for pairs of one subject.
    reach
        ``[n]``: a segment from i ends at ``reach[i]`` at the latest (exclusive), at least i + 1.
    least
        ``[n]``: it is too short if it ends before ``least[i]``; soft.
    heads
        Sentences that begin a section.

    Examples
    --------
    >>> band = np.zeros((6, 6)); band[:5, 1] = [1, 1, -1, 1, 1]; band[:4, 2] = [1, -1, -1, 1]
    >>> segment_band(band, np.full(6, 6), np.arange(6))
    [3]
    """
    count, width = scores.shape[0], scores.shape[1] - 1
    inner = sum_segments(scores)
    before = np.zeros(count + 1)
    before[1:] = np.cumsum([number in heads for number in range(count)])
    lengths = np.arange(1, width + 2)
    shares = lengths.astype(np.float64) ** exponent
    best = np.full(count + 1, -np.inf)
    best[0] = 0.0
    came = np.zeros(count + 1, dtype=np.int64)
    for start in range(count):
        longest = int(min(reach[start] - start, width + 1, count - start))
        ends = start + lengths[:longest]
        values = best[start] + inner[start, :longest] / shares[:longest]
        values -= SHORT * np.maximum(0, least[start] - ends)
        values -= CROSSING * (before[ends] - before[start + 1])
        # Of equal ones the longer segment wins: it began earlier.
        better = values > best[ends]
        best[ends[better]] = values[better]
        came[ends[better]] = start
    return _walk_back(came, count)


def sum_segments(scores: Floats) -> Floats:
    """Return ``[n, width + 1]``: row i, column m - 1 is the sum over the pairs within i … i + m.

    By inclusion and exclusion, ``W(i, m) = W(i, m-1) + W(i+1, m-1) - W(i+1, m-2) + s(i, i+m-1)``.
    """
    count, width = scores.shape[0], scores.shape[1] - 1
    inner = np.zeros((count + 1, width + 1))
    for column in range(1, width + 1):
        inner[:count, column] = inner[:count, column - 1] + scores[:, column]
        inner[: count - 1, column] += inner[1:count, column - 1]
        if column > 1:
            inner[: count - 1, column] -= inner[1:count, column - 2]
    return inner[:count]


def cut_percentile(similarities: Floats, percentile: float) -> list[int]:
    """Return the boundaries at gaps less similar than all but ``100 - percentile`` percent.

    >>> cut_percentile(np.array([0.9, 0.1, 0.8, 0.7, 0.9]), 80)
    [2]
    """
    if len(similarities) == 0:
        return []
    line = np.percentile(similarities, 100 - percentile)
    return [int(gap) + 1 for gap in np.flatnonzero(similarities < line)]


def measure_depths(similarities: Floats) -> Floats:
    """Return each gap's depth score: how far similarity climbs to its left and to its right.

    Hearst 1997, *TextTiling*: ``(left peak - s) + (right peak - s)``, a peak being where the climb
    away from the gap ends.

    >>> measure_depths(np.array([0.9, 0.5, 0.2, 0.6, 0.4])).round(1).tolist()
    [0.0, 0.4, 1.1, 0.0, 0.2]
    """
    left = _find_peaks(similarities.tolist())
    right = _find_peaks(similarities.tolist()[::-1])[::-1]
    depths: Floats = np.array(left) + np.array(right) - 2 * similarities
    return depths


def _find_peaks(values: Sequence[float]) -> list[float]:
    """Return for each value how high one gets by walking back as long as it does not go down."""
    peaks: list[float] = []
    for number, value in enumerate(values):
        climbs = number > 0 and values[number - 1] >= value
        peaks.append(peaks[-1] if climbs else value)
    return peaks


def cut_depths(similarities: Floats, least: int, deviations: float) -> list[int]:
    """Return the boundaries where depth exceeds ``mean + deviations · standard deviation``.

    The deepest come first; a gap nearer than ``least`` sentences to one that was taken, or to an
    end, is passed over.

    >>> cut_depths(np.array([0.9, 0.8, 0.1, 0.8, 0.9, 0.9, 0.8]), 2, 0.5)
    [3]
    """
    count = len(similarities) + 1
    depths = measure_depths(similarities)
    if count < 2 or depths.max() <= 0:
        return []
    line = depths.mean() + deviations * depths.std()
    free = np.ones(count + 1, dtype=bool)
    free[:least] = free[count - least + 1 :] = False
    taken: list[int] = []
    for gap in np.argsort(-depths, kind="stable"):
        if depths[gap] <= line:
            break
        if free[gap + 1]:
            taken.append(int(gap) + 1)
            free[max(0, gap + 2 - least) : gap + 1 + least] = False
    return sorted(taken)


def _walk_back(came: NDArray[np.int64], end: int) -> list[int]:
    found: list[int] = []
    while end > 0:
        end = int(came[end])
        if end:
            found.append(end)
    return found[::-1]
