"""Killed at any moment, a store opens with every committed document, and goes on."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import killed_writer
from citespan.stores import SqliteStore, open_store
from store_parts import analyze, make_vectors

KILLS = int(os.environ.get("CITESPAN_KILLS", "6"))
"""Small by default; ``CITESPAN_KILLS=300`` for a long run."""


def kill_one(folder: Path, seconds: float) -> int:
    """Run the writer for so long after its first word (or less), kill it; return what it said."""
    command = [sys.executable, str(Path(killed_writer.__file__)), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        if seconds >= 0:
            first = child.stdout.readline()
            time.sleep(seconds)
        else:  # while it opens, or makes, the index
            first = b""
            time.sleep(random.random() * 0.6)
        child.kill()
        lines = (first + child.stdout.read()).split()
        said = child.stderr.read().decode()
        assert not said, said
    return int(lines[-1]) if lines else 0


def check_state(store: SqliteStore, said: int) -> None:
    generation = store.generation
    assert generation in (said, said + 1) or said == 0
    expected = killed_writer.state_after(generation)
    assert store.get_fingerprints() == expected
    assert store.check() == []
    parts = {source: 1 + int(step) % 4 for source, step in expected.items()}
    hits = store.search_terms([("word",)], 1000)
    assert len(hits) == sum(parts.values()) == store.count_chunks()
    found = store.get_chunks([key for key, _ in hits])
    assert {c.text.split()[0] for c in found} == {f"step{step}" for step in expected.values()}
    assert len(store.search_vector(make_vectors(1)[0], 1000)) == sum(parts.values())
    for step in expected.values():
        key, score = store.search_vector(make_vectors(1 + int(step) % 4, seed=int(step))[0], 1)[0]
        assert score == pytest.approx(1, abs=1e-5)
        assert store.get_chunks([key])[0].text.startswith(f"step{step} ")


def test_a_killed_writer_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    chance = random.Random(0)
    for number in range(KILLS):
        seconds = -1.0 if number % 3 == 0 else chance.random()
        said = kill_one(folder, seconds)
        if not (folder / "index.sqlite").exists():
            continue
        with open_store(
            folder, create_settings={"test": 1}, analyze=analyze, exact_limit=8
        ) as store:
            check_state(store, said)
            step = store.generation + 1
            killed_writer.apply(store, step, set(store.get_fingerprints()))
            check_state(store, step)


def test_a_reader_alone_mends_what_a_killed_writer_left(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    said = kill_one(folder, 0.3)
    with open_store(folder, read_only=True, analyze=analyze, exact_limit=8) as store:
        check_state(store, said)
