"""The files of a dense index: a matrix that is only ever appended to, its keys, and faiss's bits.

Each function takes the mark that says what stands in the folder and returns the one that does
afterwards; ``citespan.index.dense`` decides when.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from citespan.index import quantised
from citespan.index.truth import MARK_NAME, Head, Mark, remove_others, write_mark


def append_rows(
    folder: Path,
    mark: Mark,
    head: Head,
    batches: Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]],
    dimension: int,
) -> Mark:
    """Write what the truth holds above the mark's last key; return the mark, not yet written."""
    rows = mark.numbers["rows"]
    width = 4 * dimension
    with (
        _open_at(folder / f"{mark.name}.f32", rows * width) as vectors,
        _open_at(folder / f"{mark.name}.i64", rows * 8) as names,
    ):
        for keys, matrix in batches:
            names.write(np.ascontiguousarray(keys, dtype="<i8").tobytes())
            vectors.write(np.ascontiguousarray(matrix, dtype="<f4").tobytes())
            rows += len(keys)
        for file in (vectors, names):
            file.flush()
            os.fsync(file.fileno())
    sizes = dict(mark.sizes)
    sizes[f"{mark.name}.f32"] = rows * width
    sizes[f"{mark.name}.i64"] = rows * 8
    return replace(
        mark,
        generation=head.generation,
        last_key=head.last_key,
        sizes=sizes,
        numbers={**mark.numbers, "rows": rows},
    )


def map_rows(
    folder: Path, mark: Mark, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the keys ``[n]``, read, and the vectors ``[n, dimension]``, by memory map."""
    rows = mark.numbers["rows"]
    if not rows:
        return np.zeros(0, np.int64), np.zeros((0, dimension), np.float32)
    keys = np.fromfile(folder / f"{mark.name}.i64", dtype="<i8", count=rows)
    base = np.memmap(folder / f"{mark.name}.f32", dtype="<f4", mode="r", shape=(rows, dimension))
    return keys, base.view(np.ndarray)


def keep_faiss(folder: Path, mark: Mark, dimension: int, exact_limit: int) -> Mark:
    """Make the faiss index when the rows that it lacks are worth it; the mark then stands too.

    They are when they outgrow both the exact limit and an eighth of what it holds, so that
    growing by single documents costs a constant number of rebuilds a doubling.
    """
    rows, covered = mark.numbers["rows"], mark.numbers["faiss_rows"]
    if rows - covered <= max(exact_limit, covered // 8):
        return mark
    path = faiss_path(folder, mark.name, rows)
    quantised.build(map_rows(folder, mark, dimension)[1], path)
    old = faiss_path(folder, mark.name, covered).name
    sizes = {file: size for file, size in mark.sizes.items() if file != old}
    sizes[path.name] = path.stat().st_size
    fresh = replace(mark, sizes=sizes, numbers={**mark.numbers, "faiss_rows": rows})
    write_mark(folder, fresh)
    remove_others(folder, {MARK_NAME, *sizes})
    return fresh


def faiss_path(folder: Path, name: str, rows: int) -> Path:
    """Return the file of the faiss index over the first ``rows`` rows.

    >>> faiss_path(Path("dense"), "rows-0001", 20000).name
    'rows-0001.20000.faiss'
    """
    return folder / f"{name}.{rows}.faiss"


def _open_at(path: Path, position: int) -> BinaryIO:
    """Open for writing at a position; what an interrupted run left above it is cut off."""
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(position)
    file.seek(position)
    return file
