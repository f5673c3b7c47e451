"""The trust in vectors: high where they know the text, near nothing where they do not."""

from __future__ import annotations

import numpy as np

from citespan.protocols import SentenceRange
from citespan.retrieve.calibrate import DEFAULT_TRUST, MOST, measure_trust
from citespan.text import hash_terms


def make_documents(*, telling: bool, topics: int = 12, sentences: int = 15) -> list[SentenceRange]:
    """Documents of a topic each: half of a sentence's words, and its vector if ``telling``."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(topics, 16))
    documents = []
    for topic in range(topics):
        words = [
            [f"t{topic}w{rng.integers(9)}" for _ in range(4)]
            + [f"w{rng.integers(40)}" for _ in "1234"]
            for _ in range(sentences)
        ]
        vectors = rng.normal(size=(sentences, 16)) * 0.5
        if telling:
            vectors += centres[topic]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        documents.append(
            SentenceRange(
                f"d{topic}",
                0,
                np.zeros((sentences, 2), np.int32),
                vectors.astype(np.float32),
                hash_terms([term for row in words for term in row]),
                np.array([len(row) for row in words], np.int32),
            )
        )
    return documents


def test_vectors_that_know_the_text_are_trusted() -> None:
    found = measure_trust(make_documents(telling=True))
    assert found.samples >= 100
    assert found.mrr_cosine > 0.8
    assert 1.0 < found.trust <= MOST


def test_vectors_that_do_not_are_hardly_trusted() -> None:
    found = measure_trust(make_documents(telling=False))
    # 36 blocks at random: the mean of 1 / rank is about 0.1.
    assert found.mrr_cosine < 0.25
    assert found.mrr_bm25 > 0.8
    assert found.trust < 0.4


def test_the_same_index_gives_the_same_trust() -> None:
    assert measure_trust(make_documents(telling=True)) == measure_trust(
        make_documents(telling=True)
    )


def test_too_little_to_conclude_from_is_said() -> None:
    few = make_documents(telling=True, topics=1, sentences=4)
    assert measure_trust(few).trust == DEFAULT_TRUST
    assert measure_trust([]).samples == 0


def test_one_document_is_compared_with_itself() -> None:
    found = measure_trust(make_documents(telling=True, topics=1, sentences=200))
    assert found.samples >= 100


def test_documents_without_vectors_are_left_out() -> None:
    bare = [
        SentenceRange(d.document_id, 0, d.spans, None, d.terms, d.counts)
        for d in make_documents(telling=True)
    ]
    assert measure_trust(bare).trust == DEFAULT_TRUST
