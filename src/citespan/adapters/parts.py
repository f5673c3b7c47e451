"""What the adapters share: texts as documents, and where a chunk or passage stands as metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citespan.errors import InputError
from citespan.pipeline import OpenIndex, prepare_document, search_index
from citespan.protocols import Filter
from citespan.types import Chunk, Document, Passage, content_id


def as_document(text: str, metadata: Mapping[Any, Any] | None = None) -> Document:
    """Return another library's text as a document; its language is detected.

    ``source``, ``title``, ``language`` and ``media_type`` are taken from the metadata.

    >>> document = as_document("The green tea was drunk in the garden.", {"source": "tea.md"})
    >>> document.source, document.language
    ('tea.md', 'en')
    """
    given = {name: str(value) for name, value in (metadata or {}).items() if value}
    source = given.get("source", "")
    return prepare_document(
        Document(
            id=content_id(source, text),
            source=source,
            text=text,
            title=given.get("title", ""),
            media_type=given.get("media_type", "text/plain"),
            language=given.get("language", ""),
        )
    )


def describe_span(chunk: Chunk) -> dict[str, Any]:
    """Return where a chunk stands; ``spans`` and ``context`` only where there are.

    >>> from citespan.types import Span
    >>> describe_span(Chunk("d", 1, (Span(3, 6),), "tea"))
    {'start': 3, 'end': 6, 'order': 1}
    """
    found: dict[str, Any] = {"start": chunk.start, "end": chunk.end, "order": chunk.order}
    if len(chunk.spans) > 1:
        found["spans"] = [list(span) for span in chunk.spans]
    if chunk.context:
        found["context"] = chunk.context
    return found


def describe_passage(passage: Passage) -> dict[str, Any]:
    """Return where a passage stands, its score, and the other places of the same text.

    >>> found = describe_passage(Passage("d", "tea.md", 3, 6, "tea", 0.5))
    >>> found["source"], found["start"], found["end"], found["score"]
    ('tea.md', 3, 6, 0.5)
    """
    found: dict[str, Any] = {
        "doc_id": passage.document_id,
        "source": passage.source,
        "title": passage.title,
        "start": passage.start,
        "end": passage.end,
        "score": passage.score,
    }
    if passage.heading:
        found["heading"] = passage.heading
    if passage.page is not None:
        found["page"] = passage.page
        found["last_page"] = passage.last_page
    if passage.duplicates:
        found["duplicates"] = [list(place) for place in passage.duplicates]
    return found


def find_passages(
    index: OpenIndex, question: str, k: int, where: Filter | None = None
) -> tuple[Passage, ...]:
    """Return the first k passages that an index holds on a question, best first.

    Raises
    ------
    InputError
        If k < 1, or the question is empty.
    """
    if k < 1:
        raise InputError(f"k = {k}: at least one passage must be asked for", fix="use k >= 1")
    return search_index(index, question, where=where).passages[:k]
