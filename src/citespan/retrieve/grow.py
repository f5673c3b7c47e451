"""Passages from scored sentences: the best sentence, then its neighbours while they are good.

Seeds are taken best first. A passage grows from its seed over the neighbours, in document order
and without a gap, as long as they score within reach of the seed: at least
``seed - (1 - share) * best``, so for the best sentence itself at least ``share`` of its score.
Then what adjoins is one passage, with the best score of its sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from citespan.retrieve.fuse import Scores
from citespan.retrieve.windows import SentencePool
from citespan.spans import heading_path, page_range
from citespan.types import Document, Passage, Place, Span

SHARE = 0.55
"""Share of the best score down to which sentences belong to the evidence (docs/retrieve.md)."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring sentences ``first <= i < last`` of a pool, and the best of them."""

    first: int
    last: int
    best: int


def choose_runs(
    pool: SentencePool,
    scores: Scores,
    *,
    share: float = SHARE,
    most: int | None = None,
    budget: int | None = None,
    longest: int | None = None,
    measure: Callable[[int], int] = lambda _: 1,
) -> list[Run]:
    """Return runs of sentences, the best first; none holds a sentence of another.

    Parameters
    ----------
    share
        How far growth and, without ``most``, the choice of seeds goes down from the best score.
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
    >>> choose_runs(pool, np.array([0.1, 5.0, 4.0, 0.2]))
    [Run(first=1, last=3, best=1)]
    """
    if not len(scores):
        return []
    owner = np.searchsorted(pool.runs, np.arange(len(pool)), side="right") - 1
    taken = np.zeros(len(pool), dtype=bool)
    order = np.argsort(-scores, kind="stable")
    top = float(scores[order[0]])
    reach = (1 - share) * max(top, 0.0)
    runs: list[Run] = []
    spent = 0
    for seed in order.tolist():
        if taken[seed]:
            continue
        if most is None and runs and scores[seed] < top - reach:
            break
        if most is not None and len(runs) >= most:
            break
        size = measure(seed)
        if budget is not None and runs and spent + size > budget:
            break
        first, last = seed, seed + 1
        used = size
        floor = float(scores[seed]) - reach
        while True:
            sides = [
                i
                for i in (first - 1, last)
                if 0 <= i < len(pool)
                and owner[i] == owner[seed]
                and not taken[i]
                and scores[i] >= floor
            ]
            if not sides:
                break
            near = max(sides, key=lambda i: scores[i])
            more = measure(near)
            if (longest is not None and used + more > longest) or (
                budget is not None and spent + used + more > budget
            ):
                break
            used += more
            first, last = min(first, near), max(last, near + 1)
        taken[first:last] = True
        spent += used
        runs.append(Run(first, last, seed))
    return _merge_runs(runs, owner, scores) if most is None else runs


def _merge_runs(runs: list[Run], owner: np.ndarray, scores: Scores) -> list[Run]:
    merged: list[Run] = []
    for run in sorted(runs, key=lambda run: run.first):
        last = merged[-1] if merged else None
        if last and last.last == run.first and owner[last.best] == owner[run.best]:
            best = max(last.best, run.best, key=lambda i: scores[i])
            merged[-1] = Run(last.first, run.last, best)
        else:
            merged.append(run)
    return sorted(merged, key=lambda run: -scores[run.best])


def make_passages(
    pool: SentencePool,
    scores: Scores,
    parts: Mapping[str, Scores],
    runs: list[Run],
    get_document: Callable[[str], Document | None],
) -> list[Passage]:
    """Return the runs as passages, in their order; identical text is one, with all its places."""
    passages: list[Passage] = []
    seen: dict[str, int] = {}
    for run in runs:
        document = get_document(pool.documents[run.best])
        if document is None:
            continue
        start, end = int(pool.spans[run.first][0]), int(pool.spans[run.last - 1][1])
        text = document.text[start:end]
        key = " ".join(text.split())
        twin = seen.get(key)
        if twin is not None:
            place = Place(document.id, document.source, start, end)
            passages[twin] = _add_place(passages[twin], place)
            continue
        seen[key] = len(passages)
        page, last_page = page_range(document.pages, start, end)
        best = pool.spans[run.best]
        passages.append(
            Passage(
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
        )
    return passages


def _add_place(passage: Passage, place: Place) -> Passage:
    return replace(passage, duplicates=(*passage.duplicates, place))
