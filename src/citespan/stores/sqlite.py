"""The embedded store: one folder, SQLite as the single truth, the indexes derived from it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citespan.index.dense import EXACT_LIMIT, DenseIndex
from citespan.index.lexical import Analyze
from citespan.protocols import (
    DocumentInfo,
    Filter,
    SentenceRange,
    SentenceRow,
    Terms,
    TermStatistics,
    Vectors,
)
from citespan.stores import lookups, rows, schema
from citespan.stores.checks import compare_settings
from citespan.stores.connections import Connections
from citespan.stores.indexes import DerivedIndexes, MakeDense, VectorIndex
from citespan.stores.searching import StoreSearch
from citespan.stores.status import StoreStatus, find_problems, measure_store
from citespan.stores.truth import SqliteTruth, read_meta
from citespan.stores.writing import StoreWriter
from citespan.types import Chunk, Document, Span


class SqliteStore:
    """The embedded ``citespan.protocols.Store``; made by ``open_store``.

    Several threads may use one store; writing is one at a time.
    """

    def __init__(
        self,
        folder: Path,
        lock: Any | None,
        *,
        analyze: Analyze | None = None,
        exact_limit: int = EXACT_LIMIT,
        make_dense: MakeDense | None = None,
    ) -> None:
        if analyze is None:
            from citespan.text import analyze_terms

            analyze = analyze_terms
        if make_dense is None:

            def make_dense(truth: SqliteTruth, dimension: int) -> VectorIndex:
                return DenseIndex(folder / "dense", truth, dimension, exact_limit=exact_limit)

        self.directory = folder
        self._lock_file = lock
        self._mutex = threading.RLock()
        self._connections = Connections(folder / schema.FILE_NAME, read_only=lock is None)
        self._truth = SqliteTruth(self._connections.connect())
        self._indexes = DerivedIndexes(
            folder, self._truth, locked=lock is not None, analyze=analyze, make_dense=make_dense
        )
        self._settings: dict[str, Any] = json.loads(str(read_meta(self._truth.db, "settings")))
        self._writer = StoreWriter(
            self._connections, self._truth, self._indexes, analyze, lock, self._mutex
        )
        self._search = StoreSearch(self._connections, self._indexes, self._mutex)

    # ------------------------------------------------------------------ life

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""
        return self._lock_file is None

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the index was made with."""
        return dict(self._settings)

    @property
    def dimension(self) -> int:
        """Length of the vectors; 0 while there are none."""
        with self._connections.use() as db:
            return int(read_meta(db, "dimension"))

    @property
    def generation(self) -> int:
        """Number of commits so far."""
        with self._connections.use() as db:
            return int(read_meta(db, "generation"))

    def check_settings(self, wanted: Mapping[str, Any]) -> None:
        """Raise StoreError where the index was made with other values than these.

        The message names every difference, stored and wanted, and the ways out.
        """
        compare_settings(self._settings, wanted, self.directory)

    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """Let all that this thread reads within see one committed state.

        A reader beside a writer needs it so that a chunk found is still there when it is fetched.
        """
        return self._connections.snapshot()

    def flush(self) -> None:
        """Bring the derived indexes up to the last commit; searching and closing do so too."""
        self._writer.flush()

    def close(self) -> None:
        """Flush, and release files and locks; safe to call twice."""
        with self._mutex:
            if self._connections.closed:
                return
            try:
                if self._lock_file is not None:
                    self._writer.settle()
            finally:
                self._connections.close()
                self._indexes.close()
                if self._lock_file is not None:
                    self._lock_file.release()

    # ------------------------------------------------------------------ writing

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
        self._writer.write(
            document,
            chunks,
            vectors,
            sentences=sentences,
            sentence_vectors=sentence_vectors,
            fingerprint=fingerprint,
        )

    def remove(self, sources: Sequence[str]) -> int:
        """Remove every trace of the named documents; return how many there were."""
        return self._writer.remove(sources)

    def compact(self) -> None:
        """Make the derived indexes anew and give back the space of what was removed.

        Removed text is overwritten in the database at once; in the search files its terms and
        vectors may stand, unfindable, until this is called.
        """
        self._writer.compact()

    # ------------------------------------------------------------------ documents and chunks

    def list_documents(self, where: Filter | None = None) -> list[DocumentInfo]:
        """Return the documents' rows, by source."""
        with self._connections.use() as db:
            return rows.list_documents(db, where)

    def get_fingerprints(self) -> dict[str, str]:
        """Return each source's fingerprint, to see what changed without reading any text."""
        with self._connections.use() as db:
            return lookups.read_fingerprints(db)

    def get_document(self, document_id: str) -> Document | None:
        """Return one document with its text, or None."""
        with self._connections.use() as db:
            return rows.read_document(db, document_id)

    def get_chunks(self, keys: Sequence[int]) -> list[Chunk]:
        """Return the chunks of these keys, in the order given; StoreError where one is gone."""
        with self._connections.use() as db:
            found = rows.read_chunks(db, [int(key) for key in keys])
        return [rows.pick(found, int(key)) for key in keys]

    def get_vectors(self, keys: Sequence[int]) -> Vectors:
        """Return the stored vectors of these chunks, in the order given.

        Zeros stand for a chunk that was stored without one; a chunk that is gone is a StoreError.
        """
        with self._connections.use() as db:
            return rows.read_vectors(db, [int(key) for key in keys], self.dimension)

    def chunk_keys(self, document_id: str) -> list[int]:
        """Return the keys of a document's chunks, in order; none for an unknown document."""
        with self._connections.use() as db:
            return lookups.read_chunk_keys(db, document_id)

    def get_sentences(
        self, document_id: str, first: int = 0, last: int | None = None
    ) -> list[SentenceRow]:
        """Return the sentences ``first <= order < last`` of a document, in order."""
        with self._connections.use() as db:
            return lookups.read_sentences(db, document_id, first, last)

    def get_sentence_ranges(
        self, requests: Sequence[tuple[str, int, int | None]]
    ) -> list[SentenceRange]:
        """Return for each (document id, first, last) its sentences as arrays, by one query."""
        with self._connections.use() as db:
            return rows.read_sentence_ranges(db, requests)

    def chunk_sentences(self, keys: Sequence[int]) -> list[list[tuple[str, int, int]]]:
        """Return, for each chunk, (document id, first, last) of the sentences of each span."""
        with self._connections.use() as db:
            found = rows.read_chunk_sentences(db, [int(key) for key in keys])
        return [rows.pick(found, int(key)) for key in keys]

    def read_note(self, name: str) -> Any:
        """Return what ``write_note`` kept under a name; None if there is nothing."""
        with self._connections.use() as db:
            return lookups.read_note(db, name)

    def write_note(self, name: str, value: Any) -> None:
        """Keep a JSON value with the index; it changes nothing of what is found."""
        self._writer.check_writable()
        with self._mutex, self._connections.use() as db:
            lookups.write_note(db, name, value)

    def count_chunks(self) -> int:
        """Return the number of chunks."""
        with self._connections.use() as db:
            return rows.count_chunks(db)

    def language_counts(self) -> dict[str, int]:
        """Return how many documents there are of each language, most first."""
        with self._connections.use() as db:
            return lookups.count_languages(db)

    def status(self) -> StoreStatus:
        """Return counts, sizes on disk, and how far the derived indexes are."""
        with self.snapshot(), self._connections.use() as db:
            return measure_store(db, self.directory)

    def check(self) -> list[str]:
        """Read everything and return what is damaged, in words; slow on a large index."""
        self._indexes.search(lambda: None)
        with self.snapshot(), self._connections.use() as db:
            return find_problems(db, self._indexes)

    # ------------------------------------------------------------------ searching

    def search_terms(
        self, terms: Terms, k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, BM25 score), best first; ties by key."""
        return self._search.search_terms(terms, k, where)

    def search_vector(
        self, vector: NDArray[np.float32], k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, cosine), best first; ties by key.

        A vector of zeros, which stands for an empty text, finds nothing.
        """
        return self._search.search_vector(vector, k, where)

    def score_terms(self, terms: Terms, keys: Sequence[int]) -> list[float]:
        """Return each chunk's BM25 score, 0 where no term occurs."""
        return self._search.score_terms(terms, keys)

    def explain_terms(self, terms: Terms, key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's BM25 score; the values sum to the score."""
        return self._search.explain_terms(terms, key)

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the collection's size and how many chunks hold each term.

        The counts are the lexical index's, which knows removed chunks until it is made anew.
        """
        return self._search.term_statistics(terms)
