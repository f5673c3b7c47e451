"""Indexing again and again: only what changed costs anything, and what is gone is gone."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from citespan.config import LoadedSettings, load_settings
from citespan.embed.cache import CachedEmbedder
from citespan.errors import InputError, ModelError, StoreError
from citespan.pipeline import (
    BuildReport,
    Progress,
    build_index,
    open_index,
    remove_sources,
    search_index,
)


def settings(**flags) -> LoadedSettings:
    return load_settings({"embedder": "hashing", **flags}, environ={}, folder=Path("nowhere"))


def build(*paths, **flags) -> BuildReport:
    return build_index(paths or ["docs"], settings(**flags))


def sources() -> list[str]:
    with open_index(settings()) as index:
        return [info.source for info in index.store.list_documents()]


def find(question: str) -> list[str]:
    with open_index(settings()) as index:
        return [p.text for p in search_index(index, question).passages]


def dump_rows(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


@pytest.fixture
def docs(place: Path) -> Path:
    folder = place / "docs"
    folder.mkdir()
    (folder / "pump.md").write_text("# Pumps\n\nThe red pump weighs nine kilos.\n", "utf-8")
    (folder / "valve.txt").write_text("Blue valves cost five euros each.\n", "utf-8")
    (folder / "насос.txt").write_text("Зелёный насос весит семь килограммов.\n", "utf-8")
    return folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect how many texts each call hands to the embedder."""
    seen: list[int] = []
    embed = CachedEmbedder.embed

    def count(self, texts, **how):
        seen.append(len(texts))
        return embed(self, texts, **how)

    monkeypatch.setattr(CachedEmbedder, "embed", count)
    return seen


def test_unchanged_files_call_no_model_and_change_no_row(docs, calls):
    assert build().added == ["docs/pump.md", "docs/valve.txt", "docs/насос.txt"]
    before, used = dump_rows(Path(".citespan/index.sqlite")), len(calls)
    report = build()
    assert (report.added, report.changed, report.removed, report.unchanged) == ([], [], [], 3)
    assert len(calls) == used > 0
    assert dump_rows(Path(".citespan/index.sqlite")) == before


def test_only_the_changed_file_is_embedded(docs, calls):
    build()
    calls.clear()
    (docs / "valve.txt").write_text("Blue valves cost seven euros each.\n", "utf-8")
    report = build()
    assert report.changed == ["docs/valve.txt"]
    assert sum(calls) == 1  # the chunk is the sentence, and is embedded once for both
    assert find("what do valves cost")[0] == "Blue valves cost seven euros each."
    assert not any("five" in text for text in find("valves five euros"))


def test_a_deleted_file_disappears(docs):
    build()
    (docs / "valve.txt").unlink()
    assert build().removed == ["docs/valve.txt"]
    assert sources() == ["docs/pump.md", "docs/насос.txt"]


def test_a_deleted_folder_disappears_when_it_is_named(docs):
    build()
    shutil.rmtree(docs)
    assert sorted(build().removed) == ["docs/pump.md", "docs/valve.txt", "docs/насос.txt"]
    with pytest.raises(InputError, match="no such file or folder: docs"):
        build()


def test_a_renamed_file_has_its_new_name_only(docs, calls):
    build()
    calls.clear()
    (docs / "valve.txt").rename(docs / "valves.txt")
    report = build()
    assert (report.added, report.removed) == (["docs/valves.txt"], ["docs/valve.txt"])
    assert "docs/valve.txt" not in sources()


def test_a_file_that_can_no_longer_be_read_is_removed_and_reported(docs):
    build()
    (docs / "valve.txt").write_bytes(bytes(range(256)) * 40)
    report = build()
    assert report.removed == ["docs/valve.txt"]
    assert [skip.source for skip in report.skipped] == ["docs/valve.txt"]
    assert report.skipped[0].reason


def test_files_elsewhere_are_left_alone(docs, place):
    build()
    other = place / "other"
    other.mkdir()
    (other / "lamp.txt").write_text("The lamp is green.", "utf-8")
    assert build("other").removed == []
    assert len(sources()) == 4


def test_a_run_with_include_removes_nothing_that_exists(docs):
    build()
    report = build(include=["*.md"])
    assert (report.unchanged, report.removed) == (1, [])
    assert len(sources()) == 3


def test_a_name_that_is_no_utf8_stays_indexed(docs):
    try:
        Path(b"docs/b\xe4d.txt".decode("utf-8", "surrogateescape")).write_text("A grey tap.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    build()
    report = build()
    assert (report.unchanged, report.removed) == (4, [])


def test_an_index_moves_with_its_documents(docs, place, tmp_path, monkeypatch):
    build()
    new = tmp_path / "moved"
    place.rename(new)
    monkeypatch.chdir(new)
    report = build()
    assert (report.unchanged, report.added, report.removed) == (3, [], [])


def test_one_file_has_one_name_however_it_is_written(docs):
    build("docs/pump.md")
    for path in ("./docs/pump.md", docs / "pump.md", "docs/../docs/pump.md", "docs"):
        build(path)
    assert sources().count("docs/pump.md") == 1
    assert len(sources()) == 3


def test_an_index_in_the_folder_of_documents_does_not_index_itself(docs):
    for folder in ("docs/.citespan", "docs/index"):
        assert len(build(index=folder).added) == 3
        assert build(index=folder).unchanged == 3
    assert build(index="docs/index").added == []


def test_settings_are_adopted_from_the_index(docs):
    build(splitter="recursive", size=100)
    assert build().unchanged == 3
    with open_index(settings()) as index:
        assert (index.settings.splitter, index.settings.size) == ("recursive", 100)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"splitter": "recursive"}, "splitter sentences, not recursive"),
        ({"size": 50}, "size its default, not 50"),
        ({"embedder": "none"}, "embedder hashing, not none"),
    ],
)
def test_other_settings_are_refused_with_the_fix(docs, flags, said):
    build()
    before = dump_rows(Path(".citespan/index.sqlite"))
    with pytest.raises(StoreError, match=said) as caught:
        build(**flags)
    assert "--rebuild" in str(caught.value)
    assert dump_rows(Path(".citespan/index.sqlite")) == before


