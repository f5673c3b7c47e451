"""Do raters agree beyond chance? Weighted kappa for two, Krippendorff's alpha for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError

Floats = NDArray[np.float64]
SCALE = (1, 2, 3, 4, 5)


def weighted_kappa(
    a: Sequence[int],
    b: Sequence[int],
    *,
    weights: Literal["quadratic", "linear"] = "quadratic",
    scale: Sequence[int] = SCALE,
) -> float | None:
    """Return Cohen's weighted kappa of two raters (Psychological Bulletin 70, 1968).

    1 - Σ w·observed / Σ w·expected over the pairs of categories, with w the distance of the two
    (linear) or its square (quadratic). 1 is full agreement, 0 what chance gives. None where chance
    leaves nothing to disagree on: both raters gave one and the same category throughout.

    >>> round(weighted_kappa([1, 2, 3, 4, 5], [1, 2, 3, 4, 4]), 6)  # 1 - 1 / 17
    0.941176
    """
    if len(a) != len(b) or not a:
        raise InputError(
            f"{len(a)} and {len(b)} ratings cannot be paired", fix="give the items both rated"
        )
    place = _index_scale(scale, (*a, *b))
    table = np.zeros((len(scale), len(scale)))
    np.add.at(table, ([place[x] for x in a], [place[x] for x in b]), 1.0)
    steps = np.abs(np.subtract.outer(np.arange(len(scale)), np.arange(len(scale))))
    distance = steps if weights == "linear" else steps**2
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(a)
    by_chance = float((distance * expected).sum())
    return 1 - float((distance * table).sum()) / by_chance if by_chance else None


def krippendorff_alpha(
    ratings: Sequence[Sequence[int | None]],
    *,
    level: Literal["nominal", "ordinal", "interval"] = "ordinal",
    scale: Sequence[int] = SCALE,
) -> float | None:
    """Return Krippendorff's alpha of two or more raters, who need not have rated everything.

    α = 1 - observed / expected disagreement, from the matrix of coincidences of values within
    units (K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011). The ordinal distance
    of two values is the number of ratings between them, each end counted half, squared.

    Parameters
    ----------
    ratings
        One row a rater, one column an item; None where the rater gave no rating. Items with
        fewer than two ratings tell nothing and are left out.

    Returns
    -------
    float or None
        1 is full agreement, 0 what chance gives; None where all ratings are equal or no item has
        two.

    Examples
    --------
    >>> krippendorff_alpha([[1, 2, 3, None], [1, 2, 3, 4]])
    1.0
    """
    if len({len(row) for row in ratings}) > 1:
        raise InputError("raters have rows of different length", fix="put None for no rating")
    place = _index_scale(scale, [x for row in ratings for x in row if x is not None])
    coincidences = np.zeros((len(scale), len(scale)))
    for unit in zip(*ratings, strict=True):
        values = [place[x] for x in unit if x is not None]
        if len(values) < 2:
            continue
        counts = np.bincount(values, minlength=len(scale)).astype(np.float64)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(values) - 1)
    totals = coincidences.sum(axis=0)
    pairable = totals.sum()
    if not pairable:
        return None
    distance = _measure_distance(totals, level, scale)
    observed = float((coincidences * distance).sum())
    expected = float((np.outer(totals, totals) * distance).sum() / (pairable - 1))
    return 1 - observed / expected if expected else None


def _measure_distance(totals: Floats, level: str, scale: Sequence[int]) -> Floats:
    """Return the squared distances ``[categories, categories]`` of a level of measurement."""
    if level == "nominal":
        return 1.0 - np.eye(len(scale))
    if level == "interval":
        values = np.asarray(scale, dtype=np.float64)
        return np.subtract.outer(values, values) ** 2
    # Between the middles of the two categories in the row of all ratings.
    middles = np.cumsum(totals) - totals / 2
    return np.subtract.outer(middles, middles) ** 2


def _index_scale(scale: Sequence[int], values: Sequence[int]) -> dict[int, int]:
    place = {value: index for index, value in enumerate(scale)}
    wrong = sorted(set(values) - set(place))
    if wrong:
        raise InputError(
            f"ratings {wrong} are not on the scale", fix=f"use {scale[0]} to {scale[-1]}"
        )
    return place
