"""How far the embedder can be trusted on a collection, learned from the collection itself.

Each sampled sentence is asked as a question, and what should be found is the block of sentences it
was taken from, without it (the inverse cloze task: Lee, Chang and Toutanova 2019, "Latent Retrieval
for Weakly Supervised Open Domain Question Answering"). Blocks of the same document do not compete.
The mean reciprocal rank of the right block by cosine, against that by BM25, says what the vectors
know of this text in this language: a model that never saw Chinese ranks Chinese contexts badly.
Nothing is embedded or analysed: stored sentence vectors and term hashes are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import SentenceRange, Vectors
from citespan.retrieve.windows import K1, B

BLOCK = 5
"""Sentences a block."""
SAMPLES = 200
FEWEST = 20
"""Below so many samples nothing is concluded and ``DEFAULT_TRUST`` stands."""
GAIN = 1.4
MOST = 1.5
DEFAULT_TRUST = 1.0
"""``trust = GAIN * (MRR of cosine / MRR of BM25)``, at most MOST (docs/retrieve.md)."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The weight of cosines against BM25, and what it was concluded from."""

    trust: float
    mrr_bm25: float
    mrr_cosine: float
    samples: int


def measure_trust(documents: Sequence[SentenceRange], *, seed: int = 0) -> Trust:
    """Return how much a cosine counts against BM25 in these documents.

    Parameters
    ----------
    documents
        All stored sentences of some documents; those without vectors are left out.
    seed
        Of the sample, so that the same index gives the same weight.
    """
    blocks = _cut_blocks([d for d in documents if d.vectors is not None])
    if blocks is None:
        return Trust(DEFAULT_TRUST, 0.0, 0.0, 0)
    able = np.flatnonzero(
        (blocks.sizes[blocks.block] >= 3) & (blocks.lengths >= 5) & (blocks.lengths <= 60)
    )
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(able)[:SAMPLES])
    ranks = [found for i in chosen.tolist() if (found := _rank_block(blocks, i)) is not None]
    if len(ranks) < FEWEST:
        return Trust(DEFAULT_TRUST, 0.0, 0.0, len(ranks))
    bm25, cosine = (float(np.mean([1 / rank[side] for rank in ranks])) for side in (0, 1))
    return Trust(min(MOST, GAIN * cosine / max(bm25, 1e-9)), bm25, cosine, len(ranks))


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Sentences and the blocks they are in; ``starts`` is where each sentence's terms begin."""

    block: NDArray[np.int64]
    document: NDArray[np.int64]
    vectors: Vectors
    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    norms: NDArray[np.float64]
    block_lengths: NDArray[np.float64]
    term_blocks: NDArray[np.int64]
    by_term: NDArray[np.int64]
    sorted_terms: NDArray[np.uint32]


def _cut_blocks(documents: Sequence[SentenceRange]) -> _Blocks | None:
    parts: list[NDArray[np.int64]] = []
    owners: list[int] = []
    for number, document in enumerate(documents):
        parts.append(np.arange(len(document.spans)) // BLOCK + len(owners))
        owners.extend([number] * -(-len(document.spans) // BLOCK))
    if len(owners) < 2:
        return None
    block = np.concatenate(parts).astype(np.int64)
    vectors = np.concatenate([d.vectors for d in documents if d.vectors is not None])
    terms = np.concatenate([d.terms for d in documents])
    lengths = np.concatenate([d.counts for d in documents]).astype(np.int64)
    sums = np.zeros((len(owners), vectors.shape[1]))
    np.add.at(sums, block, vectors)
    term_blocks = np.repeat(block, lengths)
    by_term = np.argsort(terms, kind="stable")
    return _Blocks(
        block=block,
        document=np.asarray(owners, dtype=np.int64),
        vectors=vectors,
        terms=terms,
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        lengths=lengths,
        sizes=np.bincount(block, minlength=len(owners)),
        sums=sums,
        norms=np.maximum(np.linalg.norm(sums, axis=1), 1e-9),
        block_lengths=np.bincount(block, lengths, len(owners)).astype(np.float64),
        term_blocks=term_blocks,
        by_term=by_term,
        sorted_terms=terms[by_term],
    )


def _rank_block(blocks: _Blocks, sentence: int) -> tuple[int, int] | None:
    """Return the rank of a sentence's own block, without it, by BM25 and by cosine."""
    own = int(blocks.block[sentence])
    rivals = blocks.document != blocks.document[own]
    if not rivals.any():
        rivals = np.ones(len(blocks.document), dtype=bool)
        rivals[own] = False
    bm25 = _score_terms(blocks, sentence, own)
    vector = blocks.vectors[sentence].astype(np.float64)
    rest = blocks.sums[own] - vector
    cosines = blocks.sums @ vector / blocks.norms
    cosine = float(rest @ vector) / max(float(np.linalg.norm(rest)), 1e-9)
    return (
        1 + int((bm25[rivals] > bm25[own]).sum()),
        1 + int((cosines[rivals] > cosine).sum()),
    )


def _score_terms(blocks: _Blocks, sentence: int, own: int) -> NDArray[np.float64]:
    """Return each block's BM25 for a sentence's terms; its own block is counted without it."""
    count = len(blocks.document)
    lengths = blocks.block_lengths.copy()
    lengths[own] -= blocks.lengths[sentence]
    norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
    total = np.zeros(count)
    terms = blocks.terms[blocks.starts[sentence] : blocks.starts[sentence + 1]]
    for term, repeated in zip(*np.unique(terms, return_counts=True), strict=True):
        first = np.searchsorted(blocks.sorted_terms, term, side="left")
        last = np.searchsorted(blocks.sorted_terms, term, side="right")
        tf = np.bincount(blocks.term_blocks[blocks.by_term[first:last]], minlength=count)
        tf = tf.astype(np.float64)
        tf[own] -= repeated
        frequency = np.count_nonzero(tf)
        idf = np.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        total += idf * tf * (K1 + 1) / (tf + norm)
    return total
