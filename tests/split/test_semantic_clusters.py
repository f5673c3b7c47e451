"""DBSCAN, k-means and the silhouette against scikit-learn, on the sentences of real documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import silhouette_samples, silhouette_score

from citespan.split.semantic import clusters
from citespan.split.semantic.clusters import (
    EPS_GRID,
    cluster_density,
    cluster_means,
    order_labels,
    refine_means,
    search_eps,
    search_k,
    silhouette_values,
)
from citespan.split.semantic.vectors import dense_rows, embed_sentences, unit_rows, weigh_sentences
from citespan.text import detect_language, split_sentences
from support import ROOT, need_minilm

FILES = sorted((ROOT / "data" / "corpus").rglob("*.md"))[:4]


def sentences_of(file):
    text = file.read_text("utf-8")
    return [text[s:e] for s, e in split_sentences(text)][:120], detect_language(text)


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.name)
def rows(request):
    return dense_rows(weigh_sentences(*sentences_of(request.param)))


@pytest.fixture(scope="module")
def model_rows():
    need_minilm()
    from citespan.embed.onnx_embedder import open_minilm

    return embed_sentences(sentences_of(FILES[0])[0], open_minilm()).rows


def same_as_dbscan(rows, eps, min_samples):
    found = cluster_density(rows, eps, min_samples)
    for radius, labels in zip(eps, found, strict=True):
        reference = DBSCAN(eps=radius, min_samples=min_samples, metric="cosine").fit(rows).labels_
        assert labels.tolist() == reference.tolist(), (radius, min_samples)


@pytest.mark.parametrize("min_samples", [1, 2, 3, 5])
def test_density_labels_are_those_of_scikit_learn(rows, min_samples, monkeypatch):
    monkeypatch.setattr(clusters, "CELLS", 700)  # several blocks of rows
    same_as_dbscan(rows, [*EPS_GRID, 0.8, 0.9], min_samples)


def test_density_labels_of_model_vectors(model_rows):
    same_as_dbscan(model_rows, EPS_GRID, 2)


def test_density_of_equal_sentences_and_of_none():
    assert cluster_density(np.ones((50, 1)), [0.3], 2)[0].tolist() == [0] * 50
    assert cluster_density(np.eye(4), [0.3], 2)[0].tolist() == [-1] * 4
    assert cluster_density(np.zeros((0, 3)), [0.3, 0.4], 2)[1].tolist() == []


def test_a_border_sentence_joins_the_first_cluster_that_reaches_it():
    # On a circle: cores at 0° and 40° with a copy each; one at 20° reaches both, and is no core
    # for itself if four must be near.
    angles = np.radians([0, 0, 0, 40, 40, 40, 20])
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    eps = 1 - np.cos(np.radians(21))
    same_as_dbscan(circle, [eps], 4)
    same_as_dbscan(circle[::-1].copy(), [eps], 4)


def test_silhouettes_are_those_of_scikit_learn(rows):
    for count in (2, 5, 9):
        labels = cluster_means(rows, count, seed=0)
        reference = silhouette_samples(rows, labels, metric="cosine")
        assert np.abs(silhouette_values(rows, labels) - reference).max() < 1e-9


@given(st.integers(0, 10**6), st.integers(3, 25), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_silhouettes_with_empty_rows_and_single_members(seed, count, groups):
    generator = np.random.default_rng(seed)
    rows = unit_rows(generator.normal(size=(count, 3)))
    rows[generator.random(count) < 0.2] = 0.0
    labels = generator.integers(groups, size=count)
    if not 2 <= len(np.unique(labels)) < count:
        return
    reference = silhouette_samples(rows, labels, metric="cosine")
    assert np.abs(silhouette_values(rows, labels) - reference).max() < 1e-9


def test_k_means_from_the_same_start_ends_the_same(rows):
    # Means of stretches: a sentence alone shares no word with most, and is as far from all of them.
    rows = rows[np.linalg.norm(rows, axis=1) > 0]
    start = np.array([part.mean(axis=0) for part in np.array_split(rows, 6)])
    labels, inertia = refine_means(rows, start)
    reference = KMeans(6, init=start, n_init=1, max_iter=100, tol=0, algorithm="lloyd").fit(rows)
    assert labels.tolist() == reference.labels_.tolist()
    assert inertia == pytest.approx(reference.inertia_, rel=1e-9)


def test_search_takes_the_greatest_silhouette(rows):
    labels, score = search_k(rows, seed=0)
    options = [cluster_means(rows, k, seed=0) for k in range(2, min(20, len(rows) // 2) + 1)]
    scores = [silhouette_score(rows, found, metric="cosine") for found in options]
    assert score == pytest.approx(max(scores), abs=1e-8)
    assert len(np.unique(labels)) == 2 + int(np.argmax(scores))
    assert search_k(rows, seed=0)[0].tolist() == labels.tolist()


def test_eps_is_searched_on_the_document():
    # Two tight pairs at cosine 0.55 within (distance 0.45), 0 between them.
    half = np.sqrt(1 - 0.55**2)
    rows = np.array([[1, 0, 0, 0], [0.55, half, 0, 0], [0, 0, 1, 0], [0, 0, 0.55, half]])
    labels, eps, _ = search_eps(rows, 2)
    assert labels.tolist() == [0, 0, 1, 1]
    assert 0.45 <= eps <= 0.5


def test_labels_are_numbered_as_they_occur():
    assert order_labels(np.array([3, 3, 1, 3, 0])).tolist() == [0, 0, 1, 0, 2]
