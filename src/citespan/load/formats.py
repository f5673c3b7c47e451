"""Which reader reads which file: by its ending, then by its first bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its reader as ``module:function``, and whether it must be run isolated."""

    name: str
    media_type: str
    reader: str
    isolated: bool = True


_OFFICE = "application/vnd.openxmlformats-officedocument"
_HERE = "citespan.load"
FORMATS = {
    f.name: f
    for f in (
        Format("text", "text/plain", f"{_HERE}.plain:read_text", False),
        Format("code", "text/x-source", f"{_HERE}.plain:read_code", False),
        Format("markdown", "text/markdown", f"{_HERE}.markdown:read_markdown", False),
        Format("csv", "text/csv", f"{_HERE}.tables:read_csv", False),
        Format("json", "application/json", f"{_HERE}.structured:read_json", False),
        Format("jsonl", "application/jsonl", f"{_HERE}.structured:read_jsonl", False),
        Format("ipynb", "application/x-ipynb+json", f"{_HERE}.structured:read_notebook", False),
        Format("xml", "application/xml", f"{_HERE}.markup:read_xml"),
        Format("html", "text/html", f"{_HERE}.html:read_html"),
        Format("pdf", "application/pdf", f"{_HERE}.pdf:read_pdf"),
        Format("docx", f"{_OFFICE}.wordprocessingml.document", f"{_HERE}.docx:read_docx"),
        Format("pptx", f"{_OFFICE}.presentationml.presentation", f"{_HERE}.pptx:read_pptx"),
        Format("sheet", f"{_OFFICE}.spreadsheetml.sheet", f"{_HERE}.tables:read_sheets"),
        Format("epub", "application/epub+zip", f"{_HERE}.epub:read_epub"),
        Format("odt", "application/vnd.oasis.opendocument.text", f"{_HERE}.odt:read_odt"),
        Format("rtf", "application/rtf", f"{_HERE}.markup:read_rtf"),
        Format("eml", "message/rfc822", f"{_HERE}.mail:read_eml"),
        Format("msg", "application/vnd.ms-outlook", f"{_HERE}.mail:read_msg"),
    )
}

_ENDINGS = {
    "text": "txt text log rst adoc asciidoc org tex srt vtt textile nfo po wiki me",
    "markdown": "md markdown mdown mkd mdx qmd rmd",
    "html": "html htm xhtml shtml",
    "xml": "xml rss atom svg xsd xsl xslt plist dita docbook",
    "csv": "csv tsv tab",
    "json": "json geojson json5 webmanifest",
    "jsonl": "jsonl ndjson",
    "ipynb": "ipynb",
    "pdf": "pdf",
    "docx": "docx docm dotx dotm",
    "pptx": "pptx pptm potx ppsx ppsm",
    "sheet": "xlsx xlsm xls xlsb ods",
    "epub": "epub",
    "odt": "odt ott fodt",
    "rtf": "rtf",
    "eml": "eml mht mhtml",
    "msg": "msg",
    "code": (
        "py pyi pyx js mjs cjs jsx ts tsx java kt kts scala groovy c h cc cpp cxx hpp hh cs go rs "
        "rb php pl pm swift m mm r jl lua sh bash zsh fish ps1 bat cmd sql hs ml mli ex exs erl "
        "clj cljs el lisp scm dart vue svelte css scss sass less yaml yml toml ini cfg conf env "
        "properties gradle cmake mk tf proto graphql thrift f f90 f95 for pas asm s v sv vhd vhdl "
        "sol nim zig cr d fs fsx vb nix diff patch"
    ),
}
BY_ENDING = {
    ending: FORMATS[name] for name, endings in _ENDINGS.items() for ending in endings.split()
}
_BY_NAME = dict.fromkeys(
    ("makefile", "dockerfile", "rakefile", "gemfile", "justfile"), FORMATS["code"]
) | dict.fromkeys(("readme", "license", "changelog", "authors", "notice"), FORMATS["text"])

