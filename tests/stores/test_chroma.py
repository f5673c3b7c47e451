"""Chroma as the dense index: whatever becomes of it, the database makes it good."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chroma_writer
import killed_writer
from citespan.errors import InputError, StoreError
from citespan.stores import SqliteStore, open_store
from citespan.stores.chroma import open_chroma_store
from citespan.stores.chroma_client import Chroma
from store_parts import analyze, make_document, make_vectors

pytest.importorskip("chromadb", reason="the extra chroma is not installed")

SETTINGS = {"test": 1}


def open_one(folder: Path, **options: Any) -> SqliteStore:
    return open_chroma_store(folder, create_settings=SETTINGS, analyze=analyze, **options)


def put(store: SqliteStore, source: str, count: int, seed: int) -> None:
    document, chunks = make_document(source, *(f"{source} part{i}" for i in range(count)))
    store.write(document, chunks, make_vectors(count, seed=seed))


def near(store: SqliteStore, seed: int, count: int = 1) -> str:
    key, score = store.search_vector(make_vectors(count, seed=seed)[0], 1)[0]
    assert score == pytest.approx(1, abs=1e-5)
    return store.get_chunks([key])[0].text


def read_ids(chroma: Chroma, name: str) -> dict[str, dict[str, Any]]:
    with chroma.use() as client:
        got = client.get_collection(name, embedding_function=None).get(include=["metadatas"])
    return dict(zip(got["ids"], got["metadatas"] or [], strict=True))  # type: ignore[arg-type]


def test_each_chunk_says_where_it_stands(tmp_path: Path) -> None:
    with open_one(tmp_path / "index") as store:
        put(store, "a.txt", 2, 1)
        store.flush()
        id = store.list_documents()[0].id
    with Chroma(tmp_path / "index" / "chroma") as chroma:
        rows = read_ids(chroma, "citespan")
    assert set(rows) == {f"{id}:0", f"{id}:1"}
    row = rows[f"{id}:1"]
    assert {name: row[name] for name in ("doc_id", "source", "start", "end", "order")} == {
        "doc_id": id,
        "source": "a.txt",
        "start": 12,
        "end": 23,
        "order": 1,
    }


def test_the_same_document_written_again_keeps_its_ids(tmp_path: Path) -> None:
    with open_one(tmp_path / "index") as store:
        put(store, "a.txt", 3, 1)
        store.flush()
        put(store, "a.txt", 3, 2)
        assert near(store, 2, 3) == "a.txt part0"
        assert store.check() == []
        assert len(store.search_vector(make_vectors(1)[0], 9)) == 3


def test_what_chroma_lost_is_found_and_mended(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with open_one(folder) as store:
        for i in range(5):
            put(store, f"{i}.txt", 2, i)
        store.flush()
        document = store.list_documents()[0].id
        with Chroma(folder / "chroma") as chroma, chroma.use(write=True) as client:
            client.get_collection("citespan", embedding_function=None).delete(ids=[f"{document}:0"])
        assert "lacks chunks" in store.check()[0]
        store.compact()
        assert store.check() == []
        with Chroma(folder / "chroma") as chroma, chroma.use(write=True) as client:
            client.delete_collection("citespan")
        assert near(store, 3, 2) == "3.txt part0"
        assert store.check() == []


@pytest.mark.parametrize("damage", ["removed", "garbage"])
def test_an_embedded_chroma_that_is_gone_or_broken_is_made_anew(
    tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "index"
    with open_one(folder) as store:
        put(store, "a.txt", 2, 1)
    if damage == "removed":
        shutil.rmtree(folder / "chroma")
    else:
        (folder / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 500)
    with open_one(folder) as store:
        assert near(store, 1, 2) == "a.txt part0"
        assert store.check() == []


def test_an_index_may_change_its_dense_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with open_store(folder, create_settings=SETTINGS, analyze=analyze) as plain:
        put(plain, "a.txt", 2, 1)
        expected = plain.search_vector(make_vectors(1)[0], 9)
    with open_one(folder) as store:
        assert store.search_vector(make_vectors(1)[0], 9) == expected
        put(store, "b.txt", 2, 2)
        expected = store.search_vector(make_vectors(1)[0], 9)
    with open_store(folder, analyze=analyze) as plain:
        assert plain.search_vector(make_vectors(1)[0], 9) == expected
        plain.remove(["a.txt"])
    with open_one(folder) as store:
        assert len(store.search_vector(make_vectors(1)[0], 9)) == 2
        assert store.check() == []


def test_a_reader_beside_a_writer_finds_each_commit(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with open_one(folder) as writer:
        put(writer, "a.txt", 2, 1)
        writer.flush()
        with open_chroma_store(folder, read_only=True, analyze=analyze) as reader:
            assert near(reader, 1, 2) == "a.txt part0"
            put(writer, "b.txt", 1, 2)
            assert near(reader, 2) == "b.txt part0"
            writer.remove(["a.txt"])
            writer.flush()
            assert len(reader.search_vector(make_vectors(1)[0], 9)) == 1


def test_a_reader_in_another_process_sees_what_was_written_since(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    code = (
        "import sys\n"
        "from citespan.stores.chroma import open_chroma_store\n"
        "from store_parts import analyze, make_vectors\n"
        "store = open_chroma_store(sys.argv[1], read_only=True, analyze=analyze)\n"
        "for line in sys.stdin:\n"
        "    key, score = store.search_vector(make_vectors(1, seed=int(line))[0], 1)[0]\n"
        "    print(store.get_chunks([key])[0].text, round(score, 3), flush=True)\n"
    )
    with open_one(folder) as writer:
        put(writer, "0.txt", 1, 0)
        writer.flush()
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parent.parent,
        )
        with child:
            assert child.stdin is not None
            assert child.stdout is not None
            for i in range(4):
                if i:
                    put(writer, f"{i}.txt", 1, i)
                if i % 2:
                    writer.flush()
                child.stdin.write(f"{i}\n")
                child.stdin.flush()
                assert child.stdout.readline() == f"{i}.txt part0 1.0\n"
            child.stdin.close()
        assert writer.check() == []


def test_killed_between_the_two_writes_it_is_repaired(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    chance = random.Random(1)
    for _ in range(3):
        command = [sys.executable, chroma_writer.__file__, "store", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(chance.random())
            child.kill()
        with open_one(folder) as store:
            expected = killed_writer.state_after(store.generation)
            assert store.get_fingerprints() == expected
            for step in expected.values():
                assert near(store, int(step), 1 + int(step) % 4).startswith(f"step{step} ")
            assert store.check() == []


def test_near_vectors_are_found_among_many(tmp_path: Path) -> None:
    """More chunks than are asked for, so that Chroma's search itself is what finds them."""
    vectors = make_vectors(1500, seed=7, dimension=24)
    with open_one(tmp_path / "index") as store:
        for i in range(15):
            document, chunks = make_document(f"{i}.txt", *(f"{i} part{j}" for j in range(100)))
            store.write(document, chunks, vectors[100 * i : 100 * (i + 1)])
        keys = [key for info in store.list_documents() for key in store.chunk_keys(info.id)]
        matrix = store.get_vectors(keys).astype(np.float64)
        for seed in range(10):
            query = make_vectors(1, seed=seed, dimension=24)[0]
            order = np.lexsort((keys, -(matrix @ query)))[:5]
            assert [key for key, _ in store.search_vector(query, 5)] == [keys[i] for i in order]
        assert len(store.search_vector(query, 5000)) == 1500


