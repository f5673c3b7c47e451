"""From texts to vectors: one default model, others behind the same Protocol."""

from citespan.embed.texts import Embedded, Progress, describe_truncation, embed_texts

__all__ = ["Embedded", "Progress", "describe_truncation", "embed_texts"]
