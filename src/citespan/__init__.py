"""citespan: ask your documents; every answer is a span you can check, or an honest refusal.

The names below are all that most programs need; each is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from citespan.config import Settings, load_settings
    from citespan.errors import CitespanError
    from citespan.load import LoadReport, load_documents
    from citespan.pipeline import OpenIndex, ask_index, build_index, open_index, search_index
    from citespan.protocols import Embedder, Filter, Generator, Splitter, Store
    from citespan.types import Answer, Chunk, Citation, Document, Gate, Hit, Passage, Span, Trace

__version__ = "0.1.0"

_PLACES = {
    **dict.fromkeys(("Settings", "load_settings"), "citespan.config"),
    "CitespanError": "citespan.errors",
    **dict.fromkeys(("LoadReport", "load_documents"), "citespan.load"),
    **dict.fromkeys(
        ("OpenIndex", "ask_index", "build_index", "open_index", "search_index"),
        "citespan.pipeline",
    ),
    **dict.fromkeys(("Embedder", "Filter", "Generator", "Splitter", "Store"), "citespan.protocols"),
    **dict.fromkeys(
        ("Answer", "Chunk", "Citation", "Document", "Gate", "Hit", "Passage", "Span", "Trace"),
        "citespan.types",
    ),
}

__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "CitespanError",
    "Document",
    "Embedder",
    "Filter",
    "Gate",
    "Generator",
    "Hit",
    "LoadReport",
    "OpenIndex",
    "Passage",
    "Settings",
    "Span",
    "Splitter",
    "Store",
    "Trace",
    "__version__",
    "ask_index",
    "build_index",
    "load_documents",
    "load_settings",
    "open_index",
    "search_index",
]


def __getattr__(name: str) -> Any:
    """Import a public name's module when the name is first asked for."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'citespan' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
