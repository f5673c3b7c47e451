"""The mark in a collection's metadata: which commit of which database the collection reflects."""

from __future__ import annotations

from typing import Any

from citespan.index.truth import Head, Mark


def is_at(mark: Mark | None, head: Head) -> bool:
    """Whether the collection is complete for a state of the truth."""
    return mark is not None and (mark.generation, mark.last_key) == (head.generation, head.last_key)


def move_mark(mark: Mark, generation: int, last_key: int) -> Mark:
    """Return the mark further on; removed chunks are truly deleted, so it is born anew."""
    return Mark(mark.identity, mark.recipe, mark.name, generation, generation, last_key)


def mark_to_metadata(mark: Mark) -> dict[str, Any]:
    """Return the collection's metadata that hold a mark."""
    return {
        "identity": mark.identity,
        "recipe": mark.recipe,
        "generation": mark.generation,
        "last_key": mark.last_key,
    }


def mark_from_metadata(name: str, metadata: dict[str, Any] | None) -> Mark | None:
    """Return the mark that a collection's metadata hold, or None."""
    try:
        found = metadata or {}
        generation, last_key = int(found["generation"]), int(found["last_key"])
        identity, recipe = str(found["identity"]), str(found["recipe"])
    except (KeyError, TypeError, ValueError):
        return None
    return Mark(identity, recipe, name, generation, generation, last_key)
