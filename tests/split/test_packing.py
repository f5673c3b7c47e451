"""Windows, packing and minimum sizes, worked by hand."""

from __future__ import annotations

import pytest

from citespan.split.paragraphs import ParagraphSplitter
from citespan.split.ruler import LONGEST_WORD, Ruler
from citespan.split.sentences import SentenceSplitter
from citespan.split.tokens import TokenSplitter
from citespan.split.words import WordSplitter
from citespan.types import Document, Section


def document(text: str, sections: tuple[Section, ...] = ()) -> Document:
    return Document("d", "d", text, language="en", sections=sections)


SIX = "A one. B two. C three. D four. E five. F six."


def test_windows_step_by_size_less_overlap_and_end_once() -> None:
    text = " ".join(str(n) for n in range(10))
    chunks = WordSplitter(size=4, overlap=2).split(document(text))
    assert [c.text for c in chunks] == ["0 1 2 3", "2 3 4 5", "4 5 6 7", "6 7 8 9"]
    assert [c.overlap for c in chunks] == [0, 3, 3, 3]


def test_sentences_are_packed_and_overlap_is_whole_sentences() -> None:
    chunks = SentenceSplitter(size=3, overlap=1, unit="sentences").split(document(SIX))
    assert [c.text for c in chunks] == [
        "A one. B two. C three.",
        "C three. D four. E five.",
        "E five. F six.",
    ]
    assert [c.overlap for c in chunks] == [0, len("C three."), len("E five.")]


def test_the_last_chunk_is_no_shard() -> None:
    text = "One two three four five. " * 4 + "End."
    chunks = SentenceSplitter(size=20, unit="words", minimum=5).split(document(text))
    assert [len(c.text.split()) for c in chunks] == [15, 6]


def test_a_section_begins_a_chunk_unless_that_makes_a_shard() -> None:
    text = "One two three four. Five six seven. Head here. Body of it all."
    at = text.index("Head")
    sections = (Section("Head", 1, at, len(text)),)
    chunks = SentenceSplitter(size=50, unit="words", minimum=4).split(document(text, sections))
    assert [c.start for c in chunks] == [0, at]
    chunks = SentenceSplitter(size=50, unit="words", minimum=9).split(document(text, sections))
    assert [c.start for c in chunks] == [0]


def test_a_sentence_longer_than_the_size_is_cut_at_white_space() -> None:
    text = "word " * 25 + "end."
    chunks = SentenceSplitter(size=10, unit="words").split(document(text))
    assert all(len(c.text.split()) <= 10 for c in chunks)
    assert " ".join(c.text for c in chunks) == text


def test_paragraphs_are_joined_up_to_the_minimum_and_cut_at_sentence_ends() -> None:
    text = "One.\n\nTwo three four.\n\nFive six seven.\n\n" + "Eight nine ten. " * 5
    chunks = ParagraphSplitter(size=10, unit="words", minimum=3).split(document(text))
    assert [c.text for c in chunks] == [
        "One.\n\nTwo three four.",
        "Five six seven.",
        "Eight nine ten. Eight nine ten. Eight nine ten.",
        "Eight nine ten. Eight nine ten.",
    ]


def test_token_windows_count_special_tokens() -> None:
    def count(texts: list[str]) -> list[int]:
        return [2 + len(text.split()) for text in texts]

    chunks = TokenSplitter(size=5, overlap=1, count_tokens=count).split(document("a b c d e f"))
    assert [c.text for c in chunks] == ["a b c", "c d e", "e f"]


@pytest.mark.parametrize(
    ("text", "unit", "size"),
    [
        ("one two", "words", 2),
        ("中文字", "words", 3),
        ("x" * 81, "words", 3),
        ("abc", "characters", 3),
    ],
)
def test_what_a_word_is(text: str, unit: str, size: int) -> None:
    ruler = Ruler(text, unit, 100)  # type: ignore[arg-type]
    assert ruler.measure(0, len(text)) == size
    assert LONGEST_WORD == 40
