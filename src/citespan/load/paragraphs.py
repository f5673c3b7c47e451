"""From lines to paragraphs: where one ends, how its lines join, and what merely repeats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from citespan.load.layout import Line, Region

_TERMINAL = re.compile(r"[.!?:;。！？：；…»”\"')\]）」』]$")
_BULLET = re.compile(r"^(?:[•●▪◦‣∙·■□–—*-]\s|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s)")
_OPENING = "([{“«"
_CLOSING = ")]},.;!?%·…”»"
_HYPHENS = "-\u2010\u00ad"
_PAGE_NUMBER = re.compile(r"^\W?\s?\d{1,5}(?:\s?[/|]\s?\d{1,5})?\s?\W?$")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+|[^\W\d_]+")


@dataclass(slots=True)
class Paragraph:
    """Lines that read on; ``opened`` tells that it goes on where the next region begins.

    ``tight`` joins it to the one before by a single line break.
    """

    lines: list[Line]
    page: int
    tight: bool = False
    ends_open: bool = False
    starts_plain: bool = False

    @property
    def height(self) -> float:
        """The line height of most of its lines."""
        return median(line.height for line in self.lines)


def group_paragraphs(region: Region, page: int, pitch: float) -> list[Paragraph]:
    """Return a region's paragraphs; ``pitch`` is the page's usual step from line to line."""
    # Marks may hang out of the column, so the outermost tenth does not set its edges.
    left = sorted(line.x0 for line in region)[len(region) // 10]
    right = sorted(line.x1 for line in region)[-1 - len(region) // 20]
    steps = [b.y1 - a.y1 for a, b in pairwise(region)]
    if len(steps) >= 4:
        pitch = min(pitch, median(steps)) if pitch else median(steps)
    paragraphs = [Paragraph([region[0]], page)]
    for before, line in pairwise(region):
        gap = _break_between(before, line, left, right, pitch)
        if gap:
            paragraphs.append(Paragraph([line], page, tight=gap == "tight"))
        else:
            paragraphs[-1].lines.append(line)
    width = right - left
    first, last = region[0], region[-1]
    paragraphs[0].starts_plain = first.x0 <= left + 0.5 * first.height or len(region) == 1
    paragraphs[-1].ends_open = (
        last.x1 >= right - 0.2 * width
        and width > 8 * last.height
        and last.cells < 3
        and not _ends_sentence(last.text)
    )
    return paragraphs


def continues(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph broken by a column's or page's end goes on in the next one."""
    if not (before.ends_open and after.starts_plain):
        return False
    if not 0.88 < before.height / max(after.height, 0.1) < 1.14:
        return False
    return not _BULLET.match(after.lines[0].text)


def join_lines(lines: Sequence[str], known: Collection[str] = ()) -> str:
    """Return lines as running text: hyphens at line ends undone, no space inside Chinese.

    A hyphen stays where ``known`` holds the hyphenated word from the middle of a line.

    >>> join_lines(["The inter-", "national law"]), join_lines(["合同的", "期限"])
    ('The international law', '合同的期限')
    """
    text = lines[0]
    for line in lines[1:]:
        text = _join(text, line, known)
    return text.replace("\u00ad", "")


def hyphenated_words(lines: Sequence[str]) -> set[str]:
    """Return the words that carry a hyphen within a line, in lower case."""
    return {word.lower() for line in lines for word in _WORD.findall(line) if "-" in word}


