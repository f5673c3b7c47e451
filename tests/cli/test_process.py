"""The command as a process of its own: pipes, signals, terminals, and two readers by a writer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "citespan"]
LIMIT = 120


def call(*arguments: str, **how) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=LIMIT, check=False, **how
    )


def write_docs(count: int) -> None:
    Path("docs").mkdir(exist_ok=True)
    for number in range(count):
        Path(f"docs/{number}.txt").write_text(
            f"Pump number {number} weighs {number} kilos. " * 20, "utf-8"
        )


def test_the_reader_of_the_output_may_go_away(place):
    write_docs(3)
    call("index", "docs", "--embedder", "none")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as out:
        ran = subprocess.run(
            [*COMMAND, "search", "pump number"],
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=LIMIT,
            check=False,
        )
    assert ran.stderr == b""


def test_output_in_a_narrow_encoding(place):
    Path("docs").mkdir()
    Path("docs/a.txt").write_text("Зелёный насос весит семь килограммов.", "utf-8")
    call("index", "docs", "--embedder", "none")
    narrow = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ran = call("ask", "Сколько весит зелёный насос?", env=narrow)
    assert ran.returncode == 0
    assert rb"\u0417" in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_indexing_keeps_what_is_committed(place):
    write_docs(400)
    slow = (
        "import sys, time\n"
        "from citespan.pipeline import write\n"
        "write.BATCH = 8\n"
        "kept = write.split_sentences\n"
        "write.split_sentences = lambda *a: (time.sleep(0.02), kept(*a))[1]\n"
        "from citespan.cli import main\n"
        "main(['index', 'docs', '--embedder', 'none'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + LIMIT
    database = Path(".citespan/index.sqlite")
    while time.monotonic() < deadline and process.poll() is None:
        if database.exists() and documents() >= 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert errors.decode().splitlines()[-1].startswith("citespan: stopped")
    stopped = documents()
    assert 3 <= stopped < 400
    assert b"everything agrees" in call("status", "--check").stdout
    rest = call("index", "docs", "--embedder", "none").stdout.decode()
    assert f"{400 - stopped} added, {stopped} unchanged" in rest


def documents() -> int:
    import sqlite3

    try:
        connection = sqlite3.connect("file:.citespan/index.sqlite?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def test_two_readers_beside_a_writer(place):
    write_docs(10)
    assert call("index", "docs", "--embedder", "none").returncode == 0
    write_docs(150)
    writer = subprocess.Popen(
        [*COMMAND, "index", "docs", "--embedder", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    readers = [
        subprocess.Popen(
            [*COMMAND, "search", "pump number 7", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for reader in readers:
        out, errors = reader.communicate(timeout=LIMIT)
        assert reader.returncode == 0, errors
        assert b'"passages"' in out
    out, errors = writer.communicate(timeout=LIMIT)
    assert writer.returncode == 0, errors
    assert b"140 added" in out


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_on_a_terminal_unless_no_color_is_set(place, variables, coloured):
    import pty

    write_docs(1)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **variables}
    process = subprocess.Popen(
        [*COMMAND, "chunk", "docs/0.txt", "--splitter", "words", "--embedder", "none"],
        stdout=theirs,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(timeout=LIMIT) == 0
    assert b"Pump number 0" in shown
    assert (b"\x1b[" in shown) == coloured


def test_a_second_writer_gets_a_clear_error(place):
    from citespan.stores import open_store

    write_docs(1)
    call("index", "docs", "--embedder", "none")
    with open_store(".citespan"):
        ran = call("index", "docs", "--embedder", "none")
    assert ran.returncode == 4
    assert b"another process is writing" in ran.stderr
