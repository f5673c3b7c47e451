"""Is a chunk a whole thought? People rate chunks blind, from 1 to 5.

Ratings are people's. None are made up here: until some are recorded, the summary says so and how
to record them.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, variance

from citespan.errors import InputError
from citespan.evaluate.agreement import SCALE, krippendorff_alpha, weighted_kappa
from citespan.evaluate.runs import RankedPassage, as_ranked, raise_problems
from citespan.types import Chunk, Span, content_id

ANCHORS = {
    1: "a fragment: cut within a sentence, or it makes no sense on its own",
    2: "mostly unclear: its beginning or end is missing, or it mixes unrelated subjects",
    3: "half a thought: understandable, but something needed stands elsewhere or does not belong",
    4: "nearly whole: one subject, with a small loose end (a pronoun, a sentence too many)",
    5: "a whole thought: one subject, begins and ends where it should, needs nothing else",
}
QUESTION = "Is this one whole thought?"
NONE_RECORDED = (
    "No ratings were recorded. To record them: each of two or more people runs "
    "'citespan rate --rater NAME', which asks 1 to 5 for each chunk and can be stopped and resumed."
)
SAMPLE_COLUMNS = ("item", "strategy", "doc_id", "spans", "text")
RATING_COLUMNS = ("item", "rater", "rating")


@dataclass(frozen=True, slots=True)
class RatingItem:
    """One drawn chunk. ``id`` tells nothing of the strategy, which the rater must not see."""

    id: str
    strategy: str
    doc_id: str
    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said of one chunk."""

    item: str
    rater: str
    rating: int


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """One strategy's ratings: ``variance`` is the sample's (n - 1), None below two ratings."""

    strategy: str
    ratings: int
    mean: float | None
    variance: float | None
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the raters on the items that they share, and which measure it is."""

    measure: str
    value: float | None
    raters: tuple[str, ...]
    items: int


def draw_sample(
    chunks_by_strategy: Mapping[str, Sequence[Chunk | RankedPassage]], n: int = 10, seed: int = 0
) -> list[RatingItem]:
    """Draw the same number of random chunks of every strategy and shuffle them together.

    Where a strategy has fewer than ``n`` chunks with text, every strategy gives that many.

    >>> one = [RankedPassage("d", (Span(i, i + 1),), 0.0, "x") for i in range(20)]
    >>> items = draw_sample({"fixed": one, "semantic": one[:4]}, n=10)
    >>> len(items), sorted({item.strategy for item in items})
    (8, ['fixed', 'semantic'])

    Raises
    ------
    InputError
        When ``n`` is not positive, or a strategy has no chunks.
    """
    if n < 1:
        raise InputError(f"n={n} chunks a strategy", fix="draw at least 1")
    usable = {
        name: [chunk for chunk in map(as_ranked, chunks) if chunk.text.strip()]
        for name, chunks in chunks_by_strategy.items()
    }
    empty = [name for name, chunks in usable.items() if not chunks]
    if empty or not usable:
        raise InputError(f"no chunks of {', '.join(empty) or 'any strategy'}", fix="split first")
    count = min(n, *(len(chunks) for chunks in usable.values()))
    items = []
    for name, chunks in sorted(usable.items()):
        # The seed of a strategy's draw holds its name: adding one does not change the others'.
        for chunk in random.Random(f"{seed}:{name}").sample(chunks, count):
            label = content_id(str(seed), name, chunk.id)[:8]
            items.append(RatingItem(label, name, chunk.doc_id, chunk.spans, chunk.text))
    random.Random(f"{seed}").shuffle(items)
    return items


def order_for_rater(items: Sequence[RatingItem], rater: str) -> list[RatingItem]:
    """Return the items in a rater's own order, the same every time.

    Raters in one common order would tire on the same chunks.
    """
    ordered = sorted(items, key=lambda item: item.id)
    random.Random(f"rater:{rater}").shuffle(ordered)
    return ordered


def rate_chunks(
    items: Sequence[RatingItem],
    rater: str,
    path: Path | str,
    *,
    ask: Callable[[str], str],
    say: Callable[[str], None],
) -> int:
    """Ask one rater for every chunk not yet rated; return how many were rated now.

    Each rating is in the CSV file (item, rater, rating) before the next one is asked, so that a
    session may stop at any moment (``q``, or the end of input) and go on later.
    """
    path = Path(path)
    if not rater.strip():
        raise InputError("no rater's name", fix="give --rater NAME")
    done = {r.item for r in read_ratings([path]) if r.rater == rater} if path.exists() else set()
    ordered = order_for_rater(items, rater)
    say(QUESTION + "\n" + "\n".join(f"  {value}  {text}" for value, text in ANCHORS.items()))
    say("  s  skip for now    q  stop; what is rated is kept")
    rated = 0
    for number, item in enumerate(ordered, 1):
        if item.id in done:
            continue
        say(f"\n[{number}/{len(ordered)}]\n{item.text}\n")
        answer = _ask_rating(ask, say)
        if answer == "q":
            break
        if answer != "s":
            _append_rating(path, Rating(item.id, rater, int(answer)))
            rated += 1
    return rated


def write_sample(items: Iterable[RatingItem], path: Path | str) -> None:
    """Write the drawn items with their strategies: the key, which no rater should open."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SAMPLE_COLUMNS)
        for item in items:
            spans = " ".join(f"{start}-{end}" for start, end in item.spans)
            writer.writerow((item.id, item.strategy, item.doc_id, spans, item.text))


