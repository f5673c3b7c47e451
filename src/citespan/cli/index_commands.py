"""``citespan index``, ``status`` and ``remove``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citespan.cli.app import (
    embedder_option,
    index_option,
    load_options,
    read_settings,
    splitter_options,
)
from citespan.cli.console import (
    format_bytes,
    format_seconds,
    note,
    print_json,
    print_table,
    say,
)
from citespan.config import LoadedSettings
from citespan.errors import LoadError

if TYPE_CHECKING:
    from citespan.pipeline import BuildReport, Progress
    from citespan.types import Skip


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@index_option
@splitter_options
@embedder_option
@load_options
@click.option("--rebuild", is_flag=True, help="Make the index anew from these paths alone.")
@click.option("--quiet", is_flag=True, help="Say nothing but what was left out.")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
def index(paths: tuple[str, ...], rebuild: bool, quiet: bool, as_json: bool, **flags: Any) -> None:
    """Read files, folders and web addresses into the index.

    Unchanged files cost nothing; changed ones are replaced, deleted ones disappear. Stop it at
    any moment: what is committed stays, and the next run goes on.
    """
    report = index_paths(paths, read_settings(**flags), rebuild=rebuild, quiet=quiet or as_json)
    if as_json:
        print_json(report)
    elif not quiet:
        say(describe_report(report))
    if report.stopped:
        raise click.Abort
    done = len(report.added) + len(report.changed) + report.unchanged
    if not done and report.skipped:
        raise LoadError("no file could be read", fix="the reasons are listed above")


def index_paths(
    paths: Sequence[str | Path],
    loaded: LoadedSettings,
    *,
    rebuild: bool = False,
    quiet: bool = False,
) -> BuildReport:
    """Index with progress on a terminal, and say what was left out."""
    from citespan.pipeline import build_index

    with _Meter(quiet=quiet) as meter:
        report = build_index(
            paths, loaded, rebuild=rebuild, progress=meter.show, on_skip=meter.skip
        )
    for line in report.notes:
        note(f"note: {line}")
    return report


def describe_report(report: BuildReport) -> str:
    """Return the run in one line."""
    counts = (
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (report.unchanged, "unchanged"),
        (len(report.removed), "removed"),
    )
    parts = [f"{count} {word}" for count, word in counts if count]
    begun = "stopped" if report.stopped else "nothing to do"
    left_out = f"; {len(report.skipped)} files or parts left out" if report.skipped else ""
    return (
        f"{', '.join(parts) or begun}; {report.chunks} new chunks "
        f"in {format_seconds(report.seconds)}{left_out}"
    )


class _Meter:
    """A line of progress that is drawn over itself, on a terminal only."""

    def __init__(self, *, quiet: bool) -> None:
        self._drawing = not quiet and sys.stderr.isatty()
        self._width = 0

    def __enter__(self) -> _Meter:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def show(self, progress: Progress) -> None:
        if not self._drawing:
            return
        rate = progress.chunks / max(progress.seconds, 1e-6)
        line = f"{progress.documents}"
        if progress.total:
            left = (progress.total - progress.documents) * progress.seconds
            left /= max(progress.documents, 1)
            line += f"/{progress.total} documents, {format_seconds(left)} left"
        if progress.embedding is None:
            line += f", {rate:.0f} chunks/s  {progress.source}"
        else:
            part = progress.embedding
            line += (
                f", embedding {part.done}/{part.total} texts, {part.rate:.0f} tokens/s, "
                f"{format_seconds(part.seconds_left)} left  {progress.source}"
            )
        line = line[:110]
        click.echo(f"\r{line:<{self._width}}", err=True, nl=False)
        self._width = len(line)

    def skip(self, skipped: Skip) -> None:
        self._clear()
        page = f", page {skipped.page}" if skipped.page else ""
        name = Path(skipped.source).name
        reason = skipped.reason.removeprefix(f"{name}: ").removeprefix(f"{name} ")
        note(f"{skipped.source}{page}: {reason}")

    def _clear(self) -> None:
        if self._width:
            click.echo("\r" + " " * self._width + "\r", err=True, nl=False)
            self._width = 0


@click.command()
@index_option
@click.option("--documents", is_flag=True, help="List the documents too.")
@click.option("--check", is_flag=True, help="Compare all that is stored with itself.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(documents: bool, check: bool, as_json: bool, **flags: Any) -> None:
    """Say what the index holds, what it was made with, and whether it is sound."""
    from citespan.errors import StoreError
    from citespan.pipeline.calibrate import NOTE as CALIBRATION
    from citespan.stores import open_store

    settings = read_settings(**flags).settings
    with open_store(settings.index, read_only=True) as store:
        state = store.status()
        made = store.settings
        listed = store.list_documents() if documents else []
        problems = store.check() if check else []
        learned = store.read_note(CALIBRATION)
    if as_json:
        print_json(
            {
                "status": state,
                "settings": made,
                "calibration": learned,
                "documents": listed,
                "problems": problems,
            }
        )
    else:
        languages = ", ".join(f"{n} {code or 'unknown'}" for code, n in state.languages.items())
        rows = [
            ("index", str(Path(settings.index))),
            ("documents", f"{state.documents} ({languages})" if state.documents else "0"),
            ("chunks", state.chunks),
            ("sentences", state.sentences),
            ("vectors", f"{state.vectors} of {state.dimension}" if state.vectors else "none"),
            ("splitter", made.get("splitter", "")),
            ("model", made.get("model") or "none: words alone"),
            ("trust", _describe_trust(learned)),
            ("on disk", ", ".join(f"{k} {format_bytes(v)}" for k, v in state.bytes.items())),
            ("generation", state.generation),
        ]
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            say(f"{name:<{width}}  {value}")
        if documents:
            print_table(
                "",
                ("source", "title", "language", "characters", "chunks"),
                ((d.source, d.title, d.language, d.length, d.chunks) for d in listed),
                numbers=(3, 4),
            )
        if check and not problems:
            say("checked: everything agrees")
    if problems:
        raise StoreError("; ".join(problems), fix="run: citespan index PATH --rebuild")


def _describe_trust(learned: Mapping[str, Any] | None) -> str:
    """Return how much a cosine counts against BM25, language by language.

    >>> _describe_trust({"languages": {"": {"trust": 1.2}, "ru": {"trust": 0.45}}})
    'a cosine counts 1.20 of a BM25 score, ru 0.45'
    """
    if not learned:
        return "not measured"
    found = {code: f"{value['trust']:.2f}" for code, value in learned["languages"].items()}
    rest = "".join(f", {code} {trust}" for code, trust in found.items() if code)
    return f"a cosine counts {found['']} of a BM25 score{rest}"


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE…")
@index_option
def remove(sources: tuple[str, ...], **flags: Any) -> None:
    """Take documents out of the index, every trace of them; the files stay.

    SOURCE is a name as `citespan status --documents` lists it, or a folder of such names.
    """
    from citespan.pipeline import remove_sources

    removed = remove_sources(sources, Path(read_settings(**flags).settings.index))
    for name in removed:
        say(f"removed {name}")
