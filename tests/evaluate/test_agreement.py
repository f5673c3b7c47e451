"""Agreement: published and hand-worked values, scikit-learn's kappa, nltk's alpha."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

from citespan.errors import InputError
from citespan.evaluate.agreement import krippendorff_alpha, weighted_kappa

pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20)
tables = st.integers(2, 8).flatmap(
    lambda n: st.lists(
        st.lists(st.none() | st.integers(1, 5), min_size=n, max_size=n), min_size=2, max_size=4
    )
)

# The data of Krippendorff (2011), section D: four observers, twelve units.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize("weights", ["quadratic", "linear"])
@given(rows=pairs)
def test_kappa_equals_sklearn(weights, rows):
    a, b = zip(*rows, strict=True)
    ours = weighted_kappa(a, b, weights=weights)
    if len({*a, *b}) == 1:
        assert ours is None
        return
    theirs = cohen_kappa_score(a, b, labels=[1, 2, 3, 4, 5], weights=weights)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_kappa_by_hand():
    # Squared distances, each weighed by its share: observed (2² + 0) / 2; expected, of the pairs
    # 1-3 and 3-3 at one half each, (2² + 0) / 2 too.
    assert weighted_kappa([1, 3], [3, 3]) == 0
    assert weighted_kappa([1, 5], [5, 1]) == -1
    assert weighted_kappa([2, 4], [2, 4], weights="linear") == 1


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_equals_the_published_example(level, value):
    assert krippendorff_alpha(PUBLISHED, level=level) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@given(table=tables)
def test_alpha_equals_nltk(level, table):
    units = list(zip(*table, strict=True))
    kept = [[x for x in unit if x is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    ours = krippendorff_alpha(table, level=level)
    values = [x for unit in kept for x in unit]
    if len(set(values)) < 2:
        assert ours is None
        return

    def ordinal(a, b):
        low, high = sorted((a, b))
        between = sum(low <= x <= high for x in values)
        return (between - (values.count(a) + values.count(b)) / 2) ** 2

    distance = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
    }[level]
    rows = [(f"r{r}", f"i{i}", x) for i, unit in enumerate(kept) for r, x in enumerate(unit)]
    assert ours == pytest.approx(AnnotationTask(rows, distance).alpha(), abs=1e-9)


def test_nothing_to_disagree_on_is_undefined():
    assert weighted_kappa([3, 3], [3, 3]) is None
    assert krippendorff_alpha([[3, 3], [3, 3]]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([]) is None


def test_bad_input_is_said():
    with pytest.raises(InputError, match="2 and 1 ratings"):
        weighted_kappa([1, 2], [1])
    with pytest.raises(InputError, match=r"\[0, 6\] are not on the scale"):
        weighted_kappa([0], [6])
    with pytest.raises(InputError, match="different length"):
        krippendorff_alpha([[1], [1, 2]])
    assert not math.isnan(weighted_kappa([1, 1], [1, 2]) or 0.0)
