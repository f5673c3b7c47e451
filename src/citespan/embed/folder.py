"""Embed by any BERT-like model in a folder of the hub's layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citespan.embed.graph import GRAPH_VERSION, BertShape, Precision
from citespan.embed.models import MINILM, find_model, hash_file, is_official
from citespan.embed.onnx_embedder import OnnxEmbedder, open_minilm, open_session, ready_graph
from citespan.embed.tokenizer import load_tokenizer
from citespan.errors import ModelError

ONNX_NAMES = ("model.onnx", "onnx/model.onnx")
DEFAULT_TOKENS = 512


def open_folder(
    path: str | Path = "",
    *,
    precision: Precision = "fp32",
    threads: int = 0,
    query_prefix: str = "",
    document_prefix: str = "",
    max_tokens: int = 0,
) -> OnnxEmbedder:
    """Return an embedder for a folder with ``tokenizer.json`` and a model.

    The model is ``model.onnx`` or ``onnx/model.onnx`` as it stands, or a graph built from the
    ``model.safetensors`` of a BERT. Only models whose vector is the mean over the tokens are taken.

    Parameters
    ----------
    path
        The folder, or the name of a model that was fetched.
    precision
        For a graph that is built here; an ONNX file keeps its own.
    threads
        Threads for one batch; 0 takes one a core.
    query_prefix, document_prefix
        What the model wants before each text.
    max_tokens
        What the model reads at once; where 0, the folder's own settings say it.

    Raises
    ------
    ModelError
        If the folder holds no model that can be used; the message says what is wrong.
    """
    if not path:
        raise ModelError("no model folder is named", fix="name it: --embedder FOLDER")
    folder = find_model(path)
    if is_official(MINILM, folder):
        return open_minilm(folder, precision=precision, threads=threads)
    settings = _read_json(folder / "config.json")
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    if pooling and not pooling.get("pooling_mode_mean_tokens"):
        raise ModelError(
            f"{folder} does not take the mean of its tokens",
            fix="name another model, or install sentence-transformers and use that embedder",
        )
    limit = (
        max_tokens
        or _read_json(folder / "sentence_bert_config.json").get("max_seq_length")
        or min(settings.get("max_position_embeddings", DEFAULT_TOKENS), DEFAULT_TOKENS)
    )
    found = [folder / name for name in ONNX_NAMES if (folder / name).is_file()]
    if found:
        model: Path | bytes = found[0]
        source, label = found[0], "onnx"
    else:
        if settings.get("model_type") != "bert":
            raise ModelError(
                f"{folder} holds no model.onnx and no BERT",
                fix="add the model's ONNX file, or name another folder",
            )
        shape = BertShape(
            settings["num_hidden_layers"],
            settings["num_attention_heads"],
            settings.get("layer_norm_eps", 1e-12),
        )
        source = folder / "model.safetensors"
        model, label = ready_graph(folder, shape, precision), f"{precision}/{GRAPH_VERSION}"
    # The hash: other weights are another embedder, whatever their folder is called.
    parts = (folder.name, hash_file(source)[:12], label, query_prefix, document_prefix)
    return OnnxEmbedder(
        open_session(model, threads),
        load_tokenizer(folder / "tokenizer.json"),
        name="/".join(part.strip() for part in parts if part),
        max_tokens=int(limit),
        query_prefix=query_prefix,
        document_prefix=document_prefix,
    )


def _read_json(path: Path) -> dict[str, Any]:
    """Return a settings file's object, or an empty one where there is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}", fix="copy it again") from None
    return found if isinstance(found, dict) else {}
