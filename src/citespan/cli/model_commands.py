"""``citespan model list`` and ``citespan model fetch``."""

from __future__ import annotations

import sys

import click

from citespan.cli.console import format_bytes, print_json, print_table, say


@click.group()
def model() -> None:
    """List and fetch embedding models; nothing else ever goes over the network for one."""


@model.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_command(as_json: bool) -> None:
    """Say which models citespan knows, and which are on this machine."""
    from citespan.embed.models import list_models

    rows = [
        {
            "name": entry.model.alias,
            "model": entry.model.name,
            "dimension": entry.model.dimension,
            "max_tokens": entry.model.max_tokens,
            "licence": entry.model.licence,
            "present": entry.present,
            "folder": str(entry.folder),
        }
        for entry in list_models()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        "",
        ("name", "model", "dimension", "tokens", "licence", "here", "folder"),
        (
            [*list(row.values())[:5], "yes" if row["present"] else "no", row["folder"]]
            for row in rows
        ),
        numbers=(2, 3),
    )


@model.command()
@click.argument("name", default="minilm", required=False)
@click.option("--quiet", is_flag=True, help="Say nothing if it is there already.")
def fetch(name: str, quiet: bool) -> None:
    """Fetch a model's official files, checked by SHA-256, into citespan's cache."""
    from citespan.embed.fetch import fetch_model
    from citespan.embed.models import get_model, is_complete, models_folder

    known = get_model(name)
    there = is_complete(known, models_folder() / known.name)
    drawing = sys.stderr.isatty()

    def show(file: str, done: int, total: int) -> None:
        if drawing:
            end = "\n" if done >= total else ""
            line = f"\r{file}  {format_bytes(done)} of {format_bytes(total)}   {end}"
            click.echo(line, err=True, nl=False)

    folder = fetch_model(name, progress=show)
    if not (there and quiet):
        say(f"{known.name} is {'already ' if there else ''}in {folder}")
