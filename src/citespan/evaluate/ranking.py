"""Metrics of ranked lists, equal to trec_eval's, on plain lists and dictionaries.

``grades[i]`` is the degree of relevance of what stands at rank ``i + 1``; 0 or less is not
relevant. ``relevant`` counts, and ``ideal`` holds, the positive grades of *all* that is relevant,
found or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from citespan.errors import InputError
from citespan.evaluate.metrics import Metric
from citespan.evaluate.scores import Scores, make_scores

Qrels = Mapping[str, Mapping[str, float]]
"""Grades by question and by the id of a document or chunk."""
ScoredRun = Mapping[str, Mapping[str, float]]
"""Scores by question and by the id of a document or chunk."""


def hit_rate(grades: Sequence[float], k: int | None = None) -> float:
    """Return 1 if anything among the first k is relevant, else 0.

    >>> hit_rate([0, 0, 1], 2), hit_rate([0, 0, 1], 3)
    (0.0, 1.0)
    """
    return float(any(grade > 0 for grade in grades[:k]))


def reciprocal_rank(grades: Sequence[float], k: int | None = None) -> float:
    """Return 1 / rank of the first relevant item among the first k, 0 if there is none.

    >>> reciprocal_rank([0, 1, 1])
    0.5
    """
    return next((1 / rank for rank, grade in enumerate(grades[:k], 1) if grade > 0), 0.0)


def recall(grades: Sequence[float], relevant: int, k: int | None = None) -> float:
    """Return the share of all relevant items that stand among the first k.

    >>> recall([1, 0, 1], 4, 3)
    0.5
    """
    return sum(grade > 0 for grade in grades[:k]) / relevant if relevant else 0.0


def precision(grades: Sequence[float], k: int) -> float:
    """Return the relevant share of the first k; a list shorter than k is not excused.

    >>> precision([1], 4)
    0.25
    """
    return sum(grade > 0 for grade in grades[:k]) / k


def ndcg(grades: Sequence[float], ideal: Iterable[float], k: int | None = None) -> float:
    """Return DCG / DCG of the best order, DCG = Σ grade / log2(rank + 1).

    >>> round(ndcg([0, 2, 1], [2, 1]), 6)  # (2/log2(3) + 1/2) / (2 + 1/log2(3))
    0.669672
    """
    best = _dcg(sorted(ideal, reverse=True)[:k])
    return _dcg(grades[:k]) / best if best > 0 else 0.0


def average_precision(grades: Sequence[float], relevant: int, k: int | None = None) -> float:
    """Return the mean, over all relevant items, of the precision at each one's rank (0 if missed).

    >>> average_precision([1, 0, 1], 2)  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    if not relevant:
        return 0.0
    found, total = 0, 0.0
    for rank, grade in enumerate(grades[:k], 1):
        if grade > 0:
            found += 1
            total += found / rank
    return total / relevant


def _dcg(grades: Sequence[float]) -> float:
    if not len(grades):
        return 0.0
    gains = np.maximum(np.asarray(grades, dtype=np.float64), 0.0)
    return float(np.sum(gains / np.log2(np.arange(2, len(gains) + 2))))


def rank_by_score(scores: Mapping[str, float]) -> list[str]:
    """Return the ids, best score first, as trec_eval sorts them.

    Scores are compared in single precision and ties broken by the *greater* id, so that a tied
    run cannot gain by the order it was written in.

    >>> rank_by_score({"a": 1.0, "c": 0.5, "b": 1.0})
    ['b', 'a', 'c']
    """
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=lambda item: -np.float32(scores[item]))


def measure_ranking(metric: Metric, grades: Sequence[float], ideal: Sequence[float]) -> float:
    """Return one metric of one ranked list; ``ideal`` are the positive grades of all relevant.

    >>> measure_ranking(Metric("recall", k=2), [0, 1, 1], [1, 1])
    0.5
    """
    k, relevant = metric.k, len(ideal)
    match metric.base:
        case "hit_rate":
            return hit_rate(grades, k)
        case "MRR":
            return reciprocal_rank(grades, k)
        case "recall":
            return recall(grades, relevant, k)
        case "precision" if k is not None:
            return precision(grades, k)
        case "nDCG":
            return ndcg(grades, ideal, k)
        case "MAP":
            return average_precision(grades, relevant, k)
    raise InputError(f"{metric} is no metric of a ranked list", fix="use evaluate_run")


def evaluate_qrels(
    run: ScoredRun, qrels: Qrels, metrics: Iterable[Metric], *, missing: str = "unmeasured"
) -> list[Scores]:
    """Return the metrics of anybody's run against anybody's judgements, by plain ids.

    ``missing`` says what a judged question is that the run does not hold: ``"unmeasured"`` (not
    asked: counted, and left out of the mean) or ``"zero"`` (asked, nothing found: as trec_eval's
    ``-c``; right for TREC files, which cannot write down an empty result). A question with an
    empty result scores 0 either way. Questions of the run that nobody judged are left out.

    >>> from citespan.evaluate.metrics import parse_metrics
    >>> run = {"q1": {"a": 2.0, "b": 1.0}}
    >>> [s] = evaluate_qrels(run, {"q1": {"b": 1}, "q2": {"c": 1}}, parse_metrics(["MRR"]))
    >>> s.mean, s.unmeasured
    (0.5, ('q2',))
    """
    if missing not in ("unmeasured", "zero"):
        raise InputError(f"missing={missing!r}", fix='use "unmeasured" or "zero"')
    metrics = list(metrics)
    ranked: dict[str, tuple[list[float], list[float]]] = {}
    unmeasured: list[str] = []
    for question, judged in qrels.items():
        if question not in run and missing == "unmeasured":
            unmeasured.append(question)
            continue
        grades = [judged.get(item, 0.0) for item in rank_by_score(run.get(question, {}))]
        ranked[question] = (grades, [g for g in judged.values() if g > 0])
    return [
        make_scores(
            metric,
            {q: measure_ranking(metric, grades, ideal) for q, (grades, ideal) in ranked.items()},
            unmeasured=unmeasured,
        )
        for metric in metrics
    ]
