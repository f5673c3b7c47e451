"""Candidates from the lexical and the dense index, scored on both sides and fused.

Every candidate gets its exact score from each side, also from the side that did not bring it: a
guessed zero would punish a chunk for the other side's cut-off. Only then are the scores put
together, so the first k hits do not depend on k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError
from citespan.protocols import Embedder, Filter, Store, Terms
from citespan.retrieve.fuse import (
    Scores,
    fuse_ranks,
    fuse_scores,
    rank_scores,
    standardise_scores,
)
from citespan.types import Chunk, Hit

Retriever = Literal["hybrid", "lexical", "dense", "rrf"]

POOL = 200
"""Candidates taken from each side before fusion (or k, if that is more)."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search found, and the query as it was searched."""

    hits: tuple[Hit, ...]
    terms: Terms
    query_vector: NDArray[np.float32] | None = None
    candidates: int = 0
    notes: tuple[str, ...] = field(default=())


def retrieve_hits(
    question: str,
    store: Store,
    k: int,
    *,
    terms: Terms,
    embedder: Embedder | None = None,
    retriever: Retriever = "hybrid",
    weights: Mapping[str, float] | None = None,
    where: Filter | None = None,
) -> Retrieval:
    """Return the k best chunks for a question.

    Parameters
    ----------
    question, terms
        The question, and its index terms (``citespan.text.analyze_query``).
    k
        How many; more than there are gives all that match.
    embedder
        The one the index was made with; without it only words are compared.
    retriever
        ``lexical`` (BM25), ``dense`` (cosine), ``hybrid`` (sum of z-scores) or ``rrf``.
    weights
        Of ``bm25`` and ``cosine`` in the fusion, 1 each by default.

    Raises
    ------
    InputError
        If k < 1, or ``dense`` is asked for without an embedder.
    """
    if k < 1:
        raise InputError(f"k = {k}: at least one hit must be asked for", fix="use k >= 1")
    if retriever == "dense" and embedder is None:
        raise InputError(
            "dense retrieval needs an embedder, and this index has none",
            fix="run: citespan model fetch, then index again with --embedder minilm",
        )
    lexical = retriever != "dense"
    vector = None
    if embedder is not None and retriever != "lexical":
        vector = embedder.embed([question], kind="query")[0]

    pool = max(k, POOL) if retriever in ("hybrid", "rrf") else k
    found: dict[int, None] = {}
    if lexical:
        found.update(dict.fromkeys(key for key, _ in store.search_terms(terms, pool, where)))
    if vector is not None:
        found.update(dict.fromkeys(key for key, _ in store.search_vector(vector, pool, where)))
    keys = sorted(found)
    if not keys:
        return Retrieval((), terms, vector)

    sides: dict[str, Scores] = {}
    if lexical:
        sides["bm25"] = np.asarray(store.score_terms(terms, keys), dtype=np.float64)
    if vector is not None:
        sides["cosine"] = (store.get_vectors(keys) @ vector).astype(np.float64)
    return _rank_candidates(store, keys, sides, retriever, weights or {}, terms, vector, k)


def _rank_candidates(
    store: Store,
    keys: Sequence[int],
    sides: Mapping[str, Scores],
    retriever: Retriever,
    weights: Mapping[str, float],
    terms: Terms,
    vector: NDArray[np.float32] | None,
    k: int,
) -> Retrieval:
    ranks = {name: rank_scores(scores) for name, scores in sides.items()}
    if len(sides) == 1:
        (total,) = sides.values()
    elif retriever == "rrf":
        total = fuse_ranks(ranks, weights)
    else:
        total = fuse_scores(sides, weights)
    order = np.argsort(-total, kind="stable")[:k].tolist()

    standard = {name: standardise_scores(scores) for name, scores in sides.items()}
    chunks: list[Chunk] = store.get_chunks([keys[i] for i in order])
    hits = []
    for rank, (i, chunk) in enumerate(zip(order, chunks, strict=True), start=1):
        parts: dict[str, float] = {}
        for name, scores in sides.items():
            parts[name] = float(scores[i])
            parts[f"rank_{name}"] = float(ranks[name][i])
            if len(sides) > 1:
                if retriever == "hybrid":
                    parts[f"z_{name}"] = float(standard[name][i])
                parts[f"weight_{name}"] = float(weights.get(name, 1.0))
        hits.append(Hit(chunk=chunk, score=float(total[i]), rank=rank, parts=parts))
    return Retrieval(tuple(hits), terms, vector, candidates=len(keys))
