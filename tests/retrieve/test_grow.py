"""Runs of sentences: what belongs to the evidence, budgets, and laws for any scores."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from citespan.retrieve.grow import REACH, Run, choose_runs, make_passages
from citespan.retrieve.windows import SentencePool
from citespan.types import Document


def make_pool(sizes: list[int], names: list[str] | None = None) -> SentencePool:
    names = names or [f"d{i}" for i in range(len(sizes))]
    documents = [name for name, n in zip(names, sizes, strict=True) for _ in range(n)]
    orders = np.concatenate([np.arange(n) for n in sizes]) if sizes else np.zeros(0, np.int64)
    spans = np.stack([orders * 10, orders * 10 + 9], axis=1).astype(np.int32)
    runs = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    empty = np.zeros(0, np.uint32)
    return SentencePool(
        documents, orders, spans, runs, None, empty, np.zeros(len(orders), np.int32)
    )


def test_the_evidence_ends_at_a_share_of_the_best_score() -> None:
    scores = np.array([0.0, 1.2, 2.0, 1.1, 0.9])
    # Half of 2.0 is 1.0: sentences 1, 2, 3 belong, the others do not.
    assert choose_runs(make_pool([5]), scores, scores, share=0.5) == [Run(1, 4, 2)]


def test_the_evidence_ends_at_a_drop_from_a_high_score() -> None:
    scores = np.array([9.0, 6.0, 7.5])
    # Half of 9 would take all three; 2.3 below 9 is 6.7.
    found = choose_runs(make_pool([3]), scores, scores, share=0.5, drop=2.3)
    assert found == [Run(0, 1, 0), Run(2, 3, 2)]


def test_no_run_crosses_a_document() -> None:
    scores = np.array([1.0, 5.0, 5.0, 1.0])
    assert choose_runs(make_pool([2, 2]), scores, scores) == [Run(1, 2, 1), Run(2, 3, 2)]


def test_the_order_may_come_from_other_scores() -> None:
    windows = np.array([3.0, 0.0, 3.0])
    scores = np.array([3.0, 0.0, 4.0])
    assert [run.best for run in choose_runs(make_pool([3]), scores, windows)] == [2, 0]


def test_a_number_of_runs_is_found_however_low_they_score() -> None:
    scores = np.array([5.0, -9.0, -1.0, -9.0, -2.0])
    found = choose_runs(make_pool([5]), scores, scores, most=3)
    assert [run.best for run in found] == [0, 2, 4]


def test_the_budget_holds_and_the_best_sentence_stands() -> None:
    scores = np.array([3.0, 3.1, 3.2, 3.0])
    pool = make_pool([4])
    assert choose_runs(pool, scores, scores, budget=25, measure=lambda _: 10) == [Run(1, 3, 2)]
    assert choose_runs(pool, scores, scores, budget=5, measure=lambda _: 10) == [Run(2, 3, 2)]


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    data=st.data(),
    most=st.one_of(st.none(), st.integers(1, 8)),
    budget=st.one_of(st.none(), st.integers(1, 12)),
)
def test_laws(sizes: list[int], data: st.DataObject, most: int | None, budget: int | None) -> None:
    n = sum(sizes)
    values = data.draw(st.lists(st.floats(-5, 5), min_size=n, max_size=n))
    scores = np.array(values)
    pool = make_pool(sizes)
    runs = choose_runs(pool, scores, scores, most=most, budget=budget)
    taken = [i for run in runs for i in range(run.first, run.last)]
    assert len(taken) == len(set(taken))
    assert all(run.first <= run.best < run.last for run in runs)
    assert all(len({pool.documents[i] for i in range(r.first, r.last)}) == 1 for r in runs)
    best = [scores[run.best] for run in runs]
    assert best == sorted(best, reverse=True)
    assert best[0] == scores.max()
    assert all(scores[run.best] == scores[run.first : run.last].max() for run in runs)
    if budget is not None:
        assert len(taken) <= max(budget, 1)
    if most is None:
        edges = {(run.last, run.first) for run in runs}
        owner = np.searchsorted(pool.runs, np.arange(n), side="right")
        # What adjoins within a document is one run.
        starts = {first for _, first in edges}
        assert not any(e in starts and owner[e - 1] == owner[min(e, n - 1)] for e, _ in edges)
    else:
        assert len(runs) <= most
        low = min(scores[run.first : run.last].min() - scores[run.best] for run in runs)
        assert low >= -REACH - 1e-9


def test_identical_text_is_one_passage_that_lists_its_places() -> None:
    text = "Alpha one.Beta two. "
    documents = {name: Document(name, f"{name}.txt", text) for name in ("a", "b")}
    scores = np.array([4.0, 0.0, 3.5, 0.0])
    pool = make_pool([2, 2], ["a", "b"])
    runs = choose_runs(pool, scores, scores)
    (passage,) = make_passages(pool, scores, {"windows": scores}, runs, documents.get)
    assert (passage.source, passage.start, passage.end) == ("a.txt", 0, 9)
    assert passage.text == text[0:9]
    assert passage.parts == {"windows": 4.0}
    assert [(place.source, place.start) for place in passage.duplicates] == [("b.txt", 0)]


def test_text_that_stands_within_another_passage_is_no_passage_of_its_own() -> None:
    text = "Alpha one.Beta two. Gamma six."
    documents = {name: Document(name, f"{name}.txt", text) for name in ("a", "b")}
    scores = np.array([3.0, 5.0, 0.0, 2.0, 4.0, 1.0])
    pool = make_pool([3, 3], ["a", "b"])
    for runs in ([Run(0, 2, 1), Run(4, 5, 4)], [Run(1, 2, 1), Run(3, 5, 4)]):
        (passage,) = make_passages(pool, scores, {"windows": scores}, runs, documents.get)
        assert (passage.start, passage.end, passage.score) == (0, 19, 5.0)
        assert passage.parts == {"windows": 5.0}
        assert len(passage.duplicates) == 1
    # Only whole sentences count: "2 days" is not what "12 days" says.
    texts = {"a": Document("a", "a", "In 12 days"), "b": Document("b", "b", "12 days")}
    short = make_pool([1, 1], ["a", "b"])
    both = [Run(0, 1, 0), Run(1, 2, 1)]
    assert len(make_passages(short, scores[:2], {}, both, texts.get)) == 2


def test_a_passage_that_holds_several_earlier_ones_takes_the_best_rank() -> None:
    text = "Alpha one.Beta two. Gamma six."
    documents = {name: Document(name, f"{name}.txt", text) for name in ("a", "b")}
    scores = np.array([5.0, 0.0, 4.0, 1.0, 2.0, 3.0])
    runs = [Run(0, 1, 0), Run(2, 3, 2), Run(3, 6, 5)]
    pool = make_pool([3, 3], ["a", "b"])
    (passage,) = make_passages(pool, scores, {}, runs, documents.get)
    assert (passage.source, passage.start, passage.score) == ("b.txt", 0, 5.0)
    assert [(place.source, place.start) for place in passage.duplicates] == [
        ("a.txt", 0),
        ("a.txt", 20),
    ]
