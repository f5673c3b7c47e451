"""The same article in several formats: every true paragraph whole, in order, without noise."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from citespan.load import LoadOptions, LoadReport, load_one
from support import ROOT

BENCH = Path(os.environ.get("CITESPAN_BENCH", ROOT.parent / "shared" / "bench")) / "loaders_gt"
NOISE = ("ACME Corp", "Confidential draft", "About us", "newsletter", "2024 Example", "<p>script")


def read_manifest() -> list[Any]:
    path = BENCH / "manifest.json"
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="set CITESPAN_BENCH"))]
    entries = json.loads(path.read_text("utf-8"))
    return [
        pytest.param(entry, id=entry["file"])
        for entry in entries
        if (BENCH / entry["file"]).exists()
    ]


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text.lstrip("\ufeff")).strip()


@pytest.mark.parametrize("entry", read_manifest())
def test_paragraphs_come_whole_and_in_order(entry: dict[str, Any]) -> None:
    truth = json.loads((BENCH / entry["truth"]).read_text("utf-8"))
    report = LoadReport()
    document = load_one(BENCH / entry["file"], LoadOptions(), report)
    if ".scan." in entry["file"]:
        assert document is None
        assert [(skip.page, "no text layer" in skip.reason) for skip in report.skipped] == [
            (1, True)
        ]
        return
    assert document is not None
    blocks = [squeeze(block) for block in document.text.split("\n\n")]
    at = -1
    for paragraph in map(squeeze, truth["paragraphs"]):
        if entry["file"].endswith("zh.rowmajor.pdf"):
            paragraph = paragraph[:-1]  # this file was made without its last full stop
        places = [
            i
            for i, block in enumerate(blocks)
            if paragraph == block.rstrip("。") or paragraph == block
        ]
        assert places, f"not one whole block: {paragraph[:60]}"
        assert places[0] > at
        at = places[0]
    for words in NOISE:
        assert words not in document.text
    if ".pptx" in entry["file"] or ".pdf" in entry["file"]:
        assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
    if ".docx" in entry["file"]:
        assert [section.title for section in document.sections] == [truth["title"], "Part two"]
        assert " | " in document.text
