"""Writing: documents in, one committed transaction a document out.

Memory is flat in the number of documents: they are read one by one, embedded a batch at a time,
and written as soon as their vectors are there. Stopping at any moment loses the running batch at
most; the next run goes on where this one ended, since a file whose content is already committed
costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from citespan.embed import Progress as Embedding
from citespan.embed import embed_texts
from citespan.protocols import Embedder, Splitter, Store, Vectors
from citespan.text import detect_language, split_sentences
from citespan.types import Chunk, Document, Skip, Span

LONG = 512
"""Texts from which on their embedding is reported; fewer are done before the line is read."""
BATCH = 512
"""Texts that are embedded together: enough to fill sorted batches, little to lose."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far indexing is; passed to the ``progress`` callable after each document.

    ``embedding`` is set while a batch's texts go through the model: how many are done, of how
    many, at how many tokens a second, and the seconds left for them.
    """

    source: str
    documents: int
    total: int | None
    chunks: int
    seconds: float
    embedding: Embedding | None = None


@dataclass(slots=True)
class BuildReport:
    """What one run of indexing did."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    failed: int = 0
    removed: list[str] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    chunks: int = 0
    truncated: int = 0
    seconds: float = 0.0
    stopped: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Prepared:
    document: Document
    fingerprint: str
    chunks: list[Chunk]
    sentences: list[Span]


def chunk_text(chunk: Chunk) -> str:
    r"""Return what is embedded and indexed for a chunk: its context, then its text.

    >>> chunk_text(Chunk("d", 0, (Span(0, 2),), "Hi", context="Greetings"))
    'Greetings\nHi'
    """
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def prepare_document(document: Document) -> Document:
    """Return the document with its language filled in, if the loader did not know it."""
    if document.language:
        return document
    return replace(document, language=detect_language(document.text))


def write_documents(
    documents: Iterable[tuple[Document, str]],
    store: Store,
    splitter: Splitter,
    embedder: Embedder | None,
    report: BuildReport,
    *,
    known: set[str],
    total: int | None = None,
    progress: Callable[[Progress], Any] | None = None,
) -> None:
    """Split, embed and store each ``(document, fingerprint)``; fills the report.

    ``known`` holds the sources that the store has already: they count as changed, the others as
    added. A KeyboardInterrupt ends the run after the document being written, with
    ``report.stopped`` set.
    """
    started = time.monotonic()
    waiting: list[_Prepared] = []
    size = 0
    try:
        for document, fingerprint in documents:
            document = prepare_document(document)
            item = _Prepared(
                document,
                fingerprint,
                splitter.split(document),
                split_sentences(document.text, document.language),
            )
            waiting.append(item)
            size += len(item.chunks) + len(item.sentences)
            if size >= BATCH:
                _write_batch(waiting, store, embedder, report, known, total, progress, started)
                waiting, size = [], 0
        if waiting:
            _write_batch(waiting, store, embedder, report, known, total, progress, started)
    except KeyboardInterrupt:
        report.stopped = True
    if report.truncated and embedder is not None:
        report.notes.append(
            f"{report.truncated} chunks are longer than the {embedder.max_tokens} tokens that the "
            "model reads; what stands beyond is found by its words only (a smaller --size mends it)"
        )
    report.seconds += time.monotonic() - started


def _write_batch(
    items: Sequence[_Prepared],
    store: Store,
    embedder: Embedder | None,
    report: BuildReport,
    known: set[str],
    total: int | None,
    progress: Callable[[Progress], Any] | None,
    started: float,
) -> None:
    def show(source: str, embedding: Embedding | None) -> None:
        if progress is not None:
            passed = report.unchanged + report.failed
            done = len(report.added) + len(report.changed) + passed
            seconds = time.monotonic() - started
            progress(Progress(source, done, total, report.chunks, seconds, embedding))

    def show_embedding(embedding: Embedding) -> None:
        if embedding.total >= LONG:
            show(items[0].document.source, embedding)

    vectors = _embed_batch(items, embedder, report, show_embedding)
    for item, (chunk_vectors, sentence_vectors) in zip(items, vectors, strict=True):
        source = item.document.source
        store.write(
            item.document,
            item.chunks,
            chunk_vectors,
            sentences=item.sentences,
            sentence_vectors=sentence_vectors,
            fingerprint=item.fingerprint,
        )
        (report.changed if source in known else report.added).append(source)
        known.add(source)
        report.chunks += len(item.chunks)
        show(source, None)


def _embed_batch(
    items: Sequence[_Prepared],
    embedder: Embedder | None,
    report: BuildReport,
    show: Callable[[Embedding], Any],
) -> Iterator[tuple[Vectors | None, Vectors | None]]:
    """Embed all chunks and sentences of a batch in one call; hand them out document by document."""
    if embedder is None:
        yield from ((None, None) for _ in items)
        return
    texts: list[str] = []
    for item in items:
        texts.extend(chunk_text(chunk) for chunk in item.chunks)
        texts.extend(item.document.text[s:e] for s, e in item.sentences)
    found = embed_texts(texts, embedder, progress=show)
    vectors = found.vectors
    cut = set(found.truncated)
    at = 0
    for item in items:
        middle = at + len(item.chunks)
        # A sentence that the model cannot read whole is still read by the chunks that hold it.
        report.truncated += sum(place in cut for place in range(at, middle))
        end = middle + len(item.sentences)
        yield vectors[at:middle], vectors[middle:end]
        at = end
