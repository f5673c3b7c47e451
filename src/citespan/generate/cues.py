# ruff: noqa: E501 (a pattern is easier to read on one line)
"""What kind of thing a question asks for, and whether a sentence holds one.

"How long is the warranty?" is answered by the sentence with a duration in it, whatever else its
neighbours say about warranties.
"""

from __future__ import annotations

import re

_ASKED = [
    (
        "duration",
        r"how long|what (?:is the )?(?:duration|period|term)\b|how many (?:seconds|minutes|hours|days"
        r"|weeks|months|years)|как долго|сколько (?:времени|секунд|минут|час|дн|недел|месяц|лет)"
        r"|как(?:ой|ов) срок|на какой срок|多久|多长时间|有多长|几年|几天|几个月|几小时|期限",
    ),
    (
        "number",
        r"how (?:many|much|often|old|far|high|tall|deep|wide|large|big|fast|heavy|hot|cold)"
        r"|what (?:number|percent\w*|share|proportion|size|price|cost|temperature|voltage|speed"
        r"|amount|rate|pressure)|сколько|какова? (?:цена|стоимость|температура|доля|скорость)"
        r"|какой процент|多少|几[个次人名位种条]|多[高大远快重深宽]|第几",
    ),
    (
        "time",
        r"\bwhen\b|(?:what|which|in what|by what) (?:year|date|day|month|century|decade|time)"
        r"|когда|в каком (?:году|месяце|веке)|какого числа|何时|什么时候|什么时间|哪一?[年天日月]|几[月点]",
    ),
    ("person", r"\bwho(?:m|se)?\b|\bкто\b|\bкому\b|\bкем\b|\bкого\b|谁|哪[位个名]人"),
    (
        "place",
        r"\bwhere\b|(?:what|which) (?:city|country|place|state|town|room|building)"
        r"|\bгде\b|\bкуда\b|\bоткуда\b|в как(?:ом|ой) (?:городе|стране|месте)|哪里|何处|在哪|什么地方|哪个(?:城市|国家)",
    ),
    ("reason", r"\bwhy\b|what (?:is the )?(?:reason|cause)|почему|зачем|отчего|为什么|为何|原因"),
]
_ASKED_FOR = [(kind, re.compile(pattern, re.I)) for kind, pattern in _ASKED]

_NUMBER_WORDS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty"
    r"|fifty|hundred|thousand|million|billion|half|once|twice|dozen|первый|один|одна|одну|два|две"
    r"|двух|три|трёх|трех|четыре\w*|пять|пяти|шесть|семь|восемь|девять|десят\w*|сто|тысяч\w*"
    r"|миллион\w*|дважды)\b|[一二三四五六七八九十百千万亿两半]"
)
_UNITS = (
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)"
    r"|секунд\w*|минут\w*|час\w*|дн\w+|день|сут\w+|недел\w*|месяц\w*|год\w*|лет|[天日周年月秒]|个月"
    r"|小时|分钟|星期|世纪)"
)
_HELD = {
    "duration": rf"(?:\d|{_NUMBER_WORDS})[\s\-\u00a0]*(?:\w+[\s\-]+)?{_UNITS}",
    "number": rf"\d|{_NUMBER_WORDS}",
    "time": r"\b[12]\d{3}\b|\d{1,2}[:.]\d\d|\d+\s*[年月日世点]|\b(?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|century|decade|midnight|noon|январ\w*|феврал\w*|март\w*|апрел\w*|ма[яй]|июн\w*|июл\w*"
    r"|август\w*|сентябр\w*|октябр\w*|ноябр\w*|декабр\w*|век\w*|понедельник\w*|вторник\w*|сред[аыу]"
    r"|четверг\w*|пятниц\w*|суббот\w*|воскресень\w*)\b|星期|周[一二三四五六日]",
    "person": r"(?<=[^\W\d_,;:] )[A-ZА-ЯЁ]\w+(?:\s+[A-ZА-ЯЁ]\w+)?|^[A-Z]\w+ [A-Z]\w+|·|[先女]生|经理|博士|教授|主任",
    "place": r"\b(?:in|at|on|near|from|to|inside|outside)\s+(?:the\s+)?[A-Z]\w+"
    r"|\b(?:в|на|из|под|около|у)\s+[А-ЯЁ]\w+|位于|在[^，。]{1,12}[市省国州区县镇村楼室厅内上下里旁]",
    "reason": r"\b(?:because|due to|since|so that|in order|therefore|as a result|caused by|reason)\b"
    r"|потому|из-за|поэтому|так как|чтобы|вследствие|причин|因为|由于|所以|因此|以便|原因|为了",
}
_HOLDS = {
    kind: re.compile(pattern, re.I if kind not in ("person", "place") else 0)
    for kind, pattern in _HELD.items()
}


def detect_kind(question: str) -> str:
    """Return ``duration``, ``number``, ``time``, ``person``, ``place``, ``reason`` or ``""``.

    >>> [detect_kind(q) for q in ("How long is the warranty?", "Кто звонил?", "为什么停机？", "Is it?")]
    ['duration', 'person', 'reason', '']
    """
    found = [
        (m.start(), i, kind) for i, (kind, p) in enumerate(_ASKED_FOR) if (m := p.search(question))
    ]
    return min(found)[2] if found else ""


def holds_kind(kind: str, sentence: str, question: str = "") -> bool:
    """Tell whether a sentence holds such a thing, other than what the question names itself.

    >>> holds_kind("duration", "The warranty lasts 24 months."), holds_kind("duration", "It lasts.")
    (True, False)
    >>> holds_kind("number", "In 2020 it rained.", "How many days did it rain in 2020?")
    False
    """
    pattern = _HOLDS.get(kind)
    if pattern is None:
        return False
    known = question.casefold()
    return any(
        m[0].strip().casefold() not in known or _is_ideogram(m[0]) for m in _find(pattern, sentence)
    )


def _find(pattern: re.Pattern[str], sentence: str) -> list[re.Match[str]]:
    # A number is compared whole: "2" is no news where the question says 2020, "20201" is.
    if pattern is _HOLDS["number"]:
        pattern = _WHOLE_NUMBER
    return list(pattern.finditer(sentence))


_WHOLE_NUMBER = re.compile(rf"\d[\d.,\u00a0 ]*\d|\d|{_NUMBER_WORDS}", re.I)


def _is_ideogram(text: str) -> bool:
    return len(text) == 1 and text >= "\u3000"
