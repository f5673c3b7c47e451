"""Reading order from positions: words to rows, rows to columns, columns to lines.

The order in which a PDF draws its words says little: some programs write row by row across both
columns. Here the page is cut by its white space. A *gutter* is an upright white strip with prose
on both sides over at least three rows; rows that cross it (a title, a wide table) cut it into
bands. The band with the most text is taken, what stands above, left, right and below it is read
in that order, and each of these is cut again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

_MIN_ROWS = 3
_MIN_CHARS = 10.0
_MIN_FILL = 0.55
_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters without a gap; y grows downward, ``order`` is the drawing order.

    ``spaced`` tells that a space was drawn before it.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    order: int
    spaced: bool = False

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return (self.y0 + self.y1) / 2

    @property
    def height(self) -> float:
        """Height of the line box, about 1.2 times the font size."""
        return self.y1 - self.y0


@dataclass(slots=True)
class Line:
    """Words of one region that stand on one line, in reading order."""

    words: list[Word]
    x0: float = field(init=False)
    x1: float = field(init=False)
    y0: float = field(init=False)
    y1: float = field(init=False)
    height: float = field(init=False)
    text: str = field(init=False)
    cells: int = field(init=False)
    """Pieces with wide gaps between them; more than one suggests a table's row."""

    def __post_init__(self) -> None:
        self.x0 = min(w.x0 for w in self.words)
        self.x1 = max(w.x1 for w in self.words)
        self.y0 = min(w.y0 for w in self.words)
        self.y1 = max(w.y1 for w in self.words)
        # The longest word's: raised marks say nothing of the line's size.
        self.height = max(self.words, key=lambda w: len(w.text)).height
        self.text = _join_words(self.words)
        gaps = [b.x0 - a.x1 for a, b in zip(self.words, self.words[1:], strict=False)]
        self.cells = 1 + sum(gap > 1.3 * self.height for gap in gaps)


Region = list[Line]


def order_regions(words: Sequence[Word]) -> list[Region]:
    """Return the regions of a page in reading order, each as its lines from top to bottom.

    >>> left = [Word(f"left{i} column words", 0, 12 * i, 95, 12 * i + 12, 2 * i) for i in range(4)]
    >>> right = [Word(f"right{i} column words", 110, 12 * i, 200, 12 * i + 12, 9) for i in range(4)]
    >>> [region[0].text for region in order_regions(left + right)]
    ['left0 column words', 'right0 column words']
    """
    if not words:
        return []
    em = median(word.height for word in words) or 1.0
    regions: list[Region] = []
    _cut(group_rows(words, em), em, 0, regions)
    return regions


