"""Labelling by file and by terminal, with answers typed by the test."""

from __future__ import annotations

import pytest

from citespan.errors import InputError
from citespan.evaluate.groundtruth import Evidence, Question
from citespan.evaluate.labelling import label_questions, label_quotes, read_quote_table
from citespan.types import Document

DOCUMENTS = [
    Document("1", "a.txt", "The cat sat on the mat. The dog “slept”."),
    Document("2", "b.txt", "A cat sat elsewhere. The dog barked."),
]


def run_session(questions, *typed, documents=DOCUMENTS):
    answers = iter(typed)
    said: list[str] = []
    saved: list[str] = []

    def ask(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    done = label_questions(
        questions, documents, ask=ask, say=said.append, save=lambda q: saved.append(q.id)
    )
    return done, "\n".join(said), saved


def test_one_place_is_taken_and_shown():
    [done], said, saved = run_session([Question("q", "Where?")], 'dog "slept"', "")
    assert done.evidence == (Evidence("a.txt", 28, 39, "dog “slept”"),)
    assert done.relevant_docs == ("a.txt",)
    assert "[dog “slept”]" in said
    assert saved == ["q"]


def test_ambiguous_places_are_asked_until_understood():
    [done], said, _ = run_session([Question("q", "?")], "The dog", "7", "x", "2", "")
    assert [e.doc_id for e in done.evidence] == ["b.txt"]
    assert "it stands in 2 places" in said
    assert said.count("type numbers from 1 to 2") == 2
    [both], _, _ = run_session([Question("q", "?")], "The dog", "all", "")
    assert both.relevant_docs == ("a.txt", "b.txt")
    [none], _, saved = run_session([Question("q", "?")], "The dog", "", "")
    assert (none.evidence, saved) == ((), [])


def test_not_found_is_said_and_asked_again():
    [done], said, _ = run_session([Question("q", "?")], "no such words", "barked", "")
    assert "not found" in said
    assert done.evidence[0].doc_id == "b.txt"


def test_unanswerable_skip_and_stop():
    questions = [Question(name, f"{name}?") for name in ("none", "skip", "stop", "later")]
    done, _, saved = run_session(questions, "-", "s", "q")
    assert [q.answerable for q in done] == [False, True, True, True]
    assert saved == ["none"]
    assert done[1:] == questions[1:]


def test_stopping_keeps_what_was_pasted_for_the_open_question():
    for stop in (["q"], [], ["The dog"]):
        done, _, saved = run_session([Question("1", "a?"), Question("2", "b?")], "barked", *stop)
        assert [len(q.evidence) for q in done] == [1, 0]
        assert saved == ["1"]


def test_a_session_goes_on_where_it_stopped():
    questions = [Question("1", "a?"), Question("2", "b?"), Question("3", "c?", answerable=False)]
    done, _, _ = run_session(questions, "the mat", "")
    assert [bool(q.evidence) for q in done] == [True, False, False]
    again, said, saved = run_session(done, "barked", "")
    assert saved == ["2"]
    assert "[2/3] b?" in said
    assert "a?" not in said
    assert all(q.evidence or not q.answerable for q in again)


def test_scope_limits_where_quotes_are_looked_for():
    [done], _, _ = run_session([Question("q", "?", scope=("b.txt",))], "The dog", "")
    assert [e.doc_id for e in done.evidence] == ["b.txt"]


def test_by_file(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text(
        "question,quote,doc,answerable\n"
        "Where?,on the mat,,\n"
        "Where?,sat elsewhere,,\n"
        "Dog?,The dog,,\n"
        "Dog2?,The dog,b.txt,\n"
        "Gone?,nowhere,,\n"
        "File?,x,c.txt,\n"
        "Doc?,,a.txt,\n"
        "None?,,,no\n",
        "utf-8",
    )
    done = label_quotes(read_quote_table(path), DOCUMENTS)
    by_text = {q.text: q for q in done.questions}
    assert [e.doc_id for e in by_text["Where?"].evidence] == ["a.txt", "b.txt"]
    assert [e.start for e in by_text["Dog2?"].evidence] == [21]
    assert by_text["Doc?"].relevant_docs == ("a.txt",)
    assert not by_text["None?"].answerable
    assert [(o.question, len(o.places), o.reason) for o in done.open_quotes] == [
        ("Dog?", 2, "stands in 2 places"),
        ("Gone?", 0, "not found in the documents"),
        ("File?", 0, "no document of the name 'c.txt'"),
    ]


def test_a_table_without_questions(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text("question,quote\n,x\n,y\n", "utf-8")
    with pytest.raises(InputError, match="2 problems: line 2: no question; line 3"):
        read_quote_table(path)
