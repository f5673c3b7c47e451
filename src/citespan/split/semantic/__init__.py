"""Chunks that end where the subject changes (docs/semantic.md)."""

from citespan.split.semantic.chunker import SemanticChunker, SentenceNote

__all__ = ["SemanticChunker", "SentenceNote"]
