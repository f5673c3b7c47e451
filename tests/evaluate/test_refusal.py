"""Refusals: by hand, and equal to scikit-learn's AUROC."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.evaluation import evaluate_run
from citespan.evaluate.groundtruth import Evidence, Question
from citespan.evaluate.refusal import auroc, count_refusals, risk_coverage
from citespan.evaluate.runs import GateRecord, RankedPassage, Result, Run
from citespan.types import Span

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans()), min_size=2, max_size=30
)


@given(scored)
def test_auroc_equals_sklearn(rows):
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = zip(*rows, strict=True)
    if len(set(labels)) < 2:
        assert auroc(scores, labels) is None
        return
    assert auroc(scores, labels) == pytest.approx(sklearn_metrics.roc_auc_score(labels, scores))


def test_auroc_counts_ties_half():
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.9, 0.5, 0.1], [True, True, False]) == 1.0


def test_risk_coverage_by_hand():
    # Answering 1, 2, 3, 4 questions: risks 0, 1/2, 1/3, 2/4.
    curve = risk_coverage([0.9, 0.8, 0.7, 0.6], [True, False, True, False])
    assert curve.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)


@given(scored)
def test_risk_coverage_does_not_depend_on_the_order(rows):
    curve = risk_coverage(*zip(*rows, strict=True))
    shuffled = random.Random(1).sample(rows, len(rows))
    assert risk_coverage(*zip(*shuffled, strict=True)).area == pytest.approx(curve.area)
    wrong = sum(not right for _, right in rows) / len(rows)
    assert curve.risk[-1] == pytest.approx(wrong)
    assert curve.coverage[-1] == 1


def test_a_constant_score_has_the_base_risk_as_area():
    assert risk_coverage([0.5] * 4, [True, False, True, True]).area == pytest.approx(0.25)


def test_bad_input_is_said():
    with pytest.raises(InputError, match="no questions"):
        risk_coverage([], [])
    with pytest.raises(InputError, match="2 scores and 1 labels"):
        auroc([0.1, 0.2], [True])
    with pytest.raises(InputError, match="not a number"):
        auroc([float("nan"), 0.2], [True, False])


def test_counts_are_a_partition_and_a_correct_refusal_is_correct():
    counts = count_refusals(
        refused=[False, False, True, True, False],
        answerable=[True, True, True, False, False],
        correct=[True, False, True, False, False],
    )
    assert counts.total == 5
    assert counts.accuracy == 2 / 5
    assert counts.false_refusal_rate == pytest.approx(1 / 3)
    assert counts.correct_refusal_rate == 1 / 2
    empty = count_refusals([], [], [])
    assert (empty.accuracy, empty.false_refusal_rate) == (None, None)


def test_from_a_run():
    questions = [
        Question("good", "?", ("d",), (Evidence("d", 0, 5),)),
        Question("refused", "?", ("d",), (Evidence("d", 0, 5),)),
        Question("off", "?", answerable=False),
        Question("ungated", "?", ("d",), (Evidence("d", 0, 5),)),
        Question("not asked", "?", answerable=False),
    ]
    hit = (RankedPassage("d", (Span(0, 9),)),)
    results = {
        "good": Result("good", hit, GateRecord("answerable", 0.9)),
        "refused": Result("refused", hit, GateRecord("insufficient", 0.3)),
        "off": Result("off", hit, GateRecord("nothing_relevant", 0.1)),
        "ungated": Result("ungated", hit),
    }
    names = ["AUROC", "AURC", "false_refusals", "false_refusals@0.2", "correct_refusals"]
    scores = evaluate_run(Run("r", results), questions, names).scores
    assert scores["AUROC"].mean == 1.0
    assert scores["AURC"].mean == pytest.approx((0 + 0 + 1 / 3) / 3)
    assert scores["false_refusals"].values == {"good": 0.0, "refused": 1.0}
    assert scores["false_refusals@0.2"].mean == 0.0
    assert scores["correct_refusals"].values == {"off": 1.0}
    assert scores["false_refusals"].unmeasured == ("ungated",)
    assert scores["correct_refusals"].unmeasured == ("not asked",)
    assert set(scores["AUROC"].unmeasured) == {"ungated", "not asked"}
