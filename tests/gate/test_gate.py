"""The gate: evidence by hand, the three states, the words of the reason, the order it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.gate import GateEvidence, check_gate, gather_evidence, score_evidence
from citespan.text import analyze_query
from citespan.types import Passage
from citespan.weights import idf_weight


def make_passage(text: str, heading: str = "") -> Passage:
    return Passage("d", "d.txt", 0, len(text), text, 1.0, heading=heading)


FIVE = "The pump hums. Water flows. Birds sing. Rain falls. Filters cost extra."


def test_evidence_by_hand() -> None:
    weigh = {"pump": 3.0, "filter": 1.0, "kettl": 4.0}.__getitem__
    found = gather_evidence([("pump",), ("filter",), ("kettl",)], [make_passage(FIVE)], weigh=weigh)
    # The passage holds both words (4 of 8), three sentences in a row only the pump (3 of 8).
    assert (found.coverage, found.window, found.known) == (0.5, 0.375, 0.5)
    assert found.missing == ("kettl",)


def test_what_all_passages_hold_together() -> None:
    passages = [make_passage("The pump hums."), make_passage("Filters cost extra.")]
    found = gather_evidence([("pump",), ("filter",)], passages)
    assert (found.window, found.known) == (0.5, 1.0)


def test_headings_count_and_an_alternative_is_enough() -> None:
    passage = make_passage("It hums.", heading="Pump")
    assert gather_evidence([("pumpe", "pump")], [passage]).window == 1.0


def test_nothing_found_and_nothing_asked() -> None:
    assert gather_evidence([("pump",)], []).window == 0.0
    assert gather_evidence([], [make_passage("The pump.")]).window == 0.0


@pytest.mark.parametrize(
    ("score", "state"),
    [(0.0, "nothing_relevant"), (0.19, "nothing_relevant"), (0.2, "insufficient"),
     (0.25, "insufficient"), (0.26, "answerable"), (1.0, "answerable")],
)  # fmt: skip
def test_three_states(score: float, state: str) -> None:
    gate = check_gate(GateEvidence(score, score, score), documents=3)
    assert (gate.state, gate.score, gate.threshold) == (state, score, 0.26)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Not found in the 7 documents searched"),
     ("de", "Not found in the 7 documents searched"),
     ("ru", "Не найдено в просмотренных документах (всего 7)"),
     ("zh", "在所搜索的 7 个文档中未找到")],
)  # fmt: skip
@pytest.mark.parametrize("score", [0.0, 0.25])
def test_the_reason_says_where_was_searched(language: str, words: str, score: float) -> None:
    gate = check_gate(GateEvidence(score, score, score), documents=7, language=language)
    assert gate.reason.startswith(words)


def test_one_document_is_one() -> None:
    assert "the 1 document searched" in check_gate(GateEvidence(0, 0, 0), documents=1).reason


def test_a_cosine_counts_only_where_its_range_is_known() -> None:
    assert score_evidence(GateEvidence(0.1, 0.1, 0.1, cosine=0.9)) == 0.1
    # (0.1 + 1.0) / 2: words and meaning count alike, and neither alone opens a gate at will.
    assert score_evidence(GateEvidence(0.1, 0.1, 0.1, cosine=0.9, cosine_range=(0.1, 0.9))) == 0.55
    gate = check_gate(GateEvidence(0.1, 0.1, 0.1, cosine=0.7), documents=1)
    assert gate.parts["cosine"] == 0.7


def test_another_score_enters_by_the_seam() -> None:
    gate = check_gate(GateEvidence(0, 0, 0.9), documents=1, score=lambda e: e.known)
    assert (gate.state, gate.score) == ("answerable", 0.9)


def test_a_threshold_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        check_gate(GateEvidence(0, 0, 0), documents=1, threshold=1.2)
    assert check_gate(GateEvidence(0, 0, 0), documents=1, threshold=0).state == "answerable"


@given(*[st.floats(0, 1)] * 4)
def test_a_higher_threshold_never_opens(
    window: float, one: float, other: float, floor: float
) -> None:
    low, high = sorted((one, other))
    evidence = GateEvidence(window, window, window)
    order = ["nothing_relevant", "insufficient", "answerable"]
    states = [
        order.index(check_gate(evidence, documents=1, threshold=t, floor=floor).state)
        for t in (low, high)
    ]
    assert (states[0] == 2) >= (states[1] == 2)
    assert 0 <= check_gate(evidence, documents=1).score <= 1


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("How long does the warranty on the pump last?", "answerable"),
        ("Какой срок гарантии на насос?", "answerable"),
        ("水泵的保修期有多长？", "answerable"),
        ("Who won the football match in Lima?", "nothing_relevant"),
        ("Кто выиграл футбольный матч в Лиме?", "nothing_relevant"),
        ("谁赢得了足球比赛？", "nothing_relevant"),
    ],
)
def test_three_languages(question: str, state: str) -> None:
    passages = [
        make_passage("The warranty on the pump lasts 24 months. Filters cost extra."),
        make_passage("Срок гарантии на насос составляет 24 месяца. Фильтры отдельно."),
        make_passage("水泵的保修期为24个月。滤芯另计。"),
    ]
    evidence = gather_evidence(
        analyze_query(question, ["en", "ru", "zh"]), passages, weigh=idf_weight(3, {"pump": 1})
    )
    assert check_gate(evidence, documents=3).state == state
