# ruff: noqa: E501 (a pattern is easier to read on one line)
"""Recognise "I don't know" in whatever words, in the languages that people ask in."""

from __future__ import annotations

import re

_PLACE = (
    r"(?:sources?|context|documents?|passages?|texts?|excerpts?|information|materials?|content"
    r"|references?|snippets?)"
)
_DONE = r"(?:found|mentioned|provided|specified|stated|contained|given|included|available|present|discussed|addressed|described|covered|indicated|listed|clear)"
_PATTERNS = [
    # English
    r"\bI (?:do not|don['’]t|cannot|can['’]t|could not|couldn['’]t|am unable to|am not able to) "
    r"(?:know|find|answer|determine|say|tell|see|have (?:enough|sufficient|any|the))",
    rf"\bnot (?:\w+ ){{0,3}}{_DONE}\b[^.]{{0,40}}\b(?:in|by|from|within)\b[^.]{{0,40}}\b{_PLACE}\b",
    rf"\b{_PLACE}\b[^.]{{0,40}}\b(?:do|does|did)(?: not|n['’]t) "
    r"(?:\w+ ){0,2}(?:contain|mention|say|provide|include|state|specify|have|give|answer|address|discuss|describe|indicate|cover)",
    r"\b(?:no|insufficient|not enough) (?:\w+ ){0,3}(?:information|answer|mention|evidence|data|details?)\b"
    r"(?:[^.]{0,60}\b(?:in|from|to|about|on|is|was|are|provided|available|found)\b|\s*[.!]?$)",
    r"\b(?:cannot|can['’]t|could not|unable to|impossible to) (?:be )?"
    r"(?:answer(?:ed)?|determine[d]?|find|found|say)\b",
    rf"\b(?:answer|information)\b[^.]{{0,30}}\b(?:is|was|are|could)(?: not|n['’]t) (?:be )?(?:\w+ )?{_DONE}",
    r"^(?:sorry,? )?(?:the answer (?:is|was) )?not (?:found|mentioned|specified|provided|known)\b[^.]{0,60}[.!]?$",
    r"^(?:unknown|unanswerable|no answer|n/a|none)[.!]?$",
    r"\bbeyond the scope of\b",
    # Russian
    r"(?:я )?не (?:знаю|могу (?:ответить|найти|определить|сказать)|нашёл|нашел|нашла|удалось найти)",
    r"(?:ответ\w*|информаци\w*|сведени\w*|данн\w*|упоминани\w*)[^.]{0,60}(?:не (?:найден\w*|указан\w*|содерж\w+"
    r"|привод\w+|упомина\w+|обнаружен\w*)|отсутству\w+|\bнет\b)",
    r"(?:источник\w*|документ\w*|текст\w*|контекст\w*)[^.]{0,40}(?:не (?:содерж\w+|упомина\w+|сообща\w+"
    r"|указ\w+|говор\w+)|\bнет\b[^.]{0,20}(?:ответ|информац|сведени|данн))",
    r"не (?:содерж\w+|упомина\w+|указан\w*|говорится|сказано|сообщается)[^.]{0,60}(?:источник|документ|текст|контекст)",
    r"(?:источник\w*|документ\w*|текст\w*|контекст\w*)[^.]{0,40}не (?:сказано|говорится|указано|найден\w*)",
    r"(?:недостаточно|нет) (?:\w+ )?(?:информации|данных|сведений|ответа)",
    # Chinese
    r"(?:我)?(?:不知道|不清楚|无法(?:回答|确定|得知|找到|判断)|不能(?:回答|确定))",
    r"(?:没有|未(?:能)?|并未|没)(?:找到|提到|提及|提供|说明|包含|给出|涉及|指出|记载)[^。]{0,20}(?:答案|信息|内容|相关|资料)?",
    r"(?:找不到|查不到|缺乏|缺少|信息不足|没有足够)[^。]{0,20}",
    # Others
    r"\b(?:ich weiß (?:es )?nicht|nicht (?:gefunden|erwähnt|angegeben|enthalten)|keine (?:Informationen|Angaben|Antwort))\b",
    r"\b(?:je ne sais pas|pas (?:trouvé|mentionn|d['’]information)|ne (?:contien|mentionn|précis)\w+ pas)",
    r"\bno (?:lo )?(?:sé|se (?:menciona|encuentra|especifica|indica)|hay información|contienen?)\b",
    r"\bnão (?:sei|há informaç|foi encontrad|mencionam?)",
    r"\bnon (?:lo so|è (?:menzionat|specificat|indicat)|ci sono informazioni)",
]
_REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.I)


def is_refusal(sentence: str) -> bool:
    """Tell whether a sentence says that the answer was not found.

    >>> [is_refusal(s) for s in ("The sources do not mention a price.", "Ответ не найден.",
    ...     "文中没有提到价格。", "The warranty is not valid in Norway.")]
    [True, True, True, False]
    """
    plain = " ".join(sentence.split())
    return len(plain) < 400 and _REFUSAL.search(plain) is not None
