"""Put a document's text together piece by piece, with the spans of its pages and sections.

Offsets are noted while the text is laid down and never looked for afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from citespan.load.options import Extract
from citespan.types import Page, Section

_BLANKS = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_UNSAFE = re.compile("[\x00\ud800-\udfff]")

Heading = tuple[str, int, int]
"""Title, level (from 1), offset of the heading's first character."""


def clean_text(text: str) -> str:
    r"""Return text that every store can hold, code point for code point as long as it was.

    NUL becomes a space (SQLite and JSON readers cut strings there) and a lone surrogate U+FFFD.

    >>> clean_text("a\x00b")
    'a b'
    """
    return _UNSAFE.sub(lambda m: " " if m[0] == "\x00" else "\ufffd", text)


def normalize_newlines(text: str) -> str:
    r"""Return the text with CRLF and CR as LF; nothing else is touched.

    >>> normalize_newlines("a\r\nb\rc\x0bd")
    'a\nb\nc\x0bd'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def collapse_blanks(text: str) -> str:
    r"""Return the text with each run of white space as one space, none at the ends.

    >>> collapse_blanks(" a \n\t b\u00a0c ")
    'a b c'
    """
    return _BLANKS.sub(" ", text).strip(" ")


def close_sections(headings: Sequence[Heading], length: int) -> list[Section]:
    """Return the sections of headings given in order; one ends where a peer or elder begins.

    >>> close_sections([("A", 1, 0), ("B", 2, 5), ("C", 1, 9)], 12)[0]
    Section(title='A', level=1, start=0, end=9)
    """
    ends = [length] * len(headings)
    open_: list[int] = []
    for i, (_, level, start) in enumerate(headings):
        while open_ and headings[open_[-1]][1] >= level:
            ends[open_.pop()] = start
        open_.append(i)
    return [
        Section(title, level, start, end)
        for (title, level, start), end in zip(headings, ends, strict=True)
    ]


class TextBuilder:
    r"""Collects blocks of text; ``build`` gives the text with the spans of pages and sections.

    >>> builder = TextBuilder()
    >>> builder.heading("Terms", 1)
    >>> builder.block("Pay in 30 days.")
    7
    >>> builder.build().text
    'Terms\n\nPay in 30 days.'
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._pages: list[tuple[int, int]] = []

    @property
    def length(self) -> int:
        """Code points so far."""
        return self._length

    def append(self, text: str) -> None:
        """Add text as it is."""
        self._parts.append(text)
        self._length += len(text)

    def block(self, text: str, *, gap: str = "\n\n") -> int:
        """Add a block after ``gap`` (none at the very start); return where it begins."""
        text = clean_text(text)
        if not text.strip():
            return self._length
        if self._length:
            self.append(gap)
        start = self._length
        self.append(text)
        return start

    def heading(self, title: str, level: int, *, gap: str = "\n\n") -> None:
        """Add a heading as a block and open its section."""
        title = clean_text(collapse_blanks(title))
        if title:
            self._headings.append((title, max(1, level), self.block(title, gap=gap)))

    def mark(self, title: str, level: int, start: int) -> None:
        """Open a section at an offset that was laid down already; in order of offsets."""
        self._headings.append((clean_text(collapse_blanks(title)), max(1, level), start))

    def page(self, number: int, start: int | None = None) -> None:
        """Begin a page: it starts where the next block will, or at ``start`` within the last."""
        self._pages.append((number, self._length if start is None else start))

    def build(self, **fields: object) -> Extract:
        """Return the extract; ``fields`` are its other attributes."""
        text = "".join(self._parts)
        starts = [_skip_blanks(text, start) for _, start in self._pages]
        ends = [*starts[1:], len(text)][: len(starts)]
        pages = [
            Page(number, start, max(start, end))
            for (number, _), start, end in zip(self._pages, starts, ends, strict=True)
        ]
        headings = [(t, level, min(start, len(text))) for t, level, start in self._headings]
        extract = Extract(text, pages=pages, sections=close_sections(headings, len(text)))
        for name, value in fields.items():
            setattr(extract, name, value)
        return extract


def join_row(cells: Iterable[str]) -> str:
    """Return a table row as one line, its cells in order.

    >>> join_row(["Name", "", "Price in EUR"])
    'Name |  | Price in EUR'
    """
    row = [collapse_blanks(cell) for cell in cells]
    return " | ".join(row) if any(row) else ""


def pair_row(header: Sequence[str], cells: Sequence[str]) -> str:
    """Return a table row as ``key: value`` pairs; empty cells are left out.

    >>> pair_row(["name", "city", ""], ["Ada", "", "x"])
    'name: Ada; x'
    """
    pairs = []
    for i, cell in enumerate(cells):
        value = collapse_blanks(cell)
        if value:
            key = collapse_blanks(header[i]) if i < len(header) else ""
            pairs.append(f"{key}: {value}" if key else value)
    return "; ".join(pairs)


def _skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start] == "\n":
        start += 1
    return start
