"""Figures of a comparison: PNG and SVG, safe for colour-blind readers, titled in full.

Each function draws one figure and returns it; `canvas.save_figure` writes it. matplotlib is in the
extra ``figures``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from citespan.errors import InputError
from citespan.evaluate.canvas import (
    GREY,
    PALETTE,
    pick_colour,
    pick_hatch,
    pick_marker,
    say_direction,
    set_title,
    shorten,
    start_figure,
    wrap_text,
)
from citespan.evaluate.metrics import LOWER_IS_BETTER, Metric
from citespan.evaluate.rating import ANCHORS, RatingSummary
from citespan.evaluate.refusal import RiskCoverage
from citespan.evaluate.scores import Scores
from citespan.evaluate.statistics import bootstrap_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_bars(scores_by_run: Mapping[str, Scores], *, confidence: float = 0.95) -> Figure:
    """Draw one metric's mean by strategy, with its bootstrap interval and the number of questions.

    A strategy without a measured question has no bar, but the word "unmeasured".
    """
    metrics = {scores.metric for scores in scores_by_run.values()}
    if len(metrics) != 1:
        raise InputError("one figure shows one metric", fix="call draw_bars once a metric")
    [metric] = metrics
    names = list(scores_by_run)
    figure, axes = start_figure(width=1.6 + 1.25 * max(3, len(names)), height=4.4)
    top = 0.0
    for place, scores in enumerate(scores_by_run.values()):
        if scores.mean is None:
            axes.text(place, 0.01, "unmeasured", ha="center", va="bottom", rotation=90, color=GREY)
            continue
        axes.bar(
            place,
            scores.mean,
            0.66,
            color=pick_colour(place),
            hatch=pick_hatch(place),
            edgecolor="white",
        )
        high = scores.mean
        values = list(scores.values.values())
        if len(values) > 1:
            interval = bootstrap_interval(values, confidence=confidence)
            below, above = scores.mean - interval.low, interval.high - scores.mean
            axes.errorbar(
                place, scores.mean, [[max(0, below)], [max(0, above)]], color="black", capsize=4
            )
            high = max(high, interval.high)
        axes.text(place, high, f"{scores.mean:.3f}", ha="center", va="bottom")
        top = max(top, high)
    labels = [wrap_text(f"{n}\nn = {len(s.values)}") for n, s in scores_by_run.items()]
    axes.set_xticks(range(len(names)), labels)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylim(0, max(0.05, top * 1.12))
    axes.set_ylabel(metric.name)
    set_title(
        axes, f"{metric} by strategy", f"mean, {confidence:.0%} interval; {say_direction(metric)}"
    )
    return figure


def draw_lengths(lengths: Mapping[str, Sequence[int]], *, unit: str = "tokens") -> Figure:
    """Draw how long each strategy's chunks are, one histogram under the other on one scale."""
    shown = {name: np.asarray(values) for name, values in lengths.items() if len(values)}
    if not shown:
        raise InputError("no chunk lengths to draw", fix="give at least one strategy with chunks")
    longest = max(int(values.max()) for values in shown.values())
    edges = np.linspace(0, max(longest, 1), min(40, max(longest, 2)) + 1)
    figure, rows = start_figure(width=7.2, height=1.0 + 1.25 * len(shown), rows=len(shown))
    for place, ((name, values), axes) in enumerate(zip(shown.items(), rows, strict=True)):
        axes.hist(
            values, bins=list(edges), color=pick_colour(place), edgecolor="white", linewidth=0.5
        )
        median = float(np.median(values))
        axes.axvline(median, color="black", linewidth=1.2, linestyle="--")
        note = f"{name}: {len(values)} chunks, median {median:.0f}, longest {int(values.max())}"
        axes.set_title(note, loc="left", fontsize=9.5)
        axes.set_ylabel("chunks")
        axes.tick_params(labelbottom=place == len(shown) - 1)
    rows[-1].set_xlabel(f"length in {unit} (dashed: median)")
    title = f"Chunk length in {unit} by strategy"
    figure.suptitle(title, x=0.01, ha="left", weight="bold", fontsize=12)
    return figure


def draw_cost(
    costs: Mapping[str, float], scores_by_run: Mapping[str, Scores], *, cost: str
) -> Figure:
    """Draw quality against what it costs (``cost`` names it: "seconds", "chunks", "tokens")."""
    shown = [n for n in costs if n in scores_by_run and scores_by_run[n].mean is not None]
    if not shown:
        raise InputError("no strategy has both a cost and a measured mean", fix="measure one")
    metric = scores_by_run[shown[0]].metric
    figure, axes = start_figure(width=6.8, height=4.6)
    for place, name in enumerate(shown):
        mean = scores_by_run[name].mean or 0.0
        axes.scatter(
            costs[name],
            mean,
            s=80,
            color=pick_colour(place),
            marker=pick_marker(place),
            zorder=3,
            edgecolor="black",
            linewidth=0.6,
            label=name,
        )
        values = list(scores_by_run[name].values.values())
        if len(values) > 1:
            interval = bootstrap_interval(values)
            axes.vlines(
                costs[name], interval.low, interval.high, color=pick_colour(place), zorder=2
            )
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    spread = [costs[name] for name in shown if costs[name] > 0]
    if len(spread) == len(shown) and max(spread) > 20 * min(spread):
        axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.set_xlabel(cost)
    axes.set_ylabel(metric.name)
    set_title(axes, f"{metric} against {cost}", f"mean, 95% interval; {say_direction(metric)}")
    return figure


