"""Real and hostile files: each behaves as its manifest says, and none stops the others."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from citespan.load import LoadOptions, LoadReport, load_documents, load_one
from citespan.types import Document
from support import ROOT, bench_dir

BENCH = Path(os.environ.get("CITESPAN_BENCH", ROOT.parent / "shared" / "bench")) / "messy"
OPTIONS = LoadOptions()


def read_manifest(name: str) -> list[Any]:
    path = BENCH / name
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="set CITESPAN_BENCH"))]
    return [
        pytest.param(entry, id=entry["file"])
        for entry in json.loads(path.read_text("utf-8"))
        if entry.get("use", "dev") == "dev"
    ]


def load(path: Path) -> tuple[Document | None, LoadReport]:
    report = LoadReport()
    return load_one(path, OPTIONS, report), report


def check(entry: dict[str, Any], path: Path) -> None:
    document, report = load(path)
    expected = entry["expected"]
    may_fail = (
        any(
            word in expected
            for word in ("typed error", "unsupported", "bounded", "refused", "no file content")
        )
        or "garbage" in expected
    )
    must_fail = expected.startswith(("typed error", "empty", "no text"))
    if document is None:
        assert must_fail or may_fail, report.skipped
        assert report.failed == 1
        assert report.skipped
        assert all(skip.reason and "\n" not in skip.reason for skip in report.skipped)
        return
    assert not must_fail, document.text[:200]
    text = document.text
    assert text.strip()
    assert "\x00" not in text
    assert "\ufffd" not in text or "\ufffd".encode() in path.read_bytes()
    text.encode("utf-8")
    for section in document.sections:
        assert 0 <= section.start < section.end <= len(text)
        if document.media_type not in ("text/markdown", "application/x-ipynb+json"):
            assert text[section.start :].startswith(section.title[:40]), section
    for page, after in zip(document.pages, document.pages[1:], strict=False):
        assert page.end == after.start
        assert page.number < after.number
    if "probe" in entry:
        assert entry["probe"] in text
    if expected.startswith("decoded as") and document.media_type == "text/plain":
        encoding = expected.removeprefix("decoded as ").split(",")[0]
        whole = path.read_bytes().decode(encoding)
        assert text == whole.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("entry", read_manifest("manifest_real.json"))
def test_real_file(entry: dict[str, Any]) -> None:
    check(entry, BENCH / entry["file"])


@pytest.mark.parametrize("entry", read_manifest("made/manifest_made.json"))
def test_made_file(entry: dict[str, Any], tmp_path: Path) -> None:
    path = BENCH / "made" / entry["file"]
    if entry["kind"] == "odd file name":
        with tarfile.open(BENCH / "made" / "odd_names.tar.gz") as archive:
            archive.extractall(tmp_path, filter="data")
        path = tmp_path / entry["file"]
    check(entry, path)


def read_dev(name: str) -> str:
    document, _ = load(bench_dir("messy", name))
    assert document is not None
    return document.text


def test_two_column_paper_is_read_column_by_column() -> None:
    text = read_dev("r016_multicolumn.pdf")
    order = ["Nam dui ligula", "Nulla malesuada porttitor", "Suspendisse vel felis", "Table 1"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert "Inte-" not in text


def test_web_text_is_decoded_as_declared_or_detected() -> None:
    assert "Почти все о греческом на русском" in read_dev("r110_greek.ru.xml")
    assert "Почти все о греческом на русском" in read_dev("r118_greek.ru.xml")
    assert "不知道为什么" in read_dev("r112_godthink.blogsome.com.xml")
    assert "ブログで大金持ち" in read_dev("r114_ooganemochi.com.xml")
    assert "العربية" in read_dev("r082_testArabicMisleadingCharset.html")
    assert "15,50 €" in read_dev("r080_fake-html-cp1252.html")


def test_hidden_and_script_text_is_left_out() -> None:
    document, report = load(bench_dir("messy", "made", "hidden_injection.html"))
    assert document is not None
    assert document.text == "Visible fact: the limit is 30 days."
    assert any("hidden" in skip.reason for skip in report.skipped)
    assert "function(" not in read_dev("r078_example-with-scripts.html")


def test_scan_names_each_page_without_text() -> None:
    document, report = load(bench_dir("messy", "r024_MEDRPT-2024-PAT-3847_medical_report_scan.pdf"))
    assert document is None
    assert [skip.page for skip in report.skipped] == [1, 2, 3]
    assert all("no text layer" in skip.reason for skip in report.skipped)


def test_sideways_table_keeps_its_rows() -> None:
    text = read_dev("r002_nics-background-checks-2015-11-rotated.pdf")
    assert "Alabama 18,870 23,022 22,650 859 1,178" in text


def test_text_boxes_and_comments_come_along() -> None:
    assert "Student falls ill" in read_dev("r052_textbox.docx")
    assert "Yet another comment in the doc." in read_dev("r048_test_with_comment.docx")


def test_whole_folder_is_loaded_and_every_file_accounted_for() -> None:
    folder = bench_dir("messy")
    report = LoadReport()
    sources = [document.source for document in load_documents(folder, report=report)]
    assert len(sources) == len(set(sources)) == report.loaded
    gone = {skip.source for skip in report.skipped} - set(sources)
    assert len(gone) == report.failed
    assert report.loaded > 60
