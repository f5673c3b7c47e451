"""Which files an indexing run looks at, what they are called, and which of them are new."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from citespan.errors import InputError, LoadError
from citespan.load import LoadOptions, LoadReport, file_fingerprint, is_url, list_files, load_one
from citespan.types import Document, Skip, content_id


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of one run: files and addresses to look at, and sources that are gone."""

    items: tuple[tuple[str, str], ...]
    """(path or address to read, source name it is stored under)"""
    gone: tuple[str, ...]


@dataclass(slots=True)
class Seen:
    """What happened to the items of a plan that gave no document."""

    unchanged: int = 0
    failed: list[str] = field(default_factory=list)


def name_source(path: str | Path, base: Path) -> str:
    """Return the name a file is stored under: relative to ``base`` where it lies below it.

    ``base`` is the folder that holds the index. So an index moves with its documents, and one
    file has one name however it is written (``docs/a.md``, ``./docs/a.md``).

    >>> name_source("/srv/kb/docs/a.md", Path("/srv/kb"))
    'docs/a.md'
    """
    if is_url(str(path)):
        return str(path)
    whole = os.path.abspath(path)
    shared = os.path.abspath(base)
    inside = os.path.commonpath([whole, shared]) == shared and whole != shared
    name = os.path.relpath(whole, shared) if inside else whole
    return Path(name).as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def select_sources(known: Iterable[str], path: str | Path, base: Path) -> list[str]:
    """Return the stored sources that a path stands for: itself, or all below it.

    >>> select_sources(["docs/a.md", "docs/b.md", "x.md"], "/kb/docs", Path("/kb"))
    ['docs/a.md', 'docs/b.md']
    """
    name = name_source(path, base)
    if is_url(name):
        return [source for source in known if source == name]
    # The base itself stands for every relative name.
    whole_base = os.path.abspath(path) == os.path.abspath(base)
    return [
        source
        for source in known
        if source == name
        or source.startswith(name.rstrip("/") + "/")
        or (whole_base and not os.path.isabs(source) and not is_url(source))
    ]


def plan_run(
    paths: Sequence[str | Path], stored: Iterable[str], options: LoadOptions, base: Path
) -> Plan:
    """Return what to read, and which stored sources below the given paths no longer exist.

    Raises
    ------
    InputError
        If a path neither exists nor was ever indexed.
    """
    known = list(stored)
    items: list[tuple[str, str]] = []
    gone: list[str] = []
    missing: list[str] = []
    for path in paths:
        if is_url(str(path)):
            items.append((str(path), str(path)))
            continue
        below = select_sources(known, path, base)
        there: set[str] = set()
        if os.path.lexists(path):
            files = list_files([path], options.include, options.exclude)
            found = [(str(file), name_source(file, base)) for file in files]
            there.update(name for _, name in found)
            items.extend(found)
        elif not below:
            missing.append(str(path))
        # A file that exists and was only not looked at this time (--include) stays.
        gone.extend(s for s in below if s not in there and not os.path.lexists(base / s))
    if missing:
        raise InputError(f"no such file or folder: {', '.join(missing)}", fix="check the path")
    return Plan(tuple(dict.fromkeys(items)), tuple(dict.fromkeys(gone)))


def read_changed(
    plan: Plan,
    fingerprints: Mapping[str, str],
    options: LoadOptions,
    report: LoadReport,
    seen: Seen,
) -> Iterator[tuple[Document, str]]:
    """Yield each new or changed document with its fingerprint; count the others in ``seen``.

    A file is read twice at most: once for its hash, and again if the hash is new.
    """
    for path, name in plan.items:
        fingerprint = ""
        if not is_url(path):
            try:
                fingerprint = file_fingerprint(path)
            except LoadError as error:
                report.failed += 1
                report.skip(Skip(name, str(error)))
                seen.failed.append(name)
                continue
            if fingerprints.get(name) == fingerprint:
                seen.unchanged += 1
                continue
        document = load_one(path, options, report)
        if document is None:
            # A server that is down today takes nothing away; a file that cannot be read does.
            if not is_url(path):
                seen.failed.append(name)
            continue
        if not fingerprint:
            fingerprint = content_id(document.text)
            if fingerprints.get(name) == fingerprint:
                seen.unchanged += 1
                continue
        yield replace(document, id=content_id(name, document.text), source=name), fingerprint
