"""Read risky files in one helper process with a memory bound and a time limit.

Parsers of PDF, office files and HTML are native code that meets hostile input. They run in a
process of their own that is started once, serves file after file, and is ended and replaced when
it crashes, hangs or asks for too much memory. A normal file costs one message over a pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from citespan.errors import LoadError
from citespan.load.formats import Format
from citespan.load.options import Extract, LoadOptions
from citespan.types import Page, Section


class Reader:
    """The helper process as seen from here; safe to share between threads."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: Queue[bytes | None] = Queue()
        self._memory = 0
        self._lock = threading.Lock()

    def read(self, fmt: Format, name: str, data: bytes, options: LoadOptions) -> Extract:
        """Return what the file holds.

        Raises
        ------
        LoadError
            If the file cannot be read, needs too much time or memory, or its reader crashes.
        """
        with self._lock:
            process = self._start(options.max_memory)
            request = {
                "reader": fmt.reader,
                "name": name,
                "size": len(data),
                "max_unpacked": options.max_unpacked,
            }
            try:
                assert process.stdin is not None
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.write(data)
                process.stdin.flush()
            except OSError:
                self._stop()
                raise LoadError(f"{name} could not be read: its reader crashed") from None
            return self._await(name, options)

    def close(self) -> None:
        """End the helper process; it starts again when needed."""
        with self._lock:
            self._stop()

    def _await(self, name: str, options: LoadOptions) -> Extract:
        while True:
            try:
                line = self._answers.get(timeout=options.max_seconds)
            except Empty:
                self._stop()
                raise LoadError(
                    f"{name} was given up after {options.max_seconds:g} s without progress"
                ) from None
            except BaseException:  # Ctrl-C: the answer on its way must not meet the next file
                self._stop()
                raise
            if line is None:
                self._stop()
                raise LoadError(f"{name} could not be read: it crashes its reader")
            answer = json.loads(line)
            if "progress" in answer:
                continue
            if "error" in answer:
                if answer.get("fatal"):
                    self._stop()
                raise LoadError(answer["error"], fix=answer.get("fix", ""))
            return _decode_extract(answer)

    def _start(self, memory: int) -> subprocess.Popen[bytes]:
        if self._process is not None and self._memory == memory and self._process.poll() is None:
            return self._process
        self._stop()
        roots = [str(Path(__file__).resolve().parents[2]), *(p for p in sys.path if p)]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(dict.fromkeys(roots)))
        # -P: a file of the user's folder must never be imported in a library's place.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "citespan.load.worker", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._process, self._memory = process, memory
        self._answers = Queue()
        threading.Thread(target=_pump, args=(process, self._answers), daemon=True).start()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()


READER = Reader()
atexit.register(READER.close)


def _pump(process: subprocess.Popen[bytes], answers: Queue[bytes | None]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            answers.put(line)
    answers.put(None)


def encode_extract(extract: Extract) -> dict[str, Any]:
    """Return an extract as JSON values."""
    return {
        "text": extract.text,
        "title": extract.title,
        "media_type": extract.media_type,
        "pages": extract.pages,
        "sections": extract.sections,
        "metadata": extract.metadata,
        "skips": extract.skips,
    }


def _decode_extract(answer: dict[str, Any]) -> Extract:
    return Extract(
        text=answer["text"],
        title=answer["title"],
        media_type=answer["media_type"],
        pages=[Page(*page) for page in answer["pages"]],
        sections=[Section(*section) for section in answer["sections"]],
        metadata=answer["metadata"],
        skips=[(page, reason) for page, reason in answer["skips"]],
    )
