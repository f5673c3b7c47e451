"""Write the help of every command into docs/cli.md, between its two markers.

Run it after changing a command: ``python docs/make_cli.py``. A test compares page and commands.
What stands outside the markers is written by hand and left alone; a page that is not there yet is
begun.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

PAGE = Path(__file__).with_name("cli.md")
BEGIN = "<!-- commands: begin (made by docs/make_cli.py; do not edit) -->"
END = "<!-- commands: end -->"
NAME = "citespan"


def walk_commands(
    command: click.Command, path: tuple[str, ...] = (NAME,)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with the words that call it, groups before what is in them."""
    yield path, command
    if isinstance(command, click.Group):
        with click.Context(command, info_name=path[-1]) as context:
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                if child is not None and not child.hidden:
                    yield from walk_commands(child, (*path, name))


def render_help(cli: click.Command) -> str:
    """Return a heading and the help text for each command."""
    runner = CliRunner()
    parts = []
    for path, _ in walk_commands(cli):
        # The width is fixed, or the page would depend on whose terminal made it.
        result = runner.invoke(
            cli,
            [*path[1:], "--help"],
            prog_name=NAME,
            terminal_width=80,
            catch_exceptions=False,
        )
        if result.exit_code != 0:
            raise SystemExit(f"{' '.join(path)} --help failed: {result.output}")
        text = "\n".join(line.rstrip() for line in result.output.strip().splitlines())
        parts.append(f"## {' '.join(path)}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def update_page(page: str, cli: click.Command) -> str:
    """Return the page with the commands between its markers made anew."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"docs/cli.md lacks its markers; put in: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{render_help(cli)}\n{END}{after}"


def main() -> None:
    """Rewrite docs/cli.md."""
    from citespan.cli.app import cli

    page = PAGE.read_text("utf-8") if PAGE.exists() else f"# The command\n\n{BEGIN}\n{END}\n"
    PAGE.write_text(update_page(page, cli), encoding="utf-8")


if __name__ == "__main__":
    main()
