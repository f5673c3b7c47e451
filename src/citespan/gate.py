"""Decide, before anything is generated, whether what was found can answer the question.

What is known of a question and its passages is gathered as plain numbers (``GateEvidence``), a
score in [0, 1] is made of them, and two thresholds part three answers: answerable, insufficient
(the subject is there, the answer is likely not), nothing relevant. The score is a function that
may be replaced by one calibrated on the user's own documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from citespan.errors import InputError
from citespan.text import analyze_terms, detect_language, split_sentences
from citespan.types import Gate, Passage
from citespan.weights import Weigh, plain_weight, weigh_groups

THRESHOLD = 0.26
"""Answerable from here on; measured by benchmarks/gate_simple.py (docs/gate.md)."""
FLOOR = 0.2
"""Below this nothing relevant was found."""
WINDOW = 3
"""Sentences that are looked at together for what they cover of a question."""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """What is known before the decision.

    Attributes
    ----------
    coverage
        Share of the question's term weight that the best passage holds, in [0, 1].
    window
        The same for the best ``WINDOW`` sentences in a row.
    known
        The same for all passages together.
    cosine
        Best cosine of a passage with the question, where there are vectors.
    cosine_range
        The embedder's usual cosine for unrelated text, and for text that answers; without it the
        cosine is shown but not used, since it means another thing for each model.
    missing
        The question's terms that stand in no passage, the weightiest first.
    """

    coverage: float
    window: float
    known: float
    cosine: float | None = None
    cosine_range: tuple[float, float] | None = None
    missing: tuple[str, ...] = ()


def gather_evidence(
    terms: Sequence[Sequence[str]],
    passages: Sequence[Passage],
    *,
    weigh: Weigh = plain_weight,
    languages: Mapping[str, str] | None = None,
    cosine: float | None = None,
    cosine_range: tuple[float, float] | None = None,
) -> GateEvidence:
    """Return what the passages cover of the question's weighted terms.

    Parameters
    ----------
    terms
        The question's groups of alternative terms (``citespan.text.analyze_query``).
    weigh
        A term's weight, best its idf in the collection (``citespan.weights.idf_weight``).
    languages
        Each document's language by its id; detected from the passage where it is not known.

    Examples
    --------
    >>> text = "The warranty lasts 24 months. Filters cost extra."
    >>> found = gather_evidence([("filter",), ("price",)], [Passage("d", "a", 0, 49, text, 1.0)])
    >>> found.coverage, found.missing
    (0.5, ('price',))
    """
    groups = weigh_groups(terms, weigh)
    total = sum(weight for _, weight in groups) or 1.0

    def cover(held: set[str]) -> float:
        return sum(weight for group, weight in groups if not held.isdisjoint(group)) / total

    everything: set[str] = set()
    best = best_window = 0.0
    for passage in passages:
        own = (languages or {}).get(passage.document_id) or detect_language(passage.text)
        above = set(analyze_terms(f"{passage.title} {passage.heading}", own))
        sentences = [
            set(analyze_terms(passage.text[start:end], own))
            for start, end in split_sentences(passage.text, own)
        ]
        for first in range(max(1, len(sentences) - WINDOW + 1)):
            best_window = max(best_window, cover(above.union(*sentences[first : first + WINDOW])))
        whole = above.union(*sentences)
        best = max(best, cover(whole))
        everything |= whole
    missing = sorted(
        ((weight, group[0]) for group, weight in groups if everything.isdisjoint(group)),
        key=lambda item: -item[0],
    )
    return GateEvidence(
        coverage=best,
        window=best_window,
        known=cover(everything),
        cosine=cosine,
        cosine_range=cosine_range,
        missing=tuple(term for _, term in missing),
    )


def score_evidence(evidence: GateEvidence) -> float:
    """Return the gate's score in [0, 1].

    It is the window's coverage or, where the cosine can be placed in its range, the mean of the
    two: a question in other words than the document's has the one, a name that the embedder never
    saw the other, and what is off topic has neither.

    >>> score_evidence(GateEvidence(0.5, 0.4, 0.8))
    0.4
    >>> score_evidence(GateEvidence(0.5, 0.4, 0.8, cosine=0.6, cosine_range=(0.2, 0.7)))
    0.6
    """
    score = evidence.window
    if evidence.cosine is not None and evidence.cosine_range is not None:
        low, high = evidence.cosine_range
        place = (evidence.cosine - low) / max(1e-9, high - low)
        score = (score + min(1.0, max(0.0, place))) / 2
    return round(min(1.0, max(0.0, score)), 9)


def check_gate(
    evidence: GateEvidence,
    *,
    documents: int,
    language: str = "en",
    threshold: float = THRESHOLD,
    floor: float = FLOOR,
    score: Callable[[GateEvidence], float] = score_evidence,
) -> Gate:
    """Return whether the question may go on to a generator, and why.

    Parameters
    ----------
    evidence
        From ``gather_evidence``.
    documents
        How many documents were searched; named in the reason.
    language
        ISO 639-1 of the question; the reason is in Russian, Chinese or else English.
    threshold, floor
        Answerable at ``score >= threshold``; nothing relevant at ``score < floor`` (never
        above the threshold).
    score
        Makes one number in [0, 1] of the evidence; the seam for a calibrated gate.

    Raises
    ------
    InputError
        If the threshold is not between 0 and 1.

    Examples
    --------
    >>> gate = check_gate(GateEvidence(0.1, 0.1, 0.2), documents=12)
    >>> gate.state, gate.reason
    ('nothing_relevant', 'Not found in the 12 documents searched: nothing relevant stands there.')
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"the gate's threshold is {threshold}", fix="set it between 0 and 1")
    value = score(evidence)
    low = min(threshold, floor)
    state = (
        "answerable"
        if value >= threshold
        else "nothing_relevant"
        if value < low
        else "insufficient"
    )
    parts = {"coverage": evidence.coverage, "window": evidence.window, "known": evidence.known}
    if evidence.cosine is not None:
        parts["cosine"] = evidence.cosine
    reason = _REASONS.get(language, _REASONS["en"])[state](documents, value, threshold)
    return Gate(state, value, threshold, reason, parts)  # type: ignore[arg-type]


