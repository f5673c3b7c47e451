"""The other formats, each made here by its own library or by hand."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from typing import Any

import pytest

from citespan.errors import InputError, LoadError
from citespan.load import Extract, load_corpus, read_bytes
from citespan.load.formats import FORMATS, Format, find_format


def pack(**parts: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in parts.items():
            package.writestr(name, text)
    return buffer.getvalue()


def spans(extract: Extract) -> list[tuple[str, int, str]]:
    """Each section's title, level, and its text."""
    return [(s.title, s.level, extract.text[s.start : s.end]) for s in extract.sections]


def test_markdown_keeps_its_text_and_takes_front_matter_away() -> None:
    source = "---\ntitle: Terms\ntags: [a, b]\ndate: 2024-01-05\n---\n# One\n\nx\n\n## Two\ny\n"
    extract = read_bytes(source.encode(), "a.md")
    assert extract.text == "# One\n\nx\n\n## Two\ny\n"
    assert extract.title == "Terms"
    assert extract.metadata == {"encoding": "utf-8", "tags": "a, b", "date": "2024-01-05"}
    assert spans(extract) == [("One", 1, extract.text), ("Two", 2, "## Two\ny\n")]


@pytest.mark.parametrize("front", ["a: &a [x]\nb: *a", "a: [", "a: " + "[" * 5000, "? [a]\n: b"])
def test_bad_front_matter_is_reported_and_the_text_read(front: str) -> None:
    extract = read_bytes(f"---\n{front}\n---\n# Body\n".encode(), "a.md")
    assert extract.text == "# Body\n"


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    source = "---\nJust a line.\n---\nMore.\n"
    assert read_bytes(source.encode(), "a.md").text == source


def test_csv_rows_are_pairs_under_the_header() -> None:
    extract = read_bytes(b"name;city\nAda;London\n;Paris\n", "a.csv")
    assert extract.text == "name, city\n\nname: Ada; city: London\ncity: Paris".replace(
        "\n\n", "\n"
    )
    assert extract.metadata["header"] == "name, city"
    assert read_bytes(b"a\tb\n1\t2\n", "a.tsv").text == "a, b\na: 1; b: 2"
    assert read_bytes(b"1,2\n3,4\n", "a.csv").text == "1, 2\n3, 4"


def test_workbook_sheets_are_sections() -> None:
    from pptx import Presentation  # noqa: F401  (XlsxWriter comes with it)
    from xlsxwriter import Workbook

    buffer = io.BytesIO()
    book = Workbook(buffer)
    for name in ("Prices", "Empty", "Stock"):
        sheet = book.add_worksheet(name)
        if name != "Empty":
            sheet.write_row(0, 0, ["Item", "Count", "Ratio"])
            sheet.write_row(1, 0, ["Bolt", 3, 0.5])
    book.close()
    extract = read_bytes(buffer.getvalue(), "a.xlsx")
    assert extract.text.startswith("Prices\n\nItem, Count, Ratio\nItem: Bolt; Count: 3; Ratio: 0.5")
    assert [section.title for section in extract.sections] == ["Prices", "Stock"]


def test_word_headings_tables_and_headers() -> None:
    import docx

    document = docx.Document()
    document.core_properties.title = ""
    document.add_heading("Terms", 0)
    document.add_heading("Payment", 1)
    document.add_paragraph("Pay in 30 days.")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Item", "Price", "Bolt", "3"], strict=True):
        cell.text = text
    document.add_heading("Late payment", 2)
    document.add_paragraph("Interest is due.")
    document.sections[0].header.paragraphs[0].text = "ACME internal"
    buffer = io.BytesIO()
    document.save(buffer)
    extract = read_bytes(buffer.getvalue(), "a.docx")
    assert extract.text == (
        "Terms\n\nPayment\n\nPay in 30 days.\n\nItem | Price\nBolt | 3\n\n"
        "Late payment\n\nInterest is due."
    )
    assert [(title, level) for title, level, _ in spans(extract)] == [
        ("Terms", 1), ("Payment", 1), ("Late payment", 2),
    ]  # fmt: skip
    assert spans(extract)[1][2].endswith("Interest is due.")
    assert extract.title == "Terms"
    assert extract.metadata["running"] == "ACME internal"


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def make_docx(body: str, prolog: str = "") -> bytes:
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.wordprocessingml.document.main+xml"/></Types>'
    )
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    main = f'{prolog}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return pack(**{"[Content_Types].xml": types, "_rels/.rels": rels, "word/document.xml": main})


