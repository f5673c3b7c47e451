"""A ready corpus: ``corpus.jsonl[.gz]``, one document a line, with ids of its own."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from citespan.errors import InputError
from citespan.load.build import clean_text
from citespan.types import Document

_NAMES = ("corpus.jsonl", "corpus.jsonl.gz")
_MAX_LINE = 64 << 20


def load_corpus(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a corpus file, or of the folder that holds one, one by one.

    Each line is a JSON object with ``id`` and ``text`` and, as it may be, ``title``, ``source``
    and ``language``; all other fields become metadata, as strings. The text is kept as it is, so
    that spans given for it hold. ``source`` defaults to the id.

    Raises
    ------
    InputError
        If there is no such file, a line is no such object, or two lines share an id.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = '{"id": 7, "text": "Pay in 30 days.", "year": 2024}'
    ...     _ = Path(folder, "corpus.jsonl").write_text(line)
    ...     document, = load_corpus(folder)
    >>> document.id, document.metadata
    ('7', {'year': '2024'})
    """
    file = _find(Path(path))
    seen: set[str] = set()
    with _open(file) as lines:
        number = 0
        try:
            while line := lines.readline(_MAX_LINE):
                number += 1
                if line.strip():
                    document = _read_line(line, f"{file.name}, line {number}")
                    if document.id in seen:
                        raise InputError(
                            f"{file.name}, line {number}: the id {document.id!r} occurs twice",
                            fix="give each document an id of its own",
                        )
                    seen.add(document.id)
                    yield document
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"{file.name} is damaged after line {number} ({error})", fix="unpack it anew"
            ) from None


def _find(path: Path) -> Path:
    if path.is_dir():
        for name in _NAMES:
            if (path / name).is_file():
                return path / name
        raise InputError(f"{path} holds no {' or '.join(_NAMES)}", fix="name the corpus file")
    if not path.is_file():
        raise InputError(f"no corpus at {path}", fix="name a .jsonl or .jsonl.gz file")
    return path


def _open(file: Path) -> BinaryIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return file.open("rb")


def _read_line(line: bytes, where: str) -> Document:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error})", fix="mend the line") from None
    if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
        raise InputError(f'{where}: not an object with "id" and "text"', fix="mend the line")
    own = {"id", "text", "title", "source", "language", "lang"}
    identity = str(row["id"])
    return Document(
        id=identity,
        source=str(row.get("source") or identity),
        text=clean_text(row["text"]),
        title=str(row.get("title") or ""),
        language=str(row.get("language") or row.get("lang") or ""),
        metadata={key: _show(value) for key, value in row.items() if key not in own},
    )


def _show(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
