"""Recursive characters: cut at the coarsest separator that makes the pieces fit.

The cuts are those of LangChain's ``RecursiveCharacterTextSplitter`` with its defaults
(``keep_separator=True``), chunk for chunk; a test holds them together. Since separators are kept,
its pieces joined again are always a slice of the text, so the cuts can be computed on spans and
no text need be searched for. Two differences, both where that splitter repeats itself: a chunk
that begins where its neighbour begins, or lies within the one before, is left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from citespan.split.chunks import build_chunks
from citespan.split.ruler import Ruler, Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Span

SEPARATORS = ("\n\n", "\n", " ", "")

Measure = Callable[[int, int], int]


@dataclass(slots=True)
class RecursiveSplitter:
    """Pieces at paragraph, line, word and character ends, merged up to ``size``.

    Examples
    --------
    >>> splitter = RecursiveSplitter(size=12, overlap=4)
    >>> [chunk.text for chunk in splitter.split(Document("d", "d", "One two three. Four"))]
    ['One two', 'two three.', 'Four']
    """

    size: int | None = None
    overlap: int | None = None
    unit: Unit = "characters"
    separators: Sequence[str] = SEPARATORS
    count_tokens: CountTokens | None = None
    name: str = field(default="recursive", init=False)
    sizes: Sizes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # 256 and 50 characters, where nothing else was said.
        plain = self.unit == "characters" and self.size is None
        self.sizes = make_sizes(
            256 if plain else self.size,
            50 if plain and self.overlap is None else self.overlap,
            self.unit,
            usual_overlap=50,
            count_tokens=self.count_tokens,
        )

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order."""
        ruler = self.sizes.measure_document(document)
        text = document.text
        pieces = self._cut(text, Span(0, len(text)), tuple(self.separators), ruler)
        return build_chunks(document, pieces, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {
            "splitter": self.name,
            **self.sizes.settings(),
            "separators": list(self.separators),
        }

    def _cut(
        self, text: str, span: Span, separators: tuple[str, ...], ruler: Ruler
    ) -> Iterator[Span]:
        separator, finer = _choose_separator(text, span, separators)
        room, overlap = self.sizes.room, self.sizes.overlap
        waiting: list[Span] = []
        for piece in _cut_before(text, span, separator, ruler):
            if ruler.measure(*piece) < room or not separator:
                waiting.append(piece)
                continue
            yield from merge_pieces(waiting, ruler.measure, room, overlap)
            waiting = []
            # Without a finer separator the piece is cut anywhere: the maximum holds.
            yield from self._cut(text, piece, finer or ("",), ruler)
        yield from merge_pieces(waiting, ruler.measure, room, overlap)


def _choose_separator(
    text: str, span: Span, separators: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return the first separator that stands in the span, and those behind it."""
    for place, separator in enumerate(separators):
        if not separator or text.find(separator, *span) >= 0:
            return separator, separators[place + 1 :]
    return separators[-1], ()


def _cut_before(text: str, span: Span, separator: str, ruler: Ruler) -> Iterator[Span]:
    """Yield the pieces of a span; each but the first begins with the separator."""
    start, end = span
    if not separator:
        while start < end:
            cut = min(end, ruler.reach(start, 1)) if ruler.unit != "characters" else start + 1
            yield Span(start, cut)
            start = cut
        return
    at = text.find(separator, start, end)
    while at >= 0:
        if at > start:
            yield Span(start, at)
        start = at
        at = text.find(separator, at + len(separator), end)
    yield Span(start, end)


def merge_pieces(
    pieces: Sequence[Span], measure: Measure, size: int, overlap: int
) -> Iterator[Span]:
    """Yield runs of adjoining pieces of at most ``size``, sharing pieces of at most ``overlap``.

    >>> pieces = [Span(0, 3), Span(3, 6), Span(6, 9)]
    >>> list(merge_pieces(pieces, lambda start, end: end - start, 6, 3))
    [Span(start=0, end=6), Span(start=3, end=9)]
    """
    run: deque[tuple[Span, int]] = deque()
    total = 0
    for piece in pieces:
        length = measure(*piece)
        if run and total + length > size:
            yield Span(run[0][0].start, run[-1][0].end)
            while run and (total > overlap or (total + length > size and total > 0)):
                total -= run.popleft()[1]
        run.append((piece, length))
        total += length
    if run:
        yield Span(run[0][0].start, run[-1][0].end)
