"""Retrieve small, read around it: grow passages around the hits, within a token budget.

A document's sentences are its units, numbered in order. The hits come first: each takes the units
it touches, best hit first, while the total budget lasts. What is left of the budget is then spent
on neighbours, one a hit and round, after and before it in turn, until a passage has reached its
own limit. So the size of the window never decides which hits are read, only how much stands
around them. Units that adjoin or overlap become one passage; nothing is joined across documents.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from citespan.errors import InputError
from citespan.spans import heading_path, merge_spans, overlap_length, page_range, trim_span
from citespan.tokens import estimate_tokens
from citespan.types import Document, Hit, Passage, Place, Span

Count = Callable[[str], int]


def expand_hits(
    hits: Iterable[Hit],
    get_document: Callable[[str], Document | None],
    get_sentences: Callable[[str], Sequence[Span]],
    *,
    budget: int = 1500,
    passage_budget: int = 300,
    count: Count = estimate_tokens,
) -> list[Passage]:
    """Return passages around the hits, best first, of at most ``budget`` tokens together.

    Parameters
    ----------
    hits
        What retrieval found. A hit whose document is gone is passed over.
    get_document, get_sentences
        Read one document, and the spans of its sentences in order, by the document's id.
    budget
        Tokens of all passages together. A hit that does not fit the rest of it is passed over;
        if not even the first fits, it is cut.
    passage_budget
        Tokens up to which a passage grows by neighbours. A hit that is longer stays whole, and
        passages that come to adjoin become one whatever their length.
    count
        Measures a text; by default an estimate of a model's tokens.

    Returns
    -------
    list of Passage
        Slices of the documents, no character twice. A passage has the score and parts of the best
        hit in it, the spans of all its hits, its page and heading by offset, and the other places
        (``duplicates``) where a hit's same text was found.

    Raises
    ------
    InputError
        If a budget is below 1.

    Examples
    --------
    >>> from citespan.types import Chunk
    >>> text = "One is here. Two is there. Three is gone."
    >>> hit = Hit(Chunk("d", 0, (Span(13, 26),), text[13:26]), score=2.0, rank=1)
    >>> spans = [Span(0, 12), Span(13, 26), Span(27, 41)]
    >>> found = expand_hits([hit], lambda _: Document("d", "d.txt", text), lambda _: spans,
    ...     passage_budget=7, count=lambda t: len(t.split()))
    >>> [(p.text, p.start, p.end) for p in found]
    [('Two is there. Three is gone.', 13, 41)]
    """
    if budget < 1 or passage_budget < 1:
        raise InputError(
            f"a budget of {min(budget, passage_budget)} tokens holds nothing",
            fix="set --budget and --passage to 1 or more",
        )
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.rank))
    pages: dict[str, _Page] = {}
    for hit in ranked:
        if hit.chunk.document_id not in pages:
            document = get_document(hit.chunk.document_id)
            if document is not None:
                own = [h for h in ranked if h.chunk.document_id == document.id]
                sentences = get_sentences(document.id)
                pages[document.id] = _Page(
                    document, _make_units(document.text, sentences, own, passage_budget, count)
                )

    cores = _take_hits(ranked, pages, budget, count)
    _grow_windows(cores, pages, budget, passage_budget, count)
    passages = [p for page in pages.values() for p in _cut_passages(page, cores, pages)]
    passages.sort(key=lambda p: (-p.score, p.source, p.start))
    return _join_identical(passages)


@dataclass(slots=True)
class _Page:
    """A document while its passages are made: its units, and which of them are taken."""

    document: Document
    units: list[Span]
    taken: set[int] = field(default_factory=set)

    def run_around(self, unit: int) -> tuple[int, int]:
        """Return the first and last of the taken units that adjoin one."""
        first = last = unit
        while first - 1 in self.taken:
            first -= 1
        while last + 1 in self.taken:
            last += 1
        return first, last

    def slice(self, first: int, last: int) -> str:
        return self.document.text[self.units[first].start : self.units[last].end]

    def cost_of_taking(self, units: Iterable[int], count: Count) -> int:
        """Return by how many tokens the document's passages grow with these units."""
        before = {self.run_around(u) for u in self.taken_near(units)}
        added = set(units) - self.taken
        self.taken |= added
        after = {self.run_around(u) for u in units}
        self.taken -= added
        return sum(count(self.slice(*r)) for r in after) - sum(
            count(self.slice(*r)) for r in before
        )

    def taken_near(self, units: Iterable[int]) -> set[int]:
        return {n for u in units for n in (u - 1, u, u + 1) if n in self.taken}


@dataclass(slots=True)
class _Core:
    """The units of one hit in one run, and the other places where its text stands."""

    hit: Hit
    document_id: str
    units: list[int]
    places: list[Span] = field(default_factory=list)
    twins: list[tuple[str, Span]] = field(default_factory=list)


def _make_units(
    text: str, sentences: Sequence[Span], hits: Sequence[Hit], limit: int, count: Count
) -> list[Span]:
    """Return the sentences, and any stretch of a hit that no sentence covers.

    A sentence longer than a passage may be is cut at the hits' edges.
    """
    wanted = [_clip(span, text) for hit in hits for span in hit.chunk.spans]
    edges = sorted({edge for span in wanted for edge in span})
    pieces: list[Span] = []
    reach = 0
    for sentence in sorted(sentences):
        start, end = max(sentence.start, reach), min(sentence.end, len(text))
        if start >= end:
            continue
        reach = end
        inside = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        if inside and count(text[start:end]) <= limit:
            inside = []
        bounds = [start, *inside, end]
        pieces.extend(Span(a, b) for a, b in pairwise(bounds))
    for span in merge_spans(wanted):
        at = span.start
        for piece in [p for p in pieces if overlap_length(p, span)]:
            pieces.append(Span(at, max(at, piece.start)))
            at = max(at, piece.end)
        pieces.append(Span(at, max(at, span.end)))
    trimmed = (trim_span(text, start, end) for start, end in pieces if start < end)
    return sorted(span for span in trimmed if span is not None)


