"""What every store must do; a new one joins by a line in ``STORES``."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from citespan.errors import StoreError
from citespan.protocols import Filter, Store
from citespan.stores import open_store
from citespan.stores.chroma import open_chroma_store
from citespan.types import Chunk, Span
from store_parts import (
    analyze,
    bm25_scores,
    make_document,
    make_vectors,
    rich_document,
)

Make = Callable[..., Store]

STORES: dict[str, Make] = {
    "sqlite": lambda path: open_store(path, create_settings={"name": "x"}, analyze=analyze),
    "sqlite-faiss": lambda path: open_store(
        path, create_settings={"name": "x"}, analyze=analyze, exact_limit=4
    ),
    "chroma": lambda path: open_chroma_store(path, create_settings={"name": "x"}, analyze=analyze),
    "chroma-http": lambda path, url: open_chroma_store(
        path, create_settings={"name": "x"}, analyze=analyze, url=url
    ),
}


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    name = request.param
    if name.startswith("chroma"):
        pytest.importorskip("chromadb", reason="the extra chroma is not installed")
    server = [request.getfixturevalue("chroma_url")] if name == "chroma-http" else []
    made = STORES[name](tmp_path / "index", *server)
    yield made
    made.close()


def texts_of(store: Store, hits: list[tuple[int, float]]) -> list[str]:
    return [chunk.text for chunk in store.get_chunks([key for key, _ in hits])]


def fill(store: Store) -> dict[str, list[int]]:
    """Store four documents of two chunks; return their chunk keys by source."""
    parts = {
        "guide/tea.md": ("green tea from japan", "black tea from china"),
        "guide/coffee.md": ("coffee from brazil", "green coffee beans"),
        "notes/2024/may.txt": ("tea tea tea", "we met in may"),
        "notes/june.txt": ("we met in june", "no drinks"),
    }
    languages = {"guide/tea.md": "en", "notes/june.txt": "de"}
    keys = {}
    for i, (source, chunks) in enumerate(parts.items()):
        document, cut = make_document(
            source,
            *chunks,
            language=languages.get(source, ""),
            title=source.split("/")[-1].title(),
            metadata={"team": "a" if i % 2 else "b", "n": str(i)},
        )
        store.write(document, cut, make_vectors(2, seed=i), fingerprint=f"f{i}")
        keys[source] = store.chunk_keys(document.id)
    return keys


def test_an_empty_store_finds_nothing(store: Store) -> None:
    assert store.search_terms([("tea",)], 5) == []
    assert store.search_vector(make_vectors(1)[0], 5) == []
    assert store.list_documents() == []
    assert store.get_document("x") is None
    assert store.chunk_keys("x") == []
    assert store.get_sentences("x") == []
    assert store.get_fingerprints() == {}
    assert store.count_chunks() == 0
    assert store.get_chunks([]) == []
    assert store.score_terms([("tea",)], []) == []
    assert store.remove(["x"]) == 0
    statistics = store.term_statistics(["tea"])
    assert (statistics.chunks, statistics.frequencies) == (0, {"tea": 0})


def test_a_document_comes_back_as_it_was(store: Store) -> None:
    document = rich_document()
    chunks = [
        Chunk(document.id, 0, (Span(0, 7),), document.text[:7], context="H > ü", overlap=0),
        Chunk(document.id, 1, (Span(3, 9), Span(11, 14)), "code 北…end", overlap=4),
    ]
    store.write(document, chunks, fingerprint="abc")
    assert store.get_document("rich") == document
    assert store.get_chunks(store.chunk_keys("rich")) == chunks
    (info,) = store.list_documents()
    assert (info.id, info.source, info.title, info.language) == ("rich", "a/b.pdf", "Title", "de")
    assert (info.length, info.chunks, info.fingerprint) == (len(document.text), 2, "abc")
    assert store.get_fingerprints() == {"a/b.pdf": "abc"}


def test_sentences_come_back_by_number(store: Store) -> None:
    document, chunks = make_document("s.txt", "x" * 300)
    spans = [Span(i, i + 1) for i in range(150)]
    vectors = make_vectors(150)
    store.write(document, chunks, make_vectors(1), sentences=spans, sentence_vectors=vectors)
    everything = store.get_sentences(document.id)
    assert [row.span for row in everything] == spans
    assert [row.order for row in everything] == list(range(150))
    for first, last in ((0, 1), (60, 70), (63, 65), (64, 128), (140, 900), (149, 150), (5, 5)):
        rows = store.get_sentences(document.id, first, last)
        assert [row.span for row in rows] == spans[first:last]
        for row in rows:
            np.testing.assert_allclose(row.vector, vectors[row.order], atol=1e-3)
    one, two, none, unknown = store.get_sentence_ranges(
        [(document.id, 10, 12), (document.id, 100, None), (document.id, 200, 210), ("?", 0, 9)]
    )
    assert one.spans.tolist() == [[10, 11], [11, 12]]
    assert (two.first, len(two.spans)) == (100, 50)
    assert len(none.spans) == len(unknown.spans) == 0
    assert two.vectors is not None
    assert two.vectors.dtype == np.float32
    np.testing.assert_allclose(two.vectors, vectors[100:], atol=1e-3)


def test_sentences_may_have_no_vectors(store: Store) -> None:
    document, chunks = make_document("s.txt", "one two")
    store.write(document, chunks, sentences=[Span(0, 3), Span(4, 7)])
    assert [(r.span, r.vector) for r in store.get_sentences(document.id)] == [
        (Span(0, 3), None),
        (Span(4, 7), None),
    ]


def test_bm25_is_lucenes(store: Store) -> None:
    fill(store)
    keys = [key for info in store.list_documents() for key in store.chunk_keys(info.id)]
    texts = dict(zip(keys, (c.text for c in store.get_chunks(keys)), strict=True))
    for groups in ([("tea",)], [("green",), ("tea",)], [("tea", "coffee"), ("from",)], [("?",)]):
        expected = bm25_scores(texts, groups)
        hits = store.search_terms(groups, 100)
        assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
        assert dict(hits) == pytest.approx(expected, rel=1e-5)
        assert store.score_terms(groups, keys) == pytest.approx(
            [expected.get(key, 0.0) for key in keys], rel=1e-5
        )


def test_the_terms_parts_sum_to_the_score(store: Store) -> None:
    fill(store)
    groups = [("tea", "coffee"), ("green",), ("from",), ("green",), ("nowhere",)]
    for key, score in store.search_terms(groups, 100):
        parts = store.explain_terms(groups, key)
        assert sum(parts.values()) == pytest.approx(score, rel=1e-5)
        assert all(value > 0 for value in parts.values())
    best = store.search_terms(groups, 1)[0][0]
    assert "nowhere" not in store.explain_terms(groups, best)


def test_statistics_count_chunks_and_terms(store: Store) -> None:
    fill(store)
    statistics = store.term_statistics(["tea", "met", "zzz"])
    assert statistics.chunks == 8
    assert statistics.frequencies == {"tea": 3, "met": 2, "zzz": 0}
    assert statistics.mean_length == pytest.approx(27 / 8)


def test_queries_of_any_characters_are_terms(store: Store) -> None:
    fill(store)
    for term in ('"', "a AND (", "tea:", "*", "", "\\", "\x00", "北京", "x" * 5000, "+-!~^"):
        assert store.search_terms([(term,)], 3) == []
    assert store.search_terms([()], 3) == []
    assert store.search_terms([], 3) == []
    assert len(store.search_terms([("tea", "")], 3)) == 3


def test_cosine_is_exact_and_k_above_all_returns_all(store: Store) -> None:
    keys = [key for pair in fill(store).values() for key in pair]
    matrix = store.get_vectors(keys)
    np.testing.assert_array_equal(matrix[:2], make_vectors(2, seed=0))
    query = make_vectors(1, seed=99)[0]
    for k in (1, 3, 8, 100):
        hits = store.search_vector(query, k)
        expected = sorted(zip(keys, matrix @ query, strict=True), key=lambda h: (-h[1], h[0]))[:k]
        assert [key for key, _ in hits] == [key for key, _ in expected]
        assert [s for _, s in hits] == pytest.approx([s for _, s in expected], abs=1e-5)
    assert store.search_vector(np.zeros_like(query), 3) == []
    assert store.search_vector(query, 0) == store.search_terms([("tea",)], 0) == []


def test_ties_go_by_key(store: Store) -> None:
    row = make_vectors(1)
    for i in range(30):
        document, chunks = make_document(f"{i:02}.txt", "same words")
        store.write(document, chunks, row)
        if i % 7 == 0:
            store.flush()
    every = [key for info in store.list_documents() for key in store.chunk_keys(info.id)]
    assert [key for key, _ in store.search_terms([("same",)], 5)] == sorted(every)[:5]
    assert [key for key, _ in store.search_vector(row[0], 5)] == sorted(every)[:5]


def test_keys_come_back_in_the_order_given(store: Store) -> None:
    keys = [key for pair in fill(store).values() for key in pair]
    mixed = [*reversed(keys), keys[0]]
    assert [c.id for c in store.get_chunks(mixed)] == [store.get_chunks([k])[0].id for k in mixed]
    assert store.get_vectors(mixed).shape == (9, 8)


def test_long_lists_are_no_trouble(store: Store) -> None:
    for i in range(40):
        document, chunks = make_document(f"{i}.txt", *(f"w{i} part{j}" for j in range(50)))
        store.write(document, chunks, make_vectors(50, seed=i))
    keys = [key for info in store.list_documents() for key in store.chunk_keys(info.id)]
    assert len(keys) == 2000
    assert len(store.get_chunks(keys)) == len(store.get_vectors(keys)) == 2000
    assert len(store.score_terms([("part1",)], keys)) == 2000
    ids = tuple(info.id for info in store.list_documents()) + tuple(f"no{i}" for i in range(2000))
    assert len(store.list_documents(Filter(document_ids=ids))) == 40
    assert len(store.search_terms([("part1",)], 100, Filter(document_ids=ids))) == 40
    assert store.remove([f"{i}.txt" for i in range(2000)]) == 40
    assert store.count_chunks() == 0


def test_the_same_source_is_replaced(store: Store) -> None:
    fill(store)
    old = store.chunk_keys(store.list_documents(Filter(sources=("guide/tea.md",)))[0].id)
    document, chunks = make_document("guide/tea.md", "white tea")
    store.write(document, chunks, make_vectors(1, seed=50), fingerprint="new")
    assert "japan" not in " ".join(texts_of(store, store.search_terms([("tea",)], 100)))
    assert store.search_terms([("japan",)], 5) == []
    assert store.get_fingerprints()["guide/tea.md"] == "new"
    assert store.count_chunks() == 7
    assert len(store.search_vector(make_vectors(1)[0], 100)) == 7
    assert not set(old) & set(store.chunk_keys(document.id))
    with pytest.raises(StoreError, match="search again"):
        store.get_chunks(old)
    with pytest.raises(StoreError, match="search again"):
        store.get_vectors(old)


def test_removing_leaves_no_trace(store: Store) -> None:
    keys = fill(store)
    store.search_terms([("tea",)], 1)
    gone = store.list_documents(Filter(sources=("guide/tea.md",)))[0].id
    assert store.remove(["guide/tea.md", "guide/tea.md", "absent"]) == 1
    assert store.get_document(gone) is None
    assert store.get_sentences(gone) == []
    assert store.chunk_keys(gone) == []
    left = {key for source, pair in keys.items() if source != "guide/tea.md" for key in pair}
    assert {key for key, _ in store.search_vector(make_vectors(1)[0], 100)} == left
    assert {key for key, _ in store.search_terms([("tea",), ("from",)], 100)} <= left
    assert "guide/tea.md" not in store.get_fingerprints()
    assert store.remove(list(keys)) == 3
    assert store.count_chunks() == 0
    assert store.search_terms([("met",)], 5) == []
    assert store.search_vector(make_vectors(1)[0], 5) == []


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filter(), {"guide/tea.md", "guide/coffee.md", "notes/2024/may.txt", "notes/june.txt"}),
        (Filter(sources=("*.md",)), {"guide/tea.md", "guide/coffee.md"}),
        (Filter(sources=("notes/*.txt",)), {"notes/june.txt"}),
        (Filter(sources=("notes/**",)), {"notes/2024/may.txt", "notes/june.txt"}),
        (Filter(sources=("notes/",)), {"notes/2024/may.txt", "notes/june.txt"}),
        (Filter(sources=("guide/tea.md", "june.*")), {"guide/tea.md", "notes/june.txt"}),
        (Filter(titles=("tea*",)), {"guide/tea.md"}),
        (Filter(languages=("en", "de")), {"guide/tea.md", "notes/june.txt"}),
        (Filter(metadata={"team": "a"}), {"guide/coffee.md", "notes/june.txt"}),
        (Filter(metadata={"team": "a", "n": "3"}), {"notes/june.txt"}),
        (Filter(metadata={"team": "A"}), set()),
        (Filter(sources=("*.md",), metadata={"team": "a"}), {"guide/coffee.md"}),
        (Filter(document_ids=("nobody",)), set()),
    ],
)
def test_filters_limit_every_search(store: Store, where: Filter, expected: set[str]) -> None:
    keys = fill(store)
    allowed = {key for source in expected for key in keys[source]}
    assert {info.source for info in store.list_documents(where)} == expected
    vector = make_vectors(1, seed=3)[0]
    every = dict(store.search_vector(vector, 100))
    found = store.search_vector(vector, 100, where)
    assert dict(found) == {key: every[key] for key in allowed}
    groups = [("tea",), ("coffee",), ("met",), ("drinks",)]
    scores = dict(store.search_terms(groups, 100))
    limited = store.search_terms(groups, 100, where)
    assert dict(limited) == pytest.approx({k: v for k, v in scores.items() if k in allowed})
    for k in (1, 2):
        assert store.search_terms(groups, k, where) == limited[:k]
        assert store.search_vector(vector, k, where) == found[:k]


def test_a_filter_sees_later_writes(store: Store) -> None:
    fill(store)
    where = Filter(sources=("*.md",))
    assert len(store.search_terms([("tea",)], 9, where)) == 2
    document, chunks = make_document("new.md", "tea")
    store.write(document, chunks)
    assert len(store.search_terms([("tea",)], 9, where)) == 3


def test_what_does_not_fit_is_refused_and_leaves_nothing(store: Store) -> None:
    fill(store)
    before = (store.generation, store.list_documents())
    document, chunks = make_document("bad.txt", "one", "two")
    good = make_vectors(2)
    with pytest.raises(StoreError, match="5 numbers, the index holds 8"):
        store.write(document, chunks, make_vectors(2, dimension=5))
    with pytest.raises(StoreError, match="2 chunks"):
        store.write(document, chunks, make_vectors(3))
    with pytest.raises(StoreError, match="not 1"):
        store.write(document, chunks, good * 2)
    with pytest.raises(StoreError, match="not 1"):
        store.write(document, chunks, good * np.float32("nan"))
    with pytest.raises(StoreError, match="not the text"):
        store.write(document, [Chunk(document.id, 0, (Span(0, 3),), "two")])
    with pytest.raises(StoreError, match="names the document"):
        store.write(document, [Chunk("other", 0, (Span(0, 3),), "one")])
    with pytest.raises(StoreError, match="has the shape"):
        store.search_vector(np.ones(3, np.float32), 3)
    assert (store.generation, store.list_documents()) == before


def test_an_id_belongs_to_one_source(store: Store) -> None:
    document, chunks = make_document("a.txt", "one")
    store.write(document, chunks)
    from dataclasses import replace

    with pytest.raises(StoreError, match="taken by"):
        store.write(replace(document, source="b.txt"), chunks)
    store.write(document, chunks)
    assert store.count_chunks() == 1


def test_generations_count_commits(store: Store) -> None:
    start = store.generation
    fill(store)
    assert store.generation == start + 4
    store.search_terms([("tea",)], 1)
    store.remove(["nothing"])
    assert store.generation == start + 4
    store.remove(["guide/tea.md", "guide/coffee.md"])
    assert store.generation == start + 5


def test_languages_are_counted(store: Store) -> None:
    fill(store)
    assert store.language_counts() == {"": 2, "de": 1, "en": 1}


def test_a_document_may_have_no_chunks(store: Store) -> None:
    document, _ = make_document("empty.txt", "")
    store.write(document, [], np.zeros((0, 8), np.float32), fingerprint="e")
    assert store.get_fingerprints() == {"empty.txt": "e"}
    assert store.search_terms([("tea",)], 5) == []
    assert store.remove(["empty.txt"]) == 1


def test_chunks_without_vectors_are_found_by_terms_alone(store: Store) -> None:
    document, chunks = make_document("a.txt", "tea")
    store.write(document, chunks)
    other, more = make_document("b.txt", "coffee")
    store.write(other, more, make_vectors(1))
    assert texts_of(store, store.search_terms([("tea",)], 5)) == ["tea"]
    assert texts_of(store, store.search_vector(make_vectors(1)[0], 5)) == ["coffee"]
    keys = store.chunk_keys(document.id) + store.chunk_keys(other.id)
    assert store.get_vectors(keys).any(axis=1).tolist() == [False, True]


def test_several_threads_may_read(store: Store) -> None:
    fill(store)
    expected = store.search_terms([("tea",)], 9)
    problems: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(10):
                with store.snapshot():
                    assert store.search_terms([("tea",)], 9) == expected
                    assert len(store.search_vector(make_vectors(1)[0], 3)) == 3
                    store.get_chunks([key for key, _ in expected])
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_no_socket_is_opened(
    store: Store, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if "http" in request.node.name:
        pytest.skip("this one is asked for by its address")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a store must not open a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    fill(store)
    store.search_terms([("tea",)], 5)
    store.search_vector(make_vectors(1)[0], 5)
    store.close()


def test_closing_twice_is_safe_and_using_it_then_is_an_error(store: Store) -> None:
    fill(store)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.search_terms([("tea",)], 1)
    with pytest.raises(StoreError, match="closed"):
        store.list_documents()
