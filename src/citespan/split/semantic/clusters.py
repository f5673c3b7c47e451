"""Clusters of sentences wherever they stand: DBSCAN and k-means, and the silhouette that picks.

Both work in blocks of rows, so that memory grows with the number of sentences and not with its
square. Labels number the clusters from 0 in the order in which they first occur in DBSCAN's sense
(by their first core sentence); -1 is DBSCAN's noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from citespan.split.semantic.vectors import Floats, row_products, sum_clusters

Labels = NDArray[np.int64]

EPS_GRID = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
"""Cosine distances that are tried as DBSCAN's radius."""
CELLS = 2_000_000
"""Similarities held at a time."""
STARTS = 4
"""k-means is begun so many times from other seeds; the least inertia counts."""
STEPS = 100


def cluster_density(rows: Floats, eps: Sequence[float], min_samples: int) -> list[Labels]:
    """Return DBSCAN's labels for each radius (Ester, Kriegel, Sander and Xu 1996).

    A sentence is *core* if at least ``min_samples`` sentences, itself among them, lie within the
    cosine distance ``eps``; core sentences within reach of one another are one cluster, a sentence
    that is not core joins the first cluster that reaches it, and the rest is noise. Same labels as
    scikit-learn's ``DBSCAN(metric="cosine")``.

    >>> rows = np.eye(3)[[0, 0, 1, 1, 2]]
    >>> [labels.tolist() for labels in cluster_density(rows, [0.5], 2)]
    [[0, 0, 1, 1, -1]]
    """
    count = len(rows)
    if count == 0:
        return [np.zeros(0, dtype=np.int64) for _ in eps]
    degrees = np.zeros((len(eps), count), dtype=np.int64)
    for part, distances in _blocks(rows):
        for number, radius in enumerate(eps):
            degrees[number, part] = (distances <= radius).sum(axis=1)
    core = degrees >= min_samples
    # A cluster is known by its first core sentence; blocks join clusters that an edge connects.
    heads = np.tile(np.arange(count), (len(eps), 1))
    for part, distances in _blocks(rows):
        for number, radius in enumerate(eps):
            heads[number] = _join(heads[number], core[number], part, distances <= radius)
    borders = np.full((len(eps), count), count)
    for part, distances in _blocks(rows):
        for number, radius in enumerate(eps):
            reached = (distances <= radius) & core[number]
            borders[number, part] = np.where(reached, heads[number], count).min(axis=1)
    found = []
    for number in range(len(eps)):
        first = np.where(core[number], heads[number], borders[number])
        names = np.unique(heads[number][core[number]])
        labels = np.searchsorted(names, first)
        labels[first == count] = -1
        found.append(labels.astype(np.int64))
    return found


def search_eps(rows: Floats, min_samples: int) -> tuple[Labels, float, float]:
    """Return DBSCAN's labels, radius and silhouette for the radius of the greatest silhouette.

    The radii are those of ``EPS_GRID``. Noise counts as a cluster of single sentences, each with
    silhouette 0: a radius that calls nearly everything noise does not win by the rest. Where no
    radius gives two clusters the widest counts, and the silhouette is NaN.
    """
    options = cluster_density(rows, EPS_GRID, min_samples)
    best: tuple[Labels, float, float] = (options[-1], EPS_GRID[-1], float("nan"))
    for labels, eps in zip(options, EPS_GRID, strict=True):
        if labels.max(initial=-1) < 1:
            continue
        values = np.zeros(len(labels))
        kept = labels >= 0
        values[kept] = silhouette_values(rows[kept], labels[kept])
        if not best[2] >= values.mean():
            best = (labels, eps, float(values.mean()))
    return best


def cluster_means(rows: Floats, count: int, seed: int) -> Labels:
    """Return k-means labels of unit rows (Lloyd 1982, begun by k-means++, Arthur 2007).

    Between unit vectors the squared Euclidean distance is 2 - 2 cos, so this is k-means under
    cosine similarity.

    >>> cluster_means(np.eye(2)[[0, 1, 0, 1]], 2, seed=0).tolist()
    [0, 1, 0, 1]
    """
    generator = np.random.default_rng(seed)
    best, least = np.zeros(len(rows), dtype=np.int64), np.inf
    for _ in range(STARTS):
        labels, inertia = refine_means(rows, _seed_means(rows, count, generator))
        # A hair of inertia is rounding; the first of equals counts on every machine.
        if inertia < least - 1e-9:
            best, least = labels, inertia
    return order_labels(best)


def refine_means(rows: Floats, means: Floats) -> tuple[Labels, float]:
    """Return Lloyd's labels from these means on, and the inertia (sum of squared distances)."""
    labels = np.full(len(rows), -1, dtype=np.int64)
    own = _squares(rows)
    for _ in range(STEPS):
        distances = _distances(rows, means, own)
        nearest = distances.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        sizes = np.bincount(labels, minlength=len(means))
        sums = sum_clusters(rows, labels, len(means))
        held = sizes > 0
        means = means.copy()
        means[held] = sums[held] / sizes[held, None]
        # An empty cluster begins again at the sentence that is farthest from its mean.
        if not held.all():
            far = np.argsort(-distances.min(axis=1), kind="stable")[: int((~held).sum())]
            means[~held] = rows[far]
    return labels, float(_distances(rows, means, own).min(axis=1).sum())