def _clip(span: Span, text: str) -> Span:
    start = min(max(0, span.start), len(text))
    return Span(start, max(start, min(span.end, len(text))))


def _take_hits(
    hits: Sequence[Hit], pages: dict[str, _Page], budget: int, count: Count
) -> list[_Core]:
    """Take the units of each hit while the budget lasts, text that was taken already for free."""
    cores: list[_Core] = []
    seen: dict[str, _Core] = {}
    spent = 0
    for hit in hits:
        page = pages.get(hit.chunk.document_id)
        if page is None:
            continue
        for span in hit.chunk.spans:
            span = _clip(span, page.document.text)
            units = [i for i, unit in enumerate(page.units) if overlap_length(unit, span)]
            if not units:
                continue
            key = " ".join(page.slice(units[0], units[-1]).split())
            twin = seen.get(key)
            place = Span(page.units[units[0]].start, page.units[units[-1]].end)
            if twin is not None:
                same = (page.document.id, place)
                if twin.units != units or twin.document_id != page.document.id:
                    twin.twins.append(same)
                else:
                    twin.places.append(span)
                continue
            cost = page.cost_of_taking(units, count)
            if spent + cost > budget:
                if cores:
                    continue
                units = _cut_to_budget(page, units, budget, count)
                if not units:
                    continue
                cost = page.cost_of_taking(units, count)
            spent += cost
            page.taken.update(units)
            core = _Core(hit, page.document.id, units, [span])
            seen[key] = core
            cores.append(core)
    return cores


def _cut_to_budget(page: _Page, units: list[int], budget: int, count: Count) -> list[int]:
    """Return the leading units that fit; if the first alone is too long, cut it in two."""
    fitting = [u for u in units if count(page.slice(units[0], u)) <= budget]
    if fitting:
        return fitting
    start, end = page.units[units[0]]
    text = page.document.text
    low, high = start, end
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[start:middle]) <= budget else (low, middle - 1)
    space = max(text.rfind(" ", start, low), text.rfind("\n", start, low))
    piece = trim_span(text, start, low if space <= start or low == end else space)
    rest = trim_span(text, piece.end, end) if piece else None
    if piece is None or rest is None:
        return []
    page.units[units[0] : units[0] + 1] = [piece, rest]
    return [units[0]]


def _grow_windows(
    cores: Sequence[_Core], pages: dict[str, _Page], budget: int, limit: int, count: Count
) -> None:
    """Spend what is left of the budget: a neighbour a hit and round, after and before in turn."""
    spent = sum(
        count(page.slice(*run))
        for page in pages.values()
        for run in {page.run_around(unit) for unit in page.taken}
    )
    open_sides = [[1, -1] for _ in cores]
    while any(open_sides):
        for core, sides in zip(cores, open_sides, strict=True):
            if not sides:
                continue
            page = pages[core.document_id]
            side = sides.pop(0)
            first, last = page.run_around(core.units[0])
            unit = last + 1 if side > 0 else first - 1
            if not 0 <= unit < len(page.units):
                continue
            new_first, new_last = min(first, unit), max(last, unit)
            if count(page.slice(new_first, new_last)) > limit:
                continue
            cost = page.cost_of_taking([unit], count)
            if spent + cost > budget:
                continue
            spent += cost
            page.taken.add(unit)
            sides.append(side)


def _cut_passages(page: _Page, cores: Sequence[_Core], pages: dict[str, _Page]) -> list[Passage]:
    """Make a passage of each run of taken units."""
    document = page.document
    passages = []
    for first, last in sorted({page.run_around(unit) for unit in page.taken}):
        inside = [c for c in cores if c.document_id == document.id and first <= c.units[0] <= last]
        best = max(inside, key=lambda core: core.hit.score)
        start, end = page.units[first].start, page.units[last].end
        number, last_number = page_range(document.pages, start, end)
        twins = {
            _find_twin(page, core, Span(start, end), pages[i].document, span)
            for core in inside
            for i, span in core.twins
        }
        passages.append(
            Passage(
                document_id=document.id,
                source=document.source,
                start=start,
                end=end,
                text=document.text[start:end],
                score=best.hit.score,
                title=document.title,
                heading=heading_path(document.sections, start),
                page=number,
                last_page=last_number,
                parts=best.hit.parts,
                hits=tuple(sorted({span for core in inside for span in core.places})),
                duplicates=tuple(sorted(twins)),
            )
        )
    return passages


def _find_twin(page: _Page, core: _Core, passage: Span, other: Document, span: Span) -> Place:
    """Return where the whole passage stands in the other document, or else the hit's text alone."""
    start = span.start - (page.units[core.units[0]].start - passage.start)
    end = start + passage.end - passage.start
    whole = start >= 0 and other.text[start:end] == page.document.text[passage.start : passage.end]
    return Place(other.id, other.source, *((start, end) if whole else span))


def _join_identical(passages: Sequence[Passage]) -> list[Passage]:
    """Keep the best passage of those with one text; the others become its duplicates."""
    kept: dict[str, Passage] = {}
    for passage in passages:
        key = " ".join(passage.text.split())
        first = kept.get(key)
        if first is None:
            kept[key] = passage
            continue
        place = Place(passage.document_id, passage.source, passage.start, passage.end)
        places = {*first.duplicates, place, *passage.duplicates}
        places.discard(Place(first.document_id, first.source, first.start, first.end))
        kept[key] = replace(first, duplicates=tuple(sorted(places)))
    return list(kept.values())
