"""From spans to chunks: what all splitters do last, so that the rules hold for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from citespan.spans import trim_span
from citespan.split.ruler import Ruler
from citespan.split.sizes import Sizes
from citespan.text import split_sentences
from citespan.types import Chunk, Document, Span


def build_chunks(
    document: Document, spans: Iterable[Span], sizes: Sizes, contexts: Sequence[str] = ()
) -> list[Chunk]:
    """Trim and number the spans; drop those that add nothing; note the real overlap.

    Starts strictly increase: of two spans that begin at one place the longer is kept, and a span
    that lies within the one before it is left out.
    """
    pairs: list[tuple[Span, str]] = []
    spans = list(spans)
    texts = contexts or [""] * len(spans)
    for span, context in zip(spans, texts, strict=True):
        trimmed = trim_span(document.text, *span)
        if trimmed is None:
            continue
        while pairs and pairs[-1][0].start >= trimmed.start and trimmed.end >= pairs[-1][0].end:
            pairs.pop()
        if pairs and trimmed.end <= pairs[-1][0].end:
            continue
        pairs.append((trimmed, context))
    pairs = list(_recount(document.text, pairs, sizes))
    chunks: list[Chunk] = []
    last = 0
    for order, ((start, end), context) in enumerate(pairs):
        chunks.append(
            Chunk(
                document.id,
                order,
                (Span(start, end),),
                document.text[start:end],
                context,
                max(0, last - start),
            )
        )
        last = end
    return chunks


def cut_span(text: str, span: Span, ruler: Ruler, size: int) -> Iterator[Span]:
    """Yield even pieces of a span, of at most ``size`` each: cut at white space if one is near.

    >>> text = "aaaa bbbb cccc"
    >>> [text[s:e] for s, e in cut_span(text, Span(0, 14), Ruler(text, "characters", 6), 6)]
    ['aaaa', 'bbbb', 'cccc']
    """
    start, end = span
    while (left := ruler.measure(start, end)) > size:
        # As many pieces as are needed, of about equal size: no shard is left over.
        pieces = -(-left // size)
        cut = min(end, ruler.reach(start, -(-left // pieces)))
        if cut >= end:
            break
        edge = cut
        if not text[cut].isspace() and not text[cut - 1].isspace():
            low = start + (cut - start) // 2
            while edge > low and not text[edge - 1].isspace():
                edge -= 1
            edge = cut if edge == low else edge
        if (piece := trim_span(text, start, edge)) is not None:
            yield piece
        start = edge
    if (piece := trim_span(text, start, end)) is not None:
        yield piece


def cut_sentences(document: Document, span: Span, ruler: Ruler, sizes: Sizes) -> list[Span]:
    """Return a span's sentences, those that are too long cut further."""
    start, end = span
    text = document.text
    return [
        piece
        for s, e in split_sentences(
            text[start:end], sizes.language or document.language, engine=sizes.engine
        )
        for piece in cut_span(text, Span(start + s, start + e), ruler, sizes.room)
    ]


def _recount(text: str, pairs: list[tuple[Span, str]], sizes: Sizes) -> Iterator[tuple[Span, str]]:
    """Count the chunks with the model itself, and halve what is too long after all.

    Words are weighed one by one; a tokenizer that joins over spaces may count a whole otherwise.
    """
    if sizes.unit != "tokens" or sizes.count_tokens is None or not pairs:
        yield from pairs
        return
    whole = [f"{c}\n{text[s:e]}" if c else text[s:e] for (s, e), c in pairs]
    for (span, context), tokens in zip(pairs, sizes.count_tokens(whole), strict=True):
        if tokens <= sizes.size or span.end - span.start < 2:
            yield span, context
        else:
            yield from _recount(text, [(half, context) for half in _halve(text, span)], sizes)


def _halve(text: str, span: Span) -> list[Span]:
    middle = (span.start + span.end) // 2
    space = text.rfind(" ", span.start + 1, middle)
    edge = space if space > (span.start + middle) // 2 else middle
    halves = (trim_span(text, span.start, edge), trim_span(text, edge, span.end))
    return [half for half in halves if half is not None]