def test_a_servers_collection_belongs_to_one_index(tmp_path: Path, chroma_url: str) -> None:
    with open_one(tmp_path / "one", url=chroma_url, collection="shared_name") as store:
        put(store, "a.txt", 2, 1)
    with open_one(tmp_path / "two", url=chroma_url, collection="shared_name") as other:
        document, chunks = make_document("b.txt", "b")
        with pytest.raises(StoreError, match="belongs to another index; name another"):
            other.write(document, chunks, make_vectors(1))
        with pytest.raises(StoreError, match="belongs to another index"):
            other.close()
    with open_one(tmp_path / "one", url=chroma_url, collection="shared_name") as store:
        assert near(store, 1, 2) == "a.txt part0"


def test_a_server_that_lost_everything_is_filled_again(tmp_path: Path, chroma_url: str) -> None:
    with open_one(tmp_path / "index", url=chroma_url, collection="lost") as store:
        put(store, "a.txt", 2, 1)
    with Chroma(url=chroma_url) as chroma, chroma.use() as client:
        client.delete_collection("lost")
    with open_one(tmp_path / "index", url=chroma_url, collection="lost") as store:
        assert near(store, 1, 2) == "a.txt part0"


def test_an_address_where_nobody_answers_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no Chroma answers .* start it: chroma run"):
        open_one(tmp_path / "index", url="http://127.0.0.1:9")
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x", "http://", "http://x:port", "http://x/api", "http://a@x"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="write http://HOST:PORT"):
        Chroma(url=url)


def test_one_of_folder_and_address(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of path and url"):
        Chroma()
    with pytest.raises(InputError, match="one of path and url"):
        Chroma(tmp_path, url="http://127.0.0.1:9")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="is a file"):
        Chroma(tmp_path / "file")
    with pytest.raises(InputError, match="cannot name a Chroma collection"):
        open_one(tmp_path / "index", collection="no name")


def test_without_chromadb_the_pip_line_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chromadb", None)
    with pytest.raises(ImportError, match=r"run: pip install 'citespan\[chroma\]'"):
        Chroma(tmp_path)
