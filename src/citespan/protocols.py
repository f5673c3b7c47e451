"""The seams: what a splitter, embedder, store and generator must do, and nothing about how.

Each Protocol has one conformance suite in ``tests/conformance``; every implementation, ours or
another's, passes through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from citespan.types import Chunk, Document, Prompt, Span

Vectors = NDArray[np.float32]
"""float32, shape ``[n, dimension]``, rows of L2 norm 1 (a row of zeros stands for empty text)."""

Terms = Sequence[Sequence[str]]
"""Query terms, one group a query token; a group's members are alternatives (stems in several
languages), of which the best counts."""


@runtime_checkable
class Splitter(Protocol):
    """Cuts a document into chunks that are slices of it."""

    name: str

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; starts strictly increase and every non-space is covered."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts, as JSON values; stored with the index."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    name: str
    """Model, precision and version: two embedders of one name give the same vectors."""
    dimension: int
    max_tokens: int
    """What the model can read at once, special tokens and prefix included."""

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one L2-normalised row a text, in the order given."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length as the model counts it, special tokens and prefix included."""
        ...


@dataclass(frozen=True, slots=True)
class Filter:
    """Limits a search. Fields are combined with *and*; the values within one with *or*.

    ``sources`` and ``titles`` are globs (``*.pdf``, ``handbook/**``); ``metadata`` compares whole
    values of the user's own fields.
    """

    sources: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether it limits anything."""
        return bool(
            self.sources or self.titles or self.languages or self.document_ids or self.metadata
        )


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document's row without its text."""

    id: str
    source: str
    title: str
    media_type: str
    language: str
    length: int
    chunks: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """What BM25 needs to know of the collection: chunks, mean terms a chunk, chunks per term."""

    chunks: int
    mean_length: float
    frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """A stored sentence: its number within the document, its span, and its vector if there is."""

    order: int
    span: Span
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class SentenceRange:
    """Stored sentences of one document in order, from number ``first`` on.

    ``spans`` is int32 ``[n, 2]``; ``vectors`` float32 ``[n, dimension]``, or None where the
    document was stored without. ``terms`` are the hashes (``citespan.text.hash_terms``) of all the
    sentences' index terms, one sentence after another; ``counts`` int32 ``[n]`` says how many of
    them each sentence has. So a sentence is scored by its words without being analysed again.
    """

    document_id: str
    first: int
    spans: NDArray[np.int32]
    vectors: NDArray[np.float32] | None
    terms: NDArray[np.uint32]
    counts: NDArray[np.int32]


class Store(Protocol):
    """Keeps documents, chunks, sentences and vectors, and finds chunks by terms or by a vector.

    Chunks are addressed by an integer key that is valid until the chunk's document is rewritten.
    Reading sees committed documents only.
    """

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the index was made with: model, dimension, splitter, versions."""
        ...

    @property
    def generation(self) -> int:
        """Grows by one with each commit."""
        ...

    def write(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Vectors | None = None,
        *,
        sentences: Sequence[Span] = (),
        sentence_vectors: Vectors | None = None,
        fingerprint: str = "",
    ) -> None:
        """Store a document in one transaction, in place of any document of the same source."""
        ...

    def remove(self, sources: Sequence[str]) -> int:
        """Remove every trace of the named documents; return how many there were."""
        ...

    def list_documents(self, where: Filter | None = None) -> list[DocumentInfo]:
        """Return the documents' rows, by source."""
        ...

    def get_document(self, document_id: str) -> Document | None:
        """Return one document with its text, or None."""
        ...

    def get_chunks(self, keys: Sequence[int]) -> list[Chunk]:
        """Return the chunks of these keys, in the order given."""
        ...

    def get_vectors(self, keys: Sequence[int]) -> Vectors:
        """Return the stored vectors of these chunks, in the order given."""
        ...

    def chunk_keys(self, document_id: str) -> list[int]:
        """Return the keys of a document's chunks, in order."""
        ...

    def get_sentences(
        self, document_id: str, first: int = 0, last: int | None = None
    ) -> list[SentenceRow]:
        """Return the sentences ``first <= order < last`` of a document, in order."""
        ...

    def get_sentence_ranges(
        self, requests: Sequence[tuple[str, int, int | None]]
    ) -> list[SentenceRange]:
        """Return for each (document id, first, last) its sentences as arrays, in few queries."""
        ...

    def chunk_sentences(self, keys: Sequence[int]) -> list[list[tuple[str, int, int]]]:
        """Return, for each chunk, (document id, first, last) of the sentences of each span."""
        ...

    def read_note(self, name: str) -> Any:
        """Return what ``write_note`` kept under a name, a JSON value; None if there is nothing."""
        ...

    def write_note(self, name: str, value: Any) -> None:
        """Keep a JSON value with the index, such as what was learned about it."""
        ...

    def get_fingerprints(self) -> dict[str, str]:
        """Return each source's fingerprint, to see what changed without reading any text."""
        ...

    def language_counts(self) -> dict[str, int]:
        """Return how many documents there are of each language, most first."""
        ...

    def count_chunks(self) -> int:
        """Return the number of chunks."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all that this thread reads within see one committed state."""
        ...

    def flush(self) -> None:
        """Bring what is derived from the rows up to the last commit; searching does so too."""
        ...

    def search_terms(
        self, terms: Terms, k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, BM25 score), best first; ties by key."""
        ...

    def search_vector(
        self, vector: NDArray[np.float32], k: int, where: Filter | None = None
    ) -> list[tuple[int, float]]:
        """Return up to k (chunk key, cosine), best first; ties by key."""
        ...

    def score_terms(self, terms: Terms, keys: Sequence[int]) -> list[float]:
        """Return each chunk's BM25 score, 0 where no term occurs.

        Fusion needs it for the chunks that only the vector search found.
        """
        ...

    def explain_terms(self, terms: Terms, key: int) -> dict[str, float]:
        """Return what each term adds to one chunk's BM25 score; the values sum to the score."""
        ...

    def term_statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Return the collection's size and how many chunks hold each term."""
        ...

    def close(self) -> None:
        """Release files and locks; safe to call twice."""
        ...


@runtime_checkable
class Generator(Protocol):
    """Writes an answer to a prompt, piece by piece."""

    name: str

    def generate(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer's text in pieces as they come."""
        ...
