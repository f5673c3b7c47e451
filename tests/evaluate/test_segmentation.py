"""Pk and WindowDiff: by hand, equal to nltk's, and on the public segmentation sets."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import InputError
from citespan.evaluate.segmentation import (
    boundaries_to_units,
    chunk_boundaries,
    pk,
    random_boundaries,
    read_segmentation,
    window_diff,
    window_size,
)
from citespan.types import Span
from support import bench_dir

nltk_segmentation = pytest.importorskip("nltk.metrics.segmentation")

cases = st.integers(4, 40).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.integers(1, n - 1), max_size=8),
        st.sets(st.integers(1, n - 1), max_size=8),
        st.integers(1, n - 1),
    )
)


def gaps(boundaries, n: int) -> str:
    """Write the n - 1 places between units as nltk does: 1 where a boundary stands."""
    return "".join("1" if b in boundaries else "0" for b in range(1, n))


@given(cases)
def test_equals_nltk(case):
    n, true, found, k = case
    one, two = gaps(true, n), gaps(found, n)
    assert pk(true, found, n, k=k) == pytest.approx(nltk_segmentation.pk(one, two, k))
    ours = window_diff(true, found, n, k=k)
    assert ours == pytest.approx(nltk_segmentation.windowdiff(one, two, k))


@given(cases)
def test_perfect_is_zero_and_pk_never_exceeds_window_diff(case):
    n, true, found, k = case
    assert pk(true, true, n) == window_diff(true, true, n) == 0
    assert 0 <= pk(true, found, n, k=k) <= window_diff(true, found, n, k=k) <= 1


def test_by_hand():
    # Six units, true boundary at 3, window 2. Ends (0,2) (1,3) (2,4) (3,5):
    # true: same, other, other, same; none found: all same, so two of four are wrong.
    assert pk([3], [], 6, k=2) == 0.5
    assert window_size([3], 6) == 2
    assert window_size([], 100) == 50


def test_a_document_shorter_than_its_window():
    assert pk([1], [1], 2) == 0
    assert pk([1], [], 2) == 1
    assert pk([], [], 1) == window_diff([], [], 0) == 0


def test_offsets_become_units():
    units = [Span(0, 10), Span(11, 20), Span(20, 30)]
    assert boundaries_to_units([10], units) == [1]  # the blank before a unit belongs to it
    assert boundaries_to_units([13], units) == [1]  # nearer to the unit's start
    assert boundaries_to_units([18], units) == [2]
    assert boundaries_to_units([0, 2, 29, 30, 99], units) == []
    assert boundaries_to_units([5], []) == []


def test_chunks_become_boundaries():
    units = [Span(0, 10), Span(11, 20), Span(21, 30)]
    assert chunk_boundaries([[Span(0, 20)], [Span(21, 30)]], units) == [2]
    assert chunk_boundaries([[Span(0, 13)], [Span(13, 30)]], units) == [1]
    assert chunk_boundaries([[Span(0, 30)]], units) == []


def test_bad_input_is_said():
    with pytest.raises(InputError, match=r"\[0, 9\]"):
        pk([0, 3], [9], 9)
    with pytest.raises(InputError, match="at least 1"):
        pk([3], [3], 9, k=0)
    with pytest.raises(InputError, match="no file"):
        read_segmentation("nowhere")


@pytest.mark.parametrize("name", ["seg_xquad_en", "seg_xquad_ru", "seg_xquad_zh", "seg_mdsections"])
def test_public_sets(name):
    documents = read_segmentation(bench_dir(name))
    for document in documents:
        assert document.boundaries
        assert pk(document.boundaries, document.boundaries, len(document.units)) == 0
    none = statistics.mean(pk(d.boundaries, [], len(d.units)) for d in documents)
    chance = statistics.mean(
        pk(d.boundaries, random_boundaries(len(d.boundaries), len(d.units)), len(d.units))
        for d in documents
    )
    assert 0.4 < none < 0.6
    assert 0.35 < chance < 0.6
