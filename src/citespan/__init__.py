"""citespan: ask your documents; every answer is a span you can check, or an honest refusal."""

__version__ = "0.1.0"
