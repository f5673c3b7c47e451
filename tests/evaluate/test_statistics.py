"""Intervals and tests: by hand, and equal to scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from citespan.errors import InputError
from citespan.evaluate.statistics import (
    bootstrap_interval,
    compare_runs,
    holm,
    permutation_test,
)


def by_question(values) -> dict[str, float]:
    return {f"q{i:04}": float(value) for i, value in enumerate(values)}


def mean_difference(a, b, axis=-1):
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def scipy_p(a, b, resamples=9_999) -> float:
    return stats.permutation_test(
        (a, b), mean_difference, permutation_type="samples", n_resamples=resamples, vectorized=True
    ).pvalue


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_exact_permutation_equals_scipy(rows):
    a, b = (np.array(column) / 4 for column in zip(*rows, strict=True))
    assert permutation_test(a, b) == pytest.approx(scipy_p(a, b))


def test_random_permutation_agrees_with_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.random(200), rng.random(200)
    a += 0.03
    ours, theirs = permutation_test(a, b), scipy_p(a, b)
    # Two draws of 9,999: standard error sqrt(2 p (1 - p) / 9,999); five of them.
    assert abs(ours - theirs) < 5 * np.sqrt(2 * theirs * (1 - theirs) / 9_999)


def test_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(2)
    values = rng.random(120)
    ours = bootstrap_interval(values)
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)
    normal = stats.norm.interval(0.95, values.mean(), values.std() / np.sqrt(120))
    assert (ours.low, ours.high) == pytest.approx(normal, abs=0.05 * width)


def test_permutation_by_hand():
    # Differences 1, 1, -1: the sum 1 is reached or passed (in size) by all 8 flips.
    assert permutation_test([1, 1, 0], [0, 0, 1]) == 1.0
    # Differences 1, 2: sums ±3, ±1; two of the four are as far as 3.
    assert permutation_test([1, 2], [0, 0]) == 0.5


def test_the_smallest_p_is_never_zero():
    assert permutation_test(np.ones(100), np.zeros(100), resamples=999) == 1 / 1000


def test_holm_by_hand():
    assert holm([0.04, 0.001, 0.03]) == pytest.approx([0.06, 0.003, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_same_seed_same_result_and_the_order_of_questions_is_no_matter():
    rng = np.random.default_rng(4)
    a, b = by_question(rng.random(60)), by_question(rng.random(60))
    backwards = {"a": dict(reversed(a.items())), "b": b}
    assert compare_runs({"a": a, "b": b}, "m") == compare_runs(backwards, "m")


def test_no_difference_is_said_in_words():
    rng = np.random.default_rng(5)
    a = by_question(rng.random(50))
    [same] = compare_runs({"a": a, "b": dict(a)}, "MRR@3")
    assert (same.p_value, same.low, same.high, same.shown) == (1.0, 0.0, 0.0, False)
    assert "no difference shown between a and b" in same.describe()


def test_a_difference_is_said_with_its_direction():
    better, worse = by_question(np.ones(30)), by_question(np.zeros(30))
    [found] = compare_runs({"new": better, "old": worse}, "MRR@3")
    assert found.describe().startswith("MRR@3: new is better than old by +1.000")
    [low] = compare_runs({"new": better, "old": worse}, "AURC", lower_is_better=True)
    assert "new is worse than old" in low.describe()


def test_many_comparisons_are_corrected():
    rng = np.random.default_rng(6)
    runs = {f"run{i}": by_question(rng.random(40)) for i in range(5)}
    found = compare_runs(runs, "m")
    assert len(found) == 10
    assert [c.p_corrected for c in found] == holm([c.p_value for c in found])
    assert "after Holm over 10" in found[0].describe()
    against = compare_runs(runs, "m", baseline="run2")
    assert [(c.a, c.b) for c in against] == [(f"run{i}", "run2") for i in (0, 1, 3, 4)]


def test_unmeasured_questions_are_left_out_of_their_pair_only_and_counted():
    full = by_question(np.linspace(0, 1, 20))
    part = {q: v for q, v in full.items() if q >= "q0005"}
    ab, ac, bc = compare_runs({"a": full, "b": part, "c": dict(full)}, "m")
    assert (ab.questions, ab.left_out) == (15, 5)
    assert (ac.questions, ac.left_out) == (20, 0)
    assert (bc.questions, bc.difference) == (15, 0.0)
    assert "5 left out" in ab.describe()


@given(st.integers(2, 40), st.integers(0, 2**16))
def test_the_interval_holds_the_mean_of_a_pair_turned_round(n, seed):
    rng = np.random.default_rng(seed)
    a, b = by_question(rng.integers(0, 3, n) / 2), by_question(rng.integers(0, 3, n) / 2)
    [ab] = compare_runs({"a": a, "b": b}, "m", resamples=199)
    [ba] = compare_runs({"b": b, "a": a}, "m", resamples=199)
    assert ab.difference == -ba.difference
    assert ab.p_value == ba.p_value
    assert (ab.wins, ab.losses) == (ba.losses, ba.wins)
    assert ab.low - 1e-12 <= ab.high
    assert (ab.low, ab.high) == pytest.approx((-ba.high, -ba.low), abs=1e-9)


def test_bad_input_is_said():
    with pytest.raises(InputError, match="3, 2 values"):
        permutation_test([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="no questions"):
        bootstrap_interval([])
    with pytest.raises(InputError, match="two runs"):
        compare_runs({"a": {"q": 1.0}}, "m")
    with pytest.raises(InputError, match="share no question"):
        compare_runs({"a": {"q": 1.0}, "b": {"r": 1.0}}, "m")
    with pytest.raises(InputError, match="no run 'c'"):
        compare_runs({"a": {"q": 1.0}, "b": {"q": 1.0}}, "m", baseline="c")
    with pytest.raises(InputError, match="not a number"):
        bootstrap_interval([0.5, float("nan")])
    with pytest.raises(InputError, match=r"0\.95"):
        bootstrap_interval([0.5], confidence=95)
