"""Rating sessions: blind, the same for every strategy, resumable; and nothing is made up."""

from __future__ import annotations

import pytest

from citespan.errors import InputError
from citespan.evaluate.rating import (
    ANCHORS,
    Rating,
    describe_ratings,
    draw_sample,
    measure_agreement,
    order_for_rater,
    rate_chunks,
    read_ratings,
    read_sample,
    summarise_ratings,
    write_sample,
)
from citespan.evaluate.runs import RankedPassage
from citespan.types import Span


def make_chunks(name: str, count: int) -> list[RankedPassage]:
    return [
        RankedPassage(f"{name}.txt", (Span(10 * i, 10 * i + 9),), 0.0, f"Text {i},\n“{name}”.")
        for i in range(count)
    ]


CHUNKS = {"secretive": make_chunks("x", 30), "baseline": make_chunks("y", 50)}


def session(items, rater, path, *typed):
    answers, said = iter(typed), []

    def ask(prompt):
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    rated = rate_chunks(items, rater, path, ask=ask, say=said.append)
    return rated, "\n".join(said)


def test_a_sample_is_even_seeded_and_shuffled():
    items = draw_sample(CHUNKS, n=10, seed=3)
    assert sorted(item.strategy for item in items) == ["baseline"] * 10 + ["secretive"] * 10
    assert items == draw_sample(CHUNKS, n=10, seed=3)
    assert items != draw_sample(CHUNKS, n=10, seed=4)
    order = [item.strategy for item in items]
    assert order not in (sorted(order), sorted(order)[::-1])
    assert len({item.id for item in items}) == 20


def test_another_strategy_does_not_change_the_draw_of_the_first_ones():
    more = CHUNKS | {"third": make_chunks("z", 40)}
    first, second = (
        {i.id for i in draw_sample(chunks, n=10) if i.strategy == "baseline"}
        for chunks in (CHUNKS, more)
    )
    assert first == second


def test_every_strategy_gives_as_many_as_the_smallest_can():
    items = draw_sample({"few": make_chunks("x", 3), "many": make_chunks("y", 50)}, n=10)
    assert len(items) == 6
    with pytest.raises(InputError, match="no chunks of none"):
        draw_sample({"none": [], "many": make_chunks("y", 5)})
    with pytest.raises(InputError, match="n=0"):
        draw_sample(CHUNKS, n=0)


def test_raters_have_their_own_order_and_never_see_the_strategy(tmp_path):
    items = draw_sample(CHUNKS, n=5)
    assert order_for_rater(items, "eva") != order_for_rater(items, "jon")
    assert order_for_rater(items, "eva") == order_for_rater(items[::-1], "eva")
    _, said = session(items, "eva", tmp_path / "eva.csv", *["3"] * 10)
    assert "secretive" not in said
    assert "baseline" not in said
    assert ".txt" not in said
    assert all(text in said for text in ANCHORS.values())


def test_a_session_is_resumed_after_any_stop(tmp_path):
    items, path = draw_sample(CHUNKS, n=5), tmp_path / "eva.csv"
    assert session(items, "eva", path, "1", "9", "", "2")[0] == 2
    assert session(items, "eva", path, "s", "3", "q")[0] == 1
    rated, said = session(items, "eva", path, *["4"] * 20)
    assert rated == 7
    assert "[1/10]" not in said, "what is rated is not asked again"
    ratings = read_ratings([path])
    assert sorted(r.rating for r in ratings) == [1, 2, 3, *[4] * 7]
    assert {r.item for r in ratings} == {item.id for item in items}
    assert session(items, "eva", path)[0] == 0


def test_the_key_is_read_back(tmp_path):
    chunks = [RankedPassage("d", (Span(0, 3), Span(9, 12)), 0.0, 'a, "b"\nc')]
    items = draw_sample({"one": chunks})
    write_sample(items, tmp_path / "key.csv")
    assert read_sample(tmp_path / "key.csv") == items


def test_summary_by_hand():
    items = draw_sample(
        {"a": make_chunks("x", 2), "b": make_chunks("y", 2), "c": make_chunks("z", 2)}
    )
    own = {name: [i.id for i in items if i.strategy == name] for name in "abc"}
    ratings = [
        Rating(own["a"][0], "eva", 5),
        Rating(own["a"][1], "eva", 4),
        Rating(own["a"][0], "jon", 3),
        Rating(own["b"][0], "eva", 2),
        Rating("another sample's", "eva", 1),
    ]
    a, b, c = summarise_ratings(items, ratings).values()
    assert (a.ratings, a.mean, a.variance, a.counts) == (3, 4.0, 1.0, (0, 0, 1, 1, 1))
    assert (b.mean, b.variance) == (2.0, None)
    assert (c.ratings, c.mean) == (0, None)
    text = describe_ratings(items, ratings)
    assert "a: mean 4.00, variance 1.00 of 3 ratings (1×3, 1×4, 1×5)" in text
    assert "c: not rated" in text


def test_agreement_of_two_and_of_three():
    values = {"eva": [1, 2, 3, 4, 5], "jon": [1, 2, 3, 4, 4], "ada": [2, 2, 3, 5, 5]}
    ratings = [Rating(f"i{n}", who, x) for who, xs in values.items() for n, x in enumerate(xs)]
    two = measure_agreement(r for r in ratings if r.rater != "ada")
    assert [a.measure for a in two] == ["quadratic weighted kappa"]
    assert two[0].value == pytest.approx(1 - 1 / 17)
    three = measure_agreement(ratings)
    assert [a.raters for a in three][:3] == [("ada", "eva"), ("ada", "jon"), ("eva", "jon")]
    assert three[-1].measure == "Krippendorff's alpha (ordinal)"
    assert three[-1].items == 5


def test_none_are_made_up():
    items = draw_sample(CHUNKS, n=2)
    text = describe_ratings(items, [])
    assert "No ratings were recorded" in text
    assert "citespan rate" in text
    assert all(s.mean is None for s in summarise_ratings(items, []).values())
    assert measure_agreement([]) == []
    one = describe_ratings(items, [Rating(items[0].id, "eva", 3)])
    assert "One rater only" in one


def test_bad_lines_are_reported_together(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,rating\na,eva,6\na,,3\na,eva,3.5\nb,eva,3\n", "utf-8")
    with pytest.raises(InputError, match="3 problems"):
        read_ratings([path])
    with pytest.raises(InputError, match="no rater"):
        session(draw_sample(CHUNKS, n=2), " ", path)
