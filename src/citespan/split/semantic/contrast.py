"""How well vectors tell near sentences from far ones: a check without labels, on the document.

Sentences one or two apart mostly share a subject; sentences far apart mostly do not. Vectors that
know the document's language make the first pairs more similar than the second; vectors that do not
make them alike. So each document says itself how much weight a model's vectors and its own words
deserve, and where the line between *alike* and *not alike* runs. No list of languages is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citespan.split.semantic.vectors import Floats, Space, compare_band, compare_rows

NEAR = (1, 2)
"""Distances of the pairs that are taken to share a subject."""
FAR = 12
"""Pairs at least so far apart (or half the document) are taken not to."""
FAR_STEPS = 32
"""At most so many far distances are looked at, spread evenly: linear in a long document."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What one document's near and far pairs say about its spaces.

    ``effects[s]`` is (near mean - far mean) / pooled standard deviation: Cohen's d.
    ``weights`` are those of Fisher's linear discriminant between near and far pairs, never below
    0, scaled so that the weighted sum has a pooled standard deviation of 1.
    """

    names: tuple[str, ...]
    weights: Floats
    near: Floats
    far: Floats
    effects: Floats

    def best(self) -> int:
        """Return the number of the space that tells near from far best."""
        return int(np.argmax(self.effects))


def measure_contrast(spaces: Sequence[Space]) -> Contrast:
    """Compare near pairs with far ones in each space, and weigh the spaces together.

    Fisher 1936: ``w = C⁻¹ (m_near - m_far)``, C the mean of the two covariance matrices. A space
    whose weight would be below 0 is left out and the others are weighed again.

    Examples
    --------
    >>> rows = np.repeat(np.eye(4), 8, axis=0)  # four subjects of eight sentences
    >>> found = measure_contrast([Space("knows", rows), Space("blind", np.ones((32, 1)))])
    >>> found.effects.round(1).tolist(), found.weights.round(1).tolist()
    ([3.4, 0.0], [4.0, 0.0])
    """
    names = tuple(space.name for space in spaces)
    count = spaces[0].rows.shape[0]
    if count < 4:
        # Too few sentences to tell near from far.
        nothing = np.zeros(len(spaces))
        return Contrast(names, nothing, nothing, nothing, nothing)
    start = max(NEAR[1] + 1, min(FAR, count // 2))
    steps = np.linspace(start, count - 1, min(FAR_STEPS, count - start)).round().astype(int)
    near = _gather(spaces, range(NEAR[0], NEAR[1] + 1))
    far = _gather(spaces, sorted({int(step) for step in steps}))
    difference = near.mean(axis=1) - far.mean(axis=1)
    spread = (_covariance(near) + _covariance(far)) / 2
    deviation = np.sqrt(np.diag(spread))
    # Rounding is no spread: equal sentences have none, and then nothing can be told.
    blind = deviation < 1e-6
    effects = np.where(blind, 0.0, difference / np.where(blind, 1.0, deviation))
    weights = _discriminate(difference, spread, effects > 0)
    return Contrast(names, weights, near.mean(axis=1), far.mean(axis=1), effects)


def score_pairs(
    spaces: Sequence[Space], contrast: Contrast, width: int, threshold: float
) -> Floats:
    """Return the band ``[n, width + 1]`` of scores: above 0 a pair speaks for one subject.

    The score of a pair is the weighted sum over the spaces of its cosine less the document's own
    line, ``far + threshold · (near - far)``.
    """
    count = spaces[0].rows.shape[0]
    scores = np.zeros((count, width + 1))
    lines = contrast.far + threshold * (contrast.near - contrast.far)
    for space, weight, line in zip(spaces, contrast.weights, lines, strict=True):
        if weight > 0:
            scores += weight * (compare_band(space.rows, width) - line)
    for distance in range(width + 1):
        scores[max(0, count - distance) if distance else 0 :, distance] = 0.0
    return scores


def _gather(spaces: Sequence[Space], distances: Sequence[int] | range) -> Floats:
    return np.array(
        [
            np.concatenate([compare_rows(space.rows, distance) for distance in distances])
            for space in spaces
        ]
    )


def _covariance(values: Floats) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    found: Floats = centred @ centred.T / max(1, values.shape[1] - 1)
    return found


def _discriminate(difference: Floats, spread: Floats, kept: NDArray[np.bool_]) -> Floats:
    weights = np.zeros(len(difference))
    kept = kept.copy()
    while kept.any():
        part = spread[np.ix_(kept, kept)]
        # A little of the diagonal: two spaces that say the same have no inverse.
        found = np.linalg.solve(part + 1e-6 * np.diag(np.diag(part)), difference[kept])
        if (found > 0).all():
            weights[kept] = found / np.sqrt(found @ part @ found)
            break
        kept[np.flatnonzero(kept)[found <= 0]] = False
    return weights
