"""Labelling questions with evidence: paste the quote, the offsets are found; doubts are asked.

`label_quotes` is the way by files (a table of questions and quotes in, ground truth and open
doubts out), `label_questions` the way by a terminal; how it asks and says is handed in.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citespan.errors import InputError
from citespan.evaluate.checks import DocumentNames
from citespan.evaluate.groundtruth import Evidence, Question
from citespan.evaluate.quotes import find_quote, show_context
from citespan.evaluate.runs import raise_problems, read_json_lines
from citespan.types import Document, Span, content_id

HELP = (
    "Paste the passage that answers the question, then Enter.\n"
    "  empty   this question is done\n"
    "  -       nothing in the documents answers it\n"
    "  s       skip it for now\n"
    "  q       stop; what is labelled is kept"
)


@dataclass(frozen=True, slots=True)
class Place:
    """One place where a quote stands, with a line of its surroundings."""

    evidence: Evidence
    context: str


@dataclass(frozen=True, slots=True)
class OpenQuote:
    """A quote that somebody must look at: it stands nowhere, or in several places."""

    question: str
    quote: str
    places: tuple[Place, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """The questions labelled so far, and the quotes that are still open."""

    questions: tuple[Question, ...]
    open_quotes: tuple[OpenQuote, ...] = ()


def find_places(quote: str, documents: Iterable[Document], *, doc: str = "") -> list[Place]:
    """Return every place of a quote in the documents, or in the one named by ``doc``.

    Evidence names a document by its source, as a person would write it.

    >>> [place] = find_places("the cat", [Document("1", "pets.txt", "See the  cat.")])
    >>> place.evidence, place.context
    (Evidence(doc_id='pets.txt', start=4, end=12, quote='the  cat'), 'See [the cat].')
    """
    if doc:
        documents = DocumentNames(documents).find(doc)
    return [
        Place(
            Evidence(document.source, start, end, document.text[start:end]),
            show_context(document.text, Span(start, end)),
        )
        for document in documents
        for start, end in find_quote(document.text, quote)
    ]


def read_quote_table(path: Path | str) -> list[dict[str, str]]:
    """Read a CSV or JSONL table of questions and quotes for `label_quotes`.

    Columns: ``question``, and as many of ``quote``, ``doc``, ``id``, ``answerable``, ``language``,
    ``answer`` as wanted; several rows of one question hold a quote each.
    """
    path = Path(path)
    problems: list[str] = []
    if path.suffix.lower() == ".csv":
        if not path.exists():
            raise InputError(f"no file {path.name}", fix="give the path of a CSV file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, dict(row)) for row in reader]
    else:
        rows = read_json_lines(path, problems)
    table: list[dict[str, str]] = []
    for number, row in rows:
        cells = {k: str(v).strip() for k, v in row.items() if isinstance(k, str) and v is not None}
        if not cells.get("question"):
            problems.append(f"line {number}: no question")
        table.append(cells)
    raise_problems(path.name, problems)
    return table


def label_quotes(rows: Iterable[Mapping[str, str]], documents: Sequence[Document]) -> Labelled:
    """Return ground truth of a table of questions and quotes, and what must be asked.

    A quote that stands in exactly one place becomes evidence. A question all of whose rows have
    neither quote nor document, and say ``answerable`` false, is unanswerable.

    >>> table = [{"question": "Where?", "quote": "on the mat"}, {"question": "Who?", "quote": "x"}]
    >>> done = label_quotes(table, [Document("1", "a.txt", "The cat sat on the mat.")])
    >>> done.questions[0].evidence[0].start, done.open_quotes[0].reason
    (12, 'not found in the documents')
    """
    names = DocumentNames(documents)
    questions: dict[str, Question] = {}
    doubts: list[OpenQuote] = []
    for row in rows:
        text, quote, doc = row["question"], row.get("quote", ""), row.get("doc", "")
        name = row.get("id") or content_id(text)
        answerable = row.get("answerable", "").lower() not in ("false", "no", "0")
        question = questions.get(name) or Question(
            name,
            text,
            answerable=answerable,
            language=row.get("language", ""),
            answer=row.get("answer", ""),
        )
        if doc and len(names.find(doc)) != 1:
            found = "no document" if not names.find(doc) else "several documents"
            doubts.append(OpenQuote(text, quote, (), f"{found} of the name {doc!r}"))
        elif quote:
            places = find_places(quote, documents, doc=doc)
            if len(places) == 1:
                question = add_evidence(question, [places[0].evidence])
            else:
                reason = (
                    f"stands in {len(places)} places" if places else "not found in the documents"
                )
                doubts.append(OpenQuote(text, quote, tuple(places), reason))
        elif doc:
            documents_named = (*question.relevant_docs, names.find(doc)[0].source)
            question = replace(question, relevant_docs=tuple(dict.fromkeys(documents_named)))
        questions[name] = question
    return Labelled(tuple(questions.values()), tuple(doubts))


def add_evidence(question: Question, evidence: Iterable[Evidence]) -> Question:
    """Return the question with more evidence (none twice) and its documents."""
    items = tuple(dict.fromkeys((*question.evidence, *evidence)))
    named = tuple(dict.fromkeys((*question.relevant_docs, *(item.doc_id for item in items))))
    return replace(question, evidence=items, relevant_docs=named, answerable=True)


def label_questions(
    questions: Iterable[Question],
    documents: Sequence[Document],
    *,
    ask: Callable[[str], str],
    say: Callable[[str], None],
    save: Callable[[Question], None] = lambda question: None,
) -> list[Question]:
    """Ask a person for the evidence of every question that has none; return all questions.

    Parameters
    ----------
    questions
        Those with evidence, and those known to be unanswerable, pass through unasked, so that a
        session goes on where the last one stopped.
    documents
        Where quotes are looked for; a question's ``scope`` limits it.
    ask, say
        Show a prompt and return what was typed; show a line. ``EOFError`` from ``ask`` stops.
    save
        Called with each question as soon as it is labelled, so that nothing is lost.

    Examples
    --------
    >>> typed = iter(["the mat", "2", ""])
    >>> [done] = label_questions(
    ...     [Question("q", "Where?")], [Document("1", "a.txt", "the mat, the mat")],
    ...     ask=lambda prompt: next(typed), say=lambda line: None)
    >>> done.evidence
    (Evidence(doc_id='a.txt', start=9, end=16, quote='the mat'),)
    """
    say(HELP)
    listed = list(questions)
    done: list[Question] = []
    for number, question in enumerate(listed, 1):
        if question.evidence or not question.answerable:
            done.append(question)
            continue
        say(f"\n[{number}/{len(listed)}] {question.text}")
        labelled, stopped = _label_one(question, documents, ask, say)
        if labelled != question:
            save(labelled)
        done.append(labelled)
        if stopped:
            return done + listed[number:]
    return done


def _label_one(
    question: Question,
    documents: Sequence[Document],
    ask: Callable[[str], str],
    say: Callable[[str], None],
) -> tuple[Question, bool]:
    """Return the question with what was labelled before it was done, and whether to stop."""
    names = DocumentNames(documents)
    where = [d for name in question.scope for d in names.find(name)] or documents
    while True:
        try:
            typed = ask("quote> ").strip()
        except EOFError:
            return question, True
        if typed in ("", "s", "q"):
            return question, typed == "q"
        if typed == "-" and not question.evidence:
            return replace(question, answerable=False, relevant_docs=()), False
        places = find_places(typed, where)
        if not places:
            say("  not found; copy it from the document as it is, a shorter piece may do")
            continue
        try:
            chosen = places if len(places) == 1 else _choose(places, ask, say)
        except EOFError:
            return question, True
        for place in chosen:
            item = place.evidence
            say(f"  + {item.doc_id} {item.start}-{item.end}: {place.context}")
        question = add_evidence(question, [place.evidence for place in chosen])


def _choose(
    places: Sequence[Place], ask: Callable[[str], str], say: Callable[[str], None]
) -> list[Place]:
    """Ask which of several places is meant, until the answer can be understood."""
    say(f"  it stands in {len(places)} places:")
    for number, place in enumerate(places, 1):
        say(f"  {number}. {place.evidence.doc_id} {place.evidence.start}: {place.context}")
    while True:
        typed = ask("which (a number, several with blanks, 'all', or empty for none)> ").strip()
        if typed == "all":
            return list(places)
        words = typed.replace(",", " ").split()
        if all(word.isdecimal() and 1 <= int(word) <= len(places) for word in words):
            return [places[int(word) - 1] for word in words]
        say(f"  type numbers from 1 to {len(places)}")
