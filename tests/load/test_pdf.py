"""PDF pages made here: columns, running headers, hyphens, rotation, pages and their spans."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citespan.errors import LoadError
from citespan.load import read_bytes

Placed = tuple[float, float, float, str]
"""x, y (from the bottom), font size, text."""


def make_pdf(pages: Sequence[Sequence[Placed]], *, rotate: int = 0) -> bytes:
    """Return a PDF of plain Helvetica text at given places."""
    objects = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in pages:
        drawn = "".join(
            f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET\n" for x, y, size, text in page
        ).encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate %d "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (rotate, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (b" ".join(kids), len(kids))
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def column(x: float, top: float, lines: Sequence[str], size: float = 10) -> list[Placed]:
    return [(x, top - 1.3 * size * i, size, line) for i, line in enumerate(lines)]


LEFT = [
    "The contract runs for two years from the day",
    "on which both parties have signed it and is re-",
    "newed by a year each time unless one of them",
    "gives notice three months before it ends by",
]
RIGHT = [
    "letter to the address that is named on the first",
    "page of this text. Payments are due in thirty",
    "days from the date of the invoice, without any",
    "deduction, to the account of the supplier.",
]
WHOLE = (
    "The contract runs for two years from the day on which both parties have signed it and is "
    "renewed by a year each time unless one of them gives notice three months before it ends by "
    "letter to the address that is named on the first page of this text. Payments are due in "
    "thirty days from the date of the invoice, without any deduction, to the account of the "
    "supplier."
)


@pytest.mark.parametrize("row_major", [False, True])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_columns_are_read_one_after_the_other(row_major: bool, shift: float) -> None:
    left, right = column(50, 700, LEFT), column(320, 700 - shift, RIGHT)
    drawn = left + right
    if row_major:
        drawn = [line for pair in zip(left, right, strict=True) for line in pair]
    extract = read_bytes(make_pdf([[(50, 740, 18, "Supply contract"), *drawn]]), "a.pdf")
    assert extract.text == f"Supply contract\n\n{WHOLE}"
    assert extract.title == "Supply contract"
    assert [section.title for section in extract.sections] == ["Supply contract"]


def test_running_lines_do_not_cut_a_paragraph_at_the_end_of_a_page() -> None:
    pages = []
    for number, lines in enumerate((LEFT, RIGHT), start=1):
        pages.append(
            [
                (50, 770, 10, "ACME internal"),
                *column(50, 700, lines),
                (50, 20, 10, f"Draft - page {number}"),
            ]
        )
    extract = read_bytes(make_pdf(pages), "a.pdf")
    assert extract.text == WHOLE
    first, second = extract.pages
    assert (first.number, first.start, first.end) == (1, 0, second.start)
    assert extract.text[second.start :].startswith("letter to the address")
    assert (second.number, second.end) == (2, len(WHOLE))
    assert extract.metadata["running"] == "ACME internal; Draft - page 1; Draft - page 2"


def test_figures_at_the_edge_of_every_page_are_no_running_lines() -> None:
    pages = []
    for number in range(1, 4):
        rows = [
            (50.0 + 100 * c, 740.0 - 14 * r, 10, f"{number}{r}.{c}")
            for r in range(6)
            for c in range(4)
        ]
        pages.append([*rows, (300, 20, 10, f"{number}")])
    extract = read_bytes(make_pdf(pages), "a.pdf")
    rows_read = [line for line in extract.text.split("\n") if line]
    assert rows_read == [
        " ".join(f"{number}{r}.{c}" for c in range(4)) for number in range(1, 4) for r in range(6)
    ]
    assert extract.metadata["running"] == "1; 2; 3"


def test_new_paragraphs_are_told_by_gap_and_by_indent() -> None:
    gap = column(50, 700, LEFT) + column(50, 600, RIGHT)
    assert read_bytes(make_pdf([gap]), "a.pdf").text.count("\n\n") == 1
    indented = column(
        50,
        700,
        [
            *LEFT[:3],
            "gives notice in time and in writing.",
        ],
    )
    second = column(50, 648, RIGHT)
    second[0] = (65, *second[0][1:])
    assert read_bytes(make_pdf([indented + second]), "a.pdf").text.count("\n\n") == 1


def test_a_table_is_read_row_by_row() -> None:
    rows = [
        ("Country", "Capital", "People"),
        ("Austria", "Vienna", "8.9"),
        ("Belgium", "Brussels", "11.5"),
        ("Denmark", "Copenhagen", "5.8"),
    ]
    drawn = [
        (50 + 150 * c, 700 - 14 * r, 10, cell)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
    ]
    text = read_bytes(make_pdf([drawn]), "a.pdf").text
    assert text.split("\n") == [" ".join(row) for row in rows]


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_a_rotated_page_reads_the_same(rotate: int) -> None:
    extract = read_bytes(make_pdf([column(50, 700, LEFT + RIGHT)], rotate=rotate), "a.pdf")
    assert extract.text == WHOLE


def test_a_hyphen_of_the_word_itself_is_kept() -> None:
    lines = [
        "A well-known rule of this house says that a well-",
        "known guest is greeted by name at the door, and",
    ]
    text = read_bytes(make_pdf([column(50, 700, lines)]), "a.pdf").text
    assert text.count("well-known") == 2


def test_pages_without_text_are_reported_and_the_others_read() -> None:
    extract = read_bytes(make_pdf([column(50, 700, LEFT), []]), "a.pdf")
    assert extract.skips == [(2, "the page is empty")]
    assert [page.number for page in extract.pages] == [1]


def test_damaged_file_is_one_plain_line() -> None:
    with pytest.raises(LoadError, match=r"^a\.pdf is damaged: not a readable PDF$"):
        read_bytes(b"%PDF-1.7 nothing", "a.pdf")
