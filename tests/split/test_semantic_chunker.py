"""SemanticChunker as a user meets it: every method, every kind of document, the repair, reasons."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import silhouette_score

from citespan.errors import InputError
from citespan.evaluate.segmentation import chunk_boundaries, pk, read_segmentation
from citespan.split.semantic import SemanticChunker
from citespan.split.semantic.cutting import cut_document
from citespan.split.semantic.options import CONTIGUOUS, METHODS, Options
from citespan.split.semantic.repair import Limits, Notes, assign_noise, cut_large, join_small
from citespan.split.semantic.sentences import Sentences
from citespan.split.semantic.vectors import (
    Space,
    dense_rows,
    embed_sentences,
    unit_rows,
    weigh_sentences,
)
from citespan.types import Document, Section, Span
from support import bench_dir, need_minilm

each_method = pytest.mark.parametrize("method", METHODS)

SUBJECTS = {
    "ships": "The ship left port. A ship carries cargo. Cargo ships cross the sea. The port loads "
    "ships with cargo.",
    "bread": "Bread needs flour. Flour and yeast make dough. The dough rests before the bread "
    "bakes. Bread dough needs yeast.",
    "stars": "A star burns hydrogen. Hydrogen fuses in the star. Old stars run out of hydrogen. "
    "The hydrogen of stars makes helium.",
}
TEXT = " ".join(SUBJECTS.values())
MIXED = " ".join(
    f"{a}. {b}."
    for a, b in zip(SUBJECTS["ships"].split(". "), SUBJECTS["bread"].split(". "), strict=True)
)


class Letters:
    """An embedder by first letters, that counts its calls and texts."""

    name, dimension, max_tokens = "letters", 26, 64

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        self.seen += texts
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                rows[row, (ord(word[0]) - 97) % 26] += 1
        return unit_rows(rows)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [2 + len(text.split()) for text in texts]


def check_laws(document: Document, chunks: list) -> None:
    """Every non-space is in exactly one span, and texts are slices joined by one blank."""
    text = document.text
    held = np.zeros(len(text), dtype=int)
    for order, chunk in enumerate(chunks):
        assert chunk.order == order
        assert chunk.text == " ".join(text[s:e] for s, e in chunk.spans)
        assert list(chunk.spans) == sorted(chunk.spans)
        for start, end in chunk.spans:
            held[start:end] += 1
    assert all(n == 1 for n, letter in zip(held, text, strict=True) if not letter.isspace())
    assert held.max(initial=0) <= 1
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})


def test_subjects_are_found_without_a_model():
    chunks = SemanticChunker(minimum=1).fit_transform(TEXT)
    assert [chunk.text for chunk in chunks] == list(SUBJECTS.values())


def test_clusters_join_distant_sentences():
    document = Document("d", "d", MIXED, language="en")
    chunker = SemanticChunker(method="kmeans", n_clusters=2, minimum=1)
    chunks = chunker.fit_transform(document)
    check_laws(document, chunks)
    assert len(chunks) == 2
    assert all(len(chunk.spans) == 4 for chunk in chunks)
    assert ["ship" in s for s in chunks[0].text.split(". ")] == [True] * 4
    assert chunker.labels_.tolist() == [0, 1] * 4


@each_method
def test_no_sentence_one_and_two(method):
    chunker = SemanticChunker(method=method)
    assert chunker.fit_transform("") == []
    assert chunker.n_clusters_ == 0
    assert chunker.fit_transform(" \n ") == []
    assert [chunk.text for chunk in chunker.fit_transform(" One sentence. ")] == ["One sentence."]
    assert [chunk.text for chunk in chunker.fit_transform("One. Two.")] == ["One. Two."]
    assert chunker.labels_.tolist() == [0, 0]


@each_method
@pytest.mark.parametrize("embedder", [None, Letters()], ids=["words", "model"])
def test_equal_sentences_and_no_sentence_end(method, embedder):
    chunker = SemanticChunker(method=method, embedder=embedder, size=60)
    for text in ("The same line. " * 70, "no sentence ends here " * 200, "x" * 5000, "!" * 300):
        document = Document("d", "d", text, language="en")
        chunks = chunker.fit_transform(document)
        check_laws(document, chunks)
        if embedder is not None:
            assert max(embedder.count_tokens([chunk.text for chunk in chunks])) <= 60
    assert len(chunker.fit_transform("The same line. " * 70)) >= 5  # 15 sentences at most


WORDS = st.sampled_from(
    ["ship", "port", "dough", "bread", "star", "a", "Он", "中文字", "x1", "\n\n"]
)
PARTS = st.lists(WORDS | st.sampled_from([". ", "! ", "。", "\n", "# "]), max_size=80)


@each_method
@given(parts=PARTS, size=st.integers(1, 30), least=st.integers(1, 4), more=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_any_text_is_cut_within_the_limits(method, parts, size, least, more):
    document = Document("d", "d", " ".join(parts), language="en")
    most = 2 * least - 1 + more
    chunker = SemanticChunker(
        method=method, size=size, unit="words", min_sentences=least, max_sentences=most
    )
    chunks = chunker.fit_transform(document)
    check_laws(document, chunks)
    assert chunks == chunker.split(document)
    assert all(chunker.sizes.measure_document(document).measure(*s) <= size
               for chunk in chunks for s in chunk.spans)  # fmt: skip
    rows = chunker.explain(document)
    assert len(rows) == len(chunker.labels_) == len(chunker.sentences_)
    counts = np.bincount([row.chunk for row in rows]) if rows else np.zeros(1)
    assert counts.max() <= most


def test_a_model_reads_each_sentence_once_and_never_two_documents_together():
    embedder = Letters()
    chunker = SemanticChunker(embedder=embedder, minimum=1)
    documents = [Document("a", "a", TEXT), Document("b", "b", TEXT + " " + TEXT)]
    chunks = chunker.fit_transform(documents)
    assert len(embedder.seen) == 24  # twelve distinct sentences a document
    assert {chunk.document_id for chunk in chunks} == {"a", "b"}
    ends = {d.id: len(d.text) for d in documents}
    assert all(chunk.end <= ends[chunk.document_id] for chunk in chunks)
    assert len(chunker.labels_) == 36
    assert set(chunker.labels_[:12]).isdisjoint(chunker.labels_[12:])
    assert chunker.n_clusters_ == len(set(chunker.labels_.tolist()))
    assert chunker.silhouette_.shape == (2,)
    assert chunker.transform(documents) == chunks


def test_a_maximum_cuts_the_chunk_and_not_the_subject():
    chunker = SemanticChunker(size=12, unit="words", minimum=1)
    chunks = chunker.fit_transform(TEXT)
    assert chunker.labels_.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert all(len(chunk.text.split()) <= 12 for chunk in chunks)
    assert any("longer than 12 words" in row.reason for row in chunker.explain(TEXT))


def test_sections_are_boundaries():
    text = " ".join(f"Sentence {n} is about ships." for n in range(8))
    start = text.index("Sentence 3")
    section = Section("S", 1, start, len(text))
    document = Document("d", "d", text, language="en", sections=(section,))
    rows = SemanticChunker(minimum=1).explain(document)
    assert [row.number for row in rows if row.reason == "a section begins"] == [3]


def test_silhouette_is_that_of_the_labels():
    chunker = SemanticChunker(method="kmeans", minimum=1).fit(TEXT)
    texts = [TEXT[s:e] for s, e in chunker.sentences_]
    rows = dense_rows(weigh_sentences(texts, "en"))
    reference = silhouette_score(rows, chunker.labels_, metric="cosine")
    assert chunker.silhouette_ == pytest.approx(reference, abs=1e-9)
    assert np.isnan(chunker.eps_)
    dbscan = SemanticChunker(method="dbscan", embedder=Letters(), vectors="embedder")
    assert 0.3 <= dbscan.fit(TEXT).eps_ <= 0.6
    assert (dbscan.labels_ >= 0).all()


def test_explain_tells_every_step():
    noisy = TEXT + " Quartz. " + SUBJECTS["ships"]
    rows = SemanticChunker(method="dbscan", eps=0.75, minimum=1).explain(noisy)
    quartz = next(row for row in rows if row.text == "Quartz.")
    assert quartz.cluster == -1
    assert "noise" in quartz.reason
    assert rows[-1].similarity is None
    texts = [row.text for row in rows]
    vectors = dense_rows(weigh_sentences(texts, "en"))
    assert rows[0].similarity == pytest.approx(vectors[0] @ vectors[1])
    cuts = [row for row in SemanticChunker(minimum=1).explain(TEXT) if row.reason]
    assert [row.number for row in cuts] == [4, 8]
    assert all("subject changes" in row.reason for row in cuts)


def test_repair_by_hand():
    # Two clusters and a single sentence whose vector is nearer to the second.
    rows = unit_rows(np.array([[1, 0], [1, 0.1], [1, 0.2], [0.3, 1], [0, 1], [0.1, 1], [0.2, 1]]))
    limits = Limits(3, 5, 0, 100, len)
    notes = Notes()
    groups = join_small([[0, 1, 2], [3], [4, 5, 6]], rows, limits, notes, contiguous=False)
    assert groups == [[0, 1, 2], [3, 4, 5, 6]]
    assert "cluster of 1" in notes.joined[3]
    # Six sentences, at most five: the weakest pair is 2|3.
    assert cut_large([[0, 1, 2, 3, 4, 5]], rows, limits, notes) == [[0, 1, 2], [3, 4, 5]]
    assert notes.cut[3].startswith("6 sentences, at most 5")
    labels = np.array([0, 0, 0, -1, 1, 1, 1])
    assert assign_noise(labels, rows, notes).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert assign_noise(np.full(7, -1), rows, notes).tolist() == [0] * 7
    # Neighbours only: the lone first sentence must join the second group, however unlike.
    joined = join_small([[0], [1, 2, 3], [4, 5, 6]], rows[::-1], limits, Notes(), contiguous=True)
    assert joined == [[0, 1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "options",
    [{}, {"method": "depth"}, {"method": "breakpoints"}, {"method": "kmeans", "n_clusters": 5},
     {"method": "dbscan", "eps": 0.3}],
    ids=lambda options: options.get("method", "segments"),
)  # fmt: skip
@pytest.mark.parametrize("alike", [False, True], ids=["subjects", "equal"])
def test_twenty_thousand_sentences_need_no_square(options, alike):
    count = 20_000
    generator = np.random.default_rng(0)
    subjects = np.repeat(generator.normal(size=(count // 8, 8)), 8, axis=0)
    rows = np.ones((count, 1)) if alike else subjects + 0.2 * generator.normal(size=(count, 8))
    spans = [Span(10 * n, 10 * n + 9) for n in range(count)]
    limits = Limits(3, 15, 0, 10**6, lambda group: 9 * len(group))
    ruler = type("Tens", (), {"measure": staticmethod(lambda start, end: end - start)})()
    spaces = (Space("embedder", unit_rows(rows)),)
    sentences = Sentences(spans, spaces, ruler, limits, frozenset())
    tracemalloc.start()
    cut = cut_document(sentences, Options(**options))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sorted(n for group in cut.groups for n in group) == list(range(count))
    assert max(map(len, cut.groups)) <= 15
    # The matrix of similarities alone would take 3,200 MB.
    assert peak < 300e6


def test_conventions_of_scikit_learn():
    chunker = SemanticChunker(method="kmeans", n_clusters=3, embedder=Letters())
    copy = clone(SemanticChunker(method="kmeans", n_clusters=3))
    assert copy.get_params() == SemanticChunker(method="kmeans", n_clusters=3).get_params()
    assert chunker.set_params(method="segments", max_sentences=9) is chunker
    assert chunker.settings()["max_sentences"] == 9
    assert chunker.settings()["model"] == "letters"
    assert SemanticChunker().settings()["model"] == "tfidf"
    with pytest.raises(InputError, match="no parameter 'clusters'"):
        chunker.set_params(clusters=3)
    with pytest.raises(InputError, match="max_sentences 2"):
        chunker.set_params(max_sentences=2)
    assert chunker.max_sentences == 9  # nothing was set
    assert chunker.fit(TEXT) is chunker


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"method": "dbscam"}, "use: segments"),
        ({"vectors": "embedder"}, "give embedder="),
        ({"vectors": "both"}, "use: auto"),
        ({"eps": 0}, "eps 0"),
        ({"percentile": 101}, "percentile 101"),
        ({"min_sentences": 0, "min_samples": 0}, "min_sentences 0 .*min_samples 0"),
        ({"method": "kmeans", "overlap": 5}, "leave the overlap out"),
    ],
)
def test_what_cannot_be_is_said_at_once(wrong, match):
    with pytest.raises(InputError, match=match):
        SemanticChunker(**wrong)
    with pytest.raises(InputError, match="item 1 is int"):
        SemanticChunker().fit(["text", 3])


def mean_pk(chunker, folder, language, count):
    values = []
    for segmented in read_segmentation(bench_dir(folder))[:count]:
        chunker.fit(Document(segmented.id, "d", segmented.text, language=language))
        groups = [
            [span for span, label in zip(chunker.sentences_, chunker.labels_, strict=True)
             if label == name]
            for name in range(chunker.n_clusters_)
        ]  # fmt: skip
        found = chunk_boundaries(groups, segmented.units)
        values.append(pk(segmented.boundaries, found, len(segmented.units)))
    return sum(values) / len(values)


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_subject_changes_are_found_in_any_language_without_a_model(language):
    # No boundaries have 0.45; all fifty documents 0.061, 0.093 and 0.073.
    assert mean_pk(SemanticChunker(), f"seg_xquad_{language}", language, 12) < 0.13


def test_a_model_counts_where_it_knows_the_language():
    need_minilm()
    from citespan.embed.onnx_embedder import open_minilm

    embedder = open_minilm()
    effects = {}
    for language in ("en", "ru", "zh"):
        chunker = SemanticChunker(embedder=embedder)
        # The harder ones are among the first: all fifty have 0.027, 0.091 and 0.070.
        assert mean_pk(chunker, f"seg_xquad_{language}", language, 3) < 0.15
        contrast = chunker.contrasts_[0]
        assert contrast.names == ("embedder", "tfidf")
        effects[language] = contrast.effects[0] - contrast.effects[1]
    # MiniLM knows no Russian and no Chinese.
    assert effects["en"] > 0.5 > 0 > max(effects["ru"], effects["zh"])


def test_embedding_repeats_costs_nothing():
    embedder = Letters()
    rows = embed_sentences(["a b", "c", "a b"], embedder).rows
    assert embedder.seen == ["a b", "c"]
    assert (rows[0] == rows[2]).all()
    assert set(METHODS) > CONTIGUOUS
