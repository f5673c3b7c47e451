"""Passages from scored sentences: the best sentence, then its neighbours while they are good.

Two scores are at work. ``windows`` decides what belongs to the evidence: a sentence does while it
scores at least ``SHARE`` of the best one's and is not more than ``DROP`` standard deviations below
it. ``scores`` decides the order. Seeds are taken best first; a passage grows from its seed over the
neighbours, in document order and without a gap, while they belong to the evidence. Where a number
of passages was asked for, later seeds are taken however low they are, and each grows over what is
at most ``REACH`` below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from citespan.retrieve.fuse import Scores
from citespan.retrieve.windows import SentencePool
from citespan.spans import heading_path, page_range
from citespan.types import Document, Passage, Place, Span

SHARE = 0.45
DROP = 2.3
REACH = 1.0
"""Where the evidence ends; chosen on a plateau of recall against precision (docs/retrieve.md)."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring sentences ``first <= i < last`` of a pool, and the best of them."""

    first: int
    last: int
    best: int


def choose_runs(
    pool: SentencePool,
    scores: Scores,
    windows: Scores,
    *,
    share: float = SHARE,
    drop: float = DROP,
    most: int | None = None,
    budget: int | None = None,
    longest: int | None = None,
    measure: Callable[[int], int] = lambda _: 1,
) -> list[Run]:
    """Return runs of sentences, the best first; none holds a sentence of another.

    Parameters
    ----------
    scores, windows
        What orders the sentences, and what decides which belong to the evidence.
    share, drop
        How far the evidence goes down from the best of ``windows``.
    most
        Number of runs; seeds are then taken however low they score.
    budget, longest
        Sizes of all runs together, and of one, as ``measure`` counts sentence i. The best sentence
        is taken even if it alone is larger.

    Examples
    --------
    >>> import numpy as np
    >>> pool = SentencePool(["d"] * 4, np.arange(4), np.zeros((4, 2), np.int32), np.array([0, 4]),
    ...     None, np.zeros(0, np.uint32), np.zeros(4, np.int32))
    >>> scores = np.array([0.1, 5.0, 4.0, 0.2])
    >>> choose_runs(pool, scores, scores)
    [Run(first=1, last=3, best=1)]
    """
    if not len(scores):
        return []
    owner = np.searchsorted(pool.runs, np.arange(len(pool)), side="right") - 1
    taken = np.zeros(len(pool), dtype=bool)
    order = np.argsort(-scores, kind="stable").tolist()
    top = float(windows.max())
    floor = max(share * top, top - drop)
    runs: list[Run] = []
    spent = 0
    for seed in order:
        if most is not None and len(runs) >= most:
            break
        # The first seed stands even if another sentence's windows are better.
        if taken[seed] or (most is None and runs and windows[seed] < floor):
            continue
        size = measure(seed)
        if budget is not None and runs and spent + size > budget:
            break
        bounds = [longest, None if budget is None else budget - spent]
        limit = min((b for b in bounds if b is not None), default=None)
        low = floor if most is None else float(windows[seed]) - REACH
        run, used = _grow_run(seed, owner, taken, windows, low, limit, measure)
        taken[run.first : run.last] = True
        spent += used
        runs.append(run)
    return _merge_runs(runs, owner, scores) if most is None else runs


def _grow_run(
    seed: int,
    owner: NDArray[np.int64],
    taken: NDArray[np.bool_],
    windows: Scores,
    floor: float,
    limit: int | None,
    measure: Callable[[int], int],
) -> tuple[Run, int]:
    """Grow over the better neighbour until both are too low, taken, or too long."""
    first, last, used = seed, seed + 1, measure(seed)
    while True:
        sides = [
            i
            for i in (first - 1, last)
            if 0 <= i < len(windows)
            and owner[i] == owner[seed]
            and not taken[i]
            and windows[i] >= floor
        ]
        if not sides:
            break
        near = max(sides, key=lambda i: float(windows[i]))
        more = measure(near)
        if limit is not None and used + more > limit:
            break
        used += more
        first, last = min(first, near), max(last, near + 1)
    return Run(first, last, seed), used


def _merge_runs(runs: list[Run], owner: NDArray[np.int64], scores: Scores) -> list[Run]:
    merged: list[Run] = []
    for run in sorted(runs, key=lambda run: run.first):
        last = merged[-1] if merged else None
        if last and last.last == run.first and owner[last.best] == owner[run.best]:
            best = max(last.best, run.best, key=lambda i: float(scores[i]))
            merged[-1] = Run(last.first, run.last, best)
        else:
            merged.append(run)
    return sorted(merged, key=lambda run: -float(scores[run.best]))


def make_passages(
    pool: SentencePool,
    scores: Scores,
    parts: Mapping[str, Scores],
    runs: list[Run],
    get_document: Callable[[str], Document | None],
) -> list[Passage]:
    """Return the runs as passages, in their order; identical text is one, with all its places.

    A passage whose sentences all stand in another one, in that order, is no passage of its own:
    the longer one stands in the better one's rank, with its score and parts.
    """
    passages: list[Passage] = []
    keys: list[str] = []
    holders: dict[str, list[int]] = {}
    for run in runs:
        document = get_document(pool.documents[run.best])
        if document is None:
            continue
        start, end = int(pool.spans[run.first][0]), int(pool.spans[run.last - 1][1])
        text = document.text[start:end]
        sentences = [
            " ".join(document.text[s:e].split()) for s, e in pool.spans[run.first : run.last]
        ]
        key = "\n".join(["", *sentences, ""])
        near = sorted({i for sentence in sentences for i in holders.get(sentence, ())})
        twin = next((i for i in near if key in keys[i]), None)
        if twin is not None:
            place = Place(document.id, document.source, start, end)
            passages[twin] = _add_place(passages[twin], place)
            continue
        page, last_page = page_range(document.pages, start, end)
        best = pool.spans[run.best]
        passage = Passage(
            document_id=document.id,
            source=document.source,
            start=start,
            end=end,
            text=text,
            score=float(scores[run.best]),
            title=document.title,
            heading=heading_path(document.sections, start),
            page=page,
            last_page=last_page,
            parts={name: float(values[run.best]) for name, values in parts.items()},
            hits=(Span(int(best[0]), int(best[1])),),
        )
        # Emptied keys match nothing more: what they held is held by the new passage.
        parted = [i for i in near if keys[i] and keys[i] in key]
        for i in parted:
            passage = _take_over(passage, passages[i], first=i == parted[0])
            keys[i] = ""
        at = parted[0] if parted else len(passages)
        passages[at : at + 1] = [passage]
        keys[at : at + 1] = [key]
        for sentence in sentences:
            holders.setdefault(sentence, []).append(at)
    return [passage for passage, key in zip(passages, keys, strict=True) if key]


def _take_over(longer: Passage, held: Passage, *, first: bool) -> Passage:
    """Return the longer passage with the places and, of the best one in it, score and parts."""
    place = Place(held.document_id, held.source, held.start, held.end)
    places = (*longer.duplicates, place, *held.duplicates)
    if first:
        longer = replace(longer, score=held.score, parts=held.parts)
    return replace(longer, duplicates=places)


def _add_place(passage: Passage, place: Place) -> Passage:
    return replace(passage, duplicates=(*passage.duplicates, place))
