"""The values that travel through the ten stages; frozen, plain, and without behaviour.

Conventions that hold everywhere: spans are half-open Unicode code-point offsets into
``Document.text``; ranks and page numbers start at 1; ``order`` starts at 0; a higher score is
better; vectors are float32 and L2-normalised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple


class Span(NamedTuple):
    """A half-open range of code points, ``text[start:end]``."""

    start: int
    end: int


class Page(NamedTuple):
    """The part of a document's text that stands on one page; ``number`` starts at 1."""

    number: int
    start: int
    end: int


class Section(NamedTuple):
    """A heading and all that stands under it.

    ``start`` is the heading's first character; ``end`` is where the next heading of the same or a
    higher level begins (or the text ends), so that sections nest. ``level`` starts at 1.
    """

    title: str
    level: int
    start: int
    end: int


def content_id(*parts: str) -> str:
    """Return a stable id of 20 hex digits (80 bits of BLAKE2b) of the given strings.

    >>> content_id("a", "bc") == content_id("ab", "c")
    False
    """
    digest = hashlib.blake2b(digest_size=10)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Document:
    """One loaded document: its extracted text, and where things stand in it.

    ``id`` is ``content_id(source, text)`` unless the data set brings ids of its own. ``source`` is
    the path or address as the user would write it and is unique within an index. ``language`` is
    an ISO 639-1 code, or ``""`` where it is not known. ``metadata`` holds the user's own fields.
    """

    id: str
    source: str
    text: str
    title: str = ""
    media_type: str = "text/plain"
    language: str = ""
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skip:
    """A file, page or part that was not read, and why, in words for a person."""

    source: str
    reason: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A unit of retrieval: one slice of a document (or several, where ``spans`` says so).

    ``text`` is ``joiner.join(document.text[s:e] for s, e in spans)``; with one span, which is the
    rule, it is exactly ``document.text[start:end]``. ``order`` numbers a document's chunks from 0.
    ``context`` holds words from elsewhere that belong to the meaning (headings, a table's header
    row); it is indexed and embedded with the chunk but is no part of its text. ``overlap`` counts
    the leading characters that the previous chunk holds too.
    """

    document_id: str
    order: int
    spans: tuple[Span, ...]
    text: str
    context: str = ""
    overlap: int = 0

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
        """Stable over runs: made of the document's id and the spans."""
        return content_id(self.document_id, *(f"{s}:{e}" for s, e in self.spans))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that retrieval found.

    ``parts`` names every number the score is made of, in the order a reader would add them up:
    ``bm25``, ``bm25[term]`` (one a query term), ``cosine``, ``rank_lexical``, ``rank_dense``,
    ``weight_lexical``, … A part that does not apply is absent, never 0.
    """

    chunk: Chunk
    score: float
    rank: int
    parts: Mapping[str, float] = field(default_factory=dict)


class Place(NamedTuple):
    """Where a passage stands: used for the further places of text that occurs more than once."""

    document_id: str
    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of a document's text that goes into the context, ``document.text[start:end]``.

    ``page`` and ``last_page`` are set where the document has pages. ``hits`` are the spans of the
    chunks it grew from. ``duplicates`` lists the other places where the same text stands.
    """

    document_id: str
    source: str
    start: int
    end: int
    text: str
    score: float
    title: str = ""
    heading: str = ""
    page: int | None = None
    last_page: int | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    hits: tuple[Span, ...] = ()
    duplicates: tuple[Place, ...] = ()


GateState = Literal["answerable", "insufficient", "nothing_relevant"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on whether what was found can answer the question.

    ``score`` is in [0, 1], higher is better; the gate is open at ``score >= threshold``.
    ``reason`` is a sentence for the reader, in the language of the question.
    """

    state: GateState
    score: float
    threshold: float
    reason: str
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a generator: the exact messages, and the numbered sources in them.

    ``passages[i - 1]`` is ``[Source i]``. ``dropped`` were cut by rank to keep the budget.
    ``refusal`` is the exact sentence asked for where the sources do not hold the answer.
    """

    question: str
    language: str
    system: str
    user: str
    passages: tuple[Passage, ...]
    tokens: int
    budget: int
    dropped: tuple[Passage, ...] = ()
    refusal: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages in the shape of a chat completion request."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a generator wrote, before anything is checked. ``notes`` reports what went wrong.

    ``prompt`` is what was really sent, where the server refused the first one as too long.
    """

    text: str
    generator: str
    notes: tuple[str, ...] = ()
    prompt: Prompt | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A claim's source: ``quote == document.text[start:end]`` of the document at ``source``."""

    number: int
    document_id: str
    source: str
    start: int
    end: int
    quote: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer, its citations, and whether they support it.

    ``problems`` says in words what does not match (a number, a name, a negation, no citation).
    """

    text: str
    citations: tuple[Citation, ...]
    supported: bool
    support: float
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the way: checked sentences, or a refusal with the closest passages."""

    question: str
    status: Literal["answered", "refused"]
    text: str
    sentences: tuple[AnswerSentence, ...]
    passages: tuple[Passage, ...]
    gate: Gate
    notes: tuple[str, ...] = ()
    trace: Trace | None = None


@dataclass(slots=True)
class Trace:
    """Every stage's result for one question; what explain, the pages and the report show."""

    question: str
    language: str = ""
    terms: tuple[tuple[str, ...], ...] = ()
    hits: tuple[Hit, ...] = ()
    passages: tuple[Passage, ...] = ()
    gate: Gate | None = None
    prompt: Prompt | None = None
    draft: Draft | None = None
    answer: Answer | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
