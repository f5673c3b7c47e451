"""Stores: where documents, chunks, sentences and vectors are kept and searched."""

from citespan.stores.opening import open_store
from citespan.stores.sqlite import SqliteStore

__all__ = ["SqliteStore", "open_store"]
