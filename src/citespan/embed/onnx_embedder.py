"""Embed texts with a BERT-like encoder on onnxruntime: the default, without torch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from citespan.embed.graph import GRAPH_VERSION, BertShape, Precision, build_graph, read_weights
from citespan.embed.models import MINILM, find_model, is_official
from citespan.embed.tokenizer import cut_ids, encode_texts, find_offsets, load_tokenizer
from citespan.errors import ModelError
from citespan.protocols import Vectors
from citespan.types import Span, content_id

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Kind = Literal["document", "query"]

BATCH_TOKENS = 2048
"""Tokens, padding included, that go through the model at once."""


class OnnxEmbedder:
    """An encoder's mean token vector, L2-normalised.

    Reimers and Gurevych 2019, *Sentence-BERT*: the mean of the last layer over the tokens of the
    text, special ones included. An empty text gets a row of zeros.
    """

    def __init__(
        self,
        session: InferenceSession,
        tokenizer: Tokenizer,
        *,
        name: str,
        max_tokens: int,
        query_prefix: str = "",
        document_prefix: str = "",
        batch_tokens: int = BATCH_TOKENS,
    ) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self.dimension = int(session.get_outputs()[0].shape[-1])
        self._session = session
        self._tokenizer = tokenizer
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._batch_tokens = batch_tokens
        self._inputs = {
            entry.name: np.dtype(np.int32 if "int32" in entry.type else np.int64)
            for entry in session.get_inputs()
        }

    def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return one L2-normalised row a text, ``[n, dimension]``, in the order given.

        What stands beyond ``max_tokens`` is not read; ``embed_texts`` reports such texts.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for rows, hidden, mask in self._run(texts, kind):
            means = (mask[:, None, :].astype(np.float32) @ hidden)[:, 0]
            vectors[rows] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], *, kind: Kind = "document"
    ) -> list[NDArray[np.float32]]:
        """Return the last layer's vector of each token, ``[tokens, dimension]`` a text.

        The rows are those of ``count_tokens`` (special tokens and prefix included, cut at
        ``max_tokens``) and are not normalised; an empty text has no rows.
        """
        found = [np.zeros((0, self.dimension), dtype=np.float32) for _ in texts]
        for rows, hidden, mask in self._run(texts, kind):
            for row, matrix, length in zip(rows, hidden, mask.sum(axis=1), strict=True):
                found[row] = matrix[:length].copy()
        return found

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return each text's length in tokens, special ones and the document prefix included."""
        return [
            len(ids) for ids in encode_texts(self._tokenizer, texts, self._prefixes["document"])
        ]

    def find_offsets(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the spans of each text's tokens, special ones left out, in code points."""
        return find_offsets(self._tokenizer, texts)

    def _run(
        self, texts: Sequence[str], kind: Kind
    ) -> Iterator[tuple[list[int], NDArray[np.float32], NDArray[Any]]]:
        """Yield batches: the rows they belong to, the hidden states, the mask."""
        filled = [row for row, text in enumerate(texts) if text.strip()]
        coded = encode_texts(self._tokenizer, [texts[row] for row in filled], self._prefixes[kind])
        ids = {row: cut_ids(one, self.max_tokens) for row, one in zip(filled, coded, strict=True)}
        for rows in plan_batches([(row, len(one)) for row, one in ids.items()], self._batch_tokens):
            width = max(len(ids[row]) for row in rows)
            tokens = np.zeros((len(rows), width), dtype=np.int64)
            mask = np.zeros((len(rows), width), dtype=np.int64)
            for line, row in enumerate(rows):
                tokens[line, : len(ids[row])] = ids[row]
                mask[line, : len(ids[row])] = 1
            values = {
                "input_ids": tokens,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(tokens),
            }
            feed = {key: values[key].astype(kind_) for key, kind_ in self._inputs.items()}
            yield rows, self._session.run(None, feed)[0], mask


def plan_batches(lengths: Sequence[tuple[int, int]], limit: int) -> Iterator[list[int]]:
    """Group (row, length) pairs so that rows x longest stays within ``limit`` tokens.

    Longest first: texts of one length share a batch and little is padded. A text longer than the
    limit has a batch of its own.

    >>> list(plan_batches([(0, 3), (1, 9), (2, 4)], 10))
    [[1], [2, 0]]
    """
    batch: list[int] = []
    widest = 0
    for row, length in sorted(lengths, key=lambda pair: (-pair[1], pair[0])):
        if batch and widest * (len(batch) + 1) > limit:
            yield batch
            batch = []
        if not batch:
            widest = length
        batch.append(row)
    if batch:
        yield batch


def open_minilm(
    path: str | Path = "", *, precision: Precision = "fp32", threads: int = 0
) -> OnnxEmbedder:
    """Return the default embedder, all-MiniLM-L6-v2: English, 384 dimensions, 256 tokens.

    Parameters
    ----------
    path
        A folder with the official ``model.safetensors`` and ``tokenizer.json``; where empty, the
        model that ``citespan model fetch`` placed in the cache.
    precision
        ``fp32`` or ``int8``; part of the embedder's name, as the vectors differ.
    threads
        Threads for one batch; 0 takes one a core.

    Raises
    ------
    ModelError
        If the model is not here; the message says how to fetch it.
    """
    folder = find_model(path or MINILM.name)
    if path and not is_official(MINILM, folder):
        raise ModelError(
            f"{folder} holds other weights than {MINILM.name}",
            fix="name the folder itself as the embedder",
        )
    graph = ready_graph(folder, BertShape(MINILM.layers, MINILM.heads), precision)
    return OnnxEmbedder(
        open_session(graph, threads),
        load_tokenizer(folder / "tokenizer.json"),
        name=f"{MINILM.name}/{precision}/{GRAPH_VERSION}",
        max_tokens=MINILM.max_tokens,
        query_prefix=MINILM.query_prefix,
        document_prefix=MINILM.document_prefix,
    )


def open_session(model: Path | bytes, threads: int = 0) -> InferenceSession:
    """Return an onnxruntime session on the CPU.

    Raises
    ------
    ModelError
        If onnxruntime cannot read the model.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # its warnings are about the graph, nothing a user could mend
    # Idle threads that spin would slow whatever else runs on two cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = str(model) if isinstance(model, Path) else model
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes share no public base
        where = str(model) if isinstance(model, Path) else "the model"
        raise ModelError(
            f"onnxruntime cannot read {where}: {str(error).splitlines()[0]}",
            fix="delete that file or fetch the model again",
        ) from None


def ready_graph(folder: Path, shape: BertShape, precision: Precision) -> Path | bytes:
    """Return the built graph beside the weights; build it where it is not there yet.

    Where the folder cannot be written, the graph is built in memory each time (about a second).
    """
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise ModelError(f"{folder} holds no model.safetensors", fix="run: citespan model fetch")
    stat = weights.stat()
    key = content_id(str(stat.st_size), str(stat.st_mtime_ns))[:8]
    path = folder / f"citespan-{precision}-v{GRAPH_VERSION}-{key}.onnx"
    if path.is_file():
        return path
    built: bytes = build_graph(read_weights(weights), shape, precision).SerializeToString()
    try:
        # Made in a folder of its own, so that what a full disk cuts short is cleared away.
        with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as part:
            whole = Path(part) / path.name
            whole.write_bytes(built)
            os.replace(whole, path)
    except OSError:
        return built
    return path
