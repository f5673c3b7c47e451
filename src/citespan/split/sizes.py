"""Sizes: what a splitter is asked for, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass, field

from citespan.errors import InputError
from citespan.split.ruler import UNITS, Ruler, Unit
from citespan.tokens import CountTokens
from citespan.types import Document

_USUAL = {"tokens": 200, "words": 150, "characters": 800, "sentences": 8}


@dataclass(frozen=True, slots=True)
class Sizes:
    """A hard maximum, an overlap and a soft minimum, in one unit.

    ``size`` is never exceeded; in tokens it includes the model's special tokens. ``overlap`` and
    ``minimum`` are aimed at and never exceeded or reached at the cost of ``size``.

    Raises
    ------
    InputError
        If the numbers do not go together; the message holds them.

    Examples
    --------
    >>> Sizes(100, 100)
    Traceback (most recent call last):
    ...
    citespan.errors.InputError: overlap 100 is not smaller than size 100 (words); lower the overlap
    """

    size: int
    overlap: int = 0
    unit: Unit = "words"
    minimum: int = 0
    count_tokens: CountTokens | None = None
    language: str = ""
    engine: str = ""
    special: int = field(default=0, init=False)
    """Tokens that the model adds to every text."""
    room: int = field(default=0, init=False)
    """What is left of ``size`` for the text."""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise InputError(f"unit {self.unit!r} is not known", fix=f"use: {', '.join(UNITS)}")
        for name, value, least in (
            ("size", self.size, 1), ("overlap", self.overlap, 0), ("minimum", self.minimum, 0)
        ):  # fmt: skip
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"{name} {value!r} is not a whole number of {self.unit}",
                    fix=f"give {least} or more",
                )
        if self.overlap >= self.size:
            raise InputError(
                f"overlap {self.overlap} is not smaller than size {self.size} ({self.unit})",
                fix="lower the overlap",
            )
        if self.minimum > self.size:
            raise InputError(
                f"minimum {self.minimum} is larger than size {self.size} ({self.unit})",
                fix="lower the minimum",
            )
        counted = self.unit == "tokens" and self.count_tokens is not None
        special = self.count_tokens([""])[0] if counted and self.count_tokens else 0
        object.__setattr__(self, "special", special)
        object.__setattr__(self, "room", self.size - special)
        if self.room < 1 or (self.overlap and self.overlap >= self.room):
            raise InputError(
                f"size {self.size} leaves {self.room} tokens beside the model's {self.special} "
                f"special ones, with overlap {self.overlap}",
                fix="raise the size",
            )

    def measure_document(self, document: Document) -> Ruler:
        """Lay a ruler on the document."""
        return Ruler(
            document.text,
            self.unit,
            self.room,
            self.count_tokens,
            self.language or document.language,
            self.engine,
        )

    def settings(self) -> dict[str, int | str | bool]:
        """Return what decides the cuts, as JSON values."""
        return {
            "size": self.size,
            "overlap": self.overlap,
            "unit": self.unit,
            "minimum": self.minimum,
            "counted": self.count_tokens is not None,
        }


def make_sizes(
    size: int | None,
    overlap: int | None,
    unit: Unit,
    *,
    usual_size: int = 0,
    usual_overlap: int = 0,
    minimum: int | None = 0,
    count_tokens: CountTokens | None = None,
    language: str = "",
    engine: str = "",
) -> Sizes:
    """Fill in what was not said, so that naming a size alone never clashes with a default.

    An overlap that was not said is a fifth of the size at most; a minimum of None is a quarter.

    >>> make_sizes(30, None, "characters", usual_overlap=50).overlap
    6
    """
    size = usual_size or _USUAL.get(unit, 1) if size is None else size
    known = isinstance(size, int) and size > 0
    if overlap is None:
        overlap = min(usual_overlap, size // 5) if known else 0
    if minimum is None:
        minimum = size // 4 if known else 0
    return Sizes(size, overlap, unit, minimum, count_tokens, language, engine)
