"""Word documents: paragraphs, headings, tables, text boxes, notes; headers and footers once."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.archive import check_office
from citespan.load.build import TextBuilder, collapse_blanks, join_row
from citespan.load.options import Extract, LoadOptions

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HEADING = re.compile(r"^(?:heading|überschrift|titre|título|заголовок|标题)\s*(\d)", re.IGNORECASE)
_HIDDEN_PARTS = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}rPr", f"{_W}pPr"))


def read_docx(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a Word document's text; headings are sections, a table row is a line.

    Raises
    ------
    LoadError
        If the file is protected by a password, damaged or hostile.
    """
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    check_office(data, name, "word/document.xml", options.max_unpacked)
    try:
        document: Any = docx.Document(io.BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise LoadError(f"{name} is damaged: not a readable Word file ({error})") from None
    levels = _heading_levels(document)
    builder = TextBuilder()
    title = _property(document, "title")
    for element in _blocks(document.element.body):
        found = _lay_down(element, builder, levels)
        title = title or found
    for kind in ("footnotes", "endnotes", "comments"):
        _lay_down_notes(document, kind, builder)
    running = _running(document)
    extract = builder.build(
        title=title or (Path(name).stem),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    )
    if running:
        extract.metadata["running"] = "; ".join(running)[:1000]
        if not extract.text:
            extract.text = "\n".join(running)
    author = _property(document, "author")
    if author:
        extract.metadata["author"] = author
    return extract


def _lay_down(element: Any, builder: TextBuilder, levels: dict[str, int]) -> str:
    """Lay one block down; return its text if it is the document's title."""
    if element.tag == f"{_W}tbl":
        gap = "\n\n"
        for row in element.iter(f"{_W}tr"):
            if _nearest(row, f"{_W}tbl") is element:
                cells = [cell for cell in row.iter(f"{_W}tc") if _nearest(cell, f"{_W}tr") is row]
                builder.block(join_row(_cell_text(cell) for cell in cells), gap=gap)
                gap = "\n"
        return ""
    text = _text(element)
    style = element.find(f"{_W}pPr/{_W}pStyle")
    level = levels.get(style.get(f"{_W}val", ""), 0) if style is not None else 0
    outline = element.find(f"{_W}pPr/{_W}outlineLvl")
    if outline is not None and outline.get(f"{_W}val", "9") in "012345678":
        level = int(outline.get(f"{_W}val")) + 1
    if level and text.strip():
        builder.heading(text, level)
        return collapse_blanks(text) if level == 1 else ""
    tight = element.find(f"{_W}pPr/{_W}numPr") is not None or (
        style is not None and "list" in style.get(f"{_W}val", "").lower()
    )
    builder.block(text.strip(), gap="\n" if tight else "\n\n")
    for box in _boxes(element):
        for inner in _blocks(box):
            _lay_down(inner, builder, levels)
    return ""


def _blocks(parent: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in order, looking into content controls and the like."""
    stack = [iter(parent)]
    while stack:
        for child in stack[-1]:
            if child.tag in (f"{_W}p", f"{_W}tbl"):
                yield child
            elif child.tag in (
                f"{_W}sdt",
                f"{_W}sdtContent",
                f"{_W}customXml",
                f"{_W}ins",
                f"{_W}moveTo",
                f"{_W}smartTag",
            ):
                stack.append(iter(child))
                break
        else:
            stack.pop()


def _text(paragraph: Any) -> str:
    """Return a paragraph's visible text; what it anchors (boxes) and deleted text are not in it."""
    pieces: list[str] = []
    skip = 0
    from lxml import etree

    for event, node in etree.iterwalk(paragraph, events=("start", "end")):
        hidden = node.tag in _HIDDEN_PARTS or node.tag in (f"{_W}txbxContent", f"{_MC}Fallback")
        if hidden:
            skip += 1 if event == "start" else -1
        elif event == "start" and not skip:
            if node.tag == f"{_W}t":
                if not _is_vanished(node):
                    pieces.append(node.text or "")
            elif node.tag == f"{_W}tab":
                pieces.append("\t")
            elif node.tag in (f"{_W}br", f"{_W}cr"):
                pieces.append("\n")
            elif node.tag == f"{_W}noBreakHyphen":
                pieces.append("-")
            elif node.tag.endswith("}t") and "math" in node.tag:
                pieces.append(node.text or "")
    return "".join(pieces)


def _is_vanished(text: Any) -> bool:
    run = text.getparent()
    mark = run.find(f"{_W}rPr/{_W}vanish") if run is not None else None
    return mark is not None and mark.get(f"{_W}val", "1") not in ("0", "false", "off")


def _boxes(paragraph: Any) -> Iterator[Any]:
    """Yield the text boxes a paragraph anchors, without their copies for older programs."""
    for box in paragraph.iter(f"{_W}txbxContent"):
        if _nearest(box, f"{_MC}Fallback") is None and (
            _nearest(box, f"{_W}txbxContent") is None
            or not _is_below(_nearest(box, f"{_W}txbxContent"), paragraph)
        ):
            yield box


def _cell_text(cell: Any) -> str:
    """Return all text of a cell, nested tables and boxes included, on one line."""
    pieces = []
    for paragraph in cell.iter(f"{_W}p"):
        if _nearest(paragraph, f"{_MC}Fallback") is None:
            pieces.append(_text(paragraph))
    return " ".join(piece for piece in pieces if piece.strip())


def _nearest(node: Any, tag: str) -> Any:
    parent = node.getparent()
    while parent is not None and parent.tag != tag:
        parent = parent.getparent()
    return parent


def _is_below(node: Any, top: Any) -> bool:
    while node is not None and node is not top:
        node = node.getparent()
    return node is not None


def _heading_levels(document: Any) -> dict[str, int]:
    """Return style id → heading level, by name in the usual languages or by outline level."""
    levels: dict[str, int] = {}
    try:
        styles = document.styles.element
    except (KeyError, AttributeError):
        return levels
    parents: dict[str, str] = {}
    for style in styles.iter(f"{_W}style"):
        key = style.get(f"{_W}styleId", "")
        name = style.find(f"{_W}name")
        shown = name.get(f"{_W}val", "") if name is not None else ""
        match = _HEADING.match(shown)
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        if match:
            levels[key] = int(match[1])
        elif shown.lower() == "title":
            levels[key] = 1
        elif outline is not None and outline.get(f"{_W}val", "9") in "012345678":
            levels[key] = int(outline.get(f"{_W}val")) + 1
        based = style.find(f"{_W}basedOn")
        if based is not None:
            parents[key] = based.get(f"{_W}val", "")
    for key in parents:
        seen, at = {key}, key
        while at not in levels and at in parents and parents[at] not in seen:
            at = parents[at]
            seen.add(at)
        if at in levels:
            levels[key] = levels[at]
    return levels


def _lay_down_notes(document: Any, kind: str, builder: TextBuilder) -> None:
    from lxml import etree

    for part in document.part.package.iter_parts():
        if str(part.partname) == f"/word/{kind}.xml":
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            root = etree.fromstring(part.blob, parser)
            for paragraph in root.iter(f"{_W}p"):
                builder.block(_text(paragraph).strip())


def _running(document: Any) -> list[str]:
    """Return the distinct texts of headers and footers; page numbers alone do not count."""
    texts: dict[str, None] = {}
    for part in document.part.package.iter_parts():
        if re.match(r"/word/(?:header|footer)\d*\.xml$", str(part.partname)):
            element = getattr(part, "element", None)
            for paragraph in element.iter(f"{_W}p") if element is not None else ():
                text = collapse_blanks(_text(paragraph))
                if any(char.isalpha() for char in text):
                    texts.setdefault(text)
    return list(texts)[:20]


def _property(document: Any, field: str) -> str:
    try:
        value = getattr(document.core_properties, field, "")
    except (KeyError, ValueError, AttributeError):
        return ""
    text = collapse_blanks(str(value or ""))
    return "" if text.lower() in ("python-docx", "word document") else text[:500]
