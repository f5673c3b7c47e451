"""Arithmetic on half-open spans: trim, merge, overlap, and the page or heading at an offset."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from citespan.types import Page, Section, Span


def trim_span(text: str, start: int, end: int) -> Span | None:
    """Return the span without white space at its ends, or None if nothing else is in it.

    >>> trim_span("  ab ", 0, 5)
    Span(start=2, end=4)
    """
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left == len(piece):
        return None
    return Span(start + left, start + len(piece.rstrip()))


def merge_spans(spans: Iterable[Span], *, gap: int = 0) -> list[Span]:
    """Return the sorted union; spans that overlap, touch, or lie within ``gap`` become one.

    >>> merge_spans([Span(5, 9), Span(0, 3), Span(3, 4)])
    [Span(start=0, end=4), Span(start=5, end=9)]
    """
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1].end + gap:
            if end > merged[-1].end:
                merged[-1] = Span(merged[-1].start, end)
        else:
            merged.append(Span(start, end))
    return merged


def overlap_length(a: Span, b: Span) -> int:
    """Count the code points that two spans share; touching spans share none.

    >>> overlap_length(Span(0, 4), Span(3, 9)), overlap_length(Span(0, 4), Span(4, 9))
    (1, 0)
    """
    return max(0, min(a.end, b.end) - max(a.start, b.start))


def page_range(pages: Sequence[Page], start: int, end: int) -> tuple[int | None, int | None]:
    """Return the numbers of the first and last page that ``[start, end)`` stands on.

    >>> page_range([Page(1, 0, 10), Page(2, 10, 20)], 8, 12)
    (1, 2)
    """
    if not pages:
        return None, None
    starts = [page.start for page in pages]
    first = max(0, bisect_right(starts, start) - 1)
    last = max(first, bisect_right(starts, max(start, end - 1)) - 1)
    return pages[first].number, pages[last].number


def heading_path(sections: Sequence[Section], start: int, *, joiner: str = " > ") -> str:
    """Return the headings above an offset, outermost first.

    >>> heading_path([Section("A", 1, 0, 50), Section("B", 2, 10, 50)], 20)
    'A > B'
    """
    return joiner.join(s.title for s in sections if s.start <= start < s.end and s.title)
