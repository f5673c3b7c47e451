"""Windows of the embedder's own tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from citespan.split.chunks import build_chunks
from citespan.split.ruler import Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.split.words import slide_window
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document


@dataclass(slots=True)
class TokenSplitter:
    """Windows of at most ``size`` tokens, special tokens included; words stay whole.

    Without ``count_tokens`` the tokens are estimated, erring high.

    Examples
    --------
    >>> splitter = TokenSplitter(size=3, overlap=1)
    >>> [chunk.text for chunk in splitter.split(Document("d", "d", "one two three four"))]
    ['one two', 'two three', 'four']
    """

    size: int | None = None
    overlap: int | None = None
    unit: Unit = "tokens"
    count_tokens: CountTokens | None = None
    name: str = field(default="tokens", init=False)
    sizes: Sizes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.sizes = make_sizes(
            self.size, self.overlap, self.unit, usual_overlap=40, count_tokens=self.count_tokens
        )

    def split(self, document: Document) -> list[Chunk]:
        """Return the windows in order."""
        ruler = self.sizes.measure_document(document)
        spans = slide_window(document.text, ruler, self.sizes.room, self.sizes.overlap)
        return build_chunks(document, spans, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings()}
