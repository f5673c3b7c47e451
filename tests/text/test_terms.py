"""Index terms: worked cases, and the laws that an index relies on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.text import analyze_query, analyze_terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("en", "The leaves, leaving!", ["the", "leav", "leav"]),
        ("ru", "Ёлки и ёлка", ["елк", "и", "елк"]),
        ("ru", "во́ды", ["вод"]),
        ("de", "Häuser Straße", ["haus", "strass"]),
        ("fr", "l'été café", ["l'été".replace("é", "e"), "l", "ete", "caf"]),
        ("zh", "北京", ["北京", "北", "京"]),
        ("zh", "A中B", ["a", "中", "b"]),
        ("zh", "ＰＨＰ５", ["php5", "php", "5"]),
        ("en", "1,234.5 1234.5", ["1234.5", "1234.5"]),
        ("de", "1.234,5", ["1234.5"]),
        ("en", "1\u00a0234 3,5", ["1234", "3,5", "3", "5"]),
        ("en", "foo_bar fooBar", ["foo_bar", "foo", "bar", "foobar", "foo", "bar"]),
        ("en", "ERR-1042", ["err-1042", "err", "1042"]),
        ("en", "array_push()", ["array_push", "array", "push"]),
        ("en", "HTTPServer", ["httpserver", "http", "server"]),
        ("en", "v2.3.1", ["v2.3.1", "v", "2", "3", "1"]),
        ("en", "ann.lee@x.org", ["ann.lee@x.org", "ann", "lee", "x", "org"]),
        ("en", "well-known", ["well", "known"]),
        ("en", "Ann's C++ C#", ["ann", "c++", "c", "c#", "c"]),
        ("en", "_private __init__", ["privat", "init"]),
        ("ar", "الكِتَاب كتاب", ["كتاب", "كتاب"]),
        ("", "книгами books", ["книг", "book"]),
    ],
)
def test_terms(language: str, text: str, terms: list[str]) -> None:
    assert analyze_terms(text, language) == terms


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("café", "cafe", "en"),
        ("naïve", "NAIVE", "en"),
        ("договоры", "договорами", "ru"),
        ("1\u202f000", "1000", "ru"),
        ("don’t", "don't", "en"),
        ("ﬁne", "fine", "en"),
        ("Ελλάδα", "ΕΛΛΆΔΑ", "el"),
        ("ｶﾀｶﾅ", "カタカナ", "ja"),
    ],
)
def test_spellings_that_meet(one: str, other: str, language: str) -> None:
    assert analyze_terms(one, language) == analyze_terms(other, language)


LANGUAGES = st.sampled_from(["", "en", "ru", "zh", "de", "ar", "ja", "th", "xx"])


HIDDEN = "\u00ad\u034f\u061c\u180e\u200b\u200d\u202e\u202c\u2060\u2063\u2069\ufe0f\ufeff\U000e0041"


@pytest.mark.parametrize("sign", HIDDEN, ids=[f"U+{ord(sign):04X}" for sign in HIDDEN])
def test_a_word_broken_by_what_nobody_sees_is_found(sign: str) -> None:
    assert analyze_terms(f"the pay{sign}ment{sign} terms", "en") == ["the", "payment", "term"]
    assert analyze_query(f"pay{sign}ment", ["en"]) == [("payment",)]


@given(st.text(max_size=60), LANGUAGES)
def test_no_term_is_empty_or_holds_white_space(text: str, language: str) -> None:
    for term in analyze_terms(text, language):
        assert term
        assert term.split() == [term]


@given(st.text(max_size=60), LANGUAGES)
def test_a_question_of_the_text_itself_uses_its_terms(text: str, language: str) -> None:
    terms = set(analyze_terms(text, language))
    groups = analyze_query(text, [language])
    assert {group[0] for group in groups} <= terms
    assert bool(groups) == bool(terms)


@given(st.text("abz ёЯ中7_.-'’\u0301", max_size=40))
def test_every_letter_and_digit_reaches_a_term(text: str) -> None:
    if any(c.isalnum() for c in text):
        assert analyze_terms(text)


def test_a_question_meets_each_document_in_its_language() -> None:
    groups = analyze_query("Häuser", ["de", "en", "de"])
    assert groups == [("haus", "hauser")]


def test_function_words_leave_a_question_but_names_and_negations_stay() -> None:
    assert analyze_query("What is the WHO budget?", ["en"]) == [("who",), ("budget",)]
    assert analyze_query("why not", ["en"]) == [("not",)]
    assert analyze_query("what is that", ["en"]) == [("what",), ("is",), ("that",)]
    assert analyze_query("Кто автор?", ["ru"]) == [("автор",)]


def test_the_memory_of_tokens_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from citespan.text import terms

    monkeypatch.setattr(terms, "_REMEMBERED", 10)
    monkeypatch.setattr(terms, "_memory", {})
    analyze_terms(" ".join(f"word{n}" for n in range(100)), "en")
    assert len(terms._memory["en"]) <= 10
