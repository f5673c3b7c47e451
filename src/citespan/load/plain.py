"""Plain text and source code: decoded, and otherwise left as a person sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from citespan.load.decode import decode_bytes
from citespan.load.options import Extract, LoadOptions


def read_text(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return the text as it is; the title is the file's name without its ending."""
    text, encoding = decode_bytes(data, name)
    return Extract(text, title=Path(name).stem, metadata={"encoding": encoding})


def read_code(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return source code as it is; the title is the file's whole name."""
    text, encoding = decode_bytes(data, name)
    return Extract(
        text, title=Path(name).name, media_type="text/x-source", metadata={"encoding": encoding}
    )
