"""What a text is made of: its language, its sentences, and the terms it is indexed by."""

from citespan.text.languages import detect_language
from citespan.text.sentences import split_sentences
from citespan.text.terms import analyze_query, analyze_terms, hash_terms

__all__ = ["analyze_query", "analyze_terms", "detect_language", "hash_terms", "split_sentences"]
