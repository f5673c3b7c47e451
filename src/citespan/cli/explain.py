"""The trace of a question as tables: every number of every stage, in the order it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citespan.cli.console import as_plain, print_table, say
from citespan.cli.render import answer_json, gate_json, passage_json
from citespan.types import Trace


def trace_json(trace: Trace, terms: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return a trace as JSON values; ``terms`` are each hit's BM25 parts."""
    value: dict[str, Any] = {
        "question": trace.question,
        "language": trace.language,
        "terms": as_plain(trace.terms),
        "settings": as_plain(trace.settings),
        "hits": [
            {
                "rank": hit.rank,
                "document_id": hit.chunk.document_id,
                "order": hit.chunk.order,
                "spans": as_plain(hit.chunk.spans),
                "score": hit.score,
                "parts": {**hit.parts, **parts},
            }
            for hit, parts in zip(trace.hits, terms, strict=True)
        ],
        "passages": [passage_json(passage) for passage in trace.passages],
        "gate": gate_json(trace.gate),
        "prompt": as_plain(trace.prompt.messages) if trace.prompt else None,
        "draft": as_plain(trace.draft.text) if trace.draft else None,
        "seconds": trace.seconds,
    }
    if trace.answer is not None:
        value["answer"] = answer_json(trace.answer)
    return value


def draw_trace(trace: Trace, terms: Sequence[Mapping[str, float]]) -> None:
    """Draw the stages one after another."""
    say(f"question   {trace.question}")
    say(f"language   {trace.language or 'unknown'}")
    say(f"terms      {' '.join('|'.join(group) for group in trace.terms)}")
    draw_hits(trace, terms)
    draw_passages(trace)
    say("\nGate")
    draw_gate(trace)
    if trace.prompt is not None:
        say(f"\nPrompt: {len(trace.prompt.passages)} sources, {trace.prompt.tokens} tokens")
    if trace.draft is not None:
        say(f"\nGenerate ({trace.draft.generator})\n{trace.draft.text}")
    if trace.answer is not None:
        say("\nVerify")
        draw_answer(trace)
    print_table(
        "\nTime",
        ("stage", "ms"),
        ((name, seconds * 1000) for name, seconds in trace.seconds.items()),
        numbers=(1,),
    )


def draw_hits(trace: Trace, terms: Sequence[Mapping[str, float]]) -> None:
    """Draw the hits with the parts of their scores, and what each term adds to BM25."""
    names = list(dict.fromkeys(name for hit in trace.hits for name in hit.parts))
    sources = {passage.document_id: passage.source for passage in trace.passages}
    print_table(
        "\nRetrieve: chunks and the parts of their scores",
        ("rank", "chunk", "score", *names),
        (
            (
                hit.rank,
                f"{sources.get(hit.chunk.document_id, hit.chunk.document_id)}"
                f" {hit.chunk.start}-{hit.chunk.end}",
                hit.score,
                *(hit.parts.get(name) for name in names),
            )
            for hit in trace.hits
        ),
        numbers=(0, *range(2, len(names) + 3)),
    )
    words = list(dict.fromkeys(name for parts in terms for name in parts))
    if words:
        print_table(
            "\nRetrieve: what each term adds to BM25",
            ("rank", *(name.removeprefix("bm25[").removesuffix("]") for name in words)),
            (
                (hit.rank, *(parts.get(name) for name in words))
                for hit, parts in zip(trace.hits, terms, strict=True)
            ),
            numbers=tuple(range(len(words) + 1)),
        )


def draw_passages(trace: Trace) -> None:
    """Draw the passages that grew around the hits."""
    print_table(
        "\nExpand: passages grown around the hits",
        ("passage", "source", "span", "score", "hits", "text"),
        (
            (
                number,
                passage.source,
                f"{passage.start}-{passage.end}",
                passage.score,
                len(passage.hits),
                passage.text[:60],
            )
            for number, passage in enumerate(trace.passages, start=1)
        ),
        numbers=(0, 3, 4),
    )


def draw_gate(trace: Trace) -> None:
    """Write the gate's verdict and its parts."""
    gate = trace.gate
    if gate is None:
        return
    say(f"{gate.state}, score {gate.score:.3f}, threshold {gate.threshold:.3f}")
    say(gate.reason)
    if gate.parts:
        print_table("", ("part", "value"), gate.parts.items(), numbers=(1,))


def draw_answer(trace: Trace) -> None:
    """Draw the checked sentences."""
    answer = trace.answer
    if answer is None:
        return
    say(f"{answer.status}")
    print_table(
        "",
        ("sentence", "citations", "support", "supported", "problems"),
        (
            (
                sentence.text[:80],
                " ".join(f"[{c.number}] {c.start}-{c.end}" for c in sentence.citations),
                sentence.support,
                "yes" if sentence.supported else "no",
                "; ".join(sentence.problems),
            )
            for sentence in answer.sentences
        ),
        numbers=(2,),
    )
