"""The vector cache: nothing twice, never in the way."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from citespan.embed.cache import CachedEmbedder, VectorCache, default_cache_path, make_key
from citespan.embed.hashing import HashingEmbedder


class Counting(HashingEmbedder):
    """Remembers which texts reached the model."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(dimension)
        self.seen: list[str] = []

    def embed(self, texts, *, kind="document"):
        self.seen += texts
        return super().embed(texts, kind=kind)


@pytest.fixture
def cache(tmp_path):
    cache = VectorCache(tmp_path / "deep" / "vectors.sqlite")
    yield cache
    cache.close()


def test_each_text_reaches_the_model_once(cache):
    model = Counting()
    embedder = CachedEmbedder(model, cache)
    first = embedder.embed(["a cat", "a dog", "a cat", ""])
    assert model.seen == ["a cat", "a dog", ""]
    second = embedder.embed(["a dog", "a bird", "a cat", ""])
    assert model.seen == ["a cat", "a dog", "", "a bird"]
    np.testing.assert_array_equal(second[[2, 0, 3]], first[[0, 1, 3]])
    np.testing.assert_array_equal(
        second, HashingEmbedder(16).embed(["a dog", "a bird", "a cat", ""])
    )


def test_empty_cache_is_used_too(cache):
    """A cache without rows is false as a truth value; it must not be taken for no cache."""
    assert CachedEmbedder(Counting(), cache).cache is cache


def test_survives_the_process(cache, tmp_path):
    CachedEmbedder(Counting(), cache).embed(["a cat"])
    cache.close()
    again = VectorCache(cache.path)
    model = Counting()
    CachedEmbedder(model, again).embed(["a cat"])
    assert model.seen == []
    again.close()


def test_kinds_and_models_are_apart(cache):
    model = Counting()
    embedder = CachedEmbedder(model, cache)
    embedder.embed(["a cat"])
    embedder.embed(["a cat"], kind="query")
    assert model.seen == ["a cat", "a cat"]
    other = Counting(dimension=8)
    assert CachedEmbedder(other, cache).embed(["a cat"]).shape == (1, 8)
    keys = {make_key(*parts) for parts in (("a", "b", "c"), ("ab", "", "c"), ("a", "bc", ""))}
    assert len(keys) == 3


def test_a_row_of_another_length_is_not_used(cache):
    model = Counting()
    cache.put({make_key(model.name, "document", "a cat"): np.ones(3, dtype=np.float32)})
    assert CachedEmbedder(model, cache).embed(["a cat"]).shape == (1, 16)
    assert model.seen == ["a cat"]


def test_more_keys_than_one_statement_takes(cache):
    texts = [f"word{number}" for number in range(1700)]
    embedder = CachedEmbedder(Counting(), cache)
    embedder.embed(texts)
    model = Counting()
    again = CachedEmbedder(model, cache).embed(texts)
    assert model.seen == []
    np.testing.assert_array_equal(again, HashingEmbedder(16).embed(texts))


def test_oldest_rows_go_first(tmp_path):
    cache = VectorCache(tmp_path / "vectors.sqlite", max_rows=10)
    embedder = CachedEmbedder(Counting(), cache)
    for number in range(25):
        embedder.embed([f"word{number}"])
    assert len(cache) == 10
    model = Counting()
    CachedEmbedder(model, cache).embed(["word24", "word15", "word14"])
    assert model.seen == ["word14"]
    cache.close()


def test_clear(cache):
    CachedEmbedder(Counting(), cache).embed(["a cat"])
    assert len(cache) == 1
    cache.clear()
    assert len(cache) == 0


def test_damaged_file_is_made_anew(tmp_path):
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"this is no database" * 100)
    cache = VectorCache(path)
    CachedEmbedder(Counting(), cache).embed(["a cat"])
    assert len(cache) == 1
    cache.close()


def test_no_place_to_write_does_not_stop_anything(tmp_path):
    (tmp_path / "file").write_text("")
    cache = VectorCache(tmp_path / "file" / "vectors.sqlite")
    embedder = CachedEmbedder(Counting(), cache)
    assert embedder.embed(["a cat"]).shape == (1, 16)
    assert len(cache) == 0
    cache.clear()
    cache.close()
    cache.close()
    assert embedder.embed(["a cat"]).shape == (1, 16)


def test_locked_file_does_not_stop_anything(cache, monkeypatch):
    cache._connection.execute("PRAGMA busy_timeout=10")
    other = sqlite3.connect(cache.path)
    other.execute("BEGIN EXCLUSIVE")
    assert CachedEmbedder(Counting(), cache).embed(["a cat"]).shape == (1, 16)
    other.rollback()
    other.close()
    assert len(cache) == 0
    CachedEmbedder(Counting(), cache).embed(["a cat"])
    assert len(cache) == 1


def write_some(path: Path, first: int) -> None:
    cache = VectorCache(path)
    embedder = CachedEmbedder(HashingEmbedder(16), cache)
    for number in range(first, first + 50):
        embedder.embed([f"word{number}"])
    cache.close()


def test_several_processes(tmp_path):
    path = tmp_path / "vectors.sqlite"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write_some, args=(path, first)) for first in (0, 25)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    cache = VectorCache(path)
    assert len(cache) == 75
    cache.close()


def test_several_threads(cache):
    embedder = CachedEmbedder(HashingEmbedder(16), cache)
    texts = [f"word{number}" for number in range(40)]
    threads = [threading.Thread(target=embedder.embed, args=(texts,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 40


def test_default_place_is_the_users_cache():
    assert "citespan" in default_cache_path().parts
