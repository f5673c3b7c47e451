"""Languages of short and mixed texts."""

from __future__ import annotations

import json

import pytest

from citespan.text import detect_language
from support import bench_dir

SHORT = {
    "What is the leave policy?": "en",
    "http error 500 when the server starts": "en",
    "Как дела": "ru",
    "Кто автор?": "ru",
    "Що це таке і де воно є?": "uk",
    "钥匙在哪里": "zh",
    "PHP 函数 array_push 用法": "zh",
    "吾輩は猫である": "ja",
    "열쇠가 어디에 있나요": "ko",
    "أين المفتاح؟": "ar",
    "کلید کجاست؟ این چیست": "fa",
    "Wo ist der Schlüssel?": "de",
    "¿Dónde está la llave?": "es",
    "Où est la clé ?": "fr",
    "Dov'è la chiave di casa?": "it",
    "Onde está a chave da casa?": "pt",
    "Waar is de sleutel van het huis?": "nl",
    "Πού είναι το κλειδί;": "el",
    "איפה המפתח?": "he",
    "กุญแจอยู่ที่ไหน": "th",
}


@pytest.mark.parametrize(("text", "language"), SHORT.items())
def test_short_texts(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "   ", "404", "…!?", "12:30 €"])
def test_no_letters_no_language(text: str) -> None:
    assert detect_language(text, default="en") == ""


def test_a_text_too_short_to_tell_is_the_default() -> None:
    assert detect_language("Hello") == ""
    assert detect_language("Hello", default="en") == "en"


@pytest.mark.parametrize(
    "folder",
    [
        "xquad_en",
        "xquad_ru",
        "xquad_zh",
        "xquad_de",
        "xquad_es",
        "xquad_ar",
        "phpdoc_ru",
        "phpdoc_zh",
    ],
)
def test_paragraphs_and_questions(folder: str) -> None:
    path = bench_dir(folder)
    for name, least in (("corpus.jsonl", 0.99), ("queries.jsonl", 0.95)):
        lines = (path / name).read_text(encoding="utf-8").splitlines()
        found = [detect_language(json.loads(line)["text"]) for line in lines]
        share = found.count(folder[-2:]) / len(found)
        assert share >= least or (folder.startswith("phpdoc") and share >= 0.9), (name, share)
