"""Small questions to the database, each answered by one statement."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from citespan.protocols import SentenceRow
from citespan.stores.rows import read_sentence_ranges
from citespan.types import Span


def read_fingerprints(db: sqlite3.Connection) -> dict[str, str]:
    """Return each source's fingerprint."""
    return dict(db.execute("SELECT source, fingerprint FROM documents").fetchall())


def read_chunk_keys(db: sqlite3.Connection, document_id: str) -> list[int]:
    """Return the keys of a document's chunks, in order; none for an unknown document."""
    row = db.execute(
        "SELECT first_chunk, chunks FROM documents WHERE id = ?", (document_id,)
    ).fetchone()
    return list(range(row[0], row[0] + row[1])) if row else []


def read_sentences(
    db: sqlite3.Connection, document_id: str, first: int, last: int | None
) -> list[SentenceRow]:
    """Return the sentences ``first <= order < last`` of a document, in order."""
    (found,) = read_sentence_ranges(db, [(document_id, first, last)])
    return [
        SentenceRow(
            found.first + i,
            Span(int(start), int(end)),
            None if found.vectors is None else found.vectors[i],
        )
        for i, (start, end) in enumerate(found.spans)
    ]


def count_languages(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many documents there are of each language, most first."""
    return dict(
        db.execute(
            "SELECT language, count(*) FROM documents GROUP BY language ORDER BY 2 DESC, 1"
        ).fetchall()
    )


def read_note(db: sqlite3.Connection, name: str) -> Any:
    """Return what ``write_note`` kept under a name; None if there is nothing."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (f"note:{name}",)).fetchone()
    return json.loads(row[0]) if row else None


def write_note(db: sqlite3.Connection, name: str, value: Any) -> None:
    """Keep a JSON value under a name, in place of what was there."""
    db.execute(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        (f"note:{name}", json.dumps(value, ensure_ascii=False)),
    )