def find_running(pages: Sequence[Sequence[Line]]) -> set[tuple[int, int]]:
    """Return (page index, line index) of headers and footers that run through the pages.

    ``pages`` holds each page's rows from top to bottom. A row among the first or last three runs
    if its text, digits aside, stands at the same height on at least two pages and on two fifths
    of them; every row further out must run as well.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for rows in pages:
        keys = {_running_key(rows[i]) for i in _edges(len(rows))}
        counts.update({(text, y + d) for text, y in keys for d in (-1, 0, 1)})
    least = max(2, round(0.4 * len(pages)))
    running: set[tuple[int, int]] = set()
    for p, rows in enumerate(pages):
        for side in (range(min(3, len(rows))), range(len(rows) - 1, max(-1, len(rows) - 4), -1)):
            for i in side:
                if counts[_running_key(rows[i])] < least:
                    break
                running.add((p, i))
    return running


def find_margin_lines(rows: Sequence[Line], top: float, bottom: float) -> list[int]:
    """Return the first and last row of a page where they are plainly notes in its margin.

    Such a row lies whole within the outer 5.5% of the page's height, is set smaller than the body,
    and stands two lines or more away from it. So a single page's header is told without others.
    """
    if len(rows) < 4:
        return []
    body = median(row.height for row in rows)
    margin = 0.055 * (bottom - top)
    found = []
    for i, inner, inside in (
        (0, rows[1], rows[0].y1 - top),
        (len(rows) - 1, rows[-2], bottom - rows[-1].y0),
    ):
        row = rows[i]
        gap = max(inner.y0 - row.y1, row.y0 - inner.y1)
        small = row.height <= 0.92 * body and len(row.text) <= 120
        if 0 <= inside <= margin and small and gap >= 1.5 * body:
            found.append(i)
    return found


def _edges(count: int) -> list[int]:
    return [i for i in range(count) if i < 3 or i >= count - 3]


def _running_key(line: Line) -> tuple[str, int]:
    """Return what makes two rows the same running line: the text and the height.

    Page numbers and dates may differ; a row of figures is a table's, and must be the same.
    """
    text = line.text.strip().lower()
    numbers = len(_DIGITS.findall(text))
    named = any(char.isalpha() for char in text) and line.cells <= 3
    if (named and numbers <= 3) or _PAGE_NUMBER.match(text):
        text = _DIGITS.sub("#", text)
    return text, round(line.y1 / 4)


def _break_between(before: Line, line: Line, left: float, right: float, pitch: float) -> str:
    """Return "", "tight" (a line of its own) or "wide" (a new paragraph)."""
    em = max(line.height, 0.1)
    if not 0.86 < before.height / em < 1.16:
        return "wide"
    if pitch and line.y1 - before.y1 > max(1.35 * pitch, 1.25 * em):
        return "wide"
    if before.text[-1] in _HYPHENS and line.text[0].islower():
        return ""
    if line.x0 > left + 0.8 * em and before.x0 <= left + 0.4 * em:
        # An indented first line; a hanging indent has a mark at its first line instead.
        return "" if _BULLET.match(before.text) else "wide"
    if min(before.cells, line.cells) > 1 and before.text[-1] not in _HYPHENS:
        return "tight"  # a table's rows
    width = right - left
    if _BULLET.match(line.text) and (before.x1 < right - 0.15 * width or line.x0 <= left + em):
        return "tight" if not _is_number_start(line.text) or _ends_sentence(before.text) else ""
    if before.x1 < left + 0.6 * width:
        return "tight"
    if min(before.x0, line.x0) > left + 0.4 * em and abs(before.x0 - line.x0) > 0.8 * em:
        return "tight"  # centred lines
    if before.x1 < right - 0.12 * width and _ends_sentence(before.text):
        return "tight"
    return ""


def _is_number_start(text: str) -> bool:
    return text[:1].isdigit() or text[:1].isalpha()


def _ends_sentence(text: str) -> bool:
    return bool(_TERMINAL.search(text))


def _join(text: str, line: str, known: Collection[str]) -> str:
    if not text or not line:
        return text or line
    if text[-1] in _HYPHENS and len(text) > 1 and text[-2].isalpha() and line[0].islower():
        head, tail = re.search(r"[\w-]*$", text[:-1]), re.match(r"\w*", line)
        word = f"{head[0] if head else ''}-{tail[0] if tail else ''}".lower()
        if text[-1] != "\u00ad" and word in known:
            return text + line
        return text[:-1] + line
    if _is_wide(text[-1]) and _is_wide(line[0]):
        return text + line
    if any(map(_is_wide, text[-10:])) and (text[-1] in _OPENING or line[0] in _CLOSING):
        return text + line
    return f"{text} {line}"


def _is_wide(char: str) -> bool:
    """Whether a character is Chinese or Japanese: scripts that put no space at a line's end."""
    return (
        "\u2e80" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\uff00" <= char <= "\uffef"
    )
