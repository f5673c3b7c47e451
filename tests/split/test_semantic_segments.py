"""The contiguous methods, by hand and against all segmentations of small documents."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citespan.split.semantic.contrast import measure_contrast, score_pairs
from citespan.split.semantic.segments import (
    cut_depths,
    cut_percentile,
    measure_depths,
    segment_band,
)
from citespan.split.semantic.vectors import (
    Space,
    compare_band,
    compare_windows,
    dense_rows,
    unit_rows,
    weigh_sentences,
)


def worth(scores, edges, most, least, exponent):
    """Score a segmentation by its definition; None if a segment is over the maximum."""
    total = 0.0
    for first, behind in pairwise(edges):
        length = behind - first
        if length > most:
            return None
        pairs = sum(scores[a, b - a] for a in range(first, behind) for b in range(a + 1, behind))
        total += pairs / length**exponent - 1e6 * max(0, least - length)
    return total


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 5), st.sampled_from([0, 0.5, 1]))
@settings(max_examples=60, deadline=None)
def test_no_segmentation_is_better(seed, count, most, exponent):
    generator = np.random.default_rng(seed)
    scores = np.zeros((count, most))
    for distance in range(1, min(most, count)):
        scores[: count - distance, distance] = generator.normal(size=count - distance)
    least = min(2, most)
    starts = np.arange(count)
    found = segment_band(scores, starts + most, starts + least, exponent=exponent)
    options = [
        worth(scores, [0, *inner, count], most, least, exponent)
        for size in range(count)
        for inner in combinations(range(1, count), size)
    ]
    best = max(value for value in options if value is not None)
    assert worth(scores, [0, *found, count], most, least, exponent) == pytest.approx(best, abs=1e-6)


def test_a_section_begins_a_segment_unless_it_is_too_short():
    scores = np.zeros((9, 9))
    scores[:8, 1] = 1.0  # all alike
    starts = np.arange(9)
    ends = starts + 9, starts + 3
    assert segment_band(scores, *ends, heads={5}, exponent=0) == [5]
    assert segment_band(scores, *ends, heads={8}, exponent=0) == []


def test_the_maximum_is_hard_and_equals_make_long_segments():
    starts = np.arange(7)
    assert len(segment_band(np.zeros((7, 3)), starts + 3, starts + 1)) == 2


def test_depths_by_hand():
    # At 0.2 similarity climbs to 0.8 on the left and to 0.5 on the right: 0.6 + 0.3.
    similarities = np.array([0.6, 0.8, 0.2, 0.5, 0.4])
    assert measure_depths(similarities).round(6).tolist() == [0.2, 0.0, 0.9, 0.0, 0.1]
    assert cut_depths(similarities, 1, 0.5) == [3]
    assert cut_depths(np.ones(5), 1, 0.5) == []
    assert cut_depths(np.zeros(0), 1, 0.5) == []


def test_percentile_by_hand():
    # Of four gaps the 50th percentile is 0.5; below it lie the first and the last.
    assert cut_percentile(np.array([0.1, 0.6, 0.9, 0.4]), 50) == [1, 4]
    assert cut_percentile(np.full(9, 0.5), 85) == []


def test_windows_are_sums_of_sentences():
    rows = unit_rows(np.random.default_rng(0).normal(size=(9, 4)))
    for window in (1, 2, 3, 20):
        for gap, value in enumerate(compare_windows(rows, window), start=1):
            left = rows[max(0, gap - window) : gap].sum(axis=0)
            right = rows[gap : gap + window].sum(axis=0)
            cosine = left @ right / np.linalg.norm(left) / np.linalg.norm(right)
            assert value == pytest.approx(cosine)


def test_band_of_sparse_rows_is_that_of_dense_ones():
    space = weigh_sentences(["red fox runs", "a red hen", "", "blue hen", "the fox"], "en")
    dense = dense_rows(space)
    assert np.allclose(compare_band(space.rows, 3), compare_band(dense, 3))
    full = dense @ dense.T
    assert compare_band(dense, 3)[1, 2] == pytest.approx(full[1, 3])
    assert (compare_band(dense, 3)[4] == 0).all()


def test_hashed_terms_keep_cosines_roughly(monkeypatch):
    from citespan.split.semantic import vectors

    generator = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in generator.integers(400, size=30)) for _ in range(40)]
    space = weigh_sentences(texts, "en")
    exact = dense_rows(space)
    monkeypatch.setattr(vectors, "HASHED", 256)
    hashed = dense_rows(space)
    assert hashed.shape == (40, 256)
    assert np.abs(hashed @ hashed.T - exact @ exact.T).max() < 0.35


def blocks(generator, noise):
    subjects = np.repeat(np.eye(5), 8, axis=0)
    return unit_rows(subjects + noise * generator.normal(size=subjects.shape))


def test_vectors_that_know_the_subjects_get_the_weight():
    generator = np.random.default_rng(0)
    knows = Space("knows", blocks(generator, 0.3))
    blind = Space("blind", unit_rows(generator.normal(size=(40, 5))))
    found = measure_contrast([blind, knows])
    assert found.best() == 1
    assert found.weights[1] > 5 * found.weights[0]
    scores = score_pairs([blind, knows], found, 14, 0.2)
    starts = np.arange(40)
    assert segment_band(scores, starts + 15, starts + 3) == [8, 16, 24, 32]


def test_two_spaces_that_say_the_same_share_the_weight():
    rows = blocks(np.random.default_rng(0), 0.3)
    found = measure_contrast([Space("one", rows), Space("two", rows)])
    assert found.weights[0] == pytest.approx(found.weights[1], rel=1e-3)


def test_nothing_is_told_from_equal_sentences_or_from_few():
    equal = Space("equal", np.ones((30, 1)))
    assert measure_contrast([equal]).weights.tolist() == [0.0]
    assert measure_contrast([Space("few", np.eye(3))]).weights.tolist() == [0.0]
