"""Collections for comparison: made from nothing, whole or not at all, fetched by id."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import chroma_writer
from chroma_writer import EMBEDDER, make_chunks
from citespan.embed.hashing import HashingEmbedder
from citespan.errors import InputError, LockedError, StoreError
from citespan.protocols import Vectors
from citespan.stores import chroma_collections
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_collections import (
    list_collections,
    open_collection,
    write_collections,
)
from citespan.types import Chunk, Span
from store_parts import make_vectors

pytest.importorskip("chromadb", reason="the extra chroma is not installed")


@pytest.fixture(params=["embedded", "http"])
def chroma(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Chroma]:
    if request.param == "embedded":
        made = Chroma(tmp_path / "chroma")
    else:
        made = Chroma(url=request.getfixturevalue("chroma_url"))
    with made:
        yield made
    if made.url is not None:
        with Chroma(url=made.url) as again, again.use() as client:
            for found in client.list_collections():
                client.delete_collection(found.name)


LISTS = {"baseline": make_chunks("baseline", 35), "semantic_chunks": make_chunks("semantic", 12)}


def test_both_collections_by_one_call(chroma: Chroma) -> None:
    assert write_collections(chroma, LISTS, EMBEDDER) == {"baseline": 35, "semantic_chunks": 12}
    assert list_collections(chroma) == ["baseline", "semantic_chunks"]
    for name, chunks in LISTS.items():
        found = open_collection(chroma, name, embedder=EMBEDDER)
        assert found.count() == len(chunks)
        for chunk in chunks:
            (hit,) = found.search(EMBEDDER.embed([chunk.text])[0], 1)
            assert hit.chunk in chunks
            assert hit.score == pytest.approx(1, abs=1e-5)
        assert len(found.search(EMBEDDER.embed(["word1"])[0], 100)) == len(chunks)


def test_hits_are_ranked_by_cosine(chroma: Chroma) -> None:
    write_collections(chroma, LISTS, EMBEDDER)
    query = EMBEDDER.embed(["word7 of baseline"])[0]
    matrix = EMBEDDER.embed([chunk.text for chunk in LISTS["baseline"]])
    hits = open_collection(chroma, "baseline").search(query, 35)
    assert [hit.rank for hit in hits] == list(range(1, 36))
    expected = sorted((matrix @ query).tolist(), reverse=True)
    assert [hit.score for hit in hits] == pytest.approx(expected, abs=1e-5)
    assert [hit.parts["cosine"] for hit in hits] == [hit.score for hit in hits]


def test_writing_again_leaves_nothing_of_before(chroma: Chroma) -> None:
    write_collections(chroma, LISTS, EMBEDDER)
    write_collections(chroma, {"baseline": LISTS["baseline"][:3]}, EMBEDDER)
    assert open_collection(chroma, "baseline").count() == 3
    assert open_collection(chroma, "semantic_chunks").count() == 12
    write_collections(chroma, {"baseline": []}, EMBEDDER)
    found = open_collection(chroma, "baseline")
    assert found.count() == 0
    assert found.search(EMBEDDER.embed(["word1"])[0], 3) == []


def test_neighbours_and_documents_come_by_id(chroma: Chroma) -> None:
    chunks = LISTS["baseline"]
    write_collections(chroma, LISTS, EMBEDDER)
    found = open_collection(chroma, "baseline")
    assert found.get_neighbours(chunks[14]) == chunks[13:16]
    assert found.get_neighbours(chunks[10], before=3, after=0) == chunks[10:11]
    assert found.get_neighbours(chunks[34], after=5) == chunks[33:35]
    assert found.get_document("d1") == chunks[10:20]
    assert found.get_document("nobody") == []
    assert found.get_chunks("d0", [4, 99, 1, 4]) == [chunks[4], chunks[1], chunks[4]]


def test_chunks_come_back_as_they_were(chroma: Chroma) -> None:
    rich = [
        Chunk("d:1", 0, (Span(0, 3), Span(9, 12)), "tea\n\x00pot", context="Küche > 茶", overlap=2),
        Chunk("d:1", 1, (Span(13, 14),), "x"),
        Chunk("e", 0, (Span(0, 0),), ""),
    ]
    write_collections(chroma, {"rich": rich}, EMBEDDER, sources={"d:1": "küche.md"})
    found = open_collection(chroma, "rich")
    assert found.get_document("d:1") == rich[:2]
    assert found.get_document("e") == rich[2:]
    got = found.call("get", ids=["d:1:0"], include=["metadatas"])["metadatas"][0]
    assert (got["source"], got["start"], got["end"], got["order"]) == ("küche.md", 0, 12, 0)


def test_a_lone_surrogate_is_no_trouble(chroma: Chroma) -> None:
    chunk = Chunk("d", 0, (Span(0, 3),), "a\ud800b")
    write_collections(chroma, {"broken": [chunk]}, EMBEDDER)
    assert open_collection(chroma, "broken").get_document("d")[0].text == "a\ufffdb"


def test_more_than_one_batch(chroma: Chroma) -> None:
    chunks = make_chunks("many", 620)
    write_collections(chroma, {"many": chunks}, EMBEDDER)
    found = open_collection(chroma, "many")
    assert found.count() == 620
    assert found.get_chunks("d61", range(20)) == chunks[610:]


class Failing(HashingEmbedder):
    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        if any("word260 " in text for text in texts):
            raise KeyboardInterrupt
        return super().embed(texts, kind=kind)


def test_stopped_half_way_the_old_one_stands(chroma: Chroma) -> None:
    write_collections(chroma, LISTS, EMBEDDER)
    with pytest.raises(KeyboardInterrupt):
        write_collections(chroma, {"baseline": make_chunks("new", 300)}, Failing(dimension=32))
    assert open_collection(chroma, "baseline").count() == 35
    with chroma.use() as client:
        assert [c.name for c in client.list_collections() if "building" in c.name] == []


def test_what_cannot_be_is_said(chroma: Chroma) -> None:
    with pytest.raises(InputError, match="cannot name"):
        write_collections(chroma, {"no name": []}, EMBEDDER)
    with pytest.raises(InputError, match="twice, d0:3 first"):
        write_collections(chroma, {"twice": [LISTS["baseline"][3]] * 2}, EMBEDDER)
    with pytest.raises(StoreError, match=r"no collection nothing .*write_collections"):
        open_collection(chroma, "nothing")
    with chroma.use(write=True) as client:
        client.get_or_create_collection("theirs", embedding_function=None)
    with pytest.raises(StoreError, match="not written by citespan"):
        write_collections(chroma, {"theirs": []}, EMBEDDER)
    with pytest.raises(StoreError, match="not written by citespan"):
        open_collection(chroma, "theirs")
    write_collections(chroma, LISTS, EMBEDDER)
    with pytest.raises(StoreError, match="made with hashing/32/512, not hashing/64/512"):
        open_collection(chroma, "baseline", embedder=HashingEmbedder(dimension=64))
    found = open_collection(chroma, "baseline")
    with pytest.raises(StoreError, match="has the shape"):
        found.search(np.ones(3, np.float32), 1)
    with pytest.raises(InputError, match="k = 0"):
        found.search(np.ones(32, np.float32), 0)
    assert found.search(np.zeros(32, np.float32), 3) == []
    chroma.close()
    with pytest.raises(StoreError, match="closed"):
        found.count()


def run_writers(*arguments: tuple[str, ...]) -> None:
    """Run several processes at once, and see that each ends well."""
    command = [sys.executable, chroma_writer.__file__]
    children = [
        subprocess.Popen([*command, *args], stderr=subprocess.PIPE, text=True) for args in arguments
    ]
    for child in children:
        assert child.stderr is not None
        said = child.stderr.read()
        child.stderr.close()
        assert child.wait() == 0, said


def test_two_processes_that_write_lose_nothing(tmp_path: Path) -> None:
    """Without the lock and the fresh client, most runs of this lose vectors without an error."""
    folder = tmp_path / "chroma"
    with Chroma(folder) as chroma:
        write_collections(chroma, {"shared": make_chunks("shared", 5)}, EMBEDDER)
        found = open_collection(chroma, "shared")
        run_writers(
            ("add", str(folder), "shared", "0", "400"),
            ("add", str(folder), "shared", "400", "400"),
        )
        # This process opened its client before the others wrote.
        assert found.count() == 805
        for first in range(0, 800, 20):
            rows = make_vectors(20, seed=first, dimension=32)
            for number in (0, 7, 19):
                got = found.call("query", query_embeddings=[rows[number]], n_results=1)
                assert got["ids"] == [[f"x:{first + number}"]]


def test_one_process_at_a_time_writes_collections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import filelock

    monkeypatch.setattr(chroma_collections, "BUILD_SECONDS", 0.1)

    with Chroma(tmp_path) as chroma:
        lock = filelock.FileLock(str(tmp_path / "citespan.building.lock"))
        with lock, pytest.raises(LockedError, match="another process is writing"):
            write_collections(chroma, LISTS, EMBEDDER)
