"""What a store refuses: parts that do not fit each other, and settings other than its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citespan.errors import StoreError
from citespan.protocols import Vectors
from citespan.types import Chunk, Document, Span

NORM_TOLERANCE = 1e-3


def check_write(
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Vectors | None,
    sentences: Sequence[Span],
    sentence_vectors: Vectors | None,
    dimension: int,
) -> int:
    """Return the vectors' dimension (0 where neither has any), or raise StoreError."""
    source = document.source
    for name, value in (("id", document.id), ("source", source)):
        if not value:
            raise StoreError(f"a document has no {name}", fix=f"give it its {name}")
    for name, value in (
        ("id", document.id),
        ("source", source),
        ("title", document.title),
        ("language", document.language),
        ("media type", document.media_type),
    ):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise StoreError(
                f"the {name} of {source!a} is not valid Unicode", fix="rename the file or the field"
            ) from None
    for order, chunk in enumerate(chunks):
        place = f"chunk {order} of {source}"
        if chunk.document_id != document.id:
            raise StoreError(
                f"{place} names the document {chunk.document_id}", fix="split it again"
            )
        if chunk.order != order:
            raise StoreError(f"{place} has the number {chunk.order}", fix="split it again")
        if not chunk.spans:
            raise StoreError(f"{place} has no span", fix="split it again")
        if len(chunk.spans) == 1 and document.text[chunk.start : chunk.end] != chunk.text:
            raise StoreError(
                f"{place} is not the text at {chunk.start}:{chunk.end}", fix="split it again"
            )
    dimension = _check_vectors("chunk", source, len(chunks), vectors, dimension)
    return _check_vectors("sentence", source, len(sentences), sentence_vectors, dimension)


def _check_vectors(
    kind: str, source: str, count: int, vectors: Vectors | None, dimension: int
) -> int:
    if vectors is None:
        return dimension
    if vectors.ndim != 2 or len(vectors) != count:
        raise StoreError(
            f"{source} has {count} {kind}s and {kind} vectors of the shape {vectors.shape}",
            fix="embed each once",
        )
    if not count:
        return dimension
    width = int(vectors.shape[1])
    if dimension and width != dimension:
        raise StoreError(
            f"{source} has {kind} vectors of {width} numbers, the index holds {dimension}",
            fix="use the model that the index was made with, or make a new index",
        )
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(~((np.abs(norms - 1) <= NORM_TOLERANCE) | (norms == 0)))
    if len(wrong):
        raise StoreError(
            f"the vector of {kind} {wrong[0]} of {source} has the length {norms[wrong[0]]:.4g}, "
            "not 1",
            fix="normalise the vectors",
        )
    return width


def compare_settings(stored: Mapping[str, Any], wanted: Mapping[str, Any], where: Path) -> None:
    """Raise StoreError that names every setting which is not as wanted."""
    plain = json.loads(json.dumps(dict(wanted)))
    differences = [
        f"{name} is {stored.get(name)!r}, wanted {value!r}"
        for name, value in sorted(plain.items())
        if stored.get(name) != value
    ]
    if differences:
        raise StoreError(
            f"the index at {where} was made with other settings: {'; '.join(differences)}",
            fix="use those it was made with, or name another folder with --index, "
            "or remove this one and run: citespan index PATH",
        )
