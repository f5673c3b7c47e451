"""Did it refuse what cannot be answered, and only that? A correct refusal counts as correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from citespan.errors import InputError


def auroc(scores: ArrayLike, answerable: ArrayLike) -> float | None:
    """Return the chance that an answerable question scores above an unanswerable one, ties half.

    Equal to the Mann-Whitney U over the number of pairs (Hanley, McNeil 1982). None where there
    are no pairs.

    >>> auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    0.875
    """
    values, truth = _as_arrays(scores, answerable)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return None
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle_ranks = last - (counts - 1) / 2
    rank_sum = float(middle_ranks[inverse][truth].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk (share of wrong answers) when the most confident share ``coverage`` is answered.

    ``coverage``, ``risk`` and ``threshold`` have one entry a distinct score, coverage ascending:
    answering at ``score >= threshold[i]`` covers ``coverage[i]`` at ``risk[i]``. ``area`` is AURC.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    threshold: NDArray[np.float64]
    area: float


def risk_coverage(scores: ArrayLike, correct: ArrayLike) -> RiskCoverage:
    """Return the risk-coverage curve and the area under it (Geifman, El-Yaniv 2017).

    AURC is the mean of the risk at coverages 1/n … n/n. Questions of one score cannot be told
    apart: within them each further answer adds their mean risk, so the area does not depend on
    the order they stand in.

    >>> curve = risk_coverage([0.9, 0.8, 0.8], [True, True, False])
    >>> curve.coverage.round(3).tolist(), curve.risk.round(3).tolist(), round(curve.area, 4)
    ([0.333, 1.0], [0.0, 0.333], 0.1944)

    Raises
    ------
    InputError
        When there are no questions, or the lists differ in length.
    """
    values, truth = _as_arrays(scores, correct)
    if not len(values):
        raise InputError("no risk-coverage curve of no questions", fix="give at least one question")
    distinct, inverse, counts = np.unique(-values, return_inverse=True, return_counts=True)
    wrong = np.bincount(inverse, weights=~truth, minlength=len(distinct))
    answered = np.cumsum(counts)
    errors = np.cumsum(wrong)
    # Expected errors after each single answer: the group's share, in even steps.
    steps = np.repeat(wrong / counts, counts)
    expected_risk = np.cumsum(steps) / np.arange(1, len(values) + 1)
    return RiskCoverage(
        coverage=answered / len(values),
        risk=errors / answered,
        threshold=-distinct,
        area=float(expected_risk.mean()),
    )


@dataclass(frozen=True, slots=True)
class RefusalCounts:
    """What happened to the questions at one threshold; every question is in exactly one count."""

    right_answers: int
    wrong_answers: int
    false_refusals: int
    correct_refusals: int
    answered_unanswerable: int

    @property
    def total(self) -> int:
        """All questions."""
        return (
            self.right_answers
            + self.wrong_answers
            + self.false_refusals
            + self.correct_refusals
            + self.answered_unanswerable
        )

    @property
    def accuracy(self) -> float | None:
        """(Right answers + correct refusals) / all questions; None without questions."""
        return (self.right_answers + self.correct_refusals) / self.total if self.total else None

    @property
    def false_refusal_rate(self) -> float | None:
        """False refusals / answerable questions; None without answerable questions."""
        answerable = self.right_answers + self.wrong_answers + self.false_refusals
        return self.false_refusals / answerable if answerable else None

    @property
    def correct_refusal_rate(self) -> float | None:
        """Correct refusals / unanswerable questions; None without unanswerable questions."""
        unanswerable = self.correct_refusals + self.answered_unanswerable
        return self.correct_refusals / unanswerable if unanswerable else None


def count_refusals(
    refused: Sequence[bool], answerable: Sequence[bool], correct: Sequence[bool]
) -> RefusalCounts:
    """Return the five counts; ``correct`` says whether the answer, if given, is right.

    >>> counts = count_refusals([False, True, True], [True, True, False], [True, True, False])
    >>> counts.right_answers, counts.false_refusals, counts.correct_refusals, counts.accuracy
    (1, 1, 1, 0.6666666666666666)
    """
    if not len(refused) == len(answerable) == len(correct):
        raise InputError(
            f"{len(refused)} refusals, {len(answerable)} labels, {len(correct)} answers",
            fix="give one of each a question",
        )
    no, can, right = (np.asarray(x, dtype=bool) for x in (refused, answerable, correct))
    return RefusalCounts(
        right_answers=int((~no & can & right).sum()),
        wrong_answers=int((~no & can & ~right).sum()),
        false_refusals=int((no & can).sum()),
        correct_refusals=int((no & ~can).sum()),
        answered_unanswerable=int((~no & ~can).sum()),
    )


def _as_arrays(
    scores: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = np.asarray(scores, dtype=np.float64)
    truth = np.asarray(labels, dtype=bool)
    if values.shape != truth.shape or values.ndim != 1:
        raise InputError(
            f"{values.size} scores and {truth.size} labels", fix="give one of each a question"
        )
    if np.isnan(values).any():
        raise InputError("a score is not a number", fix="leave out questions without a score")
    return values, truth
