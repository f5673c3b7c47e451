from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.verify.markers import parse_marks


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("Two years [1].", [1]),
        ("Two years [1, 2].", [1, 2]),
        ("Two years [1][3].", [1, 3]),
        ("Two years [1] [3].", [1, 3]),
        ("Two years [1; 2 and 3].", [1, 2, 3]),
        ("Two years [1-3].", [1, 2, 3]),
        ("Two years 【1】.", [1]),
        ("Two years 【1†L3-L9】.", [1]),
        ("Two years [Source 1].", [1]),
        ("Two years [source: 2].", [2]),
        ("Two years [Sources 1, 2].", [1, 2]),
        ("Two years [Source 1, Source 3].", [1, 3]),
        ("Two years [Source 1: handbook.md].", [1]),
        ("Two years (Source 2).", [2]),
        ("Two years (sources 1 and 3).", [1, 3]),
        ("Two years [来源 1].", [1]),
        ("Two years（来源1、2）.", [1, 2]),
        ("Two years [Источник 2].", [2]),
        ("Two years (источники 1 и 2).", [1, 2]),
        ("Two years [^3].", [3]),
        ("Two years [[2]].", [2]),
        ("Two years [1](https://example.org/a).", [1]),
        ("Two years<sup>[2]</sup>.", [2]),
        ("Two years [Doc #2].", [2]),
    ],
)
def test_every_common_form(written: str, numbers: list[int]) -> None:
    marks = parse_marks(written, 3)
    assert [n for _, n in marks.places] == numbers
    assert marks.text == "Two years."
    assert all(at == len("Two years") for at, _ in marks.places)
    assert marks.outside == ()


@pytest.mark.parametrize(
    "text", ["In [2019] it rained.", "See (2) below.", "f(1) = [x]", "a[i]", "Figure 2 and step 3."]
)
def test_what_is_no_citation_stays(text: str) -> None:
    marks = parse_marks(text, 3)
    assert (marks.text, marks.places, marks.outside) == (text, (), ())


def test_numbers_that_were_not_sent_are_told() -> None:
    marks = parse_marks("One [7]. Two [0][2, 9]. Three [Source 123456].", 3)
    assert marks.text == "One. Two. Three."
    assert [n for _, n in marks.places] == [2]
    assert (marks.outside, marks.removed) == ((7, 0, 9, 123456), 4)


def test_a_source_named_in_the_sentence_keeps_its_place() -> None:
    marks = parse_marks("As Source 2 says, it runs.", 3)
    assert marks.places == ((3, 2),)
    assert marks.text == "As Source \ue002 says, it runs."
    assert parse_marks("As Source 9 says.", 3).outside == (9,)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="[]【】()Source 来源,-–123 a.\n†^#<>/sup", max_size=80))
def test_laws(text: str) -> None:
    marks = parse_marks(text, 3)
    assert all(0 <= at <= len(marks.text) for at, _ in marks.places)
    assert all(1 <= n <= 3 for _, n in marks.places)
    assert not set(marks.outside) & {1, 2, 3}


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "[Source " + "1" * 20_000, "[1, " * 5_000, "[Source " + "1 " * 9_000 + "x",
     "(" + "source " * 3_000, "[1-" * 6_000, "[1][2]" * 3_000],
)  # fmt: skip
def test_hostile_marks_end(text: str) -> None:
    started = time.process_time()
    parse_marks(text, 3)
    # Nothing here is exponential; the bound is generous, to catch minutes, not milliseconds.
    assert time.process_time() - started < 20
