"""Searching one store: filters, the derived indexes, and what a snapshot may see of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from citespan.errors import StoreError
from citespan.protocols import Filter, Terms, TermStatistics
from citespan.stores.access import plain_errors
from citespan.stores.connections import Connections
from citespan.stores.filters import Scope, resolve_filter
from citespan.stores.indexes import DerivedIndexes
from citespan.stores.rows import count_chunks
from citespan.stores.truth import read_meta

SCOPES = 64
"""Filters whose documents are remembered until the next commit."""


class StoreSearch:
    """The searches of a store; ``mutex`` is the store's own, held while it writes."""

    def __init__(
        self,
        connections: Connections,
        indexes: DerivedIndexes,
        mutex: threading.RLock,
    ) -> None:
        self._connections = connections
        self._indexes = indexes
        self._mutex = mutex
        self._scopes: dict[str, Scope] = {}
        self._scopes_of = -1

    def search_terms(
        self, terms: Terms, k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, BM25 score), best first; ties by key."""
        scope = self._scope(where)
        if scope is not None and not scope.ranges:
            return []
        with plain_errors(self._connections.path):
            found = self._indexes.search(lambda: self._indexes.lexical.search(terms, k, scope))
        return self._visible(found)

    def search_vector(
        self, vector: NDArray[np.float32], k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, cosine), best first; ties by key.

        A vector of zeros, which stands for an empty text, finds nothing.
        """
        scope = self._scope(where)
        with self._connections.use() as db:
            dimension = int(read_meta(db, "dimension"))
        if not dimension or (scope is not None and not scope.ranges):
            return []
        if vector.shape != (dimension,):
            raise StoreError(
                f"the question's vector has the shape {vector.shape}, the index {(dimension,)}",
                fix="ask with the model that the index was made with",
            )
        ranges = None if scope is None else scope.ranges

        def question() -> list[tuple[int, float]]:
            dense = self._indexes.dense
            return dense.search(vector, k, ranges) if dense else []

        with plain_errors(self._connections.path):
            return self._visible(self._indexes.search(question))

    def score_terms(self, terms: Terms, keys: Sequence[int]) -> list[float]:
        """Return each chunk's BM25 score, 0 where no term occurs."""
        wanted = [int(key) for key in keys]
        with plain_errors(self._connections.path):
            found = self._indexes.search(lambda: self._indexes.lexical.score(terms, wanted))
        return [found.get(key, 0.0) for key in wanted]

    def explain_terms(self, terms: Terms, key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's BM25 score; the values sum to the score."""
        with plain_errors(self._connections.path):
            return self._indexes.search(lambda: self._indexes.lexical.explain(terms, int(key)))

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the collection's size and how many chunks hold each term.

        The counts are the lexical index's, which knows removed chunks until it is made anew.
        """
        lexical = self._indexes.lexical
        with plain_errors(self._connections.path):
            counts = self._indexes.search(lambda: lexical.count(terms))
        with self._connections.use() as db:
            chunks = count_chunks(db)
        return TermStatistics(
            chunks, lexical.mean_length, {term: min(n, chunks) for term, n in counts.items()}
        )

    def _visible(self, found: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Leave out chunks that are newer than the snapshot this thread reads in."""
        with self._connections.use() as db:
            if not db.in_transaction:
                return found
            end = int(read_meta(db, "next_key"))
        return [hit for hit in found if hit[0] < end]

    def _scope(self, where: Filter | None) -> Scope | None:
        """Resolve a filter; what it gave is kept until the next commit."""
        if not where:
            return None
        with self._mutex, self._connections.use() as db:
            generation = int(read_meta(db, "generation"))
            if generation != self._scopes_of or len(self._scopes) >= SCOPES:
                self._scopes.clear()
                self._scopes_of = generation
            name = repr(where)
            if name not in self._scopes:
                self._scopes[name] = resolve_filter(db, where)
            return self._scopes[name]
