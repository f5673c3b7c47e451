"""Tokens, and the terms that each of them stands for."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import regex

from citespan.text.normalize import fold_letters

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}ー々〆\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_CHAR = rf"[\w--[{_DENSE}]]"

TOKEN = regex.compile(
    rf"(?V1)[{_DENSE}]+"
    # Words, and what joins them into one name: foo.bar, well-known, it's, a+b@c.org, 1,234.
    rf"|(?=[\p{{L}}\p{{N}}_]){_CHAR}+(?:(?:[.'@\-]|[+&](?=\w)|::|->|(?<=\d),(?=\d)){_CHAR}+)*"
    # C++, C#, F#: the sign is the name.
    r"(?:\+\+|\#(?!\w))?"
)
_SPLIT = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
_CAMEL = regex.compile(
    r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}\p{Lo}\p{Lm}]+|\p{Lu}+|\p{Lt}[\p{Ll}\p{M}]*|\p{N}+"
)
_POINTED = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")
_COMMAED = regex.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+")
_COMMA_LANGUAGES = frozenset(
    "de es fr it pt nl sv da no fi pl cs ro hu tr id vi ru uk be bg sr".split()  # noqa: SIM905
)
# Hyphens between plain words make no name: measured, the whole adds nothing to its parts.
_HYPHENED = regex.compile(r"\p{Lu}?\p{Ll}+(?:-\p{Lu}?\p{Ll}+)+")
_POSSESSIVE = regex.compile(r"'s?$")

_LATIN = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
    "pt": "portuguese", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian",
    "fi": "finnish", "ro": "romanian", "hu": "hungarian", "tr": "turkish", "ca": "catalan",
    "eu": "basque", "ga": "irish", "id": "indonesian", "lt": "lithuanian", "et": "estonian",
    "eo": "esperanto", "pl": "polish", "cs": "czech",
}  # fmt: skip
_CYRILLIC = {"ru": "russian", "sr": "serbian"}
_NO_STEMS = frozenset(["uk", "be", "bg", "mk", "kk", "ky", "mn"])
_OTHER = {
    "el": "greek",
    "hi": "hindi",
    "ne": "nepali",
    "ta": "tamil",
    "hy": "armenian",
    "yi": "yiddish",
}


def expand_token(token: str, language: str) -> tuple[str, ...]:
    """Return the terms of one token: the token itself and, of a compound, its parts.

    Examples
    --------
    >>> expand_token("array_push", "en"), expand_token("fooBar", "en")
    (('array_push', 'array', 'push'), ('foobar', 'foo', 'bar'))
    >>> expand_token("v2.3.1", "en"), expand_token("1,234.5", "en")
    (('v2.3.1', 'v', '2', '3', '1'), ('1234.5',))
    """
    first = token[0]
    if first > "\u0dff" and _is_dense(first):
        return _make_bigrams(token)
    if first.isdigit() and (number := _read_number(token, language)):
        return (number,)
    token = _POSSESSIVE.sub("", token) or token
    if token.isalpha() and (token.islower() or token[1:].islower() or token.isupper()):
        return (stem_word(token.casefold(), language),)
    parts = [
        word
        for piece in _SPLIT.split(token)
        if piece
        for word in (_CAMEL.findall(piece) if not piece.isdigit() else [piece])
    ]
    return tuple(_name_compound(token, parts, language))


def _name_compound(token: str, parts: list[str], language: str) -> list[str]:
    whole = fold_letters(token.casefold().strip("_'"))
    stems = [stem_word(part.casefold(), language) for part in parts]
    if token[-1] in "+#":
        return [whole, *stems]
    if len(parts) <= 1:
        return stems or ([whole] if whole else [])
    if _HYPHENED.fullmatch(token):
        return stems
    return [whole, *stems]


def stem_word(word: str, language: str) -> str:
    """Return the folded Snowball stem of a casefolded word.

    >>> stem_word("книгами", ""), stem_word("häuser", "de"), stem_word("leaves", "en")
    ('книг', 'haus', 'leav')
    """
    algorithm = _choose_stemmer(word[0], language)
    stem = _load_stemmer(algorithm).stemWord(_prepare(word)) if algorithm else word
    return fold_letters(stem) or fold_letters(word)


def _prepare(word: str) -> str:
    return word.replace("ё", "е") if "\u0400" <= word[0] <= "\u052f" else word


def _choose_stemmer(letter: str, language: str) -> str:
    if letter < "\u0250" or "\u1e00" <= letter < "\u1f00":
        if not letter.isalpha():
            return ""
        # A Latin word within Russian or Chinese text is most often English.
        return _LATIN.get(language, "" if language in _UNSTEMMED_LATIN else "english")
    if "\u0400" <= letter <= "\u052f":
        return "" if language in _NO_STEMS else _CYRILLIC.get(language, "russian")
    if "\u0600" <= letter <= "\u06ff":
        return {"fa": "persian", "ur": ""}.get(language, "arabic")
    return _OTHER.get(language, "greek" if "\u0370" <= letter < "\u0400" else "")


_UNSTEMMED_LATIN = frozenset(["vi", "sk", "sl", "hr", "lv", "sw", "la", "sq"])


@lru_cache(maxsize=32)
def _load_stemmer(algorithm: str) -> Any:
    import Stemmer

    # Our own memory of tokens stands before it.
    return Stemmer.Stemmer(algorithm, 0)


_DENSE_CHAR = regex.compile(rf"(?V1)[{_DENSE}]")
_CLUSTER = regex.compile(r"\X")


def _is_dense(char: str) -> bool:
    return _DENSE_CHAR.match(char) is not None


def _make_bigrams(run: str) -> tuple[str, ...]:
    """Return the run's pairs of characters, then its single ones (measured: better than pairs)."""
    units = _CLUSTER.findall(run) if _has_clusters(run) else list(run)
    return (*(a + b for a, b in pairwise(units)), *units)


def _has_clusters(run: str) -> bool:
    """Whether characters may consist of several code points (Thai, Lao, Khmer, Burmese, Jamo)."""
    return run[0] < "\u1200" or "\u1780" <= run[0] <= "\u17ff"


def _read_number(token: str, language: str) -> str:
    """Return a number without its thousands marks and with a decimal point, or ``""``."""
    if language in _COMMA_LANGUAGES and _COMMAED.fullmatch(token):
        return token.replace(".", "").replace(",", ".")
    if _POINTED.fullmatch(token):
        return token.replace(",", "")
    return token if token.isdecimal() else ""
