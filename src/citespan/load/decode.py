"""From bytes to text: by byte order mark, declaration, strict UTF-8, else by detection.

Nothing is ever decoded with errors ignored or replaced: bytes that no encoding explains are
refused, because a wrong text would be indexed as if it were the right one.
"""

from __future__ import annotations

import codecs
import re

from citespan.errors import LoadError
from citespan.load.build import clean_text, normalize_newlines

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})|<meta[^>]{0,300}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""",
    re.IGNORECASE,
)
# The web's rule (WHATWG Encoding): these labels in fact mean their Windows supersets.
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_SAMPLE = 200_000
_BINARY = frozenset(range(9)) | {14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 29, 30, 31}


def decode_bytes(data: bytes, name: str = "", *, declared: str = "") -> tuple[str, str]:
    r"""Return (text, encoding) of a text file; line ends become ``\n`` and NULs spaces.

    ``declared`` is what a header outside the bytes says (HTTP, MIME); a declaration is believed
    only if the bytes agree with it.

    Raises
    ------
    LoadError
        If the bytes are no text in any known encoding.

    Examples
    --------
    >>> decode_bytes("Договор поставки, пункт первый".encode("cp1251"))
    ('Договор поставки, пункт первый', 'cp1251')
    """
    text, encoding = _decode(data, name, declared)
    if _is_binary(text):
        raise LoadError(f"{name or 'this file'} is binary data, not text", fix="exclude it")
    return clean_text(normalize_newlines(text)), encoding


def _decode(data: bytes, name: str, declared: str) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _try_decode(data[len(mark) :], encoding)
            if text is not None:
                return text, encoding
    if b"\x1b$" in data[:_SAMPLE]:  # escape sequences of seven-bit Japanese and Korean
        for encoding in ("iso2022_jp", "iso2022_kr"):
            text = _try_decode(data, encoding)
            if text is not None:
                return text, encoding
    wide = _guess_utf16(data)
    text = _try_decode(data, wide or "utf-8")
    if text is not None:
        return text, wide or "utf-8"
    for label in (declared, _declared_encoding(data)):
        encoding = _codec_name(label)
        if encoding and not encoding.startswith(("utf-8", "utf_8")):
            text = _try_decode(data, encoding)
            if text is not None and _agrees(text, data, encoding):
                return text, encoding
    encoding = _detect(data)
    if encoding:
        text = _try_decode(data, encoding)
        if text is not None:
            return text, encoding
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _try_decode(data, encoding)
        if text is not None and _is_east_asian(text):
            return text, encoding
    raise LoadError(
        f"{name or 'this file'} is no text in any known encoding", fix="save it as UTF-8"
    )


def _try_decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _codec_name(label: str) -> str:
    try:
        name = codecs.lookup(label.strip()).name if label else ""
    except (LookupError, ValueError):
        return ""
    return _SUPERSETS.get(name, name)


def _declared_encoding(data: bytes) -> str:
    match = _DECLARED.search(data[:4096])
    return (match[1] or match[2]).decode("ascii") if match else ""


def _detect(data: bytes) -> str:
    import chardet

    found = chardet.detect(data[:_SAMPLE])["encoding"]
    return _codec_name(found or "")


def _agrees(text: str, data: bytes, encoding: str) -> bool:
    """Whether a declared single-byte encoding is believable: any bytes decode in those."""
    sample = text[:_SAMPLE]
    odd = sum(1 for c in sample if "\x80" <= c <= "\x9f" or c in "\ufffd")
    if odd:
        return False
    found = _detect(data)
    if not found or found == encoding:
        return True
    other = _try_decode(data, found)
    return other is None or _main_script(other) == _main_script(text)


def _main_script(text: str) -> str:
    """Return the commonest non-ASCII script of a text, coarsely."""
    counts: dict[str, int] = {}
    for char in text[:_SAMPLE]:
        code = ord(char)
        if code > 0xBF and char.isalpha():
            block = "latin" if code < 0x250 else "cjk" if code >= 0x2E80 else str(code >> 8)
            counts[block] = counts.get(block, 0) + 1
    return max(counts, key=lambda block: counts[block]) if counts else ""


def _guess_utf16(data: bytes) -> str:
    """Return which UTF-16 unmarked bytes are, or "": high bytes are small on one side of pairs.

    Latin, Greek, Cyrillic, Hebrew and Arabic letters have the high bytes 0 to 8, which as text
    of any other kind would be control characters.
    """
    head = data[: min(len(data) // 2 * 2, 8000)]
    first = sum(byte < 9 for byte in head[0::2])
    second = sum(byte < 9 for byte in head[1::2])
    if (
        not head
        or max(first, second) * 5 < len(head)
        or min(first, second) * 10 > max(first, second)
    ):
        return ""
    encoding = "utf-16-be" if first > second else "utf-16-le"
    text = _try_decode(head[: len(head) - 2], encoding) or ""
    usual = sum(char in "\t\n\r" or (char < "\u0900" and char.isprintable()) for char in text)
    east_asian = sum("\u3000" <= char <= "\u9fff" or char >= "\uff00" for char in text)
    return encoding if (usual + east_asian) * 10 >= 9 * len(text) and usual else ""


def _is_east_asian(text: str) -> bool:
    """Whether nine characters in ten are Chinese, Japanese or ASCII, and hardly any is rare.

    Random pairs of bytes are so in four of ten cases.
    """
    sample = text[:_SAMPLE]
    usual = sum(
        char < "\x7f"
        or "\u3000" <= char <= "\u30ff"
        or "\u4e00" <= char <= "\u9fff"
        or "\uff00" <= char <= "\uffee"
        or "\u2010" <= char <= "\u2026"
        for char in sample
    )
    return len(sample) >= 4 and usual * 10 >= 9 * len(sample)


def _is_binary(text: str) -> bool:
    """Whether too many control characters stand in it (more than one in fifty; NULs: one in 5)."""
    sample = text[:_SAMPLE].rstrip("\x00")  # padding at the end of a file is harmless
    nuls = sample.count("\x00")
    controls = sum(1 for char in sample if ord(char) in _BINARY) - nuls
    return controls * 50 > len(sample) or nuls * 5 > len(sample)
