"""The gate's score on answerable, near-topic and off-topic questions; what each threshold refuses.

Documents: an xquad split, found by BM25 over its paragraphs (five passages a question). Answerable:
its own questions. Near-topic: the same with the answer's paragraph taken away. Off-topic: questions
of other sets (scifact and phpdoc in the split's language). Run:
python benchmarks/gate_simple.py BENCH
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

from citespan.gate import gather_evidence, score_evidence
from citespan.text import analyze_query, analyze_terms
from citespan.types import Passage
from citespan.weights import idf_weight

STEP = 3
THRESHOLDS = (0.18, 0.24, 0.3, 0.36, 0.42, 0.48, 0.54, 0.6)


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def measure(bench: Path, name: str, language: str, others: list[str]) -> None:
    corpus = read(bench / name / "corpus.jsonl")
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    lengths = []
    for i, row in enumerate(corpus):
        terms = analyze_terms(row["text"], language)
        lengths.append(len(terms))
        for term, n in Counter(terms).items():
            postings[term][i] = n
    mean = sum(lengths) / len(lengths)
    size = len(corpus)
    weigh = idf_weight(size, {term: len(found) for term, found in postings.items()})

    def score(question: str, without: set[str]) -> float:
        groups = analyze_query(question, [language])
        totals: dict[int, float] = defaultdict(float)
        for group in groups:
            for term in group:
                held = postings.get(term, {})
                idf = math.log(1 + (size - len(held) + 0.5) / (len(held) + 0.5))
                for i, n in held.items():
                    totals[i] += idf * n * 2.2 / (n + 1.2 * (0.25 + 0.75 * lengths[i] / mean))
        best = sorted(
            (i for i in totals if corpus[i]["id"] not in without), key=lambda i: -totals[i]
        )
        passages = [
            Passage(corpus[i]["id"], "", 0, len(corpus[i]["text"]), corpus[i]["text"], totals[i])
            for i in best[:5]
        ]
        languages = {passage.document_id: language for passage in passages}
        return score_evidence(gather_evidence(groups, passages, weigh=weigh, languages=languages))

    gold: dict[str, set[str]] = defaultdict(set)
    for row in read(bench / name / "qrels.jsonl"):
        gold[row["query_id"]].add(row["doc_id"])
    queries = read(bench / name / "queries.jsonl")[::STEP]
    own = [q for q in queries if q["id"] in gold]
    sets = {
        "answerable": [score(q["text"], set()) for q in own],
        "near-topic": [score(q["text"], gold[q["id"]]) for q in own],
        "off-topic": [
            score(q["text"], set()) for o in others for q in read(bench / o / "queries.jsonl")
        ],
    }
    if name == "squad2_500":
        sets["unanswerable"] = [score(q["text"], set()) for q in queries if q["id"] not in gold]
    print(name, {kind: len(values) for kind, values in sets.items()})
    for threshold in THRESHOLDS:
        row = {k: sum(v < threshold for v in values) / len(values) for k, values in sets.items()}
        print(f"  {threshold:.2f} refuses", {k: round(v, 3) for k, v in row.items()})


def main(bench: Path) -> None:
    measure(bench, "xquad_en", "en", ["scifact", "phpdoc_en"])
    measure(bench, "xquad_ru", "ru", ["phpdoc_ru"])
    measure(bench, "xquad_zh", "zh", ["phpdoc_zh"])
    measure(bench, "squad2_500", "en", ["phpdoc_en"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
