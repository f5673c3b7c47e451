"""Asking an index: retrieve, expand, gate, prompt, generate, verify; every result in a trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from citespan.config import Settings
from citespan.errors import InputError
from citespan.gate import THRESHOLD, check_gate, gather_evidence
from citespan.generate import generate_answer
from citespan.pipeline.find import find_passages
from citespan.pipeline.opened import OpenIndex
from citespan.pipeline.parts import open_generator
from citespan.prompt import build_prompt, refusal_text, shrink_prompt
from citespan.protocols import Filter, Generator, Store
from citespan.text import analyze_query, analyze_terms, detect_language
from citespan.types import Answer, Gate, Hit, Trace
from citespan.verify import verify_answer
from citespan.weights import Weigh, idf_weight


def search_index(
    index: OpenIndex, question: str, *, where: Filter | None = None, unlimited: bool = False
) -> Trace:
    """Return what an index holds on a question: hits, passages, and the gate's verdict.

    Without ``settings.k`` as many passages are taken as score near the best one. ``unlimited``
    lifts the budget of tokens: for runs that are measured, not read.

    Raises
    ------
    InputError
        If the question is empty.
    """
    # Lone surrogates (a byte of the command line that was no UTF-8) are no text for any library.
    asked = " ".join(question.encode("utf-8", "replace").decode("utf-8").split())
    if not asked:
        raise InputError("the question is empty", fix="write it in quotes")
    settings, store = index.settings, index.store
    trace = Trace(question=asked, settings=_describe(settings))
    with store.snapshot():
        with _timed(trace, "analyze"):
            languages = index.languages()
            trace.language = detect_language(asked, languages[0] if languages else "en")
            terms = analyze_query(asked, languages)
            trace.terms = tuple(tuple(group) for group in terms)
            weigh = _weigh_terms(store, trace)
        find_passages(
            index,
            trace,
            weigh,
            partial(_timed, trace),
            where=where,
            k=settings.k,
            budget=None if unlimited else settings.budget,
        )
        with _timed(trace, "gate"):
            evidence = gather_evidence(
                terms,
                trace.passages,
                weigh=weigh,
                languages=_languages_of(index, trace),
                cosine=_best_cosine(trace.hits),
                cosine_range=index.cosine_range(trace.language),
            )
            threshold = THRESHOLD if settings.threshold is None else settings.threshold
            trace.gate = check_gate(
                evidence,
                documents=index.count_documents(where),
                language=trace.language,
                threshold=threshold,
            )
    return trace


def ask_index(
    index: OpenIndex,
    question: str,
    *,
    where: Filter | None = None,
    generator: Generator | None = None,
    on_text: Callable[[str], Any] | None = None,
) -> Answer:
    """Answer a question from an index, or refuse; ``answer.trace`` holds every stage's result.

    Where the gate is not open, no generator is called.

    Parameters
    ----------
    generator
        The one to use instead of that of the settings.
    on_text
        Called with each piece of the draft as it comes; what is checked comes at the end.

    Raises
    ------
    InputError
        If the question is empty.
    ModelError
        If the generator cannot be reached.
    """
    trace = search_index(index, question, where=where)
    gate = trace.gate
    assert gate is not None  # search_index always sets it
    if gate.state != "answerable":
        answer = _refuse(trace, gate)
    else:
        settings = index.settings
        weigh = _weigh_terms(index.store, trace)
        with _timed(trace, "prompt"):
            trace.prompt = build_prompt(
                trace.question,
                trace.passages,
                language=trace.language,
                # The passages keep the budget already; what parts and names them comes on top.
                budget=settings.context,
                context=settings.context,
            )
        with _timed(trace, "generate"):
            trace.draft = generate_answer(
                trace.prompt,
                generator or open_generator(settings, weigh=weigh, embedder=index.embedder),
                shrink=shrink_prompt,
                on_text=on_text,
            )
        with _timed(trace, "verify"):
            checked = _weigh_texts(index.store, trace, trace.draft.text)
            answer = verify_answer(trace.draft, trace.prompt, gate, weigh=checked)
    notes = (*index.notes, *_note_left_out(trace, index.settings.context), *answer.notes)
    trace.answer = replace(answer, trace=trace, notes=notes)
    return trace.answer


def _note_left_out(trace: Trace, context: int) -> list[str]:
    """Say what of the passages the model's context had no room for."""
    sent = trace.prompt
    if sent is None or not sent.passages:
        return []
    found, last = len(trace.passages), len(sent.passages) - 1
    what = f"{len(sent.dropped)} of {found} passages" if sent.dropped else ""
    if sent.passages[last].end < trace.passages[last].end:
        what = f"the end of the best passage{' and ' if what else ''}{what}"
    fix = "raise --context if the model has more"
    return [f"not sent, for a context of {context} tokens: {what} ({fix})"] if what else []


def _refuse(trace: Trace, gate: Gate) -> Answer:
    return Answer(
        question=trace.question,
        status="refused",
        text=refusal_text(trace.language),
        sentences=(),
        passages=trace.passages,
        gate=gate,
    )


def _weigh_terms(store: Store, trace: Trace) -> Weigh:
    """Return the question's terms' weights from how many chunks hold them."""
    return _weigh(store, {term for group in trace.terms for term in group})


def _weigh_texts(store: Store, trace: Trace, draft: str) -> Weigh:
    """Return the weights of all terms of a draft and of the passages it is compared with."""
    terms = set(analyze_terms(draft, trace.language))
    for passage in trace.passages:
        terms.update(analyze_terms(passage.text, trace.language))
    return _weigh(store, terms)


def _weigh(store: Store, terms: set[str]) -> Weigh:
    statistics = store.term_statistics(sorted(terms))
    return idf_weight(statistics.chunks, statistics.frequencies)


def _languages_of(index: OpenIndex, trace: Trace) -> dict[str, str]:
    """Return the language of each document that a passage is from."""
    found = {p.document_id: index.get_document(p.document_id) for p in trace.passages}
    return {known: document.language for known, document in found.items() if document}


def _best_cosine(hits: Sequence[Hit]) -> float | None:
    values = [hit.parts["cosine"] for hit in hits if "cosine" in hit.parts]
    return max(values) if values else None


def _describe(settings: Settings) -> dict[str, Any]:
    names = ("retriever", "k", "budget", "passage", "embedder", "splitter", "model")
    return {name: getattr(settings, name) for name in names}


@contextmanager
def _timed(trace: Trace, stage: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        trace.seconds[stage] = time.perf_counter() - started
