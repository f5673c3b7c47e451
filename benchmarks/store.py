"""Measure the embedded store: building, opening, searching, adding to and filtering an index.

Run: ``python benchmarks/store.py [--chunks 100000] [--dimension 384] [--folder DIR]``. The text is
random words with Zipf's frequencies, ten chunks a document; the vectors are random points around
random centres. Prints a Markdown table, which stands in docs/index.md.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import Filter
from citespan.stores import SqliteStore, open_store
from citespan.types import Chunk, Document, Span

PER_DOCUMENT = 10
WORDS = 100
VOCABULARY = 50_000
CENTRES = 500


def make_words(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(rng.choice(letters, size=rng.integers(3, 10))) for _ in range(VOCABULARY)]


def make_points(
    rng: np.random.Generator, centres: NDArray[np.float32], n: int
) -> NDArray[np.float32]:
    points = centres[rng.integers(0, len(centres), n)]
    points = points + rng.normal(size=points.shape).astype(np.float32) * 0.7
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def make_documents(
    chunks: int, dimension: int, seed: int = 0
) -> Iterator[tuple[Document, list[Chunk], NDArray[np.float32]]]:
    rng = np.random.default_rng(seed)
    words = make_words(np.random.default_rng(7))
    centres = make_centres(dimension)
    share = 1 / np.arange(1, VOCABULARY + 1)
    edges = np.cumsum(share / share.sum())
    for number in range(chunks // PER_DOCUMENT):
        picks = np.searchsorted(edges, rng.random((PER_DOCUMENT, WORDS)))
        parts = [" ".join(words[i] for i in row.clip(max=VOCABULARY - 1)) for row in picks]
        name = f"folder{number % 20}/{seed}-{number}.txt"
        cut, at = [], 0
        for order, part in enumerate(parts):
            cut.append(Chunk(name, order, (Span(at, at + len(part)),), part))
            at += len(part) + 1
        document = Document(name, name, "\n".join(parts), language="en")
        yield document, cut, make_points(rng, centres, PER_DOCUMENT)


def make_centres(dimension: int) -> NDArray[np.float32]:
    return np.random.default_rng(8).normal(size=(CENTRES, dimension)).astype(np.float32)


def median_ms(call: Callable[[int], object], times: int) -> float:
    call(0)
    spent = []
    for i in range(times):
        begin = time.perf_counter()
        call(i)
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent) * 1e3


def build(folder: str, chunks: int, dimension: int) -> None:
    """Build in a process of its own, so that its memory is its own."""
    begin = time.perf_counter()
    writing = analysing = 0.0
    with open_store(folder, create_settings={"dimension": dimension}) as store:
        store.write(*next(make_documents(PER_DOCUMENT, dimension, seed=99)))
        for document, cut, vectors in make_documents(chunks, dimension):
            start = time.perf_counter()
            store.write(document, cut, vectors)
            writing += time.perf_counter() - start
        start = time.perf_counter()
        store.flush()
        analysing = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    total = time.perf_counter() - begin
    print(f"{writing:.1f} {analysing:.1f} {total:.1f} {peak:.0f}")


def search(folder: str, dimension: int, times: int = 200) -> dict[str, str]:
    rows: dict[str, str] = {}
    words = make_words(np.random.default_rng(7))
    rng = np.random.default_rng(5)
    questions = [[(words[i],) for i in rng.integers(5, 20_000, size=6)] for _ in range(times)]
    vectors = make_points(rng, make_centres(dimension), times)
    begin = time.perf_counter()
    with open_store(folder, read_only=True) as store:
        rows["open"] = f"{(time.perf_counter() - begin) * 1e3:.0f} ms"
        begin = time.perf_counter()
        store.search_terms(questions[0], 10)
        store.search_vector(vectors[0], 10)
        rows["first search of both kinds"] = f"{(time.perf_counter() - begin) * 1e3:.0f} ms"
        for name, where in (
            ("", None),
            (", 5 % of the documents", Filter(sources=("folder3/*",))),
            (", 50 % of the documents", Filter(sources=tuple(f"folder{i}/*" for i in range(10)))),
        ):
            n = times if where is None else times // 4
            rows[f"lexical{name}"] = ms(
                lambda i, w=where: store.search_terms(questions[i], 10, w), n
            )
            rows[f"dense{name}"] = ms(lambda i, w=where: store.search_vector(vectors[i], 10, w), n)
        rows["lexical, k = 100"] = ms(lambda i: store.search_terms(questions[i], 100), times)
        rows["dense, k = 100"] = ms(lambda i: store.search_vector(vectors[i], 100), times)
        keys = [key for key, _ in store.search_vector(vectors[0], 100)]
        rows["fetch 10 chunks"] = ms(lambda i: store.get_chunks(keys[:10]), times)
        rows["score 100 chunks by terms"] = ms(
            lambda i: store.score_terms(questions[i], keys), times
        )
        rows["explain one chunk"] = ms(lambda i: store.explain_terms(questions[i], keys[0]), 50)
        rows["resolve a filter anew"] = ms(
            lambda i: store.list_documents(Filter(sources=(f"folder3/{i}*",))), 20
        )
        rows["recall@10 of the dense search"] = f"{measure_recall(store, vectors[:50]):.3f}"
    return rows


def ms(call: Callable[[int], object], times: int) -> str:
    return f"{median_ms(call, times):.2f} ms"


def measure_recall(store: SqliteStore, vectors: NDArray[np.float32], k: int = 10) -> float:
    everything = Filter(sources=("**",))
    hits = 0
    for vector in vectors:
        exact = {key for key, _ in store.search_vector(vector, k, everything)}
        hits += len(exact & {key for key, _ in store.search_vector(vector, k)})
    return hits / (k * len(vectors))


def add(folder: str, dimension: int) -> dict[str, str]:
    rows = {}
    with open_store(folder) as store:
        spent = []
        for document, cut, vectors in make_documents(8 * PER_DOCUMENT, dimension, seed=11):
            begin = time.perf_counter()
            store.write(document, cut, vectors)
            store.flush()
            spent.append(time.perf_counter() - begin)
        rows["add one document and flush"] = f"{statistics.median(spent) * 1e3:.0f} ms"
        begin = time.perf_counter()
        store.remove([document.source])
        store.flush()
        rows["remove one document and flush"] = f"{(time.perf_counter() - begin) * 1e3:.0f} ms"
        begin = time.perf_counter()
        store.get_fingerprints()
        rows["all fingerprints"] = f"{(time.perf_counter() - begin) * 1e3:.0f} ms"
        sizes = store.status().bytes
        for part, size in sizes.items():
            rows[f"on disk: {part}"] = f"{size / 1e6:.0f} MB"
        begin = time.perf_counter()
        store._indexes.lexical.rebuild()
        rows["make the lexical index anew"] = f"{time.perf_counter() - begin:.1f} s"
        dense = store._indexes.dense
        assert dense is not None
        begin = time.perf_counter()
        dense.rebuild()
        rows["make the dense index anew"] = f"{time.perf_counter() - begin:.1f} s"
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--folder", help="where to build; a temporary one by default")
    parser.add_argument("--build-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build_only:
        build(options.folder, options.chunks, options.dimension)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or str(Path(temporary) / "index")
        command = [sys.executable, __file__, "--build-only", "--folder", folder]
        command += ["--chunks", str(options.chunks), "--dimension", str(options.dimension)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        rows = {
            "build, all in all": f"{told[2]} s",
            "of it writing (with flushes on the way)": f"{told[0]} s",
            "peak memory while building": f"{told[3]} MB",
        }
        rows |= search(folder, options.dimension)
        rows |= add(folder, options.dimension)
    print(f"| {options.chunks:,} chunks of {WORDS} words, {options.dimension} dimensions | |")
    print("|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
