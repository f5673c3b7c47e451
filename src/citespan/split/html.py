"""HTML source: blocks at its block tags.

Text that the loader took out of HTML has no tags left; its sections and paragraphs are used then.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from citespan.split.markdown import close_sections
from citespan.split.paragraphs import find_paragraphs
from citespan.split.ruler import Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.split.structure import Block, split_blocks
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Section, Span

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})(?=[\s/>])[^<>]*>")
_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "figure"),
        *("footer", "form", "head", "header", "hr", "li", "main", "nav", "ol", "p", "section"),
        *("script", "style", "title", "ul"),
    ]
)
_WHOLE = {"table": "rows", "pre": "lines"}
_HEADING = re.compile(r"h[1-6]", re.IGNORECASE)


@dataclass(slots=True)
class HtmlSplitter:
    """Sections of an HTML source; headings above a chunk are its context.

    Examples
    --------
    >>> splitter = HtmlSplitter(size=4, unit="words", minimum=1)
    >>> document = Document("d", "d", "<h1>Keys</h1><p>A b c.</p><p>D e.</p>", language="en")
    >>> [(chunk.context, chunk.text) for chunk in splitter.split(document)]
    [('', '<h1>Keys</h1><p>A b c.</p>'), ('Keys', '<p>D e.</p>')]
    """

    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    count_tokens: CountTokens | None = None
    name: str = field(default="html", init=False)
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
        blocks, sections = find_html(document.text)
        if not blocks:
            blocks = find_plain(document)
        return split_blocks(document, blocks, document.sections or sections, self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings()}


def find_html(text: str) -> tuple[list[Block], list[Section]]:
    """Return the blocks of an HTML source, tags included, and its sections.

    >>> blocks, sections = find_html("<h2>A &amp; B</h2><p>c")
    >>> [block.kind for block in blocks], sections[0].title
    (['heading', 'text'], 'A & B')
    """
    blocks: list[Block] = []
    headings: list[tuple[str, int, int]] = []
    start = 0
    whole = ""
    depth = 0
    rows: list[int] = []
    for closing, name, left, right in _find_tags(text):
        if whole:
            if name == "tr" and not closing and depth == 1:
                rows.append(left)
            if name == whole:
                depth += -1 if closing else 1
            if depth == 0:
                blocks.append(_close_block(whole, Span(start, right), rows))
                start, whole, rows = right, "", []
        elif name in _WHOLE and not closing:
            blocks.append(Block("text", Span(start, left)))
            start, whole, depth = left, name, 1
        elif _HEADING.fullmatch(name):
            if closing:
                title = html.unescape(_TAG.sub(" ", text[start:right]))
                headings.append((title, int(name[1]), start))
                blocks.append(Block("heading", Span(start, right)))
                start = right
            else:
                blocks.append(Block("text", Span(start, left)))
                start = left
        elif name in _BLOCKS:
            edge = right if closing else left
            blocks.append(Block("text", Span(start, edge)))
            start = edge
    if blocks:
        blocks.append(Block("text", Span(start, len(text))))
    return [block for block in blocks if block.span.end > block.span.start], close_sections(
        headings, len(text)
    )


def find_plain(document: Document) -> list[Block]:
    """Return the blocks of a text without tags: its sections' first lines, and its paragraphs."""
    text = document.text
    blocks = [Block("text", span) for span in find_paragraphs(text)]
    for section in document.sections:
        line = text.find("\n", section.start, section.end)
        blocks.append(Block("heading", Span(section.start, section.end if line < 0 else line)))
    # A paragraph that begins with a heading is longer than it and gives way to it.
    return blocks


def _close_block(name: str, span: Span, rows: list[int]) -> Block:
    if name == "pre" or len(rows) < 2:
        return Block("lines", span)
    edges = [*rows, span.end]
    parts = tuple(Span(a, b) for a, b in zip(edges, edges[1:], strict=False))  # noqa: RUF007
    return Block("rows", span, parts, 1)


def _find_tags(text: str) -> Iterator[tuple[bool, str, int, int]]:
    """Yield the tags outside comments: closing, name in small letters, start, end."""
    position = 0
    comment = text.find("<!--")
    while (tag := _TAG.search(text, position)) is not None:
        if 0 <= comment < tag.start():
            end = text.find("-->", comment)
            if end < 0:
                return
            position = end + 3
            comment = text.find("<!--", position)
            continue
        yield bool(tag[1]), tag[2].lower(), tag.start(), tag.end()
        position = tag.end()
