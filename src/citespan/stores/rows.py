"""Documents, chunks and sentences to rows and back; each function is part of a transaction."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from citespan.errors import StoreError
from citespan.protocols import DocumentInfo, Filter, SentenceRange, Vectors
from citespan.stores.filters import build_where
from citespan.types import Chunk, Document, Page, Section, Span

BLOCK = 16
"""Sentences a row: what stands around a hit is one row or two, and little besides is read."""

T = TypeVar("T")


def encode_text(text: str) -> bytes:
    """Return UTF-8; a lone surrogate, which broken files bring, is kept as it is."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    """Undo ``encode_text``."""
    return data.decode("utf-8", "surrogatepass")


def insert_document(
    db: sqlite3.Connection,
    document: Document,
    fingerprint: str,
    first_chunk: int,
    chunks: int,
    sentences: int,
) -> int:
    """Insert a document with its text; return its integer key."""
    key = db.execute(
        "INSERT INTO documents (id, source, title, media_type, language, metadata, fingerprint,"
        " length, first_chunk, chunks, sentences) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.id,
            document.source,
            document.title,
            document.media_type,
            document.language,
            json.dumps(dict(document.metadata)),
            fingerprint,
            len(document.text),
            first_chunk,
            chunks,
            sentences,
        ),
    ).lastrowid
    assert key is not None
    db.execute(
        "INSERT INTO texts VALUES (?, ?, ?, ?)",
        (
            key,
            encode_text(document.text),
            json.dumps(document.pages),
            json.dumps(document.sections),
        ),
    )
    return key


def insert_chunks(
    db: sqlite3.Connection,
    document: int,
    first_key: int,
    chunks: Sequence[Chunk],
    vectors: NDArray[np.float32] | None,
    sentences: Sequence[Span],
) -> None:
    """Insert chunks under the keys from ``first_key`` on, and their vectors if there are."""
    starts = [span.start for span in sentences]
    ends = [span.end for span in sentences]
    db.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                first_key + order,
                document,
                json.dumps(chunk.spans),
                encode_text(chunk.text),
                encode_text(chunk.context),
                chunk.overlap,
                json.dumps(
                    [(bisect_right(ends, s), bisect_left(starts, e)) for s, e in chunk.spans]
                ),
            )
            for order, chunk in enumerate(chunks)
        ),
    )
    if vectors is not None:
        db.executemany(
            "INSERT INTO vectors VALUES (?, ?)",
            (
                (first_key + order, row.tobytes())
                for order, row in enumerate(np.ascontiguousarray(vectors, dtype="<f4"))
            ),
        )


def insert_sentences(
    db: sqlite3.Connection,
    document: int,
    spans: Sequence[Span],
    vectors: NDArray[np.float32] | None,
    terms: Sequence[NDArray[np.uint32]],
) -> None:
    """Insert a document's sentences, a block a row; ``terms`` are their hashed index terms."""
    counts = np.array([len(row) for row in terms], dtype="<i4")
    bounds = np.asarray(spans, dtype="<i4").reshape(-1, 2)
    halves = None if vectors is None else np.ascontiguousarray(vectors, dtype="<f2")
    db.executemany(
        "INSERT INTO sentences VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                document,
                start // BLOCK,
                bounds[start : start + BLOCK].tobytes(),
                None if halves is None else halves[start : start + BLOCK].tobytes(),
                b"".join(row.astype("<u4").tobytes() for row in terms[start : start + BLOCK]),
                counts[start : start + BLOCK].tobytes(),
            )
            for start in range(0, len(bounds), BLOCK)
        ),
    )


def delete_documents(
    db: sqlite3.Connection, rows: Iterable[tuple[int, int, int]], generation: int
) -> None:
    """Delete documents (key, first chunk, chunks) and note what the indexes must forget."""
    for key, first, count in rows:
        last = first + count - 1
        db.execute("DELETE FROM documents WHERE key = ?", (key,))
        db.execute("DELETE FROM texts WHERE document = ?", (key,))
        db.execute("DELETE FROM sentences WHERE document = ?", (key,))
        if count:
            db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", (first, last))
            db.execute("DELETE FROM vectors WHERE key BETWEEN ? AND ?", (first, last))
            db.execute("INSERT INTO removed VALUES (?, ?, ?)", (generation, first, last))


