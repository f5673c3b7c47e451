"""Any model that the package sentence-transformers can load, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from citespan.embed.tokenizer import clean_text
from citespan.errors import MissingExtraError, ModelError
from citespan.protocols import Vectors


class SentenceTransformersEmbedder:
    """Embeds by a ``SentenceTransformer``, on the CPU unless told otherwise.

    Parameters
    ----------
    model
        A folder, or the name of a model that is in the package's own cache.
    download
        Whether a model that is not there may be fetched from the hub; never without being asked.

    Raises
    ------
    MissingExtraError
        If the package is not installed.
    ModelError
        If the model cannot be loaded.
    """

    def __init__(self, model: str = "", *, download: bool = False, device: str = "cpu") -> None:
        if not model:
            raise ModelError(
                "no model is named", fix="name it: --embedder sentence-transformers:MODEL"
            )
        try:
            import sentence_transformers
        except ImportError:
            raise MissingExtraError(
                "sentence-transformers", extra="sentence-transformers"
            ) from None
        try:
            self._model: Any = sentence_transformers.SentenceTransformer(
                model, device=device, local_files_only=not download
            )
        except Exception as error:  # whatever the model's own code raises
            raise ModelError(
                f"sentence-transformers cannot load {model}: {str(error).splitlines()[0]}",
                fix="name a folder, or allow the download",
            ) from None
        self.name = f"sentence-transformers:{model}"
        find = getattr(self._model, "get_embedding_dimension", None)
        self.dimension = int((find or self._model.get_sentence_embedding_dimension)())
        self.max_tokens = int(self._model.max_seq_length or 512)
        self._prompts: dict[str, str] = {
            "query": self._model.prompts.get("query", ""),
            "document": self._model.prompts.get("document")
            or self._model.prompts.get("passage", ""),
        }

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one L2-normalised row a text; an empty text gets zeros."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        if filled:
            vectors[filled] = self._model.encode(
                [clean_text(texts[row]) for row in filled],
                prompt=self._prompts[kind] or None,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length in tokens, special ones and the prefix included."""
        clean = [self._prompts["document"] + clean_text(text) for text in texts]
        if not clean:
            return []
        found = self._model.tokenizer(clean, truncation=False, verbose=False)
        return [len(ids) for ids in found["input_ids"]]
