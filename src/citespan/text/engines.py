"""Engines that say where sentences end within a block of text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import regex

from citespan.errors import InputError, MissingExtraError, ModelError

Cutter = Callable[[str, str], list[int]]
"""``cutter(text, language)`` returns the offsets at which sentences end, rising."""

# Chinese and Japanese mark their sentence ends; a run of marks and what closes is one end.
_MARKS = regex.compile(
    r"(?:[。！？!?｡؟۔।॥]+|[…⋯]{2,}|(?<=[^\d\s.\p{Lu}])\.(?=\s))[”’」』）】》〉)\]\"']*"
)

_BY_LANGUAGE = {"zh": "marks", "ja": "marks", "ru": "razdel"}


def get_cutter(engine: str = "", language: str = "") -> Cutter:
    """Return the engine of that name, or the language's own where the name is empty."""
    name = engine or _BY_LANGUAGE.get(language, "sentencex")
    if name not in ENGINES:
        raise InputError(
            f"no sentence engine {name!r}", fix=f"choose one of: {', '.join(sorted(ENGINES))}"
        )
    return ENGINES[name]


def cut_with_marks(text: str, language: str) -> list[int]:
    """Cut behind 。！？… and what closes behind them."""
    return [match.end() for match in _MARKS.finditer(text)]


def cut_with_sentencex(text: str, language: str) -> list[int]:
    """Cut where ``sentencex`` does."""
    from sentencex import get_sentence_boundaries

    return [b["end_index"] for b in get_sentence_boundaries(language or "en", text)]


def cut_with_razdel(text: str, language: str) -> list[int]:
    """Cut where ``razdel`` does (rules for Russian)."""
    try:
        from razdel import sentenize
    except ImportError:
        raise MissingExtraError("razdel") from None
    return [sentence.stop for sentence in sentenize(text)]


def cut_with_nltk(text: str, language: str) -> list[int]:
    """Cut where NLTK's Punkt model of the language does."""
    tokenizer = _load_punkt(language or "en")
    return [end for _, end in tokenizer.span_tokenize(text)]


def cut_with_spacy(text: str, language: str) -> list[int]:
    """Cut where spaCy's small model of the language does."""
    return [sentence.end_char for sentence in _load_spacy(language or "en")(text).sents]


_PUNKT = {
    "cs": "czech", "da": "danish", "nl": "dutch", "en": "english", "et": "estonian",
    "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "it": "italian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ru": "russian", "sl": "slovene",
    "es": "spanish", "sv": "swedish", "tr": "turkish",
}  # fmt: skip


@lru_cache(maxsize=4)
def _load_punkt(language: str) -> Any:
    try:
        from nltk.tokenize.punkt import PunktTokenizer
    except ImportError:
        raise MissingExtraError("nltk") from None
    if language not in _PUNKT:
        raise InputError(f"NLTK has no sentences for {language!r}", fix="choose another engine")
    try:
        return PunktTokenizer(_PUNKT[language])
    except LookupError:
        raise ModelError(
            "NLTK's punkt_tab data is absent", fix="run: python -m nltk.downloader punkt_tab"
        ) from None


@lru_cache(maxsize=4)
def _load_spacy(language: str) -> Any:
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spacy") from None
    name = f"{language}_core_{'web' if language in ('en', 'zh') else 'news'}_sm"
    try:
        return spacy.load(name, exclude=["ner", "lemmatizer"])
    except OSError:
        raise ModelError(
            f"spaCy's model {name} is absent", fix=f"run: python -m spacy download {name}"
        ) from None


ENGINES: dict[str, Cutter] = {
    "marks": cut_with_marks,
    "sentencex": cut_with_sentencex,
    "razdel": cut_with_razdel,
    "nltk": cut_with_nltk,
    "spacy": cut_with_spacy,
}
