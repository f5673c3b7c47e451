"""SQLite connections of one store: one a thread, closed together."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from citespan.errors import StoreError
from citespan.stores import schema
from citespan.stores.access import plain_errors
from citespan.stores.filters import add_functions
from citespan.stores.truth import read_snapshot


class Connections:
    """Gives each thread its own connection, so that snapshots do not meet."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self._read_only = read_only
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self.closed = False

    def connect(self) -> sqlite3.Connection:
        """Return a new connection."""
        if self.closed:
            raise StoreError("the store is closed", fix="open it again")
        db = schema.connect(self.path, read_only=self._read_only)
        add_functions(db)
        self._open.append(db)
        return db

    @contextlib.contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection; SQLite's errors come out as ours."""
        with plain_errors(self.path):
            db: sqlite3.Connection | None = getattr(self._local, "db", None)
            if db is None or self.closed:
                db = self._local.db = self.connect()
            yield db

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that this thread reads within see one committed state."""
        with self.use() as db, read_snapshot(db):
            yield

    def close(self) -> None:
        """Close every thread's connection."""
        self.closed = True
        for db in self._open:
            db.close()
        self._open.clear()
