"""What the trace of a question leaves out: document names, and what each term adds to each hit."""

from __future__ import annotations

from dataclasses import dataclass

from citespan.pipeline.opened import OpenIndex
from citespan.types import Trace
from citespan.weights import idf_weight


@dataclass(frozen=True, slots=True)
class TermDetail:
    """One term of a question: how common and weighty it is, and what it adds to each hit's BM25.

    ``chunks`` is how many chunks hold the term, ``weight`` its inverse document frequency as the
    gate and the checks use it. ``adds[i]`` belongs to the trace's hit ``i``; None where the hit
    does not hold the term, or another form of the same word counted for more.
    """

    term: str
    chunks: int
    weight: float
    adds: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Beside a trace: the index's size, its documents' names, and the terms in detail."""

    chunks: int
    sources: dict[str, str]
    terms: tuple[TermDetail, ...]

    def hit_parts(self, number: int) -> dict[str, float]:
        """Return ``bm25[term]`` for each term that adds to the score of hit ``number`` (from 0)."""
        return {
            f"bm25[{detail.term}]": value
            for detail in self.terms
            if (value := detail.adds[number]) is not None
        }


def explain_trace(index: OpenIndex, trace: Trace) -> Explanation:
    """Return the numbers behind a trace's hits.

    Raises
    ------
    StoreError
        If the index cannot be read.
    """
    store = index.store
    words = list(dict.fromkeys(term for group in trace.terms for term in group))
    with store.snapshot():
        statistics = store.term_statistics(words)
        weigh = idf_weight(statistics.chunks, statistics.frequencies)
        sources: dict[str, str] = {}
        shares: list[dict[str, float]] = []
        for hit in trace.hits:
            known = hit.chunk.document_id
            document = index.get_document(known)
            sources[known] = document.source if document else known
            keys = store.chunk_keys(known)
            there = hit.chunk.order < len(keys)
            shares.append(store.explain_terms(trace.terms, keys[hit.chunk.order]) if there else {})
    return Explanation(
        chunks=statistics.chunks,
        sources=sources,
        terms=tuple(
            TermDetail(
                term,
                statistics.frequencies.get(term, 0),
                weigh(term),
                tuple(share.get(term) for share in shares),
            )
            for term in words
        ),
    )
