"""citespan's parts in LangChain, against the installed LangChain and Chroma."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Iterator
from importlib import reload
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chroma_writer import EMBEDDER, make_chunks
from citespan.adapters import langchain as adapter
from citespan.adapters.langchain import (
    as_embeddings,
    as_retriever,
    as_text_splitter,
    as_vector_store,
)
from citespan.config import load_settings
from citespan.embed.hashing import HashingEmbedder
from citespan.errors import InputError, MissingExtraError, StoreError
from citespan.pipeline import OpenIndex, build_index, open_index
from citespan.protocols import Filter
from citespan.registry import list_names, resolve_name
from citespan.split.recursive import RecursiveSplitter
from citespan.stores.chroma_client import Chroma
from citespan.stores.chroma_collections import open_collection, write_collections
from citespan.types import Chunk, Document, Span

for needed in ("langchain_core", "langchain_text_splitters", "langchain_chroma"):
    pytest.importorskip(needed, reason="the extra langchain is not installed")

TEXTS = {
    "tea.md": "# Tea\n\nGreen tea comes from Uji. Black tea comes from Assam.\n",
    "coffee.md": "# Coffee\n\nCoffee is grown in Brazil. It is roasted before it is ground.\n",
    "pump.md": "# Pump\n\nThe pump must be bled every autumn. The valve is on its left side.\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[OpenIndex]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    flags = {"embedder": "hashing", "index": str(tmp_path / "index")}
    loaded = load_settings(flags, environ={}, folder=tmp_path)
    build_index([tmp_path / name for name in TEXTS], loaded)
    with open_index(loaded) as opened:
        yield opened


class Shuffled:
    """A splitter whose chunk has two spans."""

    name = "shuffled"

    def split(self, document: Document) -> list[Chunk]:
        text = document.text
        return [Chunk(document.id, 0, (Span(0, 3), Span(5, 8)), f"{text[:3]} {text[5:8]}")]

    def settings(self) -> dict[str, Any]:
        return {}


def test_spans_are_exact_where_text_repeats() -> None:
    from langchain_core.documents import Document as LangChainDocument

    text = "The same line.\n\n" * 12
    made = as_text_splitter(RecursiveSplitter(size=20, overlap=0))
    found = made.split_documents([LangChainDocument(page_content=text, metadata={"source": "a"})])
    assert len(found) == 12
    starts = [document.metadata["start"] for document in found]
    assert starts == sorted(set(starts))
    for order, document in enumerate(found):
        start, end = document.metadata["start"], document.metadata["end"]
        assert text[start:end] == document.page_content
        assert document.metadata["order"] == order
        assert document.metadata["start_index"] == start
        assert document.metadata["source"] == "a"
    assert made.split_text(text) == [document.page_content for document in found]
    assert list(made.transform_documents(found[:1])) == [found[0]]


@settings(max_examples=40)
@given(st.text(alphabet="ab \n。é", max_size=200))
def test_every_chunk_is_the_text_at_its_span(text: str) -> None:
    made = as_text_splitter(RecursiveSplitter(size=30, overlap=5))
    for document in made.create_documents([text]):
        start, end = document.metadata["start"], document.metadata["end"]
        assert text[start:end] == document.page_content


@pytest.mark.parametrize("name", [name for name in list_names("splitter") if name != "semantic"])
def test_any_splitter_fits(name: str) -> None:
    made = as_text_splitter(resolve_name("splitter", name)())
    text = "# One\n\nSome words here. More of them.\n\n## Two\n\nThe last ones.\n" * 3
    for document in made.create_documents([text], [{"title": "T"}]):
        start, end = document.metadata["start"], document.metadata["end"]
        assert text[start:end] == document.page_content
        assert document.metadata["title"] == "T"


def test_several_spans_are_told() -> None:
    (document,) = as_text_splitter(Shuffled()).create_documents(["abc--def"])
    assert document.page_content == "abc def"
    assert document.metadata["spans"] == [[0, 3], [5, 8]]


def test_embeddings_tell_questions_from_documents() -> None:
    class Marked(HashingEmbedder):
        def embed(self, texts: Any, *, kind: Any = "document") -> Any:
            return super().embed([f"{kind} {text}" for text in texts])

    made = as_embeddings(Marked(dimension=16))
    plain = HashingEmbedder(dimension=16)
    assert made.embed_query("tea") == plain.embed(["query tea"])[0].tolist()
    assert made.embed_documents(["tea"]) == plain.embed(["document tea"]).tolist()
    assert made.embed_documents([]) == []


def test_an_index_is_a_retriever(index: OpenIndex) -> None:
    from langchain_core.retrievers import BaseRetriever

    retriever = adapter.CitespanRetriever(index=index, k=2)
    assert isinstance(retriever, BaseRetriever)
    first, *rest = retriever.invoke("When must the pump be bled?")
    assert len(rest) <= 1
    assert first.metadata["source"].endswith("pump.md")
    document = index.get_document(first.metadata["doc_id"])
    assert document is not None
    start, end = first.metadata["start"], first.metadata["end"]
    assert document.text[start:end] == first.page_content
    assert "bled every autumn" in first.page_content
    again = asyncio.run(retriever.ainvoke("When must the pump be bled?"))
    assert again == [first, *rest]


def test_a_filter_and_k_are_heeded(index: OpenIndex) -> None:
    where = Filter(sources=("*tea.md",))
    retriever = adapter.CitespanRetriever(index=index, k=1, where=where)
    (found,) = retriever.invoke("tea, coffee or pump?")
    assert found.metadata["source"].endswith("tea.md")
    with pytest.raises(InputError, match="k = 0"):
        adapter.CitespanRetriever(index=index, k=0).invoke("tea")


def test_the_class_is_found_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(adapter.CitespanRetriever)) is adapter.CitespanRetriever
    with pytest.raises(AttributeError, match="Nonsense"):
        adapter.Nonsense  # noqa: B018


@pytest.fixture(params=["embedded", "http"])
def chroma(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Chroma]:
    http = request.param == "http"
    place = {"url": request.getfixturevalue("chroma_url")} if http else {"path": tmp_path / "c"}
    with Chroma(**place) as made:
        lists = {name: make_chunks(name, 25) for name in ("baseline", "semantic_chunks")}
        write_collections(made, lists, EMBEDDER)
        yield made


@pytest.mark.parametrize("name", ["baseline", "semantic_chunks"])
def test_both_collections_are_vector_store_retrievers(chroma: Chroma, name: str) -> None:
    from langchain_chroma import Chroma as LangChainChroma
    from langchain_core.vectorstores import VectorStoreRetriever

    collection = open_collection(chroma, name)
    retriever = as_retriever(collection, EMBEDDER)
    assert isinstance(retriever, VectorStoreRetriever)
    assert isinstance(retriever.vectorstore, LangChainChroma)
    assert retriever.search_kwargs == {"k": 3}
    question = f"word7 of {name}"
    found = retriever.invoke(question)
    vector = EMBEDDER.embed([question], kind="query")[0]
    cosines = EMBEDDER.embed([document.page_content for document in found]) @ vector
    assert cosines.tolist() == pytest.approx([h.score for h in collection.search(vector, 3)])
    for document in found:
        meta = document.metadata
        (chunk,) = collection.get_chunks(meta["doc_id"], [meta["order"]])
        assert (chunk.text, chunk.start) == (document.page_content, meta["start"])
    assert {"start", "end", "order"} <= set(found[0].metadata)


def test_scores_and_ids_of_the_vector_store(chroma: Chroma) -> None:
    store = as_vector_store(open_collection(chroma, "baseline"), EMBEDDER)
    ((best, score), *_) = store.similarity_search_with_relevance_scores("word3 of baseline", k=2)
    assert score == pytest.approx(1, abs=1e-5)
    assert [d.id for d in store.get_by_ids([str(best.id), "d1:4"])] == [best.id, "d1:4"]
    assert len(store.max_marginal_relevance_search("word3", k=3)) == 3


def test_it_goes_on_when_the_collection_is_written_anew(chroma: Chroma) -> None:
    retriever = as_retriever(open_collection(chroma, "baseline"), EMBEDDER, k=1)
    assert retriever.invoke("word3 of baseline")
    write_collections(chroma, {"baseline": make_chunks("later", 5)}, EMBEDDER)
    assert "later" in retriever.invoke("word3 of later")[0].page_content


def test_another_model_is_refused(chroma: Chroma) -> None:
    with pytest.raises(StoreError, match="was made with hashing/32"):
        as_retriever(open_collection(chroma, "baseline"), HashingEmbedder(dimension=64))
    with pytest.raises(InputError, match="k = 0"):
        as_retriever(open_collection(chroma, "baseline"), EMBEDDER, k=0)


@pytest.mark.parametrize("missing", ["langchain_core", "langchain_text_splitters"])
def test_without_langchain_the_pip_line_is_said(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    fresh = reload(adapter)
    try:
        with pytest.raises(MissingExtraError, match=r"run: pip install 'citespan\[langchain\]'"):
            fresh.as_text_splitter(RecursiveSplitter())
    finally:
        monkeypatch.undo()
        reload(adapter)
