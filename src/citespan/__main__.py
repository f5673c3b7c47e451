"""``python -m citespan`` is the ``citespan`` command."""

from citespan.cli import main

main()
