"""Figures: drawn without a screen, titled in full, the same bytes each time, told apart in grey."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from citespan.errors import InputError
from citespan.evaluate import canvas, figures
from citespan.evaluate.cluster_figure import draw_clusters, project_tsne
from citespan.evaluate.metrics import parse_metric
from citespan.evaluate.rating import RatingSummary
from citespan.evaluate.refusal import risk_coverage
from citespan.evaluate.scores import make_scores

pytest.importorskip("matplotlib")

METRIC = parse_metric("span_recall@750tok")


def scores(*values: float):
    return make_scores(METRIC, {f"q{i}": value for i, value in enumerate(values)})


RUNS = {"baseline": scores(0, 1, 1), "semantic": scores(1, 1, 1), "not run": scores()}


def words_of(figure) -> str:
    from matplotlib.text import Text

    return "\n".join(text.get_text() for text in figure.findobj(Text))


def draw_each():
    rng = np.random.default_rng(0)
    wins = {f"q{i}": value for i, value in enumerate([0.5, -0.25, 0.0])}
    return {
        "bars": figures.draw_bars(RUNS),
        "lengths": figures.draw_lengths({"baseline": [3, 5, 9], "one": [4]}),
        "clusters": draw_clusters(
            rng.normal(size=(9, 2)), [0, 0, 1, 1, 2, 2, -1, 0, 1], method="K"
        ),
        "cost": figures.draw_cost({"baseline": 1.0, "semantic": 60.0}, RUNS, cost="seconds"),
        "wins": figures.draw_wins(wins, a="semantic", b="baseline", metric=METRIC, by="question"),
        "ratings": figures.draw_ratings(
            {
                "baseline": RatingSummary("baseline", 3, 3.0, 4.0, (1, 0, 1, 0, 1)),
                "none": RatingSummary("none", 0, None, None, (0,) * 5),
            }
        ),
        "risk": figures.draw_risk_coverage({"gate": risk_coverage([0.9, 0.1], [True, False])}),
    }


def test_each_is_saved_as_png_and_svg_with_the_same_bytes_each_time(tmp_path):
    for name, figure in draw_each().items():
        png, svg = canvas.save_figure(figure, tmp_path / f"{name}.png")
        assert png.read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in svg.read_bytes()[:800]
    again = draw_each()
    for name in ("bars", "risk"):
        for file in canvas.save_figure(again[name], tmp_path / f"{name}-again"):
            first = tmp_path / file.name.replace("-again", "")
            assert file.read_bytes() == first.read_bytes(), file.name


def test_titles_name_the_metric_in_full_and_say_what_is_missing():
    drawn = draw_each()
    for name in ("bars", "cost", "wins"):
        assert "span_recall@750tok" in words_of(drawn[name])
    assert "unmeasured" in words_of(drawn["bars"])
    assert "n = 0" in words_of(drawn["bars"])
    assert "better in 1, worse in 1" in words_of(drawn["wins"]).replace("\n", " ")
    assert "not rated" in words_of(drawn["ratings"])
    assert "higher is better" in words_of(drawn["bars"])
    assert "AURC 0.250" in words_of(drawn["risk"])


def test_a_lower_is_better_metric_turns_wins_round():
    metric = parse_metric("false_refusals")
    figure = figures.draw_wins({"q": -1.0}, a="new", b="old", metric=metric, by="question")
    assert "better in 1, worse in 0" in words_of(figure).replace("\n", " ")


def test_many_questions_keep_the_largest_of_both_sides():
    differences = {f"win{i}": i / 100 for i in range(1, 90)} | {"loss": -0.01}
    figure = figures.draw_wins(differences, a="a", b="b", metric=METRIC, by="question", limit=20)
    words = words_of(figure).replace("\n", " ")
    assert "better in 89, worse in 1" in words
    assert "70 smaller differences not drawn" in words
    assert "loss" in words
    assert "win89" in words
    assert "win1 " not in words


def test_nothing_to_draw_is_said():
    with pytest.raises(InputError, match="no chunk lengths"):
        figures.draw_lengths({})
    with pytest.raises(InputError, match="one metric"):
        figures.draw_bars({"a": RUNS["baseline"], "b": make_scores(parse_metric("MAP"), {})})
    with pytest.raises(InputError, match="both a cost"):
        figures.draw_cost({"x": 1.0}, RUNS, cost="seconds")
    with pytest.raises(InputError, match="too few"):
        project_tsne(np.eye(3, dtype=np.float32))
    same = figures.draw_wins({"q": 0.0}, a="a", b="b", metric=METRIC, by="question")
    assert "no difference anywhere" in words_of(same)


def test_tsne_is_the_same_each_time_and_keeps_clusters_apart():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    centres = np.eye(2, 8)[np.repeat([0, 1], 12)]
    vectors = (centres + rng.normal(scale=0.05, size=(24, 8))).astype(np.float32)
    points = project_tsne(vectors)
    assert np.array_equal(points, project_tsne(vectors))
    middles = points[:12].mean(axis=0), points[12:].mean(axis=0)
    spread = max(np.linalg.norm(points[:12] - middles[0], axis=1).max(), 1e-9)
    assert np.linalg.norm(middles[0] - middles[1]) > spread


def test_kinds_differ_by_more_than_colour():
    kinds = [(canvas.pick_hatch(i), canvas.pick_marker(i)) for i in range(8)]
    assert len({hatch for hatch, _ in kinds}) == len({marker for _, marker in kinds}) == 8


def test_importing_evaluate_loads_no_heavy_library():
    code = (
        "import sys, citespan.evaluate, citespan.evaluate.figures, citespan.evaluate.rating;"
        "print(sorted({'scipy', 'matplotlib', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
