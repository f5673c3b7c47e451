"""An embedding server on loopback that answers as its script says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from citespan.embed.hashing import HashingEmbedder

Script = Callable[[dict[str, Any]], tuple[int, Any]]


def answer_honestly(body: dict[str, Any]) -> tuple[int, Any]:
    """Answer with hashing vectors, unnormalised, in reverse order (the index says which).

    The last number is never 0: a real model's vector is not, while two words may cancel here.
    """
    vectors = HashingEmbedder(dimension=32).embed([f"{text} x" for text in body["input"]])
    vectors[:, -1] = 0.5
    data = [
        {"object": "embedding", "index": row, "embedding": [3 * float(x) for x in vector]}
        for row, vector in enumerate(vectors)
    ]
    return 200, {"object": "list", "model": body["model"], "data": data[::-1]}


class EmbeddingHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.requests.append({"path": self.path, **body})
        status, answer = server.script(body)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), EmbeddingHandler)
        self.requests: list[dict[str, Any]] = []
        self.script: Script = answer_honestly

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def run_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
