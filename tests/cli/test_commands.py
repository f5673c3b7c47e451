"""Every command as a person uses it: what it prints, its JSON, its exit code, its one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chat_server import run_server
from citespan.cli import main
from support import block_sockets

QUESTION = "What does the red pump weigh?"


class Ran:
    """What one run of the command did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys):
    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        return Ran(int(stop.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture
def docs(place: Path) -> Path:
    folder = place / "docs"
    folder.mkdir()
    (folder / "pump.md").write_text(
        "# Pumps\n\nThe red pump weighs nine kilos. It needs oil once a year.\n", "utf-8"
    )
    (folder / "valve.txt").write_text("Blue valves cost five euros each.\n", "utf-8")
    return folder


@pytest.fixture
def indexed(docs: Path, run) -> Path:
    assert run("index", "docs", "--embedder", "none").code == 0
    return docs


def test_a_question_to_a_folder(docs, run):
    ran = run("ask", QUESTION, "--docs", "docs", "--embedder", "none")
    assert ran.code == 0
    assert "The red pump weighs nine kilos. [1]" in ran.out
    assert "[1] docs/pump.md" in ran.out
    assert "2 added" in ran.err
    assert "added" not in run("ask", QUESTION, "--docs", "docs", "--embedder", "none").err


def test_only_the_named_folder_is_asked(docs, run, place):
    (place / "more").mkdir()
    (place / "more" / "lamp.txt").write_text("The red lamp weighs one kilo.", "utf-8")
    run("index", "docs", "--embedder", "none")
    found = run("ask", "What does the red lamp weigh?", "--docs", "more", "--json").json
    assert {passage["source"] for passage in found["passages"]} == {"more/lamp.txt"}


def test_the_default_run_opens_no_connection(docs, run, monkeypatch):
    block_sockets(monkeypatch)
    assert run("index", "docs").code == 0
    assert run("ask", QUESTION).code == 0
    assert run("search", QUESTION).code == 0


def test_json_of_a_search(indexed, run):
    found = run("search", QUESTION, "--json").json
    assert found["question"] == QUESTION
    assert {"state", "score", "threshold", "reason"} <= set(found["gate"])
    assert found["gate"]["state"] == "answerable"
    passage = found["passages"][0]
    assert {"document_id", "source", "page", "start", "end", "text", "score", "parts"} <= set(
        passage
    )
    text = run("show", passage["source"], passage["start"], passage["end"], "--json").json["text"]
    assert text == passage["text"]


def test_json_of_an_answer_and_of_a_refusal(indexed, run):
    answer = run("ask", QUESTION, "--json").json
    assert {"question", "gate", "passages", "status", "answer", "sentences"} <= set(answer)
    assert answer["status"] == "answered"
    sentence = answer["sentences"][0]
    assert {"text", "citations", "supported"} <= set(sentence)
    assert sentence["supported"] is True
    cited = sentence["citations"][0]
    assert {"source", "start", "end", "quote"} <= set(cited)
    assert (
        run("show", cited["source"], cited["start"], cited["end"], "--json").json["text"]
        == (cited["quote"])
    )
    refused = run("ask", "Who won the world cup in 1998?", "--json").json
    assert (refused["status"], refused["sentences"]) == ("refused", [])


def test_a_refusal_shows_the_reason_and_exits_with_7_only_if_asked_to(indexed, run):
    ran = run("ask", "Who won the world cup in 1998?")
    assert ran.code == 0
    assert "Not found in the 2 documents searched" in ran.out
    assert run("ask", "Who won the world cup in 1998?", "--strict").code == 7
    assert run("ask", QUESTION, "--strict").code == 0


def test_explain_fits_the_terminal_and_names_every_stage(indexed, run, monkeypatch):
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        ran = run("explain", QUESTION)
        after_tables = ran.out.partition("Terms")[2]
        assert max(len(line) for line in after_tables.splitlines() if "──" in line) <= width
        for word in ("Terms", "Retrieve", "Expand", "Gate", "Generate", "Verify", "Time"):
            assert word in ran.out
        assert "docs/pump.md" in ran.out
    explained = run("explain", QUESTION, "--json").json
    assert explained["hits"][0]["source"] == "docs/pump.md"
    assert any(name.startswith("bm25[") for name in explained["hits"][0]["parts"])


def test_chunks_are_slices(docs, run):
    flags = ["--splitter", "words", "--size", 5, "--overlap", 1, "--embedder", "none"]
    shown = run("chunk", "docs/valve.txt", *flags, "--json").json
    text = (docs / "valve.txt").read_text("utf-8")
    assert [c["text"] for c in shown["chunks"]] == [
        text[c["start"] : c["end"]] for c in shown["chunks"]
    ]
    assert len(shown["chunks"]) > 1
    drawn = run("chunk", "docs/pump.md", "--embedder", "none")
    assert drawn.code == 0
    assert "1 chunk\n" in drawn.out
    assert "\x1b" not in drawn.out


def test_show_marks_the_span(indexed, run):
    ran = run("show", "valve.txt", 0, 11, "--around", 7)
    assert ran.out.splitlines()[0] == "docs/valve.txt, 0-11"
    assert ">>>Blue valves<<< cost f …" in ran.out


def test_status_and_remove(indexed, run):
    status = run("status", "--json", "--documents", "--check").json
    assert status["status"]["documents"] == 2
    assert [row["source"] for row in status["documents"]] == ["docs/pump.md", "docs/valve.txt"]
    assert status["problems"] == []
    ran = run("status", "--check", "--documents")
    assert "everything agrees" in ran.out
    assert "docs/valve.txt" in ran.out
    assert run("remove", "docs/valve.txt").out == "removed docs/valve.txt\n"
    assert run("status", "--json").json["status"]["documents"] == 1
    assert (indexed / "valve.txt").exists()


def test_index_reports(docs, run):
    (docs / "scan.gz").write_bytes(b"\x1f\x8b")
    report = run("index", "docs", "docs/scan.gz", "--embedder", "none", "--json").json
    assert report["added"] == ["docs/pump.md", "docs/valve.txt"]
    assert [skip["source"] for skip in report["skipped"]] == ["docs/scan.gz"]
    ran = run("index", "docs", "docs/scan.gz", "--embedder", "none")
    assert "2 unchanged" in ran.out
    assert "docs/scan.gz: " in ran.err


def test_config_says_where_each_value_is_from(run, monkeypatch, place):
    (place / "citespan.toml").write_text('splitter = "words"\n', "utf-8")
    monkeypatch.setenv("CITESPAN_BUDGET", "700")
    shown = run("config", "--json").json
    assert shown["budget"] == {"value": 700, "source": "environment"}
    assert shown["splitter"] == {"value": "words", "source": "citespan.toml"}
    assert shown["retriever"]["source"] == "default"
    assert "CITESPAN_BUDGET" in run("config").out


def test_models_are_listed(run, monkeypatch):
    monkeypatch.setenv("CITESPAN_MODELS", "nowhere")
    models = {row["name"]: row["present"] for row in run("model", "list", "--json").json}
    assert models["minilm"] is False
    assert "minilm" in run("model", "list").out


def test_run_writes_a_line_a_question(run, place):
    (place / "c.jsonl").write_text('{"id": "p", "text": "The red pump weighs nine kilos."}\n')
    (place / "q.jsonl").write_text('{"id": "1", "text": "red pump"}\n')
    ran = run("run", "--queries", "q.jsonl", "--corpus", "c.jsonl", "--out", "r.jsonl",
              "--embedder", "none")  # fmt: skip
    assert ran.code == 0
    row = json.loads((place / "r.jsonl").read_text("utf-8"))
    assert row["query_id"] == "1"
    assert row["passages"][0]["doc_id"] == "p"


@pytest.mark.parametrize("stream", [True, False])
def test_a_model_answers(indexed, run, monkeypatch, stream):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with run_server() as server:
        server.script = lambda handler, _: handler.answer("The red pump ", "weighs nine kilos. [1]")
        flags = ["--model", "some", "--base-url", server.url]
        ran = run("ask", QUESTION, *flags, *([] if stream else ["--no-stream"]))
        assert ran.code == 0
        assert ran.out.count("The red pump weighs nine kilos. [1]") == (2 if stream else 1)
        assert "[1] docs/pump.md" in ran.out
        answer = run("ask", QUESTION, *flags, "--json").json
        assert answer["sentences"][0]["supported"] is True
        asked = len(server.requests)
        refused = run("ask", "Who won the world cup in 1998?", *flags, "--json").json
        assert refused["status"] == "refused"
        assert len(server.requests) == asked  # no call where nothing relevant was found


def test_what_a_model_makes_up_is_marked(indexed, run):
    with run_server() as server:
        server.script = lambda handler, _: handler.answer(
            "The red pump weighs nine kilos. [1] ", "Blue valves cost 40 euros each. [2][7]"
        )
        ran = run("ask", QUESTION, "--model", "some", "--base-url", server.url, "--no-stream")
    assert 'NOT SUPPORTED: "Blue valves cost 40 euros each.' in ran.out
    assert "[7]" not in ran.out
    assert "not sent: 2, 7" in ran.out


WRONG = {
    "no such command": (["frob"], 2, "frob"),
    "no path": (["index"], 2, "PATH"),
    "missing path": (["index", "nosuch"], 2, "nosuch"),
    "missing docs": (["ask", "q", "--docs", "nosuch"], 2, "nosuch"),
    "empty question": (["ask", " "], 2, "empty"),
    "no question": (["search"], 2, "QUESTION"),
    "no index": (["search", "q", "--index", "nosuch"], 4, "citespan index PATH"),
    "index is a file": (["search", "q", "--index", "docs/pump.md"], 4, "is a file"),
    "index into a file": (["index", "docs", "--index", "docs/pump.md"], 4, "is a file"),
    "index among files": (["index", "docs", "--index", "docs"], 4, "other files"),
    "no number": (["search", "q", "-k", "many"], 2, "many"),
    "k of 0": (["search", "q", "-k", "0"], 2, "at least 1"),
    "threshold": (["search", "q", "--threshold", "7"], 2, "between 0 and 1"),
    "retriever": (["search", "q", "--retriever", "x"], 2, "hybrid"),
    "field": (["search", "q", "--field", "x"], 2, "NAME=VALUE"),
    "empty filter": (["search", "q", "--source", "zzz*"], 2, "--source"),
    "splitter": (["index", "docs", "--splitter", "word"], 2, "did you mean words?"),
    "overlap": (["chunk", "docs/pump.md", "--size", "5", "--overlap", "5", "--embedder", "none"],
                2, "overlap 5 is not smaller than size 5"),
    "embedder": (["index", "docs", "--embedder", "x", "--index", "new"], 2, "minilm"),
    "other embedder": (["index", "docs", "--embedder", "hashing"], 4, "--rebuild"),
    "span": (["show", "pump.md", "5", "2"], 2, "is no span of it"),
    "around": (["show", "pump.md", "0", "2", "--around", "-1"], 2, "around"),
    "document": (["show", "nosuch", "0", "2"], 2, "docs/pump.md"),
    "remove": (["remove", "nosuch"], 2, "--documents"),
    "queries": (["run", "--queries", "no.jsonl", "--out", "o"], 2, "no.jsonl"),
    "chunk": (["chunk", "nosuch"], 2, "nosuch"),
    "model": (["model", "fetch", "nosuch"], 5, "minilm"),
    "server": (["ask", QUESTION, "--model", "m", "--base-url", "http://127.0.0.1:9/v1"], 5,
               "no connection"),
    "no place": (["index", "docs", "--index", "/dev/null/x", "--embedder", "none"], 1, "/dev/null"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_plain_line_that_names_the_fix(case, indexed, run):
    arguments, code, said = WRONG[case]
    ran = run(*arguments)
    lines = ran.err.splitlines()
    assert len(lines) == 1, ran.err
    assert lines[0].startswith("citespan: ")
    assert said in lines[0]
    assert "Traceback" not in ran.err
    assert ran.out == ""
    assert ran.code == code
    # nothing was lost
    assert run("status", "--json", "--check").json["status"]["documents"] == 2


def test_a_defect_of_ours_is_one_line_too_unless_it_is_debugged(indexed, run, monkeypatch):
    from citespan.pipeline import ask

    def fail(*_, **__):
        raise RuntimeError("something\nunforeseen")

    monkeypatch.setattr(ask, "check_gate", fail)
    ran = run("search", QUESTION)
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
    assert "RuntimeError: something unforeseen" in ran.err
    monkeypatch.setenv("CITESPAN_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(["search", QUESTION])


def test_an_empty_index_is_said_to_be_empty(indexed, run):
    run("remove", "docs")
    ran = run("ask", QUESTION)
    assert ran.code == 4
    assert "holds no document" in ran.err


def test_bytes_that_are_no_utf8(indexed, run):
    assert run("search", "p\udcffump").code == 0
    ran = run("index", "no\udcff.txt")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
