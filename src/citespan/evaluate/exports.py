"""Results in other tools' formats: TREC files, the columns that ragas reads, and tables."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from citespan.errors import InputError
from citespan.evaluate.evaluation import Evaluation
from citespan.evaluate.groundtruth import Question
from citespan.evaluate.ranking import rank_by_score
from citespan.evaluate.runs import Run, raise_problems, write_json_lines
from citespan.evaluate.statistics import bootstrap_interval
from citespan.types import Span

RETRIEVAL_COLUMNS = (
    "question_id",
    "question",
    "collection",
    "rank",
    "doc_id",
    "start",
    "end",
    "score",
    "chunk",
)
COMPARISON_COLUMNS = (
    "metric",
    "strategy",
    "mean",
    "low_95",
    "high_95",
    "pooled",
    "questions",
    "unmeasured",
    "not_applicable",
)


def write_trec_run(run: Run, path: Path | str, *, unit: str = "passage") -> None:
    """Write a TREC run: ``query Q0 id rank score tag``, best first, ranks from 1.

    TREC's tools sort by score and not by rank, so where scores do not strictly fall they are
    replaced by the ranks turned round (n, n-1, …), which keeps the run's own order. ``unit`` is
    ``"passage"`` (ids ``doc:start-end``) or ``"doc"``. A question with no passages cannot be
    written down; give ``queries`` when reading it back. White space in an id becomes ``%20`` and
    the like.
    """
    lines = []
    for result in run.results.values():
        ids: dict[str, float] = {}
        for passage in result.passages:
            ids.setdefault(passage.doc_id if unit == "doc" else passage.id, passage.score)
        own_order = rank_by_score(ids) == list(ids) and len(set(ids.values())) == len(ids)
        for rank, (name, own) in enumerate(ids.items(), 1):
            score = own if own_order else float(len(ids) - rank + 1)
            query, item, tag = map(_escape, (result.query_id, name, run.name or "run"))
            lines.append(f"{query} Q0 {item} {rank} {score!r} {tag}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_trec_run(path: Path | str, *, queries: Iterable[str] = ()) -> dict[str, dict[str, float]]:
    """Read a TREC run as {query: {id: score}} for `evaluate_qrels`.

    ``queries`` were asked, whether the file holds a line of them or not: without a line they
    found nothing, and score 0.
    """
    run: dict[str, dict[str, float]] = {query: {} for query in queries}
    for fields in _read_fields(Path(path), 6, "query Q0 id rank score tag", number=4):
        run.setdefault(fields[0], {})[fields[2]] = float(fields[4])
    return run


def write_trec_qrels(qrels: Mapping[str, Mapping[str, float]], path: Path | str) -> None:
    r"""Write judgements as ``query 0 id grade``; grades must be whole numbers.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "qrels")
    >>> write_trec_qrels({"q1": {"a b": 1.0}}, file); file.read_text(), read_trec_qrels(file)
    ('q1 0 a%20b 1\n', {'q1': {'a b': 1}})
    """
    broken = [g for judged in qrels.values() for g in judged.values() if int(g) != g]
    if broken:
        raise InputError(f"grade {broken[0]} is no whole number", fix="TREC qrels hold whole ones")
    lines = [
        f"{_escape(query)} 0 {_escape(item)} {int(grade)}\n"
        for query, judged in qrels.items()
        for item, grade in judged.items()
    ]
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_trec_qrels(path: Path | str) -> dict[str, dict[str, int]]:
    """Read TREC judgements as {query: {id: grade}}."""
    qrels: dict[str, dict[str, int]] = {}
    for fields in _read_fields(Path(path), 4, "query 0 id grade", number=3):
        qrels.setdefault(fields[0], {})[fields[2]] = int(float(fields[3]))
    return qrels


def list_ragas_rows(
    run: Run, questions: Sequence[Question], *, texts: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Return one row a question that was asked, in the columns that ragas reads.

    Both generations of names stand in each row: ``question``, ``contexts``, ``answer``,
    ``ground_truth`` (ragas 0.1) and ``user_input``, ``retrieved_contexts``, ``response``,
    ``reference``, ``reference_contexts`` (ragas 0.2 and later).
    """
    known = texts or {}
    rows = []
    for question in questions:
        result = run.results.get(question.id)
        if result is None:
            continue
        contexts = [
            passage.text or " ".join(known.get(passage.doc_id, "")[s:e] for s, e in passage.spans)
            for passage in result.passages
        ]
        evidence = [e.quote or known.get(e.doc_id, "")[e.start : e.end] for e in question.evidence]
        rows.append(
            {
                "question": question.text,
                "contexts": contexts,
                "answer": result.answer,
                "ground_truth": question.answer,
                "user_input": question.text,
                "retrieved_contexts": contexts,
                "response": result.answer,
                "reference": question.answer,
                "reference_contexts": evidence,
            }
        )
    return rows


