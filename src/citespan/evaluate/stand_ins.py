"""Automatic stand-ins for "is a chunk a whole thought?"; they measure form, and rate nothing.

They stand beside people's ratings, or in their place where there are none, and are always named
as stand-ins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from citespan.protocols import Vectors
from citespan.types import Span

# Words that lean on something said before. Demonstratives are among them though a noun may follow
# ("this house"): a reader still asks which.
_LEANING_EN = """
he she it they him her them his hers its their theirs this that these those such
"""
_LEANING_RU = """
он она оно они его её ее их ему ей им ним ней них это этот эта эти этого этой этих тот та те такой
такая такое такие
"""
_LEANING: Mapping[str, frozenset[str]] = {
    "en": frozenset(_LEANING_EN.split()),
    "ru": frozenset(_LEANING_RU.split()),
}
_LEANING_ZH = re.compile(r"[他她它]们?|[这這那此该該其]")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class StandIns:
    """The four stand-ins of one strategy; None where there is nothing to measure."""

    boundary_sharpness: float | None
    inner_similarity: float | None
    sentences_cut: float | None
    leading_pronouns: float | None

    def describe(self) -> str:
        """Return them as one line that says what they are."""
        names = {
            "boundary sharpness": self.boundary_sharpness,
            "inner similarity": self.inner_similarity,
            "sentences cut": self.sentences_cut,
            "leading pronouns": self.leading_pronouns,
        }
        values = ", ".join(
            f"{name} {'unmeasured' if value is None else f'{value:.3f}'}"
            for name, value in names.items()
        )
        return f"automatic stand-ins, no ratings: {values}"


def boundary_sharpness(vectors: Vectors, owners: Sequence[int]) -> float | None:
    """Return how much less alike sentences are across boundaries than inside chunks.

    The mean cosine of neighbouring sentences of one chunk minus that of neighbours that a boundary
    parts; -2 to 2, higher is better, 0 for boundaries set at random.

    Parameters
    ----------
    vectors
        L2-normalised ``[sentences, d]``, in the document's order.
    owners
        The number of the chunk that each sentence is in.

    Examples
    --------
    >>> east, north = [1.0, 0.0], [0.0, 1.0]
    >>> boundary_sharpness(np.array([east, east, north, north], np.float32), [0, 0, 1, 1])
    1.0
    """
    neighbours = np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
    parted = np.asarray(owners[:-1]) != np.asarray(owners[1:])
    if not parted.any() or parted.all():
        return None
    return float(neighbours[~parted].mean() - neighbours[parted].mean())


def inner_similarity(vectors: Vectors, owners: Sequence[int]) -> float | None:
    """Return the mean cosine of the pairs of sentences within a chunk, averaged over chunks.

    Chunks of one sentence have no pairs and are left out. For n unit vectors with sum S the mean
    over pairs is (|S|² - n) / (n (n - 1)), which needs no pairs to be listed.

    >>> inner_similarity(np.array([[1, 0], [1, 0], [0, 1]], np.float32), [0, 0, 0])
    0.3333333333333333
    """
    means = []
    labels = np.asarray(owners)
    for owner in np.unique(labels):
        own = vectors[labels == owner].astype(np.float64)
        count = len(own)
        if count > 1:
            total = own.sum(axis=0)
            squares = float((own * own).sum())
            means.append((float(total @ total) - squares) / (count * (count - 1)))
    return float(np.mean(means)) if means else None


def sentences_cut(chunks: Iterable[Sequence[Span]], sentences: Sequence[Span]) -> float | None:
    """Return the share of a document's sentences that no single chunk holds whole.

    >>> sentences_cut([[Span(0, 8)], [Span(8, 20)]], [Span(0, 5), Span(6, 12), Span(13, 20)])
    0.3333333333333333
    """
    if not sentences:
        return None
    spans = np.array([span for chunk in chunks for span in chunk], dtype=np.int64).reshape(-1, 2)
    starts, ends = spans[:, 0], spans[:, 1]
    cut = sum(not bool(((starts <= s) & (ends >= e)).any()) for s, e in sentences)
    return cut / len(sentences)


def leading_pronoun(text: str, language: str) -> str | None:
    """Return the word that leans on an antecedent, if a chunk's first word is one.

    English, Russian and Chinese are known; None in any other language.

    >>> leading_pronoun("It was late.", "en"), leading_pronoun("它很大。", "zh")
    ('It', '它')
    """
    if language.startswith("zh"):
        found = _LEANING_ZH.match(text.lstrip(" \t\n“”「『《（("))
        return found[0] if found else None
    word = _FIRST_WORD.search(text)
    if word is None:
        return None
    # "It's" leans as "it" does.
    bare = word[0].partition("'")[0].lower()
    return word[0] if bare in _LEANING.get(language, ()) else None


def leading_pronouns(chunks: Iterable[tuple[int, str]], language: str) -> float | None:
    """Return the share of chunks, given as (start, text), that begin with a leaning pronoun.

    A chunk at the document's own beginning is left out: no cut parted it from an antecedent.

    >>> leading_pronouns([(0, "It is."), (7, "He came."), (16, "Anna left.")], "en")
    0.5
    """
    if language not in _LEANING and not language.startswith("zh"):
        return None
    inner = [text for start, text in chunks if start > 0]
    if not inner:
        return None
    return sum(leading_pronoun(text, language) is not None for text in inner) / len(inner)
