# ruff: noqa: E501 (a pattern is easier to read on one line)
"""The facts of a sentence that can be checked by themselves: numbers, dates, names, negations."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from citespan.text import analyze_terms
from citespan.weights import FUNCTION_TERMS

_WORD_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100, "один": 1, "одна": 1, "одно": 1, "одного": 1, "одной": 1,
    "два": 2, "две": 2, "двух": 2, "двум": 2, "три": 3, "трёх": 3, "трех": 3, "четыре": 4,
    "четырёх": 4, "четырех": 4, "пять": 5, "пяти": 5, "шесть": 6, "шести": 6, "семь": 7,
    "семи": 7, "восемь": 8, "восьми": 8, "девять": 9, "девяти": 9, "десять": 10, "десяти": 10,
    "двенадцать": 12, "двенадцати": 12, "двадцать": 20, "двадцати": 20, "тридцать": 30,
    "тридцати": 30, "сорок": 40, "сорока": 40, "пятьдесят": 50, "сто": 100,
}  # fmt: skip
_TENS = "|".join(word for word, n in _WORD_NUMBERS.items() if 20 <= n < 100)
_ONES = "|".join(word for word, n in _WORD_NUMBERS.items() if n < 10)
_WORDED = re.compile(rf"\b(?:({_TENS})[- ]({_ONES})|({'|'.join(_WORD_NUMBERS)}))\b", re.I)
_MONTHS = (
    "jan янв", "feb фев", "mar мар", "apr апр", "may май", "jun июн", "jul июл", "aug авг",
    "sep сен", "oct окт", "nov ноя", "dec дек",
)  # fmt: skip
_MONTH = {name: i for i, names in enumerate(_MONTHS, start=1) for name in names.split()} | {
    "мая": 5
}
_MONTH_WORD = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|январ[яь]|феврал[яь]|марта?|апрел[яь]|ма[яй]|июн[яь]"
    r"|июл[яь]|августа?|сентябр[яь]|октябр[яь]|ноябр[яь]|декабр[яь])"
)
_ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_POWERS = {"十": 10, "百": 100, "千": 1000}
_ZH_UNIT = r"(?=[个年月日天周次人名位元块吨米度倍种条台件层级分秒小点岁楼座项部家支只份千百万亿])"
_ZH_NUMBER = re.compile(
    rf"[零〇一二两三四五六七八九十百千]+{_ZH_UNIT}|(?<=第)[一二三四五六七八九十百]+"
)

_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_.а-яёА-ЯЁ])(?:\d{1,3}(?:[,\u00a0\u202f'’ ]\d{3})+(?!\d)|\d+)(?:[.,]\d+)?|(?<=[A-Za-z\-])\d+|[½¼¾]"
)
_DATES = [
    (re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b"), "ymd"),
    (re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号])?"), "ymd"),
    (re.compile(r"(?<!年)()(?<!\d)(\d{1,2})\s*月\s*(\d{1,2})\s*[日号]"), "ymd"),
    (
        re.compile(
            rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_WORD})\b\.?,?(?:\s+(\d{{4}}))?",
            re.I,
        ),
        "dmy",
    ),
    (
        re.compile(
            rf"\b({_MONTH_WORD})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.I
        ),
        "mdy",
    ),
    (re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b"), "dmy"),
]
_UNITS = {
    "second": r"seconds?|secs?|секунд\w*|秒", "minute": r"minutes?|mins?|минут\w*|分钟",
    "hour": r"hours?|часа?|часов|小时", "day": r"days?|дн(?:я|ей)|день|сут\w+|天",
    "week": r"weeks?|недел\w+|周|星期", "month": r"months?|месяц\w*|个月",
    "year": r"years?|год[ау]?|лет|年(?!\s*\d)", "percent": r"%|percent|процент\w*",
    "km": r"km|kilomet\w+|км|公里|千米", "m": r"met(?:re|er)s?|метр\w*|米",
    "kg": r"kg|kilograms?|кг|公斤|千克", "dollar": r"dollars?|доллар\w*|美元",
    "euro": r"euros?|евро|欧元", "rouble": r"roubles?|rubles?|рубл\w+|卢布",
    "yuan": r"yuan|юан\w+|元", "litre": r"lit(?:re|er)s?|литр\w*|升",
}  # fmt: skip
_UNIT = re.compile(
    r"\s*[-\u00a0]?(?:"
    + "|".join(rf"(?P<{n}>(?:{p})(?![a-zа-я]))" for n, p in _UNITS.items())
    + ")",
    re.I,
)
_NAME = re.compile(r"[^\W\d_]*[A-ZА-ЯЁ][^\W_]*(?:[-'’.&][^\W_]+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|lacks?|unable|fails?"
    r"|не|ни|нет|нельзя|никогда|никто|ничего|без)\b|n['’]t\b"
    r"|(?<![无并])不(?!同|仅|但|断|过|只|少|久|论|管|锈)|没有?|无(?!论)|未(?!来)|(?<![分区级特性类])别(?=[用把在要])|非(?!常|洲)",
    re.I,
)
_CLAUSE = re.compile(
    r"[.,;:!?。，；：！？()（）\n]|\b(?:but|however|although|но|однако|а)\b|但", re.I
)


def read_numbers(text: str) -> dict[str, set[str]]:
    """Return the numbers of a text in one spelling, each with the units it stands with.

    Digits, and the small numbers that are written as words; ``1,000`` and ``1 000`` are 1000. A
    number without a unit that is known has an empty set.

    >>> read_numbers("Two years and 1,000 km, 3,5 %") == {
    ...     "2": {"year"}, "1000": {"km"}, "3.5": {"percent"}}
    True
    >>> read_numbers("保修期为二十四个月") == {"24": {"month"}}
    True
    """
    found: dict[str, set[str]] = {}

    def add(value: str, end: int) -> None:
        units = found.setdefault(value, set())
        unit = _UNIT.match(text, end)
        if unit is not None and unit.lastgroup:
            units.add(unit.lastgroup)

    text = unify_numbers(text)
    for match in _NUMBER.finditer(text):
        add(_write_number(match[0]), match.end())
    return found


def unify_numbers(text: str) -> str:
    """Return the text with the numbers that are written as words in digits.

    >>> unify_numbers("twenty-four pumps, 二十四个月, сорок два дня")
    '24 pumps, 24个月, 42 дня'
    """
    text = _WORDED.sub(lambda m: str(sum(_WORD_NUMBERS[w.lower()] for w in m.groups() if w)), text)
    return _ZH_NUMBER.sub(lambda m: str(_read_chinese(m[0])), text)


def _write_number(written: str) -> str:
    plain = re.sub(r"[\u00a0\u202f'’ ]", "", written)
    plain = re.sub(r",(?=\d{3}(?!\d))", "", plain).replace(",", ".")
    plain = {"½": "0.5", "¼": "0.25", "¾": "0.75"}.get(plain, plain)
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0" if "." not in plain else plain


def _read_chinese(written: str) -> int:
    total = digit = 0
    if not any(c in _ZH_POWERS for c in written):
        return int("".join(str(_ZH_DIGITS[c]) for c in written))
    for character in written:
        if character in _ZH_POWERS:
            total += (digit or 1) * _ZH_POWERS[character]
            digit = 0
        else:
            digit = _ZH_DIGITS[character]
    return total + digit


def read_dates(text: str) -> list[tuple[str, str, str]]:
    """Return the dates of a text as (year, month, day), ``""`` for what is not said.

    >>> read_dates("On 2 March 2021, then 2021-03-04; 2021年3月5日; May 6")
    [('2021', '3', '4'), ('2021', '3', '5'), ('2021', '3', '2'), ('', '5', '6')]
    """
    dates = []
    for pattern, order in _DATES:
        for match in pattern.finditer(text):
            parts = dict(zip(order, match.groups(default=""), strict=True))
            month = _MONTH.get(parts["m"][:3].lower(), parts["m"].lstrip("0"))
            dates.append((parts["y"], str(month), parts["d"].lstrip("0")))
    return dates


def miss_dates(
    claimed: Iterable[tuple[str, str, str]], held: Iterable[tuple[str, str, str]]
) -> list[str]:
    """Return the claimed dates that agree with none of the held ones, written as y-m-d."""
    known = list(held)
    return [
        "-".join(part for part in date if part)
        for date in claimed
        if not any(
            all(a == b or not a or not b for a, b in zip(date, other, strict=True))
            for other in known
        )
    ]


def read_names(sentence: str) -> list[str]:
    """Return the words that are names by their capitals; the sentence's first word never is.

    >>> read_names("The pump of Acme GmbH was sold to Anna Lee.")
    ['Acme', 'GmbH', 'Anna', 'Lee']
    """
    names = []
    for match in _NAME.finditer(sentence):
        before = sentence[: match.start()].rstrip("\"'«“„(*_-• ")
        starts = not before or before[-1] in ".!?:;。！？\n"
        inner = any(c.isupper() for c in match[0][1:]) and len(match[0]) > 1
        if (not starts or inner) and len(match[0]) > 1:
            names.append(match[0])
    return list(dict.fromkeys(names))


@lru_cache(maxsize=4096)
def read_negations(text: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms that stand under a negation, and those that do not.

    A negation reaches over the next three terms that are no function words, within its clause.

    >>> read_negations("It covers parts but not labour.", "en")[0]
    frozenset({'labour'})
    """
    under: set[str] = set()
    rest: set[str] = set()
    last = 0
    for match in _NEGATION.finditer(text):
        end = _CLAUSE.search(text, match.end())
        clause = text[match.end() : end.start() if end else len(text)]
        ideographic = match[0] >= "\u3000"
        reach = analyze_terms(clause[:4] if ideographic else clause, language)
        reached = [term for term in reach if term not in FUNCTION_TERMS][:3]
        under.update(reached)
        rest.update(analyze_terms(text[last : match.start()], language))
        last = match.end()
    rest.update(set(analyze_terms(text[last:], language)) - under)
    return frozenset(under), frozenset(rest - FUNCTION_TERMS)
