"""Writing to one store: commits one at a time, and when the derived indexes follow them."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from citespan.errors import StoreError
from citespan.index.lexical import Analyze
from citespan.protocols import Vectors
from citespan.stores.access import plain_errors
from citespan.stores.checks import check_write
from citespan.stores.commits import commit, put_document, remove_documents
from citespan.stores.connections import Connections
from citespan.stores.indexes import DerivedIndexes
from citespan.stores.rows import find_sources
from citespan.stores.truth import SqliteTruth, read_meta, set_meta
from citespan.text import hash_terms
from citespan.types import Chunk, Document, Span

FLUSH_CHUNKS = 5_000
FLUSH_SECONDS = 5.0


class StoreWriter:
    """The writing of a store, which without its ``lock`` refuses.

    ``mutex`` is the store's own: held while anything is written.
    """

    def __init__(
        self,
        connections: Connections,
        truth: SqliteTruth,
        indexes: DerivedIndexes,
        analyze: Analyze,
        lock: Any | None,
        mutex: threading.RLock,
    ) -> None:
        self._connections = connections
        self._truth = truth
        self._indexes = indexes
        self._analyze = analyze
        self._lock = lock
        self._mutex = mutex
        self._pending = 0
        self._flushed_at = float("-inf")

    def check_writable(self) -> None:
        """Raise StoreError where the store is closed or open for reading only."""
        if self._connections.closed:
            raise StoreError("the store is closed", fix="open it again")
        if self._lock is None:
            raise StoreError("the index is open for reading only", fix="open it for writing")

    def write(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Vectors | None = None,
        *,
        sentences: Sequence[Span] = (),
        sentence_vectors: Vectors | None = None,
        fingerprint: str = "",
    ) -> None:
        """Store a document in one transaction, in place of any document of the same source.

        Raises StoreError, and stores nothing, where the parts do not fit each other.
        """
        with self._connections.use() as db:
            dimension = int(read_meta(db, "dimension"))
        dimension = check_write(document, chunks, vectors, sentences, sentence_vectors, dimension)
        terms = [
            hash_terms(self._analyze(document.text[start:end], document.language))
            for start, end in sentences
        ]
        self.check_writable()
        with self._mutex, self._connections.use() as db, commit(db) as generation:
            put_document(
                db,
                generation,
                document,
                chunks,
                vectors,
                sentences,
                sentence_vectors,
                terms,
                fingerprint,
            )
            if dimension:
                set_meta(db, "dimension", dimension)
        self._flush_when_due(len(chunks))

    def remove(self, sources: Sequence[str]) -> int:
        """Remove every trace of the named documents; return how many there were."""
        self.check_writable()
        with self._mutex, self._connections.use() as db:
            if not find_sources(db, sources):
                return 0
            with commit(db) as generation:
                removed = remove_documents(db, generation, sources)
        self._flush_when_due(0)
        return removed

    def compact(self) -> None:
        """Make the derived indexes anew and give back the space of what was removed.

        Removed text is overwritten in the database at once; in the search files its terms and
        vectors may stand, unfindable, until this is called.
        """
        self.check_writable()
        with self._mutex, plain_errors(self._connections.path):
            self._indexes.rebuild()
            self.flush()
            self._truth.db.execute("VACUUM")
            self._truth.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def flush(self) -> None:
        """Bring the derived indexes up to the last commit; searching and closing do so too."""
        self.check_writable()
        with self._mutex, plain_errors(self._connections.path):
            self._indexes.sync()
            self._pending = 0
            self._flushed_at = time.monotonic()

    def settle(self) -> None:
        """Flush, and leave the database tidy and in one file: the last thing before closing."""
        self.flush()
        with plain_errors(self._connections.path):
            self._truth.db.execute("PRAGMA optimize")
            self._truth.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _flush_when_due(self, chunks: int) -> None:
        """Flush now and then, so that readers beside a long run find what it stored."""
        with self._mutex:
            self._pending += chunks
            late = time.monotonic() - self._flushed_at > FLUSH_SECONDS
            if self._pending >= FLUSH_CHUNKS or late:
                self.flush()
