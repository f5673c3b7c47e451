"""XML in general, and RTF: formats whose text is what is left when the marks are gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from citespan.errors import LoadError
from citespan.load.archive import parse_xml
from citespan.load.build import TextBuilder, collapse_blanks, normalize_newlines
from citespan.load.decode import decode_bytes
from citespan.load.html import extract_html
from citespan.load.options import Extract, LoadOptions


def read_xml(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return the text of an XML file, a line an element; XHTML and feeds' HTML are read as such.

    Raises
    ------
    LoadError
        If it declares entities, or is no XML.
    """
    text, encoding = decode_bytes(data, name)
    if "<!ENTITY" in text[:100_000]:
        raise LoadError(f"{name} declares XML entities", fix="save it with the entities expanded")
    if "<html" in text[:2000].lower():
        extract = extract_html(text, name)
    else:
        body = text.lstrip()
        if body.startswith("<?xml"):
            body = body[body.find("?>") + 2 :]
        root = parse_xml(b'<?xml version="1.0" encoding="utf-8"?>' + body.encode("utf-8"), name)
        extract = _lay_down(root, name)
    extract.metadata["encoding"] = encoding
    return extract


def read_rtf(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return the text of an RTF file, a paragraph a block.

    Raises
    ------
    LoadError
        If the file is no RTF.
    """
    from striprtf.striprtf import rtf_to_text

    to_text: Callable[..., str] = rtf_to_text

    if not data.lstrip()[:5].startswith(b"{\\rt"):
        raise LoadError(f"{name} is not an RTF file")
    text = normalize_newlines(to_text(data.decode("latin-1"), errors="strict"))
    builder = TextBuilder()
    for line in text.split("\n"):
        if "|" in line and line.count("|") > 1:
            line = " | ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
        builder.block(collapse_blanks(line))
    return builder.build(title=Path(name).stem, media_type="application/rtf")


def _lay_down(root: object, name: str) -> Extract:
    from lxml import etree

    builder = TextBuilder()
    title = ""
    for _, element in etree.iterwalk(root, events=("start",)):
        if not isinstance(element.tag, str):
            continue
        tag = etree.QName(element).localname.lower()
        if tag in ("script", "style"):
            continue
        pieces = [element.text or ""]
        for child in element:
            pieces.append(child.tail or "")
        line = collapse_blanks(" ".join(pieces))
        if line.lstrip().startswith("<") and ">" in line:
            line = extract_html(line).text
        if line and tag == "title" and not title:
            title = line
        builder.block(line, gap="\n")
    return builder.build(title=title or Path(name).stem, media_type="application/xml")
