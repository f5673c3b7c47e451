"""Generators, and the one way to run them: an answer's text in pieces, whatever goes wrong."""

from citespan.generate.run import generate_answer

__all__ = ["generate_answer"]
