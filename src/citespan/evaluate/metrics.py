"""Metrics as values: a metric's printed name is its whole specification.

``recall@3``, ``doc_nDCG@10``, ``span_recall@750tok`` name what is counted (chunks, documents,
evidence, characters), how, and up to where. The formulas stand in `ranking`, `span_metrics` and
`refusal`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from citespan.errors import InputError

Level = Literal["chunk", "doc", "evidence", "span", "chroma", "refusal"]
Cutoff = Literal["rank", "tokens", "threshold", "none"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What a metric's name without its cutoff means, and where the definition comes from."""

    stem: str
    level: Level
    cutoffs: tuple[Cutoff, ...]
    definition: str
    source: str
    needs_chunks: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure with its cutoff: the first ``k`` ranks, ``tokens`` of text, or a ``threshold``.

    >>> str(Metric("span_recall", tokens=750)), str(Metric("MRR", k=3))
    ('span_recall@750tok', 'MRR@3')
    """

    stem: str
    k: int | None = None
    tokens: int | None = None
    threshold: float | None = None

    @property
    def measure(self) -> Measure:
        """The measure's level, definition and source."""
        return MEASURES[self.stem]

    @property
    def level(self) -> Level:
        """What is counted."""
        return self.measure.level

    @property
    def base(self) -> str:
        """The measure's name without its level: ``recall`` of ``doc_recall``.

        >>> Metric("doc_recall", k=3).base, Metric("span_iou").base, Metric("hit_rate", k=1).base
        ('recall', 'iou', 'hit_rate')
        """
        return self.stem.removeprefix(f"{self.level}_")

    @property
    def name(self) -> str:
        """The whole specification; `parse_metric` reads it back."""
        if self.k is not None:
            return f"{self.stem}@{self.k}"
        if self.tokens is not None:
            return f"{self.stem}@{self.tokens}tok"
        return self.stem if self.threshold is None else f"{self.stem}@{self.threshold!r}"

    def __str__(self) -> str:
        return self.name


_TREC = "as computed by trec_eval (NIST)"
_CHROMA = "B. Smith, A. Troynikov, Evaluating Chunking Strategies for Retrieval, Chroma 2024"
_GEIFMAN = "Geifman, El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017"

_RANKED: tuple[tuple[str, tuple[Cutoff, ...], str, str], ...] = (
    ("hit_rate", ("rank",), "1 if any of the first k {} is relevant, else 0", _TREC + ", success"),
    (
        "MRR",
        ("rank", "none"),
        "1 / rank of the first relevant of the {}, 0 if none is",
        "Voorhees, The TREC-8 Question Answering Track Report, 1999",
    ),
    ("recall", ("rank",), "relevant {} among the first k / all relevant ones", _TREC + ", recall"),
    ("precision", ("rank",), "relevant {} among the first k / k", _TREC + ", P"),
    (
        "nDCG",
        ("rank", "none"),
        "sum of grade / log2(rank + 1) over the {} / the same for the best order",
        "Järvelin, Kekäläinen, ACM TOIS 20(4), 2002, with linear gain " + _TREC,
    ),
    (
        "MAP",
        ("rank", "none"),
        "sum of precision at each relevant of the {} / the number of relevant ones",
        _TREC + ", map",
    ),
)


def _list_measures() -> Iterable[Measure]:
    for stem, cutoffs, definition, source in _RANKED:
        needs = stem in ("recall", "nDCG", "MAP")
        yield Measure(stem, "chunk", cutoffs, definition.format("chunks"), source, needs)
        yield Measure(f"doc_{stem}", "doc", cutoffs, definition.format("documents"), source)
    yield Measure(
        "evidence_recall",
        "evidence",
        ("rank", "tokens", "none"),
        "evidence spans of which a retrieved passage holds at least one character / all of them",
        "own; the same for every splitter",
    )
    spans: tuple[tuple[Level, tuple[Cutoff, ...], str], ...] = (
        ("span", ("rank", "tokens", "none"), "each character counted once"),
        ("chroma", ("rank", "none"), "overlapping passages charged twice, as Chroma's code does"),
    )
    for level, many, note in spans:
        for stem, definition in (
            ("recall", "characters of evidence that were retrieved / characters of evidence"),
            ("precision", "characters of evidence that were retrieved / characters retrieved"),
            ("iou", "characters of evidence that were retrieved / characters of either"),
        ):
            yield Measure(f"{level}_{stem}", level, many, f"{definition}; {note}", _CHROMA)
    omega = (
        "characters of evidence in chunks / characters of the chunks that hold any and of the rest"
    )
    yield Measure("precision_omega", "span", ("none",), omega, _CHROMA, True)
    yield Measure(
        "chroma_precision_omega",
        "chroma",
        ("none",),
        f"{omega}; a chunk that touches evidence counts, as in Chroma's code",
        _CHROMA,
        True,
    )
    yield Measure(
        "AUROC",
        "refusal",
        ("none",),
        "chance that an answerable question's gate score is above an unanswerable one's, ties half",
        "Hanley, McNeil, Radiology 143, 1982",
    )
    yield Measure(
        "AURC",
        "refusal",
        ("none",),
        "mean share of wrong answers over all coverages, most confident first; lower is better",
        _GEIFMAN,
    )
    yield Measure(
        "false_refusals",
        "refusal",
        ("threshold", "none"),
        "answerable questions that were refused / answerable questions; lower is better",
        "own",
    )
    yield Measure(
        "correct_refusals",
        "refusal",
        ("threshold", "none"),
        "unanswerable questions that were refused / unanswerable questions",
        "own",
    )


