"""Is one run better than another, or is it luck? Paired intervals and permutation tests.

All runs are resampled together: one set of resampled questions (a matrix of counts) and one set
of random signs serve every pair, so that five thousand questions and ten runs take seconds. The
results equal those of ``scipy.stats.bootstrap`` and ``scipy.stats.permutation_test`` up to the
random draw (and exactly where all permutations are tried); the tests hold this.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from citespan.errors import InputError

Floats = NDArray[np.float64]

RESAMPLES = 9_999
_BLOCK = 4_000_000  # cells of a random matrix held at once: 32 MB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its confidence interval."""

    mean: float
    low: float
    high: float
    confidence: float
    questions: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run ``a`` against run ``b`` on the questions that both measured.

    ``difference`` is mean(a) - mean(b); ``p_value`` is two-sided, ``p_corrected`` after Holm over
    all comparisons made together. ``left_out`` questions lack a value in one of the two.
    """

    a: str
    b: str
    metric: str
    questions: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p_value: float
    p_corrected: float
    compared: int = 1
    left_out: int = 0
    wins: int = 0
    losses: int = 0
    confidence: float = 0.95
    lower_is_better: bool = False

    @property
    def shown(self) -> bool:
        """Whether a difference is shown at the chosen confidence, after correction."""
        return self.p_corrected < 1 - self.confidence

    def describe(self) -> str:
        """Return the finding in words; "no difference shown" is one of them."""
        interval = f"{self.confidence:.0%} interval {self.low:+.3f} to {self.high:+.3f}"
        corrected = f" after Holm over {self.compared}" if self.compared > 1 else ""
        facts = f"{interval}, p = {self.p_corrected:.4f}{corrected}, {self.questions} questions"
        if self.left_out:
            facts += f", {self.left_out} left out: not measured in both"
        if not self.shown:
            return f"{self.metric}: no difference shown between {self.a} and {self.b} ({facts})"
        better = "better" if (self.difference > 0) != self.lower_is_better else "worse"
        return (
            f"{self.metric}: {self.a} is {better} than {self.b} by {self.difference:+.3f} ({facts})"
        )


def bootstrap_interval(
    values: ArrayLike, *, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the percentile bootstrap interval of a mean over questions (Efron 1979).

    >>> interval = bootstrap_interval([0.0, 1.0, 1.0, 1.0])
    >>> interval.mean, interval.low, interval.high
    (0.75, 0.25, 1.0)
    """
    data = _as_columns([values])
    means = _resample_means(data, resamples, seed)[:, 0]
    low, high = np.quantile(means, _tails(confidence))
    return Interval(float(data.mean()), float(low), float(high), confidence, len(data))


def permutation_test(
    a: ArrayLike, b: ArrayLike, *, resamples: int = RESAMPLES, seed: int = 0
) -> float:
    """Return the two-sided p-value of a paired permutation test of the difference of means.

    Under the null hypothesis the two runs may be exchanged at each question, which flips the sign
    of its difference (Fisher 1935; Smucker, Allan, Carterette 2007). All 2^n flips are tried where
    they are no more than ``resamples``; else that many random ones, with the observed one added.

    >>> permutation_test([1, 1, 1, 1], [0, 0, 0, 0])  # 2 of the 16 flips are as far apart
    0.125
    """
    pair = _as_columns([a, b])
    return float(_flip_signs(pair[:, :1] - pair[:, 1:], resamples, seed)[0])


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number by Holm's step-down method (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    for step, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        corrected[index] = highest
    return corrected


