"""Check an answer against the spans it cites."""

from citespan.verify.answer import verify_answer

__all__ = ["verify_answer"]
