"""Small documents for store tests, and what a store should answer, computed plainly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from citespan.types import Chunk, Document, Page, Section, Span, content_id

DIMENSION = 8


def analyze(text: str, language: str) -> list[str]:
    """Stand in for the real analyser: words in lower case."""
    return text.lower().split()


def make_document(source: str, *parts: str, **fields: object) -> tuple[Document, list[Chunk]]:
    """Return a document that is the given parts, a line each, and a chunk a part."""
    text = "\n".join(parts)
    document = Document(id=content_id(source, text), source=source, text=text, **fields)  # type: ignore[arg-type]
    chunks, at = [], 0
    for order, part in enumerate(parts):
        chunks.append(Chunk(document.id, order, (Span(at, at + len(part)),), part))
        at += len(part) + 1
    return document, chunks


def make_vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> NDArray[np.float32]:
    """Return random rows of norm 1."""
    matrix = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def rich_document() -> Document:
    """Return a document that uses every field."""
    return Document(
        id="rich",
        source="a/b.pdf",
        text="Ünïcode 北京\x00 end\ud800",
        title="Title",
        media_type="application/pdf",
        language="de",
        pages=(Page(1, 0, 5), Page(2, 5, 15)),
        sections=(Section("H", 1, 0, 15),),
        metadata={"author": "Ann", 'odd "key"': "x"},
    )


def bm25_scores(
    texts: Mapping[int, str], groups: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75
) -> dict[int, float]:
    """Return BM25 as Lucene writes it, a group counting its best term."""
    counts = {key: Counter(text.lower().split()) for key, text in texts.items()}
    lengths = {key: sum(count.values()) for key, count in counts.items()}
    mean = sum(lengths.values()) / max(1, len(lengths))
    scores: dict[int, float] = {}
    for key, count in counts.items():
        total = 0.0
        for group in groups:
            best = 0.0
            for term in group:
                n = sum(term in other for other in counts.values())
                idf = math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
                tf = count[term]
                if tf:
                    norm = k1 * (1 - b + b * lengths[key] / mean)
                    best = max(best, idf * tf * (k1 + 1) / (tf + norm))
            total += best
        if total > 0:
            scores[key] = total
    return scores
