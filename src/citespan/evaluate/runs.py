"""What a way of searching returned: one ranked list of passages a question, and the gate's verdict.

A question that is in a run with no passages was asked and nothing was found: it scores 0. A
question that is not in the run was not asked: it is unmeasured, counted and said, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from citespan.errors import InputError
from citespan.types import Chunk, Gate, Hit, Passage, Span

REFUSING_STATES = ("nothing_relevant", "insufficient")


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """One retrieved piece of a document: ``spans`` holds several only for a clustered chunk."""

    doc_id: str
    spans: tuple[Span, ...]
    score: float = 0.0
    text: str = ""

    @property
    def start(self) -> int:
        """First code point of the first span."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """End (exclusive) of the last span."""
        return self.spans[-1].end

    @property
    def id(self) -> str:
        """The document and the spans, readable: ``notes.md:0-120,300-340``."""
        return f"{self.doc_id}:" + ",".join(f"{s}-{e}" for s, e in self.spans)


@dataclass(frozen=True, slots=True)
class GateRecord:
    """The gate's state and score in [0, 1] for one question."""

    state: str
    score: float

    @property
    def refused(self) -> bool:
        """Whether the question was turned away."""
        return self.state in REFUSING_STATES


@dataclass(frozen=True, slots=True)
class Result:
    """All that one question got, best passage first (the order is the rank)."""

    query_id: str
    passages: tuple[RankedPassage, ...] = ()
    gate: GateRecord | None = None
    answer: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one way of searching; ``failures`` says which questions broke, and why."""

    name: str
    results: Mapping[str, Result]
    settings: Mapping[str, Any] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)


def as_ranked(item: Hit | Passage | Chunk | RankedPassage) -> RankedPassage:
    """Return any of the pipeline's results as a plain ranked passage.

    >>> as_ranked(Chunk("a", 0, (Span(0, 4),), "text")).id
    'a:0-4'
    """
    if isinstance(item, RankedPassage):
        return item
    if isinstance(item, Hit):
        chunk = item.chunk
        return RankedPassage(chunk.document_id, chunk.spans, item.score, chunk.text)
    if isinstance(item, Chunk):
        return RankedPassage(item.document_id, item.spans, 0.0, item.text)
    span = Span(item.start, item.end)
    return RankedPassage(item.document_id, (span,), item.score, item.text)


def as_gate_record(gate: Gate | GateRecord | None) -> GateRecord | None:
    """Return the part of a gate that evaluation reads."""
    return GateRecord(gate.state, gate.score) if isinstance(gate, Gate) else gate


def make_run(
    name: str, passages: Mapping[str, Sequence[Hit | Passage | Chunk | RankedPassage]]
) -> Run:
    """Return a run from question ids and their ranked passages.

    >>> make_run("mine", {"q1": [], "q2": [RankedPassage("a", (Span(0, 4),))]}).results["q1"]
    Result(query_id='q1', passages=(), gate=None, answer='', seconds=None)
    """
    results = {q: Result(q, tuple(as_ranked(p) for p in found)) for q, found in passages.items()}
    return Run(name, results)


def read_run(path: Path | str) -> Run:
    """Read a run from JSONL, one question a line; the run's name is the file's.

    A line is ``{"query_id", "passages": [{"doc_id", "start", "end", "score"}], "gate": {"state",
    "score"}}``; ``gate``, ``answer``, ``seconds`` and a passage's ``score`` (its rank counts),
    ``text`` and ``spans`` (for a chunk of several pieces) may be absent.

    Raises
    ------
    InputError
        Lists every line that is not usable.
    """
    path = Path(path)
    results: dict[str, Result] = {}
    problems: list[str] = []
    for number, row in read_json_lines(path, problems):
        try:
            result = _parse_result(row)
        except (KeyError, TypeError, ValueError) as error:
            problems.append(f"line {number}: {_say(error)}")
            continue
        if result.query_id in results:
            problems.append(f"line {number}: question {result.query_id!r} stands there twice")
        results[result.query_id] = result
    raise_problems(path.name, problems)
    return Run(path.stem, results)


def write_run(run: Run, path: Path | str) -> None:
    """Write a run as JSONL, questions in the run's order; ``read_run`` gives it back."""
    rows = (_format_result(result) for result in run.results.values())
    write_json_lines(path, rows)


def read_json_lines(path: Path, problems: list[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return (line number, object) of a JSONL file; what is no object goes into ``problems``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"no file {path.name}", fix="give the path of a JSONL file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not UTF-8", fix="save it as UTF-8") from None
    rows: list[tuple[int, dict[str, Any]]] = []
    # Not splitlines: U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(f"line {number}: not JSON ({error.msg})")
            continue
        if isinstance(row, dict):
            rows.append((number, row))
        else:
            problems.append(f"line {number}: not an object in braces")
    return rows


def write_json_lines(path: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line, UTF-8, keys in the order given."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def raise_problems(name: str, problems: Sequence[str], *, shown: int = 12) -> None:
    """Raise one InputError that lists all problems (the first twelve in full), if there are any."""
    if not problems:
        return
    listed = "; ".join(problems[:shown])
    more = f"; and {len(problems) - shown} more" if len(problems) > shown else ""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise InputError(f"{name}: {count}: {listed}{more}")


def parse_spans(row: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return a row's ``spans``, or its ``start`` and ``end``; refuse empty and inverted ones.

    >>> parse_spans({"start": 3, "end": 9})
    (Span(start=3, end=9),)
    """
    pairs = row["spans"] if row.get("spans") else [[row["start"], row["end"]]]
    spans = tuple(Span(_as_offset(start), _as_offset(end)) for start, end in pairs)
    for start, end in spans:
        if start >= end:
            raise ValueError(f"start {start} is not before end {end}")
    return spans


def _as_offset(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no offset (a whole number from 0)")
    return value


def _parse_result(row: Mapping[str, Any]) -> Result:
    passages = tuple(
        RankedPassage(
            str(p["doc_id"]), parse_spans(p), float(p.get("score", 0.0)), p.get("text", "")
        )
        for p in row["passages"]
    )
    gate = row.get("gate")
    record = GateRecord(str(gate["state"]), float(gate["score"])) if gate else None
    seconds = row.get("seconds")
    return Result(
        str(row["query_id"]),
        passages,
        record,
        str(row.get("answer", "")),
        None if seconds is None else float(seconds),
    )


def _format_result(result: Result) -> dict[str, Any]:
    row: dict[str, Any] = {"query_id": result.query_id, "passages": []}
    for passage in result.passages:
        entry: dict[str, Any] = {
            "doc_id": passage.doc_id,
            "start": passage.start,
            "end": passage.end,
            "score": passage.score,
        }
        if len(passage.spans) > 1:
            entry["spans"] = [list(span) for span in passage.spans]
        if passage.text:
            entry["text"] = passage.text
        row["passages"].append(entry)
    if result.gate:
        row["gate"] = {"state": result.gate.state, "score": result.gate.score}
    if result.answer:
        row["answer"] = result.answer
    if result.seconds is not None:
        row["seconds"] = result.seconds
    return row


def _say(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error)
