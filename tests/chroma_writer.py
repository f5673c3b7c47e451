"""Processes that tests of Chroma start beside themselves.

``store FOLDER`` goes on with the commits of ``killed_writer`` until it is killed; ``collection
FOLDER NAME COUNT`` writes a collection of so many chunks; ``add FOLDER NAME FIRST COUNT`` adds to
one, a batch at a time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import killed_writer
from citespan.embed.hashing import HashingEmbedder
from citespan.stores.chroma import open_chroma_store
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_collections import open_collection, write_collections
from citespan.types import Chunk, Span
from store_parts import analyze, make_vectors

EMBEDDER = HashingEmbedder(dimension=32)


def make_chunks(name: str, count: int) -> list[Chunk]:
    """Return chunks of documents of ten, each with a word of its own."""
    chunks = []
    for number in range(count):
        text = f"word{number} of {name}"
        chunks.append(Chunk(f"d{number // 10}", number % 10, (Span(0, len(text)),), text))
    return chunks


def write_store(folder: str) -> None:
    with open_chroma_store(folder, create_settings={"test": 1}, analyze=analyze) as store:
        while True:
            step = store.generation + 1
            killed_writer.apply(store, step, set(store.get_fingerprints()))
            if step % 3 == 0:
                store.flush()
            print(step, flush=True)


def add(folder: str, name: str, first: str, count: str) -> None:
    with Chroma(folder) as chroma:
        collection = open_collection(chroma, name)
        for number in range(int(first), int(first) + int(count), 20):
            ids = [f"x:{i}" for i in range(number, number + 20)]
            rows = make_vectors(20, seed=number, dimension=32)
            collection.call("upsert", write=True, ids=ids, embeddings=rows)


def main(what: str, folder: str, *rest: str) -> None:
    if what == "store":
        write_store(folder)
    elif what == "add":
        add(folder, *rest)
    else:
        name, count = rest
        with Chroma(folder) as chroma:
            write_collections(chroma, {name: make_chunks(name, int(count))}, EMBEDDER)


if __name__ == "__main__":
    main(*sys.argv[1:])
