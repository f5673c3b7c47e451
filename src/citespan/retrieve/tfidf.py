"""TF-IDF by cosine, with the weights of ``citespan.plain``, on a sparse matrix.

``plain`` writes a number for every word of the vocabulary into every vector; here only the words
that occur are stored, and a search reads only the columns of the query's own terms. Everything
else is the same down to the order of the additions, so that scores and ranking are those of
``plain``: ``tf = count / length``, ``idf = ln(N / (1 + n_t))``, cosine.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError
from citespan.plain import tokenize

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Text = str | Iterable[str]
"""A text, or the terms that it was analysed into."""


class TfidfIndex:
    """Ranks chunks by the cosine of their tf-idf vectors with the query's.

    ``analyze`` turns a text into terms and is used where a plain string is given, for chunks and
    queries alike; whoever has terms already (``citespan.text``) hands those in instead.

    >>> index = TfidfIndex().fit(["The kettle boils.", "The office opens.", "The guarantee."])
    >>> [(number, round(score, 3)) for number, score in index.search("office kettle", k=2)]
    [(0, 0.447), (1, 0.447)]
    """

    def __init__(self, analyze: Callable[[str], Iterable[str]] = tokenize) -> None:
        self._analyze = analyze
        self._columns: dict[str, int] = {}
        self._idf: NDArray[np.float64] = np.zeros(0)
        self._norms: NDArray[np.float64] = np.zeros(0)
        self._matrix: csc_array | None = None

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self._norms)

    @property
    def vocabulary(self) -> list[str]:
        """The terms, sorted; a term's place is its column."""
        return list(self._columns)

    def idf(self, term: str) -> float:
        """Return ``ln(N / (1 + n_t))`` of an indexed term, 0 for one that no chunk holds."""
        column = self._columns.get(term)
        return 0.0 if column is None else float(self._idf[column])

    def fit(self, texts: Iterable[Text]) -> TfidfIndex:
        """Index the chunks, numbered from 0 in the order given, in place of any indexed before.

        ``texts`` is read once and may be a generator. Memory grows with the number of different
        terms a chunk, added up over the chunks, not with chunks times vocabulary. Returns itself.
        """
        from scipy.sparse import csr_array

        if isinstance(texts, str):
            raise InputError("fit was given one string", fix="give a list of texts: fit([text])")
        seen: defaultdict[str, int] = defaultdict()
        seen.default_factory = seen.__len__  # a new term gets the next number
        occurrences = array("q")
        lengths = array("q")
        for text in texts:
            before = len(occurrences)
            occurrences.extend(map(seen.__getitem__, self._terms(text)))
            lengths.append(len(occurrences) - before)

        # Columns in alphabetical order: then sums run in the same order as in ``plain``.
        terms = sorted(seen)
        columns = np.empty(len(terms), dtype=np.int64)
        columns[[seen[term] for term in terms]] = np.arange(len(terms))
        self._columns = {term: column for column, term in enumerate(terms)}

        sizes = np.frombuffer(lengths, dtype=np.int64) if lengths else np.zeros(0, dtype=np.int64)
        ids = np.frombuffer(occurrences, dtype=np.int64) if occurrences else columns[:0]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        matrix = csr_array(
            (np.ones(len(ids), dtype=np.float64), columns[ids], starts),
            shape=(len(sizes), len(terms)),
        )
        matrix.sum_duplicates()  # counts, each row sorted by column

        holders = np.bincount(matrix.indices, minlength=len(terms))
        # math.log and np.log may differ in the last bit; there are few different counts.
        logs = {int(n): math.log(len(sizes) / (1 + int(n))) for n in np.unique(holders)}
        self._idf = np.array([logs[n] for n in holders.tolist()], dtype=np.float64)

        rows = np.repeat(np.arange(len(sizes)), np.diff(matrix.indptr))
        matrix.data = matrix.data / sizes[rows] * self._idf[matrix.indices]
        self._norms = np.sqrt(np.bincount(rows, weights=matrix.data**2, minlength=len(sizes)))
        self._matrix = matrix.tocsc()
        return self

    def search(self, query: Text, k: int = 10) -> list[tuple[int, float]]:
        """Return the k best (chunk number, cosine), best first; equal scores by lower number.

        There are always k of them, or as many as there are chunks; a chunk without a weighted
        term of the query scores 0. Costs the lengths of the query terms' columns, and one number
        a chunk.

        Raises
        ------
        InputError
            If k < 1, or nothing was fitted.
        """
        if k < 1:
            raise InputError(f"k = {k}: at least one hit must be asked for", fix="use k >= 1")
        matrix = self._fitted()
        scores = np.zeros(len(self), dtype=np.float64)
        weights = self._weigh_query(query)
        for term, weight in weights.items():
            column = self._columns[term]
            part = slice(matrix.indptr[column], matrix.indptr[column + 1])
            scores[matrix.indices[part]] += weight * matrix.data[part]
        lengths = _norm(weights) * self._norms
        np.divide(scores, lengths, out=scores, where=lengths > 0)
        best = _best(scores, k)
        return list(zip(best.tolist(), scores[best].tolist(), strict=True))

    def explain(self, query: Text, number: int) -> dict[str, float]:
        """Return what each query term adds to one chunk's cosine; the values sum to the score.

        >>> index = TfidfIndex().fit(["red kite", "red kettle", "blue sky", "a kite"])
        >>> {t: round(v, 3) for t, v in index.explain("red kettle", 1).items()}
        {'kettle': 0.853, 'red': 0.147}
        """
        matrix = self._fitted()
        if not 0 <= number < len(self):
            raise InputError(
                f"there is no chunk {number}", fix=f"{len(self)} are indexed, numbered from 0"
            )
        weights = self._weigh_query(query)
        length = _norm(weights) * float(self._norms[number])
        parts: dict[str, float] = {}
        for term, weight in weights.items():
            column = self._columns[term]
            first, last = matrix.indptr[column], matrix.indptr[column + 1]
            at = first + np.searchsorted(matrix.indices[first:last], number)
            if length > 0 and at < last and matrix.indices[at] == number:
                parts[term] = float(weight * matrix.data[at] / length)
        return parts

    def _terms(self, text: Text) -> Iterable[str]:
        return self._analyze(text) if isinstance(text, str) else text

    def _fitted(self) -> csc_array:
        if self._matrix is None:
            raise InputError("nothing is indexed", fix="call fit(texts) first")
        return self._matrix

    def _weigh_query(self, query: Text) -> dict[str, float]:
        """Return tf * idf of the query's known terms, in alphabetical order."""
        counts = Counter(self._terms(query))
        length = counts.total()
        known = sorted(term for term in counts if term in self._columns)
        return {term: counts[term] / length * self.idf(term) for term in known}


def _norm(weights: dict[str, float]) -> float:
    total = 0.0
    for weight in weights.values():
        total += weight * weight
    return math.sqrt(total)


def _best(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the places of the k highest scores, best first, ties by lower place.

    >>> _best(np.array([0.1, 0.9, 0.5, 0.9]), 3).tolist()
    [1, 3, 2]
    """
    if k < len(scores):
        # Everything down to the k-th highest score, ties included, then a stable sort of those.
        bar = np.partition(scores, len(scores) - k)[len(scores) - k]
        found = np.flatnonzero(scores >= bar)
    else:
        found = np.arange(len(scores))
    return found[np.argsort(-scores[found], kind="stable")][:k]
