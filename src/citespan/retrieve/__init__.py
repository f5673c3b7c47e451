"""Stage 5, retrieve: chunks that match a question, each score with its named parts."""

from citespan.retrieve.hits import Retrieval, Retriever, explain_hit, retrieve_hits

__all__ = ["Retrieval", "Retriever", "explain_hit", "retrieve_hits"]
