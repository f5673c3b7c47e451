"""Questions with the spans that answer them: one labelling that serves every splitter.

A line of ground truth is ``{"question", "relevant_docs", "evidence": [{"doc", "start", "end"}]}``;
``id``, ``answerable``, ``language``, ``scope`` (the only documents to search), ``answer`` (a
reference answer), ``grades`` (of documents) and an evidence's ``quote`` may stand beside. Offsets
are half-open code points.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from citespan.errors import InputError
from citespan.evaluate.runs import (
    parse_spans,
    raise_problems,
    read_json_lines,
    write_json_lines,
)
from citespan.types import content_id

CSV_COLUMNS = (
    "id",
    "question",
    "answerable",
    "language",
    "relevant_docs",
    "evidence",
    "answer",
    "scope",
    "grades",
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place that answers a question; ``quote`` is its text when it was labelled."""

    doc_id: str
    start: int
    end: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the documents and spans that answer it, and whether anything does.

    ``grades`` holds a document's degree of relevance where it is not 1.
    """

    id: str
    text: str
    relevant_docs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    answerable: bool = True
    language: str = ""
    scope: tuple[str, ...] = ()
    answer: str = ""
    grades: Mapping[str, float] = field(default_factory=dict)

    @property
    def document_grades(self) -> dict[str, float]:
        """Degree of relevance of every document that is named as relevant or holds evidence."""
        names = [*self.relevant_docs, *(e.doc_id for e in self.evidence)]
        return {**dict.fromkeys(names, 1.0), **self.grades}


def read_questions(path: Path | str) -> list[Question]:
    """Read ground truth from a ``.jsonl`` or ``.csv`` file, or from a benchmark's folder.

    A folder holds ``queries.jsonl`` and ``qrels.jsonl`` (see `read_benchmark`).

    Raises
    ------
    InputError
        Lists every line that is not usable.
    """
    questions, problems = load_questions(path)
    raise_problems(Path(path).name, problems)
    return questions


def load_questions(path: Path | str) -> tuple[list[Question], list[str]]:
    """Return the usable questions of a file beside all that is wrong with its lines.

    `read_questions` raises these problems; `checks.check_file` reports them with its own.
    """
    path = Path(path)
    if path.is_dir():
        return read_benchmark(path), []
    problems: list[str] = []
    if path.suffix.lower() == ".csv":
        rows = _read_csv_rows(path, problems)
    else:
        rows = read_json_lines(path, problems)
    questions: list[Question] = []
    seen: dict[str, int] = {}
    for number, row in rows:
        try:
            question = parse_question(row)
        except (KeyError, TypeError, ValueError) as error:
            text = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            problems.append(f"line {number}: {text}")
            continue
        if question.id in seen:
            problems.append(
                f"line {number}: the id {question.id!r} stands in line {seen[question.id]} already"
            )
        seen[question.id] = number
        questions.append(question)
    return questions, problems


def write_questions(questions: Iterable[Question], path: Path | str) -> None:
    """Write ground truth as ``.jsonl`` or, by the file's ending, ``.csv``."""
    path = Path(path)
    if path.suffix.lower() != ".csv":
        write_json_lines(path, (format_question(q) for q in questions))
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, CSV_COLUMNS, restval="")
        writer.writeheader()
        for question in questions:
            row = format_question(question)
            writer.writerow({k: v if isinstance(v, str) else _to_json(v) for k, v in row.items()})


