"""Sentences: the cases that other splitters' users have reported, and the laws."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.errors import InputError, MissingExtraError
from citespan.text.engines import ENGINES
from citespan.text.sentences import LONGEST, WINDOW, split_sentences

CASES = [
    ("ru", ["А. С. Пушкин родился в Москве.", "Он писал стихи."]),
    ("ru", ["Это было в г. Москва на ул. Тверская.", "Потом он уехал."]),
    ("ru", ["Он читал много, т. е. каждый день.", "И ел хлеб, сыр и т. д. каждый день."]),
    ("ru", ["Встреча прошла в 1999 г. в Казани.", "Цена выросла на 2 тыс. руб. за год."]),
    ("ru", ["Ты придёшь?", "Да!", "Хорошо…"]),
    ("ru", ["«Я приду», — сказал И. И. Иванов.", "Он не пришёл."]),
    ("zh", ["他说：“好的。”", "然后走了。", "真的吗？！", "是的。"]),
    ("zh", ["第一句。", "第二句！", "「第三句。」", "第四句……", "完"]),
    ("zh", ["圆周率是3.14。", "对吗？"]),
    ("ja", ["吾輩は猫である。", "名前はまだ無い。"]),
    ("en", ["Dr. Smith met Mr. J. R. Jones at 3 p.m. on Monday.", "They left."]),
    ("en", ["It costs 3.50 dollars, e.g. in the U.S. today.", 'She said "No."', "He left."]),
    ("en", ["(It was late.)", "Nobody came."]),
    ("en", ["See www.example.com for more.", "Version 2.3.1 is out!"]),
    ("de", ["Das kostet ca. 5 Euro.", "Dr. Müller kam z. B. am Montag."]),
    ("es", ["¿Qué es esto?", "El Sr. García lo sabe."]),
    ("fr", ["M. Dupont est là.", "Il dit : « Bonjour. »", "Puis il part."]),
]


@pytest.mark.parametrize(("language", "sentences"), CASES, ids=lambda v: str(v)[:30])
def test_sentences_end_where_a_reader_ends_them(language: str, sentences: list[str]) -> None:
    for joiner in ("", " ") if language in ("zh", "ja") else (" ", "  "):
        text = joiner.join(sentences)
        assert [text[s:e] for s, e in split_sentences(text, language)] == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("# Title\nBody of it.", ["# Title", "Body of it."]),
        ("Items:\n- one\n- two\n1. three", ["Items:", "- one", "- two", "1. three"]),
        ("First\n\nSecond", ["First", "Second"]),
        ("First\r\n\r\nSecond", ["First", "Second"]),
        ("First\n \t\nSecond", ["First", "Second"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        ("name: Ann\nage: 3", ["name: Ann", "age: 3"]),
        (
            "Scope\n" + "This line goes on and on. " * 9,
            ["Scope", *["This line goes on and on."] * 9],
        ),
        # Hard-wrapped text: the break ends nothing.
        (
            "A paragraph wrapped by an editor at\nsome forty letters, as mail is. It has\ntwo.",
            [
                "A paragraph wrapped by an editor at\nsome forty letters, as mail is.",
                "It has\ntwo.",
            ],
        ),
    ],
)
def test_the_layout_ends_sentences_too(text: str, sentences: list[str]) -> None:
    assert [text[s:e] for s, e in split_sentences(text, "en")] == sentences


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_nothing_gives_nothing(text: str) -> None:
    assert split_sentences(text) == []


def test_one_word_is_one_sentence() -> None:
    assert split_sentences("word") == [(0, 4)]


def check_laws(text: str, spans: list[tuple[int, int]]) -> None:
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


ALPHABET = st.sampled_from('aB1.。!？?…"”’»«)( \n\r\t\u3000\x0c-#|中文яЖ😀é\u0301\u2028,:;')


@given(st.text(ALPHABET | st.characters(exclude_categories=["Cs"]), max_size=80))
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize("language", ["en", "ru", "zh", "ar", "xx"])
def test_sentences_are_trimmed_disjoint_and_cover_all(language: str, text: str) -> None:
    check_laws(text, split_sentences(text, language))


@pytest.mark.parametrize(
    "unit", ["a", "中", "слово ", "word ", ". ", '"', "。", "Он жил. ", "\n", "- x\n"]
)
def test_long_texts_end_and_keep_the_laws(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    spans = split_sentences(text)
    check_laws(text, spans)
    assert all(end - start <= WINDOW + 10 for start, end in spans)


def test_an_engine_sees_a_bounded_share_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear: what the engine reads in all grows as the text does, whatever the text."""
    seen: list[int] = []

    def cutter(text: str, language: str) -> list[int]:
        seen.append(len(text))
        return []

    monkeypatch.setitem(ENGINES, "counting", cutter)
    for length in (50_000, 500_000):
        seen.clear()
        split_sentences("a" * length, "en", engine="counting")
        assert sum(seen) <= 2 * length
        assert max(seen) <= WINDOW


def test_repeated_text_keeps_its_own_places() -> None:
    text = "Same. Same. Same."
    assert split_sentences(text, "en") == [(0, 5), (6, 11), (12, 17)]


def test_an_unknown_engine_names_the_known() -> None:
    with pytest.raises(InputError, match="sentencex"):
        split_sentences("a", "en", engine="nope")


@pytest.mark.parametrize("engine", ["spacy", "nltk", "razdel"])
def test_an_absent_engine_names_its_package(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from citespan.text import engines

    engines._load_punkt.cache_clear()
    engines._load_spacy.cache_clear()
    for name in ("spacy", "nltk", "nltk.tokenize.punkt", "razdel"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=engine):
        split_sentences("A b.", "en", engine=engine)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("word " * 4_000, " "),
        ("one thing, another thing " * 400, ","),
        ("一個東西，" * 2_000, "，"),
        ("x" * 9_000, "x"),
    ],
)
def test_no_sentence_is_longer_than_the_longest(text: str, ends: str) -> None:
    spans = split_sentences(text, "zh" if "，" in text else "en")
    assert max(end - start for start, end in spans) <= LONGEST
    assert min(end - start for start, end in spans[:-1]) >= LONGEST // 2 - 1
    kept = "".join(text[start:end] for start, end in spans)
    assert kept.split() == text.split() or "".join(kept.split()) == "".join(text.split())
    if ends.strip():
        assert {text[end - 1] for _, end in spans[:-1]} == {ends}