def _count_english(documents: int) -> str:
    return "1 document" if documents == 1 else f"{documents} documents"


Reason = Callable[[int, float, float], str]
_REASONS: dict[str, dict[str, Reason]] = {
    "en": {
        "answerable": lambda n, s, t: (
            f"The best passage covers enough of the question ({s:.2f}, from {t:.2f} on)."
        ),
        "insufficient": lambda n, s, t: (
            f"Not found in the {_count_english(n)} searched: the closest passages are about the "
            f"subject, but cover too little of the question ({s:.2f} of the {t:.2f} needed)."
        ),
        "nothing_relevant": lambda n, s, t: (
            f"Not found in the {_count_english(n)} searched: nothing relevant stands there."
        ),
    },
    "ru": {
        "answerable": lambda n, s, t: (
            f"Лучший отрывок достаточно полно отвечает вопросу ({s:.2f} при пороге {t:.2f})."
        ),
        "insufficient": lambda n, s, t: (
            f"Не найдено в просмотренных документах (всего {n}): ближайшие отрывки касаются темы, "
            f"но слишком мало отвечают вопросу ({s:.2f} при пороге {t:.2f})."
        ),
        "nothing_relevant": lambda n, s, t: (
            f"Не найдено в просмотренных документах (всего {n}): ничего подходящего в них нет."
        ),
    },
    "zh": {
        "answerable": lambda n, s, t: f"最佳段落足以覆盖问题（{s:.2f}，阈值 {t:.2f}）。",
        "insufficient": lambda n, s, t: (
            f"在所搜索的 {n} 个文档中未找到：最接近的段落与主题有关，"
            f"但对问题的覆盖不足（{s:.2f}，阈值 {t:.2f}）。"
        ),
        "nothing_relevant": lambda n, s, t: f"在所搜索的 {n} 个文档中未找到：没有相关内容。",
    },
}
