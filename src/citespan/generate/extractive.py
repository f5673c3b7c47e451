"""Answer without a model: quote the sentences that answer, each with its source.

A sentence is scored by the share of the question's term weight that it holds; what stands in the
sentence before it, or in the headings above, counts for less, so that "It lasts 24 months." is
found behind "The warranty covers the pump.". The kind of thing asked for (a duration, a person, a
date) then tells a sentence that answers from one that is only about the same subject.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from citespan.generate.cues import detect_kind, holds_kind
from citespan.text import analyze_query, analyze_terms, detect_language, split_sentences
from citespan.types import Passage, Prompt
from citespan.weights import Weigh, plain_weight, weigh_groups

NEAR = 0.65
"""What a term in the sentence before, or in title and headings, counts for."""
KIND = 0.55
"""What holding the kind of thing asked for adds, in shares of the question's weight."""
COSINE = 0.5
"""What a cosine of 1 with the question adds, where there are vectors."""
RANK = 0.05
"""What each rank of the passage below the first takes away, up to five of them."""
GAIN = 0.25
"""A further sentence is quoted if it brings this share of the question's weight anew."""
LONGEST = 600
"""Characters of one quoted sentence: what runs on longer is a table or a list, and is passed over
if anything shorter answers."""

_MARKERS = re.compile(r"\s*[\[【]\s*\^?\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\]】]")
_ENDS = re.compile(r"[.!?…。！？:;]['\"»”’)\]）」』]*$")
_ASKS = re.compile(r"[?？]['\"»”’)\]）」』]*$")


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence of a passage, and the parts of its score."""

    source: int
    order: int
    text: str
    score: float
    terms: frozenset[str]
    near: frozenset[str]
    kind: bool


@dataclass(frozen=True, slots=True)
class ExtractiveGenerator:
    """Quotes one to ``most`` sentences of the prompt's passages.

    Parameters
    ----------
    weigh
        A term's weight, such as ``citespan.weights.idf_weight`` makes it.
    embed
        Turns texts into L2-normalised rows (the question is its first); None goes by words.
    most
        The most sentences quoted.
    """

    weigh: Weigh = plain_weight
    embed: Callable[[Sequence[str]], Any] | None = None
    most: int = 3
    name: str = "extractive"

    def generate(self, prompt: Prompt) -> Iterator[str]:
        """Yield each quoted sentence with its ``[i]``, or the prompt's refusal."""
        scored = score_sentences(
            prompt.question,
            prompt.passages,
            language=prompt.language,
            weigh=self.weigh,
            embed=self.embed,
        )
        chosen = choose_sentences(scored, prompt.question, weigh=self.weigh, most=self.most)
        if not chosen:
            yield prompt.refusal
            return
        for number, sentence in enumerate(chosen):
            yield f"{' ' if number else ''}{sentence.text} [{sentence.source}]"


def score_sentences(
    question: str,
    passages: Sequence[Passage],
    *,
    language: str = "",
    weigh: Weigh = plain_weight,
    embed: Callable[[Sequence[str]], Any] | None = None,
) -> list[ScoredSentence]:
    """Return every sentence of the passages with its score, best first.

    Examples
    --------
    >>> text = "The warranty covers the pump. It lasts 24 months. Filters are excluded."
    >>> found = score_sentences("How long is the warranty?", [Passage("d", "a", 0, 71, text, 1.0)])
    >>> [(s.text, round(s.score, 2)) for s in found[:2]]
    [('It lasts 24 months.', 1.14), ('The warranty covers the pump.', 0.91)]
    """
    language = language or detect_language(question)
    kind = detect_kind(question)
    rows: list[tuple[int, int, str, frozenset[str], frozenset[str], bool]] = []
    spoken: list[str] = []
    for source, passage in enumerate(passages, start=1):
        own = detect_language(passage.text, language)
        above = frozenset(analyze_terms(f"{passage.title} {passage.heading}", own))
        before: frozenset[str] = frozenset()
        asked = False
        for order, (start, end) in enumerate(split_sentences(passage.text, own)):
            text = " ".join(_MARKERS.sub("", passage.text[start:end]).split())
            terms = frozenset(analyze_terms(text, own))
            spoken.append(own)
            rows.append((source, order, text, terms, above | before, asked))
            # A question or a heading passes its words on: what follows it answers it.
            asked = bool(_ASKS.search(text)) or _is_heading(text)
            before = terms

    groups = weigh_groups(analyze_query(question, sorted({language, *spoken} - {""})), weigh)
    total = sum(weight for _, weight in groups) or 1.0
    cosines = _compare(question, [row[2] for row in rows], embed)
    scored = []
    for (source, order, text, terms, near, asked), cosine in zip(rows, cosines, strict=True):
        cover = sum(w for group, w in groups if not terms.isdisjoint(group)) / total
        further = sum(
            w for group, w in groups if terms.isdisjoint(group) and not near.isdisjoint(group)
        )
        holds = bool(kind) and holds_kind(kind, text, question)
        context = (0.9 if asked else NEAR) * further / total
        score = cover + context + KIND * holds * min(1.0, 2 * (cover + context))
        score += COSINE * cosine - RANK * min(source - 1, 5)
        if not terms or (embed is None and cover + context == 0):
            continue
        if _ASKS.search(text) or _is_heading(text):
            score *= 0.4
        elif len(text) > LONGEST:
            score *= 0.6
        scored.append(ScoredSentence(source, order, text, score, terms, near, holds))
    return sorted(scored, key=lambda s: (-s.score, s.source, s.order))


def choose_sentences(
    scored: Sequence[ScoredSentence],
    question: str,
    *,
    weigh: Weigh = plain_weight,
    most: int = 3,
) -> list[ScoredSentence]:
    """Return the sentences to quote, in the order in which they stand.

    The best one, and further ones that hold the kind of thing asked for if it does, and bring much
    of the question's weight anew or score nearly the same without saying the same.
    """
    chosen: list[ScoredSentence] = []
    held: set[str] = set()
    languages = [detect_language(question)]
    groups = weigh_groups(analyze_query(question, languages), weigh)
    total = sum(weight for _, weight in groups) or 1.0
    for sentence in scored:
        if not chosen:
            chosen.append(sentence)
            held |= sentence.terms | sentence.near
            continue
        if len(chosen) >= most or sentence.score < 0.5 * chosen[0].score:
            break
        same = max(len(sentence.terms & c.terms) / len(sentence.terms | c.terms) for c in chosen)
        gain = sum(
            w
            for group, w in groups
            if held.isdisjoint(group) and not sentence.terms.isdisjoint(group)
        )
        close = sentence.score >= 0.9 * chosen[0].score
        if sentence.kind >= chosen[0].kind and same < 0.7 and (gain / total >= GAIN or close):
            chosen.append(sentence)
            held |= sentence.terms | sentence.near
    return sorted(chosen, key=lambda s: (s.source, s.order))


def _is_heading(text: str) -> bool:
    """Tell whether a sentence is a heading or a label: short, and without an end."""
    return len(text) < 80 and not _ENDS.search(text) and not re.search(r"[:：|\t]\s*\S|\d", text)


def _compare(
    question: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Any] | None
) -> list[float]:
    if embed is None or not texts:
        return [0.0] * len(texts)
    vectors = embed([question, *texts])
    return [float(value) for value in vectors[1:] @ vectors[0]]
