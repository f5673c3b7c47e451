"""A model's own tokenizer: ids, lengths and offsets, never silently truncated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citespan.errors import ModelError
from citespan.types import Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json``, with the padding and truncation that it may ask for switched off.

    Raises
    ------
    ModelError
        If the file cannot be read.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception for whatever is wrong
        raise ModelError(
            f"{path} cannot be read as a tokenizer: {error}", fix="fetch the model again"
        ) from None
    # Many published files carry {"max_length": 128}: a text's end would vanish without a word.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode_texts(tokenizer: Tokenizer, texts: Sequence[str], prefix: str = "") -> list[list[int]]:
    """Return the ids of each text, special tokens included."""
    clean = [prefix + clean_text(text) for text in texts]
    return [found.ids for found in tokenizer.encode_batch_fast(clean)]


def find_offsets(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[Span]]:
    """Return where each token stands in its text, in code points; special tokens are left out."""
    return [
        [
            Span(*span)
            for span, special in zip(e.offsets, e.special_tokens_mask, strict=True)
            if not special
        ]
        for e in tokenizer.encode_batch([clean_text(text) for text in texts])
    ]


def cut_ids(ids: list[int], limit: int) -> list[int]:
    """Keep the first ``limit`` tokens, and the last one, which closes the text.

    >>> cut_ids([101, 7, 8, 9, 102], 4)
    [101, 7, 8, 102]
    """
    return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]


def clean_text(text: str) -> str:
    r"""Replace lone surrogates, which no tokenizer takes; each by one character.

    >>> clean_text("a\ud800b")
    'a�b'
    """
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
