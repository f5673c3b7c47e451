"""Index terms: what a document and a question must agree on to meet in a lexical index.

A text is cut into tokens by one pattern; each distinct token is turned into its terms once a
language and then remembered, which is what makes the analysis fast: most tokens of a text have
been seen before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from citespan.text.function_words import FUNCTION_WORDS, NEGATIONS
from citespan.text.languages import count_votes, detect_language
from citespan.text.normalize import fold_text
from citespan.text.tokens import TOKEN, expand_token

_REMEMBERED = 200_000
_memory: dict[str, dict[str, tuple[str, ...]]] = {}


def analyze_terms(text: str, language: str = "") -> list[str]:
    """Return the text's index terms, in order and with repeats; none holds white space.

    Words are folded (NFKC, case, ё, diacritics) and stemmed by the Snowball stemmer of the
    token's script and the text's language (Porter 2001); Chinese, Japanese and Korean become
    pairs of characters and single ones; identifiers, versions and addresses stand whole and in
    parts.

    Parameters
    ----------
    text
        Any text.
    language
        ISO 639-1 of the text; where empty, Latin words are stemmed as English, Cyrillic as
        Russian. (Detecting it is left to the caller, who knows more than one sentence.)

    Examples
    --------
    >>> analyze_terms("The leaves cost 1,234.50 in ERR-1042", "en")
    ['the', 'leav', 'cost', '1234.50', 'in', 'err-1042', 'err', '1042']
    >>> analyze_terms("北京大学", "zh")
    ['北京', '京大', '大学', '北', '京', '大', '学']
    """
    terms: list[str] = []
    extend = terms.extend
    known = _memory.setdefault(language, {})
    for token in TOKEN.findall(fold_text(text)):
        found = known.get(token)
        if found is None:
            found = _remember(known, token, language)
        extend(found)
    return terms


def analyze_query(text: str, languages: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """Return one group of alternatives for each term of a question.

    A collection in several languages was analysed by each document's own language; a group holds
    the forms that the token takes under all of them, so that each document is met in its own.
    The question's own function words are left out, unless it holds nothing else.

    Parameters
    ----------
    text
        The question.
    languages
        The languages the index holds; where empty, the question's own is detected.

    Examples
    --------
    >>> analyze_query("Wo sind gute Häuser?", ["de", "en"])
    [('gut', 'gute'), ('haus', 'hauser')]
    """
    wanted = tuple(dict.fromkeys(languages)) or (detect_language(text),)
    groups: list[tuple[str, ...]] = []
    for token in _drop_function_words(TOKEN.findall(fold_text(text))):
        forms = [expand_token(token, language) for language in wanted]
        for place in range(max(map(len, forms))):
            groups.append(tuple(dict.fromkeys(f[place] for f in forms if place < len(f))))
    return groups


def _drop_function_words(tokens: list[str]) -> list[str]:
    """Leave out what the question's own language would say in any question."""
    words = [token.casefold() for token in tokens]
    votes = count_votes(words)
    if not votes:
        return tokens
    idle = FUNCTION_WORDS[votes[0][0]] - NEGATIONS
    # IT and WHO in capitals are names.
    kept = [
        token
        for token, word in zip(tokens, words, strict=True)
        if word not in idle or (len(token) > 1 and token.isupper())
    ]
    return kept or tokens


def _remember(known: dict[str, tuple[str, ...]], token: str, language: str) -> tuple[str, ...]:
    terms = expand_token(token, language)
    if len(token) <= 40:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[token] = terms
    return terms


def hash_terms(terms: Iterable[str]) -> NDArray[np.uint32]:
    """Return a 32-bit hash (CRC-32 of the UTF-8) of each term, in order.

    Sentences keep their terms so: four bytes each. Two terms of a question and of the few thousand
    sentences it is compared with share a hash once in some ten thousand questions.

    >>> hash_terms(["tea", "pot"]).tolist()
    [2391201714, 515732239]
    """
    return np.array([crc32(t.encode("utf-8", "surrogatepass")) for t in terms], dtype=np.uint32)
