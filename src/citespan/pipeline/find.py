"""From a question to passages: the ribbon by default, or one of the plain retrievers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import cast

from citespan.expand import expand_hits
from citespan.pipeline.opened import OpenIndex
from citespan.protocols import Filter
from citespan.retrieve import (
    Retriever,
    Ribbon,
    RibbonSettings,
    choose_runs,
    list_hits,
    make_passages,
    retrieve_hits,
    score_ribbon,
)
from citespan.tokens import estimate_tokens
from citespan.types import Hit, Passage, Trace
from citespan.weights import Weigh

SHOWN = 10
"""Chunks that the trace lists, where no number was asked for."""
FREE_HITS = 50
FREE_CUT = 0.5
"""The plain retrievers without k: hits that reach this share of the best score, so many at most."""

Timer = Callable[[str], AbstractContextManager[None]]


def find_passages(
    index: OpenIndex,
    trace: Trace,
    weigh: Weigh,
    timed: Timer,
    *,
    where: Filter | None,
    k: int | None,
    budget: int | None,
) -> None:
    """Fill the trace's hits and passages.

    Parameters
    ----------
    k
        Passages to bring; None is the free cut: as many as score near the best one.
    budget
        Tokens of all passages together; None sets no limit.
    """
    if index.settings.retriever == "ribbon":
        _follow_ribbon(index, trace, weigh, timed, where=where, k=k, budget=budget)
    else:
        _expand_plain(index, trace, timed, where=where, k=k, budget=budget)


def _follow_ribbon(
    index: OpenIndex,
    trace: Trace,
    weigh: Weigh,
    timed: Timer,
    *,
    where: Filter | None,
    k: int | None,
    budget: int | None,
) -> None:
    # The usual candidates hold enough for any free cut; whoever asks for more passages gets more.
    usual, most = RibbonSettings(), k or 0
    with timed("retrieve"):
        ribbon = score_ribbon(
            trace.question,
            index.store,
            terms=trace.terms,
            weigh=weigh,
            embedder=index.embedder,
            settings=replace(
                usual,
                trust=index.trust(trace.language),
                pool=max(usual.pool, most),
                near=max(usual.near, most),
            ),
            where=where,
        )
        trace.hits = list_hits(index.store, ribbon.candidates, k or SHOWN)
    with timed("expand"):
        trace.passages = _grow_passages(index, ribbon, k, budget)


def _grow_passages(
    index: OpenIndex, ribbon: Ribbon, k: int | None, budget: int | None
) -> tuple[Passage, ...]:
    """Grow passages; runs of identical text are one, so k passages may take more runs than k."""
    measure = _sentence_sizes(index, ribbon)
    most = k
    while True:
        runs = choose_runs(
            ribbon.sentences,
            ribbon.scores,
            ribbon.parts["windows"],
            most=most,
            budget=budget,
            longest=index.settings.passage,
            measure=measure,
        )
        passages = make_passages(
            ribbon.sentences, ribbon.scores, ribbon.parts, runs, index.get_document
        )
        if k is None or most is None:
            return tuple(passages)
        if len(passages) >= k or len(runs) < most:
            return tuple(passages[:k])
        most *= 2  # more runs leave the earlier ones as they are


def _sentence_sizes(index: OpenIndex, ribbon: Ribbon) -> Callable[[int], int]:
    """Return the function that counts a sentence's tokens, each counted once."""
    known: dict[int, int] = {}
    pool = ribbon.sentences

    def measure(sentence: int) -> int:
        if sentence not in known:
            document = index.get_document(pool.documents[sentence])
            start, end = pool.spans[sentence]
            known[sentence] = estimate_tokens(document.text[start:end]) if document else 0
        return known[sentence]

    return measure


def _expand_plain(
    index: OpenIndex,
    trace: Trace,
    timed: Timer,
    *,
    where: Filter | None,
    k: int | None,
    budget: int | None,
) -> None:
    settings = index.settings
    most = k or FREE_HITS
    with timed("retrieve"):
        if settings.retriever == "tfidf":
            hits = index.search_tfidf(trace.question, most, where)
        else:
            hits = retrieve_hits(
                trace.question,
                index.store,
                most,
                terms=trace.terms,
                embedder=index.embedder,
                retriever=cast(Retriever, settings.retriever),
                where=where,
            ).hits
        trace.hits = hits if k else _cut_freely(hits)
    with timed("expand"):
        trace.passages = tuple(
            expand_hits(
                trace.hits,
                index.get_document,
                index.get_sentences,
                budget=budget or UNLIMITED,
                passage_budget=settings.passage,
            )
        )


UNLIMITED = 1 << 40


def _cut_freely(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Keep the hits whose score is at least a share of the best one's."""
    if not hits or hits[0].score <= 0:
        return hits[:1]
    return tuple(hit for hit in hits if hit.score >= FREE_CUT * hits[0].score)
