"""OpenDocument text: paragraphs, headings, lists and tables in order."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.archive import open_package, parse_xml, read_part
from citespan.load.build import TextBuilder, collapse_blanks, join_row
from citespan.load.options import Extract, LoadOptions

_NS = "{urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _OFFICE = f"{_NS}text:1.0}}", f"{_NS}table:1.0}}", f"{_NS}office:1.0}}"
_SILENT = (
    f"{_TEXT}tracked-changes",
    f"{_OFFICE}annotation",
    f"{_TEXT}table-of-content",
    f"{_TEXT}sequence-decls",
    f"{_OFFICE}forms",
)
_TITLE_PATH = "//*[local-name()='title']/text()"
_BLOCK_TAGS = (f"{_TEXT}p", f"{_TEXT}h")


def read_odt(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return an OpenDocument text's text; headings are sections, a table row is a line.

    Raises
    ------
    LoadError
        If the file is protected by a password, damaged or hostile.
    """
    if data.lstrip()[:5] == b"<?xml":
        return _extract(_parse(data, name), "", name)
    with open_package(data, name, options.max_unpacked) as package:
        parts = package.namelist()
        if "META-INF/manifest.xml" in parts:
            manifest = read_part(package, "META-INF/manifest.xml", name)
            if b"encryption-data" in manifest:
                raise LoadError(f"{name} is protected by a password", fix="save it without one")
        root = _parse(read_part(package, "content.xml", name), name)
        title = ""
        if "meta.xml" in parts:
            with contextlib.suppress(LoadError):  # a book without its label can still be read
                meta = _parse(read_part(package, "meta.xml", name), name)
                title = collapse_blanks(" ".join(meta.xpath(_TITLE_PATH)[:1]))
    return _extract(root, title, name)


def _parse(data: bytes, name: str) -> Any:
    if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data[:100_000]:
        raise LoadError(f"{name} declares XML entities", fix="save it anew from its program")
    return parse_xml(data, name)


def _extract(root: Any, title: str, name: str) -> Extract:
    body = root.find(f".//{_OFFICE}text")
    if body is None:
        raise LoadError(f"{name} is damaged: it holds no text body")
    builder = TextBuilder()
    notes: list[str] = []
    stack: list[tuple[Any, bool]] = [(body, False)]
    while stack:
        node, in_list = stack.pop()
        tag = node.tag
        if not isinstance(tag, str) or tag in _SILENT:
            continue
        if tag == f"{_TEXT}h":
            level = node.get(f"{_TEXT}outline-level", "1")
            text = _text(node, notes)
            builder.heading(text, int(level) if level.isdigit() else 1)
            title = title or collapse_blanks(text)
        elif tag == f"{_TEXT}p":
            builder.block(_text(node, notes).strip(), gap="\n" if in_list else "\n\n")
            stack += [(frame, False) for frame in reversed(list(_frames(node)))]
        elif tag == f"{_TABLE}table":
            gap = "\n\n"
            for row in node.iter(f"{_TABLE}table-row"):
                cells = [c for c in row if c.tag == f"{_TABLE}table-cell"]
                builder.block(join_row(_cell_text(c, notes) for c in cells), gap=gap)
                gap = "\n"
        else:
            inside = in_list or tag == f"{_TEXT}list"
            stack += [(child, inside) for child in reversed(node)]
    for note in notes:
        builder.block(note)
    return builder.build(
        title=title or Path(name).stem, media_type="application/vnd.oasis.opendocument.text"
    )


def _text(node: Any, notes: list[str]) -> str:
    """Return a paragraph's text; notes are set aside, frames are left to the caller."""
    from lxml import etree

    pieces: list[str] = []
    skip: Any = None
    for event, child in etree.iterwalk(node, events=("start", "end")):
        tag = child.tag
        if event == "start" and skip is None:
            if tag == f"{_TEXT}note":
                body = child.find(f"{_TEXT}note-body")
                if body is not None:
                    notes.append(collapse_blanks(" ".join(body.itertext())))
                skip = child
            elif tag in _SILENT or str(tag).endswith("}frame") or not isinstance(tag, str):
                skip = child
            elif tag == f"{_TEXT}s":
                count = child.get(f"{_TEXT}c", "1")
                pieces.append(" " * min(int(count) if count.isdigit() else 1, 100))
            elif tag == f"{_TEXT}tab":
                pieces.append("\t")
            elif tag == f"{_TEXT}line-break":
                pieces.append("\n")
            elif child.text:
                pieces.append(collapse_inner(child.text))
        if event == "end" and child is not node:
            if child is skip:
                skip = None
            if skip is None and child.tail:
                pieces.append(collapse_inner(child.tail))
    return "".join(pieces)


def collapse_inner(text: str) -> str:
    r"""Return text with each run of white space as one space, ends kept (as ODF asks).

    >>> collapse_inner(" a\n  b ")
    ' a b '
    """
    middle = collapse_blanks(text)
    if not middle:
        return " " if text else ""
    return (" " if text[0].isspace() else "") + middle + (" " if text[-1].isspace() else "")


def _frames(node: Any) -> list[Any]:
    """Return the text boxes that a paragraph anchors."""
    return [box for box in node.iter() if str(box.tag).endswith("}text-box")]


def _cell_text(cell: Any, notes: list[str]) -> str:
    return " ".join(_text(node, notes) for node in cell.iter() if node.tag in _BLOCK_TAGS)
