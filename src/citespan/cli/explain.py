"""The trace of a question as tables: every number of every stage, in the order it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from citespan.cli.console import (
    GAP,
    as_plain,
    format_value,
    output_width,
    print_table,
    say,
    shorten_name,
)
from citespan.cli.render import answer_json, gate_json, passage_json
from citespan.pipeline import Explanation
from citespan.types import Trace

PLACE = 34
"""Columns that the place of a chunk or passage takes."""


def trace_json(trace: Trace, details: Explanation) -> dict[str, Any]:
    """Return a trace as JSON values; a hit's parts hold what each term adds to its BM25."""
    value: dict[str, Any] = {
        "question": trace.question,
        "language": trace.language,
        "terms": [{"term": d.term, "chunks": d.chunks, "weight": d.weight} for d in details.terms],
        "settings": as_plain(trace.settings),
        "hits": [
            {
                "rank": hit.rank,
                "document_id": hit.chunk.document_id,
                "source": details.sources.get(hit.chunk.document_id),
                "order": hit.chunk.order,
                "spans": as_plain(hit.chunk.spans),
                "score": hit.score,
                "parts": {**hit.parts, **details.hit_parts(number)},
            }
            for number, hit in enumerate(trace.hits)
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


def draw_trace(trace: Trace, details: Explanation) -> None:
    """Draw the stages one after another."""
    say(f"Question   {trace.question}")
    say(f"Language   {trace.language or 'unknown'}")
    say(f"Settings   {', '.join(f'{k} {v}' for k, v in trace.settings.items() if v != '')}")
    draw_terms(trace, details)
    draw_hits(trace, details)
    draw_passages(trace)
    say("\nGate")
    draw_gate(trace)
    if trace.prompt is not None:
        dropped = f", {len(trace.prompt.dropped)} passages dropped" if trace.prompt.dropped else ""
        say(
            f"\nPrompt\n{len(trace.prompt.passages)} sources, {trace.prompt.tokens} tokens{dropped}"
        )
    if trace.draft is not None:
        say(f"\nGenerate ({trace.draft.generator})\n{trace.draft.text}")
    if trace.answer is not None:
        say("\nVerify")
        draw_answer(trace)
    print_table(
        "\nTime",
        ("stage", "ms"),
        ((name, f"{seconds * 1000:.1f}") for name, seconds in trace.seconds.items()),
        numbers=(1,),
    )


def draw_terms(trace: Trace, details: Explanation) -> None:
    """Draw what the index knows of each term, and what it adds to the BM25 of each hit."""
    longest = max((len(detail.term) for detail in details.terms), default=4)
    room = max(1, (output_width() - longest - 18) // 8)
    shown = trace.hits[:room]
    more = f" (first {len(shown)} hits)" if room < len(trace.hits) else ""
    print_table(
        f"\nTerms: how many of the {details.chunks} chunks hold each, its weight, "
        f"and what it adds to each hit's BM25{more}",
        ("term", "chunks", "weight", *(f"#{hit.rank}" for hit in shown)),
        (
            (
                detail.term,
                detail.chunks,
                f"{detail.weight:.2f}",
                *("" if v is None else f"{v:.2f}" for v in detail.adds[:room]),
            )
            for detail in details.terms
        ),
        numbers=range(1, len(shown) + 3),
    )


def draw_hits(trace: Trace, details: Explanation) -> None:
    """Draw the hits with the parts of their scores; what is the same for all is said once."""
    columns = _order_parts(dict.fromkeys(name for hit in trace.hits for name in hit.parts))
    constant = [name for name in columns if name.startswith("weight_") and _same(trace, name)]
    columns = [name for name in columns if name not in constant]
    places = {
        hit.rank: f"{shorten_name(details.sources.get(hit.chunk.document_id, ''), 24)}"
        f" {hit.chunk.start}-{hit.chunk.end}"
        for hit in trace.hits
    }
    _draw_parts(
        "\nRetrieve: chunks, and the parts of their scores",
        "chunk",
        [(hit.rank, hit.score, hit.parts, places[hit.rank]) for hit in trace.hits],
        columns,
    )
    weights = {name: trace.hits[0].parts[name] for name in constant}
    if any(weight != 1 for weight in weights.values()):
        said = (f"{name.removeprefix('weight_')} {value:.3g}" for name, value in weights.items())
        say(f"weights: {', '.join(said)}")


def _order_parts(names: Iterable[str]) -> list[str]:
    """Put what belongs to one side together: its score, its rank, its z-score, its weight.

    >>> _order_parts(["rank_bm25", "cosine", "bm25", "z_cosine"])
    ['bm25', 'rank_bm25', 'cosine', 'z_cosine']
    """
    kinds = ("", "rank_", "z_", "weight_")

    def split(name: str) -> tuple[str, int]:
        number = next((n for n, kind in enumerate(kinds) if kind and name.startswith(kind)), 0)
        return name.removeprefix(kinds[number]), number

    given = list(names)
    sides = list(dict.fromkeys(split(name)[0] for name in given))
    return sorted(given, key=lambda name: (sides.index(split(name)[0]), split(name)[1]))


def _head(name: str) -> str:
    return next((p for p in ("rank", "z", "weight") if name.startswith(f"{p}_")), name)


def _cell(parts: Mapping[str, float], name: str) -> str:
    value = parts.get(name)
    return f"{value:.0f}" if value is not None and name.startswith("rank_") else format_value(value)


def _same(trace: Trace, name: str) -> bool:
    return len({hit.parts.get(name) for hit in trace.hits}) == 1


def draw_passages(trace: Trace) -> None:
    """Draw the passages, the parts of their scores, and how each begins."""
    places = [f"{shorten_name(p.source, 24)} {p.start}-{p.end}" for p in trace.passages]
    _draw_parts(
        "\nExpand: passages, and the parts of their scores",
        "passage",
        [
            (number, passage.score, passage.parts, place)
            for number, (passage, place) in enumerate(zip(trace.passages, places, strict=True), 1)
        ],
        _order_parts(dict.fromkeys(n for passage in trace.passages for n in passage.parts)),
    )
    print_table(
        "",
        ("#", "hits", "page", "also in", "text"),
        (
            (
                number,
                len(passage.hits),
                passage.page,
                len(passage.duplicates) or None,
                passage.text,
            )
            for number, passage in enumerate(trace.passages, start=1)
        ),
        numbers=(0, 1, 2, 3),
        cut=4,
    )


Row = tuple[int, float, Mapping[str, float], str]
"""Number, score, parts, and what it is."""


def _draw_parts(title: str, what: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Draw scores and their parts in one table, or in several where the parts are many."""
    widths = [
        len(GAP) + max([len(_head(name)), *(len(_cell(row[2], name)) for row in rows)])
        for name in columns
    ]
    fits = PLACE + 2 * len(GAP) + 10 + sum(widths) <= output_width()
    beside = columns if fits else []
    print_table(
        title,
        ("rank", "score", *map(_head, beside), what),
        ((n, score, *(_cell(parts, name) for name in beside), it) for n, score, parts, it in rows),
        numbers=range(len(beside) + 2),
        cut=len(beside) + 2,
    )
    at = 0
    while not fits and at < len(columns):
        room, end = output_width() - 4, at
        while end < len(columns) and (end == at or room >= len(columns[end]) + len(GAP)):
            room -= max(len(columns[end]) + len(GAP), widths[end])
            end += 1
        part = columns[at:end]
        print_table(
            "",
            ("rank", *part),
            ((n, *(_cell(parts, name) for name in part)) for n, _, parts, _ in rows),
            numbers=range(len(part) + 1),
        )
        at = end


def draw_gate(trace: Trace) -> None:
    """Write the gate's verdict and its parts."""
    gate = trace.gate
    if gate is None:
        return
    say(f"{gate.state}, score {gate.score:.3f}, threshold {gate.threshold:.3f}")
    say(gate.reason)
    if gate.parts:
        say(", ".join(f"{name} {value:.3f}" for name, value in gate.parts.items()))


def draw_answer(trace: Trace) -> None:
    """Draw the checked sentences."""
    answer = trace.answer
    if answer is None:
        return
    say(answer.status)
    if not answer.sentences:
        return
    print_table(
        "",
        ("support", "holds", "citations", "problems", "sentence"),
        (
            (
                sentence.support,
                "yes" if sentence.supported else "no",
                " ".join(f"[{c.number}] {c.start}-{c.end}" for c in sentence.citations),
                "; ".join(sentence.problems),
                sentence.text,
            )
            for sentence in answer.sentences
        ),
        numbers=(0,),
        cut=4,
    )
