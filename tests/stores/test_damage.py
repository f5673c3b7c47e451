"""Derived files that are broken, missing or old are mended; a broken database says what to do."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from citespan.errors import StoreError
from citespan.stores import SqliteStore, open_store
from store_parts import analyze, make_document, make_vectors


def open_again(folder: Path, *, read_only: bool = False) -> SqliteStore:
    return open_store(folder, read_only=read_only, analyze=analyze, exact_limit=10)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an index of 30 documents less one, with a faiss file."""
    path = tmp_path_factory.mktemp("damage") / "index"
    with open_store(path, create_settings={"a": 1}, analyze=analyze, exact_limit=10) as store:
        for i in range(30):
            document, chunks = make_document(f"{i}.txt", f"word{i} common", "second common")
            store.write(document, chunks, make_vectors(2, seed=i))
        store.remove(["3.txt"])
    assert list((path / "dense").glob("*.faiss"))
    return path


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy to be broken."""
    return shutil.copytree(whole, tmp_path / "index")


def assert_whole(store: SqliteStore) -> None:
    assert store.check() == []
    assert len(store.search_terms([("common",)], 100)) == 58
    assert len(store.search_vector(make_vectors(1)[0], 100)) == 58
    for i in (0, 15, 29):
        (hit,) = store.search_vector(make_vectors(2, seed=i)[0], 1)
        assert store.get_chunks([hit[0]])[0].text == f"word{i} common"
        assert len(store.search_terms([(f"word{i}",)], 5)) == 1


def overwrite(path: Path, keep: int = 0) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:keep] + b"\xa5" * (len(data) - keep))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def every(folder: Path, pattern: str, damage: Callable[[Path], object]) -> None:
    files = [path for path in folder.glob(pattern) if path.is_file()]
    assert files, pattern
    for path in files:
        damage(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no lexical folder": lambda f: shutil.rmtree(f / "lexical"),
    "no dense folder": lambda f: shutil.rmtree(f / "dense"),
    "neither folder": lambda f: (shutil.rmtree(f / "dense"), shutil.rmtree(f / "lexical")),
    "marks garbled": lambda f: every(f, "*/mark.json", overwrite),
    "marks cut": lambda f: every(f, "*/mark.json", cut),
    "marks gone": lambda f: every(f, "*/mark.json", Path.unlink),
    "marks of another shape": lambda f: every(f, "*/mark.json", lambda p: p.write_text("[1]")),
    "tantivy meta garbled": lambda f: every(f, "lexical/*/meta.json", overwrite),
    "tantivy meta gone": lambda f: every(f, "lexical/*/meta.json", Path.unlink),
    "terms garbled": lambda f: every(f, "lexical/*/*.term", overwrite),
    "terms cut": lambda f: every(f, "lexical/*/*.term", cut),
    "postings garbled": lambda f: every(f, "lexical/*/*.idx", overwrite),
    "fast fields cut": lambda f: every(f, "lexical/*/*.fast", cut),
    "fast fields garbled": lambda f: every(f, "lexical/*/*.fast", overwrite),
    "a segment gone": lambda f: every(f, "lexical/*/*.idx", Path.unlink),
    "vectors cut": lambda f: every(f, "dense/*.f32", cut),
    "vectors gone": lambda f: every(f, "dense/*.f32", Path.unlink),
    "keys cut": lambda f: every(f, "dense/*.i64", cut),
    "faiss garbled": lambda f: every(f, "dense/*.faiss", overwrite),
    "faiss cut": lambda f: every(f, "dense/*.faiss", cut),
    "faiss gone": lambda f: every(f, "dense/*.faiss", Path.unlink),
}


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "reader"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_derived_files_are_mended(
    folder: Path, damage: Callable[[Path], object], read_only: bool
) -> None:
    damage(folder)
    with open_again(folder, read_only=read_only) as store:
        assert_whole(store)


def edit_mark(path: Path, **changes: object) -> None:
    mark = json.loads(path.read_text())
    path.write_text(json.dumps(mark | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe": "older"},
        {"identity": "another store"},
        {"generation": 10_000},
        {"last_key": 10_000},
        {"birth": -1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_index_of_another_store_or_version_is_made_anew(
    folder: Path, changes: dict[str, object]
) -> None:
    for name in ("lexical", "dense"):
        edit_mark(folder / name / "mark.json", **changes)
    with open_again(folder) as store:
        assert_whole(store)


def test_a_changed_analyser_remakes_the_terms(folder: Path) -> None:
    with open_store(folder, analyze=lambda text, _: [w.upper() for w in text.split()]) as store:
        assert len(store.search_terms([("COMMON",)], 100)) == 58
        assert store.search_terms([("common",)], 100) == []


def test_an_older_copy_of_the_database_is_not_searched_with_newer_indexes(
    folder: Path, tmp_path: Path
) -> None:
    shutil.copy(folder / "index.sqlite", tmp_path / "copy")
    with open_again(folder) as store:
        document, chunks = make_document("late.txt", "late common")
        store.write(document, chunks, make_vectors(1, seed=77))
    shutil.copy(tmp_path / "copy", folder / "index.sqlite")
    with open_again(folder) as store:
        assert_whole(store)
        assert store.search_terms([("late",)], 5) == []


def test_silent_damage_is_found_by_check_and_mended_by_compact(folder: Path) -> None:
    (path,) = (folder / "dense").glob("*.f32")
    data = bytearray(path.read_bytes())
    data[100] ^= 0x40
    path.write_bytes(data)
    with open_again(folder) as store:
        assert any("dense" in problem for problem in store.check())
        store.compact()
        assert_whole(store)


def test_a_cut_database_says_so(folder: Path) -> None:
    cut(folder / "index.sqlite")
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"cut short.*restore it"):
            open_again(folder, read_only=read_only)


def test_a_garbled_database_says_so(folder: Path) -> None:
    path = folder / "index.sqlite"
    overwrite(path, keep=4096)
    with pytest.raises(StoreError, match="damaged"), open_again(folder) as store:
        store.list_documents()
    overwrite(path)
    with pytest.raises(StoreError, match="not an index"):
        open_again(folder)


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "index.sqlite")
    db.execute("CREATE TABLE t (x)")
    db.close()
    for settings in (None, {"a": 1}):
        with pytest.raises(StoreError, match="not an index of citespan"):
            open_store(tmp_path, create_settings=settings)


def test_a_newer_format_names_the_upgrade(folder: Path) -> None:
    db = sqlite3.connect(folder / "index.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(StoreError, match=r"newer citespan \(format 99.*pip install --upgrade"):
        open_again(folder)


def test_the_making_of_an_index_may_be_cut_short(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").touch()
    with pytest.raises(StoreError, match="no index"):
        open_store(tmp_path)
    with open_store(tmp_path, create_settings={"a": 1}) as store:
        assert store.settings == {"a": 1}


def test_a_read_only_folder_is_held_in_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(folder / "lexical")
    shutil.rmtree(folder / "dense")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("citespan.stores.indexes.take_lock", refuse)
    with open_again(folder, read_only=True) as store:
        assert_whole(store)
    assert not (folder / "lexical").exists()
    assert not (folder / "dense").exists()
