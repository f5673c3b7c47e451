"""Do chunks end where the subject changes? Pk and WindowDiff of every method, lower is better.

Folders ``seg_*`` of BENCH hold documents with true boundaries and units (sentences or blocks). The
text alone is cut, with the sentences, limits and repair that a user gets; a boundary is counted at
the unit where it falls. ``chunks`` are the subjects cut further by the maximum of tokens. Run:
python benchmarks/segmentation.py BENCH [EMBEDDER ...]

EMBEDDER is a registered name (minilm, e5); ``none`` uses the documents' own words alone. With
``sweep`` before the embedders, ``segments`` is measured under other thresholds and exponents.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from citespan.evaluate.segmentation import (
    SegmentedDocument,
    chunk_boundaries,
    pk,
    random_boundaries,
    read_segmentation,
    window_diff,
)
from citespan.pipeline.parts import open_embedder
from citespan.protocols import Embedder, Splitter
from citespan.split.recursive import RecursiveSplitter
from citespan.split.semantic import SemanticChunker
from citespan.split.semantic.options import METHODS
from citespan.split.sentences import SentenceSplitter
from citespan.types import Document, Span

SETS = {"seg_xquad_en": "en", "seg_xquad_ru": "ru", "seg_xquad_zh": "zh", "seg_mdsections": "en"}

Find = Callable[[SegmentedDocument, str], Iterable[int]]


def cut_with(splitter: Splitter) -> Find:
    def find(segmented: SegmentedDocument, language: str) -> list[int]:
        document = Document(segmented.id, segmented.id, segmented.text, language=language)
        return chunk_boundaries([c.spans for c in splitter.split(document)], segmented.units)

    return find


def fit_with(chunker: SemanticChunker) -> Find:
    """Return the boundaries of ``labels_``: the subjects, before a model's maximum cuts them."""

    def find(segmented: SegmentedDocument, language: str) -> list[int]:
        document = Document(segmented.id, segmented.id, segmented.text, language=language)
        chunker.fit(document)
        groups: dict[int, list[Span]] = {}
        for span, label in zip(chunker.sentences_, chunker.labels_.tolist(), strict=True):
            groups.setdefault(label, []).append(span)
        return chunk_boundaries(groups.values(), segmented.units)

    return find


def measure(find: Find, documents: list[SegmentedDocument], language: str) -> str:
    pks, differences = [], []
    for document in documents:
        found = list(find(document, language))
        pks.append(pk(document.boundaries, found, len(document.units)))
        differences.append(window_diff(document.boundaries, found, len(document.units)))
    count = len(documents)
    return f"{sum(pks) / count:.3f} / {sum(differences) / count:.3f}"


def baselines() -> dict[str, Find]:
    """What a method must beat. The random one knows how many boundaries there truly are."""
    return {
        "no boundaries": lambda document, _: [],
        "random": lambda document, _: random_boundaries(
            len(document.boundaries), len(document.units)
        ),
        "recursive, 256 characters": cut_with(RecursiveSplitter(size=256, unit="characters")),
        "recursive, 800 characters": cut_with(RecursiveSplitter(size=800, unit="characters")),
        "sentences, 200 tokens": cut_with(SentenceSplitter()),
    }


def methods(embedder: Embedder | None) -> dict[str, Find]:
    made: dict[str, Find] = {}
    name = "own words" if embedder is None else embedder.name.split("/")[0]
    for method in METHODS:
        made[f"{method}, {name}"] = fit_with(SemanticChunker(method=method, embedder=embedder))
    if embedder is not None:
        alone = SemanticChunker(embedder=embedder, vectors="embedder")
        made[f"segments, {name} alone"] = fit_with(alone)
    made[f"chunks of segments, {name}"] = cut_with(SemanticChunker(embedder=embedder))
    return made


def variants(embedder: Embedder | None) -> dict[str, Find]:
    return {
        f"threshold {threshold}, exponent {exponent}": fit_with(
            SemanticChunker(embedder=embedder, threshold=threshold, exponent=exponent)
        )
        for threshold in (0.1, 0.2, 0.3)
        for exponent in (0.25, 0.5, 0.75)
    }


def main(bench: Path, embedders: list[Embedder | None], sweep: bool = False) -> None:
    sets = {name: read_segmentation(bench / name) for name in SETS}
    print("| method | " + " | ".join(sets) + " |")
    print("|---" * (len(sets) + 1) + "|")
    rows = {} if sweep else baselines()
    for embedder in embedders:
        rows |= variants(embedder) if sweep else methods(embedder)
    for name, find in rows.items():
        values = [measure(find, documents, SETS[kind]) for kind, documents in sets.items()]
        print(f"| {name} | {' | '.join(values)} |", flush=True)


if __name__ == "__main__":
    names = sys.argv[2:]
    chosen = [name for name in names if name != "sweep"] or ["none", "minilm"]
    opened = [open_embedder(name)[0] for name in chosen]
    main(Path(sys.argv[1]), opened, sweep="sweep" in names)
