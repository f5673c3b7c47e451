"""A scripted chat server on loopback, for every way in which a model may answer or misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[["ChatHandler", dict[str, Any]], None]


class ChatHandler(BaseHTTPRequestHandler):
    """Hands each request's body to the server's script."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server: Any = self.server
        server.requests.append(
            {"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, **body}
        )
        self.close_connection = True
        with suppress(BrokenPipeError, ConnectionResetError):
            server.script(self, body)

    def log_message(self, *_: Any) -> None:
        pass

    def send(self, status: int, content: str | bytes, kind: str = "application/json") -> None:
        data = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        # Said, since it is done: a client that thinks the connection open would ask in vain.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def send_text(self, text: str | None, finish: str | None = None) -> None:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        self.send_event({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})

    def send_event(self, event: Any) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def answer(self, *pieces: str, finish: str = "stop") -> None:
        self.start_stream()
        for piece in pieces:
            self.send_text(piece)
        self.send_text(None, finish)
        self.wfile.write(b"data: [DONE]\n\n")

    def fail(self, status: int, message: str, **more: Any) -> None:
        self.send(status, json.dumps({"error": {"message": message, **more}}))


class FakeServer(ThreadingHTTPServer):
    """A chat server that does what its script says and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.requests: list[dict[str, Any]] = []
        self.script: Script = lambda handler, _: handler.answer("Hello.")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def run_server() -> Iterator[FakeServer]:
    """Serve in a thread until the block ends."""
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
