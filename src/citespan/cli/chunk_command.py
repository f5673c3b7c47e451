"""``citespan chunk``: see how a splitter cuts a file, without an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from citespan.cli.app import embedder_option, read_settings, splitter_options
from citespan.cli.console import as_plain, note, print_json, say, style
from citespan.errors import LoadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citespan.types import Chunk, Document

COLOURS = ("cyan", "yellow", "green", "magenta")


@click.command()
@click.argument("file")
@splitter_options
@embedder_option
@click.option("--allow-private", is_flag=True, help="Also read a private web address.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def chunk(file: str, allow_private: bool, as_json: bool, **flags: Any) -> None:
    """Cut one file and show its chunks, coloured in turn, with their spans.

    A splitter's sizes are its own defaults where none are given; `--splitter` takes any name that
    an index takes.
    """
    from citespan.load import LoadOptions, LoadReport, load_documents
    from citespan.pipeline import prepare_document
    from citespan.pipeline.parts import asked_for, open_parts

    loaded = read_settings(**flags)
    report = LoadReport()
    options = LoadOptions(allow_private=allow_private)
    documents = list(load_documents(file, options=options, report=report))
    if not documents:
        reasons = "; ".join(skip.reason for skip in report.skipped) or "nothing to read"
        raise LoadError(f"{file}: {reasons}", fix="name a file with text")
    parts = open_parts(loaded.settings, required=asked_for(loaded, "embedder"))
    for line in parts.notes:
        note(f"note: {line}")
    shown = []
    for document in map(prepare_document, documents):
        chunks = parts.splitter.split(document)
        if as_json:
            shown.append(_document_json(document, chunks))
        else:
            _draw(document, chunks)
    if as_json:
        print_json(shown[0] if len(shown) == 1 else shown)


def _document_json(document: Document, chunks: Sequence[Chunk]) -> dict[str, Any]:
    return {
        "source": document.source,
        "language": document.language,
        "characters": len(document.text),
        "chunks": [
            {
                "order": piece.order,
                "start": piece.start,
                "end": piece.end,
                "spans": as_plain(piece.spans),
                "overlap": piece.overlap,
                "context": piece.context,
                "text": piece.text,
            }
            for piece in chunks
        ],
    }


def _draw(document: Document, chunks: Sequence[Chunk]) -> None:
    count = "1 chunk" if len(chunks) == 1 else f"{len(chunks)} chunks"
    say(f"{document.source}: {len(document.text)} characters, {count}")
    for piece in chunks:
        colour = COLOURS[piece.order % len(COLOURS)]
        spans = " + ".join(f"{start}-{end}" for start, end in piece.spans)
        overlap = f", {piece.overlap} shared with the one before" if piece.overlap else ""
        context = f"  [{' '.join(piece.context.split())}]" if piece.context else ""
        say("\n" + style(f"#{piece.order}  {spans}{overlap}{context}", bold=True))
        shared = style(piece.text[: piece.overlap], fg=colour, dim=True) if piece.overlap else ""
        say(shared + style(piece.text[piece.overlap :], fg=colour))
