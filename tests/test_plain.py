"""The lesson, each number worked by hand, then by an independent dense computation in numpy."""

from __future__ import annotations

import ast
import itertools
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan import plain
from citespan.plain import (
    RagPipeline,
    Result,
    VectorStore,
    build_augmented_prompt,
    build_vocabulary,
    chunk_text,
    compute_idf,
    compute_tf,
    cosine_similarity,
    dot_product,
    magnitude,
    tokenize,
    vectorize,
)

WORDS = st.sampled_from(["ant", "bee", "cat", "dog", "eel", "the", "of", "a"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
NUMBERS = st.floats(-1e3, 1e3, allow_nan=False)


# chunk_text


def test_windows_advance_by_size_minus_overlap():
    # size 4, overlap 1 -> steps of 3: words 0-3, 3-6, and 6-8, which ends the text.
    assert chunk_text("a b c d e f g h i", 4, 1) == ["a b c d", "d e f g", "g h i"]


def test_last_window_is_emitted_once():
    # With size 3, overlap 2 the window 2-4 holds the last word; windows 3-4 and 4 repeat its tail.
    assert chunk_text("a b c d e", 3, 2) == ["a b c", "b c d", "c d e"]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_text_without_words_has_no_chunks(text):
    assert chunk_text(text, 3, 1) == []


def test_text_shorter_than_the_window_is_one_chunk():
    assert chunk_text("  only\ntwo ", 10, 3) == ["only two"]


@pytest.mark.parametrize(("size", "overlap"), [(5, 5), (5, 9), (1, 1)])
def test_overlap_not_below_size_is_refused_with_both_numbers(size, overlap):
    with pytest.raises(ValueError, match=rf"overlap \({overlap}\).*chunk_size \({size}\)"):
        chunk_text("a b", size, overlap)


@pytest.mark.parametrize(("size", "overlap", "number"), [(0, 0, "0"), (-2, 0, "-2"), (3, -1, "-1")])
def test_sizes_that_mean_nothing_are_refused(size, overlap, number):
    with pytest.raises(ValueError, match=f"got {number}$"):
        chunk_text("a b", size, overlap)


@given(st.integers(0, 60), st.integers(1, 12), st.data())
def test_windows_cover_each_word_and_share_exactly_the_overlap(count, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    words = [f"w{i}" for i in range(count)]
    windows = [chunk.split() for chunk in chunk_text(" ".join(words), size, overlap)]
    assert all(len(window) <= size for window in windows)
    assert all(len(window) == size for window in windows[:-1])
    for left, right in itertools.pairwise(windows):
        assert left[size - overlap :] == right[:overlap]
        assert len(right) > overlap, "a window of nothing new"
    rebuilt = windows[:1] + [window[overlap:] for window in windows[1:]]
    assert [word for window in rebuilt for word in window] == words


# words and weights

CHUNKS = ["the red kite flies", "the red kettle", "the office"]
VOCABULARY = ["flies", "kettle", "kite", "office", "red", "the"]


def test_words_are_lower_case_runs_of_letters_and_digits():
    assert tokenize("Ärger in Zürich, 24/7: «Да»!") == ["ärger", "in", "zürich", "24", "7", "да"]
    assert tokenize("... --- ") == []


def test_vocabulary_is_sorted_and_holds_each_word_once():
    assert build_vocabulary(CHUNKS) == VOCABULARY
    assert build_vocabulary([]) == []
    assert build_vocabulary(["", "?!"]) == []


def test_tf_is_count_by_length():
    # five words, "red" twice, "kite" once; "sky" and "high" lack a place but count in the length.
    tf = compute_tf("Red sky, red kite, high", VOCABULARY)
    assert tf == {"flies": 0, "kettle": 0, "kite": 1 / 5, "office": 0, "red": 2 / 5, "the": 0}


def test_tf_of_an_empty_text_is_zero():
    assert compute_tf("", ["a", "b"]) == {"a": 0.0, "b": 0.0}


def test_idf_by_hand():
    idf = compute_idf(CHUNKS, VOCABULARY)
    assert idf["kite"] == pytest.approx(0.4054651081081644)  # one of three: ln(3/2)
    assert idf["red"] == 0.0  # two of three: ln(3/3)
    assert idf["the"] == pytest.approx(-0.2876820724517809)  # all three: ln(3/4)


def test_idf_counts_documents_and_not_occurrences():
    assert compute_idf(["a a a", "b", "c"], ["a"])["a"] == pytest.approx(math.log(3 / 2))


def test_idf_of_a_word_that_no_document_holds():
    assert compute_idf(CHUNKS, ["zebra"]) == {"zebra": pytest.approx(math.log(3))}


def test_idf_without_documents_is_zero():
    assert compute_idf([], ["a"]) == {"a": 0.0}


def test_vector_by_hand():
    idf = compute_idf(CHUNKS, VOCABULARY)
    # 4 words. flies 1/4 * ln(3/2) = 0.10137, kite the same, red 1/4 * 0, the 1/4 * -0.28768
    vector = vectorize("the red kite flies", VOCABULARY, idf)
    assert vector == pytest.approx([0.1013663, 0, 0.1013663, 0, 0, -0.0719205], abs=1e-7)


def test_unknown_words_are_lost():
    idf = compute_idf(CHUNKS, VOCABULARY)
    assert vectorize("zebra", VOCABULARY, idf) == [0.0] * 6
    assert vectorize("", VOCABULARY, idf) == [0.0] * 6


# vectors


def test_dot_product_magnitude_cosine_by_hand():
    assert dot_product([1, 2, 3], [4, -5, 6]) == 12  # 4 - 10 + 18
    assert magnitude([2, 3, 6]) == 7  # sqrt(4 + 9 + 36)
    assert cosine_similarity([1, 2, 2], [2, 1, 2]) == pytest.approx(8 / 9)  # (2+2+4) / (3 * 3)
    assert cosine_similarity([1, 0], [-3, 0]) == -1


def test_cosine_with_a_vector_of_zeros_is_zero():
    assert cosine_similarity([0, 0], [1, 2]) == 0
    assert cosine_similarity([0, 0], [0, 0]) == 0
    assert cosine_similarity([], []) == 0


def test_vectors_of_two_vocabularies_are_refused():
    with pytest.raises(ValueError, match="2 and 3"):
        dot_product([1, 2], [1, 2, 3])


VECTORS = st.integers(0, 6).flatmap(
    lambda n: st.tuples(*[st.lists(NUMBERS, min_size=n, max_size=n)] * 2)
)


@given(VECTORS)
def test_vector_functions_equal_numpy(pair):
    a, b = (np.array(v) for v in pair)
    assert dot_product(*pair) == pytest.approx(a @ b, abs=1e-6)
    assert magnitude(pair[0]) == pytest.approx(np.linalg.norm(a), rel=1e-12)


@given(VECTORS, st.floats(0.01, 100))
def test_cosine_is_symmetric_bounded_and_blind_to_length(pair, factor):
    a, b = pair
    cosine = cosine_similarity(a, b)
    assert cosine == cosine_similarity(b, a)
    assert -1 - 1e-12 <= cosine <= 1 + 1e-12
    if magnitude(a) > 1e-9 and magnitude(b) > 1e-9:
        assert cosine_similarity([factor * x for x in a], b) == pytest.approx(cosine, abs=1e-9)


# store


def test_search_by_hand():
    store = VectorStore()
    store.index(CHUNKS)
    # "red kite": red weighs 0, so the query is kite alone, 1/2 * 0.40547.
    # chunk 0 is (flies, kite, the) = (.10137, .10137, -.07192), length .16039: cosine
    # .10137 / .16039 = .63202; the others lack "kite".
    results = store.search("red kite", top_k=3)
    assert [chunk for chunk, _ in results] == CHUNKS
    assert [score for _, score in results] == pytest.approx([0.63202, 0, 0], abs=1e-5)


def test_a_word_of_every_chunk_counts_for_a_match_in_spite_of_its_negative_weight():
    store = VectorStore()
    store.index(CHUNKS)
    scores = [score for _, score in store.search("the", top_k=3)]
    # minus times minus: |the| / length of each chunk; ordered office, kettle, kite.
    # office: .28768 / sqrt(.28768² + .40547²) = .57866; kettle: the same, as red weighs 0;
    # kite: .07192 / .16039 = .44843
    assert scores == pytest.approx([0.57866, 0.57866, 0.44843], abs=1e-5)


def test_single_chunk_has_weights_below_zero_and_is_still_found():
    store = VectorStore()
    store.index(["red kite"])
    assert store.idf == {"kite": math.log(1 / 2), "red": math.log(1 / 2)}
    assert store.search("kite") == [("red kite", pytest.approx(math.sqrt(1 / 2)))]


def test_two_chunks_without_a_shared_word_have_only_zeros():
    store = VectorStore()
    store.index(["red kite", "blue sky"])
    assert set(store.idf.values()) == {0.0}  # ln(2 / 2)
    assert store.search("sky") == [("red kite", 0.0), ("blue sky", 0.0)]


def test_equal_scores_keep_the_order_of_indexing():
    store = VectorStore()
    store.index(["x one", "kite", "y two", "kite", "z three"])
    results = store.search("kite", top_k=5)
    assert [r.chunk for r in results] == ["kite", "kite", "x one", "y two", "z three"]


def test_nothing_indexed_finds_nothing():
    assert VectorStore().search("anything") == []
    store = VectorStore()
    store.index([])
    assert store.search("anything") == []


def test_chunk_without_words_is_kept_and_scores_zero():
    store = VectorStore()
    store.index(["!?", "red kite", "blue kite", "sky"])
    assert store.search("red", top_k=4)[-1].score == 0
    assert ("!?", 0.0) in store.search("red", top_k=4)


def test_top_k_limits_and_is_checked():
    store = VectorStore()
    store.index(CHUNKS)
    assert len(store.search("red", top_k=1)) == 1
    assert len(store.search("red", top_k=99)) == 3
    with pytest.raises(ValueError, match="top_k must be at least 1, got 0"):
        store.search("red", top_k=0)


def test_indexing_again_replaces_everything():
    store = VectorStore()
    store.index(["old words", "older words"])
    store.index(CHUNKS)
    assert store.vocabulary == VOCABULARY
    assert len(store.search("old", top_k=9)) == 3


def dense_scores(chunks: list[str], query: str) -> np.ndarray:
    """Compute all cosines with numpy matrices, without a line of the module under test."""
    split = [chunk.split() for chunk in chunks]
    words = list(dict.fromkeys(word for chunk in split for word in chunk))

    def count(tokens: list[str]) -> np.ndarray:
        return np.array([Counter(tokens)[word] for word in words], dtype=float)

    counts = np.array([count(tokens) for tokens in split]).reshape(len(chunks), len(words))
    idf = np.log(len(chunks) / (1 + (counts > 0).sum(axis=0)))
    vectors, target = counts * idf, count(query.split()) * idf  # lengths cancel in the cosine
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(target)
    return np.divide(vectors @ target, lengths, out=np.zeros(len(chunks)), where=lengths > 0)


@given(st.lists(TEXTS, min_size=1, max_size=7), TEXTS)
def test_scores_equal_a_dense_computation(chunks, query):
    store = VectorStore()
    store.index(chunks)
    results = store.search(query, top_k=len(chunks))
    expected = dense_scores(chunks, query)
    assert [r.score for r in results] == pytest.approx(sorted(expected, reverse=True), abs=1e-9)
    for chunk, score in results:
        assert score == pytest.approx(expected[chunks.index(chunk)], abs=1e-9)
        assert -1e-12 <= score <= 1 + 1e-12, "weights of either sign give cosines from 0 to 1"


# prompt


def test_prompt_holds_the_rules_the_numbered_sources_and_the_question():
    prompt = build_augmented_prompt("How long?", [Result("Two years.", 0.9), ("At nine.", 0.1)])
    assert "ONLY" in prompt
    assert "I don't know based on the provided context." in prompt
    assert "[Source 1]\nTwo years.\n\n[Source 2]\nAt nine.\n\nQuestion: How long?" in prompt
    assert "0.9" not in prompt


# pipeline


class FakeClient:
    """Records what it is asked, and answers with what it was given."""

    def __init__(self, content: str | None = "Two years [Source 1].") -> None:
        self.calls: list[dict] = []
        self.content = content
        self.chat = SimpleNamespace(completions=self)

    def create(self, *, model, messages):
        self.calls.append({"model": model, "messages": messages})
        message = SimpleNamespace(content=self.content)
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


TEXT = "The kettle has a guarantee of two years . The office opens at nine . Bring your own lunch ."


def test_pipeline_indexes_once_and_asks_many_times(monkeypatch):
    calls = Counter()
    index = VectorStore.index
    monkeypatch.setattr(
        VectorStore, "index", lambda self, c: (calls.update(["index"]), index(self, c))[1]
    )
    client = FakeClient()
    pipeline = RagPipeline(client, model="some-model", chunk_size=9, overlap=0, top_k=1)
    assert pipeline.build_index(TEXT) == 3
    assert pipeline.answer("How long is the guarantee?") == "Two years [Source 1]."
    pipeline.answer("When does the office open?")
    assert calls["index"] == 1
    assert [call["model"] for call in client.calls] == ["some-model"] * 2
    first, second = (call["messages"][0]["content"] for call in client.calls)
    assert "[Source 1]\nThe kettle has a guarantee of two years ." in first
    assert "office opens" in second
    assert "[Source 2]" not in first


def test_pipeline_takes_several_texts_and_never_joins_them():
    pipeline = RagPipeline(FakeClient(), chunk_size=50, overlap=5)
    assert pipeline.build_index(["one text", "another text", ""]) == 2
    assert pipeline.store.chunks == ["one text", "another text"]


def test_asking_before_indexing_says_what_to_do():
    with pytest.raises(ValueError, match="call build_index"):
        RagPipeline(FakeClient()).answer("Hello?")


def test_empty_corpus_refuses_without_a_call():
    client = FakeClient()
    pipeline = RagPipeline(client)
    assert pipeline.build_index("") == 0
    assert pipeline.answer("Hello?") == "I don't know based on the provided context."
    assert client.calls == []


def test_reply_without_content_is_an_empty_answer():
    pipeline = RagPipeline(FakeClient(content=None))
    pipeline.build_index("Some text.")
    assert pipeline.answer("Hello?") == ""


@pytest.mark.parametrize("wrong", [{"chunk_size": 5, "overlap": 5}, {"top_k": 0}])
def test_pipeline_refuses_wrong_settings_at_once(wrong):
    with pytest.raises(ValueError, match=r"5.*5|got 0"):
        RagPipeline(FakeClient(), **wrong)


def test_nothing_but_math_and_collections_is_imported():
    tree = ast.parse(Path(plain.__file__).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported == {"math", "collections"}
