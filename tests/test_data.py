"""The demo's documents and questions keep what data/README.md promises of them."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from functools import cache
from itertools import combinations
from types import ModuleType
from typing import Any

import pytest

from support import ROOT

DATA = ROOT / "data"
CORPUS = DATA / "corpus"
FILES = sorted(CORPUS.iterdir())
NAMES = [path.name for path in FILES]

DOCUMENTS = {"en": 9, "ru": 3, "zh": 3}
LENGTHS = {"en": (800, 3000), "ru": (800, 3000), "zh": (1500, 5000)}
LEAST_QUESTIONS = {"en": 60, "ru": 24, "zh": 24}
FIELDS = {"id", "question", "language", "answerable", "relevant_docs", "evidence", "answer", "kind"}
KINDS = {"fact", "number", "date", "condition", "multi", "paraphrase", "identifier"}

# What may stand before a quote in its line: nothing, the end of a sentence, the number of a clause
# or of an item, or a short label of minutes ("Heating:").
BEFORE = re.compile(r"(?:^|[.!?:]\"?\s|[。！？；”]|^[\d.]+\s)$")
AFTER = re.compile(r"[.!?。！？|]\"?$")


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("locate_quotes", DATA / "locate_quotes.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS: list[dict[str, Any]] = tool().read_rows()
TEXTS: dict[str, str] = tool().read_corpus()
ANSWERABLE = [row for row in ROWS if row["answerable"]]
UNANSWERABLE = [row for row in ROWS if not row["answerable"]]
SPANS = [(row["id"], item) for row in ANSWERABLE for item in row["evidence"]]


def languages() -> dict[str, str]:
    return {doc: row["language"] for row in ANSWERABLE for doc in row["relevant_docs"]}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_documents_are_plain_utf8(path):
    data = path.read_bytes()
    text = data.decode("utf-8")
    assert "\r" not in text
    assert not text.startswith(("\ufeff", "---"))
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[ \t\u00a0\u3000]$", text, re.MULTILINE), "white space at a line's end"
    assert not re.search(r"[\ufffd\u200b\u00ad]", text)


def test_languages_and_lengths():
    assert sorted(languages()) == sorted(TEXTS) == NAMES
    assert Counter(languages().values()) == DOCUMENTS
    for name, language in languages().items():
        low, high = LENGTHS[language]
        assert low <= tool().measure_length(TEXTS[name], language) <= high, name


def test_structure_is_not_always_there():
    # An ordered list of two formats: with headings, and without a line that a parser takes for one.
    headed = [n for n in NAMES if len(re.findall(r"^#+ ", TEXTS[n], re.MULTILINE)) >= 5]
    plain = [n for n in NAMES if not re.search(r"^#+ ", TEXTS[n], re.MULTILINE)]
    assert headed == [n for n in NAMES if n.endswith(".md")]
    assert plain == [n for n in NAMES if n.endswith(".txt")]
    assert len(headed) >= 6
    assert len(plain) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_loader_keeps_the_text(name):
    from citespan.load import load_documents

    [document] = load_documents(CORPUS / name)
    assert document.text == TEXTS[name]


def test_library_finds_no_fault():
    from citespan.evaluate.checks import check_file
    from citespan.load import load_documents

    assert check_file(DATA / "questions.jsonl", load_documents(CORPUS)) == []


def test_no_sentence_stands_in_two_documents():
    from citespan.text.sentences import split_sentences

    sentences = {}
    for name, text in TEXTS.items():
        whole = (text[s:e] for s, e in split_sentences(text, languages()[name]))
        plain = ("".join(re.findall(r"\w+", sentence)).casefold() for sentence in whole)
        sentences[name] = {sentence for sentence in plain if len(sentence) >= 8}
        assert len(sentences[name]) > 40
    for a, b in combinations(NAMES, 2):
        assert not sentences[a] & sentences[b], (a, b)


def test_fields():
    for row in ROWS:
        extra = set() if row["answerable"] else {"near_topic"}
        extra |= {"touches"} if row.get("near_topic") else set()
        assert set(row) == FIELDS | extra, row["id"]
        assert row["question"] == row["question"].strip()
        assert row["question"].endswith(("?", "？", ".")), row["id"]
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["question"].casefold() for row in ROWS}) == len(ROWS)


def test_questions_are_asked_in_the_language_they_name():
    letters = {"ru": r"[а-яё]", "zh": r"[\u4e00-\u9fff]"}
    for row in ROWS:
        found = {code for code, mark in letters.items() if re.search(mark, row["question"].lower())}
        assert found == {row["language"]} - {"en"}, row["id"]
        assert re.fullmatch(rf"{row['language']}-\d{{3}}", row["id"])


def test_counts_are_as_promised():
    asked = Counter(row["language"] for row in ROWS)
    assert all(asked[code] >= least for code, least in LEAST_QUESTIONS.items())
    assert len(ROWS) >= 100
    assert len(UNANSWERABLE) >= 24
    near = Counter(row["near_topic"] for row in UNANSWERABLE)
    assert near[True] == near[False]
    assert sum(len(row["evidence"]) >= 2 for row in ROWS) >= 12
    assert sum(len(row["relevant_docs"]) >= 2 for row in ROWS) >= 3
    for code in DOCUMENTS:
        assert sum(row["language"] == code for row in UNANSWERABLE) >= 6
    by_document = Counter(doc for row in ROWS for doc in row["relevant_docs"])
    assert min(by_document[name] for name in NAMES) >= 5


def test_kinds():
    assert {row["kind"] for row in ANSWERABLE} == KINDS
    assert {row["kind"] for row in UNANSWERABLE} == {"unanswerable"}
    for row in ANSWERABLE:
        assert row["kind"] != "multi" or len(row["evidence"]) >= 2, row["id"]


def test_unanswerable_questions_have_no_evidence():
    for row in UNANSWERABLE:
        assert row["evidence"] == []
        assert row["relevant_docs"] == []
        assert row["answer"] == ""
        assert row["near_topic"] is ("touches" in row)
        assert row.get("touches", NAMES[0]) in TEXTS


def test_answerable_questions_have_answer_and_evidence():
    for row in ANSWERABLE:
        assert row["answer"].strip(), row["id"]
        assert row["evidence"], row["id"]
        assert row["relevant_docs"] == list(dict.fromkeys(e["doc"] for e in row["evidence"]))


def test_every_span_is_its_quote():
    for question_id, item in SPANS:
        assert set(item) == {"doc", "start", "end", "quote"}
        assert TEXTS[item["doc"]][item["start"] : item["end"]] == item["quote"], question_id
        assert item["quote"] == item["quote"].strip() != ""


def test_every_span_holds_whole_sentences():
    for question_id, item in SPANS:
        text = TEXTS[item["doc"]]
        line = text.rfind("\n", 0, item["start"]) + 1
        if item["doc"] == "ropeworks-minutes.txt":  # hard line breaks: its lines are no units
            line = text.rfind("\n\n", 0, item["start"]) + 2
        assert BEFORE.search(text[line : item["start"]]), (question_id, item["quote"])
        assert AFTER.search(item["quote"]), (question_id, item["quote"])


def test_spans_of_a_question_lie_apart():
    for row in ANSWERABLE:
        for a, b in combinations(row["evidence"], 2):
            if a["doc"] == b["doc"]:
                assert a["end"] < b["start"], row["id"]
                assert TEXTS[a["doc"]][a["end"] : b["start"]].strip(), f"{row['id']}: one span"


def test_figures_of_an_answer_stand_in_its_evidence():
    def find_figures(text):
        return {f.removesuffix(".0") for f in re.findall(r"\d+(?:[.,]\d+)*", text)}

    lacking = {}
    for row in ANSWERABLE:
        evidence = " ".join(item["quote"] for item in row["evidence"])
        if missing := find_figures(row["answer"]) - find_figures(evidence):
            lacking[row["answer"]] = missing
    # The three sums that follow from the evidence and are not in it.
    assert list(lacking.values()) == [{"0.52"}, {"43"}, {"15"}]


def test_offsets_and_counts_are_renewed(capsys):
    assert tool().main(["--check"]) == 0, capsys.readouterr()
    assert capsys.readouterr().out == "stale: nothing\n"


def test_locating_by_hand():
    locate = tool().locate_quote
    assert locate("a b a", "a", near=0) == (0, 1)
    assert locate("a b a", "a", near=4) == (4, 5)
    assert locate("a (b) a", "(b)", near=99) == (2, 5)
    assert locate("a", "c", near=0) is None
    assert locate("a", "", near=0) is None


def test_a_lost_quote_is_named():
    row = {"id": "x", "evidence": [{"doc": "d", "start": 5, "end": 6, "quote": "gone"}]}
    rows, lost = tool().locate_all([row], {"d": "text"})
    assert rows == [row]
    assert lost == ["x: not in d: 'gone'"]
