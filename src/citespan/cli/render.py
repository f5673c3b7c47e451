"""Answers, searches and spans as a person reads them, and as JSON."""

from __future__ import annotations

import textwrap
from typing import Any

from citespan.cli.console import as_plain, output_width, say, style
from citespan.types import Answer, Document, Gate, Passage, Trace

EXCERPT = 400
"""Characters of a passage that a search shows."""


def passage_json(passage: Passage) -> dict[str, Any]:
    """Return a passage in the shape that docs/cli.md documents."""
    return {
        "document_id": passage.document_id,
        "source": passage.source,
        "title": passage.title,
        "heading": passage.heading,
        "page": passage.page,
        "last_page": passage.last_page,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "score": passage.score,
        "parts": dict(passage.parts),
        "duplicates": [place._asdict() for place in passage.duplicates],
    }


def gate_json(gate: Gate | None) -> dict[str, Any] | None:
    """Return the gate's verdict, its parts included."""
    if gate is None:
        return None
    return {
        "state": gate.state,
        "score": gate.score,
        "threshold": gate.threshold,
        "reason": gate.reason,
        "parts": dict(gate.parts),
    }


def search_json(trace: Trace) -> dict[str, Any]:
    """Return a search as JSON values."""
    return {
        "question": trace.question,
        "gate": gate_json(trace.gate),
        "passages": [passage_json(passage) for passage in trace.passages],
    }


def answer_json(answer: Answer, *, with_prompt: bool = False) -> dict[str, Any]:
    """Return an answer as JSON values: those of the search, and what was made of it."""
    value: dict[str, Any] = {
        "question": answer.question,
        "gate": gate_json(answer.gate),
        "passages": [passage_json(passage) for passage in answer.passages],
        "status": answer.status,
        "answer": answer.text,
        "sentences": [
            {
                "text": sentence.text,
                "citations": [as_plain(citation) for citation in sentence.citations],
                "supported": sentence.supported,
                "support": sentence.support,
                "problems": list(sentence.problems),
            }
            for sentence in answer.sentences
        ],
        "notes": list(answer.notes),
    }
    if with_prompt:
        sent = answer.trace.prompt if answer.trace else None
        value["messages"] = sent.messages if sent else []
    return value


def draw_answer(answer: Answer, *, with_prompt: bool = False) -> None:
    """Write an answer with its citations and the spans they stand for, or the refusal."""
    if with_prompt and answer.trace is not None:
        draw_prompt(answer.trace)
        say()
    refused = answer.status == "refused"
    # The gate's reason says how far was looked; where the gate was open, the draft was the reason.
    closed = refused and answer.gate.state != "answerable"
    say(_fold(answer.gate.reason if closed else answer.text))
    if refused:
        if answer.passages:
            say("\nClosest passages:")
        for number, passage in enumerate(answer.passages[:3], start=1):
            _draw_passage(number, passage, length=200)
    else:
        _draw_citations(answer)
    for note in answer.notes:
        say(f"note: {note}")


def _draw_citations(answer: Answer) -> None:
    seen: set[tuple[int, int, int]] = set()
    say()
    for sentence in answer.sentences:
        for cited in sentence.citations:
            key = (cited.number, cited.start, cited.end)
            if key in seen:
                continue
            seen.add(key)
            page = f", page {cited.page}" if cited.page else ""
            say(f"[{cited.number}] {cited.source}{page}, {cited.start}-{cited.end}")
            say(_fold(f'"{cited.quote}"', indent="    "))
    for sentence in answer.sentences:
        if not sentence.supported:
            why = "; ".join(sentence.problems) or "its sources do not say this"
            say(_fold(f'NOT SUPPORTED: "{sentence.text}" ({why})'))


def draw_search(trace: Trace) -> None:
    """Write the gate's verdict and the passages."""
    gate = trace.gate
    if gate is not None:
        say(f"{gate.state} (score {gate.score:.2f}, threshold {gate.threshold:.2f})")
        say(_fold(gate.reason))
    for number, passage in enumerate(trace.passages, start=1):
        _draw_passage(number, passage, length=EXCERPT)


def _draw_passage(number: int, passage: Passage, *, length: int) -> None:
    page = f", page {passage.page}" if passage.page else ""
    say()
    say(f"{number}. {passage.source}{page}, {passage.start}-{passage.end}  ({passage.score:.3f})")
    if passage.heading:
        say(f"   {passage.heading}")
    text = " ".join(passage.text.split())
    say(_fold(text if len(text) <= length else text[:length] + " …", indent="   "))
    for place in passage.duplicates:
        say(f"   also in {place.source}, {place.start}-{place.end}")


def draw_prompt(trace: Trace) -> None:
    """Write exactly what is sent, and how much of the budget it takes."""
    if trace.prompt is None:
        return
    for message in trace.prompt.messages:
        say(f"--- {message['role']} ---")
        say(message["content"])
    dropped = f", {len(trace.prompt.dropped)} passages dropped" if trace.prompt.dropped else ""
    say(f"--- {trace.prompt.tokens} tokens of {trace.prompt.budget}{dropped} ---")


def draw_span(document: Document, start: int, end: int, around: int) -> None:
    """Write a span in its surroundings, set off by colour, or by marks where there is none."""
    from citespan.spans import heading_path, page_range

    page, _ = page_range(document.pages, start, end)
    where = [document.source, f"{start}-{end}"]
    if page:
        where.insert(1, f"page {page}")
    say(", ".join(where))
    heading = heading_path(document.sections, start)
    if heading:
        say(heading)
    before = document.text[max(0, start - around) : start]
    after = document.text[end : end + around]
    lead = "… " if start > around else ""
    tail = " …" if end + around < len(document.text) else ""
    inside = style(f">>>{document.text[start:end]}<<<", reverse=True)
    say(f"\n{lead}{before}{inside}{after}{tail}")


def _fold(text: str, *, indent: str = "") -> str:
    width = min(output_width(), 100)
    lines = []
    for line in text.splitlines() or [""]:
        lines.append(
            textwrap.fill(
                line,
                width,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(lines)
