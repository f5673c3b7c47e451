"""The default model: equal to sentence-transformers, whole tokens, nothing cut off in silence."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from citespan.embed.folder import open_folder
from citespan.embed.graph import BertShape, build_graph
from citespan.embed.onnx_embedder import (
    OnnxEmbedder,
    open_minilm,
    open_session,
    plan_batches,
    ready_graph,
)
from citespan.embed.tokenizer import load_tokenizer
from citespan.errors import ModelError
from support import need_minilm


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    need_minilm()
    return open_minilm()


@pytest.fixture(scope="module")
def reference() -> tuple[list[str], np.ndarray]:
    stored = np.load(Path(__file__).parent / "reference.npz")
    return json.loads(str(stored["texts"])), stored["vectors"]


@pytest.mark.parametrize(("precision", "least"), [("fp32", 1 - 1e-4), ("int8", 0.97)])
def test_equals_sentence_transformers(reference, precision, least):
    need_minilm()
    texts, expected = reference
    vectors = open_minilm(precision=precision).embed(texts)
    filled = [row for row, text in enumerate(texts) if text.strip()]
    assert len(filled) >= 60
    cosines = (vectors * expected)[filled].sum(axis=1)
    worst = int(np.argmin(cosines))
    assert cosines[worst] >= least, texts[filled[worst]][:60]


def test_precision_is_part_of_the_name(minilm):
    assert "fp32" in minilm.name
    assert open_minilm(precision="int8").name != minilm.name


def test_model_sizes(minilm):
    assert (minilm.dimension, minilm.max_tokens) == (384, 256)


def test_meaning_is_near(minilm):
    question, near, far = minilm.embed(
        ["How do I get my money back?", "Refunds are paid in two weeks.", "The cat sleeps."]
    )
    assert question @ near > question @ far + 0.2


def test_tokens_count_the_special_ones(minilm):
    # [CLS] the pump stops [SEP]; [CLS] [SEP]
    assert minilm.count_tokens(["The pump stops", ""]) == [5, 2]


def test_counting_does_not_truncate(minilm):
    assert minilm.count_tokens(["water " * 2000]) == [2002]


def test_only_the_first_256_tokens_are_read(minilm):
    # 254 words fill the model; the 255th word changes nothing, the 254th does.
    full, beyond, other = minilm.embed(
        ["water " * 254, "water " * 254 + "fire", "water " * 253 + "fire"]
    )
    assert full @ beyond == pytest.approx(1, abs=1e-6)
    assert full @ other < 1 - 1e-5


def test_offsets_are_code_points(minilm):
    text = "Ünder 水箱 🙂 stops"
    spans = minilm.find_offsets([text])[0]
    assert [text[start:end] for start, end in spans] == ["Ünder", "水", "箱", "🙂", "stops"]


def test_token_vectors_average_to_the_vector(minilm):
    texts = ["The pump stops when the tank is full.", "", "A refund."]
    matrices = minilm.embed_tokens(texts)
    assert [len(matrix) for matrix in matrices] == [11, 0, 6]
    assert minilm.count_tokens(texts) == [11, 2, 6]
    mean = matrices[0].mean(axis=0)
    np.testing.assert_allclose(mean / np.linalg.norm(mean), minilm.embed(texts)[0], atol=1e-5)


def test_batches_are_bounded_and_hold_each_row_once():
    lengths = [(row, 1 + (row * 37) % 300) for row in range(200)]
    of = dict(lengths)
    batches = list(plan_batches(lengths, 512))
    assert sorted(row for batch in batches for row in batch) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(of[row] for row in batch) <= 512
    longest = [max(of[row] for row in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


def copy_model(target: Path) -> Path:
    target.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(need_minilm() / name, target / name)
    return target


def test_graph_is_built_once_beside_the_weights(tmp_path):
    folder = copy_model(tmp_path / "model")
    first = ready_graph(folder, BertShape(6, 12), "fp32")
    assert isinstance(first, Path)
    made = first.stat().st_mtime_ns
    assert ready_graph(folder, BertShape(6, 12), "fp32") == first
    assert first.stat().st_mtime_ns == made
    assert not [path for path in folder.iterdir() if path.name.startswith(".build")]


def test_other_weights_get_another_graph(tmp_path):
    folder = copy_model(tmp_path / "model")
    first = ready_graph(folder, BertShape(6, 12), "fp32")
    os.utime(folder / "model.safetensors", (1, 1))
    assert ready_graph(folder, BertShape(6, 12), "fp32") != first


def test_folder_that_cannot_be_written_still_works(tmp_path, monkeypatch):
    folder = copy_model(tmp_path / "model")

    def refuse(*_, **__):
        raise PermissionError(13, "no")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    graph = ready_graph(folder, BertShape(6, 12), "fp32")
    assert isinstance(graph, bytes)
    assert open_session(graph).get_outputs()[0].shape[-1] == 384


def test_altered_weights_are_not_called_minilm(tmp_path):
    folder = copy_model(tmp_path / "model")
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(ModelError, match="other weights"):
        open_minilm(folder)
    (folder / "config.json").write_text(
        json.dumps({"model_type": "bert", "num_hidden_layers": 6, "num_attention_heads": 12})
    )
    embedder = open_folder(folder, max_tokens=128)
    assert embedder.name.startswith("model/")
    assert embedder.max_tokens == 128
    assert len(embedder.embed(["a"])) == 1


def test_damaged_files_say_so(tmp_path):
    folder = copy_model(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"\0" * 100)
    with pytest.raises(ModelError, match="cannot be read as model weights"):
        ready_graph(folder, BertShape(6, 12), "fp32")
    with pytest.raises(ModelError, match="onnxruntime cannot read"):
        open_session(b"nonsense")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be read as a tokenizer"):
        load_tokenizer(folder / "tokenizer.json")


def test_weights_of_another_kind_are_refused():
    with pytest.raises(ModelError, match=r"hold no embeddings\.word_embeddings"):
        build_graph({}, BertShape(6, 12))


def test_folder_wants_the_mean_and_a_model(tmp_path):
    folder = tmp_path / "other"
    (folder / "1_Pooling").mkdir(parents=True)
    shutil.copy(need_minilm() / "tokenizer.json", folder)
    with pytest.raises(ModelError, match=r"no model\.onnx and no BERT"):
        open_folder(folder)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(ModelError, match="mean of its tokens"):
        open_folder(folder)
    (folder / "1_Pooling" / "config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        open_folder(folder)


def test_hub_onnx_folder_takes_prefixes_and_int64(tmp_path):
    """A stand-in for a hub's e5 folder: inputs in int64, as the hub's exports have them."""
    import onnx
    from onnx import TensorProto, helper

    from citespan.embed.e5 import open_e5

    folder = tmp_path / "multilingual-e5-small"
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(need_minilm() / "tokenizer.json", folder)
    inner = onnx.load(str(ready_graph(need_minilm(), BertShape(6, 12), "fp32")))
    for entry in inner.graph.input:
        entry.type.tensor_type.elem_type = TensorProto.INT64
    for name in ("input_ids", "attention_mask"):
        for node in inner.graph.node:
            node.input[:] = [f"{name}.32" if one == name else one for one in node.input]
        cast = helper.make_node("Cast", [name], [f"{name}.32"], to=TensorProto.INT32)
        inner.graph.node.insert(0, cast)
    onnx.save(inner, str(folder / "onnx" / "model.onnx"))
    (folder / "config.json").write_text('{"max_position_embeddings": 512}')

    embedder = open_e5(folder)
    assert embedder.max_tokens == 512
    assert embedder.name.startswith("multilingual-e5-small/")
    assert embedder.count_tokens(["pump"]) == [5]  # [CLS] passage : pump [SEP]
    plain = open_minilm()
    np.testing.assert_allclose(
        embedder.embed(["pump"], kind="query"), plain.embed(["query: pump"]), atol=1e-5
    )
    np.testing.assert_allclose(embedder.embed(["pump"]), plain.embed(["passage: pump"]), atol=1e-5)
