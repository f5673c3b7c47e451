"""Stores: where documents, chunks, sentences and vectors are kept and searched."""

from citespan.stores.opening import open_store
from citespan.stores.schema import FILE_NAME as DATABASE
from citespan.stores.sqlite import SqliteStore

__all__ = ["DATABASE", "SqliteStore", "open_store"]
