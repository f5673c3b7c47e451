"""Runs and their files: what is written is read back, here and by trec_eval's rules."""

from __future__ import annotations

import csv
import json

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError, ModelError
from citespan.evaluate.evaluation import evaluate_run
from citespan.evaluate.exports import (
    list_ragas_rows,
    read_trec_qrels,
    read_trec_run,
    write_metrics_comparison,
    write_ragas,
    write_retrieval_results,
    write_sentences,
    write_trec_qrels,
    write_trec_run,
)
from citespan.evaluate.groundtruth import Evidence, Question
from citespan.evaluate.metrics import parse_metrics
from citespan.evaluate.ranking import evaluate_qrels
from citespan.evaluate.relevance import judge_chunks, judge_documents
from citespan.evaluate.retrieval import query_evaluation, run_retrieval
from citespan.evaluate.runs import (
    GateRecord,
    RankedPassage,
    Result,
    Run,
    as_ranked,
    make_run,
    read_run,
    write_run,
)
from citespan.types import Chunk, Hit, Passage, Span

names = st.text(alphabet=st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    str.strip
)
span = st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda p: Span(p[0], p[0] + p[1]))
passages = st.builds(
    RankedPassage,
    names,
    st.lists(span, min_size=1, max_size=3).map(tuple),
    st.floats(-5, 5),
    st.text(max_size=5).map(lambda t: t.encode("utf-8", "ignore").decode()),
)
gates = st.none() | st.builds(
    GateRecord, st.sampled_from(["answerable", "insufficient"]), st.floats(0, 1)
)
results = st.builds(Result, names, st.lists(passages, max_size=4).map(tuple), gates)


