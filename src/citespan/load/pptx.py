"""PowerPoint: a slide is a page; titles are sections, notes follow their slide."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.archive import check_office
from citespan.load.build import TextBuilder, collapse_blanks, join_row
from citespan.load.options import Extract, LoadOptions


def read_pptx(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a presentation's text slide by slide.

    Raises
    ------
    LoadError
        If the file is protected by a password, damaged or hostile.
    """
    from pptx import Presentation
    from pptx.exc import PackageNotFoundError

    check_office(data, name, "ppt/presentation.xml", options.max_unpacked)
    try:
        slides = list(Presentation(io.BytesIO(data)).slides)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise LoadError(f"{name} is damaged: not a readable presentation ({error})") from None
    builder = TextBuilder()
    skips: list[tuple[int | None, str]] = []
    title = ""
    for number, slide in enumerate(slides, start=1):
        builder.page(number)
        before = builder.length
        try:
            heading = _lay_down(slide, builder)
            title = title or heading
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            skips.append((number, f"the slide is damaged ({type(error).__name__})"))
        else:
            if builder.length == before:
                skips.append((number, "the slide has no text"))
        progress()
    return builder.build(
        title=title or Path(name).stem,
        media_type="application/vnd.openxmlformats-officedocument.presentationml.presentation",
        skips=skips,
    )


def _lay_down(slide: Any, builder: TextBuilder) -> str:
    """Lay a slide down, its title first; return the title."""
    heading = slide.shapes.title
    title = collapse_blanks(_frame_text(heading.text_frame)) if heading is not None else ""
    if title:
        builder.heading(title, 1)
    for shape in _shapes(slide.shapes):
        if heading is not None and shape.shape_id == heading.shape_id:
            continue
        if getattr(shape, "has_table", False):
            gap = "\n\n"
            for row in shape.table.rows:
                builder.block(join_row(cell.text for cell in row.cells), gap=gap)
                gap = "\n"
        elif shape.has_text_frame:
            builder.block(_frame_text(shape.text_frame))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        builder.block(_frame_text(slide.notes_slide.notes_text_frame))
    return title


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield the shapes in the slide's own order, groups opened."""
    flat: list[Any] = []
    stack = [iter(shapes)]
    while stack:
        for shape in stack[-1]:
            if hasattr(shape, "shapes"):
                stack.append(iter(shape.shapes))
                break
            flat.append(shape)
        else:
            stack.pop()
    yield from (shape for shape in flat if not _is_furniture(shape))


def _is_furniture(shape: Any) -> bool:
    """Whether a shape holds the slide's number, date or footer."""
    if not shape.is_placeholder:
        return False
    return str(shape.placeholder_format.type).split(" ")[0] in ("SLIDE_NUMBER", "DATE", "FOOTER")


def _frame_text(frame: Any) -> str:
    lines = (paragraph.text.replace("\v", "\n").strip() for paragraph in frame.paragraphs)
    return "\n".join(line for line in lines if line)
