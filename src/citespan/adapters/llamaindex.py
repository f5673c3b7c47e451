"""citespan in LlamaIndex: any splitter as a ``NodeParser``, any index as a ``BaseRetriever``.

Only ``llama-index-core`` is needed, and imported when one of these is first made; without it that
raises MissingExtraError. Both classes are attributes of this module::

    from citespan.adapters.llamaindex import CitespanNodeParser, CitespanRetriever
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from citespan.adapters.parts import as_document, describe_passage, describe_span, find_passages
from citespan.errors import MissingExtraError
from citespan.types import Passage, content_id


def as_node_parser(splitter: Any) -> Any:
    """Return a citespan splitter as a LlamaIndex ``NodeParser``.

    A node's ``start_char_idx`` and ``end_char_idx`` are the chunk's own offsets; LlamaIndex's
    parsers look for the node's text in the document, and find the first of what occurs twice.

    Raises
    ------
    MissingExtraError
        If llama-index-core is not installed.

    Examples
    --------
    >>> from citespan.split.recursive import RecursiveSplitter
    >>> from llama_index.core.schema import Document
    >>> parser = as_node_parser(RecursiveSplitter(size=12, overlap=0))
    >>> nodes = parser.get_nodes_from_documents([Document(text="Green tea. Green tea.")])
    >>> [(node.text, node.start_char_idx, node.end_char_idx) for node in nodes]
    [('Green tea.', 0, 10), ('Green tea.', 11, 21)]
    """
    return _parser_class()(splitter=splitter)


def __getattr__(name: str) -> Any:
    if name == "CitespanRetriever":
        return _retriever_class()
    if name == "CitespanNodeParser":
        return _parser_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _parser_class() -> Any:
    try:
        from llama_index.core.node_parser import NodeParser
        from llama_index.core.schema import (
            BaseNode,
            Document,
            MetadataMode,
            NodeRelationship,
            TextNode,
        )
    except ImportError:
        raise MissingExtraError("llama-index-core", extra="llamaindex") from None

    class CitespanNodeParser(NodeParser):
        """Cuts documents by ``splitter``, a citespan splitter.

        A node's metadata hold ``start``, ``end`` and ``order`` (and ``spans`` or ``context``
        where a chunk has them), kept out of what is embedded and shown to a model.
        """

        splitter: Any

        @classmethod
        def class_name(cls) -> str:
            return "CitespanNodeParser"

        def _parse_nodes(
            self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
        ) -> list[BaseNode]:
            made: list[BaseNode] = []
            for node in nodes:
                text = node.get_content(metadata_mode=MetadataMode.NONE)
                related = {NodeRelationship.SOURCE: node.as_related_node_info()}
                chunks = self.splitter.split(as_document(text, node.metadata))
                for number, chunk in enumerate(chunks):
                    place = describe_span(chunk)
                    made.append(
                        TextNode(
                            id_=self.id_func(number, node),
                            text=chunk.text,
                            start_char_idx=chunk.start,
                            end_char_idx=chunk.end,
                            metadata=place,
                            relationships=related,
                            excluded_embed_metadata_keys=[
                                *node.excluded_embed_metadata_keys,
                                *place,
                            ],
                            excluded_llm_metadata_keys=[*node.excluded_llm_metadata_keys, *place],
                        )
                    )
            return made

        def _postprocess_parsed_nodes(
            self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
        ) -> list[BaseNode]:
            done: list[BaseNode] = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
            # It has looked for each node's text, and moved the offsets to where it found it.
            for node in done:
                if isinstance(node, TextNode):
                    node.start_char_idx = node.metadata["start"]
                    node.end_char_idx = node.metadata["end"]
            return done

    CitespanNodeParser.__module__ = __name__
    CitespanNodeParser.__qualname__ = "CitespanNodeParser"
    return CitespanNodeParser


@cache
def _retriever_class() -> Any:
    try:
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    except ImportError:
        raise MissingExtraError("llama-index-core", extra="llamaindex") from None

    class CitespanRetriever(BaseRetriever):
        """Passages of an open index, best first, as ``citespan search`` finds them.

        Parameters
        ----------
        index
            What ``citespan.pipeline.open_index`` returns.
        k
            The most passages; fewer where fewer are near the best one.
        where
            A ``citespan.protocols.Filter``.
        """

        def __init__(self, index: Any, k: int = 3, where: Any = None, **options: Any) -> None:
            super().__init__(**options)
            self.index, self.k, self.where = index, k, where

        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            found = find_passages(self.index, query_bundle.query_str, self.k, self.where)
            return [
                NodeWithScore(node=TextNode(**_node_fields(passage)), score=passage.score)
                for passage in found
            ]

    CitespanRetriever.__module__ = __name__
    CitespanRetriever.__qualname__ = "CitespanRetriever"
    return CitespanRetriever


def _node_fields(passage: Passage) -> dict[str, Any]:
    metadata = describe_passage(passage)
    return {
        "id_": content_id(passage.document_id, f"{passage.start}:{passage.end}"),
        "text": passage.text,
        "start_char_idx": passage.start,
        "end_char_idx": passage.end,
        "metadata": metadata,
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": [
            name for name in metadata if name not in ("source", "title")
        ],
    }