def search_k(rows: Floats, seed: int, most: int = 20) -> tuple[Labels, float]:
    """Return the k-means labels of the k with the greatest silhouette, and that silhouette.

    k runs over 2 … min(most, n / 2); of equals the smallest counts (Rousseeuw 1987). With fewer
    than four sentences all are one cluster, and the silhouette is NaN.
    """
    best, score = np.zeros(len(rows), dtype=np.int64), float("nan")
    for count in range(2, min(most, len(rows) // 2) + 1):
        labels = cluster_means(rows, count, seed)
        if labels.max(initial=0) < 1:
            continue
        value = float(silhouette_values(rows, labels).mean())
        if not score >= value - 1e-9:
            best, score = labels, value
    return best, score


def silhouette_values(rows: Floats, labels: Labels) -> Floats:
    """Return each sentence's silhouette under cosine distance (Rousseeuw 1987), ``[n]``.

    ``(b - a) / max(a, b)``: a the mean distance to the others of its cluster, b to the nearest
    other cluster; 0 for a cluster of one. The mean cosine to a cluster is the product with the sum
    of its vectors, so this takes n × k products, a block at a time, and is exact.

    >>> silhouette_values(np.eye(2)[[0, 0, 1, 1]], np.array([0, 0, 1, 1])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    names, place = np.unique(labels, return_inverse=True)
    count = len(names)
    if count < 2:
        return np.zeros(len(labels))
    sizes = np.bincount(place, minlength=count)
    sums = sum_clusters(rows, place.astype(np.int64), count)
    selves = 1.0 - row_products(rows, rows)
    values = np.zeros(len(labels))
    step = max(1, CELLS // count)
    for start in range(0, len(labels), step):
        part = slice(start, min(start + step, len(labels)))
        totals = sizes[None, :] - rows[part] @ sums.T
        each, home = np.arange(part.stop - start), place[part]
        # A row of zeros has distance 1 to all, but 0 to itself.
        inner = totals[each, home] - selves[part]
        own = inner / np.maximum(1, sizes[home] - 1)
        other = totals / sizes[None, :]
        other[each, home] = np.inf
        nearest = other.min(axis=1)
        larger = np.maximum(own, nearest)
        np.divide(nearest - own, larger, out=values[part], where=larger > 0)
    values[sizes[place] == 1] = 0.0
    found: Floats = values
    return found


def order_labels(labels: Labels) -> Labels:
    """Return the labels renumbered from 0 in the order in which clusters first occur.

    >>> order_labels(np.array([7, 2, 7, 3])).tolist()
    [0, 1, 0, 2]
    """
    names, first, place = np.unique(labels, return_index=True, return_inverse=True)
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(names))
    return ranks[place]


def _blocks(rows: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of rows with their cosine distances to all rows."""
    count = len(rows)
    step = max(1, CELLS // max(1, count))
    for start in range(0, count, step):
        part = slice(start, min(count, start + step))
        distances = rows[part] @ rows.T
        np.subtract(1.0, distances, out=distances)
        # Also an empty sentence, whose row is zeros, is near to itself.
        distances[np.arange(part.stop - start), np.arange(start, part.stop)] = 0.0
        yield part, distances


def _join(heads: Labels, core: NDArray[np.bool_], part: slice, near: NDArray[np.bool_]) -> Labels:
    """Return the heads after joining the clusters that this block's core pairs connect."""
    from scipy import sparse

    count = len(heads)
    left = np.flatnonzero(core[part]) + part.start
    if not len(left):
        return heads
    # Columns of one cluster side by side, so that a row meets each cluster once.
    columns = np.flatnonzero(core)
    columns = columns[np.argsort(heads[columns], kind="stable")]
    names, begins = np.unique(heads[columns], return_index=True)
    met = np.logical_or.reduceat(near[np.ix_(left - part.start, columns)], begins, axis=1)
    row, name = np.nonzero(met)
    graph = sparse.coo_matrix(
        (np.ones(len(row), dtype=np.int8), (heads[left[row]], names[name])), shape=(count, count)
    )
    total, groups = sparse.csgraph.connected_components(graph.tocsr(), directed=False)
    least = np.full(total, count, dtype=np.int64)
    np.minimum.at(least, groups, np.arange(count))
    found: Labels = least[groups[heads]]
    return found


def _seed_means(rows: Floats, count: int, generator: np.random.Generator) -> Floats:
    own = _squares(rows)
    chosen = [int(generator.integers(len(rows)))]
    while len(chosen) < count:
        distances = _distances(rows, rows[chosen], own).min(axis=1)
        total = distances.sum()
        if total <= 1e-12:
            # Fewer distinct sentences than clusters.
            break
        point = generator.random() * total
        chosen.append(int(np.searchsorted(distances.cumsum(), point, side="right")))
    return rows[[min(number, len(rows) - 1) for number in chosen]]


def _squares(rows: Floats) -> Floats:
    return row_products(rows, rows)


def _distances(rows: Floats, means: Floats, own: Floats) -> Floats:
    products = rows @ means.T
    squares = own[:, None] - 2 * products + (means**2).sum(axis=1)[None, :]
    found: Floats = np.maximum(squares, 0.0)
    return found
