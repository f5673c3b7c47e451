"""Chroma as a store's dense index: a copy of the chunks that the database can always make again.

The collection's metadata hold the mark of the commit it reflects (see ``citespan.index.truth``).
The database commits first; what Chroma then lacks, also after being killed in between, are the
chunks with keys above the mark's last one and the removals since its generation, which ``sync``
applies before anything is searched. Both may be applied twice without harm, since a chunk's id
is ``<document id>:<order>``.

Chroma finds candidates (HNSW, approximate); their cosines are computed anew from the database's
vectors, so that a chunk has one score whatever way it was found.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from citespan.errors import StoreError
from citespan.index.truth import Head, KeyRanges, Mark, Ranges, is_damage, is_usable
from citespan.stores.chroma_access import batches, create_collection, get_collection, settle
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_mark import is_at, mark_from_metadata, mark_to_metadata, move_mark
from citespan.stores.chroma_rows import describe_chunk, read_sources
from citespan.stores.chroma_scores import merge_hits, score_blobs, score_rows
from citespan.stores.rows import read_chunks
from citespan.stores.truth import SqliteTruth

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

FORMAT = 1
BATCH = 250
"""Vectors a request, below Chroma's own limit of some 5,000: others wait for a batch to end, and
it is what being killed costs."""
MARGIN = 50
"""Candidates asked for beyond k, so that ties and neighbours of equal distance are among them."""
ROUNDING = 1e-5
"""Chroma's float32 distances differ from ours by less than this."""
CANDIDATES = 4_000
"""Above this many, scoring every vector of the database is faster than asking Chroma."""
EXACT_WITHIN = 10_000
"""Chunks that a filter may leave to be scored one by one; above that Chroma is asked for more."""
RANGES = 50
"""Ranges of keys in one condition of a removal."""


@dataclass(frozen=True, slots=True)
class _State:
    """What searches go by: the mark that was read, and what the truth holds beyond it."""

    mark: Mark | None
    tail_keys: NDArray[np.int64]
    tail: NDArray[np.float32]


class ChromaIndex:
    """A collection of a Chroma, brought up to the truth by ``sync``."""

    def __init__(self, chroma: Chroma, name: str, truth: SqliteTruth, dimension: int) -> None:
        self._chroma = chroma
        self._name = name
        self._truth = truth
        self._dimension = dimension
        self._recipe = f"chroma {FORMAT}, dimension {dimension}"
        self._lock = threading.RLock()
        self._state: _State | None = None

    # ------------------------------------------------------------------ keeping up

    def needs_sync(self, head: Head) -> bool:
        """Whether the collection is behind the truth, another's, or gone."""
        with self._chroma.use() as client:
            mark = self._read_mark(client)
        return not is_usable(mark, self._truth.identity, self._recipe, head) or not is_at(
            mark, head
        )

    def sync(self) -> Mark:
        """Bring the collection up to the newest commit. Only the process with the lock may."""
        with self._lock:
            head = self._truth.read_head()
            try:
                with self._chroma.use() as client:
                    mark = self._read_mark(client)
                if mark is None or not is_usable(mark, self._truth.identity, self._recipe, head):
                    return self.rebuild()
                if not is_at(mark, head):
                    mark = self._apply(mark, head)
                self._state = self._read_state(mark)
            except BaseException as error:
                if not is_damage(error) or isinstance(error, StoreError):
                    raise
                return self.rebuild()
            return mark

    def rebuild(self) -> Mark:
        """Make the collection anew from the truth."""
        with self._lock:
            self._state = None
            head = self._truth.read_head()
            try:
                mark = self._create(head)
            except BaseException as error:
                embedded = self._chroma.url is None
                if not embedded or not is_damage(error) or isinstance(error, StoreError):
                    raise
                # An embedded folder that Chroma cannot open any more holds nothing of its own.
                self._chroma.erase()
                mark = self._create(head)
            mark = self._apply(mark, head)
            self._state = self._read_state(mark)
            return mark

    def reload(self) -> bool:
        """Take the collection as it is; hold in memory what the truth has beyond it."""
        with self._lock:
            head = self._truth.read_head()
            with self._chroma.use() as client:
                mark = self._read_mark(client)
            usable = is_usable(mark, self._truth.identity, self._recipe, head)
            self._state = self._read_state(mark if usable else None)
            return usable

    def close(self) -> None:
        """Let go of Chroma; safe to call twice."""
        self._chroma.close()

    def _create(self, head: Head) -> Mark:
        """Make an empty collection: it reflects all removals that are still on record."""
        mark = Mark(
            self._truth.identity, self._recipe, self._name, head.log_start, head.log_start, 0
        )
        with self._chroma.use(write=True) as client:
            old = get_collection(client, self._name)
            self._check_owner(old)
            if old is not None:
                client.delete_collection(self._name)
            create_collection(client, self._name, mark_to_metadata(mark))
        return mark

    def _check_owner(self, collection: Any | None) -> None:
        """Refuse to take a server's collection from another index."""
        if collection is None or self._chroma.url is None:
            return
        owner = (collection.metadata or {}).get("identity")
        if owner != self._truth.identity:
            whose = "another index" if owner else "somebody else"
            raise StoreError(
                f"the collection {self._name!r} at {self._chroma.where} belongs to {whose}",
                fix="name another collection, or delete that one",
            )

    def _apply(self, mark: Mark, head: Head) -> Mark:
        """Delete what was removed since the mark, add what came since, and move the mark."""
        removed = self._truth.list_removed(mark.generation)
        if removed:
            with self._chroma.use(write=True) as client:
                collection = self._get(client)
                for ranges in batches(removed, RANGES):
                    parts = [
                        {"$and": [{"key": {"$gte": first}}, {"key": {"$lte": last}}]}
                        for first, last in ranges
                    ]
                    collection.delete(where=parts[0] if len(parts) == 1 else {"$or": parts})
        end = move_mark(mark, head.generation, head.last_key)
        waiting: tuple[NDArray[np.int64], NDArray[np.float32]] | None = None
        for part in self._iter_batches(mark.last_key):
            if waiting is not None:
                mark = move_mark(mark, mark.generation, int(waiting[0][-1]))
                self._add(*waiting, mark)
            waiting = part
        if waiting is not None:
            self._add(*waiting, end)
            return end
        with self._chroma.use(write=True) as client:
            collection = self._get(client)
            settle(collection, np.ones(self._dimension, np.float32))
            collection.modify(metadata=mark_to_metadata(end))
        return end

    def _iter_batches(self, after: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        with self._chroma.use() as client:
            size = min(BATCH, client.get_max_batch_size())
        for keys, matrix in self._truth.iter_vectors(after):
            for start in range(0, len(keys), size):
                yield keys[start : start + size], matrix[start : start + size]

    def _add(self, keys: NDArray[np.int64], matrix: NDArray[np.float32], mark: Mark) -> None:
        """Write chunks, and then the mark that says that they are there."""
        found = read_chunks(self._truth.db, keys.tolist())
        sources = read_sources(self._truth.db, [found[key].document_id for key in keys.tolist()])
        rows = [describe_chunk(found[k], sources[found[k].document_id]) for k in keys.tolist()]
        with self._chroma.use(write=True) as client:
            collection = self._get(client)
            collection.upsert(
                ids=[row.id for row in rows],
                embeddings=matrix,
                documents=[row.text for row in rows],
                metadatas=[
                    {**row.metadata, "key": key}
                    for row, key in zip(rows, keys.tolist(), strict=True)
                ],
            )
            settle(collection, matrix[0])
            collection.modify(metadata=mark_to_metadata(mark))

    def _get(self, client: ClientAPI) -> Any:
        collection = get_collection(client, self._name)
        if collection is None:
            # No StoreError: the store takes it for damage and makes the collection anew.
            raise RuntimeError(f"the collection {self._name} at {self._chroma.where} is gone")
        return collection

    def _read_mark(self, client: ClientAPI) -> Mark | None:
        collection = get_collection(client, self._name)
        self._check_owner(collection)
        return None if collection is None else mark_from_metadata(self._name, collection.metadata)

    def _read_state(self, mark: Mark | None) -> _State:
        newer = list(self._truth.iter_vectors(mark.last_key if mark else 0))
        empty = np.zeros((0, self._dimension), np.float32)
        return _State(
            mark,
            np.concatenate([np.zeros(0, np.int64), *(keys for keys, _ in newer)]),
            np.concatenate([empty, *(matrix for _, matrix in newer)]),
        )

    def find_problems(self) -> list[str]:
        """Compare every chunk of the collection with the truth; return what differs, in words."""
        with self._lock, self._chroma.use() as client:
            collection = get_collection(client, self._name)
            if collection is None:
                return [f"the collection {self._name} is gone"]
            count = 0
            for keys, matrix in self._truth.iter_vectors(0):
                for start in range(0, len(keys), BATCH):
                    part = keys[start : start + BATCH].tolist()
                    chunks = read_chunks(self._truth.db, part)
                    ids = [f"{chunks[k].document_id}:{chunks[k].order}" for k in part]
                    got = collection.get(ids=ids, include=["metadatas", "embeddings"])
                    stored = {
                        int(meta["key"]): row
                        for meta, row in zip(got["metadatas"], got["embeddings"], strict=True)
                    }
                    expected = matrix[start : start + BATCH]
                    if set(stored) != set(part):
                        return [f"the collection {self._name} lacks chunks near {part[0]}"]
                    mine = np.asarray([stored[k] for k in part], np.float32)
                    if not np.allclose(mine, expected, atol=1e-5):
                        return [f"the collection {self._name} differs near chunk {part[0]}"]
                count += len(keys)
            held = collection.count()
            return [] if held == count else [f"the collection holds {held} chunks of {count}"]

    # ------------------------------------------------------------------ searching

    def search(
        self, vector: NDArray[np.float32], k: int, within: Ranges | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, cosine), best first, ties by key; a zero vector finds nothing."""
        state = self._state
        if state is None or k < 1 or not np.any(vector):
            return []
        allowed = None if within is None else KeyRanges(within)
        if within is not None and allowed is not None and allowed.size() <= EXACT_WITHIN:
            return self._score_within(vector, k, within)
        wanted = k + MARGIN
        while wanted <= CANDIDATES:
            keys, floor, total = self._candidates(state, vector, wanted)
            found = np.concatenate([keys, state.tail_keys])
            if allowed is not None:
                found = found[allowed.holds(found)]
            best = self._score(vector, found.tolist())[:k]
            # What Chroma left out is no nearer than the farthest of what it brought.
            if len(keys) >= total or (len(best) == k and best[-1][1] > floor + ROUNDING):
                return best
            wanted *= 4
        return self._score_all(vector, k, allowed)

    def _candidates(
        self, state: _State, vector: NDArray[np.float32], wanted: int
    ) -> tuple[NDArray[np.int64], float, int]:
        """Return keys near a vector, the cosine of the farthest, and how many chunks there are."""
        none = np.zeros(0, np.int64)
        if state.mark is None:
            return none, -1.0, 0
        with self._chroma.use() as client:
            collection = self._get(client)
            total = collection.count()
            if not total:
                return none, -1.0, 0
            found = collection.query(
                query_embeddings=[np.ascontiguousarray(vector, dtype=np.float32)],
                n_results=min(wanted, total),
                include=["metadatas", "distances"],
            )
        keys = np.array([int(meta["key"]) for meta in found["metadatas"][0]], dtype=np.int64)
        distances = found["distances"][0]
        return keys, 1.0 - float(distances[-1]) if distances else -1.0, total

    def _score(self, vector: NDArray[np.float32], keys: Iterable[int]) -> list[tuple[int, float]]:
        """Return (key, cosine) of those of the keys that still exist, best first."""
        rows = self._read(
            "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))",
            json.dumps(sorted(set(keys))),
        )
        return score_blobs(rows, vector)

    def _score_within(
        self, vector: NDArray[np.float32], k: int, within: Ranges
    ) -> list[tuple[int, float]]:
        """Return the k best of a few chunks, all of them scored."""
        rows = self._read(
            "SELECT vectors.key, vector FROM json_each(?) AS range JOIN vectors"
            " ON vectors.key BETWEEN json_extract(range.value, '$[0]')"
            " AND json_extract(range.value, '$[1]')",
            json.dumps([(int(first), int(last)) for first, last in within]),
        )
        return score_blobs(rows, vector)[:k]

    def _score_all(
        self, vector: NDArray[np.float32], k: int, allowed: KeyRanges | None
    ) -> list[tuple[int, float]]:
        """Return the k best of all chunks, a block of them at a time."""
        best: list[tuple[int, float]] = []
        with self._lock:
            for keys, matrix in self._truth.iter_vectors(0):
                if allowed is not None:
                    held = allowed.holds(keys)
                    keys, matrix = keys[held], matrix[held]
                best = merge_hits(best, score_rows(keys, matrix, vector))[:k]
        return best

    def _read(self, question: str, *values: str | int) -> list[tuple[int, bytes]]:
        with self._lock:
            return self._truth.db.execute(question, values).fetchall()
