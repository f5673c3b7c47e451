"""``citespan ask``, ``search``, ``explain`` and ``show``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from citespan.cli.app import (
    embedder_option,
    filter_options,
    index_option,
    load_options,
    read_settings,
    retrieve_options,
    splitter_options,
)
from citespan.cli.console import note, print_json, say
from citespan.config import LoadedSettings
from citespan.errors import InputError, StoreError

if TYPE_CHECKING:
    from citespan.pipeline import OpenIndex
    from citespan.protocols import Filter

REFUSED = 7
"""Exit code of ``ask --strict`` where the question was refused."""


def model_options(command: Any) -> Any:
    """Add the options that name a generator."""
    for option in (
        click.option("--context", type=int, metavar="TOKENS", help="The model's context."),
        click.option("--timeout", type=float, metavar="SECONDS", help="Wait so long for it."),
        click.option("--base-url", metavar="URL", help="Its OpenAI-compatible server."),
        click.option(
            "--model", metavar="NAME", help="Let a language model write [default: quote sentences]."
        ),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("question")
@click.option("--docs", multiple=True, metavar="PATH", help="Index this first (may be repeated).")
@index_option
@model_options
@retrieve_options
@filter_options
@splitter_options
@embedder_option
@load_options
@click.option("--strict", is_flag=True, help=f"Exit with {REFUSED} if the question is refused.")
@click.option("--no-stream", is_flag=True, help="Show the answer at the end, checked, only.")
@click.option("--prompt", "show_prompt", is_flag=True, help="Also show exactly what was sent.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def ask(
    question: str,
    docs: tuple[str, ...],
    strict: bool,
    no_stream: bool,
    show_prompt: bool,
    as_json: bool,
    source: tuple[str, ...],
    title: tuple[str, ...],
    language: tuple[str, ...],
    field: tuple[str, ...],
    **flags: Any,
) -> None:
    """Answer a question from the documents, each sentence with a span that supports it.

    Where nothing relevant is found, no model is called and the closest passages are shown. With
    --docs the folder is indexed first, which costs nothing where nothing changed, and only what is
    in it is searched.
    """
    from citespan.cli.render import answer_json, draw_answer
    from citespan.pipeline import ask_index, limit_to

    where = make_filter(source, title, language, field)
    loaded = read_settings(**flags)
    if docs:
        _index_first(docs, loaded, quiet=as_json)
    streaming = bool(loaded.settings.model) and not (no_stream or as_json)
    with _open(loaded) as index:
        if docs:
            where = limit_to(index, docs, where)
        _check_scope(index, where)
        answer = ask_index(index, question, where=where, on_text=_stream if streaming else None)
    if streaming and answer.trace is not None and answer.trace.draft is not None:
        say("\n")
    if as_json:
        print_json(answer_json(answer, with_prompt=show_prompt))
    else:
        draw_answer(answer, with_prompt=show_prompt)
    if strict and answer.status == "refused":
        raise click.exceptions.Exit(REFUSED)


def _stream(piece: str) -> None:
    click.echo(piece, nl=False)
    sys.stdout.flush()


def _index_first(docs: Sequence[str], loaded: LoadedSettings, *, quiet: bool) -> None:
    """Index for ``ask --docs``: to standard error, and silent where nothing is new."""
    from citespan.cli.index_commands import describe_report, index_paths

    report = index_paths(docs, loaded, quiet=quiet)
    if report.stopped:
        raise click.Abort
    if not quiet and (report.added or report.changed or report.removed):
        note(describe_report(report))


@click.command()
@click.argument("question")
@index_option
@retrieve_options
@filter_options
@embedder_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def search(
    question: str,
    as_json: bool,
    source: tuple[str, ...],
    title: tuple[str, ...],
    language: tuple[str, ...],
    field: tuple[str, ...],
    **flags: Any,
) -> None:
    """Show the passages that a question finds, and the gate's verdict; nothing is generated."""
    from citespan.cli.render import draw_search, search_json
    from citespan.pipeline import search_index

    where = make_filter(source, title, language, field)
    with _open(read_settings(**flags)) as index:
        _check_scope(index, where)
        trace = search_index(index, question, where=where)
    if as_json:
        print_json(search_json(trace))
    else:
        draw_search(trace)


