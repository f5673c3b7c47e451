"""Fixed windows: so many words, the next window so many words on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from citespan.split.chunks import build_chunks
from citespan.split.ruler import Ruler, Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Span


@dataclass(slots=True)
class WordSplitter:
    """Windows of ``size`` units, each beginning ``size - overlap`` after the one before.

    Raises
    ------
    InputError
        If ``overlap`` is not smaller than ``size``, or a number is no size.

    Examples
    --------
    >>> splitter = WordSplitter(size=3, overlap=1)
    >>> [chunk.text for chunk in splitter.split(Document("d", "d", "one two three four five"))]
    ['one two three', 'three four five']
    """

    size: int | None = None
    overlap: int | None = None
    unit: Unit = "words"
    count_tokens: CountTokens | None = None
    name: str = field(default="words", init=False)
    sizes: Sizes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.sizes = make_sizes(
            self.size, self.overlap, self.unit, usual_overlap=40, count_tokens=self.count_tokens
        )

    def split(self, document: Document) -> list[Chunk]:
        """Return the windows; the last one is as long as what is left."""
        ruler = self.sizes.measure_document(document)
        spans = slide_window(document.text, ruler, self.sizes.room, self.sizes.overlap)
        return build_chunks(document, spans, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings()}


def slide_window(text: str, ruler: Ruler, size: int, overlap: int) -> Iterator[Span]:
    """Yield windows of at most ``size`` that share at most ``overlap``; each begins later.

    Ends as soon as a window reaches the end of the text: there is no window of overlap alone.
    """
    length = len(text.rstrip())
    start = ruler.next_start(len(text) - len(text.lstrip()))
    while start < length:
        end = min(length, ruler.reach(start, size))
        yield Span(start, end)
        if end >= length:
            return
        following = ruler.next_start(end)
        start = max(ruler.next_start(start + 1), min(following, ruler.back(end, overlap)))
