"""Candidates by faiss: a bit a dimension, scanned fast, to be scored exactly afterwards.

Fast scan refuses id selectors (faiss), so filtered searches never come here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

INVERTED_FROM = 400_000
"""Rows from which the vectors are put into lists, of which a search visits some."""
SAMPLE = 100_000
STEP = 65_536
PROBES = 64


def candidates(k: int) -> int:
    """Return how many rows to fetch for k good ones.

    >>> candidates(10), candidates(100)
    (400, 2000)
    """
    return max(400, 20 * k)


def build(rows: NDArray[np.float32], path: Path, *, inverted_from: int = INVERTED_FROM) -> None:
    """Train on a sample, add all rows a block at a time, and write the file.

    ``rows`` are ``[n, d]`` of norm 1; their numbers are the ids.
    """
    import faiss

    count, dimension = rows.shape
    lists = 1024 if count < 4_000_000 else 4096
    recipe = (
        f"IVF{min(lists, max(1, count // 64))},RaBitQfs" if count >= inverted_from else "RaBitQfs"
    )
    index = faiss.index_factory(dimension, recipe, faiss.METRIC_INNER_PRODUCT)
    sample = rows
    if count > SAMPLE:
        chosen = np.random.default_rng(0).choice(count, SAMPLE, replace=False)
        sample = rows[np.sort(chosen)]
    index.train(np.ascontiguousarray(sample))
    for start in range(0, count, STEP):
        index.add(np.ascontiguousarray(rows[start : start + STEP]))
    partial = path.with_name(path.name + ".part")
    faiss.write_index(index, str(partial))
    partial.replace(path)


def load(path: Path) -> Any:
    """Read an index file; raises RuntimeError where it is damaged."""
    import faiss

    index: Any = faiss.read_index(str(path))
    if hasattr(index, "nprobe"):
        index.nprobe = min(PROBES, index.nlist)
    return index


def search(index: Any, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return up to ``count`` row numbers that are probably near the query, in no useful order."""
    _, found = index.search(query[None, :], count)
    rows: NDArray[np.int64] = found[0]
    return rows[rows >= 0]
