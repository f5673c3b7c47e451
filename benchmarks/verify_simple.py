"""How well the share of a sentence's words tells its source from other text, and facts that fail.

Data: xquad. A short answer in a model's manner is made of each question and its gold answer (the
question without its function words, then the answer). Right: its own paragraph. Wrong source: the
next paragraph of the same article. Wrong number: the own paragraph, the first number of its gold
sentence, quoted whole, raised by one. Run: python benchmarks/verify_simple.py BENCH
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

from citespan.text import analyze_terms, split_sentences
from citespan.types import Passage
from citespan.verify.support import measure_support
from citespan.weights import idf_weight

STEP = 3
THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8)


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(bench: Path) -> None:
    for language in ("en", "ru", "zh"):
        folder = bench / f"xquad_{language}"
        corpus = read(folder / "corpus.jsonl")
        place = {row["id"]: i for i, row in enumerate(corpus)}
        frequencies: dict[str, int] = defaultdict(int)
        for row in corpus:
            for term in set(analyze_terms(row["text"], language)):
                frequencies[term] += 1
        weigh = idf_weight(len(corpus), frequencies)
        passages = [Passage(r["id"], "", 0, len(r["text"]), r["text"], 1.0) for r in corpus]
        gold = {r["query_id"]: r for r in read(folder / "qrels.jsonl")}
        right, wrong, denied, caught, numbers = [], [], 0, 0, 0
        for query in read(folder / "queries.jsonl")[::STEP]:
            at = place[gold[query["id"]]["doc_id"]]
            start, end = gold[query["id"]]["spans"][0]
            text = corpus[at]["text"]
            said = f"{query['text'].rstrip('?？')}: {text[start:end]}"
            found = measure_support(said, passages[at], language, weigh)
            right.append(found)
            denied += bool(found.problems)
            other = passages[at + 1 if (at + 1) % 5 else at - 1]
            wrong.append(measure_support(said, other, language, weigh))
            sentence = next(text[s:e] for s, e in split_sentences(text, language) if s <= start < e)
            number = re.search(r"\d+", sentence)
            if number:
                numbers += 1
                changed = re.sub(r"\d+", lambda m: str(int(m[0]) + 1), sentence, count=1)
                found = measure_support(changed, passages[at], language, weigh)
                caught += bool(found.problems)
        print(language, len(right), "questions")
        for threshold in THRESHOLDS:
            kept = sum(s.holds(threshold) for s in right) / len(right)
            passed = sum(s.holds(threshold) for s in wrong) / len(wrong)
            print(f"  {threshold}: right source kept {kept:.3f}, wrong source passed {passed:.3f}")
        print(
            f"  false problems {denied / len(right):.3f}, wrong numbers caught {caught}/{numbers}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
