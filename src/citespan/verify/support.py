"""How far a passage supports a sentence, and which of its sentences do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from citespan.text import analyze_terms, detect_language, split_sentences
from citespan.types import Passage, Span
from citespan.verify.facts import (
    miss_dates,
    read_dates,
    read_names,
    read_negations,
    read_numbers,
    unify_numbers,
)
from citespan.weights import FUNCTION_TERMS, Weigh

WIDEST = 3
"""The most sentences of a passage that one sentence of an answer is held to sum up."""
WIDER = 0.1
"""A further sentence is taken into the quote if it supports this much more of the words."""

_IGNORED = re.compile(r"[\s\"'«»“”„‘’`*_]|[\[【]\s*\^?\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\]】]")


@dataclass(frozen=True, slots=True)
class Support:
    """What a passage says for a sentence.

    ``span`` is in the passage's text; ``share`` of the sentence's term weight stands there;
    ``words`` counts its distinct terms that are no function words; ``problems`` are the facts that
    do not agree.
    """

    span: Span
    share: float
    verbatim: bool
    words: int
    problems: tuple[str, ...]

    def holds(self, threshold: float) -> bool:
        """Tell whether the sentence is supported; one of fewer than four words needs more."""
        few = max(0, 4 - self.words) / 4
        return not self.problems and self.share >= threshold + (1 - threshold) * few


def measure_support(sentence: str, passage: Passage, language: str, weigh: Weigh) -> Support:
    """Return the best-supporting one to three sentences of a passage.

    Examples
    --------
    >>> from citespan.weights import plain_weight
    >>> text = "The pump is grey. Its warranty lasts 24 months. Filters cost extra."
    >>> passage = Passage("d", "a.txt", 0, len(text), text, 1.0)
    >>> found = measure_support("The warranty lasts 36 months.", passage, "en", plain_weight)
    >>> text[found.span.start:found.span.end], found.share, found.problems
    ('Its warranty lasts 24 months.', 0.7317, ('36 is not in the source',))
    """
    own, spans, terms = _read_passage(passage.text, language)
    claimed = set(analyze_terms(unify_numbers(sentence), language))
    words = len(claimed - FUNCTION_TERMS)
    # Function words alone claim nothing.
    if not spans or not words:
        return Support(Span(0, 0), 0.0, False, 0, ())
    exact = _find_verbatim(sentence, passage.text)
    if exact is not None:
        around = [span for span in spans if span.start < exact.end and exact.start < span.end]
        whole = Span(around[0].start, around[-1].end)
        # Words cut out of a sentence may say another thing than the sentence does.
        cut = whole.start < exact.start or exact.end < whole.end
        found = _compare_facts(sentence, passage, whole, language, own) if cut else ()
        return Support(whole, 1.0, True, words, found)
    total = sum(weigh(term) for term in claimed)
    numbers = read_numbers(sentence)
    # The subject often stands in the title or a heading only: those count, but not fully.
    above = set(analyze_terms(f"{passage.title} {passage.heading}", own))

    def cover(first: int, last: int) -> float:
        held = set().union(*terms[first : last + 1])
        inside = sum(weigh(term) for term in claimed & held)
        return (inside + 0.5 * sum(weigh(term) for term in (claimed & above) - held)) / total

    best, best_value, best_share = (0, 0), -1.0, 0.0
    for first in range(len(spans)):
        for last in range(first, min(first + WIDEST, len(spans))):
            share = cover(first, last)
            stretch = passage.text[spans[first].start : spans[last].end]
            facts = (
                sum(n in read_numbers(stretch) for n in numbers) / len(numbers) if numbers else 0
            )
            value = share + 0.3 * facts - WIDER * (last - first)
            if value > best_value + 1e-9:
                best, best_value, best_share = (first, last), value, share
    span = Span(spans[best[0]].start, spans[best[1]].end)
    problems = _compare_facts(sentence, passage, span, language, own)
    return Support(span, round(min(1.0, best_share), 4), False, words, problems)


@lru_cache(maxsize=256)
def _read_passage(
    text: str, language: str
) -> tuple[str, tuple[Span, ...], tuple[frozenset[str], ...]]:
    own = detect_language(text, language)
    spans = tuple(split_sentences(text, own))
    pieces = (unify_numbers(text[start:end]) for start, end in spans)
    return own, spans, tuple(frozenset(analyze_terms(piece, own)) for piece in pieces)


def _find_verbatim(sentence: str, text: str) -> Span | None:
    """Return where the sentence's words stand in the text, whatever its spaces and quotes."""
    wanted, _ = _fold(sentence)
    wanted = wanted.rstrip(".!?。！？…:;,；：，")
    if len(wanted) < 2:
        return None
    folded, offsets = _fold(text)
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        # "4 months" does not stand in "24 months", nor "not" in "nothing".
        start_ok = at == 0 or _parts(text, offsets[at - 1], offsets[at])
        end_ok = end == len(folded) or _parts(text, offsets[end - 1], offsets[end])
        if start_ok and end_ok:
            last = offsets[end - 1] + 1
            while last < len(text) and text[last] in ".!?。！？…\"'»”’":
                last += 1
            return Span(offsets[at], last)
        at = folded.find(wanted, at + 1)
    return None


