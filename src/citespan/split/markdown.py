"""Markdown: blocks as ``markdown-it-py`` finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from citespan.split.ruler import Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.split.structure import Block, Kind, find_lines, split_blocks
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Section, Span

_LINE_END = re.compile(r"\r\n?|\n")
_KINDS: dict[str, Kind] = {
    "heading_open": "heading", "paragraph_open": "text", "fence": "lines", "code_block": "lines",
    "html_block": "text", "table_open": "rows", "list_item_open": "text", "blockquote_open": "text",
}  # fmt: skip


@dataclass(slots=True)
class MarkdownSplitter:
    r"""Sections of a Markdown text; headings above a chunk are its context.

    Examples
    --------
    >>> splitter = MarkdownSplitter(size=7, unit="words", minimum=1)
    >>> document = Document("d", "d", "# Keys\n\nA b c.\n\n## Loss\n\nD e f.", language="en")
    >>> [(chunk.context, chunk.text) for chunk in splitter.split(document)]
    [('', '# Keys\n\nA b c.'), ('Keys', '## Loss\n\nD e f.')]
    """

    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    count_tokens: CountTokens | None = None
    name: str = field(default="markdown", init=False)
    sizes: Sizes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.sizes = make_sizes(
            self.size,
            self.overlap,
            self.unit,
            minimum=self.minimum,
            count_tokens=self.count_tokens,
        )

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order."""
        blocks, sections = find_markdown(document.text)
        return split_blocks(document, blocks, document.sections or sections, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings()}


def find_markdown(text: str) -> tuple[list[Block], list[Section]]:
    """Return the blocks of a Markdown text, and its sections.

    >>> blocks, sections = find_markdown("# A" + chr(10) * 2 + "b")
    >>> [block.kind for block in blocks], sections[0].title
    (['heading', 'text'], 'A')
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    # Inline marks do not move blocks; leaving them unread keeps long texts fast.
    parser.core.ruler.enableOnly(["normalize", "block"])
    edges = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    blocks: list[Block] = []
    headings: list[tuple[str, int, int]] = []
    covered = 0
    tokens = parser.parse(text)
    for place, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.map[0] < covered:
            continue
        first, last = token.map
        span = Span(edges[first], edges[min(last, len(edges) - 1)])
        covered = last
        if kind == "heading":
            headings.append((tokens[place + 1].content, int(token.tag[1:]), span.start))
        if kind == "rows":
            # The second row is the line of dashes.
            blocks.append(Block(kind, span, tuple(find_lines(text, span)), 2))
        else:
            blocks.append(Block(kind, span))
    return blocks, close_sections(headings, len(text))


def close_sections(headings: list[tuple[str, int, int]], length: int) -> list[Section]:
    """Return nested sections from ``(title, level, start)`` in order.

    >>> close_sections([("A", 1, 0), ("B", 2, 4), ("C", 1, 9)], 12)[:2]
    [Section(title='A', level=1, start=0, end=9), Section(title='B', level=2, start=4, end=9)]
    """
    ends = [length] * len(headings)
    waiting: list[int] = []
    for number, (_, level, start) in enumerate(headings):
        while waiting and headings[waiting[-1]][1] >= level:
            ends[waiting.pop()] = start
        waiting.append(number)
    return [
        Section(" ".join(title.split()), level, start, end)
        for (title, level, start), end in zip(headings, ends, strict=True)
    ]
