"""Collections for comparing splitters: each one splitter's chunks, kept in Chroma alone.

``write_collections`` makes them from nothing (``baseline`` and ``semantic_chunks`` in citespan's
own comparison), ``open_collection`` searches one. A chunk's id is ``<document id>:<order>``, so
neighbours and whole documents are fetched by lists of ids: a condition on the metadata of one
document costs as much as a search.
"""

from __future__ import annotations

import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError, LockedError, StoreError
from citespan.protocols import Embedder
from citespan.stores.chroma_access import (
    batches,
    check_name,
    create_collection,
    get_collection,
    settle,
)
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_rows import chunk_id, describe_chunk, restore_chunk
from citespan.types import Chunk, Hit

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

BATCH = 250
"""Chunks that are embedded and written together, below Chroma's own limit of some 5,000."""
MARGIN = 50
"""Candidates asked for beyond k: the graph's search is better the more it is asked for."""
BUILD_SECONDS = 10.0
"""How long another process that writes collections is waited for."""
WRITER = "citespan"
BUILDING = ".building-"


def write_collections(
    chroma: Chroma,
    lists: Mapping[str, Sequence[Chunk]],
    embedder: Embedder,
    *,
    sources: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """Make each named collection from nothing, of the given chunks; return their counts.

    A collection of the same name is replaced once the new one is complete: whoever is stopped
    before leaves the old one as it was.

    Parameters
    ----------
    lists
        Chunks by the collection's name.
    embedder
        Makes the vectors of ``context`` and text; its name is kept with the collection.
    sources
        Names of the documents by id, for readers of the collection.

    Raises
    ------
    InputError
        If a name is not one that Chroma takes, or two chunks of a list have one id.
    StoreError
        If a collection of that name was not written by citespan.
    LockedError
        If another process is writing collections into the same embedded folder.

    Examples
    --------
    >>> import tempfile
    >>> from citespan.embed.hashing import HashingEmbedder
    >>> from citespan.types import Span
    >>> chunks = [Chunk("d", 0, (Span(0, 9),), "Green tea")]
    >>> chunks.append(Chunk("d", 1, (Span(10, 16),), "Coffee"))
    >>> embedder = HashingEmbedder(dimension=64)
    >>> with tempfile.TemporaryDirectory() as folder, Chroma(folder) as chroma:
    ...     write_collections(chroma, {"baseline": chunks}, embedder)
    ...     found = open_collection(chroma, "baseline")
    ...     [hit.chunk.text for hit in found.search(embedder.embed(["tea"])[0], k=1)]
    {'baseline': 2}
    ['Green tea']
    """
    for name, chunks in lists.items():
        check_name(name + BUILDING + "0" * 8)
        check_name(name)
        ids = Counter(chunk_id(chunk.document_id, chunk.order) for chunk in chunks)
        twice = [id for id, count in ids.items() if count > 1]
        if twice:
            raise InputError(
                f"{len(twice)} chunks for {name} are there twice, {twice[0]} first",
                fix="number the chunks of a document once",
            )
    with _build_lock(chroma):
        return {
            name: _write_one(chroma, name, chunks, embedder, sources or {})
            for name, chunks in lists.items()
        }


@dataclass(frozen=True, slots=True)
class ChunkCollection:
    """One splitter's chunks in Chroma; made by ``open_collection``."""

    chroma: Chroma
    name: str
    embedder: str
    dimension: int

    def call(self, method: str, *, write: bool = False, **arguments: Any) -> Any:
        """Call a method of chromadb's collection, under the lock and on fresh data."""
        with self.chroma.use(write=write) as client:
            collection = _need_collection(self.chroma, client, self.name)
            result = getattr(collection, method)(**arguments)
            if write and self.dimension:
                settle(collection, np.ones(self.dimension, np.float32))
            return result

    def count(self) -> int:
        """Return the number of chunks."""
        return int(self.call("count"))

    def search(self, vector: NDArray[np.float32], k: int) -> list[Hit]:
        """Return up to k chunks nearest to a vector; the score is the cosine, in [-1, 1].

        Chroma's search is approximate: it may miss a near chunk, more often in large collections.

        Raises
        ------
        InputError
            If k < 1.
        """
        if k < 1:
            raise InputError(f"k = {k}: at least one chunk must be asked for", fix="use k >= 1")
        if not self.dimension or not np.any(vector):
            return []
        if vector.shape != (self.dimension,):
            raise StoreError(
                f"the question's vector has the shape {vector.shape}, "
                f"the collection {self.name} {(self.dimension,)}",
                fix=f"ask with the model it was made with: {self.embedder}",
            )
        count = self.count()
        if not count:
            return []
        found = self.call(
            "query",
            query_embeddings=[np.ascontiguousarray(vector, dtype=np.float32)],
            n_results=min(k + MARGIN, count),
            include=["documents", "metadatas", "distances"],
        )
        rows = zip(found["distances"][0], found["documents"][0], found["metadatas"][0], strict=True)
        near = sorted(
            ((1.0 - float(distance), restore_chunk(text, meta)) for distance, text, meta in rows),
            key=lambda row: (-row[0], row[1].document_id, row[1].order),
        )
        return [
            Hit(chunk, score, rank, {"cosine": score})
            for rank, (score, chunk) in enumerate(near[:k], start=1)
        ]

    def get_chunks(self, document_id: str, orders: Sequence[int]) -> list[Chunk]:
        """Return those of a document's chunks that exist, by their numbers, in the order given."""
        wanted = [chunk_id(document_id, order) for order in orders]
        found: dict[str, Chunk] = {}
        for ids in batches(sorted(set(wanted)), BATCH):
            got = self.call("get", ids=list(ids), include=["documents", "metadatas"])
            for id, text, meta in zip(got["ids"], got["documents"], got["metadatas"], strict=True):
                found[id] = restore_chunk(text, meta)
        return [found[id] for id in wanted if id in found]

    def get_neighbours(self, chunk: Chunk, before: int = 1, after: int = 1) -> list[Chunk]:
        """Return the chunks around one, itself among them, in the document's order."""
        first = max(0, chunk.order - before)
        return self.get_chunks(chunk.document_id, range(first, chunk.order + after + 1))

    def get_document(self, document_id: str) -> list[Chunk]:
        """Return all chunks of a document, in order; none where it is unknown."""
        got = self.call("get", ids=[chunk_id(document_id, 0)], include=["metadatas"])
        if not got["ids"]:
            return []
        return self.get_chunks(document_id, range(int(got["metadatas"][0]["chunks"])))


def open_collection(
    chroma: Chroma, name: str, *, embedder: Embedder | None = None
) -> ChunkCollection:
    """Return a collection that ``write_collections`` wrote.

    Raises
    ------
    InputError
        If the name cannot be one.
    StoreError
        If there is none, it is not citespan's, or was made with another model than ``embedder``.
    """
    check_name(name)
    with chroma.use() as client:
        metadata = _need_collection(chroma, client, name).metadata or {}
    if metadata.get("written_by") != WRITER:
        raise StoreError(
            f"the collection {name} at {chroma.where} was not written by citespan",
            fix="write it with write_collections, under another name",
        )
    made = str(metadata["embedder"])
    if embedder is not None and embedder.name != made:
        raise StoreError(
            f"the collection {name} was made with {made}, not {embedder.name}",
            fix="ask with that model, or write the collection anew",
        )
    return ChunkCollection(chroma, name, made, int(metadata["dimension"]))


def list_collections(chroma: Chroma) -> list[str]:
    """Return the names of the collections that ``write_collections`` has completed, sorted."""
    with chroma.use() as client:
        return sorted(
            found.name
            for found in client.list_collections()
            if (found.metadata or {}).get("written_by") == WRITER and BUILDING not in found.name
        )


def _need_collection(chroma: Chroma, client: ClientAPI, name: str) -> Any:
    collection = get_collection(client, name)
    if collection is None:
        there = ", ".join(sorted(found.name for found in client.list_collections())) or "none"
        raise StoreError(
            f"there is no collection {name} at {chroma.where}",
            fix=f"write it with write_collections; there are: {there}",
        )
    return collection


def _write_one(
    chroma: Chroma,
    name: str,
    chunks: Sequence[Chunk],
    embedder: Embedder,
    sources: Mapping[str, str],
) -> int:
    metadata = {
        "written_by": WRITER,
        "embedder": embedder.name,
        "dimension": embedder.dimension,
    }
    building = f"{name}{BUILDING}{secrets.token_hex(4)}"
    with chroma.use(write=True) as client:
        _check_ours(chroma, get_collection(client, name), name)
        if chroma.url is None:  # the lock says that nobody else is building here
            _remove_leftovers(client, name)
        create_collection(client, building, metadata)
        size = min(BATCH, client.get_max_batch_size())
    totals = Counter(chunk.document_id for chunk in chunks)
    try:
        for batch in batches(chunks, size):
            rows = [describe_chunk(chunk, sources.get(chunk.document_id, "")) for chunk in batch]
            vectors = embedder.embed(
                [
                    f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
                    for chunk in batch
                ]
            )
            counts = [totals[chunk.document_id] for chunk in batch]
            with chroma.use(write=True) as client:
                collection = _need_collection(chroma, client, building)
                collection.upsert(
                    ids=[row.id for row in rows],
                    embeddings=vectors,
                    documents=[row.text for row in rows],
                    metadatas=[
                        {**row.metadata, "chunks": count}
                        for row, count in zip(rows, counts, strict=True)
                    ],
                )
                settle(collection, vectors[0])
        with chroma.use(write=True) as client:
            if get_collection(client, name) is not None:
                client.delete_collection(name)
            _need_collection(chroma, client, building).modify(name=name)
    except BaseException:
        with contextlib.suppress(Exception), chroma.use(write=True) as client:
            if get_collection(client, building) is not None:
                client.delete_collection(building)
        raise
    return len(chunks)


def _text_with_context(chunk: Chunk) -> str:
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _check_ours(chroma: Chroma, collection: Any | None, name: str) -> None:
    if collection is not None and (collection.metadata or {}).get("written_by") != WRITER:
        raise StoreError(
            f"the collection {name} at {chroma.where} was not written by citespan",
            fix="choose another name, or delete that collection",
        )


def _remove_leftovers(client: ClientAPI, name: str) -> None:
    """Remove what runs that were killed had begun."""
    for found in client.list_collections():
        if found.name.startswith(name + BUILDING):
            client.delete_collection(found.name)


@contextlib.contextmanager
def _build_lock(chroma: Chroma) -> Iterator[None]:
    """Let one process at a time write collections into an embedded folder."""
    if chroma.url is not None:
        yield
        return
    import filelock

    lock = filelock.FileLock(
        str(Path(chroma.where) / "citespan.building.lock"), timeout=BUILD_SECONDS
    )
    try:
        lock.acquire()
    except filelock.Timeout:
        raise LockedError(
            f"another process is writing collections at {chroma.where}",
            fix="wait for it to end, or end it, and try again",
        ) from None
    try:
        yield
    finally:
        lock.release()