def write_ragas(
    run: Run,
    questions: Sequence[Question],
    path: Path | str,
    *,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write `list_ragas_rows` as JSONL (``datasets.load_dataset("json", …)`` reads it)."""
    write_json_lines(path, list_ragas_rows(run, questions, texts=texts))


def write_retrieval_results(
    runs: Sequence[Run], questions: Sequence[Question], path: Path | str, *, top: int = 3
) -> None:
    """Write ``retrieval_results.csv``: every question's first chunks in each collection.

    A question that found nothing has one row without a chunk; one that was not asked has none.
    """
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(RETRIEVAL_COLUMNS)
        for question in questions:
            for run in runs:
                result = run.results.get(question.id)
                if result is None:
                    continue
                start = (question.id, question.text, run.name)
                for rank, p in enumerate(result.passages[:top], 1):
                    writer.writerow((*start, rank, p.doc_id, p.start, p.end, p.score, p.text))
                if not result.passages:
                    writer.writerow((*start, "", "", "", "", "", ""))


def list_comparison_rows(evaluations: Iterable[Evaluation]) -> list[dict[str, Any]]:
    """Return one row a metric and run: mean with its 95% interval, pooled figure, and counts.

    What is unmeasured is None, an empty cell in the table, and never 0.
    """
    rows = []
    for evaluation in evaluations:
        for name, scores in evaluation.scores.items():
            values = list(scores.values.values())
            interval = bootstrap_interval(values) if values else None
            cells = (
                name,
                evaluation.run,
                scores.mean,
                interval.low if interval else None,
                interval.high if interval else None,
                scores.pooled,
                len(values),
                len(scores.unmeasured),
                len(scores.not_applicable),
            )
            rows.append(dict(zip(COMPARISON_COLUMNS, cells, strict=True)))
    order = {name: place for place, name in enumerate(dict.fromkeys(r["metric"] for r in rows))}
    return sorted(rows, key=lambda row: order[row["metric"]])


def write_metrics_comparison(evaluations: Iterable[Evaluation], path: Path | str) -> None:
    """Write ``metrics_comparison.csv``, one row a metric and strategy, six decimals."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COMPARISON_COLUMNS)
        writer.writeheader()
        for row in list_comparison_rows(evaluations):
            cells = {k: f"{v:.6f}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow(cells)


def write_sentences(
    sentences: Mapping[str, Sequence[tuple[Span, int]]],
    texts: Mapping[str, str],
    path: Path | str,
) -> None:
    """Write ``sentences.json``: each document's sentences with span, text and chunk number.

    ``sentences`` holds (span, number of the chunk or cluster) in the document's order.
    """
    rows = [
        {
            "doc_id": doc,
            "order": order,
            "start": span.start,
            "end": span.end,
            "chunk": chunk,
            "text": texts[doc][span.start : span.end],
        }
        for doc, items in sentences.items()
        for order, (span, chunk) in enumerate(items)
    ]
    text = json.dumps(rows, ensure_ascii=False, indent=1)
    Path(path).write_text(text + "\n", encoding="utf-8", newline="\n")


def _escape(name: str) -> str:
    """Write white space (and % itself) of a name as its code: TREC's columns part at it."""
    signs = (
        "".join(f"%{byte:02X}" for byte in sign.encode()) if sign.isspace() or sign == "%" else sign
        for sign in name
    )
    return "".join(signs) or "%00"


def _unescape(name: str) -> str:
    from urllib.parse import unquote

    return "" if name == "%00" else unquote(name)


def _read_fields(path: Path, count: int, shape: str, *, number: int) -> list[list[str]]:
    """Return the fields of every line, ids unescaped, or report all broken lines at once."""
    if not path.exists():
        raise InputError(f"no file {path.name}", fix=f"give a TREC file: {shape}")
    rows, problems = [], []
    for place, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            if len(fields) != count:
                raise ValueError
            float(fields[number])
        except ValueError:
            problems.append(f"line {place} is not '{shape}'")
            continue
        rows.append([_unescape(field) for field in fields])
    raise_problems(path.name, problems)
    return rows
