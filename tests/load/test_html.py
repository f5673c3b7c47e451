"""The main text of a page: what a reader sees, without what surrounds it."""

from __future__ import annotations

import pytest

from citespan.load.html import extract_html, flatten_nesting
from citespan.load.visible import hides_text


def text_of(source: str) -> str:
    return extract_html(source).text


def test_navigation_scripts_and_footers_are_left_out() -> None:
    page = (
        "<html><head><title>Terms</title><style>p{}</style></head><body>"
        "<header><nav><a href=/>Home</a></nav></header><div role=navigation>Skip</div>"
        "<main><h1>Terms</h1><p>Pay in <b>30</b> days.</p><aside>Ad</aside></main>"
        "<div class='sidebar left'>More</div><footer>(c) 2024</footer>"
        "<script>var a='<p>x</p>'</script></body></html>"
    )
    extract = extract_html(page)
    assert extract.text == "Terms\n\nPay in 30 days."
    assert extract.title == "Terms"
    assert [(s.title, s.level, s.start, s.end) for s in extract.sections] == [
        ("Terms", 1, 0, len(extract.text))
    ]


def test_a_page_of_nothing_but_navigation_still_gives_its_text() -> None:
    assert text_of("<nav><a href=/a>Contracts</a></nav>") == "Contracts"


def test_a_footer_inside_a_quotation_is_its_source() -> None:
    assert "Ada" in text_of("<blockquote><p>So.</p><footer>Ada</footer></blockquote><p>x</p>")


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display:none">SECRET</div>',
        '<div style="DISPLAY : None !important">SECRET</div>',
        '<span style="visibility:hidden">SECRET</span>',
        '<span style="opacity:0">SECRET</span>',
        '<span style="font-size:0px">SECRET</span>',
        '<span style="color:white">SECRET</span>',
        '<span style="color:#123456;background:#123456">SECRET</span>',
        '<p style="position:absolute;left:-9999px">SECRET</p>',
        "<p hidden>SECRET</p>",
        '<p aria-hidden="true">SECRET</p>',
        '<style>.x, #y {display:none}</style><p class="a x">SECRET</p>',
        "<style>.x, #y {display:none}</style><p id=y>SECRET</p>",
        "<template>SECRET</template>",
        "<!-- SECRET -->",
        "<noscript>SECRET</noscript>",
        "<table><tr><td hidden>SECRET</td><td>cell</td></tr></table>",
        "<h2><span style='display:none'>SECRET</span>Heading</h2>",
    ],
)
def test_hidden_text_is_no_main_text(hidden: str) -> None:
    text = text_of(f"<body><p>Visible.</p>{hidden}</body>")
    assert "SECRET" not in text
    assert "Visible." in text


def test_partly_transparent_text_is_seen() -> None:
    assert not hides_text("opacity:0.5")
    assert not hides_text("font-size:0.9em")
    assert not hides_text("color:#fff;background:#000")


def test_tables_lists_and_code_keep_their_lines() -> None:
    page = (
        "<table><tr><th>Name<th>Age<tr><td>Ada<td>36</table>"
        "<ul><li>one<li>two</ul><pre>a\n  b</pre><p>x<br>y</p>"
    )
    assert text_of(page) == "Name | Age\nAda | 36\n\none\ntwo\n\na\n  b\n\nx\ny"


def test_layout_tables_are_read_as_blocks() -> None:
    page = "<table><tr><td><h1>T</h1><p>a</p><p>b</p></td></tr></table>"
    assert text_of(page) == "T\n\na\n\nb"


@pytest.mark.parametrize("tag", ["div", "div class=x", "p", "ul><li", "table><tr><td", "b"])
def test_deep_nesting_ends(tag: str) -> None:
    depth = 3000
    assert "core" in text_of(f"<{tag}>" * depth + "core")


def test_flattening_keeps_shallow_pages_and_hidden_text_hidden() -> None:
    page = "<div>a</div>" * 5000
    assert flatten_nesting(page) == page
    deep = "<div>" * 600 + '<div style="display:none">SECRET</div>seen' + "</div>" * 600
    assert text_of(deep) == "seen"
