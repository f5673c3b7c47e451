"""Build the ONNX graph of a BERT encoder from its published weights.

The hub's ONNX files hold the operators one by one, and onnxruntime fuses them at each start. Here
the fused operators (``Attention``, ``SkipLayerNormalization``, ``BiasGelu``; domain
``com.microsoft``, part of every onnxruntime) are written directly: the graph is short enough to
read, starts at once, and needs no torch to be made.

Architecture: Devlin et al. 2019, *BERT*; post-norm layers, GELU by the error function
(Hendrycks and Gimpel 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from citespan.errors import ModelError

if TYPE_CHECKING:
    from onnx import ModelProto

Precision = Literal["fp32", "int8"]
GRAPH_VERSION = 1
"""Part of the built file's name: raise it when the graph's numbers change."""

Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the weights do not say of themselves: the heads and the norm's epsilon."""

    layers: int
    heads: int
    epsilon: float = 1e-12


def read_weights(path: Path) -> Weights:
    """Read a ``.safetensors`` file into numpy arrays.

    Raises
    ------
    ModelError
        Where the file cannot be read as safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError) as error:
        raise ModelError(
            f"{path} cannot be read as model weights: {error}", fix="fetch the model again"
        ) from None


def build_graph(weights: Weights, shape: BertShape, precision: Precision = "fp32") -> ModelProto:
    """Return an ONNX model: ids and mask in, the last hidden states out.

    Parameters
    ----------
    weights
        Tensors under Hugging Face's names (``encoder.layer.0.attention.self.query.weight``, …).
    shape
        Layers and heads.
    precision
        ``fp32``, or ``int8``: linear layers with 8-bit weights, one scale a block of 32 of a
        column, and 8-bit activations made on the fly; the rest stays float32.

    Returns
    -------
    onnx.ModelProto
        Inputs ``input_ids`` and ``attention_mask``, int32 ``[batch, tokens]``; output
        ``last_hidden_state``, float32 ``[batch, tokens, dimension]``.

    Raises
    ------
    ModelError
        Where a tensor is missing.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights, precision)
    word = graph.take("embeddings.word_embeddings.weight")
    # Every text is one segment, so the first row of the segment table is a constant to add.
    place = graph.take("embeddings.position_embeddings.weight")
    place = place + graph.take("embeddings.token_type_embeddings.weight")[0]
    hidden = graph.embed(word, place, "embeddings.LayerNorm", shape.epsilon)
    for number in range(shape.layers):
        hidden = graph.layer(hidden, f"encoder.layer.{number}", shape)
    graph.nodes[-1].output[0] = "last_hidden_state"

    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    out = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", int(word.shape[1])]
    )
    return helper.make_model(
        helper.make_graph(graph.nodes, "bert", ids, [out], graph.constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
        ir_version=9,
        producer_name="citespan",
    )


class _Graph:
    """Collects nodes and constants; each method adds one block and returns its output's name."""

    def __init__(self, weights: Weights, precision: Precision) -> None:
        self.weights = weights
        self.precision = precision
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def take(self, name: str) -> NDArray[np.float32]:
        """Return one tensor of the weights."""
        try:
            return np.asarray(self.weights[name], dtype=np.float32)
        except KeyError:
            raise ModelError(
                f"the weights hold no {name}", fix="this is not a BERT encoder; use another model"
            ) from None

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """Add an operator of onnxruntime's own domain."""
        from onnx import helper

        self.nodes.append(
            helper.make_node(
                kind, inputs, [f"{name}.out"], name=name, domain="com.microsoft", **attributes
            )
        )
        return f"{name}.out"

    def embed(
        self, word: NDArray[np.float32], place: NDArray[np.float32], norm: str, epsilon: float
    ) -> str:
        """Sum the embeddings of words and places, normalised."""
        inputs = ["input_ids", "", self.constant("word", word), self.constant("place", place), ""]
        inputs += [self.constant(f"{norm}.{part}", self.take(f"{norm}.{part}")) for part in _NORM]
        self.node("EmbedLayerNormalization", inputs, "embeddings", epsilon=epsilon)
        self.nodes[-1].output.append("embeddings.unused")
        return "embeddings.out"

    def linear(self, hidden: str, name: str, weight: NDArray[np.float32]) -> str:
        """Multiply by a weight of shape ``[out, in]``; the bias is added by the next operator."""
        if self.precision == "fp32":
            from onnx import helper

            inputs = [hidden, self.constant(f"{name}.weight", weight.T)]
            self.nodes.append(helper.make_node("MatMul", inputs, [f"{name}.out"], name=name))
            return f"{name}.out"
        raise NotImplementedError

    def layer(self, hidden: str, name: str, shape: BertShape) -> str:
        """Add self-attention and the feed-forward pair, each with its residual and norm."""
        own = f"{name}.attention.self"
        three = [f"{own}.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self.take(f"{part}.weight") for part in three])
        bias = np.concatenate([self.take(f"{part}.bias") for part in three])
        seen = self.node(
            "Attention",
            [
                hidden,
                self.constant(f"{own}.weight", weight.T),
                self.constant(f"{own}.bias", bias),
                "attention_mask",
            ],
            own,
            num_heads=shape.heads,
        )
        hidden = self.residual(seen, hidden, f"{name}.attention.output", shape.epsilon)
        up = f"{name}.intermediate.dense"
        wide = self.linear(hidden, up, self.take(f"{up}.weight"))
        wide = self.node(
            "BiasGelu", [wide, self.constant(f"{up}.bias", self.take(f"{up}.bias"))], f"{up}.gelu"
        )
        return self.residual(wide, hidden, f"{name}.output", shape.epsilon)

    def residual(self, inner: str, outer: str, name: str, epsilon: float) -> str:
        """Return ``norm(linear(inner) + bias + outer)``."""
        dense, norm = f"{name}.dense", f"{name}.LayerNorm"
        inputs = [self.linear(inner, dense, self.take(f"{dense}.weight")), outer]
        inputs += [self.constant(f"{norm}.{part}", self.take(f"{norm}.{part}")) for part in _NORM]
        inputs += [self.constant(f"{dense}.bias", self.take(f"{dense}.bias"))]
        return self.node("SkipLayerNormalization", inputs, norm, epsilon=epsilon)


_NORM = ("weight", "bias")
