"""What a reader may cost, what it returns, and the report of all that was left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from citespan.types import Page, Section, Skip

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Which files are taken, and the bounds within which each is read.

    ``include`` and ``exclude`` are globs as in ``.gitignore`` (``*.md``, ``drafts/**``), matched
    against the path below the folder that is walked. ``max_seconds`` is the time without progress
    (a page of text, or the end) after which a file is given up; ``max_memory`` bounds the process
    that reads it; ``max_unpacked`` bounds what an archive (DOCX, EPUB, …) may unpack to;
    ``max_download`` and ``download_seconds`` bound a web address. Sizes are in bytes.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    allow_private: bool = False
    max_bytes: int = 256 * MEBIBYTE
    max_unpacked: int = 512 * MEBIBYTE
    max_seconds: float = 20.0
    max_memory: int = 1024 * MEBIBYTE
    max_download: int = 64 * MEBIBYTE
    download_seconds: float = 30.0


@dataclass(slots=True)
class LoadReport:
    """What happened while loading: how many documents came out, and every part that did not.

    ``skipped`` names a whole file (no page, no document came of it), a page (``page`` is set) or
    a part (an attachment, hidden text). ``failed`` counts the files that gave no document.
    """

    loaded: int = 0
    failed: int = 0
    skipped: list[Skip] = field(default_factory=list)
    on_skip: Callable[[Skip], None] | None = None

    def skip(self, item: Skip) -> None:
        """Add an entry and tell the listener, if there is one."""
        self.skipped.append(item)
        if self.on_skip is not None:
            self.on_skip(item)


@dataclass(slots=True)
class Extract:
    """What one file holds, before it has an id: the text and where things stand in it.

    ``skips`` are (page or None, reason) of the parts that were left out.
    """

    text: str
    title: str = ""
    media_type: str = "text/plain"
    pages: list[Page] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    skips: list[tuple[int | None, str]] = field(default_factory=list)
