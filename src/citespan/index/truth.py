"""What a derived index is derived from, and the mark that says which state of it one reflects."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

MARK_NAME = "mark.json"

Ranges = Sequence[tuple[int, int]]
"""Ranges of keys, (first, last), sorted and apart."""


class Head(NamedTuple):
    """The newest committed state.

    Its generation, the last chunk key given out, and the generation after which removals are
    still on record.
    """

    generation: int
    last_key: int
    log_start: int


class ChunkText(NamedTuple):
    """What the lexical index needs of a chunk; ``document`` is the document's integer key."""

    key: int
    document: int
    language: str
    text: str


class Truth(Protocol):
    """The rows that the indexes are made of.

    Keys only grow and are never used twice, so what an index lacks are the keys above its last
    one, and what it must forget are the ranges of keys that were removed since.
    """

    @property
    def identity(self) -> str:
        """Name of one store; an index made from another one is worthless here."""
        ...

    def read_head(self) -> Head:
        """Return the newest committed state."""
        ...

    def list_removed(self, after: int) -> list[tuple[int, int]]:
        """Return the ranges (first key, last key) removed in generations above ``after``."""
        ...

    def iter_texts(self, after: int) -> Iterator[list[ChunkText]]:
        """Yield the chunks with keys above ``after`` in batches, by key."""
        ...

    def iter_vectors(self, after: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield keys ``[n]`` and vectors ``[n, dimension]`` above ``after``, by key."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """Which state an index on disk reflects.

    ``recipe`` names all that decides its content beside the rows (format, library, analyser);
    ``name`` is the stem of its files; ``birth`` the generation whose removals, and all before,
    are no longer in them (later ones it must be told); ``sizes`` are the bytes of each file, to
    notice one cut short.
    """

    identity: str
    recipe: str
    name: str
    birth: int
    generation: int
    last_key: int
    sizes: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)


def read_mark(folder: Path) -> Mark | None:
    """Return the mark of an index folder, or None where there is none that can be read."""
    try:
        raw: Any = json.loads((folder / MARK_NAME).read_text(encoding="utf-8"))
        mark = Mark(**raw)
    except (OSError, ValueError, TypeError):
        return None
    whole = (mark.birth, mark.generation, mark.last_key, *mark.sizes.values())
    if not all(isinstance(value, int) for value in (*whole, *mark.numbers.values())):
        return None
    return mark if mark.name and Path(mark.name).name == mark.name else None


def write_mark(folder: Path, mark: Mark) -> None:
    """Write the mark so that after a crash either the old or the new one stands, whole."""
    partial = folder / (MARK_NAME + ".part")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(asdict(mark), file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / MARK_NAME)


def has_sizes(folder: Path, sizes: dict[str, int]) -> bool:
    """Whether every file is there with at least the bytes that were recorded."""
    try:
        return all((folder / name).stat().st_size >= size for name, size in sizes.items())
    except OSError:
        return False


def is_usable(mark: Mark | None, identity: str, recipe: str, head: Head) -> bool:
    """Whether an index can be brought up to ``head`` by adding and removing, not a rebuild."""
    return (
        mark is not None
        and mark.identity == identity
        and mark.recipe == recipe
        and head.log_start <= mark.birth <= mark.generation <= head.generation
        and mark.last_key <= head.last_key
    )


def free_name(folder: Path, stem: str) -> str:
    """Return a name that nothing in the folder begins with.

    Readers of an older state keep their files while a new one is made.
    """
    taken = {path.name.split(".")[0] for path in folder.iterdir()} if folder.is_dir() else set()
    number = 1
    while f"{stem}-{number:04d}" in taken:
        number += 1
    return f"{stem}-{number:04d}"


def remove_others(folder: Path, keep: set[str]) -> None:
    """Remove leftovers of older states; what is still in use elsewhere is left for next time."""
    import shutil

    for path in folder.iterdir():
        if path.name in keep:
            continue
        with contextlib.suppress(OSError):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def is_damage(error: BaseException) -> bool:
    """Whether an error may come of broken files, which a rebuild mends.

    A full or read-only disk is no such thing. Tantivy's assertions arrive as a PanicException,
    which is no Exception but has nothing in common with Ctrl-C either.
    """
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EROFS, errno.EACCES):
        return False
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


class KeyRanges:
    """Ranges of keys (first, last) that lie apart, asked which keys they hold.

    >>> import numpy as np
    >>> KeyRanges([(3, 5), (9, 9)]).holds(np.array([2, 3, 5, 6, 9])).tolist()
    [False, True, True, False, True]
    """

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(ranges)
        self.first = np.array([first for first, _ in ordered], dtype=np.int64)
        self.last = np.array([last for _, last in ordered], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.first)

    def size(self) -> int:
        """Return the number of keys in all ranges.

        >>> KeyRanges([(3, 5), (9, 9)]).size()
        4
        """
        return int((self.last - self.first + 1).sum())

    def holds(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each key whether one of the ranges holds it."""
        if not len(self.first):
            return np.zeros(len(keys), dtype=np.bool_)
        at = np.searchsorted(self.first, keys, side="right") - 1
        return (at >= 0) & (keys <= self.last[np.maximum(at, 0)])
