"""The smallest embedder that keeps the Protocol: no model, no meaning, the same on any machine.

It is for tests and as an example of how to write an embedder; it finds nothing that a search by
words would not find better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal

import numpy as np

from citespan.errors import InputError
from citespan.protocols import Vectors

WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Adds ±1 for each word at a place given by the word's hash, then normalises.

    The hashing trick: Weinberger et al. 2009, *Feature Hashing for Large Scale Multitask Learning*.

    >>> vectors = HashingEmbedder(dimension=64).embed(["the cat", "The cat!", "a dog", ""])
    >>> (vectors @ vectors.T).round(2)[0].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """

    def __init__(self, dimension: int | str = 256, max_tokens: int = 512) -> None:
        if not str(dimension).isdecimal() or not int(dimension):
            raise InputError(f"{dimension!r} is no dimension", fix="give a whole number above 0")
        self.dimension = int(dimension)
        self.max_tokens = max_tokens
        self.name = f"hashing/{self.dimension}/{max_tokens}"

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one row a text, ``[n, dimension]``."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in WORD.findall(text.lower())[: self.max_tokens - 2]:
                number = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
                vectors[row, number // 2 % self.dimension] += 1 if number % 2 else -1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
        norms[norms == 0] = 1
        normal: Vectors = vectors / norms
        return normal

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words and two, as if there were two special tokens."""
        return [len(WORD.findall(text.lower())) + 2 for text in texts]
