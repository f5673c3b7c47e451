"""From a PDF page's characters to upright words with boxes."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from citespan.load.layout import Word

_BREAKS = frozenset((0, 9, 10, 13, 32, 0xA0, 0x3000))
_HYPHEN_MARKS = frozenset((2, 0xFFFE))
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}

Box = tuple[float, float, float, float]
Run = tuple[str, Box, int, bool, bool]
"""Text, box, angle in degrees, whether it runs downward, whether a space was drawn before it."""


def page_words(page: Any) -> tuple[list[list[Word]], tuple[float, float]]:
    """Return a page's words by direction, the main one first, and its top and bottom.

    Words are turned upright; top and bottom are as seen in the main direction.

    A page's own rotation and text drawn sideways are undone; text that runs from top to bottom
    (Chinese, Japanese) is turned so that its columns become lines.
    """
    runs = _read_runs(page)
    turns: dict[int, list[Word]] = {}
    sizes: dict[int, int] = {}
    for order, (text, box, angle, vertical, spaced) in enumerate(runs):
        key = (angle + (270 if vertical else 0)) % 360
        turned = _turn(box, key)
        turns.setdefault(key, []).append(Word(text, *turned, order, spaced))
        sizes[key] = sizes.get(key, 0) + len(text)
    keys = sorted(turns, key=lambda key: -sizes[key])
    left, low, right, high = page.get_cropbox()
    edge = _turn((left, low, right, high), keys[0] if keys else 0)
    return [turns[key] for key in keys], (edge[1], edge[3])


def _turn(box: Box, angle: int) -> Box:
    """Return a box (PDF axes, y up) as seen when text of this angle is upright, y down.

    ``angle`` is counter-clockwise, in degrees, a multiple of 90.
    """
    x0, y0, x1, y1 = box
    if angle == 90:
        return y0, x0, y1, x1
    if angle == 180:
        return -x1, y0, -x0, y1
    if angle == 270:
        return -y1, -x1, -y0, -x0
    return x0, -y1, x1, -y0


def _read_runs(page: Any) -> list[Run]:
    """Return the runs of characters without a gap, in drawing order."""
    import pypdfium2.raw as raw

    textpage = page.get_textpage()
    try:
        handle = textpage.raw
        count = raw.FPDFText_CountChars(handle)
        rect = raw.FS_RECTF()
        pointer = ctypes.byref(rect)
        runs: list[Run] = []
        chars: list[str] = []
        boxes: list[Box] = []
        first = 0
        spaced = False
        for i in range(count):
            code = raw.FPDFText_GetUnicode(handle, i)
            if code in _BREAKS or not raw.FPDFText_GetLooseCharBox(handle, i, pointer):
                _close(raw, handle, first, chars, boxes, runs, spaced)
                spaced = True
                continue
            x0, x1, low, high = rect.left, rect.right, rect.bottom, rect.top
            box = (x0, low, x1, high) if low <= high else (x0, high, x1, low)
            last = boxes[-1] if boxes else box
            # Nearly every character stands on its neighbour's line and touches it: look no further.
            touches = last[1] == box[1] and abs(x0 - last[2]) < 0.1 * (high - low)
            if boxes and not touches and not _adjoins(last, box):
                _close(raw, handle, first, chars, boxes, runs, spaced)
                spaced = False
            if not chars:
                first = i
            chars.append("-" if code in _HYPHEN_MARKS else _LIGATURES.get(code) or chr(code))
            boxes.append(box)
        _close(raw, handle, first, chars, boxes, runs, spaced)
        return runs
    finally:
        textpage.close()


def _adjoins(a: Box, b: Box) -> bool:
    """Whether a character follows the last one without a gap, along the line or down it."""
    size = max(min(a[3] - a[1], a[2] - a[0]), min(b[3] - b[1], b[2] - b[0]), 0.1)
    across = abs((a[1] + a[3]) - (b[1] + b[3])) / 2
    along = abs((a[0] + a[2]) - (b[0] + b[2])) / 2
    height, width = max(a[3] - a[1], b[3] - b[1]), max(a[2] - a[0], b[2] - b[0])
    if across < 0.45 * height:
        gap = max(b[0] - a[2], a[0] - b[2])
        return gap < max(0.3 * size, 0.15 * height)
    if along < 0.45 * width:
        gap = max(b[1] - a[3], a[1] - b[3])
        return gap < 0.3 * size
    return False


def _close(
    raw: Any,
    handle: Any,
    first: int,
    chars: list[str],
    boxes: list[Box],
    runs: list[Run],
    spaced: bool,
) -> None:
    if not chars:
        return
    text = "".join(chars)
    if any("\ud800" <= char <= "\udfff" for char in text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # PDFium counts clockwise.
    clockwise = math.degrees(max(0.0, raw.FPDFText_GetCharAngle(handle, first)))
    angle = -round(clockwise / 90) * 90 % 360
    lefts, lows, rights, highs = zip(*boxes, strict=True)
    box = (min(lefts), min(lows), max(rights), max(highs))
    # Upright characters set one below another: writing from top to bottom.
    down = angle % 180 == 0 and len(boxes) > 1 and boxes[0][1] - boxes[-1][1] > box[2] - box[0]
    runs.append((text, box, angle, down, spaced))
    chars.clear()
    boxes.clear()