def read_sample(path: Path | str) -> list[RatingItem]:
    """Read what `write_sample` wrote."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [
            RatingItem(
                row["item"],
                row["strategy"],
                row["doc_id"],
                tuple(Span(*map(int, pair.split("-"))) for pair in row["spans"].split()),
                row["text"],
            )
            for row in csv.DictReader(file)
        ]


def read_ratings(paths: Iterable[Path | str]) -> list[Rating]:
    """Read ratings of any number of files; a later line of one rater and item replaces the first.

    Raises
    ------
    InputError
        Lists every line without an item, a rater, or a whole rating from 1 to 5.
    """
    found: dict[tuple[str, str], Rating] = {}
    problems: list[str] = []
    for path in map(Path, paths):
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                item, rater, value = (str(row.get(name) or "").strip() for name in RATING_COLUMNS)
                if item and rater and value in map(str, SCALE):
                    found[item, rater] = Rating(item, rater, int(value))
                else:
                    text = f"{path.name}: not an item, a rater and a rating of 1 to 5: {value!r}"
                    problems.append(text)
    raise_problems("ratings", problems)
    return list(found.values())


def summarise_ratings(
    items: Iterable[RatingItem], ratings: Iterable[Rating]
) -> dict[str, RatingSummary]:
    """Return each strategy's number of ratings, mean, variance and distribution.

    A strategy nobody rated has mean None: unmeasured, not 0.
    """
    strategy = {item.id: item.strategy for item in items}
    values: dict[str, list[int]] = {name: [] for name in sorted(set(strategy.values()))}
    for rating in ratings:
        if rating.item in strategy:
            values[strategy[rating.item]].append(rating.rating)
    return {
        name: RatingSummary(
            name,
            len(given),
            fmean(given) if given else None,
            variance(given) if len(given) > 1 else None,
            tuple(given.count(value) for value in SCALE),
        )
        for name, given in values.items()
    }


def measure_agreement(ratings: Iterable[Rating]) -> list[Agreement]:
    """Return quadratic weighted kappa of every two raters and, of three or more, alpha too.

    >>> pairs = [("a", "eva", 1), ("a", "jon", 1), ("b", "eva", 5), ("b", "jon", 5)]
    >>> [agreement] = measure_agreement(Rating(*pair) for pair in pairs)
    >>> agreement.measure, agreement.value, agreement.items
    ('quadratic weighted kappa', 1.0, 2)
    """
    by_rater: dict[str, dict[str, int]] = {}
    for rating in ratings:
        by_rater.setdefault(rating.rater, {})[rating.item] = rating.rating
    raters = sorted(by_rater)
    found = []
    for one, two in combinations(raters, 2):
        shared = sorted(by_rater[one].keys() & by_rater[two].keys())
        lists = [[by_rater[rater][item] for item in shared] for rater in (one, two)]
        value = weighted_kappa(*lists) if shared else None
        found.append(Agreement("quadratic weighted kappa", value, (one, two), len(shared)))
    if len(raters) > 2:
        items = sorted({item for given in by_rater.values() for item in given})
        table = [[by_rater[rater].get(item) for item in items] for rater in raters]
        shared_items = sum(
            sum(x is not None for x in unit) > 1 for unit in zip(*table, strict=True)
        )
        alpha = krippendorff_alpha(table)
        found.append(
            Agreement("Krippendorff's alpha (ordinal)", alpha, tuple(raters), shared_items)
        )
    return found


def describe_ratings(items: Sequence[RatingItem], ratings: Sequence[Rating]) -> str:
    """Return the findings in words and numbers, or how to record ratings where there are none.

    >>> describe_ratings([], []).startswith("No ratings were recorded.")
    True
    """
    if not ratings:
        return NONE_RECORDED
    lines = []
    for summary in summarise_ratings(items, ratings).values():
        if summary.mean is None:
            lines.append(f"{summary.strategy}: not rated")
            continue
        spread = "" if summary.variance is None else f", variance {summary.variance:.2f}"
        counts = ", ".join(f"{n}×{v}" for v, n in zip(SCALE, summary.counts, strict=True) if n)
        many = f"{summary.ratings} rating{'s' if summary.ratings != 1 else ''}"
        lines.append(f"{summary.strategy}: mean {summary.mean:.2f}{spread} of {many} ({counts})")
    for agreement in measure_agreement(ratings):
        value = "undefined" if agreement.value is None else f"{agreement.value:.2f}"
        who = ", ".join(agreement.raters)
        lines.append(f"{agreement.measure} of {who}: {value} over {agreement.items} chunks")
    if len({rating.rater for rating in ratings}) < 2:
        lines.append("One rater only: agreement is unmeasured until a second one rates.")
    return "\n".join(lines)


def _ask_rating(ask: Callable[[str], str], say: Callable[[str], None]) -> str:
    while True:
        try:
            answer = ask("1-5> ").strip().lower()
        except EOFError:
            return "q"
        if answer in ("s", "q") or answer in map(str, SCALE):
            return answer
        say("  type a number from 1 to 5, s or q")


def _append_rating(path: Path, rating: Rating) -> None:
    new = not path.exists() or not path.stat().st_size
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(RATING_COLUMNS)
        writer.writerow((rating.item, rating.rater, rating.rating))
