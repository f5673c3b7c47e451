"""Groups of questions: about equal, never parting equals; and which of them differ."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.groundtruth import Question
from citespan.evaluate.groups import compare_groups, group_questions, measure_questions

figures = st.dictionaries(st.text(max_size=4), st.integers(0, 9), min_size=1, max_size=30)


@given(figures, st.integers(1, 5))
def test_groups_are_a_partition_by_value(measured, count):
    groups = group_questions(measured, "length", groups=count)
    assert sorted(q for members in groups.values() for q in members) == sorted(measured)
    assert 1 <= len(groups) <= count
    ranges = [{measured[q] for q in members} for members in groups.values()]
    for lower, upper in itertools.pairwise(ranges):
        assert max(lower) < min(upper)


def test_thirds():
    measured = {f"q{i}": i for i in range(9)}
    sizes = [len(members) for members in group_questions(measured, "x").values()]
    assert max(sizes) - min(sizes) <= 1
    assert group_questions({}, "x") == {}
    with pytest.raises(InputError, match="groups=0"):
        group_questions(measured, "x", groups=0)


def test_a_question_has_the_mean_of_its_documents():
    questions = [
        Question("q", "?", ("a", "b")),
        Question("unknown", "?", ("c",)),
        Question("n", "?", answerable=False),
    ]
    assert measure_questions(questions, {"a": 1, "b": 4}) == {"q": 2.5}


def test_groups_are_corrected_together_and_small_ones_left_out():
    a = {f"q{i}": 1.0 for i in range(12)}
    b = {f"q{i}": float(i >= 8) for i in range(12)}
    groups = {"early": [f"q{i}" for i in range(8)], "late": ["q8", "q9", "q10"], "one": ["q11"]}
    found = compare_groups({"a": a, "b": b}, "MRR@3", groups, a="a", b="b")
    assert list(found) == ["early", "late"]
    assert found["early"].p_value == 2 / 2**8
    assert found["early"].p_corrected == 4 / 2**8
    assert "after Holm over 2" in found["early"].describe()
    assert "no difference shown" in found["late"].describe()
