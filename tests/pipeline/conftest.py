"""Every test stands in a folder of its own, with no setting of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import isolate


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(monkeypatch, tmp_path)
    return Path.cwd()
