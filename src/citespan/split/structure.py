"""Chunks along a document's structure: headings become context, tables and code stay whole.

A reader of one format (``markdown``, ``html``, ``code``) finds the blocks; here they are packed.
What stands above a chunk and belongs to its meaning (the headings, a table's header row) is its
``context``: it is indexed with the chunk, counted with it, and no part of its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from citespan.spans import trim_span
from citespan.split.chunks import build_chunks, cut_sentences, cut_span
from citespan.split.pack import pack_units
from citespan.split.ruler import Ruler
from citespan.split.sizes import Sizes
from citespan.types import Chunk, Document, Section, Span

Kind = Literal["heading", "text", "rows", "lines"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text that is better not cut.

    ``text`` is cut at sentence ends, ``lines`` (code) at line ends, ``rows`` (a table) between
    the spans in ``parts``, of which the first ``head`` are the header. A ``heading`` is kept with
    what follows it.
    """

    kind: Kind
    span: Span
    parts: tuple[Span, ...] = ()
    head: int = 0


@dataclass(slots=True)
class _Segment:
    """Units that are packed together, under one header row or none."""

    header: str = ""
    units: list[Span] = field(default_factory=list)
    breaks: set[int] = field(default_factory=set)


def split_blocks(
    document: Document, blocks: Sequence[Block], sections: Sequence[Section], sizes: Sizes
) -> list[Chunk]:
    """Pack blocks into chunks with the headings above them as context."""
    ruler = sizes.measure_document(document)
    blocks = cover_gaps(document.text, blocks)
    paths = _HeadingPaths(sections)
    share = sizes.room // 4
    above = min(share, _measure_paths(sections, sizes))
    spans: list[Span] = []
    contexts: list[str] = []
    for segment in _make_segments(document, blocks, ruler, sizes, above):
        header = _fit_context(segment.header, sizes, share)
        reserve = measure_text(header, sizes) + above
        room = max(1, sizes.room - reserve)
        units, breaks = _cut_units(document.text, segment, ruler, room)
        for span in pack_units(
            units,
            ruler,
            room,
            overlap=min(sizes.overlap, room - 1),
            minimum=min(sizes.minimum, room),
            breaks=breaks,
        ):
            path = _fit_context(paths.above(span.start), sizes, share)
            begins = bool(segment.header) and span.start == units[0].start
            context = "\n".join(part for part in (path, "" if begins else header) if part)
            # A word that cannot be cut may need the whole size for itself.
            fits = ruler.measure(*span) + measure_text(context, sizes) <= sizes.room
            spans.append(span)
            contexts.append(context if fits else "")
    return build_chunks(document, spans, sizes, contexts)


def cover_gaps(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks in order, disjoint, with text blocks for what none of them covers."""
    covered: list[Block] = []
    last = 0
    for block in sorted(blocks, key=lambda b: b.span):
        if block.span.start < last:
            continue
        if (gap := trim_span(text, last, block.span.start)) is not None:
            covered.append(Block("text", gap))
        if (span := trim_span(text, *block.span)) is not None:
            covered.append(Block(block.kind, span, block.parts, block.head))
        last = block.span.end
    if (gap := trim_span(text, last, len(text))) is not None:
        covered.append(Block("text", gap))
    return covered


def measure_text(text: str, sizes: Sizes) -> int:
    """Return the size of a context; sentences are not counted for it."""
    if not text or sizes.unit == "sentences":
        return 0
    ruler = Ruler(text, sizes.unit, sizes.room, sizes.count_tokens)
    return ruler.measure(0, len(text)) + (sizes.unit == "characters")


def _make_segments(
    document: Document, blocks: Sequence[Block], ruler: Ruler, sizes: Sizes, above: int
) -> Iterator[_Segment]:
    text = document.text
    segment = _Segment()
    heading: Span | None = None
    room = max(1, sizes.room - above)
    for block in blocks:
        if block.kind == "heading":
            if heading is None:
                heading = block.span
                segment.breaks.add(len(segment.units))
            else:
                heading = Span(heading.start, block.span.end)
            continue
        start = block.span.start if heading is None else heading.start
        heading = None
        if ruler.measure(start, block.span.end) <= room:
            segment.units.append(Span(start, block.span.end))
            continue
        if block.kind == "rows" and len(block.parts) > block.head:
            # A table too long for one chunk is packed by itself, under its header row.
            if start < block.span.start:
                segment.units.append(Span(start, block.span.start))
            yield segment
            yield _segment_rows(text, block)
            segment = _Segment()
            continue
        pieces = (
            find_lines(text, block.span)
            if block.kind in ("rows", "lines")
            else cut_sentences(document, block.span, ruler, sizes)
        )
        segment.units.append(Span(start, pieces[0].end))
        segment.units.extend(pieces[1:])
    if heading is not None:
        segment.units.append(heading)
    yield segment


def _segment_rows(text: str, block: Block) -> _Segment:
    header = text[block.parts[0].start : block.parts[block.head - 1].end] if block.head else ""
    first = max(1, block.head)
    units = [Span(block.span.start, block.parts[first - 1].end), *block.parts[first:]]
    units[-1] = Span(units[-1].start, max(units[-1].end, block.span.end))
    return _Segment(header, units)


def _cut_units(
    text: str, segment: _Segment, ruler: Ruler, room: int
) -> tuple[list[Span], set[int]]:
    """Cut what is still too long: the maximum holds for rows and lines as well."""
    units: list[Span] = []
    breaks: set[int] = set()
    for number, unit in enumerate(segment.units):
        if number in segment.breaks:
            breaks.add(len(units))
        units.extend(cut_span(text, unit, ruler, room))
    return units, breaks


def find_lines(text: str, span: Span) -> list[Span]:
    r"""Return the trimmed spans of the lines that are not blank.

    >>> find_lines("a\n\n b", Span(0, 5))
    [Span(start=0, end=1), Span(start=4, end=5)]
    """
    lines: list[Span] = []
    start = span.start
    while start < span.end:
        end = text.find("\n", start, span.end)
        end = span.end if end < 0 else end
        if (line := trim_span(text, start, end)) is not None:
            lines.append(line)
        start = end + 1
    return lines


def _fit_context(context: str, sizes: Sizes, share: int) -> str:
    """Return as much of a context's end as its share allows: the nearest heading says most."""
    while context and measure_text(context, sizes) > share:
        _, _, context = context.partition(" > ") if " > " in context else ("", "", "")
    return context


def _measure_paths(sections: Sequence[Section], sizes: Sizes) -> int:
    """Return the size of the longest path of headings, as the sum of its parts."""
    longest = total = 0
    known: dict[str, int] = {}
    waiting: list[tuple[int, int]] = []
    for section in sorted(sections, key=lambda s: (s.start, -s.end)):
        while waiting and waiting[-1][0] <= section.start:
            total -= waiting.pop()[1]
        if section.title not in known:
            known[section.title] = measure_text(f" > {section.title}", sizes)
        waiting.append((section.end, known[section.title]))
        total += known[section.title]
        longest = max(longest, total)
    return longest


class _HeadingPaths:
    """The headings above rising offsets; one pass over the sections."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sorted(sections, key=lambda s: (s.start, -s.end))
        self.place = 0
        self.open: list[Section] = []

    def above(self, start: int) -> str:
        # A heading that begins the chunk stands in its text, so it is no context.
        while self.place < len(self.sections) and self.sections[self.place].start < start:
            self.open.append(self.sections[self.place])
            self.place += 1
        self.open = [section for section in self.open if section.end > start]
        return " > ".join(section.title for section in self.open if section.title)
