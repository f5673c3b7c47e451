"""The embedded store: one folder, SQLite as the single truth, the indexes derived from it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from citespan.errors import LockedError, StoreError
from citespan.index.dense import EXACT_LIMIT, DenseIndex
from citespan.index.lexical import Analyze, LexicalIndex
from citespan.index.truth import is_damage
from citespan.protocols import (
    DocumentInfo,
    Filter,
    SentenceRow,
    Terms,
    TermStatistics,
    Vectors,
)
from citespan.stores import rows, schema
from citespan.stores.checks import check_write, compare_settings
from citespan.stores.filters import Scope, add_functions, build_where, resolve_filter
from citespan.stores.truth import SqliteTruth, read_meta
from citespan.types import Chunk, Document, Span, content_id

FLUSH_CHUNKS = 5_000
FLUSH_SECONDS = 5.0
PROBE = "Running leaves, наблюдения, 北京大学, ERR-1042 foo_bar 1,234.50 Häuser élèves"

T = TypeVar("T")


def open_store(
    directory: Path | str,
    *,
    create_settings: Mapping[str, Any] | None = None,
    read_only: bool = False,
    lock_timeout: float = 10.0,
    analyze: Analyze | None = None,
    exact_limit: int = EXACT_LIMIT,
) -> SqliteStore:
    """Open the index in a folder, or make one there.

    Parameters
    ----------
    directory
        The index's own folder.
    create_settings
        JSON values to store when the index is made (``dimension`` fixes the vectors' length);
        where it exists already they are compared with what is stored. None makes nothing.
    read_only
        Many readers may stand beside one writer, and see its commits without opening again.
    lock_timeout
        Seconds a writer waits for another one to end.
    analyze
        ``(text, language) -> terms``; ``citespan.text.analyze_terms`` by default.
    exact_limit
        Vectors searched without faiss.

    Raises
    ------
    StoreError
        If there is no index, it is damaged, newer than this program, or has other settings.
    LockedError
        If another process is writing.

    Examples
    --------
    >>> import tempfile
    >>> from citespan.types import Chunk, Document, Span
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_store(folder.name, create_settings={"splitter": "none"}) as store:
    ...     document = Document("d1", "a.txt", "Green tea.")
    ...     store.write(document, [Chunk("d1", 0, (Span(0, 10),), "Green tea.")])
    ...     found = [key for key, _ in store.search_terms([("tea",)], k=3)]
    ...     [chunk.text for chunk in store.get_chunks(found)]
    ['Green tea.']
    >>> folder.cleanup()
    """
    folder = Path(directory)
    path = folder / schema.FILE_NAME
    blank = schema.is_blank(folder)
    if not path.is_file() or blank:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file, not an index", fix="name a folder")
        if create_settings is None or read_only:
            raise StoreError(f"no index at {folder}", fix="run: citespan index PATH")
        if not blank:
            raise StoreError(
                f"{folder} holds other files and no index", fix="name an empty or a new folder"
            )
        folder.mkdir(parents=True, exist_ok=True)
    lock = None if read_only else _take_lock(folder, lock_timeout)
    try:
        with _plain_errors(path):
            if not read_only and schema.is_blank(folder) and create_settings is not None:
                schema.create_database(path, create_settings)
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            schema.check_database(path)
            store = SqliteStore(folder, lock, analyze=analyze, exact_limit=exact_limit)
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    try:
        if create_settings is not None:
            store.check_settings(create_settings)
    except BaseException:
        store.close()
        raise
    return store


class SqliteStore:
    """See ``citespan.protocols.Store``; made by ``open_store``. Its methods may be called from
    several threads.
    """

    def __init__(
        self,
        folder: Path,
        lock: Any | None,
        *,
        analyze: Analyze | None = None,
        exact_limit: int = EXACT_LIMIT,
    ) -> None:
        if analyze is None:
            from citespan.text import analyze_terms as analyze
        self.directory = folder
        self._path = folder / schema.FILE_NAME
        self._lock_file = lock
        self._mutex = threading.RLock()
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._closed = False
        self._truth = SqliteTruth(self._connect())
        # What the analyser makes of a probe stands for its version and its libraries' versions.
        recipe = f"analyser {content_id(*analyze(PROBE, ''), *analyze(PROBE, 'de'))}"
        self._lexical = LexicalIndex(folder / "lexical", self._truth, analyze, recipe)
        self._dense: DenseIndex | None = None
        self._exact_limit = exact_limit
        self._settings: dict[str, Any] = json.loads(str(read_meta(self._truth.db, "settings")))
        self._synced: tuple[int, bool] = (-1, False)
        self._pending = 0
        self._flushed_at = time.monotonic()
        self._scopes: dict[str, Scope] = {}
        self._scopes_of = -1

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
        return int(read_meta(self._db, "dimension"))

    @property
    def generation(self) -> int:
        """Number of commits so far."""
        with _plain_errors(self._path):
            return int(read_meta(self._db, "generation"))

    def check_settings(self, wanted: Mapping[str, Any]) -> None:
        """Raise StoreError where the index was made with other values than these."""
        compare_settings(self._settings, wanted, self.directory)

    def flush(self) -> None:
        """Bring the derived indexes up to the last commit; searching does so by itself."""
        self._need_writer()
        with self._mutex, _plain_errors(self._path):
            self._sync_files()

    def close(self) -> None:
        """Flush, and release files and locks; safe to call twice."""
        with self._mutex:
            if self._closed:
                return
            try:
                if self._lock_file is not None:
                    with _plain_errors(self._path):
                        self._sync_files()
                        self._truth.db.execute("PRAGMA optimize")
                        self._truth.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self._closed = True
                for db in self._connections:
                    db.close()
                if self._lock_file is not None:
                    self._lock_file.release()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reading within, in this thread, see one committed state."""
        db = self._db
        if db.in_transaction:
            yield
            return
        db.execute("BEGIN")
        try:
            db.execute("SELECT 1 FROM meta").fetchone()
            yield
        finally:
            db.execute("COMMIT")

    @property
    def _db(self) -> sqlite3.Connection:
        """This thread's connection."""
        if self._closed:
            raise StoreError("the store is closed", fix="open it again")
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = self._connect()
        return db

    def _connect(self) -> sqlite3.Connection:
        db = schema.connect(self._path, read_only=self._lock_file is None)
        add_functions(db)
        self._connections.append(db)
        return db

    def _need_writer(self) -> None:
        if self._lock_file is None:
            raise StoreError("the index is open for reading only", fix="open it for writing")

    # ------------------------------------------------------------------ writing

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Yield the connection and the generation that the commit will have."""
        self._need_writer()
        with self._mutex, _plain_errors(self._path):
            db = self._db
            db.execute("BEGIN IMMEDIATE")
            try:
                generation = int(read_meta(db, "generation")) + 1
                yield db, generation
                _set_meta(db, "generation", generation)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

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
        dimension = self.dimension
        dimension = check_write(document, chunks, vectors, sentences, sentence_vectors, dimension)
        with self._transaction() as (db, generation):
            taken = db.execute(
                "SELECT source FROM documents WHERE id = ? AND source <> ?",
                (document.id, document.source),
            ).fetchone()
            if taken:
                raise StoreError(
                    f"the document id {document.id!r} of {document.source} is taken by {taken[0]}",
                    fix="give each document its own id",
                )
            old = db.execute(
                "SELECT key, first_chunk, chunks FROM documents WHERE source = ?",
                (document.source,),
            ).fetchall()
            rows.delete_documents(db, old, generation)
            first = int(read_meta(db, "next_key"))
            key = rows.insert_document(
                db, document, fingerprint, first, len(chunks), len(sentences)
            )
            rows.insert_chunks(db, key, first, chunks, vectors)
            rows.insert_sentences(db, key, sentences, sentence_vectors)
            _set_meta(db, "next_key", first + len(chunks))
            if dimension:
                _set_meta(db, "dimension", dimension)
        self._flush_when_due(len(chunks))

    def remove(self, sources: Sequence[str]) -> int:
        """Remove every trace of the named documents; return how many there were."""
        wanted = json.dumps(list(sources))
        question = (
            "SELECT key, first_chunk, chunks FROM documents"
            " WHERE source IN (SELECT value FROM json_each(?))"
        )
        if not self._db.execute(question + " LIMIT 1", (wanted,)).fetchone():
            self._need_writer()
            return 0
        with self._transaction() as (db, generation):
            found = db.execute(question, (wanted,)).fetchall()
            rows.delete_documents(db, found, generation)
        self._flush_when_due(0)
        return len(found)

    def _flush_when_due(self, chunks: int) -> None:
        """Flush now and then, so that readers beside a long run find what it stored."""
        with self._mutex:
            self._pending += chunks
            late = time.monotonic() - self._flushed_at > FLUSH_SECONDS
            if self._pending >= FLUSH_CHUNKS or late:
                self.flush()

    # ------------------------------------------------------------------ documents and chunks

    def list_documents(self, where: Filter | None = None) -> list[DocumentInfo]:
        """Return the documents' rows, by source."""
        condition, values = build_where(where)
        with _plain_errors(self._path):
            found = self._db.execute(
                "SELECT id, source, title, media_type, language, length, chunks, fingerprint"
                f" FROM documents WHERE {condition} ORDER BY source",
                values,
            ).fetchall()
        return [DocumentInfo(*row) for row in found]

    def get_fingerprints(self) -> dict[str, str]:
        """Return each source's fingerprint, to see what changed without reading any text."""
        with _plain_errors(self._path):
            return dict(self._db.execute("SELECT source, fingerprint FROM documents").fetchall())

    def get_document(self, document_id: str) -> Document | None:
        """Return one document with its text, or None."""
        with _plain_errors(self._path):
            return rows.read_document(self._db, document_id)

    def get_chunks(self, keys: Sequence[int]) -> list[Chunk]:
        """Return the chunks of these keys, in the order given."""
        with _plain_errors(self._path):
            found = rows.read_chunks(self._db, [int(key) for key in keys])
        return [_at(found, int(key)) for key in keys]

    def get_vectors(self, keys: Sequence[int]) -> Vectors:
        """Return the stored vectors of these chunks, in the order given; zeros where a chunk was
        stored without one.
        """
        with _plain_errors(self._path):
            wanted = json.dumps([int(key) for key in keys])
            found = dict(
                self._db.execute(
                    "SELECT chunks.key, vector FROM chunks LEFT JOIN vectors USING (key)"
                    " WHERE chunks.key IN (SELECT value FROM json_each(?))",
                    (wanted,),
                ).fetchall()
            )
            matrix = np.zeros((len(keys), self.dimension), dtype=np.float32)
        for row, key in enumerate(keys):
            blob = _at(found, int(key))
            if blob is not None:
                matrix[row] = np.frombuffer(blob, dtype="<f4")
        return matrix

    def chunk_keys(self, document_id: str) -> list[int]:
        """Return the keys of a document's chunks, in order; none for an unknown document."""
        with _plain_errors(self._path):
            row = self._db.execute(
                "SELECT first_chunk, chunks FROM documents WHERE id = ?", (document_id,)
            ).fetchone()
        return list(range(row[0], row[0] + row[1])) if row else []

    def get_sentences(
        self, document_id: str, first: int = 0, last: int | None = None
    ) -> list[SentenceRow]:
        """Return the sentences ``first <= order < last`` of a document, in order."""
        (found,) = self.get_sentence_ranges([(document_id, first, last)])
        return [
            SentenceRow(
                found.first + i,
                Span(int(start), int(end)),
                None if found.vectors is None else found.vectors[i],
            )
            for i, (start, end) in enumerate(found.spans)
        ]

    def get_sentence_ranges(
        self, requests: Sequence[tuple[str, int, int | None]]
    ) -> list[rows.SentenceRange]:
        """Return for each (document id, first, last) its sentences as arrays, by one query."""
        with _plain_errors(self._path):
            return rows.read_sentence_ranges(self._db, requests)

    def language_counts(self) -> dict[str, int]:
        """Return how many documents there are of each language, most first."""
        with _plain_errors(self._path):
            found = self._db.execute(
                "SELECT language, count(*) FROM documents GROUP BY language ORDER BY 2 DESC, 1"
            )
            return dict(found.fetchall())

    # ------------------------------------------------------------------ searching

    def search_terms(
        self, terms: Terms, k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, BM25 score), best first; ties by key."""
        scope = self._scope(where)
        documents = None if scope is None else scope.documents
        if scope is not None and not scope.ranges:
            return []
        return self._searching(lambda: self._lexical.search(terms, k, documents))

    def search_vector(
        self, vector: NDArray[np.float32], k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, cosine), best first; ties by key."""
        scope = self._scope(where)
        dimension = self.dimension
        if not dimension or (scope is not None and not scope.ranges):
            return []
        if vector.shape != (dimension,):
            raise StoreError(
                f"the question's vector has the shape {vector.shape}, the index {(dimension,)}",
                fix="ask with the model that the index was made with",
            )
        ranges = None if scope is None else scope.ranges

        def search() -> list[tuple[int, float]]:
            return self._dense.search(vector, k, ranges) if self._dense else []

        return self._searching(search)

    def score_terms(self, terms: Terms, keys: Sequence[int]) -> list[float]:
        """Return each chunk's BM25 score, 0 where no term occurs."""
        wanted = [int(key) for key in keys]
        found = self._searching(lambda: self._lexical.score(terms, wanted))
        return [found.get(key, 0.0) for key in wanted]

    def explain_terms(self, terms: Terms, key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's BM25 score; the values sum to the score."""
        return self._searching(lambda: self._lexical.explain(terms, int(key)))

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the collection's size and how many chunks hold each term."""
        counts = self._searching(lambda: self._lexical.count(terms))
        chunks = self.count_chunks()
        limited = {term: min(count, chunks) for term, count in counts.items()}
        return TermStatistics(chunks, self._lexical.mean_length, limited)

    def count_chunks(self) -> int:
        """Return the number of chunks."""
        with _plain_errors(self._path):
            total: int = self._db.execute(
                "SELECT coalesce(sum(chunks), 0) FROM documents"
            ).fetchone()[0]
            return total

    def _scope(self, where: Filter | None) -> Scope | None:
        """Resolve a filter; what it gave is kept until the next commit."""
        if not where:
            return None
        with self._mutex, _plain_errors(self._path):
            generation = int(read_meta(self._db, "generation"))
            if generation != self._scopes_of:
                self._scopes.clear()
                self._scopes_of = generation
            name = repr(where)
            if name not in self._scopes:
                if len(self._scopes) >= 64:
                    self._scopes.clear()
                self._scopes[name] = resolve_filter(self._db, where)
            return self._scopes[name]

    def _searching(self, search: Callable[[], T]) -> T:
        """Search an up-to-date index; one that proves broken is made anew, once."""
        with _plain_errors(self._path):
            self._refresh()
            try:
                return search()
            except BaseException as error:
                if not is_damage(error) or isinstance(error, StoreError | sqlite3.Error):
                    raise
                self._repair()
                return search()

    # ------------------------------------------------------------------ derived indexes

    def _refresh(self) -> None:
        """Make searches reflect the newest commit."""
        with self._mutex:
            if self._closed:
                raise StoreError("the store is closed", fix="open it again")
            head = self._truth.read_head()
            if self._synced == (head.generation, True):
                return
            if self._lock_file is not None:
                self._sync_files()
                return
            # A reader repairs what no writer is about to: it takes the lock only if it is free.
            behind = self._lexical.needs_sync(head) or (
                self._open_dense() is not None and self._open_dense().needs_sync(head)  # type: ignore[union-attr]
            )
            if behind and self._sync_as_guest():
                return
            current = self._load_files()
            self._synced = (head.generation, current)

    def _open_dense(self) -> DenseIndex | None:
        dimension = int(read_meta(self._truth.db, "dimension"))
        if self._dense is None and dimension:
            self._dense = DenseIndex(
                self.directory / "dense", self._truth, dimension, exact_limit=self._exact_limit
            )
        return self._dense

    def _sync_files(self) -> None:
        generation = self._truth.read_head().generation
        if self._synced != (generation, True):
            marks = [self._lexical.sync()]
            dense = self._open_dense()
            if dense is not None:
                # The dense index leaves removed rows in its file, so it needs their record from
                # the file's beginning on; the lexical one has deleted them.
                marks.append(dense.sync())
            oldest = min(marks[0].generation, *(mark.birth for mark in marks[1:]), generation)
            self._forget_removed(oldest)
            self._synced = (generation, True)
        self._pending = 0
        self._flushed_at = time.monotonic()

    def _forget_removed(self, generation: int) -> None:
        """Drop the record of removals that both indexes have heeded."""
        if self._lock_file is None:
            return
        db = self._truth.db
        if db.execute("SELECT 1 FROM removed WHERE generation <= ?", (generation,)).fetchone():
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM removed WHERE generation <= ?", (generation,))
            _set_meta(db, "log_start", generation)
            db.execute("COMMIT")

    def _sync_as_guest(self) -> bool:
        try:
            lock = _take_lock(self.directory, 0)
        except (LockedError, OSError):
            return False
        try:
            self._sync_files()
            return True
        except OSError:
            return False
        finally:
            lock.release()

    def _load_files(self) -> bool:
        """Load the files as they are; return whether they reflect the newest commit."""
        for _ in range(3):
            loaded = [self._lexical.reload()]
            dense = self._open_dense()
            if dense is not None:
                loaded.append(dense.reload())
            if all(loaded):
                break
            time.sleep(0.01)
        return all(loaded) and self._lexical.generation == self._truth.read_head().generation

    def _repair(self) -> None:
        with self._mutex:
            lock = None if self._lock_file else _take_lock(self.directory, 10.0)
            try:
                self._lexical.rebuild()
                dense = self._open_dense()
                if dense is not None:
                    dense.rebuild()
            finally:
                if lock is not None:
                    lock.release()


def _at(found: Mapping[int, T], key: int) -> T:
    try:
        return found[key]
    except KeyError:
        raise StoreError(
            f"chunk {key} is gone: its document was changed or removed", fix="search again"
        ) from None


def _set_meta(db: sqlite3.Connection, name: str, value: int) -> None:
    db.execute("UPDATE meta SET value = ? WHERE name = ?", (value, name))


def _take_lock(folder: Path, timeout: float) -> Any:
    import filelock

    lock = filelock.FileLock(str(folder / schema.LOCK_NAME), timeout=timeout)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise LockedError(
            f"another process is writing to the index at {folder}",
            fix="wait for it to end, or end it, and try again",
        ) from None
    return lock


@contextlib.contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that name the file and the fix."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise LockedError(
                f"{path} is in use by another process", fix="wait for it to end and try again"
            ) from error
        if "full" in text:
            raise StoreError(f"the disk of {path} is full", fix="make room and go on") from error
        if "malformed" in text or "disk I/O" in text:
            raise StoreError(
                f"{path} is damaged ({text})", fix=f"restore it from a copy, or {schema.REMAKE}"
            ) from error
        raise StoreError(f"{path}: {text}", fix="see that the folder may be written to") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is damaged ({error})", fix=f"restore it from a copy, or {schema.REMAKE}"
        ) from error
