"""From settings to parts: the splitter, embedder and generator that a run works with."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from citespan.config import LoadedSettings, Settings
from citespan.errors import InputError, ModelError, StoreError
from citespan.protocols import Embedder, Generator, Splitter, Vectors
from citespan.registry import list_names, resolve_name
from citespan.weights import Weigh

INDEX_NAMES = ("splitter", "size", "overlap", "unit", "embedder")
"""The settings that decide what is in an index; they are stored with it."""

ANALYSIS_VERSION = 1
"""Grows when terms or sentences come out differently: an older index is then made again."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What indexing works with, and what is said about it once."""

    splitter: Splitter
    embedder: Embedder | None
    stored: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def adopt_stored(loaded: LoadedSettings, stored: Mapping[str, Any] | None) -> Settings:
    """Return the settings with the index's own where the user asked for nothing else.

    So ``citespan index`` on an index made with ``--splitter recursive`` goes on with that
    splitter, and only a flag, variable or line of ``citespan.toml`` that differs is refused.
    """
    if not stored:
        return loaded.settings
    defaults = {origin.name for origin in loaded.origins if origin.source == "default"}
    known = {f.name for f in fields(Settings)}
    kept = {
        name: stored[name]
        for name in INDEX_NAMES
        if name in stored and name in known and (not loaded.origins or name in defaults)
    }
    return replace(loaded.settings, **kept)


def asked_for(loaded: LoadedSettings, name: str) -> bool:
    """Say whether a setting was given by the user, and is not a default."""
    return any(origin.name == name and origin.source != "default" for origin in loaded.origins)


def check_settings(stored: Mapping[str, Any], parts: Parts, folder: Path) -> None:
    """Refuse parts other than those that an index was made with, in the user's own words.

    Raises
    ------
    StoreError
        Naming each setting that differs, and what to do.
    """
    differences = [
        f"{name} {_say(stored[name])}, not {_say(parts.stored[name])}"
        for name in INDEX_NAMES
        if name in stored and stored[name] != parts.stored[name]
    ]
    if differences:
        raise StoreError(
            f"the index at {folder} was made with {' and '.join(differences)}",
            fix="leave that setting out, make it anew with --rebuild, or name another --index",
        )


def _say(value: Any) -> str:
    return "its default" if value in (None, "") else str(value)


def open_embedder(name: str, *, required: bool = False) -> tuple[Embedder | None, tuple[str, ...]]:
    """Return the embedder of a name, or None and a note where its model is not on this machine.

    A name is a registered one (``minilm``, ``e5``), one with a model of its own
    (``openai:nomic-embed-text``, ``sentence-transformers:intfloat/e5-base``), or a model's folder.
    ``none`` is no embedder at all, and nothing is said about it. If the default model was never
    fetched, everything works by words; any other model that cannot be opened raises ModelError, and
    the default one does too where it is ``required``.
    """
    if name == "none":
        return None, ()
    from citespan.embed.cache import CachedEmbedder

    kind, _, model = name.partition(":")
    try:
        if kind in list_names("embedder"):
            make = resolve_name("embedder", kind)
            opened: Embedder = make(model) if model else make()
        elif os.path.isdir(name):
            opened = resolve_name("embedder", "folder")(name)
        else:
            resolve_name("embedder", name)  # raises, and lists the names
            raise AssertionError(name)
    except ModelError as error:
        if required or name != Settings().embedder:
            raise
        return None, (f"no embedding model: searching by words alone ({error})",)
    return CachedEmbedder(opened), ()


def open_splitter(settings: Settings, embedder: Embedder | None) -> Splitter:
    """Return the named splitter with the sizes that were set.

    Raises
    ------
    InputError
        If the splitter has no such setting, or the numbers do not go together.
    """
    make = resolve_name("splitter", settings.splitter)
    taken = inspect.signature(make).parameters
    given: dict[str, Any] = {}
    for name in ("size", "overlap", "unit"):
        value = getattr(settings, name)
        if value in (None, ""):
            continue
        if name not in taken:
            raise InputError(
                f"the splitter {settings.splitter!r} has no setting {name!r}",
                fix=f"leave out --{name}",
            )
        given[name] = value
    if "embedder" in taken:
        given["embedder"] = embedder
    count = token_counter(embedder)
    if "count_tokens" in taken and count is not None:
        given["count_tokens"] = count
    splitter: Splitter = make(**given)
    return splitter


def token_counter(embedder: Embedder | None) -> Callable[[Sequence[str]], list[int]] | None:
    """Return the embedder's own count of tokens, if there is an embedder."""
    return None if embedder is None else embedder.count_tokens


def open_parts(settings: Settings, *, required: bool = False) -> Parts:
    """Return splitter and embedder, and the settings that the index keeps of them.

    ``required`` says that the user named the embedder, and no other will do.
    """
    embedder, notes = open_embedder(settings.embedder, required=required)
    splitter = open_splitter(settings, embedder)
    stored = {
        "splitter": settings.splitter,
        "size": settings.size,
        "overlap": settings.overlap,
        "unit": settings.unit,
        "cuts": splitter.settings(),
        "embedder": settings.embedder if embedder is not None else "none",
        "model": embedder.name if embedder is not None else "",
        "dimension": embedder.dimension if embedder is not None else 0,
        "analysis": ANALYSIS_VERSION,
    }
    return Parts(splitter, embedder, stored, notes)


def open_generator(settings: Settings, *, weigh: Weigh, embedder: Embedder | None) -> Generator:
    """Return the generator: extractive without a model's name, else an OpenAI-compatible one."""
    if not settings.model:
        make = resolve_name("generator", "extractive")
        embed = None
        if embedder is not None:
            # The question comes first and is embedded as one; the rest are documents.
            embed = partial(_embed_question, embedder)
        extractive: Generator = make(weigh=weigh, embed=embed)
        return extractive
    chat: Generator = resolve_name("generator", "openai")(
        model=settings.model, base_url=settings.base_url, timeout=settings.timeout
    )
    return chat


def _embed_question(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    question = embedder.embed(texts[:1], kind="query")
    return np.concatenate([question, embedder.embed(texts[1:])]) if len(texts) > 1 else question
