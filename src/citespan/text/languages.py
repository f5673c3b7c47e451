"""Which language a text is in: by its script first, then its function words, then a classifier.

A script settles most languages outside Europe without a model. For Latin text the commonest
function words settle nearly every sentence in microseconds; only what they leave open is asked of
``py3langid`` (which takes a second to load, so a question rarely pays for it).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Sequence
from functools import lru_cache
from typing import Any

import regex

from citespan.text.function_words import FUNCTION_WORDS

SAMPLE = 20_000
"""Characters looked at; a longer text is sampled evenly."""

_SCRIPTS: dict[str, str] = {
    "latin": r"\p{Latin}",
    "cyrillic": r"\p{Cyrillic}",
    "han": r"\p{Han}",
    "kana": r"[\p{Hiragana}\p{Katakana}]",
    "ko": r"\p{Hangul}",
    "arabic": r"\p{Arabic}",
    "he": r"\p{Hebrew}",
    "el": r"\p{Greek}",
    "th": r"\p{Thai}",
    "hi": r"\p{Devanagari}",
    "bn": r"\p{Bengali}",
    "ta": r"\p{Tamil}",
    "te": r"\p{Telugu}",
    "kn": r"\p{Kannada}",
    "ml": r"\p{Malayalam}",
    "gu": r"\p{Gujarati}",
    "pa": r"\p{Gurmukhi}",
    "si": r"\p{Sinhala}",
    "hy": r"\p{Armenian}",
    "ka": r"\p{Georgian}",
    "am": r"\p{Ethiopic}",
    "km": r"\p{Khmer}",
    "lo": r"\p{Lao}",
    "my": r"\p{Myanmar}",
    "bo": r"\p{Tibetan}",
}
_COUNTERS = {name: regex.compile(f"(?V1)[{body}&&\\p{{L}}]") for name, body in _SCRIPTS.items()}
# A Chinese, Japanese or Korean character carries about as much as a syllable or a short word.
_WEIGHTS = {"han": 3.0, "kana": 2.0, "ko": 2.0}
# A text in another script that quotes much Latin (code, names) is still in that script's language.
_FOREIGN_SHARE = 0.25

_VOTES: dict[str, tuple[str, ...]] = {}
for _language, _words in FUNCTION_WORDS.items():
    for _word in _words:
        _VOTES[_word] = (*_VOTES.get(_word, ()), _language)

_LATIN = (
    *(FUNCTION_WORDS.keys() - {"ru", "ar"}),
    "ca",
    "et",
    "lt",
    "lv",
    "hr",
    "sk",
    "sl",
    "eu",
    "ga",
    "sw",
    "la",
    "eo",
    "sq",
)
_CYRILLIC_LETTERS = (
    ("ў", "be"), ("їєґ", "uk"), ("ђћ", "sr"), ("ѓќѕ", "mk"), ("әғқңұһ", "kk"),
)  # fmt: skip
_CYRILLIC = ("ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "mn")
_ARABIC = ("ar", "fa", "ur")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’]\p{L}+)?")


def detect_language(text: str, default: str = "") -> str:
    """Return the text's main language as an ISO 639-1 code.

    ``default`` is returned where the text is too short to tell, ``""`` where it has no letters.

    Examples
    --------
    >>> [detect_language(t) for t in ("Where is it?", "Где ключ?", "钥匙在哪里？", "鍵はどこ？")]
    ['en', 'ru', 'zh', 'ja']
    >>> detect_language("404"), detect_language("OK", default="en")
    ('', 'en')
    """
    sample = _take_sample(text)
    weights = {
        name: len(counter.findall(sample)) * _WEIGHTS.get(name, 1.0)
        for name, counter in _COUNTERS.items()
    }
    total = sum(weights.values())
    if not total:
        return ""
    weights["han"] += weights["kana"]
    foreign = {name: w for name, w in weights.items() if name not in ("latin", "kana")}
    script = max(foreign, key=lambda name: foreign[name])
    if foreign[script] < _FOREIGN_SHARE * total:
        return _detect_latin(sample, default)
    if script == "han":
        return "ja" if weights["kana"] > 0.1 * weights["han"] else "zh"
    if script == "cyrillic":
        return _detect_cyrillic(sample)
    if script == "arabic":
        return "ar" if not regex.search("[پچژگکیٹڈںے]", sample) else _classify(sample, _ARABIC)[0]
    return script


def _take_sample(text: str) -> str:
    """Return at most SAMPLE characters, in ten slices spread evenly over the text."""
    if len(text) <= SAMPLE:
        return text
    size, step = SAMPLE // 10, len(text) // 10
    return " ".join(text[i * step : i * step + size] for i in range(10))


def count_votes(words: Sequence[str]) -> list[tuple[str, float]]:
    """Return the languages whose function words are among the casefolded words, most votes first.

    A word that one language alone has counts 1, one that five share counts a fifth for each.

    >>> count_votes(["wo", "ist", "das", "in"])[0]
    ('de', 2.5)
    """
    votes: dict[str, float] = defaultdict(float)
    for word in words:
        holders = _VOTES.get(word.replace("’", "'"), ())
        for language in holders:
            votes[language] += 1.0 / len(holders)
    return sorted(votes.items(), key=lambda item: (-item[1], item[0]))


def _detect_latin(sample: str, default: str) -> str:
    words = [word.casefold() for word in _WORD.findall(sample)]
    ranked = [*count_votes(words), ("", 0.0), ("", 0.0)]
    (first, most), (_, second) = ranked[:2]
    if most >= max(1.0, 0.06 * len(words)) and most >= 1.5 * second:
        return first
    language, probability = _classify(sample, _LATIN)
    # Below some twenty letters the classifier guesses: Breton for "Hello", Afrikaans for "OK".
    letters = sum(map(len, words))
    if probability >= 0.9 and letters >= 20:
        return language
    if most >= 0.5 and most > second:
        return first
    return language if probability >= 0.8 and letters >= 12 else default


def _detect_cyrillic(sample: str) -> str:
    lower = sample.lower()
    for letters, language in (
        ("ў", "be"),
        ("їєґ", "uk"),
        ("ђћ", "sr"),
        ("ѓќѕ", "mk"),
        ("әғқңұһ", "kk"),
    ):
        # A quoted foreign word may hold such a letter; the language itself holds many.
        if sum(map(lower.count, letters)) > 0.004 * len(lower):
            return language
    if any(letter in lower for letter in "ыэё"):
        return "ru"
    if "і" in lower:
        return "uk"
    # Short Russian without ы, э, ё is common; Bulgarian shows itself by ъ inside its words.
    words = set(_WORD.findall(lower))
    if regex.search(r"\p{Cyrillic}ъ[^еёюя\W]", lower) or words & {"какво", "кога", "със", "това"}:
        return _classify(sample, _CYRILLIC)[0]
    if len(lower) < 40:
        return "ru"
    language, probability = _classify(sample, _CYRILLIC)
    return language if probability >= 0.9 else "ru"


@lru_cache(maxsize=1)
def _load_classifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)


def _classify(sample: str, languages: Container[str]) -> tuple[str, float]:
    """Return the likeliest of ``languages`` and its probability among them."""
    scores = {code: float(s) for code, s in _load_classifier().rank(sample) if code in languages}
    best = max(scores, key=lambda code: scores[code])
    return best, 1.0 / sum(math.exp(max(-700.0, s - scores[best])) for s in scores.values())