@given(found=st.lists(results, max_size=4, unique_by=lambda r: r.query_id))
def test_jsonl_round_trip(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "mine.jsonl"
    run = Run("mine", {result.query_id: result for result in found})
    write_run(run, path)
    assert read_run(path) == run


def test_the_shape_that_others_write(tmp_path):
    path = tmp_path / "theirs.jsonl"
    row = {
        "query_id": "q1",
        "passages": [{"doc_id": "d", "start": 0, "end": 9, "score": 0.5}],
        "gate": {"state": "insufficient", "score": 0.3},
    }
    path.write_text(json.dumps(row), "utf-8")
    result = read_run(path).results["q1"]
    assert result.passages == (RankedPassage("d", (Span(0, 9),), 0.5),)
    assert result.gate is not None
    assert result.gate.refused


def test_all_bad_lines_of_a_run_in_one_message(tmp_path):
    path = tmp_path / "run.jsonl"
    lines = [
        '{"query_id": "a", "passages": []}',
        '{"query_id": "a", "passages": []}',
        '{"passages": []}',
        '{"query_id": "b"}',
        '{"query_id": "c", "passages": [{"doc_id": "d", "start": 3, "end": 3}]}',
        '{"query_id": "d", "passages": [{"doc_id": "d", "start": -1, "end": 3}]}',
        '{"query_id": "e", "passages": [{"start": 1, "end": 3}]}',
        "{",
    ]
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert "7 problems" in str(caught.value)
    assert "'passages' is missing" in str(caught.value)


def test_the_pipelines_values_become_ranked_passages():
    chunk = Chunk("d", 0, (Span(2, 6),), "text")
    assert as_ranked(Hit(chunk, 0.7, 1)) == RankedPassage("d", (Span(2, 6),), 0.7, "text")
    passage = Passage("d", "d.txt", 2, 6, "text", 0.4)
    assert as_ranked(passage) == RankedPassage("d", (Span(2, 6),), 0.4, "text")
    assert as_ranked(chunk).id == as_ranked(passage).id == "d:2-6"


CHUNKS = [RankedPassage("my doc.md", (Span(10 * i, 10 * i + 10),)) for i in range(6)]
QUESTIONS = [
    Question("q 1", "One?", ("my doc.md",), (Evidence("my doc.md", 15, 25),), answer="yes"),
    Question("q2", "Two?", ("my doc.md",), (Evidence("my doc.md", 40, 45),)),
    Question("q3", "Three?", ("my doc.md",), (Evidence("my doc.md", 0, 5),)),
    Question("none", "Four?", answerable=False),
]
RUN = make_run(
    "fixed size",
    {"q 1": [CHUNKS[0], CHUNKS[2], CHUNKS[1]], "q2": [], "none": [CHUNKS[5]], "other": []},
)
NAMES = ["hit_rate@1", "MRR@3", "recall@3", "precision@3", "nDCG@3", "MAP", "doc_recall@1"]


def test_chunk_metrics_by_hand():
    scores = evaluate_run(RUN, QUESTIONS, NAMES, chunks=CHUNKS).scores
    values = {name: scores[name].values["q 1"] for name in NAMES}
    assert values["hit_rate@1"] == 0
    assert values["MRR@3"] == 1 / 2
    assert values["recall@3"] == 1
    assert values["precision@3"] == pytest.approx(2 / 3)
    assert values["MAP"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert values["doc_recall@1"] == 1
    recall = scores["recall@3"]
    assert recall.values == {"q 1": 1.0, "q2": 0.0}, "nothing found is 0, not asked is absent"
    assert (recall.mean, recall.unmeasured, recall.not_applicable) == (0.5, ("q3",), ("none",))


def test_notes_say_what_is_left_out():
    notes = evaluate_run(RUN, QUESTIONS, ["MRR@3"]).notes
    assert "1 of 4 questions were not asked" in notes[0]
    assert "1 questions of the run have no ground truth" in notes[1]
    elsewhere = make_run("r", {"q2": [RankedPassage("8f3a", (Span(0, 5),))]})
    [note] = evaluate_run(elsewhere, QUESTIONS[1:2], ["MRR@3"]).notes
    assert "resolve_documents" in note


def test_recall_over_chunks_needs_the_collection_and_its_own_chunks():
    with pytest.raises(InputError, match=r"recall@3, MAP must know all chunks"):
        evaluate_run(RUN, QUESTIONS, ["recall@3", "MRR@3", "MAP"])
    grown = make_run("grown", {"q 1": [RankedPassage("my doc.md", (Span(0, 60),))]})
    with pytest.raises(InputError, match="is no chunk of the collection"):
        evaluate_run(grown, QUESTIONS, ["recall@3"], chunks=CHUNKS)
    scores = evaluate_run(grown, QUESTIONS, ["evidence_recall@3"], chunks=CHUNKS).scores
    assert scores["evidence_recall@3"].values == {"q 1": 1.0}


def test_a_repeated_passage_counts_once():
    run = make_run("r", {"q 1": [CHUNKS[0], CHUNKS[0], CHUNKS[1]]})
    scores = evaluate_run(run, QUESTIONS, ["MRR@3", "precision@2"]).scores
    assert scores["MRR@3"].values["q 1"] == 1 / 2
    assert scores["precision@2"].values["q 1"] == 1 / 2


def test_trec_files_give_the_same_figures_there_and_here(tmp_path):
    """Also through trec_eval's own code, which sorts by score and knows nothing of our order."""
    qrels = judge_chunks(QUESTIONS, CHUNKS)
    write_trec_run(RUN, tmp_path / "run.trec")
    write_trec_qrels(qrels, tmp_path / "qrels.trec")
    run = read_trec_run(tmp_path / "run.trec", queries=RUN.results)
    back = read_trec_qrels(tmp_path / "qrels.trec")
    assert back == qrels
    here = evaluate_run(RUN, QUESTIONS, NAMES[1:6], chunks=CHUNKS).scores
    for scores in evaluate_qrels(run, back, parse_metrics(NAMES[1:6])):
        assert scores.values == pytest.approx(here[scores.metric.name].values)
    evaluator = pytrec_eval.RelevanceEvaluator(back, {"recip_rank", "map"})
    there = evaluator.evaluate(run)
    assert there["q 1"]["map"] == pytest.approx(here["MAP"].values["q 1"], abs=1e-9)
    assert (tmp_path / "run.trec").read_text("utf-8").startswith("q%201 Q0 my%20doc.md:0-10 1 3.0 ")


def test_trec_documents_and_broken_lines(tmp_path):
    write_trec_run(RUN, tmp_path / "run.trec", unit="doc")
    assert read_trec_run(tmp_path / "run.trec")["q 1"] == {"my doc.md": 0.0}
    assert judge_documents(QUESTIONS)["q2"] == {"my doc.md": 1.0}
    (tmp_path / "bad").write_text("q Q0 d 1 x tag\nq 0\n\n", "utf-8")
    with pytest.raises(InputError, match="2 problems: line 1 is not"):
        read_trec_run(tmp_path / "bad")
    with pytest.raises(InputError, match="no file"):
        read_trec_qrels(tmp_path / "absent")
    with pytest.raises(InputError, match=r"grade 0\.5"):
        write_trec_qrels({"q": {"d": 0.5}}, tmp_path / "x")


@given(ids=st.lists(names, min_size=1, max_size=4, unique=True))
def test_any_id_survives_a_trec_file(ids, tmp_path_factory):
    path = tmp_path_factory.mktemp("trec") / "qrels"
    qrels = {ids[0]: dict.fromkeys(ids, 1)}
    write_trec_qrels(qrels, path)
    assert read_trec_qrels(path) == qrels


def test_ragas_columns(tmp_path):
    text = "0123456789" * 6
    run = Run("r", {"q 1": Result("q 1", (CHUNKS[1],), answer="sure")})
    rows = list_ragas_rows(run, QUESTIONS, texts={"my doc.md": text})
    assert rows == [
        {
            "question": "One?",
            "contexts": ["0123456789"],
            "answer": "sure",
            "ground_truth": "yes",
            "user_input": "One?",
            "retrieved_contexts": ["0123456789"],
            "response": "sure",
            "reference": "yes",
            "reference_contexts": ["5678901234"],
        }
    ]
    write_ragas(run, QUESTIONS, tmp_path / "r.jsonl", texts={"my doc.md": text})
    assert json.loads((tmp_path / "r.jsonl").read_text("utf-8")) == rows[0]


def test_tables(tmp_path):
    write_retrieval_results([RUN], QUESTIONS, tmp_path / "retrieval_results.csv", top=2)
    with (tmp_path / "retrieval_results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["question_id"], r["rank"]) for r in rows] == [
        ("q 1", "1"),
        ("q 1", "2"),
        ("q2", ""),
        ("none", "1"),
    ]
    evaluations = [
        evaluate_run(RUN, QUESTIONS, ["MRR@3", "span_recall@3", "AUROC"]),
        evaluate_run(make_run("empty", {}), QUESTIONS, ["MRR@3", "span_recall@3", "AUROC"]),
    ]
    write_metrics_comparison(evaluations, tmp_path / "metrics_comparison.csv")
    with (tmp_path / "metrics_comparison.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [(r["metric"], r["strategy"]) for r in table][:2] == [
        ("MRR@3", "fixed size"),
        ("MRR@3", "empty"),
    ]
    assert table[0]["mean"] == "0.250000"
    assert (table[1]["mean"], table[1]["questions"], table[1]["unmeasured"]) == ("", "0", "3")
    assert table[2]["pooled"] == "0.666667"


def test_sentences(tmp_path):
    found = {"a": [(Span(0, 4), 0), (Span(5, 9), 1)]}
    write_sentences(found, {"a": "One. Two."}, tmp_path / "sentences.json")
    first, second = json.loads((tmp_path / "sentences.json").read_text("utf-8"))
    assert first["text"] == "One."
    expected = {"doc_id": "a", "order": 1, "start": 5, "end": 9, "chunk": 1, "text": "Two."}
    assert second == expected


def test_run_retrieval_asks_by_name_and_goes_on_after_a_failure():
    def broken_on_two(question, k):
        if question.id == "q2":
            raise ModelError("the model is away")
        return Result("ignored", tuple(CHUNKS), GateRecord("answerable", 0.8), answer="a")

    done: list[int] = []
    run = run_retrieval(
        QUESTIONS[:3], "semantic", collections={"semantic": broken_on_two}, progress=done.append
    )
    assert (run.name, run.settings, done) == ("semantic", {"k": 3}, [1, 2, 3])
    assert list(run.results) == ["q 1", "q3"]
    assert run.failures == {"q2": "the model is away"}
    assert len(run.results["q 1"].passages) == 3
    assert run.results["q 1"].gate == GateRecord("answerable", 0.8)
    scores = evaluate_run(run, QUESTIONS, ["MRR@3"])
    assert scores.scores["MRR@3"].unmeasured == ("q2",)
    assert any("1 questions failed" in note for note in scores.notes)
    with pytest.raises(InputError, match="no collection 'x'; there are: semantic"):
        run_retrieval(QUESTIONS, "x", collections={"semantic": broken_on_two})
    with pytest.raises(InputError, match="k=0"):
        run_retrieval(QUESTIONS, "x", retrieve=broken_on_two, k=0)


def test_query_evaluation_is_the_runs_value_for_one_question():
    found = RUN.results["q 1"].passages
    one = query_evaluation(QUESTIONS[0], found, NAMES, chunks=CHUNKS)
    whole = evaluate_run(RUN, QUESTIONS, NAMES, chunks=CHUNKS).scores
    assert one == {name: whole[name].values["q 1"] for name in NAMES}
    assert query_evaluation(QUESTIONS[3], found)["MRR@3"] is None