def test_word_deleted_and_hidden_text_is_left_out() -> None:
    body = (
        "<w:p><w:r><w:t>Pay </w:t></w:r><w:del><w:r><w:delText>60</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>30 days.</w:t></w:r></w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET</w:t></w:r></w:p>"
    )
    assert read_bytes(make_docx(body), "a.docx").text == "Pay 30 days."


def test_entities_and_bombs_are_refused() -> None:
    prolog = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    with pytest.raises(LoadError, match="declares XML entities"):
        read_bytes(make_docx("<w:p><w:r><w:t>&b;</w:t></w:r></w:p>", prolog), "a.docx")
    with pytest.raises(LoadError, match="declares XML entities"):
        read_bytes(f"{prolog}<x>&b;</x>".encode(), "a.xml")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", "x" * (60 << 20))
    with pytest.raises(LoadError, match="decompression bomb"):
        read_bytes(buffer.getvalue(), "a.docx")
    locked = b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(LoadError, match="protected by a password"):
        read_bytes(locked, "a.pptx")


def test_slides_are_pages_and_notes_follow_them() -> None:
    from pptx import Presentation

    deck: Any = Presentation()
    for title, text in (("One", "first"), ("Two", "second")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        slide.notes_slide.notes_text_frame.text = f"note on {text}"
    deck.slides.add_slide(deck.slide_layouts[6])
    buffer = io.BytesIO()
    deck.save(buffer)
    extract = read_bytes(buffer.getvalue(), "a.pptx")
    assert extract.text == "One\n\nfirst\n\nnote on first\n\nTwo\n\nsecond\n\nnote on second"
    first, second = extract.pages[:2]
    assert (first.number, first.start, first.end) == (1, 0, second.start)
    assert extract.text[second.start :].startswith("Two")
    assert extract.skips == [(3, "the slide has no text")]


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="in/book.opf"/></rootfiles></container>'
)


def make_epub(spine: str = "bac", **more: str) -> bytes:
    items = "".join(
        f'<item id="{c}" href="{c}%20x.xhtml" media-type="application/xhtml+xml"/>' for c in "abc"
    )
    order = "".join(f'<itemref idref="{c}"/>' for c in spine)
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Book</dc:title>'
        f"<dc:creator>Ada</dc:creator></metadata><manifest>{items}</manifest>"
        f"<spine>{order}</spine></package>"
    )
    chapters = {f"in/{c} x.xhtml": f"<html><body><h1>{c}</h1><p>text {c}</p></body></html>"
                for c in "ab"}  # fmt: skip
    return pack(**{"META-INF/container.xml": CONTAINER, "in/book.opf": opf} | chapters | more)


def test_book_is_read_in_the_order_of_its_spine() -> None:
    extract = read_bytes(make_epub(), "a.epub")
    assert extract.text == "b\n\ntext b\n\na\n\ntext a"
    assert (extract.title, extract.metadata["author"]) == ("Book", "Ada")
    assert extract.skips == [(None, "chapter in/c x.xhtml is missing from the book")]
    with pytest.raises(LoadError, match="copy-protected"):
        read_bytes(make_epub(**{"META-INF/rights.xml": "<x/>"}), "a.epub")


def test_opendocument_text() -> None:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    body = (
        '<text:h text:outline-level="2">Terms</text:h><text:p>Pay<text:s text:c="2"/>in '
        "<text:span>30</text:span> days.<text:note><text:note-body><text:p>A note."
        "</text:p></text:note-body></text:note></text:p>"
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        "<text:list><text:list-item><text:p>x</text:p></text:list-item>"
        "<text:list-item><text:p>y</text:p></text:list-item></text:list>"
    )
    content = (
        f"<office:document-content {names}><office:body><office:text>{body}"
        "</office:text></office:body></office:document-content>"
    )
    extract = read_bytes(pack(**{"content.xml": content}), "a.odt")
    assert extract.text == "Terms\n\nPay  in 30 days.\n\na | b\nx\ny\n\nA note."
    assert [(s.title, s.level) for s in extract.sections] == [("Terms", 2)]


