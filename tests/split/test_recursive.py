"""Equality with LangChain's splitter, on the public texts and by Hypothesis."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.split.recursive import RecursiveSplitter
from citespan.types import Document
from support import bench_dir


def split_theirs(text: str, size: int, overlap: int) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap)
    return splitter.split_text(text)


def drop_repeats(chunks: list[str]) -> list[str]:
    """What we leave out on purpose: a chunk that its neighbour begins or ends with."""
    kept: list[str] = []
    for chunk in chunks:
        while kept and chunk.startswith(kept[-1]):
            kept.pop()
        if not (kept and kept[-1].endswith(chunk)):
            kept.append(chunk)
    return kept


def split_ours(text: str, size: int, overlap: int) -> list[str]:
    chunks = RecursiveSplitter(size=size, overlap=overlap).split(Document("d", "d", text))
    assert all(text[c.start : c.end] == c.text for c in chunks)
    return [c.text for c in chunks]


@pytest.mark.parametrize(("size", "overlap"), [(256, 50), (1000, 200), (40, 0)])
@pytest.mark.parametrize("folder", ["xquad_en", "xquad_ru", "xquad_zh", "phpdoc_zh", "phpdoc_en"])
def test_equal_to_langchain_on_public_texts(folder: str, size: int, overlap: int) -> None:
    lines = (bench_dir(folder) / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines[:100]]
    for text in (*texts, "\n\n".join(texts[:20])):
        assert split_ours(text, size, overlap) == split_theirs(text, size, overlap)


@given(
    st.text(st.sampled_from("ab中 \n"), max_size=120) | st.text(max_size=60),
    st.integers(2, 20),  # At 1 theirs keeps lone spaces as chunks.
    st.integers(0, 10),
)
@settings(deadline=None, max_examples=300)
def test_equal_to_langchain_but_for_its_repeats(text: str, size: int, overlap: int) -> None:
    if overlap < size:
        # Texts such as "aa aa" repeat by themselves; compare what no neighbour holds.
        ours = split_ours(text, size, overlap)
        assert drop_repeats(ours) == drop_repeats(split_theirs(text, size, overlap))


def test_repeated_text_has_its_own_offsets() -> None:
    text = "same words here. " * 100
    chunks = RecursiveSplitter(size=60, overlap=20).split(Document("d", "d", text))
    assert [c.text for c in chunks] == split_theirs(text, 60, 20)
    assert chunks[0].start == 0
    assert chunks[-1].end == len(text.rstrip())
    assert all(a.start < b.start <= a.end for a, b in pairwise(chunks))
    assert all(c.overlap > 0 for c in chunks[1:])


def test_a_custom_list_of_separators_still_keeps_the_maximum() -> None:
    splitter = RecursiveSplitter(size=10, overlap=0, separators=["\n"])
    chunks = splitter.split(Document("d", "d", "a" * 95 + "\n" + "b" * 5))
    assert max(len(c.text) for c in chunks) == 10