def draw_wins(
    differences: Mapping[str, float], *, a: str, b: str, metric: Metric, by: str, limit: int = 40
) -> Figure:
    """Draw where run ``a`` wins and loses against ``b``: one bar a document or question (``by``).

    ``differences`` are value(a) - value(b); those of 0 are counted, not drawn, and with more than
    ``limit`` others the largest of each side are.
    """
    ordered = sorted(differences.items(), key=lambda item: (item[1], item[0]))
    sign = -1 if metric.stem in LOWER_IS_BETTER else 1
    losses = [item for item in ordered if sign * item[1] < 0]
    wins = [item for item in ordered if sign * item[1] > 0]
    ties = len(ordered) - len(losses) - len(wins)
    if len(losses) + len(wins) > limit:
        half = max(1, limit // 2)
        losses_shown = sorted(losses, key=lambda i: -abs(i[1]))[: max(half, limit - len(wins))]
        wins_shown = sorted(wins, key=lambda i: -abs(i[1]))[: limit - len(losses_shown)]
    else:
        losses_shown, wins_shown = losses, wins
    shown = sorted(losses_shown + wins_shown, key=lambda item: (sign * item[1], item[0]))
    figure, axes = start_figure(width=7.2, height=1.7 + 0.24 * max(4, len(shown)))
    for place, (_, value) in enumerate(shown):
        won = sign * value > 0
        axes.barh(
            place,
            value,
            0.72,
            color=PALETTE[0] if won else PALETTE[3],
            hatch="" if won else "//",
            edgecolor="white",
        )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [shorten(name, 46) for name, _ in shown], fontsize=8)
    axes.set_ylim(-0.7, max(len(shown), 1) - 0.3)
    axes.set_xlabel(f"{metric}: {a} minus {b}")
    axes.grid(axis="y", visible=False)
    if not shown:
        axes.text(0.5, 0.5, "no difference anywhere", transform=axes.transAxes, ha="center")
        axes.set_xticks([])
    hidden = len(wins) + len(losses) - len(shown)
    rest = f"; {hidden} smaller differences not drawn" if hidden else ""
    set_title(
        axes,
        f"{metric} by {by}: where {a} wins and loses",
        f"against {b}: better in {len(wins)}, worse in {len(losses)} (hatched), "
        f"equal in {ties}{rest}",
        share=0.55,
    )
    return figure


def draw_ratings(summaries: Mapping[str, RatingSummary]) -> Figure:
    """Draw the distribution of people's ratings by strategy, as shares of each one's ratings."""
    figure, axes = start_figure(width=7.6, height=1.9 + 0.62 * max(1, len(summaries)))
    shades = ("#D55E00", "#F3B27F", "#DDDDDD", "#7FB8D8", "#0072B2")
    for place, summary in enumerate(summaries.values()):
        left = 0.0
        for value, count, shade in zip(ANCHORS, summary.counts, shades, strict=True):
            share = count / summary.ratings if summary.ratings else 0.0
            axes.barh(place, share, 0.62, left, color=shade, edgecolor="white")
            if share > 0.06:
                dark = shade in ("#D55E00", "#0072B2")
                colour = "white" if dark else "black"
                axes.text(
                    left + share / 2, place, str(value), ha="center", va="center", color=colour
                )
            left += share
        mean = "not rated" if summary.mean is None else f"mean {summary.mean:.2f}"
        axes.text(1.02, place, f"{mean}, n = {summary.ratings}", va="center", fontsize=9)
    axes.set_yticks(range(len(summaries)), list(summaries))
    axes.set_xlim(0, 1)
    axes.set_ylim(len(summaries) - 0.5, -0.5)
    axes.set_xlabel("share of ratings")
    axes.grid(axis="y", visible=False)
    set_title(
        axes,
        "Is a chunk a whole thought? Ratings 1 to 5",
        f"1 {ANCHORS[1].split(':')[0]}, 5 {ANCHORS[5].split(':')[0]}; rated by people",
    )
    return figure


def draw_risk_coverage(curves: Mapping[str, RiskCoverage]) -> Figure:
    """Draw the share of wrong answers against the share of questions answered."""
    figure, axes = start_figure(width=6.8, height=4.6)
    styles = ("-", "--", "-.", ":")
    for place, (name, curve) in enumerate(curves.items()):
        axes.plot(
            curve.coverage,
            curve.risk,
            color=pick_colour(place),
            linewidth=2,
            linestyle=styles[place % len(styles)],
            marker=pick_marker(place),
            markevery=0.15,
            markersize=6,
            label=f"{name} (AURC {curve.area:.3f})",
        )
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, None)
    axes.set_xlabel("coverage: share of questions answered")
    axes.set_ylabel("risk: share of answers that are wrong")
    axes.legend(frameon=False)
    set_title(
        axes,
        "Risk against coverage",
        "most confident first; AURC is the mean risk, lower is better",
    )
    return figure
