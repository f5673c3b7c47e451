"""What a store holds and how large it is, and whether any of it is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from citespan.index.truth import read_mark
from citespan.stores import schema
from citespan.stores.indexes import DerivedIndexes
from citespan.stores.lookups import count_languages
from citespan.stores.rows import count_chunks
from citespan.stores.truth import read_meta


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Counts, and bytes on disk by part: ``database``, ``lexical``, ``dense``.

    ``lexical_generation`` and ``dense_generation`` are what the derived indexes on disk reflect,
    -1 where there is none; below ``generation`` they are brought up to date by the next search.
    """

    generation: int
    documents: int
    chunks: int
    sentences: int
    vectors: int
    dimension: int
    languages: Mapping[str, int]
    bytes: Mapping[str, int]
    lexical_generation: int
    dense_generation: int


def measure_store(db: sqlite3.Connection, folder: Path) -> StoreStatus:
    """Count rows and bytes."""
    documents, sentences = db.execute(
        "SELECT count(*), coalesce(sum(sentences), 0) FROM documents"
    ).fetchone()
    marks = {name: read_mark(folder / name) for name in ("lexical", "dense")}
    generations = {name: mark.generation if mark else -1 for name, mark in marks.items()}
    database = [folder / (schema.FILE_NAME + end) for end in ("", "-wal")]
    return StoreStatus(
        generation=int(read_meta(db, "generation")),
        documents=documents,
        chunks=count_chunks(db),
        sentences=sentences,
        vectors=db.execute("SELECT count(*) FROM vectors").fetchone()[0],
        dimension=int(read_meta(db, "dimension")),
        languages=count_languages(db),
        bytes={
            "database": sum(_size(path) for path in database),
            "lexical": sum(_size(path) for path in (folder / "lexical").rglob("*")),
            "dense": sum(_size(path) for path in (folder / "dense").rglob("*")),
        },
        lexical_generation=generations["lexical"],
        dense_generation=generations["dense"],
    )


def find_problems(db: sqlite3.Connection, indexes: DerivedIndexes) -> list[str]:
    """Compare everything with everything; return what does not hold, in words."""
    problems = [
        f"the database is damaged: {row[0]}"
        for row in db.execute("PRAGMA integrity_check(10)")
        if row[0] != "ok"
    ]
    for what, question in (
        (
            "chunks without their document",
            "SELECT count(*) FROM chunks WHERE document NOT IN (SELECT key FROM documents)",
        ),
        (
            "vectors without their chunk",
            "SELECT count(*) FROM vectors WHERE key NOT IN (SELECT key FROM chunks)",
        ),
        (
            "texts without their document",
            "SELECT count(*) FROM texts WHERE document NOT IN (SELECT key FROM documents)",
        ),
        (
            "sentences without their document",
            "SELECT count(*) FROM sentences WHERE document NOT IN (SELECT key FROM documents)",
        ),
    ):
        count = db.execute(question).fetchone()[0]
        if count:
            problems.append(f"{count} {what}")
    chunks = count_chunks(db)
    rows = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    if rows != chunks:
        problems.append(f"{rows} chunks are stored, the documents name {chunks}")
    if indexes.lexical.count_alive() != chunks:
        problems.append(
            f"the lexical index holds {indexes.lexical.count_alive()} chunks of {chunks}"
        )
    if indexes.dense is not None:
        problems += indexes.dense.find_problems()
    return problems


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
