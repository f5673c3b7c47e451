"""Does a splitter cut where the subject changes? Pk and WindowDiff, lower is better.

A document is ``n`` units (sentences or blocks); a boundary ``b`` says that a new segment starts at
unit ``b``, 0 left out. Both metrics slide a window over the document whose two ends are ``k`` units
apart; ``k`` is half the mean length of a true segment.
"""

from __future__ import annotations

import gzip
import json
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from citespan.errors import InputError
from citespan.types import Span


@dataclass(frozen=True, slots=True)
class SegmentedDocument:
    """A text with its units' spans, and the units at which a new segment truly starts."""

    id: str
    text: str
    units: tuple[Span, ...]
    boundaries: tuple[int, ...]


def window_size(true: Iterable[int], units: int) -> int:
    """Return k: half the mean true segment length in units, at least 2, rounded as by ``round``.

    >>> window_size([4, 10], 15)  # mean 5, half 2.5
    2
    """
    segments = len(set(true)) + 1
    return max(2, round(units / (2 * segments)))


def pk(true: Iterable[int], found: Iterable[int], units: int, *, k: int | None = None) -> float:
    """Return Pk (Beeferman, Berger, Lafferty, Machine Learning 34, 1999).

    The share of the ``units - k`` windows for which the two segmentations disagree on whether the
    window's two ends lie in one segment. 0 is perfect; no boundaries at all give about 0.5. A
    document that is no longer than the window has no windows: its value is then the plain
    question whether all boundaries agree.

    >>> pk([3], [3], 6), pk([3], [4], 6, k=2)
    (0.0, 0.5)
    """
    one, two, k = _prepare(true, found, units, k)
    pairs = zip(_windows(one, k, units), _windows(two, k, units), strict=True)
    wrong = [(a > 0) != (b > 0) for a, b in pairs]
    return sum(wrong) / len(wrong) if wrong else float(one != two)


def window_diff(
    true: Iterable[int], found: Iterable[int], units: int, *, k: int | None = None
) -> float:
    """Return WindowDiff (Pevzner, Hearst, Computational Linguistics 28(1), 2002).

    The share of the windows in which the two segmentations have another *number* of boundaries;
    unlike Pk it also charges boundaries too many within one window.

    >>> window_diff([3], [3], 6), window_diff([3], [2, 3], 6, k=2), pk([3], [2, 3], 6, k=2)
    (0.0, 0.5, 0.25)
    """
    one, two, k = _prepare(true, found, units, k)
    pairs = zip(_windows(one, k, units), _windows(two, k, units), strict=True)
    wrong = [a != b for a, b in pairs]
    return sum(wrong) / len(wrong) if wrong else float(one != two)


def boundaries_to_units(offsets: Iterable[int], units: Sequence[Span]) -> list[int]:
    """Return the unit at which each boundary (a code-point offset into the text) starts a segment.

    An offset between two units belongs to the next one; inside a unit, to the end that is nearer
    (a cut through a sentence is charged as the closest cut between sentences). Boundaries at the
    document's start or end, and repeated ones, fall away.

    >>> boundaries_to_units([0, 11, 14, 30], [Span(0, 10), Span(11, 20), Span(21, 30)])
    [1]
    """
    starts = [unit.start for unit in units]
    found = set()
    for offset in offsets:
        index = bisect_left(starts, offset)  # the first unit that starts at the offset or after
        if index and offset < units[index - 1].end:
            inside = units[index - 1]
            if offset - inside.start <= inside.end - offset:
                index -= 1
        if 0 < index < len(units):
            found.add(index)
    return sorted(found)


def chunk_boundaries(chunks: Iterable[Sequence[Span]], units: Sequence[Span]) -> list[int]:
    """Return the units at which neighbouring chunks part, also where chunks hold distant pieces.

    Each unit belongs to the chunk that holds most of it; a boundary stands wherever two
    neighbouring units belong to different chunks.

    >>> units = [Span(0, 5), Span(5, 9), Span(9, 12)]
    >>> chunk_boundaries([[Span(0, 5), Span(9, 12)], [Span(5, 9)]], units)
    [1, 2]
    """
    best: list[tuple[int, int]] = [(0, -1)] * len(units)
    ends = [unit.end for unit in units]
    for number, spans in enumerate(chunks):
        for start, end in spans:
            index = bisect_left(ends, start + 1)
            while index < len(units) and units[index].start < end:
                shared = min(end, units[index].end) - max(start, units[index].start)
                if shared > best[index][0]:
                    best[index] = (shared, number)
                index += 1
    return [i for i in range(1, len(units)) if best[i][1] != best[i - 1][1]]


def random_boundaries(count: int, units: int, *, seed: int = 0) -> list[int]:
    """Return ``count`` random boundaries: what a splitter must beat.

    >>> len(random_boundaries(3, 20))
    3
    """
    return sorted(random.Random(seed).sample(range(1, units), min(count, max(0, units - 1))))


def read_segmentation(path: Path | str) -> list[SegmentedDocument]:
    """Read ``docs.jsonl`` (or ``.gz``), or a folder that holds one.

    A line is {id, text, boundaries: [offset of a new segment, 0 left out], units: [[start, end]]}.
    """
    path = Path(path)
    if path.is_dir():
        path = next((p for p in sorted(path.glob("docs.jsonl*"))), path / "docs.jsonl")
    if not path.exists():
        raise InputError(f"no file {path.name} in {path.parent.name}", fix="give docs.jsonl[.gz]")
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    documents = []
    for line in data.decode("utf-8").split("\n"):
        if not line.strip():
            continue
        row = json.loads(line)
        units = tuple(Span(*unit) for unit in row["units"])
        boundaries = tuple(boundaries_to_units(row["boundaries"], units))
        documents.append(SegmentedDocument(str(row["id"]), row["text"], units, boundaries))
    return documents


def _prepare(
    true: Iterable[int], found: Iterable[int], units: int, k: int | None
) -> tuple[frozenset[int], frozenset[int], int]:
    one, two = frozenset(true), frozenset(found)
    wrong = sorted(b for b in one | two if not 0 < b < units)
    if wrong:
        raise InputError(
            f"boundaries {wrong[:5]} are not within 1 and {units - 1}",
            fix="give the units at which a new segment starts, 0 left out",
        )
    if k is not None and k < 1:
        raise InputError(f"k={k}", fix="give a window of at least 1 unit")
    return one, two, k if k is not None else window_size(one, units)


def _windows(boundaries: frozenset[int], k: int, units: int) -> list[int]:
    """Return the number of boundaries between unit i and unit i + k, for every i."""
    before = list(accumulate((b in boundaries for b in range(units)), initial=0))
    return [before[i + k + 1] - before[i + 1] for i in range(max(0, units - k))]
