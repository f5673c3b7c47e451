"""From paths and addresses to documents, one at a time; what cannot be read is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from citespan.errors import InputError, LoadError
from citespan.load.files import list_files
from citespan.load.formats import Format, find_format
from citespan.load.isolate import READER
from citespan.load.options import Extract, LoadOptions, LoadReport
from citespan.load.readers import run_reader
from citespan.load.web import fetch_url, is_url
from citespan.types import Document, Skip, content_id

_ISOLATE_ABOVE = 2 << 20
"""Bytes above which even a plain format is read in the helper process, within its bounds."""


def iter_documents(
    sources: Iterable[str | Path],
    options: LoadOptions | None = None,
    report: LoadReport | None = None,
) -> Iterator[Document]:
    """Yield the documents of files, folders and web addresses one by one, the addresses last.

    A file that is reached twice is read once. Nothing but the current document is kept. A source
    that gives none never stops the rest: it is in ``report.skipped`` with the reason.

    Raises
    ------
    InputError
        If a path does not exist or a glob cannot be read.
    """
    options = options or LoadOptions()
    report = report if report is not None else LoadReport()
    given = list(sources)
    files = list_files(
        [source for source in given if not is_url(str(source))], options.include, options.exclude
    )
    addresses = dict.fromkeys(str(source) for source in given if is_url(str(source)))
    items: list[str | Path] = [*files, *addresses]
    for item in items:
        document = load_one(item, options, report)
        if document is not None:
            yield document


def load_documents(
    source: str | Path | Iterable[str | Path],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    allow_private: bool = False,
    on_skip: Callable[[Skip], None] | None = None,
    options: LoadOptions | None = None,
    report: LoadReport | None = None,
) -> Iterator[Document]:
    """Yield the documents of one or several files, folders or web addresses.

    Parameters
    ----------
    source
        A path, an ``http(s)://`` address, or several of them.
    include, exclude
        Globs as in ``.gitignore``, against paths below a folder that is walked.
    allow_private
        Whether web addresses may lead into private networks or to this machine.
    on_skip
        Called with each file, page or part that is left out, as it happens.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("Pay in 30 days.")
    ...     [document.text for document in load_documents(folder)]
    ['Pay in 30 days.']
    """
    options = replace(
        options or LoadOptions(),
        include=tuple(include) or (options.include if options else ()),
        exclude=tuple(exclude) or (options.exclude if options else ()),
        allow_private=allow_private or bool(options and options.allow_private),
    )
    report = report if report is not None else LoadReport()
    if on_skip is not None:
        report.on_skip = on_skip
    sources = [source] if isinstance(source, str | Path) else list(source)
    return iter_documents(sources, options, report)


def load_one(source: str | Path, options: LoadOptions, report: LoadReport) -> Document | None:
    """Return the document of one file or address, or None with the reason in the report."""
    shown = _printable(str(source))
    try:
        extract = read_source(source, options)
    except LoadError as error:
        report.failed += 1
        report.skip(Skip(shown, str(error)))
        return None
    for page, reason in extract.skips:
        report.skip(Skip(shown, reason, page))
    if not extract.text.strip():
        report.failed += 1
        if not extract.skips:
            report.skip(Skip(shown, "it is empty: there is no text in it"))
        return None
    report.loaded += 1
    return Document(
        id=content_id(shown, extract.text),
        source=shown,
        text=extract.text,
        title=extract.title.strip() or Path(shown).stem,
        media_type=extract.media_type,
        pages=tuple(extract.pages),
        sections=tuple(extract.sections),
        metadata={key: value for key, value in extract.metadata.items() if value},
    )


def read_source(source: str | Path, options: LoadOptions) -> Extract:
    """Return what a file or address holds.

    Raises
    ------
    LoadError
        If it cannot be read; the message says why.
    """
    if is_url(str(source)):
        page = fetch_url(str(source), options)
        return read_bytes(page.data, page.name, options, media_type=page.media_type)
    path = Path(source)
    shown = _printable(str(path))
    try:
        if not path.is_file():
            raise LoadError(f"{shown} is not a regular file")
        size = path.stat().st_size
        if size > options.max_bytes:
            raise LoadError(
                f"{shown} is too large ({size:,} bytes; the limit is {options.max_bytes:,})"
            )
        with path.open("rb") as file:
            data = file.read(options.max_bytes + 1)
    except OSError as error:
        raise LoadError(f"{shown} cannot be read ({error.strerror or error})") from None
    return read_bytes(data, Path(shown).name, options)


def read_bytes(
    data: bytes, name: str, options: LoadOptions | None = None, *, media_type: str = ""
) -> Extract:
    """Return what a file's bytes hold; ``name`` gives the format where the bytes do not.

    Raises
    ------
    LoadError
        If no reader knows the format, or the bytes are damaged or hostile.

    Examples
    --------
    >>> read_bytes(b"# Terms", "terms.md").title
    'Terms'
    """
    options = options or LoadOptions()
    fmt = find_format(name, data[:4096], media_type)
    if not isinstance(fmt, Format):
        raise LoadError(f"{name}: {fmt}")
    if not data.strip(b"\x00 \t\r\n"):
        return Extract("", media_type=fmt.media_type)
    if fmt.isolated or len(data) > _ISOLATE_ABOVE:
        return READER.read(fmt, name, data, options)
    try:
        return run_reader(fmt.reader, data, name, options)
    except MemoryError:
        raise LoadError(f"{name} needs more memory than there is to read") from None


def _printable(source: str) -> str:
    """Return a path that every store and screen can hold; odd bytes in names become U+FFFD."""
    if "\x00" in source:
        raise InputError(f"not a usable path: {source!r}", fix="remove the NUL")
    return source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
