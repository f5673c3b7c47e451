"""The lexical index by itself: what is added and removed, ties, and an interrupted commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from citespan.index.lexical import LexicalIndex
from citespan.index.truth import ChunkText, Head, write_mark
from store_parts import bm25_scores


class FakeTruth:
    """A truth in memory: keys to texts, removals by generation."""

    identity = "fake"

    def __init__(self) -> None:
        self.generation = 0
        self.last_key = 0
        self.texts: dict[int, str] = {}
        self.removed: list[tuple[int, int, int]] = []

    def add(self, *texts: str) -> None:
        for text in texts:
            self.last_key += 1
            self.texts[self.last_key] = text
        self.generation += 1

    def remove(self, first: int, last: int) -> None:
        self.generation += 1
        self.removed.append((self.generation, first, last))
        for key in range(first, last + 1):
            self.texts.pop(key, None)

    def read_head(self) -> Head:
        return Head(self.generation, self.last_key, 0)

    def list_removed(self, after: int) -> list[tuple[int, int]]:
        return [(first, last) for generation, first, last in self.removed if generation > after]

    def iter_texts(self, after: int) -> Iterator[list[ChunkText]]:
        yield [ChunkText(k, k // 10, "", t) for k, t in sorted(self.texts.items()) if k > after]

    def iter_vectors(self, after: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        return iter(())


def split(text: str, language: str) -> list[str]:
    return text.split()


def test_catching_up_adds_and_removes(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(*(f"common w{i}" for i in range(20)))
    index = LexicalIndex(tmp_path / "l", truth, split)
    name = index.sync().name
    truth.add("common new")
    truth.remove(1, 2)
    mark = index.sync()
    assert (mark.name, mark.numbers["removed"]) == (name, 2)
    assert {key for key, _ in index.search([["common"]], 100)} == set(range(3, 22))
    assert index.count_alive() == 19
    # Above a quarter removed, the files are made anew, and the statistics are exact again.
    truth.remove(3, 8)
    assert index.sync().name != name
    assert dict(index.search([["common"], ["new"]], 100)) == pytest.approx(
        bm25_scores(truth.texts, [["common"], ["new"]]), rel=1e-5
    )


def test_a_commit_whose_mark_was_lost_is_repeated_harmlessly(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(*(f"common w{i}" for i in range(20)))
    index = LexicalIndex(tmp_path / "l", truth, split)
    old = index.sync()
    truth.add("common a", "common b")
    truth.remove(5, 5)
    index.sync()
    write_mark(tmp_path / "l", old)  # as if killed between tantivy's commit and ours
    again = LexicalIndex(tmp_path / "l", truth, split)
    assert again.sync().name == old.name
    assert len(again.search([["common"]], 100)) == again.count_alive() == 21


def test_removed_chunks_are_hidden_before_the_files_forget_them(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add(*("same" for _ in range(50)))
    LexicalIndex(tmp_path / "l", truth, split).sync()
    truth.remove(1, 45)
    reader = LexicalIndex(tmp_path / "l", truth, split)
    assert reader.reload()
    assert [key for key, _ in reader.search([["same"]], 3)] == [46, 47, 48]
    assert len(reader.search([["same"]], 100)) == 5
    assert reader.count_alive() == 5


def test_a_writer_that_fails_midway_frees_tantivys_lock(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add("one two")
    fail = True

    def analyze(text: str, language: str) -> list[str]:
        if fail:
            raise KeyboardInterrupt
        return text.split()

    index = LexicalIndex(tmp_path / "l", truth, analyze)
    with pytest.raises(KeyboardInterrupt):
        index.sync()
    fail = False
    index.sync()
    truth.add("one three")
    fail = True
    with pytest.raises(KeyboardInterrupt):
        index.sync()
    fail = False
    index.sync()
    assert [key for key, _ in index.search([["one"]], 10)] == [1, 2]


def test_a_group_counts_its_best_term_and_repeats_count_twice(tmp_path: Path) -> None:
    truth = FakeTruth()
    truth.add("run runs", "runs", "other words", "more words")
    index = LexicalIndex(tmp_path / "l", truth, split)
    index.sync()
    alone = {term: dict(index.search([[term]], 9)) for term in ("run", "runs")}
    both = dict(index.search([["run", "runs"]], 9))
    assert both[1] == pytest.approx(max(alone["run"][1], alone["runs"][1]))
    assert both[2] == pytest.approx(alone["runs"][2])
    twice = dict(index.search([["runs"], ["runs"]], 9))
    assert twice[2] == pytest.approx(2 * alone["runs"][2])
    assert index.explain([["runs"], ["runs"]], 2) == pytest.approx({"runs": twice[2]})
