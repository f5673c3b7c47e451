"""The store's rows as the derived indexes see them; see ``citespan.index.truth.Truth``."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from citespan.index.truth import ChunkText, Head
from citespan.stores.rows import decode_text

TEXTS = 2_000
VECTORS = 8_192


class SqliteTruth:
    """Reads by a connection of its own: the newest commit, whatever snapshots others hold."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.identity = str(read_meta(db, "identity"))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let what is read within see one committed state."""
        with read_snapshot(self.db):
            yield

    def read_head(self) -> Head:
        """Return the newest committed state."""
        rows = dict(
            self.db.execute(
                "SELECT name, value FROM meta WHERE name IN ('generation', 'next_key', 'log_start')"
            ).fetchall()
        )
        return Head(rows["generation"], rows["next_key"] - 1, rows["log_start"])

    def list_removed(self, after: int) -> list[tuple[int, int]]:
        """Return the ranges of keys removed in later generations."""
        return self.db.execute(
            "SELECT first_chunk, last_chunk FROM removed WHERE generation > ?", (after,)
        ).fetchall()

    def iter_texts(self, after: int) -> Iterator[list[ChunkText]]:
        """Yield the chunks with keys above ``after``, a batch a query."""
        while True:
            rows = self.db.execute(
                "SELECT chunks.key, chunks.document, language, context, text FROM chunks"
                " JOIN documents ON documents.key = chunks.document"
                " WHERE chunks.key > ? ORDER BY chunks.key LIMIT ?",
                (after, TEXTS),
            ).fetchall()
            if not rows:
                return
            yield [
                ChunkText(key, document, language, _join(decode_text(context), decode_text(text)))
                for key, document, language, context, text in rows
            ]
            after = rows[-1][0]

    def iter_vectors(self, after: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield keys and vectors above ``after``, a batch a query."""
        while True:
            rows = self.db.execute(
                "SELECT key, vector FROM vectors WHERE key > ? ORDER BY key LIMIT ?",
                (after, VECTORS),
            ).fetchall()
            if not rows:
                return
            matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
            yield np.array([row[0] for row in rows], dtype=np.int64), matrix.reshape(len(rows), -1)
            after = rows[-1][0]


@contextlib.contextmanager
def read_snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Let all that a connection reads within see one committed state; nests."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        db.execute("SELECT 1 FROM meta").fetchone()
        yield
    finally:
        db.execute("COMMIT")


def read_meta(db: sqlite3.Connection, name: str) -> str | int:
    """Return one value of the meta table."""
    value: str | int = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()[0]
    return value


def set_meta(db: sqlite3.Connection, name: str, value: int) -> None:
    """Set one value of the meta table."""
    db.execute("UPDATE meta SET value = ? WHERE name = ?", (value, name))


def _join(context: str, text: str) -> str:
    return f"{context}\n{text}" if context else text
