"""The sentences of a document in the plane, by cluster: what a clustering splitter saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from citespan.errors import InputError, MissingExtraError
from citespan.evaluate.canvas import GREY, MARKERS, PALETTE, pick_colour, set_title, start_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def project_tsne(
    vectors: NDArray[np.float32], *, seed: int = 0, perplexity: float = 30.0
) -> NDArray[np.float64]:
    """Return ``[n, 2]`` coordinates of sentence vectors by t-SNE on cosine distance.

    (Van der Maaten, Hinton, JMLR 9, 2008.) Perplexity is lowered for few sentences. Distances
    between far clusters mean little in such a picture.
    """
    if len(vectors) < 4:
        raise InputError(f"{len(vectors)} sentences are too few for t-SNE", fix="give at least 4")
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise MissingExtraError("scikit-learn", extra="figures") from None
    fitting = min(perplexity, (len(vectors) - 1) / 3)
    model = TSNE(2, perplexity=fitting, metric="cosine", init="random", random_state=seed, n_jobs=1)
    return np.asarray(model.fit_transform(vectors), dtype=np.float64)


def draw_clusters(points: NDArray[np.float64], labels: Sequence[int], *, method: str) -> Figure:
    """Draw sentences at 2-d ``points``, by cluster, joined in the document's order.

    Marker and colour tell clusters apart (eight of each: 64 combinations); -1 is noise.
    """
    figure, axes = start_figure(width=7.2, height=5.6)
    axes.plot(points[:, 0], points[:, 1], color="#D0D0D0", linewidth=0.7, zorder=1)
    clusters = sorted(set(labels))
    for place, label in enumerate(label for label in clusters if label >= 0):
        own = points[np.asarray(labels) == label]
        axes.scatter(
            own[:, 0],
            own[:, 1],
            s=42,
            color=pick_colour(place),
            marker=MARKERS[(place // len(PALETTE) + place) % len(MARKERS)],
            edgecolor="white",
            linewidth=0.5,
            zorder=2,
        )
        if len(clusters) <= 40:
            middle = np.median(own, axis=0)
            axes.annotate(
                str(label),
                middle,
                ha="center",
                va="center",
                weight="bold",
                zorder=3,
                bbox={"boxstyle": "round,pad=0.15", "color": "white", "alpha": 0.75},
            )
    noise = points[np.asarray(labels) == -1]
    if len(noise):
        axes.scatter(noise[:, 0], noise[:, 1], s=18, color=GREY, marker="x", zorder=2)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    count = len([label for label in clusters if label >= 0])
    set_title(
        axes,
        f"Sentence clusters by {method} (t-SNE)",
        f"{len(points)} sentences, {count} clusters; the grey line is the document's order",
    )
    return figure
