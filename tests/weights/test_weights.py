from __future__ import annotations

import math

from citespan.weights import idf_weight, plain_weight, weigh_groups


def test_idf_by_hand() -> None:
    weigh = idf_weight(10, {"pump": 2})
    assert weigh("pump") == math.log(1 + 8.5 / 2.5)
    assert weigh("kettle") == math.log(1 + 10.5 / 0.5)
    assert weigh("the") == 0.1 * math.log(1 + 10.5 / 0.5)


def test_a_group_weighs_as_its_commonest_member() -> None:
    weigh = idf_weight(10, {"gut": 8, "gute": 1})
    assert weigh_groups([("gut", "gute"), ()], weigh) == [(("gut", "gute"), weigh("gut"))]


def test_function_words_of_three_languages() -> None:
    assert [plain_weight(t) for t in ("what", "как", "什么", "pump")] == [0.1, 0.1, 0.1, 1.0]
