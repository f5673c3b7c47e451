"""Many questions over a ready corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citespan.config import load_settings
from citespan.errors import InputError
from citespan.load import load_corpus
from citespan.pipeline import index_corpus, open_index, read_queries, run_queries

CORPUS = [
    {"id": "p", "title": "Pumps", "text": "The red pump weighs nine kilos. It needs oil."},
    {"id": "v", "title": "Valves", "text": "Blue valves cost five euros. They last ten winters."},
    {"id": "l", "title": "Lamps", "text": "The red lamp hangs above the pump. It is loud."},
]


def write_lines(path: str, rows: list) -> Path:
    Path(path).write_text(
        "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), "utf-8"
    )
    return Path(path)


def settings(**flags):
    return load_settings({"embedder": "hashing", **flags}, environ={}, folder=Path("nowhere"))


def run(queries: list, **how) -> list[dict]:
    corpus = write_lines("c.jsonl", CORPUS)
    asked = write_lines("q.jsonl", queries)
    run_queries(
        asked, Path("out/run.jsonl"), settings(**how.pop("flags", {})), corpus=corpus, **how
    )
    return [json.loads(line) for line in Path("out/run.jsonl").read_text("utf-8").splitlines()]


def test_a_line_a_question_with_spans_of_the_corpus():
    rows = run([{"id": "1", "text": "What does the pump weigh?"}, {"id": "2", "text": "Zebra?"}])
    assert [row["query_id"] for row in rows] == ["1", "2"]
    texts = {row["id"]: row["text"] for row in CORPUS}
    best = rows[0]["passages"][0]
    assert set(best) == {"doc_id", "start", "end", "score"}
    assert "nine kilos" in texts[best["doc_id"]][best["start"] : best["end"]]
    assert set(rows[0]["gate"]) == {"state", "score"}
    assert rows[1]["gate"]["state"] == "nothing_relevant"
    scores = [passage["score"] for passage in rows[0]["passages"]]
    assert scores == sorted(scores, reverse=True)


def test_a_scope_limits_the_documents():
    rows = run([{"id": "1", "text": "red pump", "scope": ["l", "v"]}])
    assert {p["doc_id"] for p in rows[0]["passages"]} <= {"l", "v"}
    with pytest.raises(InputError, match="not in the index: x"):
        run([{"id": "1", "text": "red pump", "scope": ["x"]}])


def test_k_bounds_the_passages_and_the_free_cut_follows_the_question():
    query = [{"id": "1", "text": "red pump lamp valves"}]
    assert len(run(query, flags={"k": 1})[0]["passages"]) == 1
    free = run(query)[0]["passages"]
    assert free == run(query)[0]["passages"]
    assert len(free) >= 1


def test_the_corpus_is_indexed_elsewhere_unless_it_is_kept():
    run([{"id": "1", "text": "pump"}])
    assert not Path(".citespan").exists()
    run([{"id": "1", "text": "pump"}], keep=True)
    with open_index(settings()) as index:
        assert {info.id for info in index.store.list_documents()} == {"p", "v", "l"}


def test_an_unchanged_corpus_costs_nothing_and_a_shrunk_one_shrinks():
    corpus = write_lines("c.jsonl", CORPUS)
    assert len(index_corpus(load_corpus(corpus), settings(), Path("ix")).added) == 3
    assert index_corpus(load_corpus(corpus), settings(), Path("ix")).unchanged == 3
    write_lines("c.jsonl", CORPUS[:2])
    assert len(index_corpus(load_corpus(corpus), settings(), Path("ix")).removed) == 1


def test_every_unusable_line_is_named():
    path = write_lines(
        "q.jsonl", [{"id": "a", "text": "x"}, "{", [], {"id": "b"}, {"id": "a", "text": "y"}]
    )
    with pytest.raises(InputError) as caught:
        read_queries(path)
    said = str(caught.value)
    for part in ("line 2: not JSON", "line 3", "line 4: no text", "line 5: the id 'a' occurs"):
        assert part in said
    assert "line 1" not in said


def test_a_failed_run_leaves_no_result():
    with pytest.raises(InputError):
        run([{"id": "1", "text": "pump", "scope": ["x"]}])
    assert not Path("out/run.jsonl").exists()