# What is known and still not read: the reason is what a person gets to see.
_UNREADABLE = {
    "doc": "legacy Word (.doc) is not supported; save it as .docx or PDF",
    "dot": "legacy Word (.dot) is not supported; save it as .docx or PDF",
    "ppt": "legacy PowerPoint (.ppt) is not supported; save it as .pptx or PDF",
    "pps": "legacy PowerPoint (.pps) is not supported; save it as .pptx or PDF",
    "odp": "OpenDocument slides (.odp) are not supported; save them as .pptx or PDF",
    "pages": "Pages documents are not supported; export them as .docx or PDF",
    "numbers": "Numbers documents are not supported; export them as .xlsx or CSV",
    "key": "Keynote documents are not supported; export them as .pptx or PDF",
    "mobi": "MOBI books are not supported; convert them to EPUB",
    "azw3": "AZW3 books are not supported; convert them to EPUB",
    "djvu": "DjVu is not supported; convert it to PDF with a text layer",
}
_ARCHIVES = frozenset(["zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar", "lz4"])
_IMAGES = frozenset(["png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp", "heic", "ico"])

_MAGIC = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
)
_BINARY_MAGIC = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"MZ\x90", b"SQLite format 3", b"OggS",
    b"fLaC", b"ID3", b"wOF", b"\xca\xfe\xba\xbe", b"RIFF",
)  # fmt: skip
_MEDIA = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/rss+xml": "xml",
    "application/atom+xml": "xml",
    "text/markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/x-ndjson": "jsonl",
    "text/rtf": "rtf",
} | {f.media_type: f.name for f in FORMATS.values()}


def ending_of(name: str) -> str:
    """Return a name's last ending in lower case, without the dot.

    >>> ending_of("a/Report.PDF"), ending_of("Makefile")
    ('pdf', '')
    """
    return Path(name).suffix[1:].lower()


def is_known(path: str | Path) -> bool:
    """Whether a walk takes the file: a reader knows it, or a person would expect it to be read."""
    name = Path(path).name
    ending = ending_of(name)
    return (
        ending in BY_ENDING
        or ending in _UNREADABLE
        or ending in _ARCHIVES
        or name.lower() in _BY_NAME
    )


def find_format(name: str, head: bytes, media_type: str = "") -> Format | str:
    """Return the format of a file, or in words why there is none.

    ``head`` is the first kilobyte or more; ``media_type`` what a server said.

    >>> find_format("a.md", b"# A").name, find_format("scan", b"%PDF-1.7").name
    ('markdown', 'pdf')
    >>> find_format("old.doc", b"")
    'legacy Word (.doc) is not supported; save it as .docx or PDF'
    """
    ending = ending_of(name)
    for magic, format_name in _MAGIC:
        if magic in (head[:1024] if magic == b"%PDF-" else head[:16]):
            if ending in BY_ENDING and not BY_ENDING[ending].isolated:
                break
            return FORMATS[format_name]
    by_media = FORMATS.get(_MEDIA.get(media_type.partition(";")[0].strip().lower(), ""))
    if by_media is not None:
        return by_media
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    if ending in _UNREADABLE:
        return _UNREADABLE[ending]
    if Path(name).name.lower() in _BY_NAME:
        return _BY_NAME[Path(name).name.lower()]
    if ending in _ARCHIVES or head.startswith((b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"BZh")):
        return "archives are not opened; unpack it and index the folder"
    if ending in _IMAGES or media_type.startswith(("image/", "audio/", "video/")):
        return "pictures, sound and video are not read; there is no text in them without OCR"
    if head.startswith(_BINARY_MAGIC):
        return "it is a picture, sound, video or program, not text"
    if head.startswith(b"PK\x03\x04"):
        return _name_package(head)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        return "legacy Office files are not supported; save it in the new format or as PDF"
    if head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return FORMATS["html"]
    return FORMATS["text"]


def _name_package(head: bytes) -> Format | str:
    """Tell a zip package without a usable ending by the names of its first parts."""
    for mark, name in (
        (b"application/epub+zip", "epub"),
        (b"opendocument.text", "odt"),
        (b"word/", "docx"),
        (b"ppt/", "pptx"),
        (b"xl/", "sheet"),
    ):
        if mark in head:
            return FORMATS[name]
    return "archives are not opened; unpack it and index the folder"
