"""The sparse index equals the lesson of ``citespan.plain``, and stays sparse."""

from __future__ import annotations

import itertools
import math
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan import plain
from citespan.errors import InputError
from citespan.retrieve.tfidf import TfidfIndex
from support import ROOT

WORDS = st.sampled_from(["ant", "bee", "cat", "dog", "eel", "fox", "the", "of", "a"])
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)


def plain_ranking(chunks: list[str], query: str) -> list[tuple[int, float]]:
    """Rank all chunks with the lesson's store; chunks are told apart by their number."""
    store = plain.VectorStore()
    store.index(chunks)
    target = plain.vectorize(query, store.vocabulary, store.idf)
    scores = [plain.cosine_similarity(target, vector) for vector in store.vectors]
    order = sorted(range(len(chunks)), key=lambda i: scores[i], reverse=True)
    assert [chunks[i] for i in order] == [r.chunk for r in store.search(query, len(chunks))]
    return [(i, scores[i]) for i in order]


def assert_same(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    assert [i for i, _ in found] == [i for i, _ in expected]
    assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-9)


def test_weights_and_scores_by_hand():
    index = TfidfIndex().fit(["the red kite flies", "the red kettle", "the office"])
    assert index.vocabulary == ["flies", "kettle", "kite", "office", "red", "the"]
    assert index.idf("kite") == math.log(3 / 2)
    assert index.idf("red") == 0
    assert index.idf("the") == math.log(3 / 4)
    assert index.idf("zebra") == 0
    # As worked out in tests/test_plain.py: .10137 / .16039
    assert index.search("red kite", k=3) == [(0, pytest.approx(0.63202, abs=1e-5)), (1, 0), (2, 0)]


def own_prose() -> list[str]:
    """Chunk the project's own texts: a corpus that is always at hand."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]
    texts.append(Path(plain.__file__).read_text(encoding="utf-8"))
    return [chunk for text in texts for chunk in plain.chunk_text(text, 60, 20)][:150]


@pytest.mark.parametrize(
    "query",
    [
        "why is the query vectorised with the vocabulary of the documents",
        "cosine of a zero vector",
        "What does a negative weight do, and why?",
        "quetzalcoatl",
        "",
    ],
)
def test_ranking_and_scores_equal_plain_on_real_prose(query):
    chunks = own_prose()
    assert len(chunks) > 30
    index = TfidfIndex().fit(chunks)
    assert_same(index.search(query, len(chunks)), plain_ranking(chunks, query))


@given(st.lists(TEXTS, min_size=1, max_size=9), TEXTS, st.integers(1, 10))
def test_ranking_and_scores_equal_plain(chunks, query, k):
    index = TfidfIndex().fit(chunks)
    assert_same(index.search(query, k), plain_ranking(chunks, query)[:k])


@given(st.lists(TEXTS, min_size=1, max_size=9), TEXTS)
def test_terms_give_what_their_text_gives(chunks, query):
    by_text, by_terms = TfidfIndex().fit(chunks), TfidfIndex().fit(c.split() for c in chunks)
    assert by_text.search(query, 9) == by_terms.search(query.split(), 9)


@given(st.lists(TEXTS, min_size=1, max_size=9), TEXTS)
def test_explained_parts_sum_to_the_score(chunks, query):
    index = TfidfIndex().fit(chunks)
    for number, score in index.search(query, len(chunks)):
        parts = index.explain(query, number)
        assert sum(parts.values()) == pytest.approx(score, abs=1e-12)
        assert set(parts) <= set(query.split()) & set(chunks[number].split())


def test_ties_go_to_the_lower_number_also_at_the_cut():
    index = TfidfIndex().fit(["kite"] * 4 + ["sky", "sea", "sun"])
    assert [i for i, _ in index.search("kite", k=2)] == [0, 1]
    assert [i for i, _ in index.search("kite", k=6)] == [0, 1, 2, 3, 4, 5]
    assert [i for i, _ in index.search("zebra", k=3)] == [0, 1, 2]


def test_own_analyser_serves_chunks_and_queries():
    index = TfidfIndex(analyze=lambda text: [w[:3] for w in text.split()])
    index.fit(["kettles boil", "kites fly", "offices open"])
    assert index.search("kettledrum", k=1)[0] == (0, pytest.approx(math.sqrt(1 / 2)))


def test_nothing_or_nothing_but_blanks():
    assert TfidfIndex().fit([]).search("kite") == []
    assert TfidfIndex().fit(["", "!?"]).search("kite") == [(0, 0.0), (1, 0.0)]
    assert TfidfIndex().fit([[], ["kite"], ["sky"]]).search(["kite"], 1) == [(1, 1.0)]


def test_fitting_again_replaces_everything():
    index = TfidfIndex().fit(["old words", "older words", "x"]).fit(["new", "newer"])
    assert len(index) == 2
    assert index.vocabulary == ["new", "newer"]


def test_wrong_use_is_said_in_one_line_with_the_fix():
    with pytest.raises(InputError, match="call fit"):
        TfidfIndex().search("kite")
    with pytest.raises(InputError, match=r"k = 0.*use k >= 1"):
        TfidfIndex().fit(["kite"]).search("kite", 0)
    with pytest.raises(InputError, match=r"fit\(\[text\]\)"):
        TfidfIndex().fit("kite")
    with pytest.raises(InputError, match="no chunk 1; 1 are indexed"):
        TfidfIndex().fit(["kite"]).explain("kite", 1)


CHUNKS, TERMS = 100_000, 500_000


def zipf_chunks() -> Iterator[list[str]]:
    """Yield 100,000 chunks of 16 terms: 11 as frequent as in language, 5 that occur just once."""
    names = [f"t{i:06}" for i in range(TERMS)]
    draws = np.random.default_rng(7).zipf(1.2, size=(CHUNKS, 11)) % TERMS
    for number, row in enumerate(draws):
        rare = names[number * 5 : number * 5 + 5]
        yield [*rare, *(names[i] for i in row.tolist())]


def test_large_collection_needs_no_dense_matrix():
    # Dense, the matrix is 100,000 x 500,000 x 8 bytes = 400 GB. Sparse, it has at most 1.6 million
    # entries of 8 + 4 bytes; the rest of the measured peak is the vocabulary's dictionary and
    # strings, and the arrays of a step that are alive at once (190 MB when this was written).
    chunks = zipf_chunks()
    first = next(chunks)  # the draws and names are made here, outside what is measured
    tracemalloc.start()
    try:
        index = TfidfIndex().fit(itertools.chain([first], chunks))
        _, peak = tracemalloc.get_traced_memory()
        assert (len(index), len(index.vocabulary)) == (CHUNKS, TERMS)
        assert peak < 300e6, f"{peak / 1e6:.0f} MB"

        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for number in random.Random(7).sample(range(CHUNKS), 20):
            query = [f"t{number * 5:06}", f"t{number * 5 + 1:06}", "t000001"]
            assert index.search(query, k=10)[0][0] == number
        _, peak = tracemalloc.get_traced_memory()
        # A few numbers a chunk, never a row a chunk.
        assert peak - before < 60 * CHUNKS, f"{(peak - before) / 1e6:.1f} MB"
    finally:
        tracemalloc.stop()
