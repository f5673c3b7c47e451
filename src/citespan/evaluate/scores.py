"""The result of one metric: a value a question, the mean, the pooled figure, and who is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from citespan.evaluate.metrics import Metric


@dataclass(frozen=True, slots=True)
class Scores:
    """One metric over the questions of one run.

    ``values`` holds the measured questions only. ``mean`` is their mean (macro); ``pooled`` (micro)
    is the sum of numerators over the sum of denominators, where the metric is such a ratio.
    ``unmeasured`` questions were not asked; ``not_applicable`` ones cannot have a value (an
    unanswerable question has no recall). Both are left out, counted and said.
    """

    metric: Metric
    values: Mapping[str, float]
    mean: float | None
    pooled: float | None = None
    unmeasured: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return the result in words.

        >>> from citespan.evaluate.metrics import parse_metric
        >>> make_scores(parse_metric("MRR@3"), {"q1": 0.5}, unmeasured=["q2"]).describe()
        'MRR@3 = 0.500 over 1 question; 1 not asked (unmeasured)'
        """
        count = len(self.values)
        if self.mean is None:
            text = f"{self.metric} is unmeasured: no question has a value"
        else:
            pooled = "" if self.pooled is None else f" (pooled {self.pooled:.3f})"
            many = "" if count == 1 else "s"
            text = f"{self.metric} = {self.mean:.3f}{pooled} over {count} question{many}"
        if self.unmeasured:
            text += f"; {len(self.unmeasured)} not asked (unmeasured)"
        if self.not_applicable:
            text += f"; {len(self.not_applicable)} to which it does not apply"
        return text


def make_scores(
    metric: Metric,
    values: Mapping[str, float],
    *,
    ratios: Iterable[tuple[float, float]] | None = None,
    unmeasured: Iterable[str] = (),
    not_applicable: Iterable[str] = (),
) -> Scores:
    """Return the scores with their mean, and pooled over (numerator, denominator) ``ratios``.

    >>> from citespan.evaluate.metrics import parse_metric
    >>> s = make_scores(parse_metric("span_recall"), {"a": 1.0, "b": 0.0}, ratios=[(9, 9), (0, 1)])
    >>> s.mean, s.pooled
    (0.5, 0.9)
    """
    # fsum: the mean does not depend on the order of the questions.
    mean = math.fsum(values.values()) / len(values) if values else None
    pooled = None
    if ratios is not None:
        pairs = list(ratios)
        total = math.fsum(d for _, d in pairs)
        pooled = math.fsum(n for n, _ in pairs) / total if total else None
    return Scores(metric, dict(values), mean, pooled, tuple(unmeasured), tuple(not_applicable))
