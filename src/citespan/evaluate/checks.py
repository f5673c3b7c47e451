"""Is the ground truth still true? Every mistake in one report, with a proposal where possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Literal

from citespan.evaluate.groundtruth import Evidence, Question, load_questions
from citespan.evaluate.quotes import find_quote, nearest_span
from citespan.types import Document

Kind = Literal[
    "unreadable",
    "duplicate_id",
    "duplicate_question",
    "duplicate_evidence",
    "missing_document",
    "ambiguous_document",
    "bad_span",
    "moved_quote",
    "lost_quote",
    "contradiction",
    "unlabelled",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a question; ``proposal`` is the evidence that would mend it."""

    question_id: str
    kind: Kind
    message: str
    evidence: Evidence | None = None
    proposal: Evidence | None = None

    def __str__(self) -> str:
        return f"{self.question_id}: {self.message}" if self.question_id else self.message


class DocumentNames:
    """Finds a document by its id, its source, or its file name where that is the only one."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = list(documents)
        self._names: dict[str, list[Document]] = {}
        for key in (lambda d: d.id, lambda d: d.source, lambda d: PurePath(d.source).name):
            level: dict[str, list[Document]] = {}
            for document in self.documents:
                level.setdefault(key(document), []).append(document)
            # A whole id or source goes before a file name that happens to be the same.
            self._names = level | self._names

    def find(self, name: str) -> list[Document]:
        """Return the documents of a name: one if all is well, none if missing."""
        return self._names.get(name, [])


def check_file(path: Path | str, documents: Iterable[Document]) -> list[Problem]:
    """Return all that is wrong with a file of ground truth, unreadable lines included."""
    questions, unreadable = load_questions(path)
    problems = [Problem("", "unreadable", f"{Path(path).name}, {text}") for text in unreadable]
    return problems + check_questions(questions, documents)


def check_questions(questions: Sequence[Question], documents: Iterable[Document]) -> list[Problem]:
    """Return all that is wrong with the ground truth of these documents, in the questions' order.

    Reported are ids, questions and evidence that stand twice, documents that are missing or whose
    name fits several, spans that are empty, inverted, blank or outside their document, quotes that
    moved (with the place nearest to the old one as a proposal) or are gone, and labels that
    contradict each other or are absent.

    >>> document = Document("d", "d.txt", "New start. The answer is 42.")
    >>> question = Question("q", "?", ("d.txt",), (Evidence("d.txt", 0, 17, "The answer is 42."),))
    >>> [problem] = check_questions([question], [document])
    >>> problem.kind, problem.proposal
    ('moved_quote', Evidence(doc_id='d.txt', start=11, end=28, quote='The answer is 42.'))
    """
    names = documents if isinstance(documents, DocumentNames) else DocumentNames(documents)
    problems: list[Problem] = []
    ids = Counter(question.id for question in questions)
    asked: dict[tuple[str, tuple[str, ...]], str] = {}
    for question in questions:
        if ids[question.id] > 1:
            problems.append(Problem(question.id, "duplicate_id", "the id stands more than once"))
            ids[question.id] = 0  # said once
        key = (" ".join(question.text.split()).casefold(), question.scope)
        first = asked.setdefault(key, question.id)
        if first != question.id:
            text = f"the same question as {first}"
            problems.append(Problem(question.id, "duplicate_question", text))
        problems += _check_labels(question)
        problems += _check_names(question, names)
        problems += _check_evidence(question, names)
    return problems


def apply_proposals(questions: Sequence[Question], problems: Iterable[Problem]) -> list[Question]:
    """Return the questions with every proposed evidence in the place of what it mends."""
    mended = {(p.question_id, p.evidence): p.proposal for p in problems if p.proposal}
    return [
        replace(q, evidence=tuple(mended.get((q.id, item)) or item for item in q.evidence))
        for q in questions
    ]


def resolve_documents(
    questions: Sequence[Question], documents: Iterable[Document]
) -> tuple[list[Question], list[Problem]]:
    """Return the questions with documents' ids in place of sources and file names.

    Names that fit no document, or several, stay as they are and are returned as problems.
    """
    names = DocumentNames(documents)
    problems = [problem for question in questions for problem in _check_names(question, names)]

    def resolve(name: str) -> str:
        found = names.find(name)
        return found[0].id if len(found) == 1 else name

    resolved = [
        replace(
            q,
            relevant_docs=tuple(map(resolve, q.relevant_docs)),
            evidence=tuple(replace(e, doc_id=resolve(e.doc_id)) for e in q.evidence),
            scope=tuple(map(resolve, q.scope)),
            grades={resolve(name): grade for name, grade in q.grades.items()},
        )
        for q in questions
    ]
    return resolved, problems


def _check_labels(question: Question) -> list[Problem]:
    problems = []
    labelled = bool(question.relevant_docs or question.evidence)
    if question.answerable and not labelled:
        text = "no relevant document and no evidence; label it, or set answerable to false"
        problems.append(Problem(question.id, "unlabelled", text))
    if not question.answerable and labelled:
        text = "answerable is false, but relevant documents or evidence are named"
        problems.append(Problem(question.id, "contradiction", text))
    outside = sorted({e.doc_id for e in question.evidence} - set(question.scope))
    if question.scope and outside:
        text = f"evidence in {', '.join(outside)}, which its scope leaves out"
        problems.append(Problem(question.id, "contradiction", text))
    for item, times in Counter((e.doc_id, e.start, e.end) for e in question.evidence).items():
        if times > 1:
            text = f"the evidence {item[0]} {item[1]}-{item[2]} stands {times} times"
            problems.append(Problem(question.id, "duplicate_evidence", text))
    return problems


def _check_names(question: Question, names: DocumentNames) -> list[Problem]:
    problems = []
    named = (*question.relevant_docs, *(e.doc_id for e in question.evidence), *question.scope)
    for name in dict.fromkeys(named):
        found = names.find(name)
        if not found:
            text = f"no document {name!r}"
            problems.append(Problem(question.id, "missing_document", text))
        elif len(found) > 1:
            several = ", ".join(sorted(d.source for d in found))
            text = f"{name!r} may be any of {several}; give the whole path"
            problems.append(Problem(question.id, "ambiguous_document", text))
    return problems


def _check_evidence(question: Question, names: DocumentNames) -> list[Problem]:
    problems = []
    for item in question.evidence:
        found = names.find(item.doc_id)
        if len(found) != 1:
            continue  # said already
        text = found[0].text
        fault = _find_span_fault(item, text)
        if item.quote and not fault and text[item.start : item.end] == item.quote:
            continue
        if not item.quote:
            if fault:
                problems.append(Problem(question.id, "bad_span", fault, item))
            continue
        where = f"{item.doc_id} {item.start}-{item.end}"
        place = nearest_span(find_quote(text, item.quote), item.start)
        if place is None:
            message = f"the quote of {where} is no longer in the document: {_shorten(item.quote)}"
            problems.append(Problem(question.id, "lost_quote", message, item))
            continue
        proposal = Evidence(item.doc_id, place.start, place.end, text[place.start : place.end])
        message = f"the quote of {where} now stands at {place.start}-{place.end}"
        problems.append(Problem(question.id, "moved_quote", message, item, proposal))
    return problems


def _find_span_fault(item: Evidence, text: str) -> str:
    where = f"the evidence {item.doc_id} {item.start}-{item.end}"
    if item.start >= item.end:
        return f"{where} is {'empty' if item.start == item.end else 'inverted'}"
    if item.start < 0 or item.end > len(text):
        return f"{where} is outside the document, which has {len(text)} characters"
    return "" if text[item.start : item.end].strip() else f"{where} holds only white space"


def _shorten(quote: str, *, limit: int = 60) -> str:
    line = " ".join(quote.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