MEASURES: dict[str, Measure] = {measure.stem: measure for measure in _list_measures()}
LOWER_IS_BETTER = frozenset({"AURC", "false_refusals"})

_NAME = re.compile(r"(?P<stem>[A-Za-z_]+)(?:@(?P<cut>\d+(?:\.\d+)?)(?P<tok>tok)?)?")
_STEMS = {stem.lower(): stem for stem in MEASURES}


def parse_metric(name: str) -> Metric:
    """Return the metric of a name; letters may be of either case.

    >>> parse_metric("mrr@3")
    Metric(stem='MRR', k=3, tokens=None, threshold=None)

    Raises
    ------
    InputError
        When the name is not known, lacks its cutoff, or has one of a kind it cannot have.
    """
    try:
        return _parse(name)
    except ValueError as error:
        raise InputError(str(error), fix="see docs/evaluation.md for all names") from None


def parse_metrics(names: Iterable[str]) -> list[Metric]:
    """Return the metrics of several names, or report all wrong names together.

    >>> parse_metrics(["recal@3", "MRR@0"])
    Traceback (most recent call last):
        ...
    citespan.errors.InputError: 2 metrics are not usable: 'recal@3' is no metric, perhaps \
'recall@3'; 'MRR@0': the cutoff starts at 1; see docs/evaluation.md for all names
    """
    metrics: list[Metric] = []
    problems: list[str] = []
    for name in names:
        try:
            metrics.append(_parse(name))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        count = "1 metric is" if len(problems) == 1 else f"{len(problems)} metrics are"
        raise InputError(
            f"{count} not usable: {'; '.join(problems)}", fix="see docs/evaluation.md for all names"
        )
    return list(dict.fromkeys(metrics))


def _parse(name: str) -> Metric:
    match = _NAME.fullmatch(name.strip())
    written = match["stem"] if match else name.partition("@")[0]
    stem = _STEMS.get(written.lower())
    if not match or stem is None:
        near = difflib.get_close_matches(written.strip().lower(), _STEMS, 1)
        rest = name[len(written) :] if match else ""
        hint = f", perhaps {_STEMS[near[0]] + rest!r}" if near else ""
        raise ValueError(f"{name!r} is no metric{hint}")
    allowed = MEASURES[stem].cutoffs
    cut = match["cut"]
    if cut is None:
        if "none" not in allowed:
            raise ValueError(f"{name!r} lacks its cutoff, write {stem}@3")
        return Metric(stem)
    if match["tok"]:
        if "tokens" not in allowed or "." in cut:
            raise ValueError(f"{name!r} cannot be cut at tokens")
        metric = Metric(stem, tokens=int(cut))
    elif "threshold" in allowed:
        if float(cut) > 1:
            raise ValueError(f"{name!r}: the threshold is from 0 to 1")
        return Metric(stem, threshold=float(cut))
    elif "rank" not in allowed or "." in cut:
        raise ValueError(f"{name!r} cannot be cut at {cut}")
    else:
        metric = Metric(stem, k=int(cut))
    if 0 in (metric.k, metric.tokens):
        raise ValueError(f"{name!r}: the cutoff starts at 1")
    return metric


def chroma_compatible(metric: Metric) -> Metric:
    """Return the same span metric in Chroma's own definition, other metrics unchanged.

    >>> str(chroma_compatible(Metric("span_iou", k=5)))
    'chroma_iou@5'
    """
    if metric.level != "span":
        return metric
    if metric.tokens is not None:
        raise InputError(
            f"{metric} has no definition at Chroma, whose code knows no token budget",
            fix=f"use {metric.stem}@5 with --chroma-compatible",
        )
    stem = metric.stem.replace("span_", "chroma_").replace(
        "precision_omega", "chroma_precision_omega"
    )
    return Metric(stem, k=metric.k)
