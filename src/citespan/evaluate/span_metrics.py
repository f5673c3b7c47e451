"""How much of the evidence was retrieved, counted in characters, and at what cost in other text.

Retrieved text and evidence are sets of characters: what is retrieved twice counts once, and
touching is not overlapping. Chroma's own definition, which charges a passage's characters again
for each passage that repeats them, stands beside for comparison with published figures.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from citespan.evaluate.groundtruth import Evidence
from citespan.evaluate.runs import RankedPassage
from citespan.protocols import Embedder
from citespan.spans import merge_spans
from citespan.types import Span

SpansByDoc = Mapping[str, Sequence[Span]]
"""Spans of each document, sorted and merged where not said otherwise."""
Ratio = tuple[float, float]
"""Numerator and denominator in characters; 0 / 0 counts as 0."""
FitTokens = Callable[[str, int], tuple[int, int]]
"""(text, budget) → (code points of the text that fit, tokens they cost)."""

# A rough stand-in for a word-piece vocabulary: a token is one CJK sign, up to six other letters or
# digits, or one further sign.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w{1,6}|[^\w\s]")


def fit_approximately(text: str, budget: int) -> tuple[int, int]:
    """Return how much of a text fits into a budget of approximate tokens.

    >>> fit_approximately("One window, two doors.", 3)
    (11, 3)
    """
    total = _count_approximately(text)
    if total <= budget:
        return len(text), total
    if budget <= 0:
        return 0, 0
    last = next(itertools.islice(_TOKEN.finditer(text), budget - 1, None))
    return last.end(), budget


@lru_cache(maxsize=10_000)
def _count_approximately(text: str) -> int:
    """Count the tokens of a text; a collection's chunks come back question after question."""
    return len(_TOKEN.findall(text))


def fit_by_counting(count: Callable[[str], int]) -> FitTokens:
    """Return a fitting function made of any token counter, by bisection over prefixes.

    >>> fit_by_counting(lambda text: len(text.split()))("one two three", 2)
    (8, 2)
    """

    def fit(text: str, budget: int) -> tuple[int, int]:
        total = count(text)
        if total <= budget:
            return len(text), total
        low, high = 0, len(text)  # the prefix of `low` fits, that of `high` does not
        while high - low > 1:
            middle = (low + high) // 2
            if count(text[:middle]) <= budget:
                low = middle
            else:
                high = middle
        return low, count(text[:low]) if low else 0

    return fit


def fit_with(embedder: Embedder) -> FitTokens:
    """Return a fitting function in the embedder's own tokens, its special tokens left out."""
    [around] = embedder.count_tokens([""])
    return fit_by_counting(lambda text: embedder.count_tokens([text])[0] - around)


def cut_at_budget(
    passages: Sequence[RankedPassage], budget: int, *, fit: FitTokens = fit_approximately
) -> list[RankedPassage]:
    """Return the ranked passages cut at a budget of tokens; the last one is cut at its edge.

    Text that an earlier passage holds already is not charged again (a context need not repeat it).
    A passage's ``text`` is its slices joined by one character each, as everywhere.

    >>> a, b = RankedPassage("d", (Span(0, 7),), 0, "one two"), RankedPassage("d", (Span(4, 13),),
    ...     0, "two three")
    >>> [(p.start, p.end) for p in cut_at_budget([a, b], 3)]
    [(0, 7), (7, 13)]
    """
    taken: dict[str, list[Span]] = {}
    kept: list[RankedPassage] = []
    left = budget
    for passage in passages:
        spans: list[Span] = []
        position = 0  # of the span within the passage's text
        seen = taken.setdefault(passage.doc_id, [])
        for span in passage.spans:
            for new in subtract_spans(span, seen):
                offset = position + new.start - span.start
                length, used = fit(passage.text[offset : offset + new.end - new.start], left)
                left -= used
                if length:
                    spans.append(Span(new.start, new.start + length))
                if length < new.end - new.start:
                    left = 0
                if left <= 0:
                    break
            position += span.end - span.start + 1
            if left <= 0:
                break
        if spans:
            kept.append(RankedPassage(passage.doc_id, tuple(spans), passage.score))
            taken[passage.doc_id] = merge_spans([*seen, *spans])
        if left <= 0:
            break
    return kept


def group_spans(items: Iterable[RankedPassage | Evidence]) -> dict[str, list[Span]]:
    """Return each document's spans in the order given, not merged.

    >>> group_spans([Evidence("a", 0, 4), Evidence("a", 2, 6)])
    {'a': [Span(start=0, end=4), Span(start=2, end=6)]}
    """
    grouped: dict[str, list[Span]] = {}
    for item in items:
        spans = item.spans if isinstance(item, RankedPassage) else (Span(item.start, item.end),)
        grouped.setdefault(item.doc_id, []).extend(spans)
    return grouped


