"""What every splitter promises, whoever wrote it.

Add a factory to ``SPLITTERS`` to hold yours to it. A factory takes ``size``, ``overlap``, ``unit``
and ``count_tokens`` and returns a splitter.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.protocols import Splitter
from citespan.split.code import CodeSplitter
from citespan.split.html import HtmlSplitter
from citespan.split.markdown import MarkdownSplitter
from citespan.split.paragraphs import ParagraphSplitter
from citespan.split.recursive import RecursiveSplitter
from citespan.split.ruler import UNITS, Unit
from citespan.split.semantic import SemanticChunker
from citespan.split.sentences import SentenceSplitter
from citespan.split.tokens import TokenSplitter
from citespan.split.words import WordSplitter
from citespan.text import split_sentences
from citespan.tokens import estimate_tokens
from citespan.types import Chunk, Document

SPLITTERS: dict[str, Callable[..., Splitter]] = {
    "words": WordSplitter,
    "recursive": RecursiveSplitter,
    "sentences": SentenceSplitter,
    "paragraphs": ParagraphSplitter,
    "tokens": TokenSplitter,
    "markdown": MarkdownSplitter,
    "html": HtmlSplitter,
    "code": CodeSplitter,
    "semantic": SemanticChunker,
}

each_splitter = pytest.mark.parametrize("make", SPLITTERS.values(), ids=SPLITTERS.keys())

TEXTS = {
    "empty": "",
    "blank": " \n\t\u3000\n",
    "one word": "word",
    "one sentence": "  This is one sentence.\n",
    "repeated": "The same line again.\n" * 60,
    "repeated paragraphs": "Same one. Same two.\n\n" * 40,
    "one long token": "x" * 3000,
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkw" * 50,
    "chinese": "他说：“好的。”然后走了。真的吗？！是的，我们在北京大学读书。" * 30,
    "chinese without marks": "中" * 1500,
    "russian": "А. С. Пушкин жил в г. Москва, т. е. в столице. Он писал. " * 25,
    "emoji": "👩‍👩‍👧 e\u0301 " * 100,
    "markdown": "# A\n\nOne two. Three.\n\n## B\n\n| x | y |\n|---|---|\n"
    + "".join(f"| row {n} | {n * n} |\n" for n in range(40))
    + "\n```python\n" + "print('a')\n" * 40 + "```\n\n- item one\n- item two\n\n[a]: http://b.c\n",
    "html": "<!-- <p> --><html><body><h1>A &amp; B</h1><p>One two. Three.<table><tr><th>k</th></tr>"
    + "<tr><td>value</td></tr>" * 40
    + "</table><h2>C</h2><pre>" + "code line\n" * 50 + "</pre><div>End.</div>tail",
    "broken html": "<table><tr><p><h1>never closed <pre> <!-- open",
    "code": "import os\n\n\n" + "class A:\n    x = 1\n\n"
    + "".join(f"    def f{n}(self):\n        return {n}\n\n" for n in range(30)) + "\nmain()\n",
    "windows lines": "# One\r\n\r\nTwo.\r\n\r\n" * 30,
    "form feeds": "Page one.\x0cPage two.\x0c" * 30,
    "hard-wrapped": "A line of a letter that some\nprogram wrapped at\nthirty letters. " * 20,
}  # fmt: skip

each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def make_document(text: str, language: str = "") -> Document:
    return Document("d", "d", text, language=language)


def count_pieces(texts: Sequence[str]) -> list[int]:
    """A model's count: two special tokens, and a token for each three letters begun of a word."""
    return [2 + sum(-(-len(word) // 3) for word in text.split()) for text in texts]


def count_joined(texts: Sequence[str]) -> list[int]:
    """A tokenizer whose words do not add up: each space costs too, and so does each fifth word."""
    return [1 + len(text) + len(text.split()) // 5 for text in texts]


def measure(chunk: Chunk, document: Document, unit: Unit) -> int:
    """Count a chunk with its context; written apart from the splitters' own ruler."""
    whole = f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
    if unit == "characters":
        return len(whole)
    if unit == "words":
        return len(whole.split())
    if unit == "tokens":
        return estimate_tokens(whole)
    sentences = list_sentences(document.text, document.language)
    return sum(s < chunk.end and e > chunk.start for s, e in sentences)


@lru_cache(maxsize=4)
def list_sentences(text: str, language: str) -> list[tuple[int, int]]:
    return list(split_sentences(text, language))


def check_laws(document: Document, chunks: list[Chunk]) -> None:
    text = document.text
    covered = 0
    for order, chunk in enumerate(chunks):
        assert chunk.document_id == document.id
        assert chunk.order == order
        assert len(chunk.spans) == 1
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text
        assert chunk.text == chunk.text.strip()
        assert not text[covered : chunk.start].strip()
        covered = max(covered, chunk.end)
    assert not text[covered:].strip()
    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end
        assert other.overlap == max(0, one.end - other.start)
    if chunks:
        assert chunks[0].overlap == 0


SIZES: list[tuple[Unit, int, int]] = [
    ("words", 20, 5), ("words", 3, 2), ("words", 1, 0), ("characters", 100, 30),
    ("characters", 7, 3), ("characters", 1, 0), ("tokens", 40, 10), ("tokens", 5, 0),
    ("sentences", 3, 1), ("sentences", 1, 0),
]  # fmt: skip


@each_splitter
@each_text
def test_every_text_keeps_the_laws_and_the_maximum(
    make: Callable[..., Splitter], text: str
) -> None:
    document = make_document(text)
    for unit, size, overlap in SIZES:
        chunks = make(size=size, overlap=overlap, unit=unit).split(document)
        check_laws(document, chunks)
        for chunk in chunks:
            assert measure(chunk, document, unit) <= size, (unit, size, chunk)


@each_splitter
@each_text
@pytest.mark.parametrize("count", [count_pieces, count_joined])
def test_the_embedders_own_count_is_kept(
    make: Callable[..., Splitter], text: str, count: Callable[[Sequence[str]], list[int]]
) -> None:
    document = make_document(text)
    chunks = make(size=30, overlap=5, unit="tokens", count_tokens=count).split(document)
    check_laws(document, chunks)
    for chunk in chunks:
        whole = f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
        assert count([whole])[0] <= 30


@each_splitter
@each_text
def test_the_default_sizes_work(make: Callable[..., Splitter], text: str) -> None:
    check_laws(make_document(text), make().split(make_document(text)))


ALPHABET = st.sampled_from('ab .。！\n\r\t#|-`<>/ph1中яЁ"”é\u0301\u2028\x0c(){};:')
ANY = st.text(ALPHABET | st.characters(exclude_categories=["Cs"]), max_size=120)


@each_splitter
@given(text=ANY, unit=st.sampled_from(UNITS), size=st.integers(1, 12), data=st.data())
@settings(max_examples=50, deadline=None)
def test_any_text_keeps_the_laws_and_the_maximum(
    make: Callable[..., Splitter], text: str, unit: Unit, size: int, data: Any
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    document = make_document(text, "en")
    chunks = make(size=size, overlap=overlap, unit=unit).split(document)
    check_laws(document, chunks)
    assert all(measure(chunk, document, unit) <= size for chunk in chunks)


@each_splitter
@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (1, 1)])
def test_an_overlap_that_stands_still_is_refused(
    make: Callable[..., Splitter], size: int, overlap: int
) -> None:
    with pytest.raises(InputError, match=rf"{overlap}\b.*\b{size}\b"):
        make(size=size, overlap=overlap)


@each_splitter
@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"size": -3}, {"overlap": -1}, {"unit": "bytes"}, {"size": 2.5}]
)
def test_impossible_sizes_are_refused_when_it_is_made(
    make: Callable[..., Splitter], wrong: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        make(**wrong)


@each_splitter
def test_a_size_that_special_tokens_fill_is_refused(make: Callable[..., Splitter]) -> None:
    with pytest.raises(InputError, match="special"):
        make(size=2, overlap=0, unit="tokens", count_tokens=count_pieces)


@each_splitter
def test_naming_a_small_size_alone_clashes_with_no_default(make: Callable[..., Splitter]) -> None:
    assert make(size=3).split(make_document("one two"))


@each_splitter
def test_settings_are_json_and_tell_splitters_apart(make: Callable[..., Splitter]) -> None:
    one, other = make(size=20), make(size=30)
    assert isinstance(one, Splitter)
    assert json.loads(json.dumps(one.settings())) == one.settings()
    assert one.settings() != other.settings()
    assert one.settings() == make(size=20).settings()


@each_splitter
def test_the_same_text_gives_the_same_chunks(make: Callable[..., Splitter]) -> None:
    document = make_document(TEXTS["markdown"])
    assert make().split(document) == make().split(document)


UNITS_OF_TEXT = {
    "prose": "One two three. Four five!\n\n",
    "one token": "x",
    "chinese": "中",
    "headings": "# A\n",
    "rows": "| a | b |\n",
    "fences": "```\n",
    "quotes": "> ",
    "tags": "<p>",
    "open tags": "<a ",
    "comments": "<!--",
    "tables": "<table><tr>",
    "deeper": "if x:\n ",
    "blank lines": "\n",
    "marks": ".",
}


def count_calls(work: Callable[[], object]) -> int:
    """Count the calls that a piece of work makes: its time, on a machine without neighbours."""
    calls = 0

    def see(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@each_splitter
@pytest.mark.parametrize("unit", UNITS_OF_TEXT.values(), ids=UNITS_OF_TEXT.keys())
def test_the_work_grows_as_the_text_does(make: Callable[..., Splitter], unit: str) -> None:
    splitter = make(size=50, overlap=0)
    short, long = (make_document(unit * (n // len(unit)), "en") for n in (1_000, 4_000))
    splitter.split(make_document("Load what is loaded once. Now.", "en"))
    few = count_calls(lambda: splitter.split(short))
    many = count_calls(lambda: splitter.split(long))
    assert many <= 6 * few + 1_000
