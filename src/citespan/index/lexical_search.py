"""Searching one state of a lexical index: BM25 scores by tantivy, without what was removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from citespan.index.truth import KeyRanges

FIELD = "terms"

WIDE = 0.02
"""Share of the chunks from which a filter is applied after the search."""


class Within(Protocol):
    """What a filter allows: the documents' integer keys, and the ranges of their chunks' keys."""

    @property
    def documents(self) -> Sequence[int]:
        """Keys of documents."""
        ...

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Ranges (first, last) of chunk keys, apart and in order."""
        ...


class LexicalSearcher:
    """One opened state of the files; it stays as it is while they go on.

    ``searcher`` is tantivy's, over a ``schema`` with the fields ``terms``, ``key`` and
    ``document``; chunks whose keys ``dead`` holds are left out of what is found.
    """

    def __init__(self, schema: Any, searcher: Any, dead: KeyRanges) -> None:
        import tantivy

        self._tantivy = tantivy
        self._schema = schema
        self._searcher = searcher
        self._dead = dead

    def without(self, dead: KeyRanges) -> LexicalSearcher:
        """Return the same state with other chunks left out."""
        return LexicalSearcher(self._schema, self._searcher, dead)

    def search(
        self, groups: Sequence[Sequence[str]], k: int, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, score), best first, ties by key; ``within`` a filter if given."""
        query = self._build(groups)
        if query is None or k < 1:
            return []
        total = int(self._searcher.num_docs)
        if within is None:
            return self._collect(query, k, 2 * k + 10, total) or []
        # tantivy gathers the documents of a filter anew for each search, which for many takes
        # longer than fetching so many hits that enough of them will be allowed.
        allowed = KeyRanges(within.ranges)
        share = allowed.size() / max(1, total)
        if share > WIDE:
            limit = int((2 * k + 10) / share)
            found = self._collect(query, k, limit, total, allowed, once=True)
            if found is not None:
                return found
        query = self._within(query, "document", within.documents)
        return self._collect(query, k, 2 * k + 10, total) or []

    def _collect(
        self,
        query: Any,
        k: int,
        limit: int,
        total: int,
        allowed: KeyRanges | None = None,
        *,
        once: bool = False,
    ) -> list[tuple[int, float]] | None:
        """Fetch more and more hits until k are among them; None where ``once`` was not enough."""
        while total:
            limit = min(limit, total)
            found = self._searcher.search(query, limit, count=False).hits
            places = [address for _, address in found]
            keys = np.array(self._searcher.fast_field_values("key", places), dtype=np.int64)
            good = ~self._dead.holds(keys)
            if allowed is not None:
                good &= allowed.holds(keys)
            hits = [(int(keys[i]), float(found[i][0])) for i in np.flatnonzero(good)]
            # Equal scores come in the order of the files; only when the last one fetched is
            # strictly worse than the k-th are all that tie with it at hand to be put by key.
            everything = len(found) < limit or limit == total
            if everything or (len(hits) >= k and hits[k - 1][1] > found[-1][0]):
                return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
            if once:
                return None
            limit *= 4
        return []

    def score(self, groups: Sequence[Sequence[str]], keys: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the given chunks in which a term occurs."""
        query = self._build(groups)
        if query is None or not keys:
            return {}
        within = self._within(query, "key", list(dict.fromkeys(keys)))
        found = self._searcher.search(within, max(1, len(keys)), count=False).hits
        values = self._searcher.fast_field_values("key", [address for _, address in found])
        return {int(key): float(score) for key, (score, _) in zip(values, found, strict=True)}

    def explain(self, groups: Sequence[Sequence[str]], key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's score; of a group, its best term alone."""
        terms = dict.fromkeys(term for group in groups for term in group)
        scores = {term: self.score([[term]], [key]).get(key, 0.0) for term in terms}
        parts: dict[str, float] = {}
        for group in groups:
            best = max(group, key=lambda term: scores[term], default=None)
            if best is not None and scores[best] > 0:
                parts[best] = parts.get(best, 0.0) + scores[best]
        return parts

    def count(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many chunks hold each term."""
        return {term: int(self._searcher.doc_freq(FIELD, term)) for term in terms}

    def count_alive(self) -> int:
        """Return the number of chunks that can be found."""
        removed = 0
        for first, last in zip(self._dead.first, self._dead.last, strict=True):
            query = self._tantivy.Query.range_query(
                self._schema, "key", self._tantivy.FieldType.Unsigned, int(first), int(last)
            )
            removed += self._searcher.search(query, 1, count=True).count
        return int(self._searcher.num_docs) - removed

    def _build(self, groups: Sequence[Sequence[str]]) -> Any:
        query, should = self._tantivy.Query, self._tantivy.Occur.Should
        clauses = []
        for group in groups:
            alternatives = [
                query.term_query(self._schema, FIELD, term, index_option="freq")
                for term in dict.fromkeys(group)
                if term
            ]
            if len(alternatives) == 1:
                clauses.append((should, alternatives[0]))
            elif alternatives:
                clauses.append((should, query.disjunction_max_query(alternatives)))
        return query.boolean_query(clauses) if clauses else None

    def _within(self, query: Any, field: str, values: Sequence[int]) -> Any:
        kind, must = self._tantivy.Query, self._tantivy.Occur.Must
        if len(values) == 1:
            allowed = kind.term_query(self._schema, field, values[0], index_option="basic")
        else:
            allowed = kind.term_set_query(self._schema, field, list(values))
        return kind.boolean_query([(must, query), (must, kind.const_score_query(allowed, 0.0))])
