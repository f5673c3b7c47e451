"""Markdown: the text as written, its headings as sections, its front matter as metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from citespan.load.build import Heading, close_sections, collapse_blanks
from citespan.load.decode import decode_bytes
from citespan.load.options import Extract, LoadOptions

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_PARSED = 5_000_000
_MAX_FRONT = 64_000
_MAX_VALUE = 2_000
_MARKS = re.compile(r"(\*\*|__|\*|`|~~)(\S(?:.*?\S)?)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def read_markdown(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return the Markdown source below its front matter, with sections from its headings."""
    whole, encoding = decode_bytes(data, name)
    text, fields, problem = split_front_matter(whole)
    skips: list[tuple[int | None, str]] = [(None, problem)] if problem else []
    headings: list[Heading] = []
    if len(text) <= _MAX_PARSED:
        headings = find_headings(text)
    else:
        skips.append((None, f"headings not read: more than {_MAX_PARSED:,} characters"))
    title = fields.pop("title", "") or next((t for t, level, _ in headings if level == 1), "")
    return Extract(
        text,
        title=title or Path(name).stem,
        media_type="text/markdown",
        sections=close_sections(headings, len(text)),
        metadata={"encoding": encoding} | fields,
        skips=skips,
    )


def find_headings(text: str) -> list[Heading]:
    r"""Return the headings of Markdown text in order (CommonMark: ``#`` and underlined ones).

    >>> find_headings("# A *b*\n\n```\n# no\n```\n\nC\n---\n")
    [('A b', 1, 0), ('C', 2, 23)]
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.disable("inline")  # only the blocks are wanted; inline parsing is most of the cost
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    headings: list[Heading] = []
    tokens = parser.parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.map:
            title = _LINK.sub(r"\1", inline.content)
            title = collapse_blanks(_MARKS.sub(r"\2", title))
            start = starts[token.map[0]]
            start += len(text[start : starts[token.map[0] + 1]]) - len(
                text[start : starts[token.map[0] + 1]].lstrip(" ")
            )
            if title:
                headings.append((title, int(token.tag[1:]), start))
    return headings


def split_front_matter(text: str) -> tuple[str, dict[str, str], str]:
    r"""Return (text below the front matter, its fields as strings, a problem in words or "").

    Aliases are refused, so that a small block cannot stand for a huge value.

    >>> split_front_matter("---\ntitle: A\ntags: [x, y]\n---\n# B\n")
    ('# B\n', {'title': 'A', 'tags': 'x, y'}, '')
    """
    match = _FRONT.match(text[: _MAX_FRONT + 100])
    if match is None:
        return text, {}, ""
    rest = text[match.end() :]
    try:
        value = _parse_yaml(match[1])
    except ValueError as error:
        return rest, {}, f"front matter left out: {error}"
    if value is None:
        return rest, {}, ""
    if not isinstance(value, dict):
        return text, {}, ""  # a rule, text and another rule: not front matter
    fields = {str(key): _flatten(item)[:_MAX_VALUE] for key, item in value.items()}
    return rest, {key: item for key, item in fields.items() if item}, ""


def _parse_yaml(source: str) -> Any:
    import yaml

    try:
        for event in yaml.parse(source, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("it uses YAML aliases")
        # BaseLoader keeps every scalar as the string that was written ("no", 2024-01-05, 1.10).
        return yaml.load(source, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"it is not valid YAML ({getattr(error, 'problem', error)})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _flatten(value: Any, depth: int = 0) -> str:
    if depth > 5:
        return ""
    if isinstance(value, list):
        return ", ".join(filter(None, (_flatten(item, depth + 1) for item in value[:200])))
    if isinstance(value, dict):
        pairs = ((key, _flatten(item, depth + 1)) for key, item in list(value.items())[:200])
        return "; ".join(f"{key}: {item}" for key, item in pairs if item)
    return "" if value is None else str(value)
