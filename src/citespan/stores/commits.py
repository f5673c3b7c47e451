"""What a commit is, and what it may do: put a document in place, or remove documents."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from citespan.errors import StoreError
from citespan.protocols import Vectors
from citespan.stores import rows
from citespan.stores.truth import read_meta, set_meta
from citespan.types import Chunk, Document, Span


@contextlib.contextmanager
def commit(db: sqlite3.Connection) -> Iterator[int]:
    """Yield the generation that the commit will have; an error within leaves all as it was."""
    db.execute("BEGIN IMMEDIATE")
    try:
        generation = int(read_meta(db, "generation")) + 1
        yield generation
        set_meta(db, "generation", generation)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def put_document(
    db: sqlite3.Connection,
    generation: int,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Vectors | None,
    sentences: Sequence[Span],
    sentence_vectors: Vectors | None,
    sentence_terms: Sequence[NDArray[np.uint32]],
    fingerprint: str,
) -> None:
    """Put a document in place of any of the same source; StoreError where its id is taken."""
    taken = db.execute(
        "SELECT source FROM documents WHERE id = ? AND source <> ?",
        (document.id, document.source),
    ).fetchone()
    if taken:
        raise StoreError(
            f"the document id {document.id!r} of {document.source} is taken by {taken[0]}",
            fix="give each document its own id",
        )
    remove_documents(db, generation, [document.source])
    first = int(read_meta(db, "next_key"))
    key = rows.insert_document(db, document, fingerprint, first, len(chunks), len(sentences))
    rows.insert_chunks(db, key, first, chunks, vectors, sentences)
    rows.insert_sentences(db, key, sentences, sentence_vectors, sentence_terms)
    set_meta(db, "next_key", first + len(chunks))


def remove_documents(db: sqlite3.Connection, generation: int, sources: Sequence[str]) -> int:
    """Remove every trace of the named documents; return how many there were."""
    found = rows.find_sources(db, sources)
    rows.delete_documents(db, found, generation)
    return len(found)
