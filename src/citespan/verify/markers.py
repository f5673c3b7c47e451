# ruff: noqa: E501 (a pattern is easier to read on one line)
"""Citation marks as models write them: [1], [1, 2], [1][3], 【1】, [Source 1], (来源 2), Source 3."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LABEL = (
    r"(?:sources?|src|ref(?:erence)?s?|doc(?:ument)?s?|passages?|来源|资料|文档|出处|参考|來源"
    r"|источник\w*|ист\.|quellen?|fuentes?)"
)
_NUMBERS = (
    rf"\d{{1,9}}(?!\d)(?:(?:\s*(?:[,，、;；&–—-]|and|и|和|与|und|y|et)\s*|\s+)"
    rf"(?:{_LABEL}\s*)?[#№]?\d{{1,9}}(?!\d)){{0,200}}"
)
_MARK = re.compile(
    rf"(?:<sup>\s*)?(?:"
    rf"\[\[\s*(?P<double>{_NUMBERS})\s*\]\]"
    rf"|[\[【［〔]\s*\^?(?:{_LABEL}\s*[:：#№]?\s*)(?P<named>{_NUMBERS})[^\]】］〕\n]{{0,40}}[\]】］〕]"
    rf"|[\[【［〔]\s*\^?(?P<bare>\d{{1,3}}(?!\d)(?:\s*(?:[,，、;；&–—-]|and|и|和)\s*\d{{1,3}}(?!\d)){{0,200}})"
    rf"(?:†[^\]】］〕\n]{{0,40}})?\s*[\]】］〕](?:\(https?://[^\s)]*\))?"
    rf"|[(（]\s*(?:{_LABEL}\s*[:：#№]?\s*)(?P<round>{_NUMBERS})\s*[)）]"
    rf")(?:\s*</sup>)?",
    re.I,
)
_SPOKEN = re.compile(
    rf"(?<![\w\[(])(?P<label>{_LABEL})(?P<gap>\s*[#№]?\s*)(?P<number>\d{{1,3}})(?!\d|[.,]\d)", re.I
)
SPOKEN_FIRST = 0xE000
"""A source named in the run of a sentence ("as Source 2 says") keeps a place for its new number:
the private-use character ``SPOKEN_FIRST + number``."""


@dataclass(frozen=True, slots=True)
class Marks:
    """A text without its citation marks, and what they said.

    ``places`` holds (offset in ``text``, source number) of the marks within 1..n; ``outside`` the
    numbers that name no source that was sent, in order, each once; ``removed`` counts those marks.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    outside: tuple[int, ...] = ()
    removed: int = 0
    seen: frozenset[int] = field(default_factory=frozenset)


def parse_marks(text: str, sources: int) -> Marks:
    """Take the citation marks out of a text.

    Examples
    --------
    >>> parse_marks("Two years [1, 3]. Free [9]【2】.", sources=3)
    ... # doctest: +NORMALIZE_WHITESPACE
    Marks(text='Two years. Free.', places=((9, 1), (9, 3), (15, 2)), outside=(9,), removed=1,
          seen=frozenset({1, 2, 3}))
    """
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    outside: dict[int, None] = {}
    removed = length = last = 0

    def add(piece: str) -> None:
        nonlocal length
        pieces.append(piece)
        length += len(piece)

    for match in _MARK.finditer(text):
        before = text[last : match.start()]
        following = text[match.end() : match.end() + 1]
        # The space before a mark goes with it, unless it parts two words.
        trimmed = before.rstrip(" \t\u00a0")
        keep = following.isalnum() or (
            following in tuple("([«“\"'") and not _MARK.match(text, match.end())
        )
        add(trimmed + (" " if keep and trimmed != before else ""))
        last = match.end()
        inner = match["double"] or match["named"] or match["bare"] or match["round"]
        for number in _expand_numbers(inner):
            if 1 <= number <= sources:
                places.append((length - len(pieces[-1]) + len(pieces[-1].rstrip()), number))
            else:
                outside[number] = None
                removed += 1
    add(text[last:])
    clean = "".join(pieces)

    def name(match: re.Match[str]) -> str:
        number = int(match["number"])
        if not 1 <= number <= sources:
            outside[number] = None
            return match[0]
        return (
            match["label"]
            + match["gap"]
            + chr(SPOKEN_FIRST + number)
            + " " * (len(match["number"]) - 1)
        )

    spoken = [(m.start(), int(m["number"])) for m in _SPOKEN.finditer(clean)]
    places.extend((at, number) for at, number in spoken if 1 <= number <= sources)
    return Marks(
        text=_SPOKEN.sub(name, clean),
        places=tuple(sorted(dict.fromkeys(places))),
        outside=tuple(outside),
        removed=removed,
        seen=frozenset(number for _, number in places),
    )


def _expand_numbers(inner: str) -> list[int]:
    """Return the numbers of one mark; ``1-3`` is a range where it is short and rises."""
    numbers: list[int] = []
    for match in re.finditer(r"(\d+)(?:\s*[–—-]\s*(\d+))?", inner):
        first, last = int(match[1]), int(match[2] or match[1])
        whole = range(first, last + 1) if first <= last <= first + 20 else (first, last)
        numbers.extend(whole)
    return list(dict.fromkeys(numbers))