@click.command()
@click.argument("question")
@index_option
@model_options
@retrieve_options
@filter_options
@embedder_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def explain(
    question: str,
    as_json: bool,
    source: tuple[str, ...],
    title: tuple[str, ...],
    language: tuple[str, ...],
    field: tuple[str, ...],
    **flags: Any,
) -> None:
    """Show each number of each stage on the way to an answer."""
    from citespan.cli.explain import draw_trace, trace_json
    from citespan.pipeline import ask_index, explain_trace

    where = make_filter(source, title, language, field)
    with _open(read_settings(**flags)) as index:
        _check_scope(index, where)
        answer = ask_index(index, question, where=where)
        assert answer.trace is not None  # ask_index always sets it
        details = explain_trace(index, answer.trace)
    if as_json:
        print_json(trace_json(answer.trace, details))
    else:
        draw_trace(answer.trace, details)


@click.command()
@click.argument("source")
@click.argument("start", type=int)
@click.argument("end", type=int)
@index_option
@click.option(
    "--around",
    type=click.IntRange(min=0),
    default=300,
    show_default=True,
    metavar="N",
    help="Characters around it.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(source: str, start: int, end: int, around: int, as_json: bool, **flags: Any) -> None:
    """Show a span of a document, as a citation names it, in its surroundings.

    SOURCE may be the end of a name, if only one document's name ends so. START and END count code
    points of the extracted text, END exclusive.
    """
    from citespan.cli.render import draw_span
    from citespan.pipeline import find_document
    from citespan.spans import heading_path, page_range

    loaded = read_settings(**flags)
    with _open(loaded, embedder="none") as index:
        document = find_document(index, source)
    length = len(document.text)
    if not 0 <= start < end <= length:
        raise InputError(
            f"{document.source} has {length} characters; {start} {end} is no span of it",
            fix=f"give 0 <= START < END <= {length}",
        )
    page, last = page_range(document.pages, start, end)
    if as_json:
        print_json(
            {
                "document_id": document.id,
                "source": document.source,
                "page": page,
                "last_page": last,
                "heading": heading_path(document.sections, start),
                "start": start,
                "end": end,
                "text": document.text[start:end],
                "before": document.text[max(0, start - around) : start],
                "after": document.text[end : end + around],
            }
        )
    else:
        draw_span(document, start, end, around)


def _open(loaded: LoadedSettings, *, embedder: str | None = None) -> OpenIndex:
    from citespan.pipeline import open_index

    index = open_index(loaded, without_embedder=embedder == "none")
    for line in index.notes:
        note(f"note: {line}")
    return index


def _check_scope(index: OpenIndex, where: Filter | None) -> None:
    """Refuse a search that looks through no document: its "not found" would say nothing."""
    if not index.count_documents():
        raise StoreError(
            f"the index at {index.settings.index} holds no document", fix="run: citespan index PATH"
        )
    if where and not index.count_documents(where):
        raise InputError(
            "no document of the index is in what was asked for",
            fix="loosen --docs, --source, --title, --language or --field; "
            "see: citespan status --documents",
        )


def make_filter(
    sources: Sequence[str], titles: Sequence[str], languages: Sequence[str], fields: Sequence[str]
) -> Filter | None:
    """Return the filter that the options ask for, or None.

    >>> make_filter(["*.pdf"], [], [], ["team=sales"]).metadata
    {'team': 'sales'}
    """
    from citespan.protocols import Filter

    wrong = [pair for pair in fields if "=" not in pair or pair.startswith("=")]
    if wrong:
        raise InputError(
            f"not NAME=VALUE: {', '.join(wrong)}", fix="write for example --field team=sales"
        )
    where = Filter(
        sources=tuple(sources),
        titles=tuple(titles),
        languages=tuple(languages),
        metadata=dict(pair.split("=", 1) for pair in fields),
    )
    return where or None
