"""Filters: globs and field values to the documents, and the ranges of chunks, that they allow."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from citespan.protocols import Filter

TOKEN = re.compile(r"\*\*/|\*\*|\[!?[^\]]+\]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that a filter allows.

    Their integer keys, and their ranges of chunk keys (first, last), in order and joined where
    they touch.
    """

    documents: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    r"""Return the regular expression of a path glob.

    ``*`` stands for any characters but ``/``, ``?`` for one of them, ``**`` for any at all,
    ``[abc]`` and ``[!abc]`` for one character of a set. A pattern without ``/`` is compared with
    the last part of the path, as in .gitignore; one that ends in ``/`` with everything below.

    >>> bool(compile_glob("*.pdf").fullmatch("reports/2024/may.pdf"))
    True
    >>> bool(compile_glob("reports/*.pdf").fullmatch("reports/2024/may.pdf"))
    False
    >>> bool(compile_glob("reports/**/*.pdf").fullmatch("reports/may.pdf"))
    True
    >>> bool(compile_glob("reports/").fullmatch("reports/2024/may.pdf"))
    True
    """
    body = pattern + "**" if pattern.endswith("/") else pattern
    prefix = "" if "/" in pattern else "(?:.*/)?"
    return re.compile(prefix + _translate(body, any_character="[^/]"), re.DOTALL)


@lru_cache(maxsize=512)
def compile_title_glob(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a title glob: ``*`` stands for anything, case for nothing.

    >>> bool(compile_title_glob("*handbook*").fullmatch("Staff Handbook / 2024"))
    True
    """
    return re.compile(_translate(pattern, any_character="."), re.DOTALL | re.IGNORECASE)


def _translate(pattern: str, *, any_character: str) -> str:
    out: list[str] = []
    at = 0
    for token in TOKEN.finditer(pattern):
        piece, at = token.group(), token.end()
        if piece == "**/":
            out.append("(?:.*/)?")
        elif piece == "**":
            out.append(".*")
        elif piece in ("*", "?"):
            out.append(any_character + ("*" if piece == "*" else ""))
        elif len(piece) > 1:
            out.append(_translate_set(piece))
        else:
            out.append(re.escape(piece))
    return "".join(out) + re.escape(pattern[at:])


def _translate_set(piece: str) -> str:
    """Return the expression of ``[abc]``, or of its letters where it is no valid set."""
    body = piece[1:-1]
    negated = body.startswith("!")
    members = re.sub(r"([\\^\[\]&~|])", r"\\\1", body[1:] if negated else body)
    made = f"[{'^' if negated else ''}{members}]"
    try:
        re.compile(made)
    except re.error:
        return re.escape(piece)
    return made


def matches_path(pattern: str, path: str) -> bool:
    """Whether a path is the pattern itself or matches it as a glob.

    >>> matches_path("notes [old].md", "notes [old].md")
    True
    """
    return path == pattern or compile_glob(pattern).fullmatch(path) is not None


def matches_title(pattern: str, title: str) -> bool:
    """Whether a title is the pattern itself or matches it as a glob."""
    return title == pattern or compile_title_glob(pattern).fullmatch(title) is not None


def add_functions(db: sqlite3.Connection) -> None:
    """Make the matchers known to SQL."""

    def any_of(match: Callable[[str, str], bool], patterns: str, value: str) -> bool:
        return any(match(pattern, value) for pattern in json.loads(patterns))

    for name, match in (("matches_paths", matches_path), ("matches_titles", matches_title)):
        db.create_function(name, 2, partial(any_of, match), deterministic=True)


def build_where(where: Filter | None) -> tuple[str, list[str]]:
    """Return the SQL condition on ``documents`` and its values.

    A list goes as one JSON value, so that no limit on the number of variables applies.
    """
    if not where:
        return "1", []
    conditions: list[str] = []
    values: list[str] = []
    for column, wanted in (("id", where.document_ids), ("language", where.languages)):
        if wanted:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(list(wanted)))
    for name, value in where.metadata.items():
        conditions.append(
            "EXISTS (SELECT 1 FROM json_each(documents.metadata) AS field"
            " WHERE field.key = ? AND CAST(field.value AS TEXT) = ?)"
        )
        values += [name, value]
    for function, column, globs in (
        ("matches_paths", "source", where.sources),
        ("matches_titles", "title", where.titles),
    ):
        if globs:
            conditions.append(f"{function}(?, {column})")
            values.append(json.dumps(list(globs)))
    return " AND ".join(conditions), values


def resolve_filter(db: sqlite3.Connection, where: Filter) -> Scope:
    """Return the documents that the filter allows."""
    condition, values = build_where(where)
    rows = db.execute(
        f"SELECT key, first_chunk, chunks FROM documents WHERE {condition} ORDER BY first_chunk",
        values,
    ).fetchall()
    ranges: list[tuple[int, int]] = []
    for _, first, count in rows:
        if not count:
            continue
        if ranges and ranges[-1][1] + 1 == first:
            ranges[-1] = (ranges[-1][0], first + count - 1)
        else:
            ranges.append((first, first + count - 1))
    return Scope(tuple(key for key, _, _ in rows), tuple(ranges))
