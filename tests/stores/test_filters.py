"""Globs, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.stores.filters import matches_path, matches_title


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.pdf", "a/b/c.pdf", True),
        ("*.pdf", "c.pdf", True),
        ("*.pdf", "c.pdf.txt", False),
        ("c?.md", "x/c1.md", True),
        ("c?.md", "x/c12.md", False),
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/**", "a/b/c", True),
        ("**/c", "c", True),
        ("**/c", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/b/b/c", True),
        ("a/", "a/b", True),
        ("a/", "b/a/b", False),
        ("[ab].txt", "a.txt", True),
        ("[!ab].txt", "a.txt", False),
        ("[!ab].txt", "c.txt", True),
        ("[a-c]x", "bx", True),
        ("[z-a]", "[z-a]", True),
        ("[z-a]", "z", False),
        ("[x", "[x", True),
        ("notes [1].md", "notes [1].md", True),
        ("**", "a/b", True),
        ("https://x.org/**", "https://x.org/a?b", True),
        ("a.c", "abc", False),
        ("A.txt", "a.txt", False),
        ("", "a", False),
        ("北京*", "北京大学.txt", True),
    ],
)
def test_paths(pattern: str, path: str, expected: bool) -> None:
    assert matches_path(pattern, path) is expected


def test_titles_know_no_case_and_no_folders() -> None:
    assert matches_title("hand*", "Handbook / 2024")
    assert matches_title("[draft] x", "[draft] x")
    assert not matches_title("hand", "Handbook")


@given(st.text(), st.text())
def test_no_pattern_is_an_error(pattern: str, path: str) -> None:
    matches_path(pattern, path)
    matches_title(pattern, path)
    assert matches_path(pattern, pattern)