def test_rtf_text() -> None:
    source = rb"{\rtf1\ansi\ansicpg1251 \'c4\'e0, pay in {\b 30} days.\par Second.\par}"
    assert read_bytes(source, "a.rtf").text == "Да, pay in 30 days.\n\nSecond."


def test_mail_reads_the_plain_body_and_names_attachments() -> None:
    from email.message import EmailMessage

    message = EmailMessage()
    message["Subject"], message["From"] = "Счёт № 5", "Ada <ada@example.org>"
    message.set_content("Срок - 30 дней.\n\nС уважением", charset="koi8-r", cte="base64")
    message.add_alternative("<p>other</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="bill.pdf")
    extract = read_bytes(message.as_bytes(), "a.eml")
    assert extract.text == (
        "From: Ada <ada@example.org>\nSubject: Счёт № 5\n\nСрок - 30 дней.\n\nС уважением"
    )
    assert extract.title == "Счёт № 5"
    assert extract.skips == [(None, "attachment not opened: bill.pdf")]


def test_mail_with_a_html_body_alone_or_nested_without_end() -> None:
    page = b"Subject: x\nContent-Type: text/html\n\n<p>Pay <b>now</b></p>"
    assert read_bytes(page, "a.eml").text == "Subject: x\n\nPay now"
    nested = b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 3000 + b"end"
    with contextlib.suppress(LoadError):  # either way it ends, and says so plainly
        assert "Subject: x" in read_bytes(nested, "a.eml").text


def test_json_is_laid_out_by_path() -> None:
    value = {"title": "T", "a": {"b": [1, 2]}, "c": [{"d": None, "e": True}, {"e": "x"}]}
    extract = read_bytes(json.dumps(value).encode(), "a.json")
    assert extract.text == "title: T\na.b: 1, 2\nc[1].e: true\nc[2].e: x"
    assert extract.title == "T"
    assert read_bytes(b'[{"a": 1}, {"a": 2}]', "a.json").text == "a: 1\n\na: 2"
    with pytest.raises(LoadError, match="not valid JSON"):
        read_bytes(b"{", "a.json")
    lines = read_bytes(b'{"a": 1}\n{bad\n{"a": 2}\n', "a.jsonl")
    assert lines.text == "a: 1\n\na: 2"
    assert lines.skips == [(None, "1 lines are no valid JSON (line 2)")]


def test_notebook_cells_in_order_with_headings() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "1+1", "outputs": [{"data": {"text/plain": "2"}}]},
        {"cell_type": "markdown", "source": "## Next"},
    ]
    extract = read_bytes(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert extract.text == "# Title\ntext\n\n1+1\n\n2\n\n## Next"
    assert spans(extract) == [("Title", 1, extract.text), ("Next", 2, "## Next")]


@pytest.mark.parametrize("ending", ["doc", "ppt", "zip", "odp", "pages"])
def test_formats_that_are_not_read_say_what_to_do(ending: str) -> None:
    with pytest.raises(LoadError, match=r"save|unpack|export"):
        read_bytes(b"\xd0\xcf\x11\xe0 data", f"a.{ending}")


def test_every_reader_exists_and_content_beats_a_wrong_ending() -> None:
    from importlib import import_module

    for fmt in FORMATS.values():
        module, _, function = fmt.reader.partition(":")
        assert callable(getattr(import_module(module), function))
    found = find_format("a.docx", b"%PDF-1.7")
    assert isinstance(found, Format)
    assert found.name == "pdf"


def test_corpus_keeps_its_ids_and_texts(tmp_path: Any) -> None:
    import gzip

    row = {"id": "d1", "title": "T", "text": "a\r\nb", "split": "dev", "n": 3}
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n\n")
    (document,) = load_corpus(tmp_path)
    assert (document.id, document.source, document.title) == ("d1", "d1", "T")
    assert document.text == "a\r\nb"
    assert document.metadata == {"split": "dev", "n": "3"}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("{", r"line 1: not valid JSON"),
        ('{"id": 1}', r"line 1: not an object with"),
        ('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}', r"line 2: the id '1' occurs twice"),
    ],
)
def test_a_broken_corpus_names_the_line(tmp_path: Any, lines: str, reason: str) -> None:
    (tmp_path / "c.jsonl").write_text(lines, "utf-8")
    with pytest.raises(InputError, match=reason):
        list(load_corpus(tmp_path / "c.jsonl"))
