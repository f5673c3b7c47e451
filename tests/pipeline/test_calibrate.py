"""Calibration: done once, again after growth, kept with the index, and used by language."""

from __future__ import annotations

from pathlib import Path

import pytest

from citespan.config import load_settings
from citespan.pipeline import build_index, open_index
from citespan.pipeline.calibrate import NOTE, calibrate_index, read_trust
from citespan.retrieve.calibrate import DEFAULT_TRUST
from citespan.stores import open_store

WORDS = ["tea", "pot", "lamp", "river", "stone", "cloud", "wheel", "bread", "glass", "horse"]


def write_documents(folder: Path, count: int, first: int = 0) -> None:
    """Write documents of a subject each, long enough to be asked about themselves."""
    folder.mkdir(exist_ok=True)
    for number in range(first, first + count):
        word = WORDS[number % len(WORDS)]
        lines = [
            f"The {word} number {number} was seen on day {day} near the old {word} house."
            for day in range(12)
        ]
        (folder / f"{number}.txt").write_text(" ".join(lines), "utf-8")


def build(**flags: object) -> None:
    build_index(["docs"], load_settings({"embedder": "hashing", **flags}, environ={}))


@pytest.fixture
def docs(place: Path) -> Path:
    write_documents(place / "docs", 6)
    return place / "docs"


def read_note() -> dict:
    with open_store(".citespan", read_only=True) as store:
        return store.read_note(NOTE)


def test_an_index_is_calibrated_when_it_is_made(docs: Path) -> None:
    build()
    note = read_note()
    assert set(note["languages"]) == {"", "en"}
    assert note["languages"]["en"]["samples"] >= 20
    with open_index(load_settings({}, environ={})) as index:
        assert index.trust("en") == note["languages"]["en"]["trust"]
        assert index.trust("fr") == note["languages"][""]["trust"]


def test_it_is_done_again_when_the_index_grew_by_half(docs: Path) -> None:
    build()
    before = read_note()
    write_documents(docs, 1, first=6)
    build()
    assert read_note() == before
    write_documents(docs, 4, first=7)
    build()
    assert read_note()["chunks"] > before["chunks"]


def test_without_vectors_there_is_nothing_to_measure(docs: Path) -> None:
    build(embedder="none")
    with open_store(".citespan") as store:
        assert calibrate_index(store, force=True) is None
        assert read_trust(store, "en") == DEFAULT_TRUST
