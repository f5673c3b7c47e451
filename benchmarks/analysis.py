"""What each choice in the analysis of terms is worth: plain BM25 on the public retrieval sets.

Run ``python benchmarks/analysis.py [FOLDER ...]``; it prints the table of docs/text.md. Documents
are title and text; a query's ``scope`` limits its documents; a query without an answer is left out.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from citespan.text import analyze_query, analyze_terms, detect_language

BENCH = Path(os.environ.get("CITESPAN_BENCH", Path(__file__).parents[2] / "shared" / "bench"))
LANGUAGES = ("en", "ru", "zh", "de", "es", "ar")
FOLDERS = (
    *(f"xquad_{code}" for code in LANGUAGES),
    *("phpdoc_en", "phpdoc_ru", "phpdoc_zh", "scifact", "anthropic_docs", "hotpotqa_100"),
    *("cmrc2018_trial", "drcd_dev"),
)
K1, B = 1.2, 0.75

Analyzer = Callable[[str, str], list[str]]
QueryAnalyzer = Callable[[str, Sequence[str]], list[tuple[str, ...]]]


def read_lines(folder: str, name: str) -> list[dict]:
    path = BENCH / folder / name
    if path.exists():
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    with gzip.open(f"{path}.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measure_folder(
    folder: str,
    analyze: Analyzer = analyze_terms,
    analyze_question: QueryAnalyzer = analyze_query,
    titles: bool = True,
) -> dict[str, float]:
    corpus = read_lines(folder, "corpus.jsonl")
    gains: dict[str, dict[str, int]] = defaultdict(dict)
    for row in read_lines(folder, "qrels.jsonl"):
        if row["score"] > 0:
            gains[row["query_id"]][row["doc_id"]] = row["score"]
    texts = [
        f"{d['title']}\n{d['text']}" if titles and d.get("title") else d["text"] for d in corpus
    ]
    languages = [detect_language(text) for text in texts]

    began = time.process_time()
    documents = [analyze(text, lang) for text, lang in zip(texts, languages, strict=True)]
    seconds = time.process_time() - began

    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, terms in enumerate(documents):
        for term, count in Counter(terms).items():
            postings[term].append((number, count))
    mean = sum(map(len, documents)) / len(documents)
    norms = [K1 * (1 - B + B * len(terms) / mean) for terms in documents]
    index_languages = [code for code, _ in Counter(languages).most_common() if code]
    places = {d["id"]: i for i, d in enumerate(corpus)}

    total = recall = first = asked = 0.0
    for query in read_lines(folder, "queries.jsonl"):
        wanted = gains.get(query["id"])
        if not wanted:
            continue
        scores: dict[int, float] = defaultdict(float)
        for group in analyze_question(query["text"], index_languages):
            best: dict[int, float] = {}
            for term in group:
                found = postings.get(term, ())
                idf = math.log(1 + (len(documents) - len(found) + 0.5) / (len(found) + 0.5))
                for number, count in found:
                    value = idf * count * (K1 + 1) / (count + norms[number])
                    if value > best.get(number, 0.0):
                        best[number] = value
            for number, value in best.items():
                scores[number] += value
        if scope := query.get("scope"):
            allowed = {places[i] for i in scope}
            scores = {n: s for n, s in scores.items() if n in allowed}
        ranked = sorted(scores, key=lambda n: (-scores[n], n))[:10]
        names = [corpus[n]["id"] for n in ranked]
        dcg = sum(wanted.get(name, 0) / math.log2(i + 2) for i, name in enumerate(names))
        ideal = sum(
            g / math.log2(i + 2) for i, g in enumerate(sorted(wanted.values(), reverse=True)[:10])
        )
        total += dcg / ideal
        recall += len(wanted.keys() & set(names)) / len(wanted)
        first += bool(names) and names[0] in wanted
        asked += 1
    size = sum(len(t.encode()) for t in texts)
    return {
        "ndcg@10": total / asked,
        "recall@10": recall / asked,
        "recall@1": first / asked,
        "MB/s": size / 1e6 / seconds,
    }


def main(folders: Sequence[str]) -> None:
    print("| set | nDCG@10 | recall@10 | right at rank 1 | MB/s |\n|---|---|---|---|---|")
    for folder in folders:
        m = measure_folder(folder)
        row = f"{m['ndcg@10']:.3f} | {m['recall@10']:.3f} | {m['recall@1']:.3f} | {m['MB/s']:.1f}"
        print(f"| {folder} | {row} |")


if __name__ == "__main__":
    main(sys.argv[1:] or FOLDERS)
