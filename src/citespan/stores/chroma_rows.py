"""A chunk as Chroma keeps it, and back: its id, its text, and where it stands."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citespan.errors import StoreError
from citespan.types import Chunk, Span


def clean_text(text: str) -> str:
    r"""Return the text as Chroma can store it: of the same length, U+FFFD for lone surrogates.

    >>> clean_text("a\ud800b") == "a\ufffdb"
    True
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """What Chroma is given of a chunk, besides its vector."""

    id: str
    text: str
    metadata: Mapping[str, str | int]


def chunk_id(document_id: str, order: int) -> str:
    """Return the id of a document's chunk in Chroma: its neighbours' ids are known without asking.

    >>> chunk_id("a1b2", 7)
    'a1b2:7'
    """
    return f"{document_id}:{order}"


def describe_chunk(chunk: Chunk, source: str = "") -> ChunkRow:
    """Return a chunk's row; ``start`` and ``end`` are code points, ``spans`` has all of several.

    >>> row = describe_chunk(Chunk("d", 0, (Span(3, 6),), "tea"), "a.txt")
    >>> row.id, row.metadata["start"], row.metadata["end"], row.metadata["order"]
    ('d:0', 3, 6, 0)
    """
    return ChunkRow(
        chunk_id(chunk.document_id, chunk.order),
        clean_text(chunk.text),
        {
            "doc_id": chunk.document_id,
            "source": clean_text(source),
            "start": chunk.start,
            "end": chunk.end,
            "order": chunk.order,
            "spans": ",".join(f"{start}:{end}" for start, end in chunk.spans),
            "context": clean_text(chunk.context),
            "overlap": chunk.overlap,
        },
    )


def restore_chunk(text: str, metadata: Mapping[str, Any]) -> Chunk:
    """Return the chunk of a row.

    Raises
    ------
    StoreError
        If the row was not written by citespan.

    Examples
    --------
    >>> chunk = Chunk("d", 2, (Span(0, 3), Span(9, 12)), "tea pot", context="Kitchen", overlap=1)
    >>> row = describe_chunk(chunk)
    >>> restore_chunk(row.text, row.metadata) == chunk
    True
    """
    try:
        spans = [span.split(":") for span in str(metadata["spans"]).split(",")]
        return Chunk(
            document_id=str(metadata["doc_id"]),
            order=int(metadata["order"]),
            spans=tuple(Span(int(start), int(end)) for start, end in spans),
            text=text,
            context=str(metadata["context"]),
            overlap=int(metadata["overlap"]),
        )
    except (KeyError, ValueError) as error:
        raise StoreError(
            "the collection was not written by citespan", fix="write it with write_collections"
        ) from error


def read_sources(db: sqlite3.Connection, document_ids: Sequence[str]) -> dict[str, str]:
    """Return the source of each document of the database, by id."""
    return dict(
        db.execute(
            "SELECT id, source FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(set(document_ids))),),
        ).fetchall()
    )
