"""One writer at a time, and SQLite's errors in words that name the fix."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from citespan.errors import LockedError, StoreError
from citespan.stores import schema


def take_lock(folder: Path, timeout: float) -> Any:
    """Take the lock that a writer holds; the system frees it when the process ends, however.

    Raises
    ------
    LockedError
        If another holds it for longer than ``timeout`` seconds.
    """
    import filelock

    lock = filelock.FileLock(str(folder / schema.LOCK_NAME), timeout=timeout)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise LockedError(
            f"another process is writing to the index at {folder}",
            fix="wait for it to end, or end it, and try again",
        ) from None
    return lock


@contextlib.contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that name the file and the fix."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        if "closed" not in str(error):
            raise
        raise StoreError("the store is closed", fix="open it again") from error
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise LockedError(
                f"{path} is in use by another process", fix="wait for it to end and try again"
            ) from error
        if "full" in text:
            raise StoreError(f"the disk of {path} is full", fix="make room and go on") from error
        if "malformed" in text or "disk I/O" in text:
            raise StoreError(
                f"{path} is damaged ({text})", fix=f"restore it from a copy, or {schema.REMAKE}"
            ) from error
        raise StoreError(f"{path}: {text}", fix="see that the folder may be written to") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is damaged ({error})", fix=f"restore it from a copy, or {schema.REMAKE}"
        ) from error
