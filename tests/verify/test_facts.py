from __future__ import annotations

import pytest

from citespan.verify.facts import miss_dates, read_dates, read_names, read_negations, read_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,000 and 1 000 and 1000", {"1000"}),
        ("3.50 or 3,5", {"3.5"}),
        ("twelve pumps, two doors", {"12", "2"}),
        ("двадцать четыре и пять", {"24", "5"}),
        ("保修期为36个月", {"36"}),
        ("二十四个月，三百人，第五章", {"24", "300", "5"}),
        ("2016年", {"2016"}),
        ("6½", {"6", "0.5"}),
        ("ERR-1042", {"1042"}),
        ("007 and 0", {"7", "0"}),
        ("no number", set()),
        ("一般来说", set()),
    ],
)
def test_numbers_in_one_spelling(text: str, numbers: set[str]) -> None:
    assert set(read_numbers(text)) == numbers


@pytest.mark.parametrize(
    ("text", "unit"),
    [("24 months", "month"), ("24-month", "month"), ("24 месяца", "month"), ("24个月", "month"),
     ("24 %", "percent"), ("24 процента", "percent"), ("24 km", "km"), ("24天", "day")],
)  # fmt: skip
def test_units(text: str, unit: str) -> None:
    assert read_numbers(text) == {"24": {unit}}


@pytest.mark.parametrize(
    "text",
    ["2021-03-02", "2 March 2021", "March 2, 2021", "2nd of March 2021", "02.03.2021",
     "2 марта 2021", "2021年3月2日", "2021 年 3 月 2 号"],
)  # fmt: skip
def test_dates_in_one_spelling(text: str) -> None:
    assert ("2021", "3", "2") in read_dates(text)


def test_dates_agree_where_they_say_the_same() -> None:
    assert miss_dates([("", "3", "2")], [("2021", "3", "2")]) == []
    assert miss_dates([("2020", "3", "2")], [("2021", "3", "2")]) == ["2020-3-2"]


def test_names() -> None:
    assert read_names("Today Anna met IBM. Bob left. NASA too") == ["Anna", "IBM", "NASA"]


@pytest.mark.parametrize(
    ("text", "language", "under", "not_under"),
    [
        ("Filters are not covered by it.", "en", "cover", "filter"),
        ("It doesn't cover filters.", "en", "cover", "it"),
        ("Фильтры не покрываются.", "ru", "покрыва", "фильтр"),
        ("滤芯不在保修范围内。", "zh", "保修", "滤芯"),
        ("不同的保修范围", "zh", "", "保修"),
    ],
)
def test_negations(text: str, language: str, under: str, not_under: str) -> None:
    denied, said = read_negations(text, language)
    assert not under or under in denied
    assert not_under not in denied
    assert under or "保修" in said
