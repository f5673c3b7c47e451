"""Walking folders: globs, ignored and hidden files, loops, fingerprints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from citespan.errors import InputError, LoadError
from citespan.load import LoadReport, file_fingerprint, list_files, load_documents


def plant(folder: Path, *names: str, text: str = "some text") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def walk(folder: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in list_files(folder, include, exclude)]


def test_hidden_unknown_and_tool_files_are_left_out(tmp_path: Path) -> None:
    plant(tmp_path, "b.md", "a.txt", ".x.md", ".git/c.md", "d/e.pdf", "f.exe", "node_modules/g.md")
    assert walk(tmp_path) == ["a.txt", "b.md", "d/e.pdf"]


def test_globs_choose_below_the_folder(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.txt", "drafts/c.md", "d/e.md", "d/f.custom")
    assert walk(tmp_path, ["*.md"]) == ["a.md", "d/e.md", "drafts/c.md"]
    assert walk(tmp_path, ["*.md"], ["drafts/"]) == ["a.md", "d/e.md"]
    assert walk(tmp_path, ["d/**"]) == ["d/e.md", "d/f.custom"]
    assert walk(tmp_path, exclude=["*.txt", "d"]) == ["a.md", "drafts/c.md"]


def test_ignore_files_hold_from_their_folder_down(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.log", "keep/b.log", "sub/c.md", "sub/deep/c.md", "sub/d.md")
    (tmp_path / ".gitignore").write_text("*.log\n", "utf-8")
    (tmp_path / "keep" / ".citespanignore").write_text("!b.log\n", "utf-8")
    (tmp_path / "sub" / ".citespanignore").write_text("/c.md\n", "utf-8")
    assert walk(tmp_path) == ["a.md", "keep/b.log", "sub/d.md", "sub/deep/c.md"]


def test_a_named_file_is_always_taken(tmp_path: Path) -> None:
    plant(tmp_path, ".hidden.md", "x.unknown")
    named = [tmp_path / ".hidden.md", tmp_path / "x.unknown", tmp_path / "x.unknown"]
    assert list_files(named, exclude=["*"]) == named[:2]
    assert [d.text for d in load_documents(named)] == ["some text", "some text"]


def test_links_in_a_loop_end(tmp_path: Path) -> None:
    plant(tmp_path, "a/b.md")
    try:
        os.symlink(tmp_path, tmp_path / "a" / "up", target_is_directory=True)
        os.symlink(tmp_path / "a" / "b.md", tmp_path / "z.md")
        os.symlink(tmp_path / "nowhere", tmp_path / "broken.md")
    except OSError:
        pytest.skip("links cannot be made here")
    assert len(walk(tmp_path)) == 1


def test_all_missing_paths_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file or folder: .*one, .*two"):
        list_files([tmp_path / "one", tmp_path / "two"])


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    os.mkfifo(tmp_path / "a.txt")
    report = LoadReport()
    assert list(load_documents(tmp_path / "a.txt", report=report)) == []
    assert "not a regular file" in report.skipped[0].reason


def test_fingerprint_follows_the_content_alone(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.md")
    assert file_fingerprint(tmp_path / "a.md") == file_fingerprint(tmp_path / "b.md")
    plant(tmp_path, "b.md", text="other text")
    assert file_fingerprint(tmp_path / "a.md") != file_fingerprint(tmp_path / "b.md")
    with pytest.raises(LoadError, match="cannot be read"):
        file_fingerprint(tmp_path / "c.md")


def test_documents_come_one_by_one_and_the_bad_ones_are_reported(tmp_path: Path) -> None:
    plant(tmp_path, "a.md", "b.pdf", "c.docx", "e.zip", "f.txt")
    plant(tmp_path, "d.txt", text=" \n")
    report, heard = LoadReport(), []
    stream = load_documents(tmp_path, report=report, on_skip=heard.append)
    assert next(iter(stream)).text == "some text"
    assert report.skipped == []
    assert [Path(document.source).name for document in stream] == ["f.txt"]
    assert [Path(skip.source).name for skip in heard] == ["b.pdf", "c.docx", "d.txt", "e.zip"]
    assert (report.loaded, report.failed, report.skipped) == (2, 4, heard)
