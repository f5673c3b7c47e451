"""PDF: text in reading order, page by page; pages without a text layer are reported."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from citespan.errors import LoadError
from citespan.load.build import TextBuilder, collapse_blanks
from citespan.load.glyphs import page_words
from citespan.load.layout import Line, Word, group_rows, order_regions
from citespan.load.options import Extract, LoadOptions
from citespan.load.paragraphs import (
    Paragraph,
    continues,
    find_margin_lines,
    find_running,
    group_paragraphs,
    hyphenated_words,
    join_lines,
)

_DAMAGED = "the page is damaged"
_PASSWORD_ERROR = 4
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f\U000f0000-\U0010ffff]")
_NO_TITLE = re.compile(r"^(?:untitled|microsoft word|document\d*|slide \d+|title)\b", re.IGNORECASE)
_MAX_PAGES = 20_000


@dataclass(slots=True)
class _Page:
    number: int
    groups: list[list[Word]]
    """Words by their direction: the page's main one first."""
    edges: tuple[float, float]


def read_pdf(data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]) -> Extract:
    """Return a PDF's text with the span of each page; running headers and footers are left out.

    Raises
    ------
    LoadError
        If the file is protected by a password or damaged.
    """
    document = _open(data, name)
    try:
        count = len(document)
        if count == 0:
            raise LoadError(f"{name} is damaged: it has no pages")
        pages: list[_Page] = []
        skips: list[tuple[int | None, str]] = []
        if count > _MAX_PAGES:
            skips.append((None, f"only the first {_MAX_PAGES} of its {count} pages were read"))
        for index in range(min(count, _MAX_PAGES)):
            reason = _read_page(document, index, pages)
            if reason:
                skips.append((index + 1, reason))
            else:
                progress()
        info = collapse_blanks(document.get_metadata_value("Title") or "")
    finally:
        document.close()
    if not pages and skips and all(reason == _DAMAGED for _, reason in skips):
        raise LoadError(f"{name} is damaged: none of its pages can be read")
    running = _drop_running(pages)
    extract = _lay_down(_find_paragraphs(pages))
    first = extract.sections[0].title if extract.sections else ""
    shown = info if info and not _NO_TITLE.match(info) and len(info) > 3 else first
    extract.title = shown or Path(name).stem
    extract.media_type = "application/pdf"
    extract.skips = skips
    if running:
        extract.metadata["running"] = "; ".join(running)[:1000]
    return extract


def _open(data: bytes, name: str) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR or "password" in str(error).lower():
            raise LoadError(
                f"{name} is protected by a password", fix="save it without one"
            ) from None
        raise LoadError(f"{name} is damaged: not a readable PDF") from None


def _read_page(document: Any, index: int, pages: list[_Page]) -> str:
    """Add a page's words; return in words why there are none, or ""."""
    import pypdfium2
    import pypdfium2.raw as raw

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return _DAMAGED
    try:
        groups, edges = page_words(page)
        text = "".join(word.text for group in groups for word in group)
        if not text.strip():
            picture = any(True for _ in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,)))
            if picture:
                return "no text layer: the page is a picture and needs OCR"
            return "the page is empty"
        odd = len(_UNREADABLE.findall(text))
        named = sum(char.isalnum() for char in text)
        if odd * 4 > len(text) or named * 3 < len(text):
            return "unreadable text layer: its fonts do not say which letters they draw; needs OCR"
    except pypdfium2.PdfiumError:
        return _DAMAGED
    finally:
        page.close()
    pages.append(_Page(index + 1, groups, edges))
    return ""


def _drop_running(pages: list[_Page]) -> list[str]:
    """Take running headers and footers out of the pages; return their distinct texts."""
    rows_of = []
    for page in pages:
        words = page.groups[0]
        em = median(word.height for word in words) or 1.0
        rows_of.append([Line(row) for row in group_rows(words, em)])
    texts: dict[str, None] = {}
    dropped: dict[int, set[int]] = {}
    running = find_running(rows_of) if len(pages) > 1 else set()
    for p, page in enumerate(pages):
        running.update((p, i) for i in find_margin_lines(rows_of[p], *page.edges))
    for p, i in sorted(running):
        line = rows_of[p][i]
        texts.setdefault(line.text)
        dropped.setdefault(p, set()).update(word.order for word in line.words)
    for p, orders in dropped.items():
        pages[p].groups[0] = [w for w in pages[p].groups[0] if w.order not in orders]
    return list(texts)[:20]


def _find_paragraphs(pages: list[_Page]) -> list[list[Paragraph]]:
    """Return chains of paragraphs; those of one chain are one that columns or pages cut."""
    chains: list[list[Paragraph]] = []
    for page in pages:
        for group in page.groups:
            regions = order_regions(group)
            steps = [b.y1 - a.y1 for region in regions for a, b in pairwise(region)]
            pitch = median(steps) if steps else 0.0
            for region in regions:
                paragraphs = group_paragraphs(region, page.number, pitch)
                if chains and continues(chains[-1][-1], paragraphs[0]):
                    chains[-1].append(paragraphs.pop(0))
                chains.extend([paragraph] for paragraph in paragraphs)
    return chains


def _lay_down(chains: list[list[Paragraph]]) -> Extract:
    lines = [line for chain in chains for part in chain for line in part.lines]
    known = hyphenated_words([line.text for line in lines])
    sizes = _heading_sizes(lines)
    builder = TextBuilder()
    page = 0
    for chain in chains:
        level = _heading_level(chain, sizes)
        text, marks = _join_chain(chain, known)
        if not text.strip():
            continue
        gap = "\n" if chain[0].tight else "\n\n"
        start = builder.length + (len(gap) if builder.length else 0)
        if chain[0].page != page:
            page = chain[0].page
            builder.page(page)
        if level:
            builder.heading(text, level, gap=gap)
        else:
            builder.block(text, gap=gap)
        for number, at in marks:
            if number != page:
                page = number
                builder.page(page, start + at)
    return builder.build()


def _join_chain(chain: list[Paragraph], known: set[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return a chain's text, and (page, offset) where its later parts begin."""
    text = join_lines([line.text for line in chain[0].lines], known)
    marks = []
    for part in chain[1:]:
        piece = join_lines([line.text for line in part.lines], known)
        whole = join_lines([text, piece], known)
        marks.append((part.page, len(whole) - len(piece)))
        text = whole
    return text, marks


def _heading_sizes(lines: list[Line]) -> list[float]:
    """Return the line heights, largest first, that are clearly above the body's."""
    weights: dict[float, int] = {}
    for line in lines:
        size = round(line.height * 2) / 2
        weights[size] = weights.get(size, 0) + len(line.text)
    if not weights:
        return []
    body = max(weights, key=lambda size: weights[size])
    total = sum(weights.values())
    return sorted(
        (s for s, n in weights.items() if s >= 1.12 * body and n < 0.2 * total), reverse=True
    )[:6]


def _heading_level(chain: list[Paragraph], sizes: list[float]) -> int:
    if len(chain) > 1 or len(chain[0].lines) > 3:
        return 0
    size = round(chain[0].height * 2) / 2
    text = " ".join(line.text for line in chain[0].lines)
    letters = sum(char.isalpha() for char in text)
    if size in sizes and len(text) <= 200 and letters >= 2 and letters * 2 > len(text):
        return sizes.index(size) + 1
    return 0
