"""The dense index: cosine, exact while the collection is small, by faiss candidates above that.

On disk stand the vectors as one matrix that is only ever appended to and read by memory map, and
for large collections a faiss index of a bit a dimension (RaBitQ, Gao & Long 2024). Here is when
they are brought up to the truth and loaded; ``dense_files`` writes them, ``dense_search`` scores.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citespan.index import quantised
from citespan.index.dense_files import append_rows, faiss_path, keep_faiss, map_rows
from citespan.index.dense_search import Rows, search_rows, take_rows
from citespan.index.truth import (
    MARK_NAME,
    Head,
    KeyRanges,
    Mark,
    Ranges,
    Truth,
    free_name,
    has_sizes,
    is_damage,
    is_usable,
    read_mark,
    remove_others,
    write_mark,
)

FORMAT = 1
DEAD_SHARE = 0.25
EXACT_LIMIT = 10_000
"""Rows scored exactly without faiss; docs/index.md has the measurement."""


class _State(NamedTuple):
    """What is loaded: the mark of the files, None where they are of no use, and the rows."""

    mark: Mark | None
    rows: Rows


class DenseIndex:
    """The matrix under ``folder``, brought up to the truth by ``sync``."""

    def __init__(
        self, folder: Path, truth: Truth, dimension: int, *, exact_limit: int = EXACT_LIMIT
    ) -> None:
        self._folder = folder
        self._truth = truth
        self._dimension = dimension
        self._recipe = f"dense {FORMAT}, dimension {dimension}"
        self._exact_limit = exact_limit
        self._lock = threading.RLock()
        self._state: _State | None = None

    # ------------------------------------------------------------------ keeping up

    def needs_sync(self, head: Head) -> bool:
        """Whether the files are behind the truth, or broken."""
        mark = read_mark(self._folder)
        return (
            mark is None
            or not is_usable(mark, self._truth.identity, self._recipe, head)
            or not has_sizes(self._folder, mark.sizes)
            or mark.generation != head.generation
        )

    def sync(self) -> Mark:
        """Bring the files up to the newest commit. Only the process that holds the lock may."""
        with self._lock:
            head = self._truth.read_head()
            mark = read_mark(self._folder)
            if (
                mark is None
                or not is_usable(mark, self._truth.identity, self._recipe, head)
                or not has_sizes(self._folder, mark.sizes)
                or self._count_dead(mark) > DEAD_SHARE * max(1, mark.numbers["rows"])
            ):
                return self.rebuild()
            try:
                if mark.generation != head.generation:
                    mark = self._append(mark, head)
                    write_mark(self._folder, mark)
                mark = self._keep_faiss(mark)
                self._load(mark)
            except Exception as error:
                if not is_damage(error):
                    raise
                return self.rebuild()
            return mark

    def rebuild(self) -> Mark:
        """Make the files anew from the truth, without the rows of removed chunks."""
        with self._lock:
            self._state = None
            head = self._truth.read_head()
            self._folder.mkdir(parents=True, exist_ok=True)
            name = free_name(self._folder, "rows")
            empty = {"rows": 0, "faiss_rows": 0}
            mark = Mark(
                self._truth.identity,
                self._recipe,
                name,
                head.generation,
                head.generation,
                0,
                {},
                empty,
            )
            mark = self._append(mark, head)
            write_mark(self._folder, mark)
            mark = self._keep_faiss(mark)
            self._load(mark)
            keep = {MARK_NAME, *mark.sizes}
            remove_others(self._folder, keep)
            return mark

    def reload(self) -> bool:
        """Load what is on disk, and what is newer from the truth into memory.

        Where the files are of no use, memory holds everything; the result says whether they were.
        """
        with self._lock:
            head = self._truth.read_head()
            mark = read_mark(self._folder)
            if (
                mark is not None
                and is_usable(mark, self._truth.identity, self._recipe, head)
                and has_sizes(self._folder, mark.sizes)
            ):
                try:
                    self._load(mark)
                    return True
                except Exception as error:
                    if not is_damage(error):
                        raise
            self._load(None)
            return False

    def _count_dead(self, mark: Mark) -> int:
        removed = self._truth.list_removed(mark.birth)
        return sum(last - first + 1 for first, last in removed if first <= mark.last_key)

    def _append(self, mark: Mark, head: Head) -> Mark:
        batches = self._truth.iter_vectors(mark.last_key)
        return append_rows(self._folder, mark, head, batches, self._dimension)

    def _keep_faiss(self, mark: Mark) -> Mark:
        return keep_faiss(self._folder, mark, self._dimension, self._exact_limit)

    def _load(self, mark: Mark | None) -> None:
        old = self._state
        if mark is None:
            keys, base = np.zeros(0, np.int64), np.zeros((0, self._dimension), np.float32)
            index, covered = None, 0
        elif old is not None and old.mark == mark:
            keys, base = old.rows.keys[: len(old.rows.base)], old.rows.base
            index, covered = old.rows.faiss, old.rows.faiss_rows
        else:
            keys, base = map_rows(self._folder, mark, self._dimension)
            covered = mark.numbers["faiss_rows"]
            index = self._load_faiss(mark.name, covered) if covered else None
        newer = list(self._truth.iter_vectors(mark.last_key if mark else 0))
        tail = np.concatenate([m for _, m in newer]) if newer else base[:0]
        keys = np.concatenate([keys, *(k for k, _ in newer)])
        dead = KeyRanges(self._truth.list_removed(mark.birth if mark else 0)).holds(keys)
        self._state = _State(mark, Rows(keys, base, tail, dead, index, covered))

    def _load_faiss(self, name: str, covered: int) -> Any:
        """Read a faiss index, or take the one at hand where it is the same file's."""
        match self._state:
            case _State(mark=Mark(name=at_hand), rows=rows):
                if at_hand == name and rows.faiss_rows == covered:
                    return rows.faiss
        return quantised.load(faiss_path(self._folder, name, covered))

    def close(self) -> None:
        """Let go of the files; safe to call twice."""
        self._state = None

    def find_problems(self) -> list[str]:
        """Compare what is searched with the truth, row by row; return what differs, in words."""
        with self._lock:
            if self._state is None:
                return ["the dense index is not loaded"]
            rows = self._state.rows
            alive = np.flatnonzero(~rows.dead)
            at = 0
            for keys, matrix in self._truth.iter_vectors(0):
                mine = alive[at : at + len(keys)]
                at += len(keys)
                if not (
                    np.array_equal(rows.keys[mine], keys)
                    and np.array_equal(take_rows(rows, mine), matrix)
                ):
                    return [f"the dense index differs from the database near chunk {keys[0]}"]
            return [] if at == len(alive) else [f"the dense index holds {len(alive)} rows of {at}"]

    # ------------------------------------------------------------------ searching

    def search(
        self, vector: NDArray[np.float32], k: int, within: Ranges | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, cosine), best first, ties by key; a zero vector finds nothing."""
        state = self._state
        return [] if state is None else search_rows(state.rows, vector, k, within)
