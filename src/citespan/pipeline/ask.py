"""Asking an index: retrieve, expand, gate, prompt, generate, verify, each result kept in a trace."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from citespan.config import LoadedSettings, Settings, load_settings
from citespan.errors import InputError, StoreError
from citespan.expand import expand_hits
from citespan.pipeline.parts import adopt_stored, open_embedder
from citespan.protocols import Embedder, Filter, Store
from citespan.retrieve import retrieve_hits
from citespan.stores import open_store
from citespan.text import analyze_query, detect_language
from citespan.types import Document, Span, Trace

DOCUMENTS_KEPT = 64
"""Documents whose text and sentences are kept between questions."""


@dataclass(slots=True)
class OpenIndex:
    """An index that is open for asking; made by ``open_index``, closed by ``close`` or ``with``."""

    store: Store
    settings: Settings
    embedder: Embedder | None
    notes: tuple[str, ...] = ()
    _documents: dict[str, tuple[Document, list[Span]]] = field(default_factory=dict)
    _generation: int = -1
    _languages: tuple[str, ...] = ()

    def __enter__(self) -> OpenIndex:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; safe to call twice."""
        self.store.close()

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the documents, the most frequent first."""
        self._refresh()
        return self._languages

    def get_document(self, document_id: str) -> Document | None:
        """Return a document with its text, or None."""
        found = self._read(document_id)
        return found[0] if found else None

    def get_sentences(self, document_id: str) -> list[Span]:
        """Return the spans of a document's sentences, in order."""
        found = self._read(document_id)
        return found[1] if found else []

    def _read(self, document_id: str) -> tuple[Document, list[Span]] | None:
        self._refresh()
        if document_id not in self._documents:
            document = self.store.get_document(document_id)
            if document is None:
                return None
            if len(self._documents) >= DOCUMENTS_KEPT:
                del self._documents[next(iter(self._documents))]
            spans = [row.span for row in self.store.get_sentences(document_id)]
            self._documents[document_id] = (document, spans)
        return self._documents[document_id]

    def _refresh(self) -> None:
        """Forget what was read before the last commit."""
        generation = self.store.generation
        if generation != self._generation:
            self._documents.clear()
            self._languages = tuple(code for code in self.store.language_counts() if code)
            self._generation = generation


def open_index(loaded: LoadedSettings | str | Path | None = None) -> OpenIndex:
    """Open an index for asking, with the embedder it was made with.

    Parameters
    ----------
    loaded
        The settings (``load_settings``), or the index's folder.

    Raises
    ------
    StoreError
        If there is no index, or it was made with another model than the one asked for.
    ModelError
        If its model is neither on this machine nor ``minilm``.
    """
    if loaded is None or isinstance(loaded, str | Path):
        loaded = load_settings({"index": str(loaded)} if loaded is not None else {})
    store = open_store(loaded.settings.index, read_only=True)
    try:
        settings = adopt_stored(loaded, store.settings)
        made = str(store.settings.get("embedder", "none"))
        embedder, notes = _open_same_embedder(settings, made, str(store.settings.get("model", "")))
        if embedder is None and settings.retriever == "hybrid":
            settings = replace(settings, retriever="lexical")
    except BaseException:
        store.close()
        raise
    return OpenIndex(store, settings, embedder, notes)


def _open_same_embedder(
    settings: Settings, made: str, model: str
) -> tuple[Embedder | None, tuple[str, ...]]:
    """Return the index's embedder; another one's vectors cannot be compared with the stored."""
    if settings.embedder == "none" or settings.retriever in ("lexical", "tfidf"):
        return None, ()
    if settings.embedder != made:
        raise StoreError(
            f"the index was made with the embedder {made!r}, not {settings.embedder!r}",
            fix=f"leave out --embedder, or run: citespan index PATH --rebuild "
            f"--embedder {settings.embedder}",
        )
    embedder, notes = open_embedder(made)
    if embedder is not None and embedder.name != model:
        raise StoreError(
            f"the index was made with the model {model}, and {made!r} is now {embedder.name}",
            fix="run: citespan index PATH --rebuild",
        )
    return embedder, notes


def search_index(index: OpenIndex, question: str, *, where: Filter | None = None) -> Trace:
    """Return what an index holds on a question: hits, passages, and the gate's verdict.

    Raises
    ------
    InputError
        If the question is empty.
    """
    asked = " ".join(question.split())
    if not asked:
        raise InputError("the question is empty", fix="write it in quotes")
    settings, store = index.settings, index.store
    trace = Trace(question=asked, settings=_describe(settings))
    with store.snapshot():
        with _timed(trace, "retrieve"):
            languages = index.languages()
            trace.language = detect_language(asked, languages[0] if languages else "en")
            terms = analyze_query(asked, languages)
            trace.terms = tuple(tuple(group) for group in terms)
            weigh = _weigh_terms(store, trace)
            found = retrieve_hits(
                asked,
                store,
                settings.k,
                terms=terms,
                embedder=index.embedder,
                retriever=settings.retriever,
                where=where,
            )
            trace.hits = found.hits
        with _timed(trace, "expand"):
            trace.passages = tuple(
                expand_hits(
                    found.hits,
                    index.get_document,
                    index.get_sentences,
                    budget=settings.budget,
                    passage_budget=settings.passage,
                )
            )
        with _timed(trace, "gate"):
            trace.gate = _check_gate(index, trace, found, weigh)
    return trace
