"""Tables of rows: CSV and spreadsheets, each row as ``key: value`` pairs under its header."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from citespan.errors import LoadError
from citespan.load.build import TextBuilder, collapse_blanks, pair_row
from citespan.load.decode import decode_bytes
from citespan.load.options import Extract, LoadOptions

_MAX_CELL = 8 << 20
_LOOK_AHEAD = 20


def read_csv(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return a CSV or TSV file's rows as ``key: value`` lines; the header is metadata too."""
    text, encoding = decode_bytes(data, name)
    csv.field_size_limit(_MAX_CELL)
    delimiter = _find_delimiter(text, name)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    builder = TextBuilder()
    try:
        header = add_rows(builder, _report_rows(rows, progress))
    except csv.Error as error:
        raise LoadError(f"{name} is not a readable CSV file ({error})") from None
    fields = {"encoding": encoding} | ({"header": ", ".join(header)[:2000]} if header else {})
    return builder.build(title=Path(name).stem, media_type="text/csv", metadata=fields)


def read_sheets(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a workbook's rows as ``key: value`` lines, a section a sheet (XLSX, XLS, XLSB, ODS).

    Raises
    ------
    LoadError
        If the workbook is protected by a password, damaged or unpacks beyond the limit.
    """
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    from citespan.load.archive import open_package

    if data.startswith(b"PK"):
        open_package(data, name, options.max_unpacked).close()
    elif "EncryptedPackage".encode("utf-16-le") in data:
        raise LoadError(f"{name} is protected by a password", fix="save it without one")
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        builder = TextBuilder()
        names = book.sheet_names
        for sheet in names:
            rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
            if any(any(cell != "" for cell in row) for row in rows):
                if len(names) > 1:
                    builder.heading(sheet, 1)
                add_rows(builder, (list(map(_show_cell, row)) for row in rows))
            progress()
    except PasswordError:
        raise LoadError(f"{name} is protected by a password", fix="save it without one") from None
    except CalamineError as error:
        raise LoadError(f"{name} is not a readable workbook ({error})") from None
    media = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return builder.build(title=Path(name).stem, media_type=media)


def add_rows(builder: TextBuilder, rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay rows down a line each and return the header, which is its own first line.

    The header is the first row of the first few whose every cell is words; rows above it (a
    title) stay lines of their own. Without one, rows are lists of values.
    """
    stream = (row for row in rows if any(cell.strip() for cell in row))
    ahead = list(islice(stream, _LOOK_AHEAD))
    at = _find_header(ahead)
    header = [collapse_blanks(cell) for cell in ahead[at]] if at is not None else []
    gap = "\n\n"
    for i, row in enumerate(chain(ahead, stream)):
        if at is not None and i <= at:
            line = ", ".join(collapse_blanks(cell) for cell in row if cell.strip())
        elif header:
            line = pair_row(header, row)
        else:
            line = ", ".join(collapse_blanks(cell) for cell in row if cell.strip())
        builder.block(line, gap=gap)
        gap = "\n"
    return header


def _report_rows(rows: Iterable[list[str]], progress: Callable[[], None]) -> Iterator[list[str]]:
    """Yield the rows, telling now and then that the reading goes on."""
    for number, row in enumerate(rows, start=1):
        if number % 10_000 == 0:
            progress()
        yield row


def _find_header(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the index of the header among the first rows, or None.

    It is the first row as wide as the table (most rows' filled cells) that holds no number.
    """
    if len(rows) < 2:
        return None
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    width = sorted(filled)[len(filled) // 2]
    for i, row in enumerate(rows[:-1]):
        if filled[i] >= max(1, 0.6 * width):
            numbers = sum(_is_number(cell) for cell in row)
            # Years as column names are common: a lone number among words is still a header.
            return i if numbers * 2 < filled[i] else None
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", ".").rstrip("%") or "x")
    except ValueError:
        return False
    return True


def _show_cell(value: object) -> str:
    """Return a cell as a person reads it: 3.0 is 3, midnight is no time.

    >>> _show_cell(3.0), _show_cell(datetime.datetime(2024, 1, 5))
    ('3', '2024-01-05')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return "" if value is None else str(value)


def _find_delimiter(text: str, name: str) -> str:
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    sample = text[:20_000]
    lines = [line for line in sample.split("\n") if line.strip()][:_LOOK_AHEAD]
    best, best_score = ",", 0.0
    for delimiter in (",", ";", "\t", "|"):
        counts = [line.count(delimiter) for line in lines]
        present = sum(1 for count in counts if count)
        if present:
            mean = sum(counts) / len(counts)
            spread = sum(abs(count - mean) for count in counts) / len(counts)
            score = present / len(lines) / (1 + spread / mean)
            if score > best_score + 1e-9:
                best, best_score = delimiter, score
    return best
