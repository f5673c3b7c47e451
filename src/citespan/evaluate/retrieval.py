"""Ask questions of a collection, and measure what one question or a whole run brought."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from citespan.errors import CitespanError, InputError
from citespan.evaluate.evaluation import evaluate_run
from citespan.evaluate.groundtruth import Question
from citespan.evaluate.metrics import Metric
from citespan.evaluate.relevance import ChunkIndex
from citespan.evaluate.runs import RankedPassage, Result, Run, as_ranked
from citespan.evaluate.span_metrics import FitTokens, fit_approximately
from citespan.types import Chunk, Hit, Passage, content_id

Found = Sequence[Hit | Passage | Chunk | RankedPassage]
Retrieve = Callable[[Question, int], Found | Result]
"""(question, k) → what was found, best first; or a whole result, with gate and answer."""

QUERY_METRICS = ("hit_rate@3", "MRR@3", "evidence_recall@3", "precision@3", "doc_recall@3")


def run_retrieval(
    questions: Iterable[Question | str],
    collection_name: str,
    *,
    retrieve: Retrieve | None = None,
    collections: Mapping[str, Retrieve] | None = None,
    k: int = 3,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Run:
    """Ask every question of a collection and return the run, which carries the collection's name.

    Parameters
    ----------
    questions
        Questions, or plain texts, whose id is then a hash of the text.
    collection_name
        Names the run, and the collection where ``collections`` are given.
    retrieve
        How a question is asked; or
    collections
        that by name, of which ``collection_name`` is one.
    k
        How many passages to ask for.
    progress
        Called after each question with the number done.

    Returns
    -------
    Run
        A question that failed is in ``failures`` with its reason, and unmeasured; the others go
        on. Seconds are kept per question.

    Raises
    ------
    InputError
        When the collection is not known, no way of asking is given, or k is not positive.

    Examples
    --------
    >>> from citespan.types import Span
    >>> found = [RankedPassage("a.txt", (Span(0, 9),), 1.0)]
    >>> run = run_retrieval(["Who?"], "baseline", retrieve=lambda question, k: found[:k])
    >>> [result] = run.results.values()
    >>> run.name, result.passages[0].id
    ('baseline', 'a.txt:0-9')
    """
    if k < 1:
        raise InputError(f"k={k}", fix="ask for at least 1 passage")
    if retrieve is None:
        known = collections or {}
        if collection_name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise InputError(
                f"no collection {collection_name!r}; there are: {names}",
                fix="build it first, or give retrieve=",
            )
        retrieve = known[collection_name]
    results: dict[str, Result] = {}
    failures: dict[str, str] = {}
    for done, item in enumerate(questions, 1):
        question = item if isinstance(item, Question) else Question(content_id(item), item)
        started = time.perf_counter()
        try:
            found = retrieve(question, k)
        except CitespanError as error:
            failures[question.id] = str(error)
            progress(done)
            continue
        seconds = time.perf_counter() - started
        if not isinstance(found, Result):
            found = Result(question.id, tuple(as_ranked(item) for item in found))
        results[question.id] = replace(
            found, query_id=question.id, passages=found.passages[:k], seconds=seconds
        )
        progress(done)
    return Run(collection_name, results, {"k": k, **(settings or {})}, failures)


def query_evaluation(
    question: Question,
    found: Found,
    metrics: Iterable[str | Metric] = QUERY_METRICS,
    *,
    chunks: Iterable[Chunk | RankedPassage] | ChunkIndex | None = None,
    texts: Mapping[str, str] | None = None,
    fit: FitTokens = fit_approximately,
) -> dict[str, float | None]:
    """Return the metrics of what one question found, by name; None where one does not apply.

    The whole run is `evaluate_run`'s matter; this is its value for one question.

    >>> from citespan.evaluate.groundtruth import Evidence
    >>> from citespan.types import Span
    >>> question = Question("q", "Who?", ("a",), (Evidence("a", 5, 9),))
    >>> found = [RankedPassage("a", (Span(0, 5),)), RankedPassage("a", (Span(5, 12),))]
    >>> query_evaluation(question, found, ["hit_rate@1", "MRR@3", "span_iou@3"])
    {'hit_rate@1': 0.0, 'MRR@3': 0.5, 'span_iou@3': 0.3333333333333333}
    """
    result = Result(question.id, tuple(as_ranked(item) for item in found))
    evaluation = evaluate_run(
        Run("query", {question.id: result}),
        [question],
        metrics,
        chunks=chunks,
        texts=texts,
        fit=fit,
    )
    return {name: scores.values.get(question.id) for name, scores in evaluation.scores.items()}
