"""The errors a person may meet: each says what is wrong and what to do about it.

There are two kinds of failure. A ``CitespanError`` is meant for the user's eyes: the command
prints it as one plain line and exits with its code. Anything else is a defect of ours.
"""

from __future__ import annotations


class CitespanError(Exception):
    """Something the user can mend. ``str(error)`` is one line that holds the fix.

    >>> str(CitespanError("no index at .citespan", fix="run: citespan index PATH"))
    'no index at .citespan; run: citespan index PATH'
    """

    exit_code = 1

    def __init__(self, message: str, *, fix: str = "") -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message}; {fix}" if fix else message)


class InputError(CitespanError, ValueError):
    """An argument, setting, question file or option is not usable as given."""

    exit_code = 2


class LoadError(CitespanError):
    """One file, page or address could not be read; the others go on."""

    exit_code = 3


class StoreError(CitespanError):
    """The index is absent, damaged, or was made with other settings."""

    exit_code = 4


class LockedError(StoreError):
    """Another process is writing to the index."""


class ModelError(CitespanError):
    """A model (embedder or generator) is absent, unreachable or answers nonsense."""

    exit_code = 5


class ContextOverflowError(ModelError):
    """The prompt is longer than the server's context; ``limit`` is its size in tokens, if told.

    ``needed`` is the prompt's length as the server counts it, if told. Whoever built the prompt
    may send a shorter one.
    """

    def __init__(self, limit: int | None = None, needed: int | None = None) -> None:
        self.limit, self.needed = limit, needed
        sizes = f" ({needed or 'unknown'} tokens, room for {limit})" if limit else ""
        super().__init__(
            f"the prompt does not fit the model's context{sizes}",
            fix="lower --budget, or give the server a larger context",
        )


class CutShortError(ModelError):
    """A generator's answer ended before its end; what came before may still be used."""


class MissingExtraError(CitespanError, ImportError):
    """An optional dependency is not installed; the message holds the exact pip line.

    >>> str(MissingExtraError("chromadb", extra="chroma"))
    "chromadb is not installed; run: pip install 'citespan[chroma]'"
    """

    exit_code = 6

    def __init__(self, package: str, *, extra: str = "") -> None:
        target = f"'citespan[{extra}]'" if extra else package
        super().__init__(f"{package} is not installed", fix=f"run: pip install {target}")
