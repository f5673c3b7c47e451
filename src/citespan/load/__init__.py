"""Stage 1, load: files, folders and web addresses to documents, and a report of what was not."""

from citespan.load.corpus import load_corpus
from citespan.load.documents import (
    iter_documents,
    load_documents,
    load_one,
    read_bytes,
    read_source,
)
from citespan.load.files import file_fingerprint, list_files
from citespan.load.options import Extract, LoadOptions, LoadReport
from citespan.load.web import is_url

__all__ = [
    "Extract",
    "LoadOptions",
    "LoadReport",
    "file_fingerprint",
    "is_url",
    "iter_documents",
    "list_files",
    "load_corpus",
    "load_documents",
    "load_one",
    "read_bytes",
    "read_source",
]
