"""When is one strategy better? The same comparison within groups of questions.

Questions are grouped by something known of them, such as the length of their document or the
number of its subject changes; all groups are corrected together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from citespan.errors import InputError
from citespan.evaluate.groundtruth import Question
from citespan.evaluate.statistics import Comparison, compare_runs, holm


def measure_questions(
    questions: Sequence[Question], of_documents: Mapping[str, float]
) -> dict[str, float]:
    """Return for each question the mean of a figure over its relevant documents.

    Questions without a document of which the figure is known are left out.

    >>> measure_questions([Question("q", "?", ("a", "b"))], {"a": 100, "b": 300})
    {'q': 200.0}
    """
    measured = {}
    for question in questions:
        known = [of_documents[d] for d in question.document_grades if d in of_documents]
        if known:
            measured[question.id] = sum(known) / len(known)
    return measured


def group_questions(
    measured: Mapping[str, float], what: str, *, groups: int = 3
) -> dict[str, list[str]]:
    """Return groups of about equal size by a figure, named by what and from where to where.

    Questions of one figure are never parted, so there may be fewer groups.

    >>> group_questions({"a": 1, "b": 2, "c": 9, "d": 9}, "characters", groups=2)
    {'characters 1 to 2': ['a', 'b'], 'characters 9': ['c', 'd']}
    """
    if groups < 1:
        raise InputError(f"groups={groups}", fix="ask for at least 1")
    if not measured:
        return {}
    values = np.array(list(measured.values()), dtype=np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, groups) / groups, method="lower"))
    places = np.searchsorted(edges, values, side="left")
    found: dict[str, list[str]] = {}
    for place in np.unique(places):
        own = values[places == place]
        low, high = own.min(), own.max()
        name = f"{what} {low:g}" if low == high else f"{what} {low:g} to {high:g}"
        found[name] = [q for q, at in zip(measured, places, strict=True) if at == place]
    return found


def compare_groups(
    values: Mapping[str, Mapping[str, float]],
    metric: str,
    groups: Mapping[str, Sequence[str]],
    *,
    a: str,
    b: str,
    seed: int = 0,
) -> dict[str, Comparison]:
    """Compare run ``a`` with run ``b`` within each group, corrected over the groups (Holm).

    Groups in which the two runs share fewer than two questions are left out.

    >>> old, new = {f"q{i}": 0.0 for i in range(20)}, {f"q{i}": float(i < 10) for i in range(20)}
    >>> groups = {"short": [f"q{i}" for i in range(10)], "long": [f"q{i}" for i in range(10, 20)]}
    >>> found = compare_groups({"new": new, "old": old}, "MRR@3", groups, a="new", b="old")
    >>> found["short"].shown, found["long"].shown
    (True, False)
    """
    found: dict[str, Comparison] = {}
    for name, members in groups.items():
        own = {run: {q: values[run][q] for q in members if q in values[run]} for run in (a, b)}
        if len(own[a].keys() & own[b].keys()) >= 2:
            [found[name]] = compare_runs(own, metric, seed=seed)
    corrected = holm([comparison.p_value for comparison in found.values()])
    return {
        name: replace(comparison, p_corrected=p, compared=len(found))
        for (name, comparison), p in zip(found.items(), corrected, strict=True)
    }
