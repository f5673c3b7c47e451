"""The command group, the options that every command shares, and lazy loading of the commands."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from citespan.config import LoadedSettings, load_settings

COMMANDS: dict[str, str] = {
    "index": "citespan.cli.index_commands:index",
    "status": "citespan.cli.index_commands:status",
    "remove": "citespan.cli.index_commands:remove",
    "ask": "citespan.cli.ask_commands:ask",
    "search": "citespan.cli.ask_commands:search",
    "explain": "citespan.cli.ask_commands:explain",
    "show": "citespan.cli.ask_commands:show",
    "run": "citespan.cli.run_command:run",
    "chunk": "citespan.cli.chunk_command:chunk",
    "model": "citespan.cli.model_commands:model",
    "config": "citespan.cli.config_command:config",
}
"""In the order in which a newcomer meets them; that is also the order of the help."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are first needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of ``COMMANDS``."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if there is none of that name."""
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 done; 1 failed; 2 wrong use or input; 3 nothing could be read; "
        "4 no usable index; 5 model absent or unreachable; 6 an extra is not installed; "
        "7 the question was refused (with ask --strict); 130 stopped by Ctrl-C."
    ),
)
@click.version_option(package_name="citespan", message="citespan %(version)s")
def cli() -> None:
    """Ask your documents; every answer is a span you can check, or an honest "I don't know".

    Begin with:  citespan ask "QUESTION" --docs FOLDER
    """


def index_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--index DIR``."""
    return click.option(
        "--index", metavar="DIR", help="Folder of the index [default: .citespan here]."
    )(command)


def embedder_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--embedder NAME``."""
    return click.option(
        "--embedder",
        metavar="NAME",
        help="Embedding model: a name of `citespan model list`, a folder, or none (words alone).",
    )(command)


def splitter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how documents are cut."""
    for option in (
        click.option("--unit", metavar="UNIT", help="words, characters, sentences or tokens."),
        click.option("--overlap", type=int, metavar="N", help="Overlap of neighbouring chunks."),
        click.option("--size", type=int, metavar="N", help="Size of a chunk."),
        click.option("--splitter", metavar="NAME", help="How to cut [default: sentences]."),
    ):
        command = option(command)
    return command


def load_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which files are read."""
    for option in (
        click.option(
            "--allow-private", is_flag=True, default=None, help="Also read private web addresses."
        ),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave such files out."),
        click.option("--include", multiple=True, metavar="GLOB", help="Read only such files."),
    ):
        command = option(command)
    return command


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that limit a search."""
    for option in (
        click.option("--field", multiple=True, metavar="NAME=VALUE", help="Only with this field."),
        click.option("--language", multiple=True, metavar="CODE", help="Only in this language."),
        click.option("--title", multiple=True, metavar="GLOB", help="Only titles that match."),
        click.option("--source", multiple=True, metavar="GLOB", help="Only sources that match."),
    ):
        command = option(command)
    return command


def retrieve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to search and how much to bring."""
    for option in (
        click.option("--threshold", type=float, metavar="P", help="The gate's threshold, 0 to 1."),
        click.option("--budget", type=int, metavar="TOKENS", help="Size of all passages together."),
        click.option(
            "-k",
            "--k",
            type=int,
            metavar="N",
            help="Passages to bring [default: as many as fit the question].",
        ),
        click.option(
            "--retriever", metavar="NAME", help="ribbon, hybrid, rrf, lexical, dense or tfidf."
        ),
    ):
        command = option(command)
    return command


def read_settings(**flags: Any) -> LoadedSettings:
    """Merge the command's flags with environment, file and defaults; empty tuples are unset."""
    return load_settings({k: v for k, v in flags.items() if v is not None and v != ()})
