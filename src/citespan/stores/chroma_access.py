"""Chroma's collections: their names, how they are made, and lists within its limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from citespan.errors import InputError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")

T = TypeVar("T")


def check_name(name: str) -> str:
    """Return a collection's name, or say why Chroma would not take it.

    >>> check_name("semantic_chunks")
    'semantic_chunks'
    >>> check_name("a?")
    Traceback (most recent call last):
    ...
    citespan.errors.InputError: 'a?' cannot name a Chroma collection; use 3 to 512 of a-z A-Z ...
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a Chroma collection",
            fix="use 3 to 512 of a-z A-Z 0-9 . _ -, with a letter or digit at both ends",
        )
    return name


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of at most ``size``.

    >>> list(batches([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]


def get_collection(client: ClientAPI, name: str) -> Any | None:
    """Return a collection by name, or None where there is none.

    No embedding function is attached: vectors come from citespan's embedders only, and Chroma's
    default one would fetch a model.
    """
    from chromadb.errors import NotFoundError

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def create_collection(client: ClientAPI, name: str, metadata: dict[str, Any]) -> Any:
    """Make a collection that compares by cosine."""
    return client.create_collection(
        name,
        embedding_function=None,
        metadata=metadata,
        configuration={"hnsw": {"space": "cosine", "ef_search": 200}},
    )


def settle(collection: Any, vector: Any) -> None:
    """Ask a collection something, so that an embedded Chroma has worked off what it was given.

    Otherwise the next process that opens the folder does it, and beside others that do the same.
    """
    collection.query(query_embeddings=[vector], n_results=1, include=[])
