"""Helpers that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def bench_dir(*parts: str) -> Path:
    """Return a folder of the public test data, or skip the test where it is not at hand."""
    base = Path(os.environ.get("CITESPAN_BENCH", ROOT.parent / "shared" / "bench"))
    path = base.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"public test data not at hand ({'/'.join(parts) or 'bench'}); set CITESPAN_BENCH"
        )
    return path


def need_minilm() -> Path:
    """Return the default model's folder, or skip the test where it was not fetched."""
    from citespan.embed.models import find_model
    from citespan.errors import ModelError

    try:
        return find_model()
    except ModelError as error:
        pytest.skip(str(error))


def isolate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Stand in an empty folder, without settings of this machine, with caches of its own.

    Models that were fetched stay at hand.
    """
    from citespan.embed.models import models_folder

    models = models_folder()
    for name in [name for name in os.environ if name.startswith("CITESPAN_")]:
        monkeypatch.delenv(name)
    for name in ("OPENAI_API_KEY", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CITESPAN_MODELS", str(models))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    place = folder / "place"
    place.mkdir()
    monkeypatch.chdir(place)


def block_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every attempt to open a connection or look up a name fail the test."""
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was attempted")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