def find_sources(db: sqlite3.Connection, sources: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return (key, first chunk, chunks) of those of the sources that are stored."""
    return db.execute(
        "SELECT key, first_chunk, chunks FROM documents"
        " WHERE source IN (SELECT value FROM json_each(?))",
        (json.dumps(list(sources)),),
    ).fetchall()


def list_documents(db: sqlite3.Connection, where: Filter | None) -> list[DocumentInfo]:
    """Return the rows of the documents that a filter allows, by source."""
    condition, values = build_where(where)
    found = db.execute(
        "SELECT id, source, title, media_type, language, length, chunks, fingerprint"
        f" FROM documents WHERE {condition} ORDER BY source",
        values,
    )
    return [DocumentInfo(*row) for row in found]


def count_chunks(db: sqlite3.Connection) -> int:
    """Return the number of chunks of all documents."""
    total: int = db.execute("SELECT coalesce(sum(chunks), 0) FROM documents").fetchone()[0]
    return total


def pick(found: Mapping[int, T], key: int) -> T:
    """Return a chunk's row, or say that it is gone."""
    if key not in found:
        raise StoreError(
            f"chunk {key} is gone: its document was changed or removed", fix="search again"
        )
    return found[key]


def read_vectors(db: sqlite3.Connection, keys: Sequence[int], dimension: int) -> Vectors:
    """Return chunks' vectors in the order given, zeros for a chunk without one."""
    found: dict[int, bytes | None] = dict(
        db.execute(
            "SELECT chunks.key, vector FROM chunks LEFT JOIN vectors USING (key)"
            " WHERE chunks.key IN (SELECT value FROM json_each(?))",
            (json.dumps(keys),),
        ).fetchall()
    )
    matrix = np.zeros((len(keys), dimension), dtype=np.float32)
    for row, key in enumerate(keys):
        blob = pick(found, key)
        if blob is not None:
            matrix[row] = np.frombuffer(blob, dtype="<f4")
    return matrix


def read_document(db: sqlite3.Connection, document_id: str) -> Document | None:
    """Return a document with its text, or None."""
    row = db.execute(
        "SELECT id, source, title, media_type, language, metadata, text, pages, sections"
        " FROM documents JOIN texts ON texts.document = documents.key WHERE id = ?",
        (document_id,),
    ).fetchone()
    if row is None:
        return None
    return Document(
        id=row[0],
        source=row[1],
        title=row[2],
        media_type=row[3],
        language=row[4],
        metadata=json.loads(row[5]),
        text=decode_text(row[6]),
        pages=tuple(Page(*page) for page in json.loads(row[7])),
        sections=tuple(Section(*section) for section in json.loads(row[8])),
    )


def read_chunks(db: sqlite3.Connection, keys: Sequence[int]) -> dict[int, Chunk]:
    """Return those of the chunks that exist."""
    rows = db.execute(
        "SELECT chunks.key, id, chunks.key - first_chunk, spans, text, context, overlap"
        " FROM chunks JOIN documents ON documents.key = chunks.document"
        " WHERE chunks.key IN (SELECT value FROM json_each(?))",
        (json.dumps(keys),),
    )
    return {
        key: Chunk(
            document_id=document_id,
            order=order,
            spans=tuple(Span(*span) for span in json.loads(spans)),
            text=decode_text(text),
            context=decode_text(context),
            overlap=overlap,
        )
        for key, document_id, order, spans, text, context, overlap in rows
    }


def read_sentence_ranges(
    db: sqlite3.Connection, requests: Sequence[tuple[str, int, int | None]]
) -> list[SentenceRange]:
    """Return for each (document id, first, last) the sentences ``first <= order < last``."""
    wanted = [
        (document_id, max(0, first), 2**31 if last is None else max(0, last))
        for document_id, first, last in requests
    ]
    asked = json.dumps([[d, f // BLOCK, (n - 1) // BLOCK] for d, f, n in wanted])
    found: dict[int, list[_Block]] = {}
    for number, *block in db.execute(
        "SELECT ask.key, block, sentences.spans, vectors, terms, counts FROM json_each(?) AS ask"
        " JOIN documents ON documents.id = json_extract(ask.value, '$[0]')"
        " JOIN sentences ON sentences.document = documents.key AND block BETWEEN"
        " json_extract(ask.value, '$[1]') AND json_extract(ask.value, '$[2]')"
        " ORDER BY ask.key, block",
        (asked,),
    ):
        found.setdefault(number, []).append(_Block(*block))
    return [
        _cut_range(document_id, first, last, found.get(i, []))
        for i, (document_id, first, last) in enumerate(wanted)
    ]


class _Block(NamedTuple):
    number: int
    spans: bytes
    vectors: bytes | None
    terms: bytes
    counts: bytes


def _cut_range(document_id: str, first: int, last: int, blocks: Sequence[_Block]) -> SentenceRange:
    spans = np.frombuffer(b"".join(b.spans for b in blocks), dtype="<i4").reshape(-1, 2)
    terms = np.frombuffer(b"".join(b.terms for b in blocks), dtype="<u4")
    counts = np.frombuffer(b"".join(b.counts for b in blocks), dtype="<i4")
    skip = first - blocks[0].number * BLOCK if blocks else 0
    part = slice(skip, skip + max(0, last - first))
    ends = np.concatenate([[0], np.cumsum(counts)])
    kept = counts[part]
    begin = int(ends[min(skip, len(counts))])
    vectors = None
    stored = [b.vectors for b in blocks if b.vectors is not None]
    if stored:
        halves = np.frombuffer(b"".join(stored), dtype="<f2").reshape(len(spans), -1)
        vectors = halves[part].astype(np.float32)
    return SentenceRange(
        document_id,
        first,
        spans[part].astype(np.int32),
        vectors,
        terms[begin : begin + int(kept.sum())].astype(np.uint32),
        kept.astype(np.int32),
    )


def read_chunk_sentences(
    db: sqlite3.Connection, keys: Sequence[int]
) -> dict[int, list[tuple[str, int, int]]]:
    """Return (document id, first, last) of the sentences of each span, by chunk key."""
    rows = db.execute(
        "SELECT chunks.key, documents.id, chunks.sentences FROM json_each(?) AS ask"
        " JOIN chunks ON chunks.key = ask.value"
        " JOIN documents ON documents.key = chunks.document",
        (json.dumps(list(keys)),),
    )
    return {key: [(doc, first, last) for first, last in json.loads(s)] for key, doc, s in rows}
