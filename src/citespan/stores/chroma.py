"""A store whose vectors are searched by Chroma: embedded beside the database, or on a server.

Chroma keeps vectors, texts and where they stand. It has no transactions, no BM25 and no place for
whole documents, sentences or fingerprints. So the database stays the single truth and Chroma
takes the place of the built-in dense index; what it lacks is made up from the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citespan.index.lexical import Analyze
from citespan.stores.chroma_access import check_name
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_index import ChromaIndex
from citespan.stores.indexes import VectorIndex
from citespan.stores.opening import open_store
from citespan.stores.sqlite import SqliteStore
from citespan.stores.truth import SqliteTruth

FOLDER = "chroma"
"""Where an embedded Chroma lies within the index's folder."""


def open_chroma_store(
    directory: Path | str,
    *,
    url: str | None = None,
    collection: str = "",
    create_settings: Mapping[str, Any] | None = None,
    read_only: bool = False,
    lock_timeout: float = 10.0,
    analyze: Analyze | None = None,
) -> SqliteStore:
    """Open the index in a folder, or make one there, with Chroma as its dense index.

    An index that was made with the built-in one may be opened so, and the other way round: the
    dense index is then made from the database's vectors.

    Parameters
    ----------
    directory
        The index's own folder; an embedded Chroma lies in ``chroma/`` within it.
    url
        A Chroma server, ``http://host:port``, instead of an embedded one.
    collection
        The collection's name; on a server ``citespan_`` and the index's identity by default, so
        that two indexes never meet in one.
    create_settings, read_only, lock_timeout, analyze
        As for ``citespan.stores.open_store``.

    Raises
    ------
    MissingExtraError
        If chromadb is not installed.
    StoreError
        As ``open_store``; if the server does not answer; if the collection is another's.
    LockedError
        If another process is writing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from citespan.types import Chunk, Document, Span
    >>> folder = tempfile.TemporaryDirectory()
    >>> with open_chroma_store(folder.name, create_settings={"splitter": "none"}) as store:
    ...     document = Document("d1", "a.txt", "Green tea.")
    ...     chunk = Chunk("d1", 0, (Span(0, 10),), "Green tea.")
    ...     store.write(document, [chunk], np.array([[0.6, 0.8]], np.float32))
    ...     [(key, round(cosine, 2)) for key, cosine in store.search_vector(
    ...         np.array([1, 0], np.float32), k=3)]
    [(1, 0.6)]
    >>> folder.cleanup()
    """
    if collection:
        check_name(collection)
    chroma: Chroma | None = None
    if url is not None:
        # An address that is wrong or does not answer is said before anything is made.
        chroma = Chroma(url=url)

    def make_dense(truth: SqliteTruth, dimension: int) -> VectorIndex:
        name = collection or ("citespan" if url is None else f"citespan_{truth.identity}")
        place = Chroma(Path(directory) / FOLDER) if url is None else Chroma(url=url)
        return ChromaIndex(place, name, truth, dimension)

    try:
        return open_store(
            directory,
            create_settings=create_settings,
            read_only=read_only,
            lock_timeout=lock_timeout,
            analyze=analyze,
            make_dense=make_dense,
        )
    finally:
        if chroma is not None:
            chroma.close()
