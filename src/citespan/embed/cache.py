"""Keep vectors by the text they were made of, so that the same sentence is embedded once.

One SQLite file in the user's cache folder, shared by all indexes and processes. It holds hashes
and vectors, no texts. It is only a cache: whatever goes wrong with it, the embedding goes on.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import Embedder, Vectors

MAX_ROWS = 500_000
"""About 0.8 GB at 384 dimensions; the oldest rows go first."""

AT_ONCE = 500
BUSY_SECONDS = 10.0

T = TypeVar("T")


def default_cache_path() -> Path:
    """Return where the vectors are kept unless a path is named."""
    from platformdirs import user_cache_path

    return user_cache_path("citespan") / "vectors.sqlite"


class VectorCache:
    """A table from 128-bit keys to float32 vectors, for several threads and processes.

    >>> import tempfile
    >>> cache = VectorCache(Path(tempfile.mkdtemp()) / "vectors.sqlite")
    >>> cache.put({b"k" * 16: np.ones(3, dtype=np.float32)})
    >>> cache.get([b"k" * 16, b"?" * 16])[b"k" * 16].tolist(), len(cache)
    ([1.0, 1.0, 1.0], 1)
    >>> cache.clear(); len(cache)
    0
    >>> cache.close()
    """

    def __init__(self, path: Path | None = None, *, max_rows: int = MAX_ROWS) -> None:
        self.path = path or default_cache_path()
        self.max_rows = max_rows
        self._lock = threading.Lock()
        self._connection = self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of those keys that are there."""

        def select(connection: sqlite3.Connection) -> list[tuple[bytes, bytes]]:
            rows: list[tuple[bytes, bytes]] = []
            for start in range(0, len(keys), AT_ONCE):
                part = keys[start : start + AT_ONCE]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                rows += connection.execute(query, part).fetchall()
            return rows

        nothing: list[tuple[bytes, bytes]] = []
        found = self._try(select, nothing)
        return {key: np.frombuffer(blob, dtype="<f4") for key, blob in found}

    def put(self, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        """Add vectors, and drop the oldest rows beyond ``max_rows``."""
        rows = [(key, np.asarray(v, dtype="<f4").tobytes()) for key, v in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows
            )
            connection.execute(
                "DELETE FROM vectors WHERE number <= (SELECT max(number) FROM vectors) - ?",
                (self.max_rows,),
            )
            connection.commit()

        self._try(write, None)

    def clear(self) -> None:
        """Delete all rows and give the space back."""

        def wipe(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM vectors")
            connection.commit()
            connection.execute("VACUUM")

        self._try(wipe, None)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return int(self._try(lambda c: c.execute("SELECT count(*) FROM vectors").fetchone()[0], 0))

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        """Open or make the file; make it anew where it is damaged; do without where that fails."""
        for _ in range(2):
            connection = None
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(
                    self.path, timeout=BUSY_SECONDS, check_same_thread=False
                )
                connection.execute("PRAGMA journal_mode=WAL")
                # A power cut may lose the last rows of a cache, and no more.
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS vectors"
                    " (number INTEGER PRIMARY KEY, key BLOB UNIQUE, vector BLOB)"
                )
                connection.commit()
                return connection
            except (sqlite3.OperationalError, OSError):  # no permission, no space, locked for long
                if connection:
                    connection.close()
                return None
            except sqlite3.DatabaseError:
                if connection:
                    connection.close()
                for end in ("", "-wal", "-shm"):
                    Path(f"{self.path}{end}").unlink(missing_ok=True)
        return None

    def _try(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run an action; whatever the file's trouble is, return ``otherwise``."""
        with self._lock:
            if self._connection is None:
                return otherwise
            try:
                return action(self._connection)
            except sqlite3.DatabaseError:
                try:
                    self._connection.rollback()
                except sqlite3.Error:
                    self._connection = None
                return otherwise


class CachedEmbedder:
    """An embedder that asks the cache first; in all else the embedder that it wraps."""

    def __init__(self, embedder: Embedder, cache: VectorCache | None = None) -> None:
        self.embedder = embedder
        self.cache = VectorCache() if cache is None else cache
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one row a text; only texts that the cache does not hold reach the model."""
        keys = [make_key(self.name, kind, text) for text in texts]
        size = self.dimension
        found = {key: v for key, v in self.cache.get(list(set(keys))).items() if len(v) == size}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = self.embedder.embed(list(missing.values()), kind=kind)
            added = dict(zip(missing, fresh, strict=True))
            self.cache.put(added)
            found |= added
        vectors = np.empty((len(texts), size), dtype=np.float32)
        for row, key in enumerate(keys):
            vectors[row] = found[key]
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length as the model counts it."""
        return self.embedder.count_tokens(texts)


def make_key(name: str, kind: str, text: str) -> bytes:
    """Return the 128-bit key of a text for one embedder and kind."""
    digest = blake2b(digest_size=16)
    for part in (name, kind, text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