def test_rebuild_takes_other_settings_and_forgets_other_paths(docs):
    build()
    report = build_index(["docs/pump.md"], settings(splitter="words"), rebuild=True)
    assert report.added == ["docs/pump.md"]
    assert sources() == ["docs/pump.md"]


def test_rebuild_deletes_nothing_but_an_index(docs):
    with pytest.raises(StoreError, match="holds no index"):
        build_index(["docs"], settings(index="docs"), rebuild=True)
    assert len(list(docs.iterdir())) == 3


def test_a_wrong_path_leaves_no_index_behind(docs, place):
    with pytest.raises(InputError, match="nosuch, neither"):
        build("docs", "nosuch, neither")
    assert not (place / ".citespan").exists()


def test_without_the_default_model_words_alone_are_searched_and_it_is_said(docs, monkeypatch):
    monkeypatch.setenv("CITESPAN_MODELS", str(docs / "none"))
    usual = load_settings({}, environ={}, folder=docs)
    report = build_index(["docs"], usual)
    assert len(report.added) == 3
    assert ["words alone" in line for line in report.notes] == [True]
    with open_index(usual) as index:
        assert search_index(index, "red pump").passages[0].source == "docs/pump.md"


def test_a_model_that_was_named_is_never_replaced_in_silence(docs, monkeypatch):
    monkeypatch.setenv("CITESPAN_MODELS", str(docs / "none"))
    named = load_settings({"embedder": "minilm"}, environ={}, folder=docs)
    with pytest.raises(ModelError, match="citespan model fetch"):
        build_index(["docs"], named)


def test_removed_by_name_or_folder(docs):
    build()
    assert remove_sources(["docs/pump.md"], Path(".citespan")) == ["docs/pump.md"]
    with pytest.raises(InputError, match=r"not in the index: docs/pump\.md, x"):
        remove_sources(["docs/pump.md", "x", "docs/valve.txt"], Path(".citespan"))
    assert len(sources()) == 2
    assert len(remove_sources(["docs"], Path(".citespan"))) == 2
    assert sources() == []


def test_an_interrupt_keeps_what_is_committed_and_the_next_run_goes_on(docs, monkeypatch):
    from citespan.pipeline import write

    monkeypatch.setattr(write, "BATCH", 1)
    seen = []

    def stop(progress):
        seen.append(progress.source)
        if len(seen) == 2:
            raise KeyboardInterrupt

    report = build_index(["docs"], settings(), progress=stop)
    assert report.stopped
    assert len(report.added) == 2 == len(sources())
    rest = build()
    assert (len(rest.added), rest.unchanged) == (1, 2)


def test_progress_counts_to_the_total(docs):
    seen = []
    build_index(["docs"], settings(), progress=seen.append)
    assert [p.documents for p in seen] == [1, 2, 3]
    assert {p.total for p in seen} == {3}


def test_progress_counts_what_is_unchanged_or_unreadable(docs):
    build()
    (docs / "a-broken.pdf").write_bytes(b"no pdf")
    (docs / "zinc.txt").write_text("Zinc is bluish.", "utf-8")
    seen = []
    report = build_index(["docs"], settings(), progress=seen.append)
    assert [(p.documents, p.total) for p in seen] == [(5, 5)]
    assert (report.unchanged, report.failed) == (3, 1)


def test_what_the_model_cannot_read_is_counted_and_said(docs):
    (docs / "long.txt").write_text("The pump is red and heavy. " * 200, "utf-8")
    report = build(splitter="words", size=600, embedder="hashing")
    assert report.truncated == 2
    assert "2 chunks are longer than the 512 tokens" in report.notes[-1]


def test_the_default_splitter_leaves_nothing_beyond_the_model(docs):
    (docs / "long.txt").write_text("The pump is red and heavy. " * 200, "utf-8")
    report = build(embedder="hashing")
    assert (report.truncated, report.notes) == (0, [])


def test_progress_is_shown_while_one_long_document_is_embedded(docs):
    text = " ".join(f"Pump number {number} is red." for number in range(700))
    (docs / "long.txt").write_text(text, "utf-8")
    seen: list[Progress] = []
    build_index(["docs"], settings(embedder="hashing"), progress=seen.append)
    steps = [p.embedding for p in seen if p.embedding is not None]
    # Some 700 sentences and their chunks go through the model in slices, each of them reported.
    assert len(steps) >= 3
    assert steps[-1].done == steps[-1].total >= 700
    assert all(step.rate > 0 for step in steps)
    assert [p.documents for p in seen if p.embedding is None] == [1, 2, 3, 4]
