"""Windows around hits: worked by hand, then the laws over generated documents."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.expand import expand_hits
from citespan.types import Chunk, Document, Hit, Page, Passage, Section, Span


def count_words(text: str) -> int:
    return len(text.split())


def make_document(identity: str, *sentences: str) -> tuple[Document, list[Span]]:
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    return Document(identity, f"{identity}.txt", " ".join(sentences)), spans


def make_hit(document: Document, *spans: Span, score: float = 1.0, rank: int = 1) -> Hit:
    text = "\n".join(document.text[s:e] for s, e in spans)
    return Hit(Chunk(document.id, 0, spans, text), score, rank, {"bm25": score})


def expand(
    hits: list[Hit], *pairs: tuple[Document, Sequence[Span]], budget: int = 100, passage: int = 10
) -> list[Passage]:
    documents = {d.id: d for d, _ in pairs}
    sentences = {d.id: s for d, s in pairs}
    return expand_hits(
        hits,
        documents.get,
        sentences.__getitem__,
        budget=budget,
        passage_budget=passage,
        count=count_words,
    )


SEVEN = make_document("d", "a0 b0", "a1 b1", "a2 b2", "a3 b3", "a4 b4", "a5 b5", "a6 b6")


def test_neighbours_come_in_turn_after_then_before() -> None:
    document, spans = SEVEN
    hit = make_hit(document, spans[3])
    texts = [expand([hit], SEVEN, passage=size)[0].text for size in (1, 3, 4, 5, 6, 8, 100)]
    assert texts == [
        "a3 b3",
        "a3 b3",
        "a3 b3 a4 b4",
        "a3 b3 a4 b4",
        "a2 b2 a3 b3 a4 b4",
        "a2 b2 a3 b3 a4 b4 a5 b5",
        document.text,
    ]


def test_at_a_documents_end_the_other_side_grows_on() -> None:
    document, spans = SEVEN
    assert expand([make_hit(document, spans[6])], SEVEN, passage=6)[0].text == "a4 b4 a5 b5 a6 b6"


def test_windows_that_adjoin_merge_transitively_and_keep_the_best_score() -> None:
    document, spans = SEVEN
    hits = [
        make_hit(document, spans[i], score=s, rank=r)
        for r, (i, s) in enumerate([(4, 3.0), (0, 2.0), (2, 1.0)], start=1)
    ]
    found = expand(hits, SEVEN, passage=6)
    assert [(p.text, p.score) for p in found] == [("a0 b0 a1 b1 a2 b2 a3 b3 a4 b4 a5 b5", 3.0)]
    assert found[0].hits == (spans[0], spans[2], spans[4])
    assert found[0].parts == {"bm25": 3.0}


def test_the_hit_grows_to_whole_sentences() -> None:
    document, spans = SEVEN
    hit = make_hit(document, Span(spans[2].start + 3, spans[3].start + 2))
    assert expand([hit], SEVEN, passage=2)[0].text == "a2 b2 a3 b3"


def test_a_sentence_longer_than_a_passage_is_cut_at_the_hit() -> None:
    text = " ".join(f"w{i}" for i in range(100))
    document = Document("d", "d.txt", text)
    start = text.index("w40")
    hit = make_hit(document, Span(start, text.index("w45")))
    assert expand([hit], (document, [Span(0, len(text))]))[0].text == "w40 w41 w42 w43 w44"


def test_a_hit_of_several_spans_gives_several_passages() -> None:
    document, spans = SEVEN
    hit = make_hit(document, spans[0], spans[5])
    assert [p.text for p in expand([hit], SEVEN, passage=2)] == ["a0 b0", "a5 b5"]


def test_identical_text_stands_once_with_all_its_places() -> None:
    one = make_document("one", "same thing", "other end")
    two = make_document("two", "first part", "same thing", "next part")
    three = make_document("three", "same thing", "other end")
    hits = [
        make_hit(d, s[i], rank=r)
        for r, (d, s, i) in enumerate([(*one, 0), (*two, 1), (*three, 0)], start=1)
    ]
    found = expand(hits, one, two, three, passage=4)
    assert [p.text for p in found] == ["same thing other end"]
    # In the third document the whole passage stands; in the second only the hit's text does.
    assert [(d.source, d.start, d.end) for d in found[0].duplicates] == [
        ("three.txt", 0, 20),
        ("two.txt", 11, 21),
    ]


def test_text_that_repeats_within_one_document_stands_once() -> None:
    pair = make_document("d", "same thing", "x y z", "same thing")
    hits = [make_hit(pair[0], pair[1][i], rank=i + 1) for i in (0, 2)]
    (passage,) = expand(hits, pair, passage=2)
    assert (passage.start, [tuple(p)[2:] for p in passage.duplicates]) == (0, [(17, 27)])


def test_hits_come_before_neighbours_when_the_budget_is_short() -> None:
    document, spans = SEVEN
    hits = [make_hit(document, spans[i], score=9.0 - i, rank=i + 1) for i in (0, 3, 6)]
    assert [p.text for p in expand(hits, SEVEN, budget=6)] == ["a0 b0", "a3 b3", "a6 b6"]
    assert [p.text for p in expand(hits, SEVEN, budget=4)] == ["a0 b0", "a3 b3"]


def test_a_first_hit_above_the_budget_is_cut_not_lost() -> None:
    document, spans = SEVEN
    whole = make_hit(document, Span(0, spans[6].end))
    assert expand([whole], SEVEN, budget=5)[0].text == "a0 b0 a1 b1"
    text = "u0 u1 u2 u3 u4 u5"
    alone = Document("e", "e.txt", text)
    assert expand([make_hit(alone, Span(0, 17))], (alone, [Span(0, 17)]), budget=3)[0].text == (
        "u0 u1 u2"
    )


def test_page_and_heading_come_from_the_offsets() -> None:
    document = Document(
        "d",
        "d.pdf",
        "Intro text. Body text.",
        pages=(Page(1, 0, 12), Page(2, 12, 22)),
        sections=(Section("Part", 1, 0, 22), Section("Body", 2, 12, 22)),
    )
    spans = [Span(0, 11), Span(12, 22)]
    (passage,) = expand([make_hit(document, spans[1])], (document, spans), passage=2)
    assert (passage.page, passage.last_page, passage.heading) == (2, 2, "Part > Body")
    (passage,) = expand([make_hit(document, spans[1])], (document, spans), passage=4)
    assert (passage.page, passage.last_page, passage.heading) == (1, 2, "Part")


def test_a_document_that_is_gone_or_has_no_sentences() -> None:
    document, spans = SEVEN
    gone = Hit(Chunk("gone", 0, (Span(0, 3),), "abc"), 5.0, 1)
    assert [p.text for p in expand([gone, make_hit(document, spans[1])], (document, []))] == [
        "a1 b1"
    ]
    assert expand([], SEVEN) == []


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="set --budget"):
        expand([], SEVEN, budget=0)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[tuple[Document, list[Span]]], list[Hit]]:
    words = st.sampled_from(["a", "bb", "c c", "d d d", "e\ne"])
    pairs, hits = [], []
    for number in range(draw(st.integers(1, 3))):
        pair = make_document(f"d{number}", *draw(st.lists(words, min_size=1, max_size=8)))
        pairs.append(pair)
        length = len(pair[0].text)
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, length - 1))
            end = draw(st.integers(start + 1, length))
            score = draw(st.floats(0, 9))
            if pair[0].text[start:end].isspace():
                continue
            hits.append(make_hit(pair[0], Span(start, end), score=score))
    return pairs, hits


@settings(max_examples=100, deadline=None)
@given(corpora(), st.integers(1, 30), st.integers(1, 12))
def test_laws(
    corpus: tuple[list[tuple[Document, list[Span]]], list[Hit]], budget: int, size: int
) -> None:
    pairs, hits = corpus
    documents = {d.id: d for d, _ in pairs}
    found = expand(hits, *pairs, budget=budget, passage=size)

    assert sum(count_words(p.text) for p in found) <= budget
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)
    assert len({" ".join(p.text.split()) for p in found}) == len(found)
    seen: set[tuple[str, int]] = set()
    for passage in found:
        assert documents[passage.document_id].text[passage.start : passage.end] == passage.text
        assert passage.text == passage.text.strip() != ""
        places = {(passage.document_id, i) for i in range(passage.start, passage.end)}
        assert not places & seen
        seen |= places
        for place in passage.duplicates:
            text = documents[place.document_id].text[place.start : place.end]
            assert " ".join(text.split()) in " ".join(passage.text.split())
        assert passage.hits


@settings(max_examples=100, deadline=None)
@given(corpora(), st.integers(1, 12), st.integers(1, 12))
def test_the_windows_size_never_changes_which_hits_are_read(
    corpus: tuple[list[tuple[Document, list[Span]]], list[Hit]], one: int, other: int
) -> None:
    pairs, hits = corpus
    read = []
    for size in (one, other):
        found = expand(hits, *pairs, budget=1000, passage=size)
        places = {(p.document_id, s) for p in found for s in p.hits}
        twins = {(t.document_id, t.start) for p in found for t in p.duplicates}
        read.append((places, bool(twins) or None))
        wanted = {h.score for h in hits}
        assert max(wanted, default=None) == (found[0].score if found else None)
    if read[0][1] is read[1][1] is None:
        assert read[0][0] == read[1][0]
