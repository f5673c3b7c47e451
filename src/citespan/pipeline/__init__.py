"""The whole way, wired: build an index, search it, ask it."""

from citespan.pipeline.ask import ask_index, search_index
from citespan.pipeline.batch import index_corpus, read_queries, run_queries
from citespan.pipeline.build import build_index
from citespan.pipeline.explain import Explanation, TermDetail, explain_trace
from citespan.pipeline.manage import read_stored, remove_index, remove_sources
from citespan.pipeline.opened import OpenIndex, find_document, limit_to, open_index
from citespan.pipeline.write import BuildReport, Progress, prepare_document, write_documents

__all__ = [
    "BuildReport",
    "Explanation",
    "OpenIndex",
    "Progress",
    "TermDetail",
    "ask_index",
    "build_index",
    "explain_trace",
    "find_document",
    "index_corpus",
    "limit_to",
    "open_index",
    "prepare_document",
    "read_queries",
    "read_stored",
    "remove_index",
    "remove_sources",
    "run_queries",
    "search_index",
    "write_documents",
]
