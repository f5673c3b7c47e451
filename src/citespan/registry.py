"""Names and what they stand for: splitters, embedders, generators and stores.

Built-in parts are written as ``module:attribute`` and imported when first asked for, so that a
name costs nothing until it is used. Other packages add parts of their own by entry points in the
groups ``citespan.splitters``, ``citespan.embedders``, ``citespan.generators`` and
``citespan.stores``; a built-in name is never replaced by one of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from citespan.errors import InputError

Kind = Literal["splitter", "embedder", "generator", "store"]

BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
    "splitter": {
        "sentences": "citespan.split.sentences:SentenceSplitter",
        "paragraphs": "citespan.split.paragraphs:ParagraphSplitter",
        "words": "citespan.split.words:WordSplitter",
        "recursive": "citespan.split.recursive:RecursiveSplitter",
        "tokens": "citespan.split.tokens:TokenSplitter",
        "markdown": "citespan.split.markdown:MarkdownSplitter",
        "html": "citespan.split.html:HtmlSplitter",
        "code": "citespan.split.code:CodeSplitter",
        "semantic": "citespan.split.semantic:SemanticChunker",
    },
    "embedder": {
        "minilm": "citespan.embed.onnx_embedder:open_minilm",
        "e5": "citespan.embed.e5:open_e5",
        "folder": "citespan.embed.folder:open_folder",
        "openai": "citespan.embed.remote:RemoteEmbedder",
        "sentence-transformers": (
            "citespan.embed.sentence_transformers:SentenceTransformersEmbedder"
        ),
        "hashing": "citespan.embed.hashing:HashingEmbedder",
    },
    "generator": {
        "extractive": "citespan.generate.extractive:ExtractiveGenerator",
        "openai": "citespan.generate.chat:ChatGenerator",
    },
    "store": {
        "sqlite": "citespan.stores.opening:open_store",
        "chroma": "citespan.stores.chroma:open_chroma_store",
    },
}


def list_names(kind: Kind) -> list[str]:
    """Return the names that ``resolve_name`` knows, sorted.

    >>> "sentences" in list_names("splitter")
    True
    """
    extra = {point.name for point in entry_points(group=f"citespan.{kind}s")}
    return sorted(extra | set(BUILT_IN[kind]))


def resolve_name(kind: Kind, name: str) -> Any:
    """Return the object that a name stands for, importing its module.

    Raises
    ------
    InputError
        If there is no such name; the message lists the names, the likeliest first.

    Examples
    --------
    >>> resolve_name("splitter", "word")
    Traceback (most recent call last):
    ...
    citespan.errors.InputError: there is no splitter 'word'; did you mean words? use one of: ...
    """
    target = BUILT_IN[kind].get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)
    for point in entry_points(group=f"citespan.{kind}s"):
        if point.name == name:
            return point.load()
    names = list_names(kind)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"there is no {kind} {name!r}", fix=f"{hint}use one of: {', '.join(names)}")
