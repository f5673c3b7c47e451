"""One question with what it found: every metric that has a value a question is computed here."""

from __future__ import annotations

from functools import cached_property

from citespan.evaluate.groundtruth import Question
from citespan.evaluate.metrics import Metric
from citespan.evaluate.ranking import measure_ranking
from citespan.evaluate.relevance import ChunkIndex, drop_repeats, holds_evidence
from citespan.evaluate.runs import RankedPassage, Result
from citespan.evaluate.span_metrics import (
    FitTokens,
    Ratio,
    cut_at_budget,
    measure_precision_omega,
    measure_spans,
    measure_spans_as_chroma,
)


class Case:
    """A question, its result, and what several metrics need of them, made once."""

    def __init__(
        self, question: Question, result: Result, index: ChunkIndex | None, fit: FitTokens
    ) -> None:
        self.question = question
        self.result = result
        self._index = index
        self._fit = fit
        self._cuts: dict[int, list[RankedPassage]] = {}

    @cached_property
    def passages(self) -> list[RankedPassage]:
        """The ranked passages, none twice."""
        return drop_repeats(self.result.passages)

    @cached_property
    def relevant_chunks(self) -> list[RankedPassage]:
        """All chunks of the collection that hold evidence; none where no collection is known."""
        return self._index.find(self.question.evidence) if self._index else []

    @cached_property
    def chunk_grades(self) -> list[float]:
        """1 for each ranked passage that holds evidence, 0 for the others."""
        return [float(holds_evidence(p, self.question.evidence)) for p in self.passages]

    @cached_property
    def document_grades(self) -> list[float]:
        """The grade of each document, ranked by its first passage."""
        grades = self.question.document_grades
        return [grades.get(doc, 0.0) for doc in dict.fromkeys(p.doc_id for p in self.passages)]

    def find_context(self, metric: Metric) -> list[RankedPassage]:
        """Return the passages up to the metric's cutoff, in ranks or in tokens."""
        if metric.tokens is None:
            return self.passages[: metric.k]
        if metric.tokens not in self._cuts:
            cut = cut_at_budget(self.passages, metric.tokens, fit=self._fit)
            self._cuts[metric.tokens] = cut
        return self._cuts[metric.tokens]

    def measure(self, metric: Metric) -> float | Ratio:
        """Return the metric's value, or its ratio of two counts where it can be pooled."""
        evidence = self.question.evidence
        if metric.level == "doc":
            ideal = [grade for grade in self.question.document_grades.values() if grade > 0]
            return measure_ranking(metric, self.document_grades, ideal)
        if metric.level == "chunk":
            return measure_ranking(metric, self.chunk_grades, [1.0] * len(self.relevant_chunks))
        if metric.stem == "precision_omega":
            return measure_precision_omega(self.relevant_chunks, evidence)
        if metric.stem == "chroma_precision_omega":
            touching = self._index.find(evidence, touching=True) if self._index else []
            return measure_precision_omega(touching, evidence)
        if metric.level == "chroma":
            # As retrieved: what stands twice is charged twice.
            return measure_spans_as_chroma(metric.base, self.result.passages[: metric.k], evidence)
        context = self.find_context(metric)
        if metric.level == "evidence":
            held = sum(any(holds_evidence(p, [item]) for p in context) for item in evidence)
            return held, len(evidence)
        return measure_spans(metric.base, context, evidence)


def is_correct(result: Result, question: Question) -> bool:
    """Whether an answer from this result could be right: answerable, and evidence was retrieved.

    This is what can be known without reading the answer; pass your own judgement to `refusal`'s
    functions where you have one.
    """
    return question.answerable and any(
        holds_evidence(passage, question.evidence)
        if question.evidence
        else passage.doc_id in question.document_grades
        for passage in result.passages
    )
