"""Looking at an index as a whole, taking documents out of it, and deleting it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from citespan.errors import InputError, StoreError
from citespan.pipeline.sources import select_sources
from citespan.stores import DATABASE, open_store


def remove_sources(names: Sequence[str], folder: Path) -> list[str]:
    """Remove documents from an index by source; a folder's name stands for all below it.

    Raises
    ------
    InputError
        If a name is not in the index; nothing is removed then.
    """
    base = folder.absolute().parent
    with open_store(folder) as store:
        known = list(store.get_fingerprints())
        found: dict[str, None] = {}
        missing = []
        for name in names:
            # A name as it is stored, or a path from where the user stands.
            stored = [s for s in known if s == name or s.startswith(f"{name.rstrip('/')}/")]
            below = stored or select_sources(known, name, base)
            found.update(dict.fromkeys(below))
            if not below:
                missing.append(name)
        if missing:
            raise InputError(
                f"not in the index: {', '.join(missing)}", fix="see: citespan status --documents"
            )
        store.remove(list(found))
        return list(found)


def read_stored(folder: Path) -> Mapping[str, Any] | None:
    """Return the settings an index was made with, or None where there is no index."""
    try:
        with open_store(folder, read_only=True) as store:
            return store.settings
    except StoreError:
        if (folder / DATABASE).exists():
            raise
        return None


def remove_index(folder: Path) -> None:
    """Delete an index's folder, and refuse to delete anything else.

    Raises
    ------
    StoreError
        If the folder exists and holds no index.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / DATABASE).is_file():
        raise StoreError(f"{folder} holds no index", fix="name the index's own folder")
    shutil.rmtree(folder)
