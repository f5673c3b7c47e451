"""Filters: globs and field values to the documents, and the ranges of chunks, that they allow."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass
from functools import lru_cache

from citespan.protocols import Filter


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents that a filter allows: their integer keys, and their ranges of chunk keys
    (first, last), by first and joined where they touch.
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
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif pattern.startswith("**", at):
            out.append(".*")
            at += 2
        elif pattern[at] == "*":
            out.append(any_character + "*")
            at += 1
        elif pattern[at] == "?":
            out.append(any_character)
            at += 1
        elif (
            pattern[at] == "["
            and (end := pattern.find("]", at + 3 if pattern[at + 1 : at + 2] == "!" else at + 2))
            > 0
        ):
            members = pattern[at + 1 : end]
            negated = members.startswith("!")
            members = re.sub(r"([\\^\[\]&~|])", r"\\\1", members[1:] if negated else members)
            out.append(f"[{'^' if negated else ''}{members}]")
            at = end + 1
        else:
            out.append(re.escape(pattern[at]))
            at += 1
    return "".join(out)


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

    def any_of(match, patterns, value):  # type: ignore[no-untyped-def]
        return int(any(match(pattern, value) for pattern in json.loads(patterns)))

    db.create_function(
        "matches_paths", 2, lambda p, v: any_of(matches_path, p, v), deterministic=True
    )
    db.create_function(
        "matches_titles", 2, lambda p, v: any_of(matches_title, p, v), deterministic=True
    )


def build_where(where: Filter | None) -> tuple[str, list[str]]:
    """Return the SQL condition on ``documents`` and its values; lists go as one JSON value, so
    that no limit on the number of variables applies.
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
            "EXISTS (SELECT 1 FROM json_each(documents.metadata) AS f WHERE f.key = ? AND f.value = ?)"
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
