"""JSON, JSON Lines and notebooks: values laid out as lines that name where they stand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.build import TextBuilder, clean_text
from citespan.load.decode import decode_bytes
from citespan.load.markdown import find_headings
from citespan.load.options import Extract, LoadOptions

_MAX_DEPTH = 200


def read_json(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a JSON file as ``path: value`` lines; a list of objects is a block an object."""
    text, encoding = decode_bytes(data, name)
    value = _parse(text, name)
    builder = TextBuilder()
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            builder.block("\n".join(_lines(item, name)))
    else:
        builder.block("\n".join(_lines(value, name)))
    title = value.get("title") if isinstance(value, dict) else None
    return builder.build(
        title=title if isinstance(title, str) and title else Path(name).stem,
        media_type="application/json",
        metadata={"encoding": encoding},
    )


def read_jsonl(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return JSON Lines as a block a line; lines that are no JSON are left out and reported."""
    text, encoding = decode_bytes(data, name)
    builder = TextBuilder()
    broken: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if number % 10_000 == 0:
            progress()
        if line.strip():
            try:
                builder.block("\n".join(_lines(_parse(line, name), name)))
            except LoadError:
                broken.append(number)
    if broken and not builder.length:
        raise LoadError(f"{name} holds no valid JSON line", fix="one JSON value a line is expected")
    skips: list[tuple[int | None, str]] = []
    if broken:
        shown = ", ".join(map(str, broken[:5])) + (", …" if len(broken) > 5 else "")
        skips.append((None, f"{len(broken)} lines are no valid JSON (line {shown})"))
    return builder.build(
        title=Path(name).stem,
        media_type="application/jsonl",
        metadata={"encoding": encoding},
        skips=skips,
    )


def read_notebook(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a notebook's cells in order (Markdown, code, and text that code printed)."""
    text, _ = decode_bytes(data, name)
    value = _parse(text, name)
    cells = value.get("cells") if isinstance(value, dict) else None
    if cells is None and isinstance(value, dict) and isinstance(value.get("worksheets"), list):
        cells = [
            c
            for sheet in value["worksheets"]
            if isinstance(sheet, dict)
            for c in sheet.get("cells") or []
        ]
    if not isinstance(cells, list):
        raise LoadError(f"{name} is not a notebook: it has no cells")
    builder = TextBuilder()
    headings: list[tuple[str, int, int]] = []
    for cell in cells:
        if not isinstance(cell, dict):
            continue
        source = _join(cell.get("source", cell.get("input", ""))).strip("\n")
        start = builder.block(source) if source.strip() else builder.length
        if cell.get("cell_type") in ("markdown", "heading") and source.strip():
            headings += [(t, level, start + at) for t, level, at in find_headings(source)]
        for output in cell.get("outputs") or []:
            builder.block(_printed(output).strip("\n"))
    for title, level, at in headings:
        builder.mark(title, level, at)
    title = next((t for t, level, _ in headings if level == 1), Path(name).stem)
    return builder.build(title=title, media_type="application/x-ipynb+json")


def _parse(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise LoadError(f"{name} is nested too deeply to read") from None
    except ValueError as error:
        raise LoadError(f"{name} is not valid JSON ({error})", fix="mend the file") from None


def _lines(value: Any, name: str, path: str = "", depth: int = 0) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise LoadError(f"{name} is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, name, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        if all(not isinstance(item, dict | list) for item in value):
            if value:
                yield _line(path, ", ".join(_show(item) for item in value))
        else:
            for number, item in enumerate(value, start=1):
                yield from _lines(item, name, f"{path}[{number}]", depth + 1)
    else:
        shown = _show(value)
        if shown:
            yield _line(path, shown)


def _line(path: str, value: str) -> str:
    return f"{path}: {value}" if path else value


def _show(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _join(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(item for item in value if isinstance(item, str))
    return clean_text(value) if isinstance(value, str) else ""


def _printed(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    bundle = output.get("data")
    plain = bundle.get("text/plain") if isinstance(bundle, dict) else output.get("text")
    return _join(plain)
