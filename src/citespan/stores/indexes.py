"""The derived indexes of one store: when they are brought up to date, by whom, and mended."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from citespan.errors import CitespanError, LockedError, StoreError
from citespan.index.lexical import Analyze, LexicalIndex
from citespan.index.truth import Head, Mark, Ranges, is_damage
from citespan.stores.access import take_lock
from citespan.stores.truth import SqliteTruth, read_meta, set_meta
from citespan.types import content_id

PROBE = "Running leaves, наблюдения, 北京大学, ERR-1042 foo_bar 1,234.50 Häuser élèves"
WAIT_SECONDS = 5.0

T = TypeVar("T")


class VectorIndex(Protocol):
    """What the store asks of a dense index, wherever that keeps its vectors."""

    def needs_sync(self, head: Head) -> bool:
        """Whether it is behind the truth, or broken."""
        ...

    def sync(self) -> Mark:
        """Bring it up to the newest commit; only under the lock."""
        ...

    def rebuild(self) -> Mark:
        """Make it anew from the truth; only under the lock."""
        ...

    def reload(self) -> bool:
        """Take it as it is, and what it lacks from the truth; return whether it was of use."""
        ...

    def search(
        self, vector: NDArray[np.float32], k: int, within: Ranges | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, cosine), best first, ties by key; a zero vector finds nothing."""
        ...

    def find_problems(self) -> list[str]:
        """Compare it with the truth; return what differs, in words."""
        ...

    def close(self) -> None:
        """Release what it holds; safe to call twice."""
        ...


MakeDense = Callable[[SqliteTruth, int], VectorIndex]
"""Makes a dense index of a truth and a dimension."""


class DerivedIndexes:
    """The lexical and the dense index of a folder.

    The process that holds the write lock brings the files up to the newest commit. A reader does
    so only if the lock is free; beside a writer it loads what there is: vectors newer than the
    files from the truth, terms as of the writer's last flush, in both cases without what was
    removed since.
    """

    def __init__(
        self,
        folder: Path,
        truth: SqliteTruth,
        *,
        locked: bool,
        analyze: Analyze,
        make_dense: MakeDense,
    ) -> None:
        self._folder = folder
        self._truth = truth
        self._locked = locked
        self._make_dense = make_dense
        self._mutex = threading.RLock()
        self._current = -1
        # What the analyser makes of a probe stands for its version and its libraries' versions.
        recipe = f"analyser {content_id(*analyze(PROBE, ''), *analyze(PROBE, 'de'))}"
        self.lexical = LexicalIndex(folder / "lexical", truth, analyze, recipe)
        self.dense: VectorIndex | None = None

    def search(self, question: Callable[[], T]) -> T:
        """Ask a question of up-to-date indexes; one that proves broken is made anew, once."""
        self.refresh()
        try:
            return question()
        except BaseException as error:
            if not is_damage(error) or isinstance(error, CitespanError | sqlite3.Error):
                raise
            self.rebuild()
            return question()

    def refresh(self) -> None:
        """Make searches reflect the newest commit."""
        with self._mutex:
            head = self._truth.read_head()
            if self._current == head.generation:
                return
            if self._locked:
                self.sync()
                return
            dense = self._open_dense()
            behind = self.lexical.needs_sync(head) or (dense is not None and dense.needs_sync(head))
            if behind or not self._load():
                self._sync_or_load()

    def sync(self) -> None:
        """Bring the files up to the newest commit; only under the lock."""
        with self._mutex:
            if self._current == self._truth.read_head().generation:
                return
            # Another thread may commit meanwhile: both indexes shall reflect one state.
            with _plain_build_errors(self._folder), self._truth.snapshot():
                generation = self._truth.read_head().generation
                lexical = self.lexical.sync()
                dense = self._open_dense()
                births = [lexical.birth] if dense is None else [lexical.birth, dense.sync().birth]
            if self._locked:
                self._forget_removed(min(births))
            self._current = generation

    def rebuild(self) -> None:
        """Make all files anew."""
        with self._mutex, self._lock(WAIT_SECONDS), _plain_build_errors(self._folder):
            self._current = -1
            with self._truth.snapshot():
                self.lexical.rebuild()
                dense = self._open_dense()
                if dense is not None:
                    dense.rebuild()

    def close(self) -> None:
        """Release what the indexes hold; safe to call twice."""
        if self.dense is not None:
            self.dense.close()

    def _open_dense(self) -> VectorIndex | None:
        dimension = int(read_meta(self._truth.db, "dimension"))
        if self.dense is None and dimension:
            self.dense = self._make_dense(self._truth, dimension)
        return self.dense

    def _sync_or_load(self) -> None:
        """Mend the files if nobody is writing; else take what the writer has, waiting for it."""
        end = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                with self._lock(0):
                    return self.sync()
            except LockedError:
                if self._load():
                    return None
            except OSError:
                return self._load_unwritable()
            if time.monotonic() > end:
                raise LockedError(
                    f"the index at {self._folder} is being made anew by another process",
                    fix="try again in a moment",
                )
            time.sleep(0.02)

    def _load(self) -> bool:
        """Load the files as they are; return whether they are of use."""
        with self._truth.snapshot():
            head = self._truth.read_head()
            usable = self.lexical.reload()
            dense = self._open_dense()
            if dense is not None:
                dense.reload()
        self._current = head.generation if self.lexical.generation == head.generation else -1
        return usable or head.last_key == 0

    def _load_unwritable(self) -> None:
        """Hold in memory what a folder that cannot be written to lacks."""
        with self._truth.snapshot():
            head = self._truth.read_head()
            if not self.lexical.reload() or self.lexical.generation != head.generation:
                self.lexical.build_in_memory()
            dense = self._open_dense()
            if dense is not None:
                dense.reload()
            self._current = head.generation

    def _forget_removed(self, generation: int) -> None:
        """Drop the record of removals that both indexes have heeded."""
        db = self._truth.db
        if db.execute("SELECT 1 FROM removed WHERE generation <= ?", (generation,)).fetchone():
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM removed WHERE generation <= ?", (generation,))
            set_meta(db, "log_start", generation)
            db.execute("COMMIT")

    @contextlib.contextmanager
    def _lock(self, timeout: float) -> Iterator[None]:
        if self._locked:
            yield
            return
        lock = take_lock(self._folder, timeout)
        try:
            yield
        finally:
            lock.release()


@contextlib.contextmanager
def _plain_build_errors(folder: Path) -> Iterator[None]:
    """Say in one line that files could not be written (tantivy reports a full disk as any error).

    An OSError goes through: it tells a reader that it may not write here.
    """
    try:
        yield
    except BaseException as error:
        if not is_damage(error) or isinstance(error, CitespanError | sqlite3.Error | OSError):
            raise
        raise StoreError(
            f"the search files at {folder} could not be made: {error}",
            fix="see that the disk has room and the folder may be written to",
        ) from error
