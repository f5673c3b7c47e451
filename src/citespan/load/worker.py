"""The helper process of ``isolate``: reads requests on standard input, answers a line each."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from citespan.errors import LoadError
from citespan.load.isolate import encode_extract
from citespan.load.options import LoadOptions
from citespan.load.readers import run_reader


def main() -> None:
    """Serve until standard input ends."""
    limit_memory(int(sys.argv[1]))
    # Whatever a library prints must not get between the answers.
    with os.fdopen(os.dup(1), "wb") as out:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        for request, data in _requests(sys.stdin.buffer):
            _answer(request, data, _sender(out))
            del data


def limit_memory(size: int) -> None:
    """Bound this process's address space, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _requests(stream: BinaryIO) -> Iterator[tuple[dict[str, Any], bytes]]:
    while line := stream.readline():
        request = json.loads(line)
        yield request, stream.read(request["size"])


def _sender(out: BinaryIO) -> Callable[[dict[str, Any]], None]:
    def send(answer: dict[str, Any]) -> None:
        out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        out.flush()

    return send


def _answer(request: dict[str, Any], data: bytes, send: Callable[[dict[str, Any]], None]) -> None:
    name = request["name"]
    options = LoadOptions(max_unpacked=request["max_unpacked"])
    try:
        extract = run_reader(
            request["reader"], data, name, options, progress=lambda: send({"progress": 1})
        )
        send(encode_extract(extract))
    except LoadError as error:
        send({"error": error.message, "fix": error.fix})
    except MemoryError:
        send({"error": f"{name} needs more memory than the limit to read", "fatal": True})


if __name__ == "__main__":
    main()
