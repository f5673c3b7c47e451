"""Which chunks answer a question: those that truly overlap its evidence, whatever the splitter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from citespan.evaluate.groundtruth import Evidence, Question
from citespan.evaluate.runs import RankedPassage, as_ranked
from citespan.types import Chunk


class ChunkIndex:
    """The collection's chunks by document, to look up those that overlap a span."""

    def __init__(self, chunks: Iterable[Chunk | RankedPassage]) -> None:
        self.chunks: list[RankedPassage] = [as_ranked(chunk) for chunk in chunks]
        self.ids: frozenset[str] = frozenset(chunk.id for chunk in self.chunks)
        rows: dict[str, list[tuple[int, int, int]]] = {}
        for number, chunk in enumerate(self.chunks):
            for start, end in chunk.spans:
                rows.setdefault(chunk.doc_id, []).append((start, end, number))
        self._rows: dict[str, NDArray[np.int64]] = {
            doc: np.array(spans, dtype=np.int64).T for doc, spans in rows.items()
        }

    def find(self, evidence: Iterable[Evidence], *, touching: bool = False) -> list[RankedPassage]:
        """Return the chunks that hold a character of the evidence, in the collection's order.

        ``touching`` counts chunks that end where evidence starts too (Chroma's code does).
        """
        numbers: set[int] = set()
        for item in evidence:
            if item.doc_id not in self._rows:
                continue
            starts, ends, owners = self._rows[item.doc_id]
            if touching:
                mask = (starts <= item.end) & (ends >= item.start)
            else:
                mask = (starts < item.end) & (ends > item.start)
            numbers.update(owners[mask].tolist())
        return [self.chunks[number] for number in sorted(numbers)]


def holds_evidence(passage: RankedPassage, evidence: Iterable[Evidence]) -> bool:
    """Whether a passage and the evidence share at least one character; touching is not sharing.

    >>> from citespan.types import Span
    >>> passage = RankedPassage("d", (Span(0, 10),))
    >>> [holds_evidence(passage, [Evidence("d", start, 12)]) for start in (10, 9)]
    [False, True]
    """
    return any(
        item.doc_id == passage.doc_id and start < item.end and item.start < end
        for item in evidence
        for start, end in passage.spans
    )


def judge_chunks(
    questions: Sequence[Question], chunks: ChunkIndex | Iterable[Chunk | RankedPassage]
) -> dict[str, dict[str, float]]:
    """Return judgements {question: {chunk id: 1.0}} for the questions that have evidence.

    The ids are `RankedPassage.id`, the same for the same spans of the same document.
    """
    index = chunks if isinstance(chunks, ChunkIndex) else ChunkIndex(chunks)
    return {
        q.id: {chunk.id: 1.0 for chunk in index.find(q.evidence)} for q in questions if q.evidence
    }


def judge_documents(questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Return judgements {question: {document: grade}} for the questions that name documents.

    >>> judge_documents([Question("q", "?", relevant_docs=("a", "b"), grades={"a": 2})])
    {'q': {'a': 2, 'b': 1.0}}
    """
    return {q.id: q.document_grades for q in questions if q.document_grades}


def drop_repeats(passages: Iterable[RankedPassage]) -> list[RankedPassage]:
    """Return the passages without those that stand higher up already."""
    return list({passage.id: passage for passage in reversed(list(passages))}.values())[::-1]
