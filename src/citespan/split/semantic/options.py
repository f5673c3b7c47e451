"""What the semantic splitter can be asked for, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from citespan.errors import InputError

Method = Literal["segments", "depth", "breakpoints", "dbscan", "kmeans"]
METHODS: tuple[Method, ...] = ("segments", "depth", "breakpoints", "dbscan", "kmeans")
CONTIGUOUS = frozenset({"segments", "depth", "breakpoints"})

Vectors = Literal["auto", "embedder", "tfidf"]
VECTORS: tuple[Vectors, ...] = ("auto", "embedder", "tfidf")

WINDOWS = {"embedder": 3, "tfidf": 5}
"""Sentences in a window of the method ``depth``: words need more of them to meet again."""


@dataclass(frozen=True, slots=True)
class Options:
    """The numbers of all methods; see ``SemanticChunker``.

    Raises
    ------
    InputError
        Naming all that cannot be, at once.

    Examples
    --------
    >>> Options(method="segment", min_sentences=9)
    Traceback (most recent call last):
    ...
    citespan.errors.InputError: method 'segment' is not known, use: segments, depth, breakpoints,
    dbscan, kmeans; max_sentences 15 is less than 2 · min_sentences - 1 = 17, and what is cut ...
    """

    method: Method = "segments"
    min_sentences: int = 3
    max_sentences: int = 15
    vectors: Vectors = "auto"
    threshold: float = 0.2
    exponent: float = 0.5
    eps: float | None = None
    min_samples: int = 2
    n_clusters: int | None = None
    percentile: float = 85.0
    window: int | None = None
    deviations: float = 0.5
    random_state: int = 0

    def __post_init__(self) -> None:
        wrong = []
        if self.method not in METHODS:
            wrong.append(f"method {self.method!r} is not known, use: {', '.join(METHODS)}")
        if self.vectors not in VECTORS:
            wrong.append(f"vectors {self.vectors!r} are not known, use: {', '.join(VECTORS)}")
        whole: list[tuple[str, object, int]] = [
            ("min_sentences", self.min_sentences, 1),
            ("max_sentences", self.max_sentences, 1),
            ("min_samples", self.min_samples, 1),
            ("n_clusters", self.n_clusters, 1),
            ("window", self.window, 1),
            ("random_state", self.random_state, 0),
        ]
        sound = True
        for name, value, least in whole:
            if value is None and name in ("n_clusters", "window"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                wrong.append(f"{name} {value!r} is not a whole number from {least}")
                sound = sound and name not in ("min_sentences", "max_sentences")
        if sound and self.max_sentences < 2 * self.min_sentences - 1:
            wrong.append(
                f"max_sentences {self.max_sentences} is less than 2 · min_sentences - 1 = "
                f"{2 * self.min_sentences - 1}, and what is cut would fall below the minimum"
            )
        if not 0 <= self.threshold <= 1:
            wrong.append(f"threshold {self.threshold!r} is not within 0 and 1")
        if not 0 <= self.exponent <= 1:
            wrong.append(f"exponent {self.exponent!r} is not within 0 and 1")
        if self.eps is not None and not 0 < self.eps <= 2:
            wrong.append(f"eps {self.eps!r} is no cosine distance above 0 and up to 2")
        if not 0 <= self.percentile <= 100:
            wrong.append(f"percentile {self.percentile!r} is not within 0 and 100")
        if wrong:
            raise InputError("; ".join(wrong))
