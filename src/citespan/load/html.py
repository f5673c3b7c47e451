"""HTML: the main text in blocks, without navigation, scripts and what a reader cannot see."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from citespan.errors import LoadError
from citespan.load.build import TextBuilder, collapse_blanks, join_row
from citespan.load.decode import decode_bytes
from citespan.load.options import Extract, LoadOptions
from citespan.load.visible import (
    SILENT,
    HiddenRules,
    find_main,
    gather_text,
    is_furniture,
    read_hidden_rules,
)

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
        "title",
        "br",
        "pre",
    ]
)
_NESTING = re.compile(
    r"<(/?)(div|span|font|b|i|u|em|strong|small|big|tt|center|section|article|blockquote|a)\b"
    r"([^<>]*)>",
    re.IGNORECASE,
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TIGHT = frozenset(("li", "dd", "dt", "tr"))
_NEUTRAL = _TIGHT | {"thead", "tbody", "tfoot"}


@dataclass(slots=True)
class _State:
    """The block being gathered: its pieces, and how it joins the block before."""

    builder: TextBuilder
    pieces: list[str] = field(default_factory=list)
    heading: int = 0
    tight: bool = False
    hidden: int = 0

    def flush(self, *, verbatim: bool = False) -> None:
        text = "".join(self.pieces)
        self.pieces.clear()
        text = text.strip("\n") if verbatim else collapse_blanks(text)
        if text.strip():
            if self.heading:
                self.builder.heading(text, self.heading)
            else:
                self.builder.block(text, gap="\n" if self.tight else "\n\n")
            self.tight = False


def read_html(
    data: bytes, name: str, options: LoadOptions, progress: Callable[[], None]
) -> Extract:
    """Return a page's main text with its headings as sections; hidden text is left out, reported.

    Raises
    ------
    LoadError
        If the bytes are no text.
    """
    source, encoding = decode_bytes(data, name)
    extract = extract_html(source, name)
    extract.metadata["encoding"] = encoding
    return extract


def extract_html(source: str, name: str = "", builder: TextBuilder | None = None) -> Extract:
    r"""Return the main text of an HTML document given as a string.

    >>> extract_html("<nav>Home</nav><h1>A</h1><p>b <i>c</i></p>").text
    'A\n\nb c'
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(flatten_nesting(source))
    root = tree.body or tree.root
    if root is None:
        raise LoadError(f"{name or 'this page'} holds no HTML")
    state = _State(builder or TextBuilder())
    before = state.builder.length
    rules = read_hidden_rules(tree)
    _walk(find_main(root), state, rules)
    if state.builder.length - before == 0:
        _walk(root, state, rules, furniture=True)
    title_node = tree.css_first("head > title")
    title = collapse_blanks(title_node.text()) if title_node else ""
    if not title:
        heading = tree.css_first("h1")
        title = collapse_blanks(heading.text()) if heading else Path(name).stem
    skips: list[tuple[int | None, str]] = []
    if state.hidden:
        skips.append((None, f"text hidden from readers was left out ({state.hidden} characters)"))
    return state.builder.build(title=title, media_type="text/html", skips=skips)


def flatten_nesting(source: str, limit: int = 500) -> str:
    """Return HTML without the bare tags that nest deeper than ``limit``; the text stays.

    Building the tree takes time in the square of its depth. Tags with attributes are kept, since
    those may hide what is in them.

    >>> flatten_nesting("<div><div>a</div></div>b", limit=1)
    '<div> a </div>b'
    """
    if source.count("</") <= limit and source.count("<") <= 4 * limit:
        return source
    open_tags: list[tuple[str, bool]] = []
    pieces: list[str] = []
    kept = 0
    for match in _NESTING.finditer(source):
        closing, name, attributes = match[1], match[2].lower(), match[3]
        if not closing:
            bare = len(open_tags) >= limit and not attributes.strip()
            open_tags.append((name, bare))
        elif open_tags and open_tags[-1][0] == name:
            bare = open_tags.pop()[1]
        else:
            continue
        if bare:
            pieces += (source[kept : match.start()], " ")
            kept = match.end()
    return "".join((*pieces, source[kept:]))


def _walk(root: Any, state: _State, rules: HiddenRules, *, furniture: bool = False) -> None:
    """Lay down the blocks under a node in document order; no recursion, whatever the depth.

    ``furniture`` also takes navigation and the like, for pages that hold nothing else.
    """
    node, depth = root, 0
    while True:
        descend = _enter(node, state, rules, furniture=furniture or depth == 0)
        if descend and node.child is not None:
            node, depth = node.child, depth + 1
            continue
        if descend:
            _leave(node, state)
        while depth and node.next is None:
            node, depth = node.parent, depth - 1
            _leave(node, state)
        if not depth:
            state.flush()
            return
        node = node.next


def _enter(node: Any, state: _State, rules: HiddenRules, *, furniture: bool) -> bool:
    """Take up a node; return whether its children are to be visited."""
    tag = node.tag
    if tag == "-text":
        state.pieces.append(node.text_content or "")
        return False
    if tag in SILENT or tag.startswith("-"):
        return False
    if rules.hides(node):
        state.hidden += len(collapse_blanks(node.text()))
        return False
    if not furniture and is_furniture(node):
        return False
    if tag in _HEADINGS:
        state.flush()
        state.pieces.append(gather_text(node, rules))
        state.heading = _HEADINGS[tag]
        state.flush()
        state.heading = 0
        return False
    if tag == "pre":
        state.flush()
        state.pieces.append(node.text())
        state.flush(verbatim=True)
        return False
    if tag == "tr":
        state.flush()
        if node.css_first("table, h1, h2, h3, h4, ul, ol, p + p") is None:
            cells = [c for c in node.iter() if c.tag in ("td", "th") and not rules.hides(c)]
            state.pieces.append(join_row(gather_text(cell, rules) for cell in cells))
            state.flush()
            state.tight = True
            return False
    elif tag in _BLOCKS:
        state.flush()
        # Items and rows join the one before by a single line break, all else by a blank line.
        state.tight = tag == "br" or (tag in _NEUTRAL and state.tight)
    return True


def _leave(node: Any, state: _State) -> None:
    if node.tag in _BLOCKS and node.tag != "br":
        state.flush()
        state.tight = node.tag in _TIGHT or (node.tag in _NEUTRAL and state.tight)
