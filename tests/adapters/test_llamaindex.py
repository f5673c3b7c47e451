"""citespan's parts in LlamaIndex, against the installed llama-index-core."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from importlib import reload
from pathlib import Path

import pytest

from citespan.adapters import llamaindex as adapter
from citespan.config import load_settings
from citespan.errors import MissingExtraError
from citespan.pipeline import OpenIndex, build_index, open_index
from citespan.protocols import Filter
from citespan.split.recursive import RecursiveSplitter
from support import block_sockets

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[OpenIndex]:
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen tea comes from Uji. Black from Assam.\n")
    (tmp_path / "pump.md").write_text("# Pump\n\nThe pump must be bled every autumn.\n")
    flags = {"embedder": "hashing", "index": str(tmp_path / "index")}
    loaded = load_settings(flags, environ={}, folder=tmp_path)
    build_index([tmp_path / "tea.md", tmp_path / "pump.md"], loaded)
    with open_index(loaded) as opened:
        yield opened


def test_nodes_know_where_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.schema import Document, MetadataMode, TextNode

    block_sockets(monkeypatch)
    text = "The same line.\n\nThe same line.\n\nAnother one.\n\nThe same line."
    parser = adapter.as_node_parser(RecursiveSplitter(size=16, overlap=0))
    assert isinstance(parser, NodeParser)
    documents = [Document(text=text, metadata={"source": name}) for name in ("a.md", "b.md")]
    nodes = parser.get_nodes_from_documents(documents)
    assert len(nodes) == 8
    for number, node in enumerate(nodes):
        assert isinstance(node, TextNode)
        assert text[node.start_char_idx : node.end_char_idx] == node.text
        assert node.metadata["start"] == node.start_char_idx
        assert node.metadata["order"] == number % 4
        assert node.metadata["source"] == ("a.md" if number < 4 else "b.md")
        assert node.ref_doc_id == documents[number // 4].doc_id
        shown = node.get_content(metadata_mode=MetadataMode.EMBED)
        assert "start" not in shown
        assert "source: " in shown
    assert [node.start_char_idx for node in nodes[:4]] == [0, 16, 32, 46]
    assert nodes[0].next_node is not None
    assert nodes[0].next_node.node_id == nodes[1].node_id
    assert nodes[3].next_node is None
    assert parser(documents)[0].get_content() == nodes[0].get_content()
    assert parser.get_nodes_from_documents([Document(text="")]) == []


def test_an_index_is_a_retriever(index: OpenIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import TextNode

    block_sockets(monkeypatch)
    retriever = adapter.CitespanRetriever(index, k=1)
    assert isinstance(retriever, BaseRetriever)
    (found,) = retriever.retrieve("When must the pump be bled?")
    assert isinstance(found.node, TextNode)
    assert found.metadata["source"].endswith("pump.md")
    assert found.score == found.metadata["score"]
    document = index.get_document(found.metadata["doc_id"])
    assert document is not None
    assert document.text[found.node.start_char_idx : found.node.end_char_idx] == found.text
    assert "bled every autumn" in found.text


def test_asked_from_a_loop_and_with_a_filter(index: OpenIndex) -> None:
    retriever = adapter.CitespanRetriever(index, where=Filter(sources=("*tea.md",)))
    found = asyncio.run(retriever.aretrieve("Where does tea come from, and the pump?"))
    assert {node.metadata["source"].split("/")[-1] for node in found} == {"tea.md"}


def test_without_llamaindex_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "llama_index"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "llama_index", None)
    fresh = reload(adapter)
    try:
        with pytest.raises(MissingExtraError, match=r"pip install 'citespan\[llamaindex\]'"):
            fresh.as_node_parser(RecursiveSplitter())
        with pytest.raises(MissingExtraError, match=r"pip install 'citespan\[llamaindex\]'"):
            fresh.CitespanRetriever  # noqa: B018
    finally:
        monkeypatch.undo()
        reload(adapter)
