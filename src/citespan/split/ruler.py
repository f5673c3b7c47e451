"""A ruler laid on a document: where its units stand, so that any span is measured at once.

Whatever sizes are counted in (characters, words, sentences, tokens), the text is cut into atoms,
each with a weight, and a span's size is the weight of the atoms it touches. Laying the ruler is
one pass; measuring is a binary search.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Literal

from citespan.text import split_sentences
from citespan.tokens import CountTokens, estimate_tokens, find_pieces
from citespan.types import Span

Unit = Literal["words", "characters", "sentences", "tokens"]
UNITS: tuple[Unit, ...] = ("words", "characters", "sentences", "tokens")

LONGEST_WORD = 40
"""A run without white space counts one word for each 40 characters begun (base64, addresses)."""
LONGEST_SENTENCE = 2000
"""A sentence counts one more for each 2,000 characters begun."""

# Chinese, Japanese and Thai write no spaces: each character is a word.
_WORD = re.compile(
    rf"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u0e00-\u0eff\u3040-\u30ff"
    rf"\u3400-\u9fff\uf900-\ufaff]{{1,{LONGEST_WORD}}}"
)


class Ruler:
    """Measures spans of one text in one unit.

    Parameters
    ----------
    text
        The text to measure.
    unit
        What to count.
    limit
        The largest size that will be asked for; an atom that weighs more is broken up, so that
        every size can be kept.
    count_tokens
        The model's own count; without it tokens are estimated (``citespan.tokens``).
    language, engine
        For sentences.

    Examples
    --------
    >>> ruler = Ruler("one two  three", "words", limit=2)
    >>> ruler.measure(0, 14), ruler.reach(0, 2), ruler.back(14, 2)
    (3, 7, 4)
    """

    def __init__(
        self,
        text: str,
        unit: Unit,
        limit: int,
        count_tokens: CountTokens | None = None,
        language: str = "",
        engine: str = "",
    ) -> None:
        self.text = text
        self.unit = unit
        if unit == "characters":
            # One atom a code point needs no table.
            atoms: list[tuple[int, int, int]] = []
        elif unit == "words":
            atoms = [(*match.span(), 1) for match in _WORD.finditer(text)]
        elif unit == "sentences":
            spans = split_sentences(text, language, engine=engine)
            atoms = [(s, e, 1) for span in spans for s, e in _break_span(span, LONGEST_SENTENCE)]
        else:
            atoms = list(_weigh_words(text, limit, count_tokens))
        self.starts = [start for start, _, _ in atoms]
        self.ends = [end for _, end, _ in atoms]
        self.sums = [0, *accumulate(weight for _, _, weight in atoms)]

    def measure(self, start: int, end: int) -> int:
        """Return the size of ``text[start:end]``; an atom cut in two counts on both sides."""
        if self.unit == "characters":
            return max(0, end - start)
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return self.sums[last] - self.sums[first] if last > first else 0

    def reach(self, start: int, size: int) -> int:
        """Return the furthest end of an atom such that ``[start, end)`` measures at most ``size``.

        At least one atom is taken, so that the caller always gets on.
        """
        if self.unit == "characters":
            return min(len(self.text), start + max(1, size))
        first = bisect_right(self.ends, start)
        if first == len(self.ends):
            return len(self.text)
        last = bisect_right(self.sums, self.sums[first] + size) - 1
        return self.ends[max(first + 1, last) - 1]

    def back(self, end: int, size: int) -> int:
        """Return the first atom's start from which ``[start, end)`` measures at most ``size``."""
        if self.unit == "characters":
            return max(0, end - size)
        last = bisect_left(self.starts, end)
        first = bisect_left(self.sums, self.sums[last] - size)
        return self.starts[first] if first < last else end

    def next_start(self, position: int) -> int:
        """Return the start of the first atom that begins at or behind ``position``."""
        if self.unit == "characters":
            return position
        place = bisect_left(self.starts, position)
        return self.starts[place] if place < len(self.starts) else len(self.text)


def _break_span(span: Iterable[int], longest: int) -> Iterator[Span]:
    start, end = span
    while end - start > longest:
        yield Span(start, start + longest)
        start += longest
    yield Span(start, end)


def _weigh_words(
    text: str, limit: int, count_tokens: CountTokens | None
) -> Iterator[tuple[int, int, int]]:
    """Yield words with their token counts; each distinct word is counted once."""
    spans = [match.span() for match in _WORD.finditer(text)]
    weigh = _make_scale({text[s:e] for s, e in spans}, count_tokens)
    for start, end in spans:
        weight = weigh(text[start:end])
        if weight <= limit:
            yield start, end, weight
        elif count_tokens is None:
            yield from _cover_pieces(text, start, end)
        else:
            yield from ((at, at + 1, max(1, weigh(text[at]))) for at in range(start, end))


def _cover_pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield a word's estimated tokens, together covering all of it."""
    pieces = find_pieces(text, start, end) or [(start, end)]
    edges = [start, *(left for left, _ in pieces[1:]), end]
    yield from ((a, b, 1) for a, b in zip(edges, edges[1:], strict=False))  # noqa: RUF007


def _make_scale(words: set[str], count_tokens: CountTokens | None) -> Callable[[str], int]:
    if count_tokens is None:
        return lambda word: max(1, estimate_tokens(word))
    special = count_tokens([""])[0]
    listed = sorted(words)
    known = dict(zip(listed, (n - special for n in count_tokens(listed)), strict=True))

    def weigh(word: str) -> int:
        if word not in known:
            known[word] = count_tokens([word])[0] - special
        return max(1, known[word])

    return weigh
