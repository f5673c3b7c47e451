"""EPUB: the chapters in the order of the book's spine, each read as HTML."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from citespan.errors import LoadError
from citespan.load.archive import open_package, parse_xml, read_part
from citespan.load.build import TextBuilder, collapse_blanks
from citespan.load.decode import decode_bytes
from citespan.load.html import extract_html
from citespan.load.options import Extract, LoadOptions

_ENCRYPTED_FONTS = ("idpf.org/2008/embedding", "ns.adobe.com/pdf/enc")


def read_epub(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a book's text chapter by chapter, headings as sections.

    Raises
    ------
    LoadError
        If the book is copy-protected, damaged or unpacks beyond the limit.
    """
    with open_package(data, name, options.max_unpacked) as package:
        parts = set(package.namelist())
        if "META-INF/rights.xml" in parts or _is_encrypted(package, parts, name):
            raise LoadError(f"{name} is copy-protected (DRM)", fix="use a copy without protection")
        container = parse_xml(read_part(package, "META-INF/container.xml", name), name)
        paths = [p for p in container.xpath("//*[local-name()='rootfile']/@full-path") if p]
        if not paths:
            raise LoadError(f"{name} is damaged: its container names no package")
        opf = parse_xml(read_part(package, paths[0], name), name)
        base = posixpath.dirname(paths[0])
        builder = TextBuilder()
        skips: list[tuple[int | None, str]] = []
        for href in _spine(opf):
            part = posixpath.normpath(posixpath.join(base, unquote(href.partition("#")[0])))
            if part not in parts:
                skips.append((None, f"chapter {part} is missing from the book"))
                continue
            try:
                text, _ = decode_bytes(read_part(package, part, name), part)
                extract_html(text, part, builder)
            except LoadError as error:
                skips.append((None, f"chapter left out: {error}"))
            progress()
    titles = opf.xpath("//*[local-name()='metadata']/*[local-name()='title']/text()")
    authors = opf.xpath("//*[local-name()='metadata']/*[local-name()='creator']/text()")
    title = collapse_blanks(" ".join(titles[:1])) or Path(name).stem
    metadata = {"author": ", ".join(map(collapse_blanks, authors))[:500]} if authors else {}
    return builder.build(
        title=title, media_type="application/epub+zip", metadata=metadata, skips=skips
    )


def _spine(opf: Any) -> list[str]:
    """Return the chapters' addresses in reading order; the table of contents is not one."""
    items = {
        item.get("id"): item
        for item in opf.xpath("//*[local-name()='manifest']/*[local-name()='item']")
    }
    order = [ref.get("idref") for ref in opf.xpath("//*[local-name()='spine']/*")]
    chosen = [items[key] for key in order if key in items] or list(items.values())
    return [
        item.get("href")
        for item in chosen
        if item.get("href")
        and "nav" not in (item.get("properties") or "").split()
        and "html" in (item.get("media-type") or item.get("href"))
    ]


def _is_encrypted(package: Any, parts: set[str], name: str) -> bool:
    """Whether more than fonts is encrypted (scrambled fonts are common and harmless)."""
    if "META-INF/encryption.xml" not in parts:
        return False
    root = parse_xml(read_part(package, "META-INF/encryption.xml", name), name)
    methods = root.xpath("//*[local-name()='EncryptedData']/*[local-name()='EncryptionMethod']")
    return any(
        not any(mark in (method.get("Algorithm") or "") for mark in _ENCRYPTED_FONTS)
        for method in methods
    )
