"""The helper process: it is bounded, replaced when it dies, and reused when it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from citespan.errors import LoadError
from citespan.load.formats import Format
from citespan.load.isolate import Reader
from citespan.load.options import LoadOptions

BAD_READERS = """
import os, time
from citespan.errors import LoadError
from citespan.load.options import Extract
def fine(data, name, options, progress): return Extract(data.decode(), skips=[(2, "x")])
def hang(data, name, options, progress): time.sleep(60)
def slow(data, name, options, progress):
    for _ in range(8): time.sleep(0.8); progress()
    return Extract("done")
def crash(data, name, options, progress): os.abort()
def hoard(data, name, options, progress): return [bytes(1 << 20) for _ in range(5000)]
def chatty(data, name, options, progress):
    print("noise", flush=True)
    os.write(1, b"noise")
    return Extract("t")
def odd(data, name, options, progress): raise KeyError("boom")
def deep(data, name, options, progress): return deep(data, name, options, progress)
"""


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    (tmp_path / "bad_readers.py").write_text(BAD_READERS, "utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    return Reader()


def read(reader: Reader, function: str, options: LoadOptions | None = None) -> str:
    fmt = Format("bad", "text/plain", f"bad_readers:{function}")
    return reader.read(fmt, "a.bin", b"some bytes", options or LoadOptions()).text


def test_each_failure_is_told_and_the_next_file_is_read(readers: Reader) -> None:
    cases = {
        "crash": "crashes its reader",
        "odd": r"damaged and cannot be read \(KeyError",
        "deep": "nested too deeply",
        "hang": r"given up after 0\.5 s without progress",
    }
    try:
        for function, reason in cases.items():
            limit = 0.5 if function == "hang" else 60.0
            with pytest.raises(LoadError, match=reason):
                read(readers, function, LoadOptions(max_seconds=limit))
            assert read(readers, "fine") == "some bytes"
        assert read(readers, "chatty") == "t"
        assert read(readers, "fine") == "some bytes"
    finally:
        readers.close()


def test_progress_extends_the_time(readers: Reader) -> None:
    try:
        assert read(readers, "fine") == "some bytes"
        assert read(readers, "slow", LoadOptions(max_seconds=5.0)) == "done"
    finally:
        readers.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds a process's memory")
def test_memory_is_bounded(readers: Reader) -> None:
    try:
        with pytest.raises(LoadError, match="more memory than the limit"):
            read(readers, "hoard", LoadOptions(max_memory=512 << 20))
        assert read(readers, "fine") == "some bytes"
    finally:
        readers.close()


def test_one_process_serves_many_files(readers: Reader) -> None:
    try:
        read(readers, "fine")
        first = readers._process
        read(readers, "fine")
        assert readers._process is first
    finally:
        readers.close()
