"""Pasted quotes find their exact place, whatever a copy does to white space and marks."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.evaluate.quotes import find_quote, nearest_span, normalise_text, show_context
from citespan.types import Span

texts = st.text(alphabet="aAbé “”'’\n\t …­文я", max_size=40)


def quoted(text: str, quote: str) -> list[str]:
    return [text[start:end] for start, end in find_quote(text, quote)]


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("one two", "two", ["two"]),
        ("one\n  two\tthree", "one two three", ["one\n  two\tthree"]),
        ("it’s “fine”", 'it\'s "fine"', ["it’s “fine”"]),
        ("«да» — нет", '"да" - нет', ["«да» — нет"]),
        ("wait… what", "wait... what", ["wait… what"]),
        ("soft\u00adhyphen", "softhyphen", ["soft\u00adhyphen"]),
        ("The End", "the end", ["The End"]),
        ("café", "cafe\u0301", ["café"]),
        ("cafe\u0301 x", "café", ["cafe\u0301"]),
        ("cafe\u0301 x", "CAFÉ", ["cafe\u0301"]),
        ("“北京”是首都。", "「北京」是首都", ["“北京”是首都"]),
        ("ABC １２", "abc 12", ["ABC １２"]),
        ("aaa", "aa", ["aa", "aa"]),
        ("one two", "three", []),
        ("one", "   ", []),
        ("café", "CAFE", []),
        ("a…b", "a..", []),
    ],
)
def test_by_hand(text, quote, found):
    assert quoted(text, quote) == found


def test_an_exact_place_goes_before_an_evened_one():
    assert find_quote("it’s it's", "it's") == [Span(5, 9)]


@given(texts, st.integers(0, 40), st.integers(1, 20))
def test_every_slice_is_found_where_it_stands(text, start, length):
    piece = text[start : start + length]
    if not piece.strip():
        return
    left = start + len(piece) - len(piece.lstrip())
    assert Span(left, left + len(piece.strip())) in find_quote(text, piece)


@given(texts)
def test_a_reflowed_copy_is_found_with_exact_offsets(text):
    copy = " ".join(unicodedata.normalize("NFKD", text).replace("\u00ad", "").split())
    # What is only accents, or blank, names no place.
    if not copy or not normalise_text(text).text.strip():
        return
    whole = text.strip().strip("\u00ad").strip()
    assert any(whole in text[s:e] or text[s:e] in whole for s, e in find_quote(text, copy))


@given(texts)
def test_offsets_go_with_the_text(text):
    even = normalise_text(text)
    assert len(even.text) == len(even.offsets)
    assert list(even.offsets) == sorted(even.offsets)


def test_context_is_one_line():
    assert show_context("a\nb \n c", Span(2, 3), around=2) == "a [b]…"
    assert nearest_span([], 3) is None
