"""From groups of sentences to chunks: runs of one span, or several spans with others between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citespan.split.chunks import build_chunks
from citespan.split.ruler import Ruler
from citespan.split.semantic.repair import Group
from citespan.split.semantic.sentences import join_runs
from citespan.split.sizes import Sizes
from citespan.types import Chunk, Document, Span

JOINER = " "


def overlap_runs(
    spans: Sequence[Span], groups: Sequence[Group], ruler: Ruler, size: int, overlap: int
) -> Iterator[Span]:
    """Yield each contiguous group's span, reaching back over whole sentences by the overlap.

    As many sentences of the group before are repeated as measure at most ``overlap`` and leave
    the chunk within ``size``; each chunk begins behind the beginning of the one before.

    >>> ruler = Ruler("a b. c d. e f.", "words", 4)
    >>> list(overlap_runs([Span(0, 4), Span(5, 9), Span(10, 14)], [[0, 1], [2]], ruler, 4, 2))
    [Span(start=0, end=9), Span(start=5, end=14)]
    """
    last = 0
    for group in groups:
        first, end = group[0], spans[group[-1]].end
        while (
            overlap
            and first - 1 > last
            and ruler.measure(spans[first - 1].start, spans[group[0] - 1].end) <= overlap
            and ruler.measure(spans[first - 1].start, end) <= size
        ):
            first -= 1
        last = first
        yield Span(spans[first].start, end)


def build_groups(
    document: Document, spans: Sequence[Span], groups: Sequence[Group], sizes: Sizes
) -> list[Chunk]:
    """Return a chunk for each group, its text being its runs joined by one blank.

    A group that the model itself counts as too long after all is halved between its sentences.

    >>> sizes = Sizes(9, unit="words")
    >>> spans = [Span(0, 2), Span(3, 5), Span(6, 8)]
    >>> chunks = build_groups(Document("d", "d", "a. b. c."), spans, [[0, 2], [1]], sizes)
    >>> [(chunk.text, [tuple(span) for span in chunk.spans]) for chunk in chunks]
    [('a. c.', [(0, 2), (6, 8)]), ('b.', [(3, 5)])]
    """
    counted = sizes.unit == "tokens" and sizes.count_tokens is not None
    waiting = sorted((list(group) for group in groups), reverse=True)
    made: list[tuple[tuple[Span, ...], str]] = []
    while waiting:
        group = waiting.pop()
        runs = tuple(join_runs(spans, group))
        text = JOINER.join(document.text[start:end] for start, end in runs)
        if counted and sizes.count_tokens and sizes.count_tokens([text])[0] > sizes.size:
            if len(group) > 1:
                waiting += [group[len(group) // 2 :], group[: len(group) // 2]]
                continue
            # One sentence: what build_chunks does with it holds here too.
            made += [(c.spans, c.text) for c in build_chunks(document, runs, sizes)]
            continue
        made.append((runs, text))
    return [
        Chunk(document.id, order, runs, text)
        for order, (runs, text) in enumerate(sorted(made, key=lambda item: item[0]))
    ]
