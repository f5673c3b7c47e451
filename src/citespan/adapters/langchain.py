"""citespan in LangChain: splitters, embedders, any index as a retriever, Chroma's collections.

LangChain is imported when one of these is first made; without it that raises MissingExtraError.
``CitespanRetriever`` is a class of this module all the same::

    from citespan.adapters.langchain import CitespanRetriever
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from citespan.adapters.parts import as_document, describe_passage, describe_span, find_passages
from citespan.errors import InputError, MissingExtraError
from citespan.protocols import Embedder, Splitter
from citespan.stores.chroma_collections import ChunkCollection, open_collection

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
    from langchain_text_splitters import TextSplitter

WRITING = {"add", "update", "upsert", "delete"}


def as_text_splitter(splitter: Splitter) -> TextSplitter:
    """Return a citespan splitter as a LangChain ``TextSplitter``.

    Documents that it makes carry ``start`` and ``end`` (and LangChain's ``start_index``), their
    ``order``, and ``spans`` where a chunk has several; with one span, which is the rule,
    ``text[start:end]`` is exactly the chunk. The offsets come from the split and are never
    searched for.

    Raises
    ------
    MissingExtraError
        If LangChain is not installed.

    Examples
    --------
    >>> from citespan.split.recursive import RecursiveSplitter
    >>> made = as_text_splitter(RecursiveSplitter(size=12, overlap=0))
    >>> for found in made.create_documents(["Green tea. Black tea."]):
    ...     print(found.page_content, found.metadata["start"], found.metadata["end"])
    Green tea. 0 10
    Black tea. 11 21
    """
    made: TextSplitter = _splitter_class()(splitter)
    return made


def as_embeddings(embedder: Embedder) -> Embeddings:
    """Return a citespan embedder as LangChain ``Embeddings``.

    Raises
    ------
    MissingExtraError
        If LangChain is not installed.

    Examples
    --------
    >>> from citespan.embed.hashing import HashingEmbedder
    >>> len(as_embeddings(HashingEmbedder(dimension=8)).embed_query("tea"))
    8
    """
    made: Embeddings = _embeddings_class()(embedder)
    return made


def as_vector_store(collection: ChunkCollection, embedder: Embedder) -> VectorStore:
    """Return a collection as LangChain's own ``langchain_chroma.Chroma``.

    What it asks of an embedded Chroma goes under citespan's lock, so other processes may write.

    Raises
    ------
    MissingExtraError
        If langchain-chroma is not installed.
    StoreError
        If the collection was made with another model than ``embedder``.
    """
    try:
        from langchain_chroma import Chroma as LangChainChroma
    except ImportError:
        raise MissingExtraError("langchain-chroma", extra="langchain") from None
    open_collection(collection.chroma, collection.name, embedder=embedder)
    with collection.chroma.use() as client:
        made = LangChainChroma(
            collection_name=collection.name,
            embedding_function=as_embeddings(embedder),
            client=client,
            create_collection_if_not_exists=False,
            relevance_score_fn=_relevance,
        )
    made._chroma_collection = _Guarded(collection)  # type: ignore[assignment]
    return made


def as_retriever(collection: ChunkCollection, embedder: Embedder, k: int = 3) -> Any:
    """Return a collection as a ``VectorStoreRetriever`` with ``search_kwargs={"k": k}``.

    Raises
    ------
    InputError
        If k < 1.
    MissingExtraError, StoreError
        As ``as_vector_store``.
    """
    if k < 1:
        raise InputError(f"k = {k}: at least one chunk must be asked for", fix="use k >= 1")
    made: VectorStoreRetriever = as_vector_store(collection, embedder).as_retriever(
        search_kwargs={"k": k}
    )
    return made


def _relevance(distance: float) -> float:
    """Return a cosine distance as LangChain's relevance, in [0, 1] also where it was rounded."""
    return min(1.0, max(0.0, 1.0 - distance / 2))


class _Guarded:
    """Chroma's collection as LangChain calls it, each call under the lock and on fresh data."""

    def __init__(self, collection: ChunkCollection) -> None:
        self._collection = collection

    def __getattr__(self, name: str) -> Any:
        def call(*values: Any, **arguments: Any) -> Any:
            # By position LangChain gives nothing but what ``get`` and ``delete`` call ids.
            if values:
                arguments["ids"] = values[0]
            return self._collection.call(name, write=name in WRITING, **arguments)

        return call


def __getattr__(name: str) -> Any:
    if name == "CitespanRetriever":
        return _retriever_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _splitter_class() -> Any:
    try:
        from langchain_core.documents import Document
        from langchain_text_splitters import TextSplitter
    except ImportError:
        raise MissingExtraError("langchain-text-splitters", extra="langchain") from None

    class CitespanTextSplitter(TextSplitter):
        """A citespan splitter."""

        def __init__(self, splitter: Splitter) -> None:
            super().__init__()
            self.splitter = splitter

        def split_text(self, text: str) -> list[str]:
            return [chunk.text for chunk in self.splitter.split(as_document(text))]

        def create_documents(
            self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
        ) -> list[Document]:
            given = metadatas or [{}] * len(texts)
            return [
                Document(
                    page_content=chunk.text,
                    metadata={**metadata, "start_index": chunk.start, **describe_span(chunk)},
                )
                for text, metadata in zip(texts, given, strict=True)
                for chunk in self.splitter.split(as_document(text, metadata))
            ]

    return CitespanTextSplitter


@cache
def _embeddings_class() -> Any:
    try:
        from langchain_core.embeddings import Embeddings
    except ImportError:
        raise MissingExtraError("langchain-core", extra="langchain") from None

    class CitespanEmbeddings(Embeddings):
        """A citespan embedder."""

        def __init__(self, embedder: Embedder) -> None:
            self.embedder = embedder

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = self.embedder.embed(texts).tolist()
            return rows

        def embed_query(self, text: str) -> list[float]:
            row: list[float] = self.embedder.embed([text], kind="query")[0].tolist()
            return row

    return CitespanEmbeddings


@cache
def _retriever_class() -> Any:
    try:
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
    except ImportError:
        raise MissingExtraError("langchain-core", extra="langchain") from None

    class CitespanRetriever(BaseRetriever):
        """Passages of an open index, best first, as ``citespan search`` finds them.

        ``index`` is what ``citespan.pipeline.open_index`` returns; ``k`` the most passages (fewer
        where fewer are near the best one); ``where`` a ``citespan.protocols.Filter``. Metadata:
        ``doc_id``, ``source``, ``title``, ``start``, ``end``, ``score``, and ``page``,
        ``heading`` and ``duplicates`` where there are any.
        """

        index: Any
        k: int = 3
        where: Any = None

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [
                Document(page_content=passage.text, metadata=describe_passage(passage))
                for passage in find_passages(self.index, query, self.k, self.where)
            ]

    CitespanRetriever.__module__ = __name__
    CitespanRetriever.__qualname__ = "CitespanRetriever"
    return CitespanRetriever
