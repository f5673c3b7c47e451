"""What a term is worth: its rarity in a collection, or whether it is a function word."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from citespan.text import analyze_terms

Weigh = Callable[[str], float]
"""A term's weight, above 0."""

_FUNCTION_WORDS = {
    "en": "a an the of and or to in is are was were be been being it its this that these those for "
    "on with as at by from not no what which who whom whose how when where why do does did done "
    "has have had can could will would shall should may might must i you he she we they my your "
    "our their his her there here than then so if but about into over under up out any some s t "
    "much many long name called also only such per each both during between after before while",
    "ru": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только "
    "ее мне было вот от меня еще нет о из ему когда даже ну ли если уже или ни быть был была были "
    "него до вас нибудь опять уж вам сказал ведь там потом себя ничего ей может они тут где есть "
    "надо ней для мы тебя их чем сам чтоб без будто кто этот эта это эти того какой какая какие "
    "какое какого каких каким сколько почему зачем который которая которое которые при под над "
    "об является являются",
    "zh": "的 了 是 在 和 与 有 什么 么时 时候 多少 少个 哪个 哪里 哪些 些是 是什 什麽 如何 怎么 "
    "为什 么是 是多 是谁 谁是 哪一 一个 个是 是否 吗 呢 多长 多久 几个 的是 是哪 有多 有什 有几 "
    "有哪",
}
FUNCTION_TERMS = frozenset(
    term
    for language, words in _FUNCTION_WORDS.items()
    for word in words.split()
    for term in analyze_terms(word, language)
)


def plain_weight(term: str) -> float:
    """Return 1, or 0.1 for a function word of English, Russian or Chinese.

    >>> [plain_weight(term) for term in analyze_terms("Where is the pump", "en")]
    [0.1, 0.1, 0.1, 1.0]
    """
    return 0.1 if term in FUNCTION_TERMS else 1.0


def idf_weight(chunks: int, frequencies: Mapping[str, int]) -> Weigh:
    """Return the function that gives each term its inverse document frequency.

    The form is BM25's, ``ln(1 + (N - n + 0.5) / (n + 0.5))`` (Robertson and Zaragoza 2009, with
    the 1 that keeps it above 0); a function word's is cut to a tenth of it, since a small
    collection makes chance rarities of those.

    Parameters
    ----------
    chunks
        N, chunks in the collection.
    frequencies
        n, chunks that hold each term; a term that is absent has 0.

    >>> weigh = idf_weight(100, {"pump": 1})
    >>> round(weigh("pump"), 3), round(weigh("kettle"), 3), round(weigh("the"), 3)
    (4.21, 5.308, 0.531)
    """

    def weigh(term: str) -> float:
        n = min(chunks, frequencies.get(term, 0))
        return math.log(1 + (chunks - n + 0.5) / (n + 0.5)) * plain_weight(term)

    return weigh


def weigh_groups(
    groups: Sequence[Sequence[str]], weigh: Weigh = plain_weight
) -> list[tuple[tuple[str, ...], float]]:
    """Return a question's distinct term groups, each with the weight of its commonest member.

    >>> weigh_groups([("pump", "pumps"), ("the",), ("pump", "pumps")])
    [(('pump', 'pumps'), 1.0), (('the',), 0.1)]
    """
    distinct = dict.fromkeys(tuple(group) for group in groups if group)
    return [(group, min(weigh(term) for term in group)) for group in distinct]
