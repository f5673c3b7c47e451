"""A quoted answer is not cleaned: its marks and repetitions are the document's own."""

from __future__ import annotations

from citespan.prompt import build_prompt
from citespan.types import Draft, Gate, Passage
from citespan.verify import verify_answer

TEXT = "The code is **abab** abababababababababababababab and nothing else."
GATE = Gate("answerable", 1.0, 0.26, "")


def test_a_quote_keeps_its_marks_and_repetitions() -> None:
    passage = Passage("d", "a.md", 0, len(TEXT), TEXT, 1.0)
    prompt = build_prompt("What is the code?", [passage], language="en")
    answer = verify_answer(Draft(f"{TEXT} [1]", "extractive"), prompt, GATE)
    assert answer.status == "answered"
    assert answer.text == f"{TEXT} [1]"
    assert answer.sentences[0].citations[0].quote == TEXT
    assert answer.notes == ()


def test_what_a_model_repeats_is_left_out_all_the_same() -> None:
    passage = Passage("d", "a.md", 0, len(TEXT), TEXT, 1.0)
    prompt = build_prompt("What is the code?", [passage], language="en")
    looped = "The code is abab [1]. " * 40
    answer = verify_answer(Draft(looped, "some-model"), prompt, GATE)
    assert any("repeated" in note for note in answer.notes)
