"""SemanticChunker: sentences that are about the same thing become one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError
from citespan.protocols import Embedder
from citespan.split.chunks import build_chunks
from citespan.split.ruler import Unit
from citespan.split.semantic.contrast import Contrast
from citespan.split.semantic.cutting import (
    Cut,
    compare_neighbours,
    cut_document,
    label_groups,
    measure_silhouette,
)
from citespan.split.semantic.groups import build_groups, overlap_runs
from citespan.split.semantic.options import CONTIGUOUS, Method, Options, Vectors
from citespan.split.semantic.sentences import Sentences, read_sentences
from citespan.split.sizes import Sizes, make_sizes
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Span, content_id

Texts = str | Document | Sequence[str | Document]

SHARD = 50
"""The usual minimum: a quarter of the size, but no more than so many tokens or words."""


class SentenceNote(NamedTuple):
    """One sentence as ``explain`` shows it.

    ``cluster`` is what the method found, before the repair (-1: noise); ``chunk`` the chunk it is
    in. ``similarity`` is the cosine with the next sentence, None for the last. ``reason`` says why
    it is parted from the sentence before, or why it was put with others.
    """

    number: int
    span: Span
    text: str
    cluster: int
    chunk: int
    similarity: float | None
    reason: str


@dataclass(slots=True)
class SemanticChunker:
    """Chunks that end where the subject changes; scikit-learn's conventions, and a splitter.

    Parameters
    ----------
    method
        ``segments``: the best contiguous segmentation, by dynamic programming. ``depth``: cuts in
        the valleys of similarity between windows. ``breakpoints``: cuts where neighbours are least
        alike. ``dbscan``, ``kmeans``: clusters wherever their sentences stand; such a chunk has
        several spans.
    size, overlap, unit, minimum, count_tokens, language, engine
        As for every splitter: ``size`` is the hard maximum, by default what the embedder can read
        (256 tokens without one); ``minimum`` is soft; only contiguous methods can overlap.
    min_sentences, max_sentences
        A smaller cluster joins its nearest, a larger one is cut at its weakest pairs.
    embedder
        Makes the sentences' vectors; without one they are TF-IDF vectors of the document's own.
    vectors
        ``auto`` uses both, by how well each tells near sentences from far ones in this document
        (``segments`` weighs them together, the other methods take the better);
        ``embedder`` and ``tfidf`` name one.
    threshold, exponent
        For ``segments``: where between the mean cosine of far pairs (0) and of near ones (1)
        *alike* begins, and the power of its length that a segment's sum is divided by: 0 favours
        few long segments, 1 many short ones. docs/semantic.md has the measurements.
    eps, min_samples
        For DBSCAN; ``eps`` is searched from 0.3 to 0.6 by silhouette if None.
    n_clusters
        For k-means; searched from 2 to min(20, n / 2) by silhouette if None.
    percentile
        For ``breakpoints``: gaps less alike than all but the other ``100 - percentile`` percent.
    window, deviations
        For ``depth``: sentences to a side, and how many standard deviations above the mean a depth
        must be. ``window`` serves ``breakpoints`` too.
    random_state
        The seed of k-means.

    Attributes
    ----------
    labels_
        int64 ``[n]``: the subject of each sentence, after the repair; numbers go on from document
        to document. A subject is one chunk, or several where it is longer than the hard maximum.
    sentences_
        The sentences' spans, as many as labels, document by document.
    n_clusters_
        How many subjects there are.
    eps_, silhouette_
        DBSCAN's radius, and the mean silhouette of ``labels_`` under cosine distance; NaN where
        they do not apply. An array ``[documents]`` where several documents were given.
    chunks_
        The chunks, with the real spans.
    contrasts_
        For each document how well its vectors tell near from far, and the weights they got.

    Raises
    ------
    InputError
        If the numbers do not go together.

    Examples
    --------
    >>> text = "Rust is a fungus. The fungus lives on wheat. Wheat rust spreads. "
    >>> text += "Ships carry cargo. Cargo ships are slow. The ships cross the sea."
    >>> chunker = SemanticChunker(minimum=1)
    >>> [chunk.text for chunk in chunker.fit_transform(text)]
    ['Rust is a fungus. ... Wheat rust spreads.', 'Ships carry cargo. ... cross the sea.']
    >>> chunker.labels_.tolist(), chunker.n_clusters_
    ([0, 0, 0, 1, 1, 1], 2)
    """

    method: Method = "segments"
    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    min_sentences: int = 3
    max_sentences: int = 15
    embedder: Embedder | None = None
    vectors: Vectors = "auto"
    threshold: float = 0.2
    exponent: float = 0.5
    eps: float | None = None
    min_samples: int = 2
    n_clusters: int | None = None
    percentile: float = 85.0
    window: int | None = None
    deviations: float = 0.5
    random_state: int = 0
    count_tokens: CountTokens | None = None
    language: str = ""
    engine: str = ""
    name: str = field(default="semantic", init=False)
    sizes: Sizes = field(init=False, repr=False)
    options: Options = field(init=False, repr=False)
    chunks_: list[Chunk] = field(init=False, repr=False, compare=False)
    sentences_: list[Span] = field(init=False, repr=False, compare=False)
    labels_: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    contrasts_: list[Contrast | None] = field(init=False, repr=False, compare=False)
    n_clusters_: int = field(init=False, repr=False, compare=False)
    eps_: float | NDArray[np.float64] = field(init=False, repr=False, compare=False)
    silhouette_: float | NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {option.name for option in fields(Options)}
        self.options = Options(**{name: getattr(self, name) for name in names})
        if self.vectors == "embedder" and self.embedder is None:
            raise InputError("vectors 'embedder' without an embedder", fix="give embedder=")
        count = self.count_tokens
        if count is None and self.embedder is not None:
            count = self.embedder.count_tokens
        usual = 0
        if self.unit == "tokens":
            usual = 256 if self.embedder is None else self.embedder.max_tokens
        sizes = make_sizes(
            self.size,
            self.overlap,
            self.unit,
            usual_size=usual,
            minimum=self.minimum,
            count_tokens=count,
            language=self.language,
            engine=self.engine,
        )
        if self.minimum is None and self.unit in ("tokens", "words"):
            sizes = replace(sizes, minimum=min(sizes.minimum, SHARD))
        self.sizes = sizes
        if self.overlap and self.method not in CONTIGUOUS:
            raise InputError(
                f"overlap {self.overlap} with method {self.method!r}, whose chunks are no runs",
                fix=f"leave the overlap out, or use: {', '.join(sorted(CONTIGUOUS))}",
            )

    def split(self, document: Document) -> list[Chunk]:
        """Return one document's chunks in order."""
        sentences, cut = self._cut(document)
        return self._build(document, sentences, cut)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts, the vectors' model among it."""
        chosen = {option.name: getattr(self.options, option.name) for option in fields(Options)}
        model = "" if self.embedder is None or self.vectors == "tfidf" else self.embedder.name
        return {
            "splitter": self.name,
            **self.sizes.settings(),
            "engine": self.engine,
            **chosen,
            "model": model or "tfidf",
        }

    def fit(self, documents: Texts, y: object = None) -> SemanticChunker:
        """Cut one text, one document or several; what was found is in the attributes.

        Nothing is carried from one document to another: each is cut by its own sentences.
        """
        several = not isinstance(documents, str | Document)
        chunks: list[Chunk] = []
        spans: list[Span] = []
        labels: list[NDArray[np.int64]] = []
        eps: list[float] = []
        silhouettes: list[float] = []
        contrasts: list[Contrast | None] = []
        total = 0
        for document in _list_documents(documents):
            sentences, cut = self._cut(document)
            chunks += self._build(document, sentences, cut)
            spans += sentences.spans
            labels.append(label_groups(cut.subjects, len(sentences.spans)) + total)
            total += len(cut.subjects)
            eps.append(cut.eps)
            silhouettes.append(measure_silhouette(cut))
            contrasts.append(cut.contrast)
        self.chunks_ = chunks
        self.sentences_ = spans
        self.labels_ = np.concatenate(labels) if labels else np.zeros(0, dtype=np.int64)
        self.n_clusters_ = total
        self.contrasts_ = contrasts
        self.eps_ = np.array(eps) if several else eps[0]
        self.silhouette_ = np.array(silhouettes) if several else silhouettes[0]
        return self

    def transform(self, documents: Texts) -> list[Chunk]:
        """Return the chunks of the documents, in order; none reaches over two documents.

        Needs no ``fit``: there is nothing that one document could learn for another.
        """
        return [chunk for document in _list_documents(documents) for chunk in self.split(document)]

    def fit_transform(self, documents: Texts, y: object = None) -> list[Chunk]:
        """Fit, and return the chunks that it made."""
        return self.fit(documents, y).chunks_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` is there for scikit-learn's sake."""
        return {param.name: getattr(self, param.name) for param in fields(self) if param.init}

    def set_params(self, **params: Any) -> SemanticChunker:
        """Set parameters by name; all are checked before any is set.

        >>> SemanticChunker().set_params(method="kmeans", n_clusters=4).get_params()["n_clusters"]
        4
        """
        known = self.get_params()
        if unknown := sorted(set(params) - set(known)):
            raise InputError(
                f"no parameter {', '.join(map(repr, unknown))}", fix=f"use: {', '.join(known)}"
            )
        SemanticChunker(**{**known, **params})
        for name, value in params.items():
            setattr(self, name, value)
        self.__post_init__()
        return self

    def explain(self, document: str | Document) -> list[SentenceNote]:
        """Return for each sentence its cluster, chunk, similarity to the next, and the reason.

        >>> rows = SemanticChunker(max_sentences=1, min_sentences=1).explain("One. Two.")
        >>> [(row.text, row.chunk, row.reason) for row in rows]
        [('One.', 0, ''), ('Two.', 1, 'together 2 sentences, at most 1; best here')]
        """
        document = _list_documents(document)[0]
        sentences, cut = self._cut(document)
        labels = label_groups(cut.groups, len(sentences.spans))
        similarities = compare_neighbours(cut)
        notes = []
        for number, span in enumerate(sentences.spans):
            reasons = (cut.notes.joined.get(number), cut.notes.cut.get(number))
            # A cut between two clusters that were joined after all is none.
            parted = number == 0 or labels[number] != labels[number - 1]
            shown = [why for why, true in zip(reasons, (True, parted), strict=True) if why and true]
            notes.append(
                SentenceNote(
                    number,
                    span,
                    document.text[span.start : span.end],
                    int(cut.clusters[number]),
                    int(labels[number]),
                    float(similarities[number]) if number < len(similarities) else None,
                    "; ".join(shown),
                )
            )
        return notes

    def _cut(self, document: Document) -> tuple[Sentences, Cut]:
        sentences = read_sentences(document, self.sizes, self.options, self.embedder)
        return sentences, cut_document(sentences, self.options)

    def _build(self, document: Document, sentences: Sentences, cut: Cut) -> list[Chunk]:
        if self.method not in CONTIGUOUS:
            return build_groups(document, sentences.spans, cut.groups, self.sizes)
        spans = overlap_runs(
            sentences.spans, cut.groups, sentences.ruler, self.sizes.room, self.sizes.overlap
        )
        return build_chunks(document, spans, self.sizes)


def _list_documents(documents: Texts) -> list[Document]:
    """Return documents; a bare text becomes one whose source says where it stood."""
    given = [documents] if isinstance(documents, str | Document) else list(documents)
    found = []
    for number, text in enumerate(given):
        if isinstance(text, Document):
            found.append(text)
            continue
        if not isinstance(text, str):
            raise InputError(
                f"item {number} is {type(text).__name__}", fix="give texts or Documents"
            )
        source = f"text-{number}"
        found.append(Document(content_id(source, text), source, text))
    return found
