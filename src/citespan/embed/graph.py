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
FUSED = "com.microsoft"
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
        ``fp32``, or ``int8``: linear layers multiply 8-bit weights and 8-bit activations, the rest
        stays float32.

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
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)],
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

    def constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        """Add a constant."""
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(
        self, kind: str, inputs: list[str], name: str, domain: str = FUSED, **attributes: Any
    ) -> str:
        """Add an operator, of onnxruntime's own domain unless told otherwise."""
        from onnx import helper

        self.nodes.append(
            helper.make_node(kind, inputs, [f"{name}.out"], name=name, domain=domain, **attributes)
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
            inputs = [hidden, self.constant(f"{name}.weight", weight.T)]
            return self.node("MatMul", inputs, name, domain="")
        return self.linear_int8(hidden, name, weight)

    def linear_int8(self, hidden: str, name: str, weight: NDArray[np.float32]) -> str:
        """Multiply in 8 bits: one scale a row of ``hidden``, one an output of ``weight``.

        onnxruntime's own dynamic quantisation has one scale for the whole batch, and then a text's
        vector depends on the texts beside it. With a scale a row it depends on the text alone.
        """
        size = self.node("Abs", [hidden], f"{name}.abs", domain="")
        axis = self.constant(f"{name}.axis", np.array([-1], dtype=np.int64))
        top = self.node("ReduceMax", [size, axis], f"{name}.top", domain="", keepdims=1)
        step = self.node(
            "Div", [self.constant(f"{name}.127", np.float32(127)), top], f"{name}.step", domain=""
        )
        even = self.node("Mul", [hidden, step], f"{name}.even", domain="")
        one = self.constant(f"{name}.one", np.float32(1))
        middle = self.constant(f"{name}.middle", np.uint8(128))
        rows = self.node("QuantizeLinear", [even, one, middle], f"{name}.rows", domain="")
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / 127
        inputs = [
            rows,
            self.constant(f"{name}.weight", np.rint(weight / scale[:, None]).astype(np.int8).T),
            one,
            self.constant(f"{name}.scale", (scale / 127).astype(np.float32)),
            middle,
            self.constant(f"{name}.zero", np.int8(0)),
        ]
        product = self.node("MatMulIntegerToFloat", inputs, name)
        return self.node("Mul", [product, top], f"{name}.back", domain="")

    def attention(self, hidden: str, name: str, heads: int) -> str:
        """Let each token look at the others of its text that the mask allows."""
        parts = [f"{name}.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self.take(f"{part}.weight") for part in parts])
        bias = self.constant(
            f"{name}.bias", np.concatenate([self.take(f"{part}.bias") for part in parts])
        )
        if self.precision == "fp32":
            inputs = [hidden, self.constant(f"{name}.weight", weight.T), bias, "attention_mask"]
            return self.node("Attention", inputs, name, num_heads=heads)
        joined = self.linear(hidden, f"{name}.joined", weight)
        self.node("Split", [joined], f"{name}.split", domain="", axis=-1, num_outputs=3)
        self.nodes[-1].output[:] = parts
        return self.node(
            "MultiHeadAttention", [*parts, bias, "attention_mask"], name, num_heads=heads
        )

    def layer(self, hidden: str, name: str, shape: BertShape) -> str:
        """Add self-attention and the feed-forward pair, each with its residual and norm."""
        seen = self.attention(hidden, f"{name}.attention.self", shape.heads)
        hidden = self.residual(seen, hidden, f"{name}.attention.output", shape.epsilon)
        up = f"{name}.intermediate.dense"
        wide = self.linear(hidden, up, self.take(f"{up}.weight"))
        bias = self.constant(f"{up}.bias", self.take(f"{up}.bias"))
        wide = self.node("BiasGelu", [wide, bias], f"{up}.gelu")
        return self.residual(wide, hidden, f"{name}.output", shape.epsilon)

    def residual(self, inner: str, outer: str, name: str, epsilon: float) -> str:
        """Return ``norm(linear(inner) + bias + outer)``."""
        dense, norm = f"{name}.dense", f"{name}.LayerNorm"
        inputs = [self.linear(inner, dense, self.take(f"{dense}.weight")), outer]
        inputs += [self.constant(f"{norm}.{part}", self.take(f"{norm}.{part}")) for part in _NORM]
        inputs += [self.constant(f"{dense}.bias", self.take(f"{dense}.bias"))]
        return self.node("SkipLayerNormalization", inputs, norm, epsilon=epsilon)


_NORM = ("weight", "bias")
