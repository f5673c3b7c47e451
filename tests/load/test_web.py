"""Web addresses: private ones refused at every turn, sizes and times bounded. Loopback only."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from citespan.errors import LoadError
from citespan.load import LoadOptions, LoadReport, load_documents
from citespan.load.web import fetch_url, is_public, resolve_host

OPEN = LoadOptions(allow_private=True, download_seconds=5.0, max_download=100_000)


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind = self.path.rpartition("/")[2].partition("?")[0]
        if kind == "page":
            self.answer(b"<h1>Terms</h1><nav>Home</nav><p>Pay in 30 days.</p>", "text/html")
        elif kind == "note.txt":
            self.answer("Договор поставки".encode("cp1251"), "text/plain; charset=windows-1251")
        elif kind == "zipped":
            body = gzip.compress(b"x" * 50)
            self.answer(body, "text/plain", ("Content-Encoding", "gzip"))
        elif kind == "bomb":
            body = gzip.compress(b"x" * 10_000_000)
            self.answer(body, "text/plain", ("Content-Encoding", "gzip"))
        elif kind == "large":
            self.answer(b"x" * 200_000, "text/plain")
        elif kind == "loop":
            self.answer(b"", "", ("Location", "/loop"), status=302)
        elif kind == "moved":
            self.answer(b"", "", ("Location", "page"), status=301)
        elif kind == "inside":
            self.answer(b"", "", ("Location", "http://169.254.169.254/latest"), status=302)
        elif kind == "file":
            self.answer(b"", "", ("Location", "file:///etc/hostname"), status=302)
        elif kind == "drip":
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(100):
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(0.05)
            except OSError:
                return
        else:
            self.answer(b"none", "text/plain", status=404)

    def answer(
        self, body: bytes, media: str, header: tuple[str, str] | None = None, status: int = 200
    ) -> None:
        self.send_response(status)
        if media:
            self.send_header("Content-Type", media)
        if header:
            self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        return


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_becomes_a_document(site: str) -> None:
    (document,) = load_documents(f"{site}/page", allow_private=True)
    assert document.text == "Terms\n\nPay in 30 days."
    assert document.source == f"{site}/page"
    assert document.media_type == "text/html"


def test_redirects_are_followed_and_packed_bodies_unpacked(site: str) -> None:
    assert b"Terms" in fetch_url(f"{site}/moved", OPEN).data
    assert fetch_url(f"{site}/zipped", OPEN).data == b"x" * 50
    (document,) = load_documents(f"{site}/note.txt", allow_private=True)
    assert document.text == "Договор поставки"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("loop", "redirects more than 5 times"),
        ("large", "larger than the limit"),
        ("bomb", "larger than the limit"),
        ("file", "is no web address"),
        ("missing", "answers 404"),
    ],
)
def test_bad_answers_are_one_plain_line(site: str, path: str, reason: str) -> None:
    with pytest.raises(LoadError, match=reason):
        fetch_url(f"{site}/{path}", OPEN)


def test_a_slow_drip_ends_at_the_deadline(site: str) -> None:
    options = LoadOptions(allow_private=True, download_seconds=0.3)
    with pytest.raises(LoadError, match=r"took more than 0\.3 s"):
        fetch_url(f"{site}/drip", options)


def test_loopback_is_refused_unless_allowed(site: str) -> None:
    report = LoadReport()
    assert list(load_documents(f"{site}/page", report=report)) == []
    assert "not a public address" in report.skipped[0].reason
    assert "--allow-private" in report.skipped[0].reason


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]",
     "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "[fe80::1]",
     "[fc00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "224.0.0.1", "255.255.255.255"],
)  # fmt: skip
def test_every_way_to_write_a_private_address_is_refused(host: str) -> None:
    with pytest.raises(LoadError, match=r"not a public address|is not found|no valid web address"):
        fetch_url(f"http://{host}/", LoadOptions(download_seconds=5.0))


def resolve_as(*addresses: str) -> Any:
    def lookup(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in addresses]

    return lookup


def test_one_private_address_among_a_names_many_is_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolve_as("93.184.216.34", "10.0.0.1"))
    with pytest.raises(LoadError, match=r"leads to 10\.0\.0\.1"):
        resolve_host("example.org", 80)


def test_a_redirect_into_a_private_network_is_refused(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The site counts as public here, so that only the redirect's target can be at fault.
    monkeypatch.setattr(
        "citespan.load.web.is_public", lambda ip: ip == "127.0.0.1" or is_public(ip)
    )
    with pytest.raises(LoadError, match=r"169\.254\.169\.254, which is not a public address"):
        fetch_url(f"{site}/inside", LoadOptions(download_seconds=5.0))


def test_the_connection_goes_to_the_address_that_was_checked(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A name that answers differently the second time (DNS rebinding) gets no second time.
    port = int(site.rpartition(":")[2])
    answers = [resolve_as("127.0.0.1")]
    real = socket.getaddrinfo

    def lookup(host: str, *rest: Any, **more: Any) -> Any:
        if host == "rebind.test":
            return answers.pop()(host, port)
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    assert b"Terms" in fetch_url(f"http://rebind.test:{port}/page", OPEN).data
    assert answers == []
