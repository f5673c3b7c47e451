"""Folding: spellings that differ only in form become one."""

from __future__ import annotations

import unicodedata

import regex

# Stress marks and Arabic vowel signs are written for learners, tatweel for looks; format characters
# (soft hyphens, joiners, marks of direction) and selectors of a glyph's form are not seen at all.
_SILENT = regex.compile(
    r"(?<=\p{Cyrillic})[\u0300\u0301]|[\u064b-\u065f\u0670\u0640\u034f\ufe00-\ufe0f\p{Cf}]"
)
_GROUPED = regex.compile(r"(?<=\d)[\u00a0\u202f\u2009'’](?=\d{3}(?!\d))")
_QUOTES = str.maketrans({"’": "'", "ʼ": "'", "‐": "-", "‑": "-", "−": "-"})
_ARABIC = str.maketrans("أإآٱىةیک", "ااااىهىك".replace("ى", "ي"))
_SPECIAL = str.maketrans(
    dict(zip("ßæœøđłıþð", ["ss", "ae", "oe", "o", "d", "l", "i", "th", "d"], strict=True))
)


def fold_text(text: str) -> str:
    """Return the text in NFKC, without silent signs and spaces inside numbers; case is kept.

    Lengths change: the result is for terms, never for spans.

    >>> fold_text("ＰＨＰ ﬁne 1 234")
    'PHP fine 1 234'
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _GROUPED.sub("", text))
    spoken: str = _SILENT.sub("", text)
    return spoken.translate(_QUOTES)


def fold_letters(word: str) -> str:
    """Return a casefolded word without diacritics, ё as е, Arabic letter forms as one.

    >>> [fold_letters(w) for w in ("naïve", "ёлка", "йод", "straße", "أحمد")]
    ['naive', 'елка', 'йод', 'strasse', 'احمد']
    """
    if word.isascii():
        return word
    if "\u0400" <= word[0] <= "\u052f":
        return word.replace("ё", "е")
    if "\u0600" <= word[0] <= "\u06ff":
        return word.translate(_ARABIC)
    if word[0] < "\u0370" or "\u1e00" <= word[0] < "\u2000" or "\u0370" <= word[0] < "\u0400":
        parts = unicodedata.normalize("NFD", word.translate(_SPECIAL))
        return "".join(c for c in parts if not unicodedata.combining(c))
    return word
