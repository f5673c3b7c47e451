"""Token counts without a model, and exact spans with a tokenizer."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from citespan.tokens import estimate_tokens, find_pieces, find_token_spans


@given(st.text(max_size=80))
def test_the_pieces_are_what_the_estimate_counts(text: str) -> None:
    pieces = find_pieces(text)
    assert len(pieces) == estimate_tokens(text)
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))
    covered = "".join(text[s:e] for s, e in pieces)
    assert covered.split() == [covered] * bool(covered)
    assert sum(map(str.isalnum, covered)) == sum(map(str.isalnum, text))


def test_a_tokenizers_spans_are_code_points_of_the_whole_text() -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    text = "Ein Häuschen 😀.\n\nЗдесь 中文 end"
    spans = find_token_spans(text, tokenizer)
    assert [text[s:e] for s, e in spans] == ["Ein", "Häuschen", "😀.", "Здесь", "中文", "end"]
