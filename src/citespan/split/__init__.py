"""Splitters: each cuts a document into chunks that are slices of it, with exact spans."""
