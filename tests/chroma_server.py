"""A Chroma server on this machine, for as long as a test needs it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

START = "import sys; from chromadb.cli.cli import app; sys.argv[0] = 'chroma'; app()"


@contextlib.contextmanager
def run_chroma(folder: Path) -> Iterator[str]:
    """Run ``chroma run`` on a free port of the loopback address; yield the server's address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", START, "run", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--path", str(folder / "server")]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{url}/api/v2/heartbeat", timeout=5):
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((folder / "server.log").read_text()) from None
                time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)
