"""Which files are read: folders are walked with globs, ignored and hidden files left out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citespan.errors import InputError, LoadError
from citespan.load.formats import is_known

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


IGNORE_FILES = (".gitignore", ".citespanignore")
# Folders of tools that hold other people's files by the thousand.
_NEVER = frozenset({"node_modules", "__pycache__", "__MACOSX"})


def list_files(
    paths: str | Path | Iterable[str | Path],
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> list[Path]:
    """Return the files to read, in a stable order, each once.

    A folder is walked: hidden files, those named by a ``.gitignore`` or ``.citespanignore`` on the
    way, those no reader knows, and links to what was already seen are left out. ``include`` and
    ``exclude`` are globs as in ``.gitignore``, against the path below the folder; a file that
    ``include`` matches is taken whatever its ending. A file that is named itself is always taken.

    Raises
    ------
    InputError
        If a path does not exist, or a glob cannot be read; all of them are named at once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("a.md", "b.exe", ".c.md"):
    ...         _ = Path(folder, name).write_text("x")
    ...     [path.name for path in list_files(folder)]
    ['a.md']
    """
    if isinstance(paths, str | Path):
        paths = [paths]
    given = [Path(path) for path in paths]
    missing = [str(path) for path in given if not os.path.lexists(path)]
    if missing:
        raise InputError(f"no such file or folder: {', '.join(missing)}", fix="check the path")
    wanted, unwanted = _compile(include), _compile(exclude)
    seen: set[str] = set()
    found: list[Path] = []
    for path in given:
        files = _walk(path, wanted, unwanted) if path.is_dir() else iter([path])
        for file in files:
            key = os.path.realpath(file)
            if key not in seen:
                seen.add(key)
                found.append(file)
    return found


def file_fingerprint(path: str | Path) -> str:
    """Return a hash of a file's content, 32 hex digits; equal content gives equal fingerprints.

    Raises
    ------
    LoadError
        If the file cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise LoadError(f"{path} cannot be read ({error.strerror})") from None
    return digest.hexdigest()


def _compile(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    if not patterns:
        return None
    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise InputError(f"not a usable glob: {error}", fix="write it as in .gitignore") from None


def _walk(
    top: Path, wanted: GitIgnoreSpec | None, unwanted: GitIgnoreSpec | None
) -> Iterator[Path]:
    """Walk without recursion; a folder is entered once, so links that form a loop end."""
    entered: set[str] = set()
    pending: list[tuple[Path, list[tuple[str, GitIgnoreSpec]]]] = [(top, [])]
    while pending:
        folder, rules = pending.pop()
        real = os.path.realpath(folder)
        if real in entered:
            continue
        entered.add(real)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        base = folder.relative_to(top).as_posix()
        own = _read_ignores(folder)
        if own is not None:
            rules = [*rules, ("" if base == "." else base + "/", own)]
        folders: list[tuple[Path, list[tuple[str, GitIgnoreSpec]]]] = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _NEVER:
                continue
            path = folder / entry.name
            inside = path.relative_to(top).as_posix()
            try:
                is_folder = entry.is_dir()
                is_file = entry.is_file()
            except OSError:
                continue
            marked = inside + "/" if is_folder else inside
            if _is_ignored(marked, rules) or (unwanted and unwanted.match_file(marked)):
                continue
            if is_folder:
                folders.append((path, rules))
            elif is_file and (wanted.match_file(inside) if wanted else is_known(path)):
                yield path
        pending.extend(reversed(folders))


def _read_ignores(folder: Path) -> GitIgnoreSpec | None:
    lines: list[str] = []
    for name in IGNORE_FILES:
        try:
            lines += (folder / name).read_text("utf-8", errors="replace").splitlines()
        except OSError:
            continue
    try:
        return _compile(lines)
    except InputError:
        return None


def _is_ignored(path: str, rules: list[tuple[str, GitIgnoreSpec]]) -> bool:
    """Whether the innermost ignore file that says anything of the path says to leave it out."""
    for base, spec in reversed(rules):
        verdict = spec.check_file(path[len(base) :]).include
        if verdict is not None:
            return bool(verdict)
    return False
