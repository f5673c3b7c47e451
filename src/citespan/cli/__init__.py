"""The ``citespan`` command."""
