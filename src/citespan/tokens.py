"""How long a text is in tokens: a model's own count, or an estimate that errs high without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_PIECES = re.compile(
    r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])|([^\W_]+)|([^\w\s]|_)"
)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a subword model makes of a text.

    A word counts one token for each four letters begun (three outside ASCII), a Chinese,
    Japanese or Korean character one, a punctuation mark one. The sum over two texts that are
    parted at white space is the count of both together.

    >>> estimate_tokens("The warranty lasts 24 months."), estimate_tokens("保修期两年。")
    (9, 6)
    """
    count = 0
    for wide, word, _ in _PIECES.findall(text):
        if wide:
            count += 1
        elif word:
            count += -(-len(word) // (4 if word.isascii() else 3))
        else:
            count += 1
    return count


CountTokens = Callable[[Sequence[str]], list[int]]
"""Each text's length as a model counts it, special tokens included (``Embedder.count_tokens``)."""


def find_pieces(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Return the spans of the pieces that ``estimate_tokens`` counts as one token each.

    >>> find_pieces("warranty, 保修")
    [(0, 4), (4, 8), (8, 9), (10, 11), (11, 12)]
    """
    pieces: list[tuple[int, int]] = []
    for match in _PIECES.finditer(text, start, len(text) if end is None else end):
        left, right = match.span()
        step = right - left if match[2] is None else 4 if match[2].isascii() else 3
        pieces.extend((at, min(at + step, right)) for at in range(left, right, step))
    return pieces


def find_token_spans(text: str, tokenizer: Any) -> list[tuple[int, int]]:
    """Return the spans of a Hugging Face ``tokenizers.Tokenizer``'s tokens, without special ones.

    The spans are code points of ``text``; tokens that stand for several bytes of one character
    share its span, and what the tokenizer leaves out (white space) has none. Long texts are given
    to it line by line: it need never hold more than one.
    """
    spans: list[tuple[int, int]] = []
    for line in re.finditer(r"[^\n]*\n|[^\n]+", text):
        encoding = tokenizer.encode(line[0], add_special_tokens=False)
        base = line.start()
        spans.extend((base + s, base + e) for s, e in encoding.offsets if e > s)
    return spans
