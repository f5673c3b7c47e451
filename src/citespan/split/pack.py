"""Packing: whole units (sentences, paragraphs, rows) into chunks, none cut and none a shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from citespan.split.ruler import Ruler
from citespan.types import Span


def pack_units(
    units: Sequence[Span],
    ruler: Ruler,
    size: int,
    *,
    overlap: int = 0,
    minimum: int = 0,
    fill: int | None = None,
    breaks: Set[int] = frozenset(),
) -> Iterator[Span]:
    """Yield runs of whole units.

    Parameters
    ----------
    units
        In order, disjoint, none larger than ``size``.
    size
        The hard maximum of a run.
    overlap
        Trailing units that the next run repeats, as many as measure at most this.
    minimum
        A last run below it takes units from the one before, as long as that keeps it too.
    fill
        A run that has reached it is closed (default: ``size``).
    breaks
        Indices of units at which a run begins anew if the one before has its minimum.

    Examples
    --------
    >>> ruler = Ruler("a b. c d. e f.", "words", 4)
    >>> list(pack_units([Span(0, 4), Span(5, 9), Span(10, 14)], ruler, 4, overlap=2))
    [Span(start=0, end=9), Span(start=5, end=14)]
    """
    runs: list[tuple[int, int]] = []
    first = begun = 0
    fill = size if fill is None else fill
    for number, unit in enumerate(units):
        if number == begun:
            continue
        held = ruler.measure(units[first].start, units[number - 1].end)
        grown = ruler.measure(units[first].start, unit.end)
        parted = number in breaks and held >= minimum
        if grown > size or held >= fill or parted:
            runs.append((first, number))
            # What is repeated never crosses a break, and leaves room for the next unit.
            low = number if parted else first + 1
            first = _carry_units(units, low, number, ruler, size, overlap)
            begun = number
    if units:
        runs.append((first, len(units)))
    if len(runs) > 1:
        runs[-2:] = _level_tail(units, runs[-2:], ruler, size, minimum)
    for first, behind in runs:
        yield Span(units[first].start, units[behind - 1].end)


def _carry_units(
    units: Sequence[Span], low: int, number: int, ruler: Ruler, size: int, overlap: int
) -> int:
    """Return where a run begins that repeats up to ``overlap`` of what stands before ``number``."""
    first = number
    while (
        first > low
        and ruler.measure(units[first - 1].start, units[number - 1].end) <= overlap
        and ruler.measure(units[first - 1].start, units[number].end) <= size
    ):
        first -= 1
    return first


def _level_tail(
    units: Sequence[Span], pair: Sequence[tuple[int, int]], ruler: Ruler, size: int, minimum: int
) -> list[tuple[int, int]]:
    """Move the border between the last two runs, or join them, if the last is too small."""
    (first, end_of_first), (border, behind) = pair
    end = units[behind - 1].end
    if ruler.measure(units[border].start, end) >= minimum:
        return list(pair)
    if ruler.measure(units[first].start, end) <= size:
        return [(first, behind)]
    if border < end_of_first:
        # The two overlap: the last run holds more than its own already.
        return list(pair)
    while border - 1 > first and ruler.measure(units[border].start, end) < minimum:
        smaller = ruler.measure(units[first].start, units[border - 2].end)
        larger = ruler.measure(units[border - 1].start, end)
        if smaller < minimum or larger > size:
            break
        border -= 1
    return [(first, border), (border, behind)]
