"""Call a reader by name, and turn whatever a parser throws into one plain line."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from citespan.errors import CitespanError, LoadError
from citespan.load.options import Extract, LoadOptions


class ReadFunction(Protocol):
    """The shape of every reader: bytes in, text with its spans out."""

    def __call__(
        self, data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
    ) -> Extract:
        """Return the extract; raise ``LoadError`` if the file cannot be read."""
        ...


def run_reader(
    reader: str,
    data: bytes,
    name: str,
    options: LoadOptions,
    progress: Callable[[], None] = lambda: None,
) -> Extract:
    """Run the reader ``module:function``.

    Raises
    ------
    LoadError
        If the file cannot be read, for whatever reason; ``MemoryError`` alone passes through.
    """
    module, _, function = reader.partition(":")
    read: ReadFunction = getattr(import_module(module), function)
    try:
        return read(data, name, options, progress)
    except (CitespanError, MemoryError):
        raise
    except RecursionError:
        raise LoadError(f"{name} is nested too deeply to read") from None
    except Exception as error:
        # Parsers of other people's formats raise anything at all on damaged files.
        detail = " ".join(str(error).split())[:200]
        kind = type(error).__name__
        raise LoadError(
            f"{name} is damaged and cannot be read ({kind}{': ' + detail if detail else ''})"
        ) from error
