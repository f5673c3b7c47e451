"""Is int8 good enough, and how much faster is it? One run, one table (kept in docs/embed.md).

    python benchmarks/quantise.py [--bench DIR] [--documents 800]

Dense search over whole documents, as the embedder reads them (its first 256 tokens): nDCG@10 a set
in fp32 and in int8, the share of questions whose first document differs, and tokens a second. The
two precisions take turns on the same slices of texts, so that a busy machine slows both; the spread
is the range over slices. Accepted where no set loses more than 0.5 points.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from citespan.embed.onnx_embedder import OnnxEmbedder, open_minilm

SETS = ("xquad_en", "scifact", "phpdoc_en", "anthropic_docs", "hotpotqa_100")
PRECISIONS = ("fp32", "int8")
SLICE = 64
ALLOWED_LOSS = 0.005


def read_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file, gzipped or not."""
    plain = folder / f"{name}.jsonl"
    open_file, path = (open, plain) if plain.exists() else (gzip.open, f"{plain}.gz")
    with open_file(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def score_ndcg(order: np.ndarray, gains: dict[int, float]) -> float:
    """Return nDCG@10 with linear gains (Järvelin and Kekäläinen 2002)."""
    found = sum(gains.get(int(d), 0) / math.log2(r + 2) for r, d in enumerate(order[:10]))
    best = sorted(gains.values(), reverse=True)[:10]
    return found / sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))


def measure_set(
    folder: Path, limit: int, embedders: dict[str, OnnxEmbedder]
) -> tuple[dict[str, list[float]], dict[str, list[float]], float]:
    """Return per precision the scores and the rates, and the share of changed first places."""
    gains: dict[str, dict[str, float]] = {}
    for row in read_rows(folder, "qrels"):
        if row["score"] > 0:
            gains.setdefault(row["query_id"], {})[row["doc_id"]] = row["score"]
    judged = {document for one in gains.values() for document in one}
    rows = list(read_rows(folder, "corpus"))
    others = [row for row in rows if row["id"] not in judged]
    keep = max(limit - len(judged), 0)
    rows = [row for row in rows if row["id"] in judged] + others[
        :: max(len(others) // (keep or 1), 1)
    ][:keep]
    place = {row["id"]: number for number, row in enumerate(rows)}
    texts = [f"{row.get('title', '')}\n{row['text']}".strip() for row in rows]
    questions = [row for row in read_rows(folder, "queries") if row["id"] in gains]

    rates: dict[str, list[float]] = {name: [] for name in embedders}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in embedders}
    for start in range(0, len(texts), SLICE):
        part = texts[start : start + SLICE]
        first = next(iter(embedders.values()))
        tokens = sum(min(count, first.max_tokens) for count in first.count_tokens(part))
        for name, embedder in embedders.items():
            began = time.perf_counter()
            parts[name].append(embedder.embed(part))
            rates[name].append(tokens / (time.perf_counter() - began))

    scores: dict[str, list[float]] = {}
    firsts: dict[str, list[int]] = {}
    for name, embedder in embedders.items():
        documents = np.concatenate(parts[name])
        asked = embedder.embed([row["text"] for row in questions], kind="query")
        orders = np.argsort(-(asked @ documents.T), axis=1, kind="stable")
        scores[name] = [
            score_ndcg(order, {place[d]: g for d, g in gains[row["id"]].items() if d in place})
            for row, order in zip(questions, orders, strict=True)
        ]
        firsts[name] = [int(order[0]) for order in orders]
    one, two = firsts.values()
    return scores, rates, float(np.mean([a != b for a, b in zip(one, two, strict=True)]))


def main() -> None:
    """Print the table and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    root = Path(__file__).resolve().parents[2]
    default = os.environ.get("CITESPAN_BENCH", root / "shared" / "bench")
    parser.add_argument("--bench", type=Path, default=Path(default))
    parser.add_argument("--documents", type=int, default=800, help="per set, judged ones first")
    arguments = parser.parse_args()
    embedders = {name: open_minilm(precision=name) for name in PRECISIONS}

    print("| set | documents asked of | nDCG@10 fp32 | int8 | difference | other first document |")
    print("|---|---:|---:|---:|---:|---:|")
    all_rates: dict[str, list[float]] = {name: [] for name in PRECISIONS}
    worst = 0.0
    for name in SETS:
        scores, rates, changed = measure_set(arguments.bench / name, arguments.documents, embedders)
        full, small = (float(np.mean(scores[precision])) for precision in PRECISIONS)
        worst = min(worst, small - full)
        print(
            f"| {name} | {len(scores['fp32'])} | {full:.4f} | {small:.4f} | "
            f"{100 * (small - full):+.2f} points | {changed:.1%} |",
            flush=True,
        )
        for precision in PRECISIONS:
            all_rates[precision] += rates[precision]
    for precision in PRECISIONS:
        low, middle, high = np.percentile(all_rates[precision], [10, 50, 90])
        print(
            f"{precision}: {middle:,.0f} tokens/s (10 % to 90 % of slices: {low:,.0f}-{high:,.0f})"
        )
    ratios = np.array(all_rates["int8"]) / np.array(all_rates["fp32"])
    low, middle, high = np.percentile(ratios, [10, 50, 90])
    print(f"int8 / fp32 on the same slice: {middle:.2f} ({low:.2f}-{high:.2f})")
    verdict = "is accepted" if worst >= -ALLOWED_LOSS else "is refused"
    print(f"int8 {verdict}: worst {100 * worst:+.2f}")


if __name__ == "__main__":
    main()
