"""One writer, many readers; settings; and what stands on the disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from citespan.errors import LockedError, StoreError
from citespan.protocols import Filter
from citespan.stores import SqliteStore, open_store
from store_parts import analyze, make_document, make_vectors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    with open_store(path, create_settings={"dimension": 8}, analyze=analyze) as store:
        put(store, "a.txt", "tea one", 1)
    return path


def put(store: SqliteStore, source: str, text: str, seed: int) -> None:
    document, chunks = make_document(source, text)
    store.write(document, chunks, make_vectors(1, seed=seed))


def found(store: SqliteStore, term: str = "tea") -> list[str]:
    hits = store.search_terms([(term,)], 10)
    return sorted(chunk.text for chunk in store.get_chunks([key for key, _ in hits]))


def near(store: SqliteStore, seed: int) -> str:
    ((key, _),) = store.search_vector(make_vectors(1, seed=seed)[0], 1)
    return store.get_chunks([key])[0].text


def test_a_second_writer_gets_a_clear_error(folder: Path) -> None:
    with open_store(folder), pytest.raises(LockedError, match="another process is writing"):
        open_store(folder, lock_timeout=0.1)
    open_store(folder, lock_timeout=0.1).close()


def test_a_second_process_gets_a_clear_error(folder: Path) -> None:
    code = (
        "import sys; from citespan.stores import open_store\n"
        "try: open_store(sys.argv[1], lock_timeout=0.1)\n"
        "except Exception as e: print(type(e).__name__)"
    )
    with open_store(folder):
        run = [sys.executable, "-c", code, str(folder)]
        said = subprocess.run(run, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "LockedError"


def test_a_failed_opening_frees_the_lock(folder: Path) -> None:
    with pytest.raises(StoreError, match="other settings"):
        open_store(folder, create_settings={"dimension": 9})
    open_store(folder, lock_timeout=0.1).close()


def test_readers_follow_a_writer_without_opening_again(folder: Path) -> None:
    with (
        open_store(folder, analyze=analyze) as writer,
        open_store(folder, read_only=True, analyze=analyze) as reader,
    ):
        assert found(reader) == ["tea one"]
        put(writer, "b.txt", "tea two", 2)
        assert reader.generation == writer.generation
        assert near(reader, 2) == "tea two"  # vectors at once
        writer.flush()
        assert found(reader) == ["tea one", "tea two"]  # terms when flushed
        writer.remove(["a.txt"])
        assert found(reader) == ["tea two"]  # removed ones never
        assert near(reader, 1) == "tea two"
        put(writer, "b.txt", "tea three", 3)
        assert "tea two" not in found(reader)
        assert near(reader, 3) == "tea three"
    with open_store(folder, read_only=True, analyze=analyze) as reader:
        assert found(reader) == ["tea three"]


def test_a_snapshot_holds_still(folder: Path) -> None:
    with (
        open_store(folder, analyze=analyze) as writer,
        open_store(folder, read_only=True, analyze=analyze) as reader,
    ):
        with reader.snapshot():
            before = reader.list_documents()
            put(writer, "b.txt", "tea two", 2)
            writer.flush()
            assert reader.list_documents() == before
            assert found(reader) == ["tea one"]
            assert near(reader, 1) == "tea one"
        assert found(reader) == ["tea one", "tea two"]


def test_a_reader_may_not_write(folder: Path) -> None:
    with open_store(folder, read_only=True) as store:
        document, chunks = make_document("b.txt", "x")
        for attempt in (
            lambda: store.write(document, chunks),
            lambda: store.remove(["a.txt"]),
            store.flush,
            store.compact,
        ):
            with pytest.raises(StoreError, match="reading only"):
                attempt()


def test_settings_are_kept_and_every_difference_is_named(tmp_path: Path) -> None:
    made = {"model": "minilm", "dimension": 8, "splitter": {"name": "words", "size": 200}}
    with open_store(tmp_path / "i", create_settings=made) as store:
        assert store.settings == made
        store.check_settings(made)
        store.check_settings({"model": "minilm"})
        with pytest.raises(StoreError) as caught:
            store.check_settings(
                {"model": "e5", "dimension": 8, "splitter": {"name": "words", "size": 100}}
            )
    said = str(caught.value)
    assert "model is 'minilm', wanted 'e5'" in said
    assert "'size': 200" in said
    assert "'size': 100" in said
    assert "dimension" not in said
    assert "--index" in said
    assert "\n" not in said


def test_the_dimension_is_fixed_when_the_index_is_made(folder: Path) -> None:
    with open_store(folder) as store:
        document, chunks = make_document("b.txt", "x")
        with pytest.raises(StoreError, match="4 numbers, the index holds 8"):
            store.write(document, chunks, make_vectors(1, dimension=4))


def test_where_there_is_no_index_the_fix_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(StoreError, match="run: citespan index"):
            open_store(path)
        with pytest.raises(StoreError, match="run: citespan index"):
            open_store(path, create_settings={}, read_only=True)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="other files"):
        open_store(tmp_path, create_settings={})
    with pytest.raises(StoreError, match="is a file"):
        open_store(tmp_path / "letter.txt", create_settings={})
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_removed_text_is_nowhere_on_the_disk_after_compacting(folder: Path) -> None:
    with open_store(folder, analyze=analyze) as store:
        put(store, "secret.txt", "zyxwvutsrq", 5)
        put(store, "b.txt", "tea", 6)
        store.flush()
        store.remove(["secret.txt"])
        store.compact()
        assert found(store) == ["tea", "tea one"]
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"zyxwvutsrq" not in path.read_bytes(), path.name


def test_the_record_of_removals_does_not_grow(folder: Path) -> None:
    with open_store(folder, analyze=analyze) as store:
        for i in range(40):
            put(store, "a.txt", f"tea {i}", i)
            if i % 10 == 0:
                store.flush()
        store.flush()
        assert found(store) == ["tea 39"]
        count = store._truth.db.execute("SELECT count(*) FROM removed").fetchone()[0]
        assert count <= 1
        assert sum(1 for _ in (folder / "dense").iterdir()) <= 4


def test_status_counts_and_measures(folder: Path) -> None:
    with open_store(folder, analyze=analyze) as store:
        put(store, "b.txt", "two", 2)
        store.flush()
        status = store.status()
        assert (status.documents, status.chunks, status.vectors, status.dimension) == (2, 2, 2, 8)
        assert status.lexical_generation == status.dense_generation == status.generation == 2
        assert all(status.bytes[part] > 0 for part in ("database", "lexical", "dense"))


def test_a_filter_of_many_documents(folder: Path) -> None:
    with open_store(folder, analyze=analyze) as store:
        for i in range(60):
            put(store, f"d/{i}.txt", "tea", i)
        where = Filter(sources=("d/?.txt",))
        assert len(store.search_terms([("tea",)], 100, where)) == 10
        assert len(store.search_vector(make_vectors(1)[0], 100, where)) == 10