def parse_question(row: Mapping[str, Any]) -> Question:
    """Return the question of one JSON object; the id defaults to a hash of question and scope.

    >>> parse_question({"question": "Who?", "evidence": [{"doc": "a", "start": 0, "end": 3}]})
    ... # doctest: +ELLIPSIS
    Question(id='...', text='Who?', relevant_docs=('a',), evidence=(Evidence(doc_id='a', ...
    """
    text = row["question"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the question is empty")
    evidence = tuple(_parse_evidence(entry) for entry in row.get("evidence") or ())
    named = _as_names(row.get("relevant_docs"), "relevant_docs")
    documents = tuple(dict.fromkeys([*named, *(e.doc_id for e in evidence)]))
    scope = _as_names(row.get("scope"), "scope")
    answerable = _as_bool(row.get("answerable"), default=True)
    if not answerable and documents:
        raise ValueError("answerable is false, but relevant documents are named")
    return Question(
        id=str(row.get("id") or content_id(text, *scope)),
        text=text,
        relevant_docs=documents,
        evidence=evidence,
        answerable=answerable,
        language=str(row.get("language") or ""),
        scope=scope,
        answer=str(row.get("answer") or ""),
        grades={str(d): float(g) for d, g in (row.get("grades") or {}).items()},
    )


def format_question(question: Question) -> dict[str, Any]:
    """Return the JSON object of a question; what is empty is left out (see `parse_question`)."""
    row: dict[str, Any] = {
        "id": question.id,
        "question": question.text,
        "answerable": question.answerable,
        "relevant_docs": list(question.relevant_docs),
        "evidence": [_format_evidence(e) for e in question.evidence],
    }
    optional: dict[str, Any] = {
        "language": question.language,
        "scope": list(question.scope),
        "answer": question.answer,
        "grades": dict(question.grades),
    }
    return row | {key: value for key, value in optional.items() if value}


def read_benchmark(folder: Path | str) -> list[Question]:
    """Read ``queries.jsonl`` {id, text, answerable, scope?} with ``qrels.jsonl``.

    A line of the qrels is {query_id, doc_id, score, spans: [[start, end], …]}; score 0 means
    judged and not relevant.
    """
    folder = Path(folder)
    problems: list[str] = []
    judged: dict[str, list[Mapping[str, Any]]] = {}
    for _, row in read_json_lines(folder / "qrels.jsonl", problems):
        judged.setdefault(str(row["query_id"]), []).append(row)
    questions = []
    for _, row in read_json_lines(folder / "queries.jsonl", problems):
        relevant = [j for j in judged.get(str(row["id"]), []) if j["score"] > 0]
        questions.append(
            Question(
                id=str(row["id"]),
                text=row["text"],
                relevant_docs=tuple(str(j["doc_id"]) for j in relevant),
                evidence=tuple(
                    Evidence(str(j["doc_id"]), start, end)
                    for j in relevant
                    for start, end in j.get("spans") or ()
                ),
                answerable=bool(row.get("answerable", True)),
                language=row.get("language", ""),
                scope=tuple(str(d) for d in row.get("scope") or ()),
                answer=row.get("answer", ""),
                grades={str(j["doc_id"]): float(j["score"]) for j in relevant if j["score"] != 1},
            )
        )
    raise_problems(folder.name, problems)
    return questions


def _parse_evidence(entry: object) -> Evidence:
    if not isinstance(entry, Mapping):
        raise ValueError('an evidence is not {"doc", "start", "end"}')
    name = entry.get("doc", entry.get("doc_id"))
    if name is None:
        raise KeyError("doc")
    ((start, end),) = parse_spans({"start": entry["start"], "end": entry["end"]})
    return Evidence(str(name), start, end, str(entry.get("quote") or ""))


def _format_evidence(evidence: Evidence) -> dict[str, Any]:
    row: dict[str, Any] = {"doc": evidence.doc_id, "start": evidence.start, "end": evidence.end}
    return row | ({"quote": evidence.quote} if evidence.quote else {})


def _as_names(value: object, what: str) -> tuple[str, ...]:
    if not value:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence):
        raise ValueError(f"{what} is not a list of names")
    return tuple(str(name) for name in value)


def _as_bool(value: object, *, default: bool) -> bool:
    if value is None or value == "":
        return default
    if isinstance(value, bool):
        return value
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    answer = known.get(str(value).strip().lower())
    if answer is None:
        raise ValueError(f"answerable is {value!r}, neither true nor false")
    return answer


def _read_csv_rows(path: Path, problems: list[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows of a CSV file; a cell of several values is JSON, or names split by ``|``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            cells = [(reader.line_num, row) for row in reader]
            header = reader.fieldnames or []
    except FileNotFoundError:
        raise InputError(f"no file {path.name}", fix="give the path of a CSV file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not UTF-8", fix="save it as CSV UTF-8") from None
    if "question" not in header:
        raise InputError(f"{path.name} has no column 'question'", fix="add a header line")
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, row in cells:
        parsed: dict[str, Any] = {k: v for k, v in row.items() if isinstance(k, str) and v}
        for column in ("relevant_docs", "scope", "evidence", "grades"):
            cell = (row.get(column) or "").strip()
            if cell[:1] in ("[", "{"):
                try:
                    parsed[column] = json.loads(cell)
                except json.JSONDecodeError as error:
                    problems.append(f"line {number}: {column} is not JSON ({error.msg})")
                    parsed.pop(column, None)
            elif cell and column in ("evidence", "grades"):
                problems.append(f"line {number}: {column} is not a JSON list or object")
                parsed.pop(column, None)
            elif cell:
                parsed[column] = [name.strip() for name in cell.split("|") if name.strip()]
        rows.append((number, parsed))
    return rows


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
