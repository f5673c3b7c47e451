"""Indexing files, folders and addresses: only what changed is read, split and embedded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from citespan.config import LoadedSettings, Settings, resolve_settings
from citespan.load import LoadOptions, LoadReport
from citespan.pipeline.calibrate import calibrate_index
from citespan.pipeline.manage import read_stored, remove_index
from citespan.pipeline.parts import (
    adopt_stored,
    asked_for,
    check_settings,
    open_embedder,
    open_parts,
)
from citespan.pipeline.sources import Seen, plan_run, read_changed
from citespan.pipeline.write import BuildReport, Progress, write_documents
from citespan.stores import open_store
from citespan.types import Document, Skip


def build_index(
    paths: Sequence[str | Path],
    loaded: LoadedSettings | str | Path | None = None,
    *,
    rebuild: bool = False,
    progress: Callable[[Progress], Any] | None = None,
    on_skip: Callable[[Skip], None] | None = None,
) -> BuildReport:
    """Bring an index up to date with files, folders and web addresses.

    Files whose content is unchanged cost a hash and nothing else; changed ones replace their
    chunks; stored files below the given paths that are gone disappear from the index. A file that
    can no longer be read disappears too: what it said is no longer true.

    Parameters
    ----------
    paths
        Files, folders or ``http(s)://`` addresses.
    loaded
        The settings, with where each came from (``load_settings``), or the index's folder.
    rebuild
        Make the index anew, with the settings given, from these paths alone.

    Raises
    ------
    InputError
        If a path does not exist, or nothing is given.
    StoreError
        If the index was made with other settings than those asked for.
    LockedError
        If another process is writing to it.
    """
    started = time.monotonic()
    loaded = resolve_settings(loaded)
    folder = Path(loaded.settings.index)
    stored = None if rebuild else read_stored(folder)
    settings = adopt_stored(loaded, stored)
    options = LoadOptions(
        include=settings.include, exclude=settings.exclude, allow_private=settings.allow_private
    )
    base = folder.absolute().parent
    report = BuildReport()
    # The paths are looked at before anything is made: a mistyped one leaves no empty index behind.
    if stored is None:
        plan_run(paths, (), options, base)
    parts = open_parts(settings, required=asked_for(loaded, "embedder"))
    report.notes.extend(parts.notes)
    if stored is not None:
        check_settings(stored, parts, folder)
        report.notes.extend(_note_words_alone(loaded, settings))
    if rebuild:
        remove_index(folder)
    with open_store(folder, create_settings=parts.stored) as store:
        fingerprints = store.get_fingerprints()
        plan = plan_run(paths, fingerprints, options, base)
        loading = LoadReport(on_skip=on_skip)
        seen = Seen()
        write_documents(
            _count_passed(read_changed(plan, fingerprints, options, loading, seen), seen, report),
            store,
            parts.splitter,
            parts.embedder,
            report,
            known=set(fingerprints),
            total=len(plan.items),
            progress=progress,
        )
        lost = [*plan.gone, *(name for name in seen.failed if name in fingerprints)]
        if lost and not report.stopped:
            store.remove(lost)
            report.removed.extend(lost)
        report.unchanged, report.failed = seen.unchanged, len(seen.failed)
        report.skipped = loading.skipped
        store.flush()
        if not report.stopped:
            calibrate_index(store)
    report.seconds = time.monotonic() - started
    return report


def _count_passed(
    found: Iterator[tuple[Document, str]], seen: Seen, report: BuildReport
) -> Iterator[tuple[Document, str]]:
    """Keep the report's counts true while it runs: progress and the time left follow from them."""
    for item in found:
        report.unchanged, report.failed = seen.unchanged, len(seen.failed)
        yield item
    report.unchanged, report.failed = seen.unchanged, len(seen.failed)


def _note_words_alone(loaded: LoadedSettings, settings: Settings) -> list[str]:
    """Say so where an index that was made without a model could have one now."""
    if settings.embedder != "none" or asked_for(loaded, "embedder"):
        return []
    found, _ = open_embedder(loaded.settings.embedder)
    if found is None:
        return []
    return [
        f"this index holds words alone; to search with {found.name} too, run: "
        f"citespan index PATH --rebuild (or go on with --embedder none)"
    ]
