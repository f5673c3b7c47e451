"""Opening an index, or making one; everything that can be wrong with a folder is said here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citespan.errors import StoreError
from citespan.index.dense import EXACT_LIMIT
from citespan.index.lexical import Analyze
from citespan.stores import schema
from citespan.stores.access import plain_errors, take_lock
from citespan.stores.indexes import MakeDense
from citespan.stores.sqlite import SqliteStore


def open_store(
    directory: Path | str,
    *,
    create_settings: Mapping[str, Any] | None = None,
    read_only: bool = False,
    lock_timeout: float = 10.0,
    analyze: Analyze | None = None,
    exact_limit: int = EXACT_LIMIT,
    make_dense: MakeDense | None = None,
) -> SqliteStore:
    """Open the index in a folder, or make one there.

    Parameters
    ----------
    directory
        The index's own folder.
    create_settings
        JSON values to store when the index is made (``dimension`` fixes the vectors' length);
        where it exists already they are compared with what is stored. None makes nothing.
    read_only
        Many readers may stand beside one writer, and see its commits without opening again.
    lock_timeout
        Seconds a writer waits for another one to end.
    analyze
        ``(text, language) -> terms``; ``citespan.text.analyze_terms`` by default.
    exact_limit
        Vectors searched without faiss.
    make_dense
        Another dense index than the built-in one (``citespan.stores.chroma``); what it holds is
        derived from the database as well.

    Raises
    ------
    StoreError
        If there is no index, it is damaged, newer than this program, or has other settings.
    LockedError
        If another process is writing.

    Examples
    --------
    >>> import tempfile
    >>> from citespan.types import Chunk, Document, Span
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_store(folder.name, create_settings={"splitter": "none"}) as store:
    ...     document = Document("d1", "a.txt", "Green tea.")
    ...     store.write(document, [Chunk("d1", 0, (Span(0, 10),), "Green tea.")])
    ...     found = [key for key, _ in store.search_terms([("tea",)], k=3)]
    ...     [chunk.text for chunk in store.get_chunks(found)]
    ['Green tea.']
    >>> folder.cleanup()
    """
    folder = Path(directory)
    path = folder / schema.FILE_NAME
    blank = schema.is_blank(folder)
    if not path.is_file() or blank:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file, not an index", fix="name a folder")
        if create_settings is None or read_only:
            raise StoreError(f"no index at {folder}", fix="run: citespan index PATH")
        if not blank:
            raise StoreError(
                f"{folder} holds other files and no index", fix="name an empty or a new folder"
            )
        folder.mkdir(parents=True, exist_ok=True)
    lock = None if read_only else take_lock(folder, lock_timeout)
    try:
        with plain_errors(path):
            if not read_only and schema.is_blank(folder) and create_settings is not None:
                schema.create_database(path, create_settings)
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
            schema.check_database(path)
            store = SqliteStore(
                folder, lock, analyze=analyze, exact_limit=exact_limit, make_dense=make_dense
            )
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    try:
        if create_settings is not None:
            store.check_settings(create_settings)
    except BaseException:
        store.close()
        raise
    return store
