"""A chunk a paragraph: small ones joined up to a minimum, long ones cut at sentence ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from citespan.spans import trim_span
from citespan.split.chunks import build_chunks, cut_sentences
from citespan.split.pack import pack_units
from citespan.split.ruler import Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Span

_BLANK = re.compile(r"(?:\r\n|[\n\r\u2029])[^\S\n\r\u2029]*(?:\r\n|[\n\r\u2029])\s*|\x0c\s*")


@dataclass(slots=True)
class ParagraphSplitter:
    r"""Paragraphs are what blank lines part; in a text without any, lines are taken.

    Examples
    --------
    >>> splitter = ParagraphSplitter(size=9, unit="words", minimum=2)
    >>> document = Document("d", "d", "One\n\nTwo three four.\n\nFive six.", language="en")
    >>> [chunk.text for chunk in splitter.split(document)]
    ['One\n\nTwo three four.', 'Five six.']
    """

    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    count_tokens: CountTokens | None = None
    language: str = ""
    engine: str = ""
    name: str = field(default="paragraphs", init=False)
    sizes: Sizes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.sizes = make_sizes(
            self.size,
            self.overlap,
            self.unit,
            minimum=self.minimum,
            count_tokens=self.count_tokens,
            language=self.language,
            engine=self.engine,
        )

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order."""
        ruler = self.sizes.measure_document(document)
        units: list[Span] = []
        breaks: set[int] = set()
        for paragraph in find_paragraphs(document.text):
            breaks.add(len(units))
            if ruler.measure(*paragraph) <= self.sizes.room:
                units.append(paragraph)
            else:
                units.extend(cut_sentences(document, paragraph, ruler, self.sizes))
        spans = pack_units(
            units,
            ruler,
            self.sizes.room,
            overlap=self.sizes.overlap,
            minimum=self.sizes.minimum,
            breaks=breaks,
        )
        return build_chunks(document, spans, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings(), "engine": self.engine}


def find_paragraphs(text: str) -> list[Span]:
    r"""Return the trimmed spans between blank lines, or the lines where no line is blank.

    >>> find_paragraphs("a\nb\n\nc"), find_paragraphs("a\nb")
    ([Span(start=0, end=3), Span(start=5, end=6)], [Span(start=0, end=1), Span(start=2, end=3)])
    """
    pattern = _BLANK if _BLANK.search(text.strip()) else re.compile(r"[\r\n\u2029]+")
    spans: list[Span] = []
    start = 0
    for gap in pattern.finditer(text):
        if (span := trim_span(text, start, gap.start())) is not None:
            spans.append(span)
        start = gap.end()
    if (span := trim_span(text, start, len(text))) is not None:
        spans.append(span)
    return spans
