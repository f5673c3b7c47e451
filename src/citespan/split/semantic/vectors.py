"""Vectors of a document's sentences: from a model, from its own words, or from both.

A *space* is a matrix with a unit row for each sentence, dense or sparse. What a method needs of it
is never the n × n matrix of similarities but a band of it (pairs at most so far apart), sums over
windows and means of clusters; all of them are linear in the document's length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citespan.protocols import Embedder
from citespan.text import analyze_terms

Floats = NDArray[np.float64]


HASHED = 1024
"""Columns that a document's terms are hashed into where a method needs them dense."""


@dataclass(frozen=True, slots=True)
class Space:
    """Unit rows ``[n, d]`` (a row of zeros for an empty text) as ndarray or scipy CSR matrix."""

    name: str
    rows: Any


def embed_sentences(texts: Sequence[str], embedder: Embedder) -> Space:
    """Return the embedder's vectors; a sentence that occurs again is embedded once."""
    unique = list(dict.fromkeys(texts))
    vectors = np.asarray(embedder.embed(unique, kind="document"), dtype=np.float64)
    place = {text: row for row, text in enumerate(unique)}
    return Space("embedder", unit_rows(vectors)[[place[text] for text in texts]])


def weigh_sentences(texts: Sequence[str], language: str) -> Space:
    """Return TF-IDF vectors of the sentences, each counted as a document of its own.

    The weight of a term is ``(1 + ln tf) · ln((n + 1) / df)`` (Salton and Buckley 1988, *ltc*):
    what occurs in every sentence says nothing about any of them.

    >>> rows = weigh_sentences(["red fox", "red hen", "blue hen"], "en").rows
    >>> (rows @ rows.T).toarray().round(2).tolist()
    [[1.0, 0.32, 0.0], [0.32, 1.0, 0.32], [0.0, 0.32, 1.0]]
    """
    from scipy import sparse

    known: dict[str, int] = {}
    columns: list[int] = []
    counts: list[int] = []
    edges = [0]
    for text in texts:
        for term, count in Counter(analyze_terms(text, language)).items():
            columns.append(known.setdefault(term, len(known)))
            counts.append(count)
        edges.append(len(columns))
    frequencies = np.bincount(columns, minlength=len(known)) if columns else np.zeros(len(known))
    idf = np.log((len(texts) + 1) / np.maximum(frequencies, 1))
    weights = (1 + np.log(np.array(counts, dtype=np.float64))) * idf[np.array(columns, dtype=int)]
    matrix = sparse.csr_matrix((weights, columns, edges), shape=(len(texts), max(1, len(known))))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1.0
    return Space("tfidf", (sparse.diags(1 / lengths) @ matrix).tocsr())


def compare_rows(rows: Any, distance: int) -> Floats:
    """Return the cosine of each row with the one ``distance`` rows later, ``[n - distance]``."""
    first, second = rows[:-distance], rows[distance:]
    if isinstance(rows, np.ndarray):
        return row_products(first, second)
    return np.asarray(first.multiply(second).sum(axis=1), dtype=np.float64).ravel()


def compare_band(rows: Any, width: int) -> Floats:
    """Return the band ``[n, width + 1]`` of cosines: row i, column d is that of i with i + d.

    Column 0 and what lies behind the end are 0.
    """
    count = rows.shape[0]
    band = np.zeros((count, width + 1))
    for distance in range(1, min(width, count - 1) + 1):
        band[: count - distance, distance] = compare_rows(rows, distance)
    return band


def compare_windows(rows: Floats, window: int) -> Floats:
    """Return for each gap between sentences the cosine of the windows before and behind it.

    A window's vector is the sum of its sentences' (at most ``window``, fewer at the ends); the
    ``[n - 1]`` cosines need no further calls of a model.

    >>> compare_windows(np.eye(2)[[0, 0, 1, 1]], 2).round(2).tolist()
    [0.71, 0.0, 0.71]
    """
    count = len(rows)
    sums = np.concatenate([np.zeros((1, rows.shape[1])), rows.cumsum(axis=0)])
    gaps = np.arange(1, count)
    left = sums[gaps] - sums[np.maximum(0, gaps - window)]
    right = sums[np.minimum(count, gaps + window)] - sums[gaps]
    return row_products(unit_rows(left), unit_rows(right))


def sum_clusters(rows: Floats, labels: NDArray[np.int64], count: int) -> Floats:
    """Return the sum of each cluster's rows, ``[count, d]``; labels below 0 are left out."""
    from scipy import sparse

    members = np.flatnonzero(labels >= 0)
    shape = (count, len(rows))
    member = sparse.csr_matrix((np.ones(len(members)), (labels[members], members)), shape=shape)
    return np.asarray(member @ rows)


def dense_rows(space: Space) -> Floats:
    """Return the rows as an array of at most ``HASHED`` columns if they were sparse.

    More terms than that are hashed into so many columns with random signs, which keeps cosines in
    the mean (Weinberger et al. 2009): clusters have means, and a mean of many terms is not sparse.
    """
    from scipy import sparse

    if isinstance(space.rows, np.ndarray):
        return space.rows
    terms = space.rows.shape[1]
    if terms <= HASHED:
        return np.asarray(space.rows.toarray())
    generator = np.random.default_rng(0)
    columns = generator.integers(HASHED, size=terms)
    signs = generator.choice([-1.0, 1.0], size=terms)
    matrix = sparse.csr_matrix((signs, (np.arange(terms), columns)), shape=(terms, HASHED))
    return unit_rows(np.asarray((space.rows @ matrix).toarray()))


def centre_rows(space: Space) -> Space:
    """Return a dense space without its rows' mean: what all sentences of a document share.

    Models place all texts of one kind in a narrow cone (Mu and Viswanath 2018, *All-but-the-Top*);
    sparse rows stay, their inverse frequencies do the same.
    """
    if not isinstance(space.rows, np.ndarray):
        return space
    return Space(space.name, unit_rows(space.rows - space.rows.mean(axis=0)))


def row_products(first: Floats, second: Floats) -> Floats:
    """Return the product of each row with the other matrix's row, ``[n]``."""
    found: Floats = np.einsum("ij,ij->i", first, second)
    return found


def unit_rows(matrix: Floats) -> Floats:
    """Return the rows scaled to length 1; a row of zeros (or of rounding) becomes zeros."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    kept = lengths > 1e-9
    found: Floats = np.where(kept, matrix, 0.0) / np.where(kept, lengths, 1.0)
    return found