def compare_runs(
    values: Mapping[str, Mapping[str, float]],
    metric: str,
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    lower_is_better: bool = False,
) -> list[Comparison]:
    """Compare runs in pairs (or each with the ``baseline``), corrected for how many there are.

    Parameters
    ----------
    values
        For each run its values by question (`Scores.values`); a question that a run did not
        measure is absent, and left out of that run's pairs.
    metric
        The metric's full name, for the words.

    Returns
    -------
    list of Comparison
        With a baseline, ``a`` is the other run and ``b`` the baseline.

    Raises
    ------
    InputError
        When there are fewer than two runs, or a pair has no question in common.

    Examples
    --------
    >>> old = {f"q{i}": 0.0 for i in range(8)}
    >>> new = {f"q{i}": 1.0 for i in range(8)}
    >>> [found] = compare_runs({"new": new, "old": old}, "MRR@3")
    >>> found.p_value, found.shown, found.wins
    (0.0078125, True, 8)
    """
    if baseline is not None and baseline not in values:
        raise InputError(f"no run {baseline!r}", fix=f"use one of {', '.join(values)}")
    if len(values) < 2:
        raise InputError("a comparison needs two runs", fix="give at least two")
    pairs = (
        [(name, baseline) for name in values if name != baseline]
        if baseline is not None
        else list(itertools.combinations(values, 2))
    )
    # Pairs that share their questions are resampled together.
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for a, b in pairs:
        common = tuple(sorted(values[a].keys() & values[b].keys()))
        if not common:
            raise InputError(f"{a} and {b} share no question", fix="run both on the same questions")
        groups.setdefault(common, []).append((a, b))

    rows: dict[tuple[str, str], tuple[Floats, float, float, float, int]] = {}
    for common, members in groups.items():
        columns = [[values[a][q] - values[b][q] for q in common] for a, b in members]
        differences = _as_columns(columns)
        means = _resample_means(differences, resamples, seed)
        low, high = np.quantile(means, _tails(confidence), axis=0)
        p_values = _flip_signs(differences, resamples, seed)
        for i, pair in enumerate(members):
            column = differences[:, i]
            rows[pair] = (column, float(low[i]), float(high[i]), float(p_values[i]), len(common))

    corrected = dict(zip(pairs, holm([rows[pair][3] for pair in pairs]), strict=True))
    found = []
    for a, b in pairs:
        column, lowest, highest, p_value, count = rows[a, b]
        common = tuple(sorted(values[a].keys() & values[b].keys()))
        found.append(
            Comparison(
                a=a,
                b=b,
                metric=metric,
                questions=count,
                mean_a=float(np.mean([values[a][q] for q in common])),
                mean_b=float(np.mean([values[b][q] for q in common])),
                difference=float(column.mean()),
                low=lowest,
                high=highest,
                p_value=p_value,
                p_corrected=corrected[a, b],
                compared=len(pairs),
                left_out=len(values[a].keys() | values[b].keys()) - count,
                wins=int((column > 0).sum()),
                losses=int((column < 0).sum()),
                confidence=confidence,
                lower_is_better=lower_is_better,
            )
        )
    return found


def _as_columns(columns: Sequence[ArrayLike]) -> Floats:
    """Return the lists as columns of one matrix ``[questions, runs]``, or say what is wrong."""
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({array.shape for array in arrays}) != 1:
        raise InputError(
            f"lists of {', '.join(str(array.size) for array in arrays)} values cannot be paired",
            fix="give one value of each run a question",
        )
    matrix = np.stack(arrays, axis=1)
    if not matrix.size:
        raise InputError("no interval of no questions", fix="give at least one question")
    if not np.isfinite(matrix).all():
        raise InputError("a value is not a number", fix="leave out questions that are unmeasured")
    return matrix


def _tails(confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence}", fix="give a share such as 0.95")
    return (1 - confidence) / 2, (1 + confidence) / 2


def _blocks(total: int, width: int) -> Iterator[int]:
    """Yield block sizes that sum to ``total``, each holding a bounded number of cells."""
    size = max(1, _BLOCK // max(1, width))
    while total > 0:
        yield min(size, total)
        total -= size


def _resample_means(data: Floats, resamples: int, seed: int) -> Floats:
    """Return means ``[resamples, columns]`` over questions drawn with replacement.

    A resample is a row of counts (how often each question was drawn), so that all columns' means
    are one matrix product.
    """
    questions = len(data)
    rng = np.random.default_rng(seed)
    means = []
    for rows in _blocks(resamples, questions):
        drawn = rng.integers(0, questions, size=(rows, questions))
        drawn += np.arange(rows)[:, None] * questions
        counts = np.bincount(drawn.ravel(), minlength=rows * questions)
        means.append(counts.reshape(rows, questions).astype(np.float64) @ data / questions)
    return np.concatenate(means)


def _flip_signs(differences: Floats, resamples: int, seed: int) -> Floats:
    """Return each column's share of sign flips whose mean is at least as far from 0."""
    questions = len(differences)
    observed = np.abs(differences.sum(axis=0))
    # Sums of the same numbers in another order differ by rounding; equal must count as equal.
    limit = observed * (1 - 1e-12) - 1e-12
    exact = questions < 63 and 2**questions <= resamples
    total = 2**questions if exact else resamples
    rng = np.random.default_rng(seed)
    as_far = np.zeros(differences.shape[1], dtype=np.int64)
    done = 0
    for rows in _blocks(total, questions):
        if exact:
            numbers = np.arange(done, done + rows, dtype=np.int64)
            bits = ((numbers[:, None] >> np.arange(questions)) & 1).astype(np.uint8)
        else:
            width = -(-questions // 8)
            raw = rng.integers(0, 256, size=(rows, width), dtype=np.uint8)
            bits = np.unpackbits(raw, axis=1, count=questions)
        sums = np.abs((bits.astype(np.float64) * 2 - 1) @ differences)
        as_far += (sums >= limit).sum(axis=0)
        done += rows
    return as_far / total if exact else (as_far + 1) / (total + 1)
