"""From whatever a generator wrote to plain sentences: nothing here fails, everything is noted."""

from __future__ import annotations

import json
import re
from typing import Any

LONGEST = 20_000

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w-]*[ \t]*$\n?", re.M)
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*)(?=\S)([^*_\n]+?)(?<=\S)\1(?!\w)|`([^`\n]+)`")
_LINE = re.compile(r"^[ \t]*(?:[-*•·]|\#{1,6}|>)[ \t]+", re.M)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
# Control characters, lone surrogates, private use, and marks that turn the direction of text.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u2069\ufeff\ufffd]"
)
_TEXT_KEYS = ("answer", "text", "response", "content", "output", "result", "message", "sentence")
_CITED_KEYS = ("citations", "sources", "references", "source", "citation")


def clean_answer(written: object) -> tuple[str, list[str]]:
    r"""Return the text of an answer, and notes on what had to be done to it.

    Examples
    --------
    >>> clean_answer('```json\n{"answer": "Two years.", "citations": [1]}\n```')
    ('Two years. [1]', ['the answer came as JSON; its text was taken out'])
    """
    notes: list[str] = []
    text = written if isinstance(written, str) else "" if written is None else str(written)
    if len(text) > LONGEST:
        text = text[:LONGEST]
        notes.append(f"the answer was cut after {LONGEST} characters")
    plain = _UNPRINTABLE.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    if len(plain) < len(text) - text.count("\r"):
        notes.append("unprintable characters were removed")
    thought = _THINKING.sub("", plain)
    if thought != plain:
        notes.append("the model's thinking was left out")
    unfenced = _FENCE.sub("", thought)
    told = _read_json(unfenced)
    if told is not None:
        notes.append("the answer came as JSON; its text was taken out")
        unfenced = told
    plain = _EMPHASIS.sub(lambda m: m[2] or m[3], _LINE.sub("", unfenced))
    once = _cut_loops(plain)
    if once != plain:
        notes.append("what the model repeated was left out")
    return once.strip(), notes


def _read_json(text: str) -> str | None:
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or not stripped.endswith(("}", "]")):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    # "[1]" is a citation, not a list.
    if isinstance(value, list) and not any(isinstance(item, dict | str) for item in value):
        return None
    return " ".join(_flatten(value, 0)).strip()


def _flatten(value: Any, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > 20:
        return []
    if isinstance(value, list):
        return [part for item in value for part in _flatten(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    keys = [key for key in value if str(key).lower() in _TEXT_KEYS]
    others = [key for key in value if str(key).lower() not in (*_TEXT_KEYS, *_CITED_KEYS)]
    parts = [part for key in keys or others for part in _flatten(value[key], depth + 1)]
    for key in value:
        if str(key).lower() in _CITED_KEYS:
            cited = value[key] if isinstance(value[key], list) else [value[key]]
            parts.extend(f"[{n}]" for n in cited if isinstance(n, int) and not isinstance(n, bool))
    return parts


def _cut_loops(text: str) -> str:
    """Leave out a stretch that is repeated at once, four times or more, and repeated lines."""
    text = re.sub(r"(.{2,80}?)\1{3,}", r"\1", text, flags=re.S) if _has_loop(text) else text
    seen: dict[str, int] = {}
    lines = []
    for line in text.split("\n"):
        key = " ".join(line.lower().split())
        seen[key] = seen.get(key, 0) + 1
        if not key or seen[key] == 1:
            lines.append(line)
    return "\n".join(lines)


def _has_loop(text: str) -> bool:
    """Tell by how well it shrinks whether a text can hold long repeats; plain text does not."""
    import zlib

    data = text.encode("utf-8", "replace")
    return len(data) > 60 and len(zlib.compress(data)) < 0.4 * len(data)
