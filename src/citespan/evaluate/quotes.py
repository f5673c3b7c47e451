"""Where does a pasted quote stand? Exact offsets, though white space and quote marks may differ."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from citespan.types import Span

_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟″«»「」『』", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"…": "..."}
)
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")


class Normalised(NamedTuple):
    """A text with typography evened out; ``offsets[i]`` is where its character i came from."""

    text: str
    offsets: Sequence[int]


@lru_cache(maxsize=16)
def normalise_text(text: str) -> Normalised:
    r"""Return the text with runs of white space as one blank and one form of each quote and dash.

    Accents are taken apart (NFKD), soft hyphens and other invisible marks left out.

    >>> normalise_text("“A \n  b”").text
    '"A b"'
    """
    pieces: list[str] = []
    offsets: list[int] = []
    blank = False
    for position, character in enumerate(text):
        if character in _INVISIBLE:
            continue
        if character.isspace():
            if not blank:
                pieces.append(" ")
                offsets.append(position)
            blank = True
            continue
        blank = False
        if character < "\x80":
            even = "'" if character == "`" else character
        else:
            even = unicodedata.normalize("NFKD", character.translate(_SAME)).translate(_SAME)
        # A compatibility form may hold blanks of its own (U+00A8); they are no word breaks here.
        even = even.replace(" ", "")
        pieces.append(even)
        offsets.extend([position] * len(even))
    return Normalised("".join(pieces), offsets)


def find_quote(text: str, quote: str) -> list[Span]:
    """Return every place of a quote: exact ones if any, else evened out, else in other case too.

    The spans are exact offsets into ``text``, whatever differed. An empty list says that the quote
    is not there; several say that somebody must choose.

    >>> text = "He said “no”.  He  said “no”."
    >>> find_quote(text, 'He said "no".'), find_quote(text, "yes")
    ([Span(start=0, end=13), Span(start=15, end=29)], [])
    """
    wanted = quote.strip()
    if not wanted:
        return []
    exact = _find_all(text, wanted)
    if exact:
        return [Span(start, start + len(wanted)) for start in exact]
    even_text, even_quote = normalise_text(text), normalise_text(wanted).text.strip()
    if not even_quote:
        return []
    found = _locate(even_text, even_text.text, even_quote)
    if found:
        return found
    lower = "".join(_lower(character) for character in even_text.text)
    return _locate(even_text, lower, "".join(_lower(c) for c in even_quote))


def nearest_span(spans: Sequence[Span], position: int) -> Span | None:
    """Return the span that starts nearest to a position, the earlier one of two as near.

    >>> nearest_span([Span(0, 4), Span(50, 54)], 40)
    Span(start=50, end=54)
    """
    return min(spans, key=lambda span: (abs(span.start - position), span.start), default=None)


def show_context(text: str, span: Span, *, around: int = 40) -> str:
    """Return the quote in its surroundings on one line, between brackets.

    >>> show_context("one two three", Span(4, 7), around=4)
    'one [two] thr…'
    """
    left, right = max(0, span.start - around), min(len(text), span.end + around)
    line = f"{text[left : span.start]}[{text[span.start : span.end]}]{text[span.end : right]}"
    start, end = "…" if left else "", "…" if right < len(text) else ""
    return start + " ".join(line.split()) + end


def _find_all(text: str, wanted: str) -> list[int]:
    found = []
    start = text.find(wanted)
    while start >= 0:
        found.append(start)
        start = text.find(wanted, start + 1)
    return found


def _locate(even: Normalised, haystack: str, wanted: str) -> list[Span]:
    spans = []
    for start in _find_all(haystack, wanted):
        end = start + len(wanted)
        # "cafe" is not a quote of "café": its accent would be left behind.
        if end < len(haystack) and unicodedata.combining(haystack[end]):
            continue
        first, last = even.offsets[start], even.offsets[end - 1]
        # A match may start or end within a sign that stands for several ("…" for "...").
        if start and even.offsets[start - 1] == first:
            continue
        after = bisect_left(even.offsets, last + 1)
        if after != end:
            continue
        spans.append(Span(first, last + 1))
    return spans


def _lower(character: str) -> str:
    """Lower a character only where its length stays, so that the offsets hold."""
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character
