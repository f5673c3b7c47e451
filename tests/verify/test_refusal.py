from __future__ import annotations

import pytest

from citespan.prompt import WORDINGS
from citespan.verify.refusal import is_refusal

REFUSALS = [
    *(words.refusal for words in WORDINGS.values()),
    "I don't know based on the provided context.",
    "I do not know.",
    "The provided sources do not contain information about the price.",
    "The context doesn't mention it.",
    "There is no information about this in the documents.",
    "There is not enough information to answer.",
    "I'm sorry, but I cannot answer this question from the sources.",
    "The answer is not provided in the text.",
    "Unable to determine from the given passages.",
    "This is not specified in the sources.",
    "N/A",
    "Я не знаю.",
    "В источниках нет информации о цене.",
    "Ответ в документах не найден.",
    "В тексте об этом не говорится.",
    "Недостаточно данных для ответа.",
    "我不知道。",
    "来源中没有提到价格。",
    "根据所提供的资料，无法回答这个问题。",
    "文档中未提及相关信息。",
    "Ich weiß es nicht.",
    "Je ne sais pas.",
    "No se menciona en el texto.",
]
ANSWERS = [
    "The warranty lasts 24 months.",
    "The warranty is not valid outside Norway.",
    "The door cannot be opened from outside.",
    "Filters are not included in the price.",
    "The source of the river lies in the Alps.",
    "Гарантия не распространяется на фильтры.",
    "Вода в насос не поступает.",
    "滤芯不在保修范围内。",
    "没有钥匙的人不能进入。",
    "",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_answers(text: str) -> None:
    assert not is_refusal(text)
