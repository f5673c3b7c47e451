"""Any sequence of commits and searches answers like a plain dictionary would."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from citespan.protocols import Filter
from citespan.stores import SqliteStore, open_store
from store_parts import analyze, bm25_scores, make_document, make_vectors

SOURCES = st.sampled_from(["a.txt", "b.txt", "d/a.txt", "d/b.md", "e.md"])
WORDS = st.sampled_from(["tea", "milk", "sugar", "cup", "pot"])
PARTS = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=0, max_size=4)
GLOBS = st.sampled_from(["*.txt", "d/*", "d/", "**", "nothing"])
TERMS = st.lists(st.lists(WORDS, min_size=1, max_size=2), min_size=1, max_size=3)


class StoreMachine(RuleBasedStateMachine):
    """The model: source → (parts, vectors)."""

    @initialize()
    def make(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name) / "index"
        self.model: dict[str, tuple[list[str], np.ndarray]] = {}
        self.seed = 0
        self.store = self.open()
        self.reader: SqliteStore | None = None

    def open(self, *, read_only: bool = False) -> SqliteStore:
        settings_ = None if read_only else {"dimension": 8}
        return open_store(
            self.folder,
            create_settings=settings_,
            read_only=read_only,
            analyze=analyze,
            exact_limit=6,
        )

    @rule(source=SOURCES, parts=PARTS)
    def write(self, source: str, parts: list[str]) -> None:
        self.seed += 1
        document, chunks = make_document(source, *parts)
        vectors = make_vectors(len(parts), seed=self.seed).reshape(len(parts), 8)
        self.store.write(document, chunks, vectors, fingerprint=str(self.seed))
        self.model[source] = (parts, vectors)

    @rule(sources=st.lists(SOURCES, max_size=3))
    def remove(self, sources: list[str]) -> None:
        assert self.store.remove(sources) == len(set(sources) & set(self.model))
        for source in sources:
            self.model.pop(source, None)

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @rule()
    def compact(self) -> None:
        self.store.compact()

    def expected(self, globs: tuple[str, ...] = ()) -> tuple[dict[int, str], dict[int, np.ndarray]]:
        texts: dict[int, str] = {}
        vectors: dict[int, np.ndarray] = {}
        for info in self.store.list_documents(Filter(sources=globs)):
            parts, matrix = self.model[info.source]
            keys = self.store.chunk_keys(info.id)
            texts.update(zip(keys, parts, strict=True))
            vectors.update(zip(keys, matrix, strict=True))
        return texts, vectors

    @rule(globs=st.lists(GLOBS, max_size=2), k=st.integers(1, 30))
    def search_vector(self, globs: list[str], k: int) -> None:
        _, vectors = self.expected(tuple(globs))
        query = make_vectors(1, seed=self.seed + 1000)[0]
        hits = self.store.search_vector(query, k, Filter(sources=tuple(globs)))
        scores = {key: float(row @ query) for key, row in vectors.items()}
        wanted = sorted(scores, key=lambda key: (-scores[key], key))[:k]
        assert [key for key, _ in hits] == wanted
        assert [s for _, s in hits] == pytest.approx([scores[key] for key in wanted], abs=1e-5)

    @rule(globs=st.lists(GLOBS, max_size=2), terms=TERMS)
    def search_terms(self, globs: list[str], terms: list[list[str]]) -> None:
        texts, _ = self.expected(tuple(globs))
        hits = self.store.search_terms(terms, 100, Filter(sources=tuple(globs)))
        words = {term for group in terms for term in group}
        assert {key for key, _ in hits} == {
            key for key, text in texts.items() if words & set(text.split())
        }
        for key, score in hits:
            parts = self.store.explain_terms(terms, key)
            assert sum(parts.values()) == pytest.approx(score, rel=1e-5)

    @rule(terms=TERMS)
    def search_compacted(self, terms: list[list[str]]) -> None:
        self.store.compact()
        texts, _ = self.expected()
        assert dict(self.store.search_terms(terms, 100)) == pytest.approx(
            bm25_scores(texts, terms), rel=1e-4
        )

    @precondition(lambda self: bool(self.model))
    @rule()
    def read_beside(self) -> None:
        if self.reader is None:
            self.reader = self.open(read_only=True)
        self.store.flush()
        texts, _ = self.expected()
        for kind in (
            self.reader.search_terms([["tea"]], 100),
            self.reader.search_vector(make_vectors(1)[0], 100),
        ):
            assert {key for key, _ in kind} <= set(texts)
        assert self.reader.count_chunks() == len(texts)

    @invariant()
    def documents_are_the_models(self) -> None:
        if not hasattr(self, "store"):
            return
        assert {info.source for info in self.store.list_documents()} == set(self.model)
        assert self.store.count_chunks() == sum(len(p) for p, _ in self.model.values())

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        try:
            assert self.store.check() == []
        finally:
            if self.reader is not None:
                self.reader.close()
            self.store.close()
            self.temporary.cleanup()


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=12,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
