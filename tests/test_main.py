"""``main.py`` walks the ten stages over data/corpus, and says what to do where it cannot run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support import ROOT, need_minilm

STAGES = (
    *("LOAD", "SPLIT", "EMBED", "INDEX", "RETRIEVE"),
    *("EXPAND", "GATE", "PROMPT", "GENERATE", "VERIFY"),
)


def test_the_whole_way(tmp_path):
    need_minilm()
    if not (ROOT / "data" / "corpus").is_dir():
        pytest.skip("data/corpus is not written yet")
    # Run where it stands, with an index of its own: a copy of the script finds the same corpus.
    code = (
        "import sys, pathlib; sys.argv = ['main.py']; import main; "
        f"main.INDEX = pathlib.Path({str(tmp_path / 'index')!r}); main.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    places = [ran.stdout.find(f". {stage}") for stage in STAGES]
    assert all(place >= 0 for place in places)
    assert places == sorted(places)
    assert "text[start:end] == chunk: True" in ran.stdout
    assert "Open it every seven days" in ran.stdout
    assert "Not found in the 15 documents searched" in ran.stdout


def test_without_the_libraries_it_says_how_to_get_them():
    ran = subprocess.run(
        [sys.executable, "-S", "-I", "main.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert "make demo" in ran.stderr
    assert "Traceback" not in ran.stderr
