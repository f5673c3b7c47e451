"""Blocks: where a line's end is also a sentence's end.

A blank line always ends a block. A single line break does where the layout says so: before a list
item, around headings and table rows, and where the next word would have fitted on the line (a
break that nobody wraps at). Other breaks are those of hard-wrapped text and end nothing.
"""

from __future__ import annotations

from itertools import pairwise

import regex

from citespan.spans import trim_span
from citespan.types import Span

UNWRAPPED = 250
"""A longer line is not hard-wrapped: its end was meant."""

_LINE = regex.compile(r"[^\n\r\u2028\u2029\x0c]+")
_OPENS = regex.compile(
    r"(?:[-*+•‣◦▪·●○]\s|#{1,6}\s|>|\||```|~~~|\(?\d{1,3}[.)]\s|\d+(?:\.\d+)+\.?\s"
    r"|\(?\p{L}\)\s|[一二三四五六七八九十]+、|\[\d+\]|第[一二三四五六七八九十百\d]+[章节条])"
)
_ALONE = regex.compile(r"(?:#{1,6}\s|\||[-=*_]{3,}\s*$|```|~~~)")
_LABEL = regex.compile(r"[^\s:：][^:：。.!?]{0,40}[:：]\s")


def split_blocks(text: str) -> list[Span]:
    r"""Return the trimmed spans of the text's blocks; together they cover every non-space.

    Examples
    --------
    >>> text = "# Keys\nKeep them\nsafe.\n\n- one\n- two"
    >>> [text[start:end] for start, end in split_blocks(text)]
    ['# Keys', 'Keep them\nsafe.', '- one', '- two']
    """
    lines: list[Span] = []
    for match in _LINE.finditer(text):
        span = trim_span(text, *match.span())
        if span is not None:
            lines.append(span)
    if not lines:
        return []
    width = _measure_width(lines)
    blocks = [lines[0]]
    for previous, line in pairwise(lines):
        if _ends_block(text, previous, line, width):
            blocks.append(line)
        else:
            blocks[-1] = Span(blocks[-1].start, line.end)
    return blocks


def _measure_width(lines: list[Span]) -> int:
    """Return the length that nine lines in ten keep to: where the text is wrapped, its width."""
    lengths = sorted(end - start for start, end in lines)
    return lengths[min(len(lengths) - 1, len(lengths) * 9 // 10)]


def _ends_block(text: str, previous: Span, line: Span, width: int) -> bool:
    between = text[previous.end : line.start]
    if between.count("\n") + between.count("\x0c") + between.count("\u2029") > 1:
        return True
    if between.count("\r") > 1 and "\n" not in between:
        return True
    length = previous.end - previous.start
    if length > UNWRAPPED or _OPENS.match(text, line.start, line.end):
        return True
    if _ALONE.match(text, previous.start, previous.end):
        return True
    if _ALONE.match(text, line.start, line.end):
        return True
    if _LABEL.match(text, line.start, line.end) and _LABEL.match(
        text, previous.start, previous.end
    ):
        return True
    if text[line.start].islower():
        return False
    word = text[line.start : min(line.end, line.start + 40)].split(None, 1)[0]
    # Chinese and Japanese break anywhere: one character would have fitted.
    fits = 1 if ord(word[0]) >= 0x2E80 else len(word)
    return length + 1 + fits <= 0.75 * width
