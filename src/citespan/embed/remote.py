"""Any OpenAI-compatible ``/v1/embeddings``: Ollama, vLLM, llama.cpp, LM Studio, OpenAI."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from citespan.errors import ModelError
from citespan.protocols import Vectors

BATCH = 64
BYTES_A_TOKEN = 2.5


class RemoteEmbedder:
    """Embeds by a server.

    Parameters
    ----------
    model
        The model's name, as the server knows it.
    base_url
        The server's address up to and with ``/v1``; where empty, ``OPENAI_BASE_URL`` or OpenAI.
    api_key
        Where empty, ``OPENAI_API_KEY``; servers on one's own machine ask for none.
    dimension
        Where 0, one request finds it out.
    max_tokens
        What the model reads at once; the servers do not tell. 512 suits most small models.
    batch, timeout, retries
        Texts a request; seconds for one request; how often a busy server is asked again.
    query_prefix, document_prefix
        What the model wants before each text, such as ``query: ``.

    Raises
    ------
    ModelError
        If the server cannot be reached or answers nonsense: one line with its address and a fix.
    """

    def __init__(
        self,
        model: str = "",
        base_url: str = "",
        *,
        api_key: str = "",
        dimension: int = 0,
        max_tokens: int = 512,
        batch: int = BATCH,
        timeout: float = 60.0,
        retries: int = 2,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        if not model:
            raise ModelError("no embedding model is named", fix="name it: --embedder openai:MODEL")
        self.model = model
        self.max_tokens = max_tokens
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL", "")
        self._key = api_key or os.environ.get("OPENAI_API_KEY", "")
        self._batch, self._timeout, self._retries = batch, timeout, retries
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._client = self._connect()
        self.dimension = dimension
        self.dimension = dimension or len(self._request(["dimension"])[0])
        # The address is left out: the same model on another port gives the same vectors.
        prefix = "/".join(part.strip() for part in self._prefixes.values() if part)
        self.name = f"openai:{model}/{self.dimension}" + (f"/{prefix}" if prefix else "")

    @property
    def server(self) -> str:
        """The server's address as messages show it: without any password in it."""
        return re.sub(r"//[^/@]*@", "//", self._base_url or "https://api.openai.com/v1")

    def embed(
        self, texts: Sequence[str], *, kind: Literal["document", "query"] = "document"
    ) -> Vectors:
        """Return one L2-normalised row a text; empty texts are not sent and get zeros."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(filled), self._batch):
            rows = filled[start : start + self._batch]
            vectors[rows] = self._request([self._prefixes[kind] + texts[row] for row in rows])
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return an estimate on the safe side, a token per 2.5 bytes: the server has no counter.

        English has about 4.5 bytes a token, Russian 4 to 6 and Chinese 2.5 to 3.
        """
        added = 2 + math.ceil(len(self._prefixes["document"].encode()) / BYTES_A_TOKEN)
        return [
            added + math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN)
            for text in texts
        ]

    def _connect(self) -> Any:
        import openai

        if not self._key and not self._base_url:
            raise ModelError(
                f"no key for {self.model} at {self.server}",
                fix="set OPENAI_API_KEY, or name another server with --base-url",
            )
        if self._base_url and not re.match(r"https?://[^/\s]+", self._base_url):
            raise ModelError(
                f"{self.server!r} is no web address",
                fix="write it as http://HOST:PORT/v1 (--base-url)",
            )
        return openai.OpenAI(
            base_url=self._base_url or None,
            api_key=self._key or "none",
            timeout=self._timeout,
            max_retries=self._retries,
        )

    def _request(self, texts: Sequence[str]) -> Vectors:
        """Send one batch and check every part of what comes back."""
        # A lone surrogate cannot be sent as UTF-8.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            answer = self._client.embeddings.create(
                model=self.model, input=clean, encoding_format="float"
            )
            rows = sorted(answer.data, key=lambda row: row.index)
            places = [row.index for row in rows]
            vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except Exception as error:  # a server may answer anything, and so fail in any way
            raise self._explain(error) from None
        if places != list(range(len(texts))):
            raise self._nonsense(f"{len(places)} vectors for {len(texts)} texts")
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise self._nonsense("vectors of unequal length")
        if self.dimension and vectors.shape[1] != self.dimension:
            raise self._nonsense(f"{vectors.shape[1]} dimensions, and {self.dimension} before")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise self._nonsense("a vector that is zero or not finite")
        normal: Vectors = vectors / norms
        return normal

    def _nonsense(self, what: str) -> ModelError:
        return ModelError(
            f"{self.model} at {self.server} answered with {what}",
            fix="check that it is an embedding model (--model)",
        )

    def _explain(self, error: Exception) -> ModelError:
        """Say in one line what went wrong and what to do."""
        import openai

        if isinstance(error, ModelError):
            return error
        where = f"{self.model} at {self.server}"
        if isinstance(error, openai.APITimeoutError):
            return ModelError(
                f"{where} did not answer within {self._timeout:g} s",
                fix="raise --timeout, or use a smaller model",
            )
        if isinstance(error, openai.APIConnectionError):
            return ModelError(f"no server at {self.server}", fix="start it, or correct --base-url")
        if isinstance(error, openai.APIStatusError):
            said = " ".join(str(error.message).split())[:200]
            fixes = {
                401: "set OPENAI_API_KEY to a key that this server takes",
                403: "set OPENAI_API_KEY to a key that this server takes",
                404: "check the model's name, and that --base-url ends in /v1",
                429: "wait, or use another server",
            }
            fix = fixes.get(error.status_code, "check the server's own log")
            if error.status_code == 400:
                fix = "split into smaller chunks if the texts are too long, or check the model"
            return ModelError(f"{where} refused ({error.status_code}): {said}", fix=fix)
        return self._nonsense(f"something else than embeddings ({type(error).__name__})")
