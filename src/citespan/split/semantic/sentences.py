"""One document's sentences with all that the methods look at: spans, sizes, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import Embedder
from citespan.split.chunks import cut_sentences
from citespan.split.ruler import Ruler
from citespan.split.semantic.options import Options
from citespan.split.semantic.repair import Limits
from citespan.split.semantic.vectors import Space, embed_sentences, weigh_sentences
from citespan.split.sizes import Sizes
from citespan.text import detect_language
from citespan.types import Document, Span


@dataclass(frozen=True, slots=True)
class Sentences:
    """What is cut: ``spans[i]`` are the sentences, none larger than the hard maximum."""

    spans: list[Span]
    spaces: tuple[Space, ...]
    ruler: Ruler
    limits: Limits
    heads: frozenset[int]
    """The sentences with which a section begins."""


def read_sentences(
    document: Document, sizes: Sizes, options: Options, embedder: Embedder | None
) -> Sentences:
    """Return a document's sentences and their vectors in the spaces that were asked for."""
    ruler = sizes.measure_document(document)
    spans = cut_sentences(document, Span(0, len(document.text)), ruler, sizes)
    texts = [document.text[start:end] for start, end in spans]
    spaces: list[Space] = []
    # Sentences that are too few to be parted make one chunk, whatever they mean.
    parted = len(spans) >= 2 * options.min_sentences or len(spans) > options.max_sentences
    if parted or (len(spans) > 1 and ruler.measure(spans[0].start, spans[-1].end) > sizes.room):
        if embedder is not None and options.vectors != "tfidf":
            spaces.append(embed_sentences(texts, embedder))
        if embedder is None or options.vectors != "embedder":
            language = sizes.language or document.language or detect_language(document.text)
            spaces.append(weigh_sentences(texts, language))

    def measure(group: Sequence[int]) -> int:
        # Distant sentences are joined by a blank, which is a character but no word or token.
        runs = join_runs(spans, group)
        between = len(runs) - 1 if sizes.unit == "characters" else 0
        return sum(ruler.measure(*run) for run in runs) + between

    limits = Limits(
        options.min_sentences,
        options.max_sentences,
        sizes.minimum,
        sizes.room,
        measure,
        sizes.unit,
    )
    starts = {section.start for section in document.sections}
    heads = frozenset(number for number, span in enumerate(spans) if span.start in starts)
    return Sentences(spans, tuple(spaces), ruler, limits, heads)


def join_runs(spans: Sequence[Span], group: Sequence[int]) -> list[Span]:
    """Return the spans of a group's runs of neighbouring sentences.

    >>> join_runs([Span(0, 4), Span(5, 9), Span(10, 14), Span(15, 19)], [0, 1, 3])
    [Span(start=0, end=9), Span(start=15, end=19)]
    """
    runs: list[Span] = []
    last = -2
    for number in group:
        if number == last + 1:
            runs[-1] = Span(runs[-1].start, spans[number].end)
        else:
            runs.append(spans[number])
        last = number
    return runs


def find_reach(sentences: Sentences) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where a segment from each sentence ends at the latest, and at the earliest.

    Exclusive ends, both ``[n]``: the hard maximum (at least one sentence), and the soft minimum;
    n + 1 where the rest of the document is too short for it.
    """
    spans, limits, ruler = sentences.spans, sentences.limits, sentences.ruler
    count = len(spans)
    reach = np.zeros(count, dtype=np.int64)
    least = np.zeros(count, dtype=np.int64)
    high = low = 0
    for first in range(count):
        start = spans[first].start
        high = max(high, first + 1)
        while (
            high < count
            and high - first < limits.max_sentences
            and ruler.measure(start, spans[high].end) <= limits.maximum
        ):
            high += 1
        reach[first] = high
        low = max(low, first + limits.min_sentences)
        while low <= count and ruler.measure(start, spans[low - 1].end) < limits.minimum:
            low += 1
        least[first] = low
    return reach, least
