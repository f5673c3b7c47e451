"""Quoting: the sentence that answers, not its neighbour, in three languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.generate import generate_answer
from citespan.generate.cues import detect_kind, holds_kind
from citespan.generate.extractive import ExtractiveGenerator
from citespan.prompt import build_prompt
from citespan.types import Passage

TEXTS = {
    "en": "The warranty covers the compressor and the pump. It lasts 24 months from the purchase. "
    "Filters are not covered. The service team answers on weekdays. Anna Lee leads it since 2019. "
    "The plant was moved to Bergen because the old hall flooded. It employs 140 people.",
    "ru": "Гарантия распространяется на компрессор и насос. Срок гарантии — 24 месяца со дня "
    "покупки. Фильтры не входят в гарантию. Сервисную службу возглавляет Анна Петрова. "
    "Завод переехал в Тверь, потому что старый цех затопило. Цех открыли в марте 2019 года.",
    "zh": "保修范围包括压缩机和水泵。保修期自购买之日起为24个月。滤芯不在保修范围内。"
    "服务部由李娜经理负责。由于旧厂房被淹，工厂搬到了宁波。新厂于2019年3月投产。",
}


def quote(question: str, *texts: str, **more: Any) -> str:
    passages = [Passage(str(i), f"{i}.md", 0, len(t), t, 1.0) for i, t in enumerate(texts)]
    return generate_answer(build_prompt(question, passages), ExtractiveGenerator(**more)).text


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "How long is the warranty?", "It lasts 24 months from the purchase. [1]"),
        ("en", "Are filters covered?", "Filters are not covered. [1]"),
        ("en", "Who leads the service team?", "Anna Lee leads it since 2019. [1]"),
        ("en", "Why was the plant moved?",
         "The plant was moved to Bergen because the old hall flooded. [1]"),
        ("ru", "Какой срок гарантии?", "Срок гарантии — 24 месяца со дня покупки. [1]"),
        ("ru", "Кто возглавляет сервисную службу?",
         "Сервисную службу возглавляет Анна Петрова. [1]"),
        ("ru", "Почему завод переехал?",
         "Завод переехал в Тверь, потому что старый цех затопило. [1]"),
        ("ru", "Когда открыли цех?", "Цех открыли в марте 2019 года. [1]"),
        ("zh", "保修期有多长？", "保修期自购买之日起为24个月。 [1]"),
        ("zh", "谁负责服务部？", "服务部由李娜经理负责。 [1]"),
        ("zh", "工厂为什么搬到宁波？", "由于旧厂房被淹，工厂搬到了宁波。 [1]"),
        ("zh", "新厂什么时候投产？", "新厂于2019年3月投产。 [1]"),
    ],
)  # fmt: skip
def test_the_sentence_that_answers_is_quoted(language: str, question: str, answer: str) -> None:
    assert quote(question, TEXTS[language]) == answer


def test_a_question_in_the_document_is_not_its_own_answer() -> None:
    text = "How long is the warranty? Two years. How long is the lease? Five years."
    assert quote("How long is the warranty?", text) == "Two years. [1]"


def test_a_heading_is_no_answer() -> None:
    text = "Warranty period\n\n24 months from the purchase.\n\nLease period\n\nFive years."
    assert quote("What is the warranty period?", text) == "24 months from the purchase. [1]"


def test_two_sources_are_quoted_where_each_brings_something() -> None:
    found = quote(
        "Where are the pump and the kettle?", "The pump is in Bergen.", "The kettle is in Oslo."
    )
    assert found == "The pump is in Bergen. [1] The kettle is in Oslo. [2]"


def test_the_same_said_twice_is_quoted_once() -> None:
    found = quote("Where is the pump?", "The pump is in Bergen.", "The pump is in Bergen now.")
    assert found == "The pump is in Bergen. [1]"


def test_marks_that_stand_in_the_document_are_no_citations() -> None:
    assert quote("Where is the pump?", "The pump is in Bergen.[12][3, 4]") == (
        "The pump is in Bergen. [1]"
    )


def test_nothing_shared_is_a_refusal() -> None:
    assert quote("Who sings?", "Water boils.") == "Not found in the sources provided."
    assert quote("Who sings?") == "Not found in the sources provided."


def test_vectors_find_other_words() -> None:
    def embed(texts: Sequence[str]) -> Any:
        rows = [[1.0, 0.0] if "physician" in t or "doctor" in t else [0.0, 1.0] for t in texts]
        return np.array(rows, dtype=np.float32)

    text = "Bread is baked. The physician came. Rain fell."
    assert quote("Did a doctor visit?", text, embed=embed) == "The physician came. [1]"


@pytest.mark.parametrize(
    ("question", "kind"),
    [("How many people?", "number"), ("How much does it cost?", "number"), ("When?", "time"),
     ("In what year did it open?", "time"), ("Where is it?", "place"), ("Whose is it?", "person"),
     ("What is a pump?", ""), ("Сколько это стоит?", "number"), ("Где ключ?", "place"),
     ("Как долго ждать?", "duration"), ("有几个人？", "number"), ("钥匙在哪里？", "place"),
     ("需要多久？", "duration")],
)  # fmt: skip
def test_kinds_of_questions(question: str, kind: str) -> None:
    assert detect_kind(question) == kind


def test_a_number_of_the_question_is_no_answer() -> None:
    assert not holds_kind("number", "In 2019 it opened.", "How many came in 2019?")
    assert holds_kind("number", "In 2019, 40 came.", "How many came in 2019?")


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=40), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_gives_an_answer(question: str, texts: list[str]) -> None:
    if question.strip():
        assert quote(question, *texts)
