"""Sentences as spans, for any language, without losing or moving a character.

Three steps. Blocks: blank lines, headings, list items and table rows end a sentence whatever
stands in them. Cuts: within a block an engine says where sentences end; it sees at most ``WINDOW``
characters at a time, so the whole is linear in the text whatever the engine is. Repairs: closing
quotes go with their sentence, and an abbreviation followed by a small letter ends none.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from citespan.spans import trim_span
from citespan.text.blocks import split_blocks
from citespan.text.engines import Cutter, get_cutter
from citespan.text.languages import detect_language
from citespan.types import Span

WINDOW = 10_000
"""Characters that an engine sees at once."""
LONGEST = 1_500
"""The longest sentence, in characters: what goes on longer (a list without a stop, a dump of data)
is cut behind a comma or semicolon, else at white space, else anywhere."""

_CLOSERS = regex.compile(r"[\p{Pe}\p{Pf}\"']{1,4}")
_SPACED_CLOSERS = regex.compile(r"[\p{Pe}”»]{1,4}(?=\s|$)")
_BRACKETED = regex.compile(r"(?<=[\p{Ll}\d][.!?]\))\s+(?=\p{Lu})")
_MARKER = regex.compile(r"\s*\(?(?:\d{1,3}|\p{L})[.)]\s*")
_PAUSE = regex.compile(r"[;:,]\s+|[；：，、]")
_GAP = regex.compile(r"\s+")
_HALF_ABBREVIATION = regex.compile(r"\p{L}[.…]$")


def split_sentences(text: str, language: str = "", *, engine: str = "") -> list[Span]:
    """Return the sentences' spans: trimmed, disjoint, in order, covering every non-space.

    Parameters
    ----------
    text
        Any text; nothing in it is changed.
    language
        ISO 639-1; detected where empty.
    engine
        ``""`` picks the best measured for the language (docs/text.md); ``"sentencex"``,
        ``"razdel"``, ``"marks"``, ``"spacy"`` and ``"nltk"`` name one.

    Raises
    ------
    InputError
        If there is no such engine.
    MissingExtraError
        If the engine or its model is not installed.

    Examples
    --------
    >>> text = "Dr. Lee left. «А. С. Пушкин» stayed."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Dr. Lee left.', '«А. С. Пушкин» stayed.']
    """
    language = language or detect_language(text)
    cutter = get_cutter(engine, language)
    return [
        sentence
        for block in split_blocks(text)
        for sentence in _split_block(text, block, language, cutter)
    ]


def _split_block(text: str, block: Span, language: str, cutter: Cutter) -> Iterator[Span]:
    start = block.start
    for end in _mend_cuts(text, block, _find_cuts(text, block, language, cutter)):
        span = trim_span(text, start, end)
        if span is not None:
            yield from _cut_long(text, span)
        start = end


def _cut_long(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    while end - start > LONGEST:
        half = start + LONGEST // 2
        stops = [m.end() for m in _PAUSE.finditer(text, half, start + LONGEST)]
        gaps = [m.end() for m in _GAP.finditer(text, half, start + LONGEST)]
        cut = (stops or gaps or [start + LONGEST])[-1]
        piece = trim_span(text, start, cut)
        if piece is not None:
            yield piece
        start = cut
    piece = trim_span(text, start, end)
    if piece is not None:
        yield piece


def _find_cuts(text: str, block: Span, language: str, cutter: Cutter) -> Iterator[int]:
    """Yield the engine's sentence ends as offsets into the text; the last is the block's end."""
    position = block.start
    while block.end - position > WINDOW:
        window = text[position : position + WINDOW]
        # The window's last sentence may go on behind it: it is read again with the next window.
        inner = _ask_cutter(window, language, cutter)
        if inner:
            cuts = inner
        else:
            space = max(window.rfind(" "), window.rfind("\n"))
            cuts = [space + 1 if space > WINDOW // 2 else WINDOW]
        yield from (position + cut for cut in cuts)
        position += cuts[-1]
    rest = text[position : block.end]
    yield from (position + cut for cut in _ask_cutter(rest, language, cutter))
    yield block.end


def _ask_cutter(text: str, language: str, cutter: Cutter) -> list[int]:
    """Return the engine's cuts, and those behind a bracketed sentence, which engines miss."""
    cuts = [*cutter(text, language), *(m.end() for m in _BRACKETED.finditer(text))]
    return sorted({cut for cut in cuts if 0 < cut < len(text)})


def _mend_cuts(text: str, block: Span, cuts: Iterator[int]) -> Iterator[int]:
    """Move a cut behind closing marks, and drop it where the sentence plainly goes on."""
    last = block.start
    for cut in cuts:
        if cut <= last or cut >= block.end:
            continue
        end = cut
        # A straight quote opens as often as it closes; behind white space it opens.
        marks = _SPACED_CLOSERS if text[cut - 1].isspace() else _CLOSERS
        if closers := marks.match(text, cut, block.end):
            end = closers.end()
        following = end
        while following < block.end and text[following].isspace():
            following += 1
        if following >= block.end:
            continue
        before = text[max(block.start, end - 12) : end].rstrip()
        if text[following].islower() and _HALF_ABBREVIATION.search(before):
            continue
        # A list's number, or a title of one letter, is no sentence by itself.
        if _MARKER.fullmatch(text, last, end):
            continue
        last = end
        yield end
    yield block.end
