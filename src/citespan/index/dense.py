"""The dense index: cosine, exact while the collection is small, by faiss candidates above that.

On disk stand the vectors as one matrix that is only ever appended to and read by memory map, and
for large collections a faiss index of a bit a dimension (RaBitQ, Gao & Long 2024). Whatever way
candidates were found, their scores are computed anew from the stored vectors in float64, so that
one vector has one score.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from citespan.index import quantised
from citespan.index.truth import (
    MARK_NAME,
    Head,
    KeyRanges,
    Mark,
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
MARGIN = 1e-5
"""float32 sums of one vector in two places of a matrix differ by less than this."""

Ranges = Sequence[tuple[int, int]]
"""Ranges of keys, (first, last), sorted and apart."""


@dataclass(frozen=True, slots=True)
class _State:
    mark: Mark | None
    keys: NDArray[np.int64]
    """All keys in ascending order: the file's, then the tail's."""
    base: NDArray[np.float32]
    tail: NDArray[np.float32]
    """Vectors newer than the files, which a reader beside a writer holds in memory."""
    dead: NDArray[np.bool_]
    faiss: Any
    faiss_rows: int


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
        rows = mark.numbers["rows"]
        width = 4 * self._dimension
        with (
            _open_at(self._folder / f"{mark.name}.f32", rows * width) as vectors,
            _open_at(self._folder / f"{mark.name}.i64", rows * 8) as names,
        ):
            for keys, matrix in self._truth.iter_vectors(mark.last_key):
                names.write(np.ascontiguousarray(keys, dtype="<i8").tobytes())
                vectors.write(np.ascontiguousarray(matrix, dtype="<f4").tobytes())
                rows += len(keys)
            for file in (vectors, names):
                file.flush()
                os.fsync(file.fileno())
        sizes = dict(mark.sizes)
        sizes[f"{mark.name}.f32"] = rows * width
        sizes[f"{mark.name}.i64"] = rows * 8
        return Mark(
            mark.identity,
            mark.recipe,
            mark.name,
            mark.birth,
            head.generation,
            head.last_key,
            sizes,
            {**mark.numbers, "rows": rows},
        )

    def _keep_faiss(self, mark: Mark) -> Mark:
        """Make the faiss index when the rows that it lacks are worth it.

        They are when they outgrow both the exact limit and an eighth of what it holds, so that
        growing by single documents costs a constant number of rebuilds a doubling.
        """
        rows, covered = mark.numbers["rows"], mark.numbers["faiss_rows"]
        if rows - covered <= max(self._exact_limit, covered // 8):
            return mark
        name = f"{mark.name}.{rows}.faiss"
        base = self._map(mark)[1]
        quantised.build(base, self._folder / name)
        old = f"{mark.name}.{covered}.faiss"
        sizes = {file: size for file, size in mark.sizes.items() if file != old}
        sizes[name] = (self._folder / name).stat().st_size
        fresh = Mark(
            mark.identity,
            mark.recipe,
            mark.name,
            mark.birth,
            mark.generation,
            mark.last_key,
            sizes,
            {**mark.numbers, "faiss_rows": rows},
        )
        write_mark(self._folder, fresh)
        remove_others(self._folder, {MARK_NAME, *sizes})
        return fresh

    def _map(self, mark: Mark) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        rows = mark.numbers["rows"]
        if not rows:
            return np.zeros(0, np.int64), np.zeros((0, self._dimension), np.float32)
        keys = np.fromfile(self._folder / f"{mark.name}.i64", dtype="<i8", count=rows)
        base = np.memmap(
            self._folder / f"{mark.name}.f32", dtype="<f4", mode="r", shape=(rows, self._dimension)
        )
        return keys, base.view(np.ndarray)

    def _load(self, mark: Mark | None) -> None:
        old = self._state
        if mark is None:
            keys, base = np.zeros(0, np.int64), np.zeros((0, self._dimension), np.float32)
            index, covered = None, 0
        elif old is not None and old.mark == mark:
            keys, base = old.keys[: len(old.base)], old.base
            index, covered = old.faiss, old.faiss_rows
        else:
            keys, base = self._map(mark)
            covered = mark.numbers["faiss_rows"]
            index = None
            if covered:
                same = old is not None and old.mark is not None and old.faiss_rows == covered
                if same and old is not None and old.mark is not None and old.mark.name == mark.name:
                    index = old.faiss
                else:
                    index = quantised.load(self._folder / f"{mark.name}.{covered}.faiss")
        newer = list(self._truth.iter_vectors(mark.last_key if mark else 0))
        tail = np.concatenate([m for _, m in newer]) if newer else base[:0]
        keys = np.concatenate([keys, *(k for k, _ in newer)])
        dead = KeyRanges(self._truth.list_removed(mark.birth if mark else 0)).holds(keys)
        self._state = _State(mark, keys, base, tail, dead, index, covered)

    def close(self) -> None:
        """Let go of the files; safe to call twice."""
        self._state = None

    def find_problems(self) -> list[str]:
        """Compare what is searched with the truth, row by row; return what differs, in words."""
        with self._lock:
            state = self._state
            if state is None:
                return ["the dense index is not loaded"]
            alive = np.flatnonzero(~state.dead)
            at = 0
            for keys, matrix in self._truth.iter_vectors(0):
                mine = alive[at : at + len(keys)]
                at += len(keys)
                if not (
                    np.array_equal(state.keys[mine], keys)
                    and np.array_equal(_take(state, mine), matrix)
                ):
                    return [f"the dense index differs from the database near chunk {keys[0]}"]
            return [] if at == len(alive) else [f"the dense index holds {len(alive)} rows of {at}"]

    # ------------------------------------------------------------------ searching

    def search(
        self, vector: NDArray[np.float32], k: int, within: Ranges | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, cosine), best first, ties by key; a zero vector finds nothing."""
        state = self._state
        if state is None or k < 1 or not len(state.keys) or not np.any(vector):
            return []
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if within is not None:
            rows = _rows_within(state.keys, within)
            rows = rows[~state.dead[rows]]
            # A row picked out costs as much as four or five read one after the other.
            many = 5 * len(rows) > len(state.keys)
            scores = _score_from(state, query, 0)[rows] if many else _score(state, query, rows)
            return _best(state, query, _shortlist(scores, rows, k), k)
        alive = len(state.keys) - int(state.dead.sum())
        if state.faiss is not None and 4 * k < alive:
            scores = _score_from(state, query, state.faiss_rows)
            rest = np.flatnonzero(~state.dead[state.faiss_rows :])
            rest = _shortlist(scores[rest], rest + state.faiss_rows, k)
            wanted = quantised.candidates(k)
            while wanted < state.faiss_rows:
                found = quantised.search(state.faiss, query, wanted)
                found = found[~state.dead[found]]
                if len(found) >= min(k, alive):
                    found = _shortlist(_score(state, query, found), found, k)
                    return _best(state, query, np.concatenate([found, rest]), k)
                wanted *= 4
        rows = np.flatnonzero(~state.dead)
        return _best(state, query, _shortlist(_score_from(state, query, 0)[rows], rows, k), k)


