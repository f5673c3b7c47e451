"""How the commands speak: results on standard output, notes on standard error, JSON on asking."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import Any

import click

GAP = "   "
"""Between two columns of a table."""


def note(text: str) -> None:
    """Say something that is no part of the result."""
    click.echo(text, err=True)


def say(text: str = "") -> None:
    """Write a line of the result."""
    click.echo(text)


def style(text: str, **how: Any) -> str:
    """Colour a text (``click.style``), unless NO_COLOR is set; a file or pipe gets it plain."""
    return text if os.environ.get("NO_COLOR") else click.style(text, **how)


def output_width() -> int:
    """Return the terminal's width in columns (COLUMNS, if set), and 100 where there is none."""
    return max(20, shutil.get_terminal_size((100, 24)).columns)


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
    cut: int | None = None,
) -> None:
    """Draw a table as wide as the terminal allows.

    Columns in ``numbers`` stand right and stay whole; column ``cut`` takes what room the others
    leave, on one line, ending in "…" where that is too little; what is long elsewhere is folded.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[format_value(cell) for cell in row] for row in rows]
    room = output_width()
    if cut is not None:
        for position, name in enumerate(columns):
            if position != cut:
                widest = max((cell_len(row[position]) for row in cells), default=0)
                room -= max(cell_len(name), widest) + len(GAP)
        room = max(room, 12)
    table = Table(show_edge=False, pad_edge=False, box=SIMPLE_HEAD)
    for position, name in enumerate(columns):
        right = position in numbers
        table.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in cells:
        # Text, not markup: a document's "[red]" is data.
        texts = [Text(cell) for cell in row]
        if cut is not None:
            texts[cut].truncate(room, overflow="ellipsis")
        table.add_row(*texts)
    if title:
        say(title)
    # Trailing blanks would only widen what is copied out of the terminal.
    console = Console(width=output_width())
    with console.capture() as captured:
        console.print(table)
    say("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


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


def shorten_name(name: str, width: int = 28) -> str:
    """Cut a path's middle out where it is longer than ``width``; its end tells it apart.

    >>> shorten_name("handbook/chapters/part-one/warranty.md")
    'han…ers/part-one/warranty.md'
    """
    if len(name) <= width:
        return name
    head = max(1, width // 8)
    return f"{name[:head]}…{name[-(width - head - 1) :]}"


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
