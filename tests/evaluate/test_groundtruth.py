"""Ground truth: what is written is read back, and every mistake is reported at once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.checks import (
    apply_proposals,
    check_file,
    check_questions,
    resolve_documents,
)
from citespan.evaluate.groundtruth import (
    Evidence,
    Question,
    format_question,
    parse_question,
    read_benchmark,
    read_questions,
    write_questions,
)
from citespan.types import Document
from support import bench_dir

words = st.text(
    alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12
).filter(str.strip)
# Names that a spreadsheet's cell may not confuse with JSON or with a list.
names = st.sampled_from(["a.md", "dir/b c.txt", "я|文.txt", "[x].md", "5"])
spans = st.tuples(st.integers(0, 99), st.integers(1, 99)).map(lambda p: (p[0], p[0] + p[1]))
evidence = st.builds(lambda d, s, q: Evidence(d, *s, q), names, spans, st.just("") | words)
labelled = st.builds(
    lambda id_, text, ev, lang, scope, answer: Question(
        id_, text, tuple(dict.fromkeys(e.doc_id for e in ev)), tuple(ev), True, lang, scope, answer
    ),
    words.map(lambda w: "q" + w),
    words,
    st.lists(evidence, max_size=3),
    st.sampled_from(["", "ru"]),
    st.lists(names, max_size=2).map(tuple),
    st.just("") | words,
)


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@given(questions=st.lists(labelled, max_size=4, unique_by=lambda q: q.id))
def test_round_trip(ending, questions, tmp_path_factory):
    path = tmp_path_factory.mktemp("gt") / f"q.{ending}"
    write_questions(questions, path)
    assert read_questions(path) == questions


def test_the_shape_that_the_issue_names():
    row = {
        "question": "Who?",
        "relevant_docs": ["a"],
        "evidence": [{"doc": "a", "start": 1, "end": 4}],
    }
    question = parse_question(row)
    assert question.evidence == (Evidence("a", 1, 4),)
    assert {key: format_question(question)[key] for key in row} == row
    assert parse_question(row).id == question.id, "the id is stable"
    other = parse_question(row | {"scope": ["a"]})
    assert other.id != question.id, "the same words about another document are another question"


def test_csv_as_a_person_writes_it(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(
        "question,relevant_docs,answerable\nWho?,a.md | b.md,\nWhy?,,no\n", encoding="utf-8-sig"
    )
    who, why = read_questions(path)
    assert who.relevant_docs == ("a.md", "b.md")
    assert not why.answerable


def test_all_bad_lines_in_one_message(tmp_path):
    path = tmp_path / "q.jsonl"
    lines = [
        '{"question": "ok", "relevant_docs": ["a"]}',
        "not json",
        "[1]",
        '{"relevant_docs": ["a"]}',
        '{"question": " "}',
        '{"question": "x", "evidence": [{"doc": "a", "start": 9, "end": 3}]}',
        '{"question": "x", "evidence": [{"doc": "a", "start": "1", "end": 3}]}',
        '{"question": "x", "evidence": [{"start": 1, "end": 3}]}',
        '{"question": "ok", "relevant_docs": ["a"]}',
        '{"question": "y", "answerable": false, "relevant_docs": ["a"]}',
        '{"question": "z", "answerable": "maybe"}',
        '{"question": "z", "evidence": ["a"]}',
    ]
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(InputError) as caught:
        read_questions(path)
    message = str(caught.value)
    assert message.startswith("q.jsonl: 11 problems: line 2: not JSON")
    for number in range(2, 13):
        assert f"line {number}: " in message
    assert "\n" not in message


def test_a_file_that_is_not_there_or_not_utf8(tmp_path):
    with pytest.raises(InputError, match="no file q"):
        read_questions(tmp_path / "q.jsonl")
    for name in ("q.jsonl", "q.csv"):
        (tmp_path / name).write_bytes("question\nÜber\n".encode("latin-1"))
        with pytest.raises(InputError, match="not UTF-8"):
            read_questions(tmp_path / name)
    (tmp_path / "h.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(InputError, match="no column 'question'"):
        read_questions(tmp_path / "h.csv")


@pytest.mark.parametrize(
    ("name", "count", "unanswerable", "spans"),
    [
        ("chroma_chunking", 220, 0, 344),
        ("contractnli_dev", 1037, 423, 1228),
        ("squad2_500", 252, 134, 253),
        ("scifact", 300, 0, 366),
    ],
)
def test_benchmarks(name, count, unanswerable, spans):
    questions = read_benchmark(bench_dir(name))
    assert len(questions) == count
    assert sum(not q.answerable for q in questions) == unanswerable
    assert sum(len(q.evidence) for q in questions) == spans


def test_a_benchmarks_evidence_passes_the_checks():
    folder = bench_dir("xquad_zh_articles")
    lines = (folder / "corpus.jsonl").read_text("utf-8").splitlines()
    documents = [Document(r["id"], r["id"], r["text"]) for r in map(json.loads, lines)]
    found = check_questions(read_benchmark(folder), documents)
    assert {problem.kind for problem in found} <= {"duplicate_question"}


DOCUMENTS = [
    Document("1", "notes/a.md", "A new first line. The answer is 42. The answer is 42."),
    Document("2", "notes/b.md", "Short."),
    Document("3", "old/b.md", "Other."),
]


def test_every_kind_of_mistake_is_reported_at_once():
    where = "notes/a.md"
    questions = [
        Question("moved", "Q1?", (where,), (Evidence(where, 0, 17, "The answer is 42."),)),
        Question("lost", "Q2?", (where,), (Evidence(where, 0, 5, "gone!"),)),
        Question("far", "Q3?", (where,), (Evidence(where, 50, 99),)),
        Question("inverted", "Q4?", (where,), (Evidence(where, 9, 3),)),
        Question("empty", "Q5?", (where,), (Evidence(where, 3, 3),)),
        Question("blank", "Q6?", (where,), (Evidence(where, 1, 2),)),
        Question("twice", "Q7?", (where,), (Evidence(where, 0, 5), Evidence(where, 0, 5))),
        Question("absent", "Q8?", ("c.md",)),
        Question("several", "Q9?", ("b.md",)),
        Question("same", "q1 ?".replace(" ", ""), (where,)),
        Question("nothing", "Q10?"),
        Question("both", "Q11?", (where,), answerable=False),
        Question("scope", "Q12?", (where,), (Evidence(where, 0, 5),), scope=("2",)),
        Question("id", "Q13?", ("1",)),
        Question("id", "Q14?", ("1",)),
    ]
    found = [(p.question_id, p.kind) for p in check_questions(questions, DOCUMENTS)]
    assert found == [
        ("moved", "moved_quote"),
        ("lost", "lost_quote"),
        ("far", "bad_span"),
        ("inverted", "bad_span"),
        ("empty", "bad_span"),
        ("blank", "bad_span"),
        ("twice", "duplicate_evidence"),
        ("absent", "missing_document"),
        ("several", "ambiguous_document"),
        ("same", "duplicate_question"),
        ("nothing", "unlabelled"),
        ("both", "contradiction"),
        ("scope", "contradiction"),
        ("id", "duplicate_id"),
    ]


def test_a_moved_quote_is_anchored_again_at_the_nearest_place():
    old = Evidence("notes/a.md", 34, 51, "The answer is 42.")
    questions = [Question("q", "?", ("notes/a.md",), (old,))]
    problems = check_questions(questions, DOCUMENTS)
    [mended] = apply_proposals(questions, problems)
    assert mended.evidence == (Evidence("notes/a.md", 36, 53, "The answer is 42."),)
    assert check_questions([mended], DOCUMENTS) == []


def test_a_file_is_checked_with_its_unreadable_lines(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "a", "relevant_docs": ["x.md"]}\n{"question": 1}\n', "utf-8")
    assert [p.kind for p in check_file(path, DOCUMENTS)] == ["unreadable", "missing_document"]


def test_names_become_ids():
    asked = [Question("q", "?", ("a.md",), (Evidence("notes/a.md", 0, 5),), scope=("1", "b.md"))]
    [resolved], problems = resolve_documents(asked, DOCUMENTS)
    assert resolved.relevant_docs == ("1",)
    assert resolved.evidence[0].doc_id == "1"
    assert resolved.scope == ("1", "b.md")
    assert [p.kind for p in problems] == ["ambiguous_document"]