def subtract_spans(span: Span, merged: Sequence[Span]) -> list[Span]:
    """Return what is left of a span when the sorted, merged spans are taken away.

    >>> subtract_spans(Span(0, 9), [Span(2, 4)])
    [Span(start=0, end=2), Span(start=4, end=9)]
    """
    rest: list[Span] = []
    start = span.start
    for left, right in merged:
        if right <= start:
            continue
        if left >= span.end:
            break
        if left > start:
            rest.append(Span(start, left))
        start = right
    if start < span.end:
        rest.append(Span(start, span.end))
    return rest


def shared_length(a: Sequence[Span], b: Sequence[Span]) -> int:
    """Count the characters in both of two sorted, merged lists of spans.

    >>> shared_length([Span(0, 4), Span(8, 9)], [Span(3, 9)])
    2
    """
    i = j = shared = 0
    while i < len(a) and j < len(b):
        shared += max(0, min(a[i].end, b[j].end) - max(a[i].start, b[j].start))
        if a[i].end < b[j].end:
            i += 1
        else:
            j += 1
    return shared


def total_length(spans: Iterable[Span]) -> int:
    """Add up the lengths, of repeated characters too.

    >>> total_length([Span(0, 4), Span(3, 9)])
    10
    """
    return sum(end - start for start, end in spans)


def measure_spans(
    base: str, retrieved: Iterable[RankedPassage], evidence: Iterable[Evidence]
) -> Ratio:
    """Return span ``recall``, ``precision`` or ``iou`` as a ratio of characters.

    With R the set of retrieved and E of evidence characters, over all documents: recall
    |R ∩ E| / |E|, precision |R ∩ E| / |R|, IoU |R ∩ E| / |R ∪ E|.

    >>> found = [RankedPassage("d", (Span(0, 6),)), RankedPassage("d", (Span(4, 10),))]
    >>> measure_spans("precision", found, [Evidence("d", 5, 15)])
    (5, 10)
    """
    wanted = {doc: merge_spans(spans) for doc, spans in group_spans(evidence).items()}
    found = {doc: merge_spans(spans) for doc, spans in group_spans(retrieved).items()}
    shared = sum(shared_length(found.get(doc, ()), spans) for doc, spans in wanted.items())
    of_evidence = sum(total_length(spans) for spans in wanted.values())
    of_retrieved = sum(total_length(spans) for spans in found.values())
    denominators = {
        "recall": of_evidence,
        "precision": of_retrieved,
        "iou": of_evidence + of_retrieved - shared,
    }
    return shared, denominators[base]


def measure_spans_as_chroma(
    base: str, retrieved: Iterable[RankedPassage], evidence: Iterable[Evidence]
) -> Ratio:
    """Return the same three by the code of Chroma's evaluation, to compare with its figures.

    The numerator is |R ∩ E| as above. But each retrieved passage is charged in full however much
    of it another one repeats, each reference counts in full though references may overlap, and
    IoU's denominator is the charged passages plus the part of each reference that was not found.

    >>> found = [RankedPassage("d", (Span(0, 6),)), RankedPassage("d", (Span(4, 10),))]
    >>> measure_spans_as_chroma("precision", found, [Evidence("d", 5, 15)])
    (5, 12)
    """
    wanted, found = group_spans(evidence), group_spans(retrieved)
    merged = {doc: merge_spans(spans) for doc, spans in found.items()}
    shared = sum(
        shared_length(merged.get(doc, ()), merge_spans(spans)) for doc, spans in wanted.items()
    )
    charged = sum(total_length(spans) for spans in found.values())
    missed = sum(
        total_length(subtract_spans(span, merged.get(doc, ())))
        for doc, spans in wanted.items()
        for span in spans
    )
    denominators = {
        "recall": sum(total_length(spans) for spans in wanted.values()),
        "precision": charged,
        "iou": charged + missed,
    }
    return shared, denominators[base]


def measure_precision_omega(
    holding: Iterable[RankedPassage], evidence: Iterable[Evidence]
) -> Ratio:
    """Return PrecisionΩ: the precision that a splitter's chunks allow at perfect recall.

    ``holding`` are all chunks of the collection that hold evidence (for Chroma's own figure: or
    touch it). The denominator also counts evidence that stands in no chunk.

    >>> measure_precision_omega([RankedPassage("d", (Span(0, 10),))], [Evidence("d", 5, 12)])
    (5, 12)
    """
    chunks = {doc: merge_spans(spans) for doc, spans in group_spans(holding).items()}
    wanted = {doc: merge_spans(spans) for doc, spans in group_spans(evidence).items()}
    shared = sum(shared_length(chunks.get(doc, ()), spans) for doc, spans in wanted.items())
    missed = sum(total_length(spans) for spans in wanted.values()) - shared
    return shared, sum(total_length(spans) for spans in chunks.values()) + missed
