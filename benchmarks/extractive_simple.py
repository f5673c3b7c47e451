"""How often the first quoted sentence of the extractive generator holds the answer.

Data: the xquad folders of the public test data; the answer's paragraph is given as the first of
five passages (the others are the next paragraphs), so that this measures the choice of sentences,
not retrieval. Run: python benchmarks/extractive_simple.py BENCH
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from citespan.generate.extractive import choose_sentences, score_sentences
from citespan.text import analyze_terms
from citespan.types import Passage
from citespan.weights import idf_weight


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(bench: Path) -> None:
    for name in ("xquad_en", "xquad_ru", "xquad_zh", "squad2_500"):
        language = name[-2:] if name.startswith("xquad") else "en"
        corpus = read(bench / name / "corpus.jsonl")
        place = {row["id"]: i for i, row in enumerate(corpus)}
        frequencies: dict[str, int] = {}
        for row in corpus:
            for term in set(analyze_terms(row["text"], language)):
                frequencies[term] = frequencies.get(term, 0) + 1
        weigh = idf_weight(len(corpus), frequencies)
        gold = {r["query_id"]: r for r in read(bench / name / "qrels.jsonl")}
        first = quoted = sentences = asked = 0
        for query in read(bench / name / "queries.jsonl"):
            if query["id"] not in gold:
                continue
            target = gold[query["id"]]
            at = place[target["doc_id"]]
            rows = [corpus[(at + i) % len(corpus)] for i in range(5)]
            passages = [Passage(r["id"], r["id"], 0, len(r["text"]), r["text"], 1.0) for r in rows]
            scored = score_sentences(query["text"], passages, language=language, weigh=weigh)
            answers = [" ".join(corpus[at]["text"][s:e].split()) for s, e in target["spans"]]
            chosen = choose_sentences(scored, query["text"], weigh=weigh)
            asked += 1
            first += (
                any(a in scored[0].text and scored[0].source == 1 for a in answers) if scored else 0
            )
            quoted += any(a in c.text and c.source == 1 for a in answers for c in chosen)
            sentences += len(chosen)
        print(
            f"{name}: best sentence {first / asked:.3f}, among the quoted {quoted / asked:.3f}, "
            f"{sentences / asked:.2f} sentences quoted, {asked} questions"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
