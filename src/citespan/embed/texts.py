"""Embed many texts: each distinct one once, with progress, and with what was cut off counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from citespan.errors import ModelError
from citespan.protocols import Embedder, Vectors

SLICE = 256
"""Texts between two reports of progress; long enough for batches of texts of one length."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the embedding is: distinct texts done and in all, tokens a second, seconds left."""

    done: int
    total: int
    rate: float
    seconds_left: float


class Embedded(NamedTuple):
    """Vectors ``[n, dimension]``, and which texts were longer than the model reads.

    ``truncated`` holds their places; what stands at their ends is not in their vectors.
    """

    vectors: Vectors
    truncated: tuple[int, ...]


def embed_texts(
    texts: Sequence[str],
    embedder: Embedder,
    *,
    kind: Literal["document", "query"] = "document",
    progress: Callable[[Progress], None] | None = None,
) -> Embedded:
    """Return a vector for each text, in the order given.

    Parameters
    ----------
    texts
        Any texts; one that occurs twice is embedded once.
    embedder
        Anything that keeps the Protocol.
    kind
        ``document`` or ``query``; some models put a prefix before each.
    progress
        Called after each slice, the last time with ``done == total``.

    Raises
    ------
    ModelError
        If the embedder fails, or returns anything but finite rows of its dimension.

    Examples
    --------
    >>> from citespan.embed.hashing import HashingEmbedder
    >>> found = embed_texts(["a cat", "", "a cat"], HashingEmbedder(dimension=8, max_tokens=3))
    >>> found.vectors.shape, found.truncated
    ((3, 8), (0, 2))
    """
    distinct = list(dict.fromkeys(texts))
    rows = {text: row for row, text in enumerate(distinct)}
    vectors = np.zeros((len(distinct), embedder.dimension), dtype=np.float32)
    lengths: list[int] = []
    for start in range(0, len(distinct), SLICE):
        lengths += embedder.count_tokens(distinct[start : start + SLICE])
    # What is cut off costs nothing, so it must not count in the estimate either.
    costs = [min(length, embedder.max_tokens) for length in lengths]
    began, spent, whole = time.monotonic(), 0, sum(costs)
    for start in range(0, len(distinct), SLICE):
        end = min(start + SLICE, len(distinct))
        found = embedder.embed(distinct[start:end], kind=kind)
        _check_vectors(found, (end - start, embedder.dimension), embedder.name)
        vectors[start:end] = found
        spent += sum(costs[start:end])
        if progress:
            rate = spent / max(time.monotonic() - began, 1e-9)
            progress(Progress(end, len(distinct), rate, (whole - spent) / rate if rate else 0.0))
    places = [rows[text] for text in texts]
    cut = tuple(at for at, row in enumerate(places) if lengths[row] > embedder.max_tokens)
    return Embedded(vectors[places], cut)


def _check_vectors(found: Vectors, shape: tuple[int, int], name: str) -> None:
    """Refuse what would poison an index: the wrong shape, or numbers that are none."""
    if found.shape != shape:
        raise ModelError(
            f"the embedder {name} returned {found.shape} where {shape} was due",
            fix="use another embedder or mend this one",
        )
    if not np.isfinite(found).all():
        raise ModelError(
            f"the embedder {name} returned numbers that are not finite",
            fix="use another embedder or mend this one",
        )


def describe_truncation(found: Embedded, max_tokens: int) -> str:
    """Return the warning for a person, or an empty string where nothing was cut off.

    >>> describe_truncation(Embedded(np.zeros((2, 1), dtype=np.float32), (1,)), 256)
    'of 1 text only the first 256 tokens are in its vector; split smaller'
    """
    count = len(found.truncated)
    if not count:
        return ""
    texts, vectors = ("1 text", "its vector") if count == 1 else (f"{count} texts", "their vectors")
    return f"of {texts} only the first {max_tokens} tokens are in {vectors}; split smaller"
