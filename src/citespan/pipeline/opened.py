"""An index that is open for asking: its store, its embedder, and the documents read last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from citespan.config import LoadedSettings, Settings, resolve_settings
from citespan.errors import InputError, StoreError
from citespan.pipeline.calibrate import read_trust
from citespan.pipeline.parts import ANALYSIS_VERSION, adopt_stored, open_embedder
from citespan.pipeline.sources import select_sources
from citespan.protocols import Embedder, Filter, Store
from citespan.stores import open_store
from citespan.text import analyze_query, analyze_terms
from citespan.types import Chunk, Document, Hit, Span

if TYPE_CHECKING:
    from citespan.retrieve.tfidf import TfidfIndex

TRUSTED = 0.9
COSINE_RANGE = (0.2, 0.7)
"""MiniLM's cosine of unrelated text, and of text that answers (docs/gate.md)."""
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
    _trust: dict[str, float] = field(default_factory=dict)
    _count: int = 0
    _tfidf: tuple[TfidfIndex, list[Chunk]] | None = None

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

    def count_documents(self, where: Filter | None = None) -> int:
        """Return how many documents a search looks through."""
        self._refresh()
        return len(self.store.list_documents(where)) if where else self._count

    def get_document(self, document_id: str) -> Document | None:
        """Return a document with its text, or None."""
        found = self._read(document_id)
        return found[0] if found else None

    def get_sentences(self, document_id: str) -> list[Span]:
        """Return the spans of a document's sentences, in order."""
        found = self._read(document_id)
        return found[1] if found else []

    def trust(self, language: str) -> float:
        """Return how much cosines count for questions of a language, as calibration found."""
        self._refresh()
        if language not in self._trust:
            self._trust[language] = read_trust(self.store, language)
        return self._trust[language]

    def cosine_range(self, language: str) -> tuple[float, float] | None:
        """Return between which cosines the gate places one, or None where it says too little.

        Only an embedder that calibration found about as good as BM25 in that language has a say.
        """
        if self.embedder is None or self.trust(language) < TRUSTED:
            return None
        return COSINE_RANGE

    def search_tfidf(self, question: str, k: int, where: Filter | None = None) -> tuple[Hit, ...]:
        """Return the k chunks with the highest TF-IDF cosine, as ``citespan.plain`` ranks them.

        The matrix is built from all chunks when it is first needed, and again after a commit.
        """
        self._refresh()
        if self._tfidf is None:
            from citespan.retrieve.tfidf import TfidfIndex

            infos = self.store.list_documents()
            keys = [key for info in infos for key in self.store.chunk_keys(info.id)]
            language = {info.id: info.language for info in infos}
            chunks = self.store.get_chunks(keys)
            terms = (analyze_terms(c.text, language[c.document_id]) for c in chunks)
            query = partial(_flat_terms, languages=self._languages)
            self._tfidf = (TfidfIndex(query).fit(terms), chunks)
        index, chunks = self._tfidf
        allowed = {info.id for info in self.store.list_documents(where)} if where else None
        found = index.search(question, len(chunks) if allowed is not None else k)
        kept = [
            (chunks[number], score)
            for number, score in found
            if allowed is None or chunks[number].document_id in allowed
        ][:k]
        return tuple(
            Hit(chunk, score, rank, {"tfidf_cosine": score})
            for rank, (chunk, score) in enumerate(kept, start=1)
        )

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
            self._tfidf = None
            self._trust.clear()
            counts = self.store.language_counts()
            self._languages = tuple(code for code in counts if code)
            self._count = sum(counts.values())
            self._generation = generation


def open_index(
    loaded: LoadedSettings | str | Path | None = None, *, without_embedder: bool = False
) -> OpenIndex:
    """Open an index for asking, with the embedder it was made with.

    Parameters
    ----------
    loaded
        The settings (``load_settings``), or the index's folder.
    without_embedder
        Open no model; for reading documents, where none is needed.

    Raises
    ------
    StoreError
        If there is no index, or it was made with another model than the one asked for.
    ModelError
        If its model is neither on this machine nor ``minilm``.
    """
    loaded = resolve_settings(loaded)
    store = open_store(loaded.settings.index, read_only=True)
    try:
        settings = adopt_stored(loaded, store.settings)
        _check_analysis(store.settings.get("analysis", ANALYSIS_VERSION))
        if without_embedder:
            return OpenIndex(store, settings, None)
        made = str(store.settings.get("embedder", "none"))
        embedder, notes = _open_same_embedder(settings, made, str(store.settings.get("model", "")))
        if embedder is None and settings.retriever in ("hybrid", "rrf"):
            settings = replace(settings, retriever="lexical")
    except BaseException:
        store.close()
        raise
    return OpenIndex(store, settings, embedder, notes)


def _check_analysis(made: object) -> None:
    """Refuse terms that this program would cut otherwise: a question would miss them in silence."""
    if made != ANALYSIS_VERSION:
        raise StoreError(
            f"the index was made with analysis {made}, and this citespan has {ANALYSIS_VERSION}",
            fix="run: citespan index PATH --rebuild",
        )


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


def limit_to(
    index: OpenIndex, paths: Sequence[str | Path], where: Filter | None = None
) -> Filter | None:
    """Return the filter that also keeps a search within these files and folders.

    An index may hold more than what was asked about: documents of earlier runs, in other folders.
    """
    base = Path(index.settings.index).absolute().parent
    infos = index.store.list_documents()
    wanted = {
        source
        for path in paths
        for source in select_sources([info.source for info in infos], path, base)
    }
    if len(wanted) == len(infos):
        return where
    ids = tuple(info.id for info in infos if info.source in wanted)
    # An id that no document has: with none the filter would be open.
    return replace(where or Filter(), document_ids=ids or ("",))


def _flat_terms(text: str, languages: tuple[str, ...]) -> list[str]:
    return [term for group in analyze_query(text, languages) for term in group]


def find_document(index: OpenIndex, name: str) -> Document:
    """Return the document of a source name, or of the end of one that fits no other document.

    Raises
    ------
    InputError
        If no document's name ends so, or several do; they are listed.
    """
    infos = index.store.list_documents()
    exact = [info for info in infos if name in (info.source, info.id)]
    found = exact or [info for info in infos if f"/{info.source}".endswith(f"/{name.lstrip('/')}")]
    if len(found) != 1:
        what = "several documents" if found else "no document"
        listed = ", ".join(info.source for info in (found or infos)[:8])
        raise InputError(f"{what} named {name!r}", fix=f"name one of: {listed}")
    document = index.store.get_document(found[0].id)
    if document is None:
        raise InputError(f"{name!r} was removed just now", fix="see: citespan status --documents")
    return document
