"""Run a generator on a prompt: collect the pieces, send less where the context is full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from citespan.errors import ContextOverflowError, CutShortError, ModelError
from citespan.protocols import Generator
from citespan.types import Draft, Prompt

MOST_CHARACTERS = 20_000
"""An answer that runs on beyond this is stopped; a few thousand words answer no question."""
ATTEMPTS = 6


def generate_answer(
    prompt: Prompt,
    generator: Generator,
    *,
    shrink: Callable[[Prompt, int | None], Prompt | None] | None = None,
    on_text: Callable[[str], Any] | None = None,
) -> Draft:
    """Return what the generator writes, with notes on what went wrong on the way.

    Parameters
    ----------
    prompt
        What to send.
    generator
        Anything with a ``name`` and ``generate``; its pieces are passed to ``on_text`` as they
        come.
    shrink
        Makes a shorter prompt of at most so many tokens (``citespan.prompt.shrink_prompt``); used
        where the server's context turns out smaller than was thought.

    Returns
    -------
    Draft
        ``prompt`` is set where another prompt than the given one was sent in the end.

    Raises
    ------
    ModelError
        If no text came at all and the generator says why.

    Examples
    --------
    >>> class Echo:
    ...     name = "echo"
    ...     def generate(self, prompt):
    ...         yield from ("You asked: ", prompt.question)
    >>> asked = Prompt("Why?", "en", "", "", (), 0, 0)
    >>> generate_answer(asked, Echo()).text
    'You asked: Why?'
    """
    sent = prompt
    notes: list[str] = []
    for attempt in range(ATTEMPTS):
        pieces: list[str] = []
        try:
            _collect(sent, generator, pieces, notes, on_text)
        except ContextOverflowError as error:
            smaller = None
            if shrink is not None and not pieces and attempt < ATTEMPTS - 1:
                room = _room(sent, error)
                smaller = (shrink(sent, room) if room else None) or shrink(sent, None)
            if smaller is None:
                raise
            notes.append(
                f"the server's context was too small for {len(sent.passages)} sources; "
                f"{len(smaller.passages)} were sent"
            )
            sent = smaller
            continue
        except CutShortError as error:
            if not pieces:
                raise
            notes.append(error.message)
        break
    return Draft(
        "".join(pieces), generator.name, tuple(notes), prompt=None if sent is prompt else sent
    )


def _collect(
    prompt: Prompt,
    generator: Generator,
    pieces: list[str],
    notes: list[str],
    on_text: Callable[[str], Any] | None,
) -> None:
    length = 0
    for piece in generator.generate(prompt):
        if not isinstance(piece, str):
            raise ModelError(
                f"the generator {generator.name} yields {type(piece).__name__}, not text",
                fix="mend its generate method",
            )
        pieces.append(piece)
        length += len(piece)
        if on_text is not None:
            on_text(piece)
        if length > MOST_CHARACTERS:
            notes.append(f"the answer was stopped after {length} characters")
            return


def _room(prompt: Prompt, error: ContextOverflowError) -> int | None:
    """Return the tokens, as we count them, that fit the server's context with room to answer."""
    if not error.limit:
        return None
    room = error.limit - min(256, error.limit // 4)
    ratio = prompt.tokens / error.needed if error.needed else 1.0
    return int(room * ratio)
