"""Ranked-list metrics: by hand, and equal to trec_eval's own code to 1e-9."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.metrics import (
    MEASURES,
    Metric,
    chroma_compatible,
    parse_metric,
    parse_metrics,
)
from citespan.evaluate.ranking import evaluate_qrels, rank_by_score
from support import ROOT

pytrec_eval = pytest.importorskip("pytrec_eval")

# Our name, trec_eval's measure to ask for, and the key it answers under.
PAIRS = [
    ("hit_rate@1", "success.1", "success_1"),
    ("hit_rate@3", "success.3", "success_3"),
    ("MRR", "recip_rank", "recip_rank"),
    ("recall@3", "recall.3", "recall_3"),
    ("recall@10", "recall.10", "recall_10"),
    ("precision@3", "P.3", "P_3"),
    ("precision@10", "P.10", "P_10"),
    ("nDCG", "ndcg", "ndcg"),
    ("nDCG@3", "ndcg_cut.3", "ndcg_cut_3"),
    ("nDCG@10", "ndcg_cut.10", "ndcg_cut_10"),
    ("MAP", "map", "map"),
    ("MAP@3", "map_cut.3", "map_cut_3"),
]

ids = st.sampled_from(["d1", "d10", "d2", "D2", "é", "я", "文", "𝒳", "z"])
# Few distinct scores, so that ties are the rule; two that differ beyond single precision only.
scores = st.sampled_from([0.0, 0.5, 1.0, 1.0 + 1e-12, -1.0, 3.25])
questions = st.sampled_from(["q1", "q2", "q3", "q4"])
runs = st.dictionaries(questions, st.dictionaries(ids, scores, max_size=8), max_size=4)
judgements = st.dictionaries(
    questions, st.dictionaries(ids, st.integers(0, 3), min_size=1, max_size=8), min_size=1
)


@given(run=runs, qrels=judgements)
def test_equals_trec_eval(run, qrels):
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {asked for _, asked, _ in PAIRS})
    reference = evaluator.evaluate({q: found for q, found in run.items() if found})
    metrics = parse_metrics(name for name, _, _ in PAIRS)
    for scores_, (name, _, key) in zip(
        evaluate_qrels(run, qrels, metrics, missing="zero"), PAIRS, strict=True
    ):
        assert set(scores_.values) == set(qrels), "a judged question is never dropped"
        for question, value in scores_.values.items():
            expected = reference.get(question, {key: 0.0})[key]
            assert value == pytest.approx(expected, abs=1e-9), (name, question)


def test_worked_by_hand():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    qrels = {"q": {"b": 1, "c": 2, "x": 1}}
    names = ["hit_rate@1", "hit_rate@2", "MRR", "recall@2", "precision@2", "MAP", "nDCG@3"]
    values = [s.values["q"] for s in evaluate_qrels(run, qrels, parse_metrics(names))]
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    best = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    expected = [0, 1, 1 / 2, 1 / 3, 1 / 2, (1 / 2 + 2 / 3) / 3, dcg / best]
    assert values == pytest.approx(expected, abs=1e-12)


def test_not_asked_is_unmeasured_and_nothing_found_is_zero():
    qrels = {"asked": {"a": 1}, "found_nothing": {"a": 1}, "not_asked": {"a": 1}}
    run = {"asked": {"a": 1.0}, "found_nothing": {}}
    [scores_] = evaluate_qrels(run, qrels, [parse_metric("recall@3")])
    assert scores_.values == {"asked": 1.0, "found_nothing": 0.0}
    assert (scores_.mean, scores_.unmeasured) == (0.5, ("not_asked",))
    assert "1 not asked (unmeasured)" in scores_.describe()
    [zero] = evaluate_qrels(run, qrels, [parse_metric("recall@3")], missing="zero")
    assert zero.mean == pytest.approx(1 / 3)


def test_no_question_measured_is_no_number():
    [scores_] = evaluate_qrels({}, {"q": {"a": 1}}, [parse_metric("MAP")])
    assert scores_.mean is None
    assert "unmeasured" in scores_.describe()


def test_ties_go_to_the_greater_id_whatever_the_order_written():
    assert rank_by_score({"a": 1.0, "b": 1.0}) == rank_by_score({"b": 1.0, "a": 1.0}) == ["b", "a"]


def test_every_measure_has_a_name_that_reads_back():
    for stem, measure in MEASURES.items():
        for cutoff in measure.cutoffs:
            metric = {
                "none": Metric(stem),
                "rank": Metric(stem, k=3),
                "tokens": Metric(stem, tokens=750),
                "threshold": Metric(stem, threshold=0.25),
            }[cutoff]
            assert parse_metric(metric.name) == metric
            assert parse_metric(metric.name.lower()) == metric
        assert measure.definition
        assert measure.source


def test_all_wrong_names_are_reported_together():
    with pytest.raises(InputError) as caught:
        parse_metrics(["recall@3", "recal@3", "precision", "MRR@0", "AUROC@3", "span_iou@1.5", "@"])
    message = str(caught.value)
    for part in (
        "6 metrics",
        "perhaps 'recall@3'",
        "precision@3",
        "starts at 1",
        "'AUROC@3' cannot be cut",
        "'span_iou@1.5'",
        "'@'",
    ):
        assert part in message


def test_chroma_compatible_has_no_token_budget():
    assert chroma_compatible(parse_metric("precision_omega")).name == "chroma_precision_omega"
    assert chroma_compatible(parse_metric("recall@3")).name == "recall@3"
    with pytest.raises(InputError, match="no token budget"):
        chroma_compatible(parse_metric("span_recall@750tok"))


def test_every_measure_is_documented():
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    for stem, measure in MEASURES.items():
        if measure.level != "doc":  # one line serves them all
            assert f"`{stem}" in page, stem
    assert "`doc_…`" in page


def test_the_pages_example_runs(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    blocks = [block.split("```")[0].strip() for block in page.split("```json\n")[1:]]
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "q1", "question": "Who?", "evidence": [{"doc": "a.md", "start": 0, "end": 9}]}\n'
        + blocks[0],
        "utf-8",
    )
    passage = '{"doc_id": "a.md", "start": 0, "end": 20, "score": 1}'
    for name in ("baseline", "semantic"):
        line = f'{{"query_id": "q1", "passages": [{passage}]}}'
        (tmp_path / f"{name}.jsonl").write_text(line, "utf-8")
    (tmp_path / "a.md").write_text("x" * 500, "utf-8")
    assert '"gate"' in blocks[1]
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "evaluation.md", "exec"), {})
    assert "no difference shown between baseline and semantic" in capsys.readouterr().out
