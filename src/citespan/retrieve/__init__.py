"""Stage 5, retrieve: chunks that match a question, each score with its named parts."""

from citespan.retrieve.grow import choose_runs, make_passages
from citespan.retrieve.hits import Retrieval, Retriever, retrieve_hits
from citespan.retrieve.ribbon import Ribbon, RibbonSettings, list_hits, score_ribbon

__all__ = [
    "Retrieval",
    "Retriever",
    "Ribbon",
    "RibbonSettings",
    "choose_runs",
    "list_hits",
    "make_passages",
    "retrieve_hits",
    "score_ribbon",
]
