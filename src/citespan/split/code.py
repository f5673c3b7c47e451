"""Source code: definitions stay whole, and what encloses them is their context.

Without a parser: nearly every language is written with a definition beginning at a smaller
indentation than its body, and that is all that is needed here. A parser for each language
(tree-sitter) would add a package a language, or fetch grammars over the network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from citespan.split.ruler import Ruler, Unit
from citespan.split.sizes import Sizes, make_sizes
from citespan.split.structure import Block, split_blocks
from citespan.tokens import CountTokens
from citespan.types import Chunk, Document, Section, Span

# What belongs to the definition below it: decorators, attributes, comments.
_ATTACHED = re.compile(r"@|#|//|/\*|\*|--|;;|%|\[\[?\w|\"\"\"|'''")
# What belongs to the definition above it: closing brackets, else, end.
_CLOSING = re.compile(r"[)\]}]|(?:end|else|elif|except|finally|catch|then|fi|done|esac)\b")
_NAME = re.compile(r"[^\s({:=;]+(?:\s+[^\s({:=;]+)*")


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    opens: bool
    """Whether a definition or statement begins here."""


@dataclass(slots=True)
class CodeSplitter:
    r"""Runs of whole definitions; the lines that enclose a chunk are its context.

    Examples
    --------
    >>> code = "class A:\n  def f(self):\n    return 1\n\n  def g(self):\n    return 2\n"
    >>> chunks = CodeSplitter(size=10, unit="words", minimum=1).split(Document("d", "d", code))
    >>> [(chunk.context, chunk.text.split()[-1]) for chunk in chunks]
    [('', '1'), ('class A', '2')]
    """

    size: int | None = None
    overlap: int = 0
    unit: Unit = "tokens"
    minimum: int | None = None
    count_tokens: CountTokens | None = None
    name: str = field(default="code", init=False)
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
        text = document.text
        lines = _read_lines(text)
        ruler = self.sizes.measure_document(document)
        room = max(1, self.sizes.room - self.sizes.room // 4)
        blocks = [Block("lines", span) for span in _find_units(lines, ruler, room)]
        return split_blocks(document, blocks, _find_scopes(text, lines), self.sizes)

    def settings(self) -> dict[str, Any]:
        """Return all that decides the cuts."""
        return {"splitter": self.name, **self.sizes.settings()}


def _read_lines(text: str) -> list[_Line]:
    """Return the lines that are not blank."""
    lines: list[_Line] = []
    attached = False
    for match in re.finditer(r"[^\n]+", text):
        body = match[0].strip()
        if not body:
            continue
        indent = len(match[0].expandtabs(4)) - len(match[0].expandtabs(4).lstrip())
        # A comment opens a unit; what it is attached to goes on with it.
        continues = attached and lines[-1].indent == indent
        opens = not continues and _CLOSING.match(body) is None
        lines.append(_Line(match.start(), match.end(), indent, opens))
        attached = _ATTACHED.match(body) is not None
    return lines


def _find_units(lines: Sequence[_Line], ruler: Ruler, room: int) -> list[Span]:
    """Return the largest units that fit: a definition whole, else its parts one level deeper."""
    units: list[Span] = []
    waiting = [(0, len(lines))]
    while waiting:
        first, behind = waiting.pop()
        if first >= behind:
            continue
        span = Span(lines[first].start, lines[behind - 1].end)
        if behind - first == 1:
            units.append(span)
            continue
        if first and ruler.measure(*span) <= room:
            units.append(span)
            continue
        # The first line of a unit is its head; the rest is cut at its own least indentation.
        base = min(line.indent for line in lines[first + 1 : behind])
        cuts = [n for n in range(first + 1, behind) if lines[n].indent <= base and lines[n].opens]
        if not cuts:
            units.extend(Span(line.start, line.end) for line in lines[first:behind])
            continue
        edges = [first, *cuts, behind]
        waiting.extend(reversed([(a, b) for a, b in zip(edges, edges[1:], strict=False)]))  # noqa: RUF007
    return units


def _find_scopes(text: str, lines: Sequence[_Line]) -> list[Section]:
    """Return what each line encloses by indentation, the line itself as title."""
    scopes: list[Section] = []
    waiting: list[_Line] = []

    def close(end: int, indent: int) -> None:
        while waiting and waiting[-1].indent >= indent:
            line = waiting.pop()
            body = text[line.start : line.end]
            title = _NAME.match(body.strip()[:80])
            if title is not None:
                start = line.end - len(body.lstrip())
                scopes.append(Section(title[0], line.indent + 1, start, end))

    for line, following in zip(lines, [*lines[1:], None], strict=False):
        close(line.start, line.indent)
        if following is not None and following.indent > line.indent and line.opens:
            waiting.append(line)
    close(len(text), 0)
    return scopes
