"""``citespan config``: each setting, its value, and where that came from."""

from __future__ import annotations

import click

from citespan.cli.console import print_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def config(as_json: bool) -> None:
    """Show every setting and where its value comes from.

    A flag wins over a variable CITESPAN_NAME, that over a line NAME = VALUE in citespan.toml (in
    the folder where you are, or named by CITESPAN_CONFIG), that over the default.
    """
    from citespan.config import load_settings

    origins = load_settings().origins
    if as_json:
        print_json({o.name: {"value": o.value, "source": o.source} for o in origins})
        return
    rows = ((o.name, _show(o.value), f"CITESPAN_{o.name.upper()}", o.source) for o in origins)
    print_table("", ("setting", "value", "variable", "from"), rows)


def _show(value: object) -> object:
    if value in ("", (), None):
        return None
    return ", ".join(value) if isinstance(value, tuple) else value
