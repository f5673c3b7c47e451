"""Which language a text is in: by its script first, then its function words, then a classifier.

A script settles most languages outside Europe without a model. For Latin text the commonest
function words settle nearly every sentence in microseconds; only what they leave open is asked of
``py3langid`` (which takes a second to load, so a question rarely pays for it).
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from typing import Any

import regex

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

# The commonest function words; those that several languages share decide by their company.
_WORDS: dict[str, str] = {
    "en": "the of and to in is that it for was on are with as at be this have from or by not what "
    "which how when who does do can i you your we my there where why an if will has did "
    "about",
    "de": "der die das und ist nicht ein eine einen einer zu den dem des mit von auf für im wie "
    "was wer wann wo welche welcher welches sich auch es war sind werden wurde oder ich sie "
    "wir kann bei",
    "fr": "le la les de des du et est un une dans que qui pour pas sur au aux avec ce cette il "
    "elle en par plus quel quelle comment où quand je vous nous son sa ses sont été ou "
    "c'est l'on",
    "es": "el la los las de del que y en un una es por con para no se al lo como su más qué cómo "
    "cuándo cuál quién dónde fue son este esta pero sus le cuántos cuántas hay está o yo",
    "it": "il lo la gli le di del della dei delle che e è un una in per con non si al alla come "
    "da nel nella sono chi cosa quando dove quale quali questo questa anche più ha perché "
    "mi",
    "pt": "o a os as de do da dos das que e em um uma no na nos nas é por com para não se ao como "
    "mais foi são qual quem quando onde seu sua está este esta ou eu você pelo pela",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij naar wat "
    "wie wanneer waar welke hoe werd door uit maar wordt deze dit ik je wij kan heeft "
    "worden over",
    "sv": "och att det som en på är av för med den till inte ett om har de jag var kan vad hur "
    "när vem vilken från men eller sig där ska skall efter vid också",
    "da": "og at det som en på er af for med den til ikke et om har de jeg var kan hvad hvordan "
    "hvornår hvem hvilken fra men eller sig der skal efter ved også blev",
    "no": "og at det som en på er av for med den til ikke et om har de jeg var kan hva hvordan "
    "når hvem hvilken fra men eller seg der skal etter ved også ble",
    "fi": "ja on ei se että oli mutta kun mitä mikä missä kuka miten milloin ovat olla hän minä "
    "sinä jos myös tai kuin niin joka jotka tämä ole ovatko onko",
    "pl": "i w na nie się z do jest to że jak o co po za od dla przez czy kto gdzie kiedy który "
    "która które są był była było tego jego ale lub jaki jakie",
    "cs": "a v na se je to že s z do o i jako ve by pro za od který která které jsou byl byla "
    "bylo co kdo kde kdy jak ale nebo tak při již",
    "ro": "și în de la a cu este pe un o să nu din care ce mai pentru sunt fost cum când unde "
    "cine sau dar prin ale al ai au lui",
    "hu": "a az és hogy nem is egy van volt ez meg csak már mi ki hol mikor hogyan melyik de vagy "
    "mint meg kell lehet el ha",
    "tr": "ve bir bu da de için ile ne çok olarak daha gibi kadar ki mi nasıl nerede kim hangi "
    "var olan oldu sonra en değil ama veya",
    "id": "yang dan di ini itu dengan untuk tidak dari dalam adalah pada akan juga ke oleh atau "
    "apa bagaimana kapan siapa mana dapat saya bisa ada sebagai",
    "vi": "và của là có không được trong cho một các những với này đã người ở như khi gì nào thế "
    "ai từ để về hay hoặc",
}
_VOTES: dict[str, tuple[str, ...]] = {}
for _language, _list in _WORDS.items():
    for _word in set(_list.split()):
        _VOTES[_word] = (*_VOTES.get(_word, ()), _language)

_LATIN = (*_WORDS, "ca", "et", "lt", "lv", "hr", "sk", "sl", "eu", "ga", "sw", "la", "eo", "sq")
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


def _detect_latin(sample: str, default: str) -> str:
    words = [word.casefold() for word in _WORD.findall(sample)]
    votes: dict[str, float] = defaultdict(float)
    for word in words:
        holders = _VOTES.get(word.replace("’", "'"), ())
        for language in holders:
            # A word that one language alone has tells more than one that five share.
            votes[language] += 1.0 / len(holders)
    ranked = sorted(votes.items(), key=lambda item: -item[1])[:2]
    second = ranked[1][1] if len(ranked) > 1 else 0
    if ranked and ranked[0][1] >= max(1.0, 0.06 * len(words)) and ranked[0][1] >= 1.5 * second:
        return ranked[0][0]
    language, probability = _classify(sample, _LATIN)
    # Below some twenty letters the classifier guesses: Breton for "Hello", Afrikaans for "OK".
    letters = sum(map(len, words))
    if probability >= 0.9 and letters >= 20:
        return language
    if ranked and ranked[0][1] >= 0.5 and ranked[0][1] > second:
        return ranked[0][0]
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


def _classify(sample: str, languages: tuple[str, ...]) -> tuple[str, float]:
    """Return the likeliest of ``languages`` and its probability among them."""
    scores = {code: float(s) for code, s in _load_classifier().rank(sample) if code in languages}
    best = max(scores, key=lambda code: scores[code])
    return best, 1.0 / sum(math.exp(max(-700.0, s - scores[best])) for s in scores.values())