def _parts(text: str, left: int, right: int) -> bool:
    """Tell whether a word may end between two characters of a text."""
    if right - left > 1:
        return True
    a, b = text[left], text[right]
    return not (a.isalnum() and b.isalnum()) or a >= "\u2e80" or b >= "\u2e80"


@lru_cache(maxsize=256)
def _fold(text: str) -> tuple[str, list[int]]:
    """Return the text in small letters without spaces, quotes and marks, and their offsets."""
    kept: list[str] = []
    offsets: list[int] = []
    last = 0
    for match in [*_IGNORED.finditer(text), None]:
        end = match.start() if match else len(text)
        for at in range(last, end):
            small = text[at].lower()
            kept.append(small)
            offsets.extend([at] * len(small))
        last = match.end() if match else end
    return "".join(kept), offsets


def _compare_facts(
    sentence: str, passage: Passage, span: Span, language: str, own: str
) -> tuple[str, ...]:
    """Return in words what the sentence claims and the passage does not hold."""
    quote = passage.text[span.start : span.end]
    around = f"{passage.text}\n{passage.title}\n{passage.heading}"
    problems = [
        f"the date {date} is not in the source"
        for date in miss_dates(read_dates(sentence), read_dates(around))
    ]

    held = read_numbers(f"{quote}\n{passage.title}\n{passage.heading}")
    dated = {part for date in read_dates(sentence) for part in date if part}
    for number, units in read_numbers(sentence).items():
        # "one" is as often a pronoun as a number.
        if (number in dated and problems) or (number == "1" and "1" not in sentence):
            continue
        if number not in held and number not in dated:
            problems.append(f"{number} is not in the source")
        elif units and held.get(number) and not units & held[number]:
            there, here = sorted(held[number])[0], sorted(units)[0]
            problems.append(f"the source has {number} {there}, not {number} {here}")

    small, known = around.lower(), set(analyze_terms(around, own))
    for name in read_names(sentence):
        forms = set(analyze_terms(name, language))
        stem = name.lower()[: max(4, len(name) - 3)]
        if name.lower() not in small and not forms <= known and stem not in small:
            problems.append(f"the name {name} is not in the source")

    denied, said = read_negations(sentence, language)
    denied_there, said_there = read_negations(quote, own)
    if denied & (said_there - denied_there):
        problems.append("the sentence denies what the source says")
    elif (said - denied) & (denied_there - said_there):
        problems.append("the source denies what the sentence says")
    return tuple(dict.fromkeys(problems))
