"""Stores: where documents, chunks, sentences and vectors are kept and searched."""

from citespan.stores.sqlite import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
