"""The evidence ribbon: every sentence near a candidate is scored together with its neighbours.

Adding neighbours to a matched sentence blindly does not find more of the evidence; scoring each
sentence *with* its neighbours does. A sentence's score is

    windows = mean over widths of z(bm25 of the window) and trust * z(cosine of the window)
    score = windows + chunk * mean of z(bm25) and trust * z(cosine) of the chunk that holds it

where z standardises one part over this question's candidates, ``trust`` says how far the
embedder's cosine can be trusted on this collection (``calibrate.py`` measures it), and a width of w
is the window of w neighbours on either side. Both means are weighted ones, so a score is in
standard deviations whatever the settings. ``windows`` decides which sentences belong to the
evidence, ``score`` in which order passages come: the chunk sees more, and less sharply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import Embedder, Filter, Store, Terms
from citespan.retrieve.fuse import Scores, standardise_scores
from citespan.retrieve.windows import (
    SentencePool,
    count_terms,
    join_ranges,
    read_pool,
    score_windows,
)
from citespan.types import Hit
from citespan.weights import Weigh, weigh_groups


@dataclass(frozen=True, slots=True)
class RibbonSettings:
    """What the score is made of.

    ``widths`` maps the windows' neighbours on either side to their weights; ``chunk`` weighs the
    chunk's part of the score; ``trust`` weighs cosines against BM25. ``pool`` chunks come from each
    of the two indexes, and the sentences around the best ``near`` of them are scored.
    """

    widths: Mapping[int, float] = field(
        default_factory=lambda: {0: 1.5, 1: 1.0, 2: 1.0, 3: 1.0, 5: 1.0}
    )
    chunk: float = 0.6
    trust: float = 1.0
    pool: int = 200
    near: int = 64


@dataclass(frozen=True, slots=True)
class Candidates:
    """The chunks that either index brought, each scored on both sides; best first."""

    keys: list[int]
    sides: Mapping[str, Scores]
    standard: Mapping[str, Scores]
    total: Scores


@dataclass(frozen=True, slots=True)
class Ribbon:
    """The scored sentences of one question, and the parts their scores are made of.

    ``parts[name][i]`` is a number of sentence i: ``bm25@w`` and ``cosine@w`` for the window of w
    neighbours, ``chunk_bm25`` and ``chunk_cosine`` for the chunk that holds it, ``z_…`` for the
    standardised forms of those, ``windows`` for the mean that decides what belongs to the evidence.
    """

    sentences: SentencePool
    scores: Scores
    parts: Mapping[str, Scores]
    candidates: Candidates
    query_vector: NDArray[np.float32] | None = None
    settings: RibbonSettings = field(default_factory=RibbonSettings)


def score_ribbon(
    question: str,
    store: Store,
    *,
    terms: Terms,
    weigh: Weigh,
    embedder: Embedder | None = None,
    settings: RibbonSettings | None = None,
    where: Filter | None = None,
) -> Ribbon:
    """Score the sentences around the chunks that a question finds.

    Parameters
    ----------
    question, terms
        The question, and its index terms (``citespan.text.analyze_query``).
    weigh
        A term's weight in the collection (``citespan.weights.idf_weight``).
    embedder
        The one the index was made with; without it words alone count.

    A question without a term and without an embedder finds nothing: its ribbon is empty.
    """
    settings = settings or RibbonSettings()
    vector = None
    if embedder is not None and settings.trust > 0:
        vector = embedder.embed([question], kind="query")[0]
    found = find_candidates(store, terms, vector, settings, where)
    near = found.keys[: settings.near]
    held = store.chunk_sentences(near) if near else []
    margin = max(settings.widths)
    pool = read_pool(store, join_ranges((r for ranges in held for r in ranges), margin=margin))
    groups = weigh_groups(terms, weigh)
    counts = count_terms(pool, [group for group, _ in groups])
    weights = [weight for _, weight in groups]

    parts: dict[str, Scores] = {}
    windows = _Mean(len(pool))
    for window in score_windows(pool, counts, weights, vector, list(settings.widths)):
        weight = settings.widths[window.width]
        parts[f"bm25@{window.width}"] = window.bm25
        windows.add(standardise_scores(window.bm25), weight)
        if window.cosine is not None:
            parts[f"cosine@{window.width}"] = window.cosine
            windows.add(standardise_scores(window.cosine), weight * settings.trust)
    chunk = _Mean(len(pool))
    for name, values in _spread_chunks(pool, found, held).items():
        parts[name] = values
        if name.startswith("z_"):
            chunk.add(values, settings.trust if name == "z_chunk_cosine" else 1.0)
    parts["windows"] = windows.value()
    total = parts["windows"] + settings.chunk * chunk.value()
    return Ribbon(pool, total, parts, found, vector, settings)


class _Mean:
    """A weighted mean of arrays, as they come."""

    def __init__(self, size: int) -> None:
        self._sum = np.zeros(size)
        self._weight = 0.0

    def add(self, values: Scores, weight: float) -> None:
        self._sum = self._sum + weight * values
        self._weight += weight

    def value(self) -> Scores:
        return self._sum / self._weight if self._weight else self._sum


def find_candidates(
    store: Store,
    terms: Terms,
    vector: NDArray[np.float32] | None,
    settings: RibbonSettings,
    where: Filter | None = None,
) -> Candidates:
    """Return the chunks of both indexes, scored on both sides, the best sum of z-scores first."""
    found: dict[int, None] = {}
    if terms:
        found.update(dict.fromkeys(k for k, _ in store.search_terms(terms, settings.pool, where)))
    if vector is not None:
        found.update(dict.fromkeys(k for k, _ in store.search_vector(vector, settings.pool, where)))
    keys = sorted(found)
    sides: dict[str, Scores] = {}
    if terms:
        sides["bm25"] = np.asarray(store.score_terms(terms, keys), dtype=np.float64)
    if vector is not None and keys:
        sides["cosine"] = (store.get_vectors(keys) @ vector).astype(np.float64)
    standard = {name: standardise_scores(values) for name, values in sides.items()}
    total = np.zeros(len(keys))
    for name, values in standard.items():
        total += values * (settings.trust if name == "cosine" else 1.0)
    order = np.argsort(-total, kind="stable")
    return Candidates(
        [keys[i] for i in order],
        {name: values[order] for name, values in sides.items()},
        {name: values[order] for name, values in standard.items()},
        total[order],
    )


def list_hits(store: Store, found: Candidates, k: int) -> tuple[Hit, ...]:
    """Return the k best candidates as hits, each with the parts of its score."""
    chunks = store.get_chunks(found.keys[:k])
    hits = []
    for i, chunk in enumerate(chunks):
        parts: dict[str, float] = {}
        for name, values in found.sides.items():
            parts[name] = float(values[i])
            parts[f"z_{name}"] = float(found.standard[name][i])
        hits.append(Hit(chunk, float(found.total[i]), i + 1, parts))
    return tuple(hits)


def _spread_chunks(
    pool: SentencePool, found: Candidates, held: Sequence[Sequence[tuple[str, int, int]]]
) -> dict[str, Scores]:
    """Give each sentence the scores of the best chunk that holds it, the lowest where none does."""
    place = {
        (document, int(order)): i
        for i, (document, order) in enumerate(zip(pool.documents, pool.orders, strict=True))
    }
    owner = np.full(len(pool), -1)
    for chunk in range(len(held) - 1, -1, -1):  # the best last, so that it stays
        for document, first, last in held[chunk]:
            for order in range(first, last):
                i = place.get((document, order))
                if i is not None:
                    owner[i] = chunk
    spread: dict[str, Scores] = {}
    for prefix, sides in (("chunk_", found.sides), ("z_chunk_", found.standard)):
        for name, values in sides.items():
            near = values[: len(held)]
            lowest = near.min() if len(near) else 0.0
            spread[prefix + name] = np.where(owner >= 0, near[owner] if len(near) else 0.0, lowest)
    return spread
