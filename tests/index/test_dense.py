"""The dense index by itself: exact, by faiss, filtered, growing, and beside a writer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from citespan.index import quantised
from citespan.index.dense import DenseIndex
from citespan.index.dense_search import rows_within
from citespan.index.truth import ChunkText, Head, KeyRanges, free_name, read_mark, write_mark


class FakeTruth:
    """A truth in memory: keys to vectors, removals by generation."""

    identity = "fake"

    def __init__(self) -> None:
        self.generation = 0
        self.last_key = 0
        self.rows: dict[int, NDArray[np.float32]] = {}
        self.removed: list[tuple[int, int, int]] = []

    def add(self, matrix: NDArray[np.float32]) -> list[int]:
        keys = list(range(self.last_key + 1, self.last_key + 1 + len(matrix)))
        self.rows.update(zip(keys, matrix, strict=True))
        self.last_key += len(matrix)
        self.generation += 1
        return keys

    def remove(self, first: int, last: int) -> None:
        self.generation += 1
        self.removed.append((self.generation, first, last))
        for key in range(first, last + 1):
            self.rows.pop(key, None)

    def read_head(self) -> Head:
        return Head(self.generation, self.last_key, 0)

    def list_removed(self, after: int) -> list[tuple[int, int]]:
        return [(first, last) for generation, first, last in self.removed if generation > after]

    def iter_texts(self, after: int) -> Iterator[list[ChunkText]]:
        yield [ChunkText(key, 1, "", f"w{key}") for key in sorted(self.rows) if key > after]

    def iter_vectors(self, after: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        keys = [key for key in sorted(self.rows) if key > after]
        for i in range(0, len(keys), 700):
            part = keys[i : i + 700]
            yield np.array(part, np.int64), np.stack([self.rows[key] for key in part])


def clustered(count: int, dimension: int, seed: int, noise: float = 0.7) -> NDArray[np.float32]:
    """Return points around 50 centres, as texts of one subject are."""
    centres = np.random.default_rng(1).normal(size=(50, dimension))
    rng = np.random.default_rng(seed)
    points = centres[rng.integers(0, 50, count)] + rng.normal(size=(count, dimension)) * noise
    points = points.astype(np.float32)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def exact(truth: FakeTruth, query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    scores = [(k_, float(v.astype(float) @ query.astype(float))) for k_, v in truth.rows.items()]
    return sorted(scores, key=lambda hit: (-hit[1], hit[0]))[:k]


def recall(index: DenseIndex, truth: FakeTruth, queries: NDArray[np.float32], k: int = 10) -> float:
    shared = 0
    for query in queries:
        wanted = exact(truth, query, k)
        hits = index.search(query, k)
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        scores = dict(wanted)
        for key, score in hits:
            assert score == pytest.approx(scores.get(key, score), abs=1e-6)
        shared += len({key for key, _ in wanted} & {key for key, _ in hits})
    return shared / (k * len(queries))


@pytest.mark.parametrize("inverted", [False, True], ids=["flat", "lists"])
def test_faiss_finds_nearly_all_of_the_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inverted: bool
) -> None:
    if inverted:
        monkeypatch.setattr(quantised.build, "__kwdefaults__", {"inverted_from": 1000})
    truth = FakeTruth()
    truth.add(clustered(6000, 64, seed=2))
    index = DenseIndex(tmp_path / "d", truth, 64, exact_limit=1000)
    mark = index.sync()
    assert mark.numbers["faiss_rows"] == 6000
    queries = clustered(40, 64, seed=3)
    assert recall(index, truth, queries) >= 0.95
    # The tail that faiss lacks, and what was removed since, count too.
    truth.add(clustered(500, 64, seed=4))
    truth.remove(1, 900)
    mark = index.sync()
    assert mark.numbers["faiss_rows"] == 6000
    assert recall(index, truth, queries) >= 0.95
    # k beyond what quantised candidates are for
    assert len(index.search(queries[0], 10_000)) == len(truth.rows)


def test_exact_search_is_exact(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(clustered(3000, 32, seed=2))
    index = DenseIndex(tmp_path / "d", truth, 32)
    index.sync()
    assert recall(index, truth, clustered(20, 32, seed=3)) == 1.0


def test_equal_vectors_have_equal_scores_wherever_they_stand(tmp_path: Path) -> None:
    truth = FakeTruth()
    row = clustered(1, 48, seed=9)
    for i in range(7):
        truth.add(clustered(101 + i, 48, seed=i))
        truth.add(row)
    index = DenseIndex(tmp_path / "d", truth, 48)
    index.sync()
    truth.add(row)
    index.reload()  # one more, in the tail
    hits = index.search(row[0], 8)
    assert len({score for _, score in hits}) == 1
    assert [key for key, _ in hits] == sorted(key for key, _ in hits)


def test_growing_by_single_rows_rewrites_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    truth = FakeTruth()
    truth.add(clustered(2000, 16, seed=1))
    index = DenseIndex(folder, truth, 16, exact_limit=500)
    first = index.sync()
    made = {path.name: path.stat().st_ino for path in folder.iterdir() if "mark" not in path.name}
    for i in range(20):
        truth.add(clustered(1, 16, seed=100 + i))
        index.sync()
    after = {path.name: path.stat().st_ino for path in folder.iterdir() if "mark" not in path.name}
    assert after == made
    assert (folder / f"{first.name}.f32").stat().st_size == 2020 * 16 * 4


def test_faiss_is_made_anew_a_constant_number_of_times_a_doubling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []
    real = quantised.build

    def count(rows: NDArray[np.float32], path: Path) -> None:
        built.append(len(rows))
        real(rows, path)

    monkeypatch.setattr(quantised, "build", count)
    truth = FakeTruth()
    index = DenseIndex(tmp_path / "d", truth, 16, exact_limit=100)
    for i in range(64):
        truth.add(clustered(50, 16, seed=i))
        index.sync()
    assert built[0] == 150
    assert len(built) < 25
    assert all(b >= a * 1.12 for a, b in itertools.pairwise(built) if a > 900)


def test_dead_rows_are_dropped_before_they_are_many(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(clustered(400, 16, seed=1))
    index = DenseIndex(tmp_path / "d", truth, 16)
    name = index.sync().name
    truth.remove(1, 90)
    mark = index.sync()
    assert (mark.name, mark.numbers["rows"]) == (name, 400)
    truth.remove(91, 150)
    mark = index.sync()
    assert (mark.name != name, mark.numbers["rows"]) == (True, 250)
    assert len(index.search(clustered(1, 16, seed=5)[0], 1000)) == 250
    assert index.find_problems() == []


def test_a_filtered_search_scores_the_subset_exactly(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(clustered(3000, 32, seed=1))
    index = DenseIndex(tmp_path / "d", truth, 32, exact_limit=200)
    index.sync()
    truth.add(clustered(50, 32, seed=2))
    index.reload()
    query = clustered(1, 32, seed=3)[0]
    within = [(5, 9), (100, 1400), (2990, 3010), (9000, 9999)]
    allowed = {key for first, last in within for key in range(first, last + 1)}
    expected = [hit for hit in exact(truth, query, 5000) if hit[0] in allowed]
    hits = index.search(query, 5000, within)
    assert [key for key, _ in hits] == [key for key, _ in expected]
    assert index.search(query, 3, within) == hits[:3]
    assert index.search(query, 3, []) == []


def test_an_interrupted_append_is_cut_off(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    truth = FakeTruth()
    truth.add(clustered(20, 8, seed=1))
    DenseIndex(folder, truth, 8).sync()
    for path in (*folder.glob("*.f32"), *folder.glob("*.i64")):
        with path.open("ab") as file:
            file.write(b"half a row")
    truth.add(clustered(3, 8, seed=2))
    index = DenseIndex(folder, truth, 8)
    index.sync()
    assert index.find_problems() == []
    assert len(index.search(clustered(1, 8, seed=5)[0], 100)) == 23


def test_rows_within_ranges() -> None:
    keys = np.array([2, 3, 7, 8, 20], np.int64)
    assert rows_within(keys, [(1, 2), (4, 6), (8, 30)]).tolist() == [0, 3, 4]


def test_ranges_of_keys() -> None:
    assert KeyRanges([]).holds(np.array([1])).tolist() == [False]
    assert KeyRanges([(5, 6), (1, 2)]).holds(np.array([0, 1, 2, 3, 5, 7])).tolist() == [
        False, True, True, False, True, False,
    ]  # fmt: skip


def test_marks_come_back_or_are_none(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(clustered(3, 8, seed=1))
    mark = DenseIndex(tmp_path / "d", truth, 8).sync()
    assert read_mark(tmp_path / "d") == mark
    write_mark(tmp_path, mark)
    assert read_mark(tmp_path) == mark
    text = (tmp_path / "mark.json").read_text()
    for bad in (
        "",
        "[]",
        "{}",
        text.replace('"rows-0001"', '"../x"'),
        text.replace(": 3", ': "3"'),
    ):
        (tmp_path / "mark.json").write_text(bad)
        assert read_mark(tmp_path) is None
    assert free_name(tmp_path / "d", "rows") == "rows-0002"
    assert free_name(tmp_path / "absent", "rows") == "rows-0001"
