"""The whole way, wired: build an index, search it, ask it."""

from citespan.pipeline.build import build_index
from citespan.pipeline.manage import read_stored, remove_index, remove_sources
from citespan.pipeline.write import BuildReport, Progress, write_documents

__all__ = [
    "BuildReport",
    "Progress",
    "build_index",
    "read_stored",
    "remove_index",
    "remove_sources",
    "write_documents",
]
