"""From clusters to chunks that can be used: none too small, none too large, nothing dropped.

A *group* is a list of sentence numbers in document order; together the groups hold every sentence
once. The hard limits (sentences, tokens) always hold; the minimum holds where they allow it.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from citespan.split.semantic.clusters import Labels
from citespan.split.semantic.vectors import Floats, row_products, sum_clusters, unit_rows

Group = list[int]
Measure = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a group may hold: sentences by number, tokens (or another unit) by ``measure``."""

    min_sentences: int
    max_sentences: int
    minimum: int
    maximum: int
    measure: Measure
    unit: str = "tokens"

    def too_small(self, group: Sequence[int]) -> bool:
        """Whether the soft minimum is not reached."""
        return len(group) < self.min_sentences or self.measure(group) < self.minimum

    def too_large(self, group: Sequence[int]) -> str:
        """Return which hard limit is passed, in words, or an empty string."""
        if len(group) > self.max_sentences:
            return f"{len(group)} sentences, at most {self.max_sentences}"
        if len(group) > 1 and (held := self.measure(group)) > self.maximum:
            return f"{held} {self.unit}, at most {self.maximum}"
        return ""

    def without_maximum(self) -> Limits:
        """Return the limits by sentences alone."""
        return replace(self, maximum=sys.maxsize)


@dataclass(slots=True)
class Notes:
    """Why sentences came together or apart, by sentence: for ``explain``."""

    joined: dict[int, str] = field(default_factory=dict)
    cut: dict[int, str] = field(default_factory=dict)


def assign_noise(labels: Labels, rows: Floats, notes: Notes) -> Labels:
    """Give each sentence of label -1 to the cluster whose mean vector is nearest to it.

    Where there is no cluster at all, all sentences become one.
    """
    count = int(labels.max(initial=-1)) + 1
    noise = np.flatnonzero(labels < 0)
    labels = labels.copy()
    if count == 0:
        labels[:] = 0
        notes.joined.update(dict.fromkeys(noise.tolist(), "noise; there is no cluster"))
    elif len(noise):
        means = unit_rows(sum_clusters(rows, labels, count))
        labels[noise] = (rows[noise] @ means.T).argmax(axis=1)
        notes.joined.update(dict.fromkeys(noise.tolist(), "noise, given to the nearest cluster"))
    return labels


def join_small(
    groups: Sequence[Group], rows: Floats, limits: Limits, notes: Notes, *, contiguous: bool
) -> list[Group]:
    """Join each group below the minimum to the one nearest by mean vector, the smallest first.

    Contiguous groups join a neighbour only, and stay contiguous.
    """
    joined = [list(group) for group in groups]
    count = len(joined)
    labels = np.empty(len(rows), dtype=np.int64)
    for number, group in enumerate(joined):
        labels[group] = number
    sums = sum_clusters(rows, labels, count)
    means = unit_rows(sums)
    alive = np.ones(count, dtype=bool)
    before, behind = list(range(-1, count - 1)), list(range(1, count + 1))
    queue = [(len(group), group[0], n) for n, group in enumerate(joined) if limits.too_small(group)]
    heapq.heapify(queue)
    left = count
    while queue and left > 1:
        size, _, number = heapq.heappop(queue)
        if not alive[number] or size != len(joined[number]):
            continue
        if contiguous:
            others = np.array([n for n in (before[number], behind[number]) if 0 <= n < count])
        else:
            alive[number] = False
            others = np.flatnonzero(alive)
        nearness = means[others] @ means[number]
        target = int(others[nearness.argmax()])
        why = f"of a cluster of {size}, joined to the nearest ({nearness.max():.2f})"
        notes.joined.update(dict.fromkeys(joined[number], why))
        joined[target] = sorted(joined[target] + joined[number])
        sums[target] += sums[number]
        means[target] = unit_rows(sums[target : target + 1])[0]
        alive[number] = False
        left -= 1
        if before[number] >= 0:
            behind[before[number]] = behind[number]
        if behind[number] < count:
            before[behind[number]] = before[number]
        if limits.too_small(joined[target]):
            heapq.heappush(queue, (len(joined[target]), joined[target][0], target))
    return sorted(joined[number] for number in np.flatnonzero(alive))


def cut_large(groups: Sequence[Group], rows: Floats, limits: Limits, notes: Notes) -> list[Group]:
    """Cut each group above a hard limit at its weakest neighbouring pair, until all fit.

    Neighbours are those within the group. A cut that leaves both sides their minimum of sentences
    goes before one that does not; of equals the middle one wins.
    """
    done: list[Group] = []
    for whole in groups:
        links = row_products(rows[whole[:-1]], rows[whole[1:]])
        waiting = [(0, len(whole))]
        while waiting:
            first, behind = waiting.pop()
            group = whole[first:behind]
            why = limits.too_large(group)
            if not why:
                done.append(group)
                continue
            place = first + _find_weakest(links[first : behind - 1], limits.min_sentences)
            notes.cut[whole[place]] = f"{why}: cut at the weakest pair ({links[place - 1]:.2f})"
            waiting += [(place, behind), (first, place)]
    return sorted(done)


def _find_weakest(links: Floats, least: int) -> int:
    """Return where to cut: the number of sentences that go to the first side.

    >>> _find_weakest(np.array([0.1, 0.8, 0.3, 0.9, 0.7]), 2)
    3
    """
    count = len(links) + 1
    least = max(1, min(least, count // 2))
    places = np.arange(least, count - least + 1)
    values = links[places - 1]
    # Equal sentences differ by rounding only; then the middle is as good as any.
    ties = places[values <= values.min() + 1e-9]
    return int(ties[np.abs(ties - count / 2).argmin()])
