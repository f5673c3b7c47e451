"""The lexical index: BM25 by tantivy over terms that our own analyser made.

Scores are Okapi BM25 as Lucene writes it (Robertson & Zaragoza 2009), k1 = 1.2, b = 0.75,
idf = ln(1 + (N - n + 0.5) / (n + 0.5)); lengths are kept in a byte, exact up to 40 terms and
rounded down above. Removed chunks leave N and n when the files are made anew, which happens
before they are a quarter of the index.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from citespan.index.truth import (
    MARK_NAME,
    Head,
    KeyRanges,
    Mark,
    Truth,
    free_name,
    has_sizes,
    is_damage,
    is_usable,
    read_mark,
    remove_others,
    write_mark,
)

FORMAT = 1
HEAP = 64_000_000
DEAD_SHARE = 0.25
FIELD = "terms"

WIDE = 0.02
"""Share of the chunks from which a filter is applied after the search."""

Analyze = Callable[[str, str], list[str]]
"""Turns a text and its language into index terms without white space in them."""


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


class LexicalIndex:
    """Tantivy files under ``folder``, brought up to the truth by ``sync``."""

    def __init__(self, folder: Path, truth: Truth, analyze: Analyze, recipe: str = "") -> None:
        import tantivy

        self._tantivy = tantivy
        self._folder = folder
        self._truth = truth
        self._analyze = analyze
        self._recipe = f"lexical {FORMAT}, tantivy {version('tantivy')}, {recipe}"
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(FIELD, tokenizer_name="citespan", index_option="freq")
        builder.add_unsigned_field("key", indexed=True, fast=True)
        builder.add_unsigned_field("document", indexed=True, fast=True)
        self._schema = builder.build()
        self._lock = threading.RLock()
        self._index: Any = None
        self._opened = ""
        self._state: tuple[Mark, Any, KeyRanges] | None = None
        self._checked = False

    # ------------------------------------------------------------------ keeping up

    def needs_sync(self, head: Head) -> bool:
        """Whether the files (not just what is loaded) are behind the truth, or broken."""
        mark = read_mark(self._folder)
        if mark is None or not is_usable(mark, self._truth.identity, self._recipe, head):
            return True
        if not self._checked and not has_sizes(self._folder / mark.name, mark.sizes):
            return True
        return mark.generation != head.generation

    def sync(self) -> Mark:
        """Bring the files up to the newest commit. Only the process that holds the lock may."""
        with self._lock:
            head = self._truth.read_head()
            mark = read_mark(self._folder)
            if mark is not None and is_usable(mark, self._truth.identity, self._recipe, head):
                try:
                    if has_sizes(self._folder / mark.name, mark.sizes):
                        mark = self._catch_up(mark, head)
                        self._load(mark)
                        self._checked = True
                        return mark
                except BaseException as error:
                    if not is_damage(error):
                        raise
            return self.rebuild()

    def rebuild(self) -> Mark:
        """Make the files anew from the truth."""
        with self._lock:
            head = self._truth.read_head()
            self._folder.mkdir(parents=True, exist_ok=True)
            name = free_name(self._folder, "terms")
            path = self._folder / name
            path.mkdir()
            index = self._bind(self._tantivy.Index(self._schema, path=str(path)))
            added, terms = self._write(index, after=0, removed=[])
            self._index, self._opened = index, name
            mark = Mark(
                self._truth.identity,
                self._recipe,
                name,
                head.generation,
                head.generation,
                head.last_key,
                _file_sizes(path),
                {"added": added, "terms": terms, "removed": 0},
            )
            write_mark(self._folder, mark)
            remove_others(self._folder, {MARK_NAME, name})
            self._load(mark)
            self._checked = True
            return mark

    def build_in_memory(self) -> None:
        """Index everything without files, for a folder that cannot be written to."""
        with self._lock:
            head = self._truth.read_head()
            index = self._bind(self._tantivy.Index(self._schema))
            added, terms = self._write(index, after=0, removed=[])
            self._index, self._opened = index, ""
            index.reload()
            numbers = {"added": added, "terms": terms, "removed": 0}
            mark = Mark(
                self._truth.identity,
                self._recipe,
                "",
                head.generation,
                head.generation,
                head.last_key,
                {},
                numbers,
            )
            self._state = (mark, index.searcher(), KeyRanges([]))

    def reload(self) -> bool:
        """Load what is on disk as it is, for a reader that may not bring it up to date.

        What was removed since is left out of the results; what was added since is not found yet.
        Where the files are of no use nothing is found; the result says whether they were.
        """
        with self._lock:
            head = self._truth.read_head()
            mark = read_mark(self._folder)
            if mark is not None and is_usable(mark, self._truth.identity, self._recipe, head):
                try:
                    if self._state is None or self._state[0] != mark:
                        self._load(mark)
                    else:
                        dead = KeyRanges(self._truth.list_removed(mark.generation))
                        self._state = (mark, self._state[1], dead)
                    return True
                except BaseException as error:
                    if not is_damage(error):
                        raise
            self._state = None
            return False

    @property
    def generation(self) -> int:
        """The generation that searches reflect; -1 where nothing is loaded."""
        return self._state[0].generation if self._state else -1

    def _catch_up(self, mark: Mark, head: Head) -> Mark:
        if mark.generation == head.generation:
            return mark
        removed = self._truth.list_removed(mark.generation)
        # A crash between tantivy's commit and our mark leaves documents that the mark does not
        # know of; removing what lies above its last key first makes adding them again harmless.
        removed.append((mark.last_key + 1, 2**62))
        index = self._open(mark.name)
        gone = sum(last - first + 1 for first, last in removed[:-1] if first <= mark.last_key)
        numbers = dict(mark.numbers)
        numbers["removed"] += gone
        if numbers["removed"] > DEAD_SHARE * max(1, numbers["added"] - numbers["removed"]):
            return self.rebuild()
        added, terms = self._write(index, after=mark.last_key, removed=removed)
        numbers["added"] += added
        numbers["terms"] += terms
        sizes = _file_sizes(self._folder / mark.name)
        caught = Mark(
            mark.identity,
            mark.recipe,
            mark.name,
            head.generation,
            head.generation,
            head.last_key,
            sizes,
            numbers,
        )
        write_mark(self._folder, caught)
        return caught

    def _write(self, index: Any, *, after: int, removed: list[tuple[int, int]]) -> tuple[int, int]:
        writer = index.writer(HEAP, 1)
        try:
            counts = self._fill(writer, after, removed)
            writer.commit()
        except BaseException:
            # Left to the garbage collector, the writer would go on holding tantivy's own lock.
            writer.rollback()
            writer.wait_merging_threads()
            raise
        writer.wait_merging_threads()
        return counts

    def _fill(self, writer: Any, after: int, removed: list[tuple[int, int]]) -> tuple[int, int]:
        query, kind = self._tantivy.Query, self._tantivy.FieldType.Unsigned
        added = terms = 0
        for first, last in removed:
            writer.delete_documents_by_query(
                query.range_query(self._schema, "key", kind, first, last)
            )
        for batch in self._truth.iter_texts(after):
            for chunk in batch:
                found = self._analyze(chunk.text, chunk.language)
                document = self._tantivy.Document()
                document.add_text(FIELD, " ".join(found))
                document.add_unsigned("key", chunk.key)
                document.add_unsigned("document", chunk.document)
                writer.add_document(document)
                terms += len(found)
            added += len(batch)
        return added, terms

    def _bind(self, index: Any) -> Any:
        tokenizer = self._tantivy.Tokenizer.whitespace()
        index.register_tokenizer("citespan", self._tantivy.TextAnalyzerBuilder(tokenizer).build())
        index.config_reader("manual")
        return index

    def _open(self, name: str) -> Any:
        if self._index is None or self._opened != name:
            self._index = self._bind(self._tantivy.Index.open(str(self._folder / name)))
            self._opened = name
        return self._index

    def _load(self, mark: Mark) -> None:
        index = self._open(mark.name)
        index.reload()
        dead = KeyRanges(self._truth.list_removed(mark.generation))
        self._state = (mark, index.searcher(), dead)

    # ------------------------------------------------------------------ searching

    def search(
        self, groups: Sequence[Sequence[str]], k: int, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, score), best first, ties by key; ``within`` a filter if given."""
        state, query = self._state, self._build(groups)
        if state is None or query is None or k < 1:
            return []
        _, searcher, dead = state
        total = int(searcher.num_docs)
        if within is None:
            return self._collect(searcher, query, k, 2 * k + 10, total, dead) or []
        # tantivy gathers the documents of a filter anew for each search, which for many takes
        # longer than fetching so many hits that enough of them will be allowed.
        allowed = KeyRanges(within.ranges)
        share = allowed.size() / max(1, total)
        if share > WIDE:
            limit = int((2 * k + 10) / share)
            found = self._collect(searcher, query, k, limit, total, dead, allowed, once=True)
            if found is not None:
                return found
        query = self._within(query, "document", within.documents)
        return self._collect(searcher, query, k, 2 * k + 10, total, dead) or []

    def _collect(
        self,
        searcher: Any,
        query: Any,
        k: int,
        limit: int,
        total: int,
        dead: KeyRanges,
        allowed: KeyRanges | None = None,
        *,
        once: bool = False,
    ) -> list[tuple[int, float]] | None:
        """Fetch more and more hits until k are among them; None where ``once`` was not enough."""
        while total:
            limit = min(limit, total)
            found = searcher.search(query, limit, count=False).hits
            places = [address for _, address in found]
            keys = np.array(searcher.fast_field_values("key", places), dtype=np.int64)
            good = ~dead.holds(keys)
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
        state, query = self._state, self._build(groups)
        if state is None or query is None or not keys:
            return {}
        searcher = state[1]
        within = self._within(query, "key", list(dict.fromkeys(keys)))
        found = searcher.search(within, max(1, len(keys)), count=False).hits
        values = searcher.fast_field_values("key", [address for _, address in found])
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
        if self._state is None:
            return dict.fromkeys(terms, 0)
        searcher = self._state[1]
        return {term: int(searcher.doc_freq(FIELD, term)) for term in terms}

    def count_alive(self) -> int:
        """Return the number of chunks that can be found."""
        if self._state is None:
            return 0
        _, searcher, dead = self._state
        removed = 0
        for first, last in zip(dead.first, dead.last, strict=True):
            query = self._tantivy.Query.range_query(
                self._schema, "key", self._tantivy.FieldType.Unsigned, int(first), int(last)
            )
            removed += searcher.search(query, 1, count=True).count
        return int(searcher.num_docs) - removed

    @property
    def mean_length(self) -> float:
        """Mean number of terms a chunk."""
        numbers = self._state[0].numbers if self._state else {}
        return numbers["terms"] / numbers["added"] if numbers.get("added") else 0.0

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


def _file_sizes(path: Path) -> dict[str, int]:
    return {
        file.name: file.stat().st_size
        for file in path.iterdir()
        if not file.name.startswith(".") and file.suffix != ".json" and file.is_file()
    }
