"""``citespan run``: many questions over a ready corpus, one line of JSON each."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from citespan.cli.app import (
    embedder_option,
    index_option,
    read_settings,
    retrieve_options,
    splitter_options,
)
from citespan.cli.console import format_seconds, note


@click.command()
@click.option("--queries", required=True, metavar="Q.jsonl", help="Questions: id, text, scope.")
@click.option("--corpus", metavar="C.jsonl", help="Documents: id, text, title; or a folder.")
@click.option("--out", required=True, metavar="RUN.jsonl", help="Where the results go.")
@index_option
@retrieve_options
@splitter_options
@embedder_option
@click.option("--quiet", is_flag=True, help="No progress.")
def run(queries: str, corpus: str | None, out: str, quiet: bool, **flags: Any) -> None:
    """Search for every question of a file, and write what was found.

    Each line of the result is {"query_id", "passages": [{"doc_id", "start", "end", "score"}],
    "gate": {"state", "score"}}, passages best first. Without -k the cut is free: as many passages
    as the question needs. A question's "scope" limits its documents. Without --index the corpus
    is indexed in a folder that is deleted at the end.
    """
    from citespan.pipeline import run_queries

    started = time.monotonic()
    drawing = not quiet and sys.stderr.isatty()

    def show(done: int, total: int) -> None:
        if drawing:
            rest = (time.monotonic() - started) / max(done, 1) * (total - done)
            click.echo(f"\r{done}/{total}, {format_seconds(rest)} left   ", err=True, nl=False)

    loaded = read_settings(**flags)
    keep = flags.get("index") is not None
    count, notes = run_queries(
        Path(queries),
        Path(out),
        loaded,
        corpus=Path(corpus) if corpus else None,
        keep=keep,
        progress=show,
    )
    if drawing:
        click.echo("\r" + " " * 40 + "\r", err=True, nl=False)
    for line in notes:
        note(f"note: {line}")
    if not quiet:
        note(f"{count} questions in {format_seconds(time.monotonic() - started)}: {out}")
