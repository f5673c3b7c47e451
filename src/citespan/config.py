"""Settings: where each comes from, and what it may be.

In order of precedence: a flag, an environment variable ``CITESPAN_NAME``, a line in
``citespan.toml`` (in the folder where the command runs, or named by ``CITESPAN_CONFIG``), the
default below. Every wrong setting is reported, all at once.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from citespan.errors import InputError

PREFIX = "CITESPAN_"
FILE_NAME = "citespan.toml"
RESERVED = frozenset({"CITESPAN_CONFIG", "CITESPAN_MODELS", "CITESPAN_BENCH", "CITESPAN_DEBUG"})
"""Variables with the prefix that are no settings: files and folders of the program itself."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a user may set, with its default.

    ``index``: folder of the index. ``splitter``: a registered name; ``size`` and ``overlap`` in
    ``unit``s (empty: the splitter's own default). ``embedder``: a registered name or a model's
    folder; ``none`` searches by words alone. ``retriever``: ``ribbon``, or for comparison
    ``hybrid``, ``rrf``, ``lexical``, ``dense`` or ``tfidf``. ``k``: passages to bring; unset is as
    many as score near the best one. ``budget``: tokens of context. ``passage``: tokens that
    one passage may grow to. ``threshold``: the gate's, in [0, 1]; unset is the calibrated or
    default value. ``model``: a generator (empty: extractive, no model). ``base_url``: an
    OpenAI-compatible server. ``context``: the generator's context in tokens. ``timeout``: seconds.
    """

    index: str = ".citespan"
    splitter: str = "sentences"
    size: int | None = None
    overlap: int | None = None
    unit: str = ""
    embedder: str = "minilm"
    retriever: str = "ribbon"
    k: int | None = None
    budget: int = 1500
    passage: int = 300
    threshold: float | None = None
    model: str = ""
    base_url: str = ""
    context: int = 4096
    timeout: float = 120.0
    allow_private: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """A setting's value and where it was found, for ``citespan config``."""

    name: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, each with its origin."""

    settings: Settings
    origins: tuple[Origin, ...] = field(default=())


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> LoadedSettings:
    """Merge flags, environment, ``citespan.toml`` and defaults.

    Parameters
    ----------
    flags
        Values from the command line; None stands for "not given".
    environ, folder
        The environment and the folder to look for ``citespan.toml`` in; the real ones by default.

    Raises
    ------
    InputError
        With every unknown name and every unusable value, and where each was found.

    Examples
    --------
    >>> found = load_settings({"k": 5}, environ={"CITESPAN_BUDGET": "800"}, folder=Path("/none"))
    >>> found.settings.k, found.settings.budget, found.settings.splitter
    (5, 800, 'sentences')
    """
    env = os.environ if environ is None else environ
    layers: list[tuple[str, Mapping[str, Any]]] = [
        ("flag", {k: v for k, v in (flags or {}).items() if v is not None}),
        (
            "environment",
            {
                key[len(PREFIX) :].lower(): value
                for key, value in env.items()
                if key.startswith(PREFIX) and key not in RESERVED
            },
        ),
    ]
    path = Path(env.get("CITESPAN_CONFIG") or (folder or Path.cwd()) / FILE_NAME)
    layers.append((path.name, _read_file(path, required="CITESPAN_CONFIG" in env)))

    problems: list[str] = []
    chosen: dict[str, Any] = {}
    sources: dict[str, str] = {}
    known = {f.name: f for f in fields(Settings)}
    for source, layer in layers:
        for name, raw in layer.items():
            if name not in known:
                problems.append(f"unknown setting {name!r} ({source})")
                continue
            try:
                value = _convert(name, str(known[name].type), raw)
                _check(name, value)
            except ValueError as error:
                problems.append(f"{name} = {raw!r} ({source}): {error}")
                continue
            if name not in chosen:
                chosen[name], sources[name] = value, source
    if problems:
        raise InputError("; ".join(problems), fix="see: citespan config --help")
    settings = Settings(**chosen)
    origins = tuple(
        Origin(name, getattr(settings, name), sources.get(name, "default")) for name in known
    )
    return LoadedSettings(settings, origins)


def resolve_settings(given: LoadedSettings | str | Path | None) -> LoadedSettings:
    """Return settings as they are, or load those of an index's folder, or the usual ones."""
    if isinstance(given, LoadedSettings):
        return given
    return load_settings({} if given is None else {"index": str(given)})


def _read_file(path: Path, *, required: bool) -> Mapping[str, Any]:
    if not path.is_file():
        if required:
            raise InputError(f"CITESPAN_CONFIG names {path}, which is not a file", fix="correct it")
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}", fix="mend that line") from None


def _convert(name: str, kind: str, raw: Any) -> Any:
    """Turn a string (or a TOML value) into the type that the field declares."""
    if kind.startswith("tuple"):
        items = raw.split(",") if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple) or not all(isinstance(i, str) for i in items):
            raise ValueError("wants a list of globs, or globs joined by commas")
        return tuple(item.strip() for item in items if item.strip())
    if kind == "bool":
        if isinstance(raw, bool):
            return raw
        words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
        if str(raw).lower() not in words:
            raise ValueError("wants true or false")
        return words[str(raw).lower()]
    if isinstance(raw, bool):
        raise ValueError(f"wants {'a number' if kind[:3] in ('int', 'flo') else 'text'}")
    if kind.startswith(("int", "float")):
        number: type[int] | type[float] = int if kind.startswith("int") else float
        if number is int and isinstance(raw, float):
            raise ValueError("wants a whole number")
        try:
            return number(raw)
        except (TypeError, ValueError):
            word = "whole number" if number is int else "number"
            raise ValueError(f"wants a {word}") from None
    if not isinstance(raw, str):
        raise ValueError("wants text")
    return raw


UNITS = ("", "words", "characters", "sentences", "tokens")
RETRIEVERS = ("ribbon", "hybrid", "lexical", "dense", "rrf", "tfidf")


def _check(name: str, value: Any) -> None:
    """Refuse values that no stage could work with; the stages check their own combinations."""
    if name in ("k", "budget", "passage", "context", "size") and value is not None and value < 1:
        raise ValueError("must be at least 1")
    if name == "overlap" and value is not None and value < 0:
        raise ValueError("must not be negative")
    if name == "threshold" and value is not None and not 0 <= value <= 1:
        raise ValueError("must lie between 0 and 1")
    if name == "timeout" and not 0 < value < float("inf"):
        raise ValueError("must be a positive number of seconds")
    if name == "unit" and value not in UNITS:
        raise ValueError(f"must be one of {', '.join(UNITS[1:])}")
    if name == "retriever" and value not in RETRIEVERS:
        raise ValueError(f"must be one of {', '.join(RETRIEVERS)}")
    if name in ("index", "splitter", "embedder") and not value:
        raise ValueError("must not be empty")
