"""The whole way on ``data/corpus``: ten stages, each with the numbers it makes.

Run it with ``python main.py`` (or ``make demo``, which sets up everything first). The index is kept
in ``.demo``, so a second run shows what unchanged files cost: nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OURS = ROOT / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

try:
    import numpy as np

    from citespan.cli.console import print_table, say
    from citespan.cli.explain import draw_answer, draw_gate, draw_hits, draw_passages, draw_terms
    from citespan.cli.index_commands import describe_report
    from citespan.cli.render import draw_answer as draw_result
    from citespan.cli.render import draw_prompt
    from citespan.config import load_settings
    from citespan.load import LoadReport, load_documents
    from citespan.pipeline import (
        ask_index,
        build_index,
        explain_trace,
        open_index,
        prepare_document,
    )
    from citespan.pipeline.parts import open_parts
except ModuleNotFoundError as error:  # run with the system's Python: say what to do
    sys.exit(f"{error.name} is not installed; run: make demo (or {OURS} main.py after make setup)")

CORPUS = ROOT / "data" / "corpus"
INDEX = ROOT / ".demo"
ANSWERABLE = "How often should a hive be opened in the swarming season?"
UNANSWERABLE = "Who won the football world cup in 1998?"


def title(number: int, name: str, what: str) -> None:
    """Announce a stage."""
    head = f"{number:>2}." if number else "   "
    say(f"\n{'=' * 88}\n{head} {name.upper():<10} {what}\n{'=' * 88}")


def main() -> None:
    """Walk through the ten stages."""
    loaded = load_settings({"index": str(INDEX)}, environ={}, folder=ROOT)

    title(1, "load", "files become documents: text, title, sections, pages; nothing fails silently")
    report = LoadReport()
    documents = [prepare_document(d) for d in load_documents(CORPUS, report=report)]
    print_table(
        "",
        ("document", "title", "language", "characters", "sections"),
        (
            (Path(d.source).name, d.title[:48], d.language, len(d.text), len(d.sections))
            for d in documents
        ),
        numbers=(3, 4),
    )
    say(f"\n{report.loaded} documents loaded, {report.failed} failed")

    parts = open_parts(loaded.settings)
    for line in parts.notes:
        say(f"note: {line}")
    title(2, "split", f"documents become chunks, exact slices ({parts.stored['cuts']})")
    chunks = {d.source: parts.splitter.split(d) for d in documents}
    first = documents[0]
    for chunk in chunks[first.source][:3]:
        same = first.text[chunk.start : chunk.end] == chunk.text
        say(f"#{chunk.order} [{chunk.start}:{chunk.end}], text[start:end] == chunk: {same}")
        say(f"    {' '.join(chunk.text.split())[:160]} …")
    say(f"\n{sum(map(len, chunks.values()))} chunks of {len(documents)} documents")

    title(3, "embed", "texts become vectors; their cosine says how near two meanings are")
    if parts.embedder is None:
        say("no model on this machine: the way goes on by words alone (citespan model fetch)")
    else:
        texts = [
            "How long is the guarantee?",
            "The warranty lasts two years.",
            "The museum opens at ten.",
        ]
        vectors = parts.embedder.embed(texts)
        say(f"{parts.embedder.name}: {vectors.shape[1]} numbers a text, each of length 1")
        for text, row in zip(texts, vectors, strict=True):
            head = " ".join(f"{value:+.3f}" for value in row[:5])
            say(f"    [{head} …]  length {np.linalg.norm(row):.3f}  {text}")
        for other in (1, 2):
            cosine = float(vectors[0] @ vectors[other])
            say(f"    cosine({texts[0]!r}, {texts[other]!r}) = {cosine:.3f}")

    title(4, "index", "chunks, sentences and vectors are stored, one transaction a document")
    say(describe_report(build_index([CORPUS], loaded)))
    with open_index(loaded) as index:
        say(f"splitter {index.settings.splitter}, embedder {index.settings.embedder}")

        trace = (answer := ask_index(index, ANSWERABLE)).trace
        assert trace is not None
        title(5, "retrieve", f"{ANSWERABLE!r}: which chunks match, by words and by meaning")
        details = explain_trace(index, trace)
        draw_terms(trace, details)
        draw_hits(trace, details)
        title(6, "expand", "passages grow around the hits, within a budget of tokens")
        draw_passages(trace)
        title(7, "gate", "is there anything relevant at all?")
        draw_gate(trace)
        title(8, "prompt", "what a language model would be sent: these sources and nothing else")
        draw_prompt(trace)
        title(9, "generate", "no model is configured: the best sentences are quoted")
        say(trace.draft.text if trace.draft else "")
        title(10, "verify", "each sentence is checked against the span it cites")
        draw_answer(trace)
        say("\nThe answer as a user sees it:\n")
        draw_result(answer)

        title(0, "refuse", f"{UNANSWERABLE!r}: a question that the documents do not answer")
        draw_result(ask_index(index, UNANSWERABLE))


if __name__ == "__main__":
    main()
