"""How the commands speak: results on standard output, notes on standard error, JSON on asking."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click


def note(text: str) -> None:
    """Say something that is no part of the result."""
    click.echo(text, err=True)


def say(text: str = "") -> None:
    """Write a line of the result."""
    click.echo(text)


def print_json(value: Any) -> None:
    """Write one JSON value, readable, letters of all scripts as they are."""
    click.echo(json.dumps(as_plain(value), ensure_ascii=False, indent=2))


def as_plain(value: Any) -> Any:
    """Return dataclasses, tuples and numpy numbers as JSON values.

    >>> from citespan.types import Page
    >>> as_plain({"pages": (Page(1, 0, 9),)})
    {'pages': [[1, 0, 9]]}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_plain(item) for item in value]
    if hasattr(value, "item") and callable(value.item):
        return value.item()
    return value


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: Sequence[int] = (),
) -> None:
    """Draw a table as wide as the terminal allows; columns in ``numbers`` stand right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for position, name in enumerate(columns):
        table.add_column(name, justify="right" if position in numbers else "left")
    for row in rows:
        # Text, not markup: a document's "[red]" is data.
        table.add_row(*(Text(format_value(cell)) for cell in row))
    width = None if sys.stdout.isatty() else 120
    Console(width=width, soft_wrap=False).print(table)


def format_value(value: Any) -> str:
    r"""Write a cell: floats to three places, None as a dash.

    >>> format_value(0.12345), format_value(None), format_value("a\nb")
    ('0.123', '-', 'a b')
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return " ".join(str(value).split())


def format_bytes(count: int) -> str:
    """Write a size in bytes for a person.

    >>> format_bytes(1536), format_bytes(3 << 20)
    ('1.5 KiB', '3.0 MiB')
    """
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def format_seconds(seconds: float) -> str:
    """Write a duration for a person.

    >>> format_seconds(0.5), format_seconds(75), format_seconds(7300)
    ('0.5 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
