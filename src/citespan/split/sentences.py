"""Whole sentences packed up to a size: the splitter that is used unless another is named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from citespan.split.chunks import build_chunks, cut_sentences
from citespan.split.pack import pack_units
from citespan.split.ruler import Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Span


@dataclass(slots=True)
class SentenceSplitter:
    """Runs of whole sentences of at most ``size``; a new section begins a new chunk.

    ``overlap`` is filled with whole sentences. ``minimum`` (a quarter of ``size`` if None) keeps
    shards away: a section's end or the document's makes no chunk below it where that can be helped.
    A sentence longer than ``size`` is cut at white space.

    Examples
    --------
    >>> splitter = SentenceSplitter(size=4, unit="words")
    >>> document = Document("d", "d", "One two. Three four. Five six.", language="en")
    >>> [chunk.text for chunk in splitter.split(document)]
    ['One two. Three four.', 'Five six.']
    """

    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    count_tokens: CountTokens | None = None
    language: str = ""
    engine: str = ""
    name: str = field(default="sentences", init=False)
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
        units = cut_sentences(document, Span(0, len(document.text)), ruler, self.sizes)
        heads = {section.start for section in document.sections}
        spans = pack_units(
            units,
            ruler,
            self.sizes.room,
            overlap=self.sizes.overlap,
            minimum=self.sizes.minimum,
            breaks={number for number, unit in enumerate(units) if unit.start in heads},
        )
        return build_chunks(document, spans, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings(), "engine": self.engine}
