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
from typing import Any, NamedTuple

from citespan.index.lexical_search import FIELD, LexicalSearcher, Within
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

Analyze = Callable[[str, str], list[str]]
"""Turns a text and its language into index terms without white space in them."""


class _State(NamedTuple):
    mark: Mark
    searcher: LexicalSearcher


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
        self._state: _State | None = None
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
            self._state = self._freeze(mark, index, KeyRanges([]))

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
                    if self._state is None or self._state.mark != mark:
                        self._load(mark)
                    else:
                        dead = KeyRanges(self._truth.list_removed(mark.generation))
                        self._state = _State(mark, self._state.searcher.without(dead))
                    return True
                except BaseException as error:
                    if not is_damage(error):
                        raise
            self._state = None
            return False

    @property
    def generation(self) -> int:
        """The generation that searches reflect; -1 where nothing is loaded."""
        return self._state.mark.generation if self._state else -1

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
        self._state = self._freeze(mark, index, dead)

    def _freeze(self, mark: Mark, index: Any, dead: KeyRanges) -> _State:
        return _State(mark, LexicalSearcher(self._schema, index.searcher(), dead))

    # ------------------------------------------------------------------ searching

    def search(
        self, groups: Sequence[Sequence[str]], k: int, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (key, score), best first, ties by key; ``within`` a filter if given."""
        state = self._state
        return state.searcher.search(groups, k, within) if state else []

    def score(self, groups: Sequence[Sequence[str]], keys: Sequence[int]) -> dict[int, float]:
        """Return the scores of those of the given chunks in which a term occurs."""
        state = self._state
        return state.searcher.score(groups, keys) if state else {}

    def explain(self, groups: Sequence[Sequence[str]], key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's score; of a group, its best term alone."""
        state = self._state
        return state.searcher.explain(groups, key) if state else {}

    def count(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many chunks hold each term."""
        state = self._state
        return state.searcher.count(terms) if state else dict.fromkeys(terms, 0)

    def count_alive(self) -> int:
        """Return the number of chunks that can be found."""
        state = self._state
        return state.searcher.count_alive() if state else 0

    @property
    def mean_length(self) -> float:
        """Mean number of terms a chunk."""
        numbers = self._state.mark.numbers if self._state else {}
        return numbers["terms"] / numbers["added"] if numbers.get("added") else 0.0


def _file_sizes(path: Path) -> dict[str, int]:
    return {
        file.name: file.stat().st_size
        for file in path.iterdir()
        if not file.name.startswith(".") and file.suffix != ".json" and file.is_file()
    }