def group_rows(words: Sequence[Word], em: float) -> list[list[Word]]:
    """Return the words in rows from top to bottom, each row from left to right."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda w: w.middle):
        if rows and word.middle - rows[-1][0].middle <= 0.4 * min(em, word.height or em):
            rows[-1].append(word)
        elif rows and word.height < 0.8 * em and word.y0 < rows[-1][0].y1 - 0.5 * word.height:
            rows[-1].append(word)  # a raised or lowered small mark belongs to its line
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda w: w.x0)
    return rows


def _cut(rows: list[list[Word]], em: float, depth: int, regions: list[Region]) -> None:
    found = _find_gutter(rows, em) if depth < _MAX_DEPTH else None
    if found is None:
        if rows:
            regions.append([Line(_reading_order(row)) for row in rows])
        return
    x, first, last = found
    band = rows[first:last]
    left = [side for row in band if (side := [w for w in row if w.x1 <= x])]
    right = [side for row in band if (side := [w for w in row if w.x1 > x])]
    for part in (rows[:first], left, right, rows[last:]):
        # Rows of two columns may have been one: let each side find its own.
        words = [word for row in part for word in row]
        _cut(group_rows(words, em), em, depth + 1, regions)


def _find_gutter(rows: list[list[Word]], em: float) -> tuple[float, int, int] | None:
    """Return (x, first row, row after the last) of the gutter with the most text beside it."""
    # In a typewriter face the spaces between words are wide and stand in line: stay above them.
    pairs = [pair for row in rows for pair in pairwise(row)]
    spaces = [gap for a, b in pairs if 0 < (gap := b.x0 - a.x1) < 0.8 * em]
    least = max(0.6 * em, 1.6 * median(spaces) if spaces else 0.0)
    best: tuple[float, int, int] | None = None
    best_size = 0
    for x in _candidates(rows, em):
        first = 0
        while first < len(rows):
            if _crosses(rows[first], x, least):
                first += 1
                continue
            last = first
            while last < len(rows) and not _crosses(rows[last], x, least):
                last += 1
            size = _measure_band(rows[first:last], x, em)
            if size > best_size:
                best, best_size = (x, first, last), size
            first = last
    return best


def _candidates(rows: list[list[Word]], em: float) -> list[float]:
    """Return places just left of where at least three rows, or their pieces, begin."""
    counts: dict[int, list[float]] = {}
    for row in rows:
        for i, word in enumerate(row):
            if i == 0 or word.x0 - row[i - 1].x1 > 0.6 * em:
                counts.setdefault(round(word.x0 / 3), []).append(word.x0)
    leftmost = min((row[0].x0 for row in rows), default=0.0)
    # Marks may hang out a little to the left of their column, so a place further off is tried too.
    strong = [
        min(xs) - d * em for xs in counts.values() if len(xs) >= _MIN_ROWS for d in (0.25, 0.6)
    ]
    return sorted(x for x in strong if x > leftmost + em)


def _crosses(row: list[Word], x: float, least: float) -> bool:
    """Whether a row runs across x: a word stands on it, or the gap there is a mere space."""
    before = max((w.x1 for w in row if w.x0 < x), default=None)
    after = min((w.x0 for w in row if w.x0 >= x), default=None)
    if before is None or before > x:
        return before is not None
    return after is not None and after - before < least


def _measure_band(band: list[list[Word]], x: float, em: float) -> int:
    """Return the characters beside a gutter, or 0 if a side is no prose (a table's columns).

    Each side is judged by the pieces next to the gutter: cells are short and end anywhere, lines
    of prose are long and end alike.
    """
    for on_left in (True, False):
        pieces = [piece for row in band if (piece := _piece_beside(row, x, em, on_left))]
        if len(pieces) < _MIN_ROWS:
            return 0
        chars = [sum(_width(word.text) for word in piece) for piece in pieces]
        widths = [piece[-1].x1 - piece[0].x0 for piece in pieces]
        widest = max(p[-1].x1 for p in pieces) - min(p[0].x0 for p in pieces)
        if median(chars) < _MIN_CHARS or median(widths) < _MIN_FILL * widest:
            return 0
    return sum(_width(word.text) for row in band for word in row)


def _piece_beside(row: list[Word], x: float, em: float, on_left: bool) -> list[Word]:
    """Return the words of a row that adjoin x on one side without a wide gap, left to right."""
    side = [w for w in row if (w.x1 <= x) == on_left]
    if on_left:
        side.reverse()
    piece = side[:1]
    for word in side[1:]:
        gap = piece[-1].x0 - word.x1 if on_left else word.x0 - piece[-1].x1
        if gap > em:
            break
        piece.append(word)
    return piece[::-1] if on_left else piece


def _width(text: str) -> int:
    return sum(2 if char >= "\u2e80" else 1 for char in text)


def _reading_order(row: list[Word]) -> list[Word]:
    """Right-to-left lines keep the order in which they were drawn, which is the logical one."""
    letters = [char for word in row for char in word.text if char.isalpha()]
    backward = sum(
        1 for char in letters if "\u0590" <= char <= "\u08ff" or "\ufb1d" <= char <= "\ufefc"
    )
    if backward * 2 > len(letters):
        return sorted(row, key=lambda w: w.order)
    return row


def _join_words(words: Sequence[Word]) -> str:
    pieces = [words[0].text]
    for before, word in pairwise(words):
        gap = word.x0 - before.x1
        close = -0.5 * word.height < gap < 0.12 * min(word.height, before.height)
        follows = word.order == before.order + 1 and not word.spaced
        pieces.append(word.text if close and follows else " " + word.text)
    return "".join(pieces)