def _rows_within(keys: NDArray[np.int64], within: Ranges) -> NDArray[np.int64]:
    """Return the rows whose keys lie in one of the ranges, in order."""
    if not within:
        return np.zeros(0, np.int64)
    bounds = np.asarray(within, dtype=np.int64)
    first = np.searchsorted(keys, bounds[:, 0], side="left")
    last = np.searchsorted(keys, bounds[:, 1], side="right")
    pieces = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b > a]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)


def _take(state: _State, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    split = len(state.base)
    if not len(state.tail):
        return state.base[rows]
    matrix = np.empty((len(rows), state.base.shape[1]), np.float32)
    old = rows < split
    matrix[old] = state.base[rows[old]]
    matrix[~old] = state.tail[rows[~old] - split]
    return matrix


def _products(matrix: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``matrix @ query`` in one thread.

    Reading the matrix is what takes the time, so BLAS threads gain little on an idle machine, and
    on a busy one they wait for each other: 13 ms instead of 2 for 5,000 rows of 384.
    """
    products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, query)
    return products


def _score_from(state: _State, query: NDArray[np.float32], first: int) -> NDArray[np.float32]:
    """Return the products of all rows from ``first`` on, which lies in the files."""
    return np.concatenate([_products(state.base[first:], query), _products(state.tail, query)])


def _score(
    state: _State, query: NDArray[np.float32], rows: NDArray[np.int64], step: int = 16_384
) -> NDArray[np.float32]:
    """Return the products of some rows, a block at a time so that memory stays flat."""
    starts = range(0, len(rows), step)
    blocks = [_products(_take(state, rows[i : i + step]), query) for i in starts]
    return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)


def _shortlist(scores: NDArray[np.float32], rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows that may be among the best k once scores are computed exactly."""
    if len(rows) <= k:
        return rows
    limit = np.partition(scores, len(scores) - k)[len(scores) - k] - MARGIN
    kept: NDArray[np.int64] = rows[scores >= limit]
    return kept


def _best(
    state: _State, query: NDArray[np.float32], rows: NDArray[np.int64], k: int
) -> list[tuple[int, float]]:
    """Score rows in float64, each by itself, and order them."""
    wide = query.astype(np.float64)
    scores = (_take(state, rows) * wide).sum(axis=1)
    keys = state.keys[rows]
    order = np.lexsort((keys, -scores))[:k]
    return [(int(keys[i]), float(scores[i])) for i in order]


def _open_at(path: Path, position: int) -> BinaryIO:
    """Open for writing at a position; what an interrupted run left above it is cut off."""
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(position)
    file.seek(position)
    return file
