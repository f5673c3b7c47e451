"""Embedding by a server: batches, checks, and one line for whatever goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from citespan.embed.remote import RemoteEmbedder
from citespan.errors import ModelError
from embedding_server import answer_honestly, run_server


@pytest.fixture
def server():
    with run_server() as server:
        yield server


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_batches_order_and_norm(server):
    embedder = RemoteEmbedder("m", server.url, batch=2)
    texts = ["one", "", "two", "three", "four", "five"]
    vectors = embedder.embed(texts)
    assert [len(request["input"]) for request in server.requests[1:]] == [2, 2, 1]
    assert server.requests[1]["path"] == "/v1/embeddings"
    assert not vectors[1].any()
    expected = [
        answer_honestly({"input": [t], "model": ""})[1]["data"][0]["embedding"] for t in texts
    ]
    rows = np.array(expected, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors[[0, 2, 3, 4, 5]], rows[[0, 2, 3, 4, 5]], atol=1e-6)


def test_dimension_is_found_out_or_told(server):
    assert RemoteEmbedder("m", server.url).dimension == 32
    assert len(server.requests) == 1
    told = RemoteEmbedder("m", server.url, dimension=7)
    assert len(server.requests) == 1
    with pytest.raises(ModelError, match="32 dimensions, and 7 before"):
        told.embed(["a"])


def test_prefixes_and_name(server):
    embedder = RemoteEmbedder("m", server.url, query_prefix="query: ", document_prefix="passage: ")
    embedder.embed(["a"], kind="query")
    embedder.embed(["a"])
    assert [r["input"] for r in server.requests[1:]] == [["query: a"], ["passage: a"]]
    assert embedder.name != RemoteEmbedder("m", server.url).name
    assert "127.0.0.1" not in embedder.name


def test_address_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert RemoteEmbedder("m").dimension == 32


def test_busy_server_is_asked_again(server):
    answers = iter([(503, {"error": {"message": "busy"}})])
    server.script = lambda body: next(answers, None) or answer_honestly(body)
    assert RemoteEmbedder("m", server.url, retries=1).dimension == 32


def data(*rows):
    return {"object": "list", "model": "m", "data": [{"index": i, "embedding": v} for i, v in rows]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, data((0, [1.0]))), "1 vectors for 2 texts"),
        ((200, data((0, [1.0]), (0, [1.0]))), "vectors for 2 texts"),
        ((200, data((0, [1.0, 2.0]), (1, [1.0]))), "something else"),
        ((200, data((0, [0.0]), (1, [1.0]))), "zero or not finite"),
        (
            (200, b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'),
            "zero or not finite",
        ),
        ((200, data((0, []), (1, []))), "unequal length"),
        ((200, data((0, "text"), (1, "text"))), "something else"),
        ((200, {"data": None}), "something else"),
        ((200, {}), "something else"),
        ((200, b"<html>"), "something else"),
        ((200, b""), "something else"),
        ((400, {"error": {"message": "input too long"}}), "input too long; split into smaller"),
        ((401, {"error": {"message": "bad key"}}), r"refused \(401\).*OPENAI_API_KEY"),
        ((404, {"error": {"message": "no such model"}}), "ends in /v1"),
        ((500, b"boom"), "server's own log"),
    ],
)
def test_every_failure_is_one_line_with_the_address(server, answer, said):
    embedder = RemoteEmbedder("m", server.url, dimension=1, retries=0)
    server.script = lambda _: answer
    with pytest.raises(ModelError, match=said) as caught:
        embedder.embed(["a", "b"])
    assert "\n" not in str(caught.value)
    assert server.url in str(caught.value)
    assert caught.value.fix


def test_no_server_no_key_no_address_no_model(server):
    closed = server.url.replace(str(server.server_port), "9")
    with pytest.raises(ModelError, match=r"no server at .*start it"):
        RemoteEmbedder("m", closed, retries=0)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        RemoteEmbedder("m")
    with pytest.raises(ModelError, match="no web address"):
        RemoteEmbedder("m", "localhost:1234")
    with pytest.raises(ModelError, match="openai:MODEL"):
        RemoteEmbedder()


def test_password_in_the_address_is_not_shown(server):
    address = server.url.replace("http://", "http://me:secret@").replace(
        str(server.server_port), "9"
    )
    with pytest.raises(ModelError) as caught:
        RemoteEmbedder("m", address, retries=0)
    assert "secret" not in str(caught.value)


def test_slow_server(server):
    import threading

    held = threading.Event()

    def wait(body):
        held.wait(5)
        return answer_honestly(body)

    server.script = wait
    with pytest.raises(ModelError, match=r"did not answer within 0\.2 s"):
        RemoteEmbedder("m", server.url, timeout=0.2, retries=0)
    held.set()


def test_counts_are_on_the_safe_side(server):
    from support import need_minilm

    need_minilm()
    from citespan.embed.onnx_embedder import open_minilm

    texts = ["The pump stops when the tank is full.", "水箱满了,水泵就停。", ""]
    remote = RemoteEmbedder("m", server.url, dimension=32)
    for guess, true in zip(
        remote.count_tokens(texts), open_minilm().count_tokens(texts), strict=True
    ):
        assert guess >= true
