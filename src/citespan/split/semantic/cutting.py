"""A document's sentences into groups: the method, then the repair, and a note on each step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from citespan.split.semantic.clusters import (
    Labels,
    cluster_density,
    cluster_means,
    search_eps,
    search_k,
    silhouette_values,
)
from citespan.split.semantic.contrast import Contrast, measure_contrast, score_pairs
from citespan.split.semantic.options import CONTIGUOUS, WINDOWS, Options
from citespan.split.semantic.repair import Group, Notes, assign_noise, cut_large, join_small
from citespan.split.semantic.segments import (
    cut_depths,
    cut_percentile,
    segment_band,
    sum_segments,
)
from citespan.split.semantic.sentences import Sentences, find_reach
from citespan.split.semantic.vectors import (
    Floats,
    Space,
    centre_rows,
    compare_rows,
    compare_windows,
    dense_rows,
)


@dataclass(frozen=True, slots=True)
class Cut:
    """One document's groups and how they came about.

    ``clusters`` is what the method found before the repair, -1 for noise. ``subjects`` are the
    groups after the repair by sentences, ``groups`` the chunks: subjects longer than the hard
    maximum of tokens are cut further. Every sentence is in one of each. ``contrast`` says
    how well each space tells near from far, and ``space`` is the best; both are None where the
    document is too short to be parted. ``eps`` is NaN where it does not apply.
    """

    clusters: Labels
    subjects: list[Group]
    groups: list[Group]
    notes: Notes
    space: Space | None = None
    contrast: Contrast | None = None
    eps: float = float("nan")


def cut_document(sentences: Sentences, options: Options) -> Cut:
    """Return the groups of a document's sentences; every sentence is in exactly one."""
    count = len(sentences.spans)
    notes = Notes()
    if not sentences.spaces:
        # Too few to part without falling below the minimum; the hard maximum may still part them.
        clusters = np.zeros(count, dtype=np.int64)
        plain = [list(range(count))] if count else []
        rows = np.zeros((count, 1))
        subjects = cut_large(plain, rows, sentences.limits.without_maximum(), notes)
        groups = cut_large(subjects, rows, sentences.limits, notes)
        return Cut(clusters, subjects, groups, notes)
    if options.method == "segments":
        return _cut_segments(sentences, options, notes)
    contrast = measure_contrast(sentences.spaces)
    space = sentences.spaces[contrast.best()]
    rows = dense_rows(space)
    clusters, eps = _find_clusters(rows, space.name, options)
    contiguous = options.method in CONTIGUOUS
    labels = assign_noise(clusters, rows, notes)
    if contiguous:
        for boundary in np.flatnonzero(np.diff(labels)) + 1:
            notes.cut[int(boundary)] = "similarity drops here"
    groups = [np.flatnonzero(labels == name).tolist() for name in np.unique(labels)]
    joined = join_small(groups, rows, sentences.limits, notes, contiguous=contiguous)
    subjects = cut_large(joined, rows, sentences.limits.without_maximum(), notes)
    groups = cut_large(subjects, rows, sentences.limits, notes)
    return Cut(clusters, subjects, groups, notes, space, contrast, eps)


def _cut_segments(sentences: Sentences, options: Options, notes: Notes) -> Cut:
    spaces = [centre_rows(space) for space in sentences.spaces]
    contrast = measure_contrast(spaces)
    count = len(sentences.spans)
    scores = score_pairs(spaces, contrast, options.max_sentences - 1, options.threshold)
    reach, least = find_reach(sentences)
    most = np.arange(count) + sentences.limits.max_sentences
    edges = [0, *segment_band(scores, most, least, sentences.heads, options.exponent), count]
    subjects = [list(range(a, b)) for a, b in pairwise(edges)]
    clusters = label_groups(subjects, count)
    inner = sum_segments(scores)

    def worth(first: int, behind: int) -> float:
        return float(inner[first, behind - first - 1] / (behind - first) ** options.exponent)

    for first, place, behind in zip(edges, edges[1:], edges[2:], strict=False):
        if place in sentences.heads:
            notes.cut[place] = "a section begins"
        elif behind - first > sentences.limits.max_sentences:
            notes.cut[place] = f"together {behind - first} sentences, at most {most[0]}; best here"
        else:
            loss = worth(first, place) + worth(place, behind) - worth(first, behind)
            notes.cut[place] = f"the subject changes: joined they score {loss:.2f} less"
    # Within the subjects once more, now under the hard maximum.
    ends = np.repeat(edges[1:], [len(group) for group in subjects])
    within = np.minimum(reach, ends), np.minimum(least, ends)
    inside = segment_band(scores, *within, exponent=options.exponent)
    for place in set(inside) - set(edges):
        size = f"{sentences.limits.maximum} {sentences.limits.unit}"
        notes.cut[place] = f"the subject is longer than {size}; best here"
    groups = [list(range(a, b)) for a, b in pairwise([0, *inside, count])]
    best = sentences.spaces[contrast.best()]
    return Cut(clusters, subjects, groups, notes, best, contrast)


def _find_clusters(rows: Floats, space: str, options: Options) -> tuple[Labels, float]:
    """Return the method's labels, and DBSCAN's radius (NaN for the other methods)."""
    nothing = float("nan")
    if options.method == "dbscan":
        if options.eps is not None:
            return cluster_density(rows, [options.eps], options.min_samples)[0], options.eps
        labels, eps, _ = search_eps(rows, options.min_samples)
        return labels, eps
    if options.method == "kmeans":
        if options.n_clusters is not None:
            count = min(options.n_clusters, len(rows))
            return cluster_means(rows, count, options.random_state), nothing
        return search_k(rows, options.random_state)[0], nothing
    if options.method == "breakpoints":
        found = cut_percentile(compare_windows(rows, options.window or 1), options.percentile)
    else:
        window = options.window or WINDOWS[space]
        similarities = compare_windows(rows, window)
        found = cut_depths(similarities, options.min_sentences, options.deviations)
    labels = np.zeros(len(rows), dtype=np.int64)
    labels[found] = 1
    return labels.cumsum(), nothing


def compare_neighbours(cut: Cut) -> Floats:
    """Return each sentence's cosine with the next, ``[n - 1]``; empty without vectors."""
    return np.zeros(0) if cut.space is None else compare_rows(cut.space.rows, 1)


def measure_silhouette(cut: Cut) -> float:
    """Return the mean silhouette of the subjects, NaN where there are not two."""
    if cut.space is None or len(cut.subjects) < 2:
        return float("nan")
    labels = label_groups(cut.subjects, len(cut.clusters))
    return float(silhouette_values(dense_rows(cut.space), labels).mean())


def label_groups(groups: list[Group], count: int) -> Labels:
    """Return the number of each sentence's group, ``[n]``.

    >>> label_groups([[0, 2], [1]], 3).tolist()
    [0, 1, 0]
    """
    labels = np.empty(count, dtype=np.int64)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels
