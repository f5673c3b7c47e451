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
