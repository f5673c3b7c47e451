"""Markdown, HTML and code: what stays whole, and what becomes context."""

from __future__ import annotations

import pytest

from citespan.protocols import Splitter
from citespan.split.code import CodeSplitter
from citespan.split.html import HtmlSplitter
from citespan.split.markdown import MarkdownSplitter
from citespan.types import Chunk, Document, Section


def split(splitter: Splitter, text: str, sections: tuple[Section, ...] = ()) -> list[Chunk]:
    return splitter.split(Document("d", "d", text, language="en", sections=sections))


ROWS = [f"| item {n} | {n} euro |" for n in range(60)]
TABLE = "\n".join(["| name | price |", "|---|---|", *ROWS])


def test_table_rows_are_never_cut_and_the_header_repeats_as_context() -> None:
    chunks = split(MarkdownSplitter(size=60), f"# Prices\n\nAll of them.\n\n{TABLE}\n\nEnd.")
    rows = [chunk for chunk in chunks if "| item" in chunk.text]
    assert len(rows) > 3
    for chunk in rows:
        for line in chunk.text.splitlines():
            assert not line.startswith("| item") or line in ROWS
    for chunk in rows[1:]:
        assert "| name | price |" in chunk.context
        assert chunk.context.startswith("Prices")
    assert sum(chunk.text.count("| item") for chunk in chunks) == 60


def test_a_table_that_fits_is_one_chunk() -> None:
    small = "\n".join(TABLE.splitlines()[:5])
    assert small in [c.text for c in split(MarkdownSplitter(size=80), f"{small}\n")]


def test_an_html_tables_header_repeats() -> None:
    rows = "".join(f"<tr><td>item {n}</td></tr>" for n in range(40))
    text = f"<h1>Prices</h1><table><tr><th>name</th></tr>{rows}</table><p>End.</p>"
    chunks = split(HtmlSplitter(size=80), text)
    table = [chunk for chunk in chunks if "<td>" in chunk.text]
    assert len(table) > 2
    assert all("<th>name</th>" in chunk.context + chunk.text for chunk in table)
    assert all(chunk.text.count("<tr>") == chunk.text.count("</tr>") for chunk in table)


def test_headings_stand_with_what_follows_them_and_above_the_rest() -> None:
    text = "# One\n\n" + "Some words here. " * 30 + "\n\n## Two\n\n" + "Other words. " * 30
    chunks = split(MarkdownSplitter(size=40, minimum=1), text)
    assert chunks[0].text.startswith("# One\n\nSome")
    assert chunks[0].context == ""
    assert chunks[1].context == "One"
    second = next(chunk for chunk in chunks if "## Two" in chunk.text)
    assert second.text.startswith("## Two\n\nOther")
    assert second.context == "One"
    assert chunks[-1].context == "One > Two"


def test_a_code_block_stays_whole_up_to_the_maximum() -> None:
    code = "```\nfirst line. Second thing.\nx = 1\n```"
    text = "Before it. " * 20 + f"\n\n{code}\n\n" + "After it. " * 20
    assert any(code in chunk.text for chunk in split(MarkdownSplitter(size=60), text))
    long = "```\n" + "some code here\n" * 100 + "```"
    for chunk in split(MarkdownSplitter(size=60), long):
        assert all(line in ("```", "some code here") for line in chunk.text.splitlines())


def test_text_out_of_the_loader_uses_its_sections() -> None:
    text = "Title\nFirst paragraph of it.\n\nSecond one."
    sections = (Section("Title", 1, 0, len(text)),)
    chunks = split(HtmlSplitter(size=8, unit="words", minimum=1), text, sections)
    assert [(c.context, c.text) for c in chunks] == [
        ("", "Title\nFirst paragraph of it."),
        ("Title", "Second one."),
    ]


PYTHON = '''import os


@decorator
def first(a, b):
    """Say something."""
    return a


class Second:
    """A class."""

    def method_one(self):
        # explained
        return 1

    def method_two(self):
        return 2
'''


@pytest.mark.parametrize("size", [14, 30])
def test_definitions_stay_whole_with_what_belongs_to_them(size: int) -> None:
    chunks = split(CodeSplitter(size=size, unit="words", minimum=1), PYTHON)
    whole = [chunk.text for chunk in chunks]
    assert any("@decorator\ndef first" in text and "return a" in text for text in whole)
    assert any("def method_one" in text and "return 1" in text for text in whole)
    assert any("def method_two" in text and "return 2" in text for text in whole)
    if size == 14:
        assert next(c for c in chunks if "return 2" in c.text).context == "class Second"


def test_a_closing_brace_stays_with_its_block() -> None:
    code = "".join(f"function f{n}() {{\n  return {n};\n}}\n\n" for n in range(20))
    for chunk in split(CodeSplitter(size=20, unit="words", minimum=1), code):
        assert chunk.text.count("{") == chunk.text.count("}")
