"""Encodings: every usual one is told from its bytes, and none is guessed with errors ignored."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citespan.errors import LoadError
from citespan.load import read_bytes
from citespan.load.decode import decode_bytes

RUSSIAN = (
    "Договор поставки. Поставщик обязуется передать товар в течение тридцати дней с даты оплаты. "
    "Съешь ещё этих мягких французских булок, да выпей чаю."
)
SAMPLES = {
    "cp1251": RUSSIAN,
    "cp866": RUSSIAN,
    "koi8-r": RUSSIAN,
    "mac-cyrillic": RUSSIAN,
    "cp1252": "Die schöne Frau hat einen Kaffee “köstlich”, sagte sie. Prix: 15 € à l’été.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy. Smlouva se uzavírá na dobu neurčitou.",
    "cp1253": "Το συμβόλαιο ισχύει για δύο έτη από την ημέρα της υπογραφής των δύο μερών του.",
    "cp1255": "החוזה בתוקף לשנתיים מיום החתימה של שני הצדדים ומתחדש מדי שנה אלא אם נמסרה הודעה.",
    "cp1256": "العقد ساري المفعول لمدة سنتين من يوم التوقيع عليه من قبل الطرفين ويتجدد كل سنة.",
    "gb18030": "第一条 合同双方应当在三十日内完成付款。如有争议，由北京仲裁委员会仲裁。",
    "big5": "第一條 合約雙方應當在三十日內完成付款。如有爭議，由臺北仲裁。",
    "shift_jis": "第三条　本契約の有効期間は一年とする。カタカナとひらがな。",
    "euc_jp": "第三条　本契約の有効期間は一年とする。カタカナとひらがな。",
    "cp949": "제1조 이 계약의 기간은 일 년으로 한다. 다람쥐 헌 쳇바퀴에 타고파.",
    "iso2022_jp": "第三条　本契約の有効期間は一年とする。カタカナとひらがな。",
    "iso8859-5": RUSSIAN,
    "cp874": "สัญญามีผลบังคับใช้เป็นเวลาสองปีนับจากวันที่ลงนามโดยทั้งสองฝ่าย",
    "cp1254": "Sözleşme iki yıl süreyle geçerlidir ve her yıl yenilenir. Işık ve gölge oyunu.",
    "utf-16-le": RUSSIAN,
    "utf-16-be": RUSSIAN,
    "utf-8": RUSSIAN,
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_undeclared_text_is_read_right(encoding: str) -> None:
    text = SAMPLES[encoding] + "\n"
    assert decode_bytes((text * 3).encode(encoding))[0] == text * 3


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_unmarked_utf16_of_chinese_alone_is_told_too(encoding: str) -> None:
    text = SAMPLES["gb18030"].replace(" ", "") * 3
    assert decode_bytes(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_byte_order_mark_decides_and_is_no_text(mark: bytes, encoding: str) -> None:
    assert decode_bytes(mark + "Ёлка".encode(encoding)) == ("Ёлка", encoding)


def test_a_declaration_is_believed_where_the_bytes_agree() -> None:
    page = '<meta charset="koi8-r"><p>Да'.encode("koi8-r")
    assert decode_bytes(page)[0].endswith("Да")
    wrong = b'<meta charset="utf-8"><p>' + (RUSSIAN * 2).encode("cp1251")
    assert decode_bytes(wrong)[0].endswith(RUSSIAN)
    assert decode_bytes(RUSSIAN.encode("cp1251"), declared="windows-1251")[0] == RUSSIAN


def test_line_ends_become_line_feeds_and_nothing_else_changes() -> None:
    source = "a\r\nb\rc\nd\x0be\x0cf\x85g\u2028h"
    assert decode_bytes(source.encode("utf-8"))[0] == "a\nb\nc\nd\x0be\x0cf\x85g\u2028h"


def test_binary_data_is_refused() -> None:
    with pytest.raises(LoadError, match=r"a\.txt is .*(binary data|no text)"):
        decode_bytes(bytes(range(256)) * 20, "a.txt")


@pytest.mark.parametrize("name", ["picture", "picture.txt"])
def test_a_short_picture_is_not_taken_for_utf16(name: str) -> None:
    with pytest.raises(LoadError):
        read_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08", name)


def test_nuls_become_spaces_of_the_same_length() -> None:
    assert decode_bytes(b"before\x00\x00after, and a good deal more")[0].startswith("before  after")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_text_comes_back_as_it_was(text: str) -> None:
    read, encoding = decode_bytes(text.encode("utf-8"))
    assert (read, encoding) == (text.removeprefix("\ufeff"), "utf-8")
