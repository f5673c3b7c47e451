"""Character-level metrics: by hand, and equal to counting characters one by one."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.evaluation import evaluate_run
from citespan.evaluate.groundtruth import Evidence, Question, read_benchmark
from citespan.evaluate.relevance import ChunkIndex
from citespan.evaluate.runs import RankedPassage, make_run
from citespan.evaluate.span_metrics import (
    cut_at_budget,
    fit_approximately,
    fit_by_counting,
    measure_precision_omega,
    measure_spans,
    measure_spans_as_chroma,
)
from citespan.types import Span
from support import bench_dir


def passage(doc: str, *pairs: tuple[int, int], text: str = "") -> RankedPassage:
    return RankedPassage(doc, tuple(Span(*pair) for pair in pairs), 0.0, text)


def characters(items) -> Counter:
    """Count how often each character of each document is named, one by one."""
    counted: Counter = Counter()
    for item in items:
        spans = item.spans if isinstance(item, RankedPassage) else [(item.start, item.end)]
        for start, end in spans:
            counted.update((item.doc_id, position) for position in range(start, end))
    return counted


docs = st.sampled_from(["a", "b"])
pairs = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda p: (p[0], p[0] + p[1]))
found_lists = st.lists(st.builds(passage, docs, pairs), max_size=6)
evidence_lists = st.lists(
    st.builds(lambda doc, pair: Evidence(doc, *pair), docs, pairs), min_size=1, max_size=4
)


@given(found=found_lists, evidence=evidence_lists)
def test_equals_sets_of_characters(found, evidence):
    r, e = set(characters(found)), set(characters(evidence))
    assert measure_spans("recall", found, evidence) == (len(r & e), len(e))
    assert measure_spans("precision", found, evidence) == (len(r & e), len(r))
    assert measure_spans("iou", found, evidence) == (len(r & e), len(r | e))


@given(found=found_lists, evidence=evidence_lists)
def test_chroma_definition_equals_counting_with_repeats(found, evidence):
    r, e = characters(found), characters(evidence)
    shared = len(set(r) & set(e))
    missed = sum(count for char, count in e.items() if char not in r)
    assert measure_spans_as_chroma("recall", found, evidence) == (shared, e.total())
    assert measure_spans_as_chroma("precision", found, evidence) == (shared, r.total())
    assert measure_spans_as_chroma("iou", found, evidence) == (shared, r.total() + missed)


@given(found=found_lists, evidence=evidence_lists)
def test_order_and_repetition_change_nothing_in_the_honest_metrics(found, evidence):
    again = [*found, *reversed(found)]
    for base in ("recall", "precision", "iou"):
        assert measure_spans(base, again, evidence) == measure_spans(base, found, evidence)


def test_overlap_is_charged_once_and_touching_is_not_overlapping():
    evidence = [Evidence("d", 10, 20)]
    found = [passage("d", (0, 10)), passage("d", (5, 15))]
    assert measure_spans("precision", found, evidence) == (5, 15)
    assert measure_spans_as_chroma("precision", found, evidence) == (5, 20)
    index = ChunkIndex([passage("d", (0, 10)), passage("d", (10, 12)), passage("d", (20, 30))])
    assert [c.start for c in index.find(evidence)] == [10]
    assert [c.start for c in index.find(evidence, touching=True)] == [0, 10, 20]
    assert measure_precision_omega(index.find(evidence), evidence) == (2, 2 + 8)
    assert measure_precision_omega(index.find(evidence, touching=True), evidence) == (2, 22 + 8)


def test_a_chunk_of_several_spans_holds_only_these():
    evidence = [Evidence("d", 4, 8)]
    clustered = passage("d", (0, 4), (8, 12))
    assert not ChunkIndex([clustered]).find(evidence)
    assert measure_spans("iou", [clustered], evidence) == (0, 12)


def test_budget_cuts_the_last_passage_at_its_edge():
    text = "one two three four five six"
    found = [passage("d", (0, 13), text=text[:13]), passage("d", (14, 27), text=text[14:])]
    words = fit_by_counting(lambda piece: len(piece.split()))
    cut = cut_at_budget(found, 4, fit=words)
    assert [text[p.start : p.end].strip() for p in cut] == ["one two three", "four"]
    assert cut_at_budget(found, 99, fit=words)[-1].end == 27
    assert cut_at_budget(found, 3, fit=words)[-1].end <= 14


def test_budget_charges_repeated_text_once():
    text = "one two three four"
    found = [passage("d", (0, 13), text=text[:13]), passage("d", (4, 18), text=text[4:])]
    cut = cut_at_budget(found, 4, fit=fit_by_counting(lambda piece: len(piece.split())))
    assert [(p.start, p.end) for p in cut] == [(0, 13), (13, 18)]


def test_budget_follows_a_clustered_chunks_own_text():
    clustered = passage("d", (0, 3), (10, 15), text="one three")
    cut = cut_at_budget([clustered], 1, fit=fit_by_counting(lambda piece: len(piece.split())))
    assert [p.spans for p in cut] == [(Span(0, 3),)]


@given(st.text(alphabet="ab 文字,.\n", max_size=60), st.integers(0, 30))
def test_the_approximate_counter_never_exceeds_its_budget(text, budget):
    length, used = fit_approximately(text, budget)
    assert used <= budget
    assert fit_approximately(text[:length], 1000)[1] == used
    if length < len(text):
        assert used == budget


def test_a_longer_context_does_not_win_at_equal_budget():
    text = "x " * 50 + "answer " + "y " * 50
    question = Question("q", "?", ("d",), (Evidence("d", 100, 107),))
    short = make_run("short", {"q": [passage("d", (90, 110))]})
    whole = make_run("whole", {"q": [passage("d", (0, len(text)))]})
    names = ["span_recall@1", "span_recall@20tok"]
    by_run = {
        run.name: evaluate_run(run, [question], names, texts={"d": text}).scores
        for run in (short, whole)
    }
    assert by_run["short"]["span_recall@1"].mean == by_run["whole"]["span_recall@1"].mean == 1
    assert by_run["short"]["span_recall@20tok"].mean == 1
    assert by_run["whole"]["span_recall@20tok"].mean == 0


def test_pooled_stands_beside_the_mean():
    questions = [
        Question("q1", "?", ("d",), (Evidence("d", 0, 90),)),
        Question("q2", "?", ("d",), (Evidence("d", 90, 100),)),
    ]
    run = make_run("r", {"q1": [passage("d", (0, 90))], "q2": [passage("d", (0, 90))]})
    scores = evaluate_run(run, questions, ["span_recall"]).scores["span_recall"]
    assert (scores.mean, scores.pooled) == (0.5, 0.9)


def test_a_text_that_is_not_the_spans_own_is_refused():
    run = make_run("r", {"q": [passage("d", (0, 90), text="shortened …")]})
    question = Question("q", "?", ("d",), (Evidence("d", 0, 90),))
    with pytest.raises(InputError, match="exact text of 1 documents"):
        evaluate_run(run, [question], ["span_recall@10tok"])


@pytest.fixture(scope="module")
def chroma_corpora():
    folder = bench_dir("chroma_chunking")
    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    return texts, read_benchmark(folder)


def test_chroma_definition_on_its_corpora_with_fixed_chunks(chroma_corpora):
    """All three, and Ω, equal to a second computation that counts characters one by one."""
    texts, questions = chroma_corpora
    size, step = 800, 600
    chunks = [
        passage(doc, (start, min(start + size, len(text))))
        for doc, text in texts.items()
        for start in range(0, len(text), step)
    ]
    rng = random.Random(7)
    by_doc = {doc: [c for c in chunks if c.doc_id == doc] for doc in texts}
    results = {}
    for question in questions:
        own = by_doc[question.scope[0]]
        at = question.evidence[0].start // step
        results[question.id] = [*own[max(0, at - 1) : at + 1], *rng.sample(own, 3)]
    names = [f"chroma_{base}@5" for base in ("recall", "precision", "iou")]
    names.append("chroma_precision_omega")
    evaluation = evaluate_run(make_run("fixed", results), questions, names, chunks=chunks)
    assert len(evaluation.scores["chroma_iou@5"].values) == len(questions) == 220

    for question in questions:
        found = results[question.id]
        unique = list({p.id: p for p in found}.values())
        assert len(found) - len(unique) in (0, 1, 2)
        r, e = characters(found), characters(question.evidence)
        shared = len(set(r) & set(e))
        missed = sum(n for char, n in e.items() if char not in r)
        touching = [
            c
            for c in by_doc[question.scope[0]]
            if any(c.start <= ev.end and c.end >= ev.start for ev in question.evidence)
        ]
        o = set(characters(touching))
        expected = [
            shared / e.total(),
            shared / r.total(),
            shared / (r.total() + missed),
            len(o & set(e)) / len(o | set(e)),
        ]
        got = [evaluation.scores[name].values[question.id] for name in names]
        assert got == pytest.approx(expected, abs=1e-12)
