"""Put every quote of ``questions.jsonl`` at its place in the corpus, and the counts in the README.

Run it after changing a text or a question: ``python data/locate_quotes.py``. The quotes are the
truth, the offsets follow from them; ``--check`` changes nothing and fails where anything is stale.
Only the standard library is used.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent
MARKS = ("<!-- counts -->\n", "<!-- end of counts -->\n")
LANGUAGES = {"en": "English", "ru": "Russian", "zh": "Chinese"}

Row = dict[str, Any]


def read_corpus() -> dict[str, str]:
    """Return the text of each document by its file name; no line ending is translated."""
    files = sorted((DATA / "corpus").iterdir())
    return {path.name: path.read_bytes().decode("utf-8") for path in files}


def read_rows() -> list[Row]:
    """Return the questions as they stand in the file."""
    text = (DATA / "questions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def locate_quote(text: str, quote: str, near: int) -> tuple[int, int] | None:
    """Return the span of a quote, the one nearest to where it was if there are several.

    >>> locate_quote("No. Yes. No.", "No.", near=7)
    (9, 12)
    """
    starts = [found.start() for found in re.finditer(re.escape(quote), text)]
    if not quote or not starts:
        return None
    start = min(starts, key=lambda place: abs(place - near))
    return start, start + len(quote)


def locate_all(rows: Sequence[Row], corpus: Mapping[str, str]) -> tuple[list[Row], list[str]]:
    """Return the rows with their offsets renewed, and the quotes that are not in the corpus."""
    lost: list[str] = []
    renewed = []
    for row in rows:
        evidence = []
        for item in row["evidence"]:
            span = locate_quote(corpus.get(item["doc"], ""), item["quote"], item.get("start", 0))
            if span is None:
                lost.append(f"{row['id']}: not in {item['doc']}: {item['quote'][:70]!r}")
                span = item.get("start", 0), item.get("end", 0)
            evidence.append({**item, "start": span[0], "end": span[1]})
        renewed.append({**row, "evidence": evidence})
    return renewed, lost


def measure_length(text: str, language: str) -> int:
    """Return the number of words, of Chinese characters in a Chinese text."""
    return len(re.findall(r"[\u4e00-\u9fff]" if language == "zh" else r"\S+", text))


def draw_counts(rows: Sequence[Row], corpus: Mapping[str, str]) -> str:
    """Return the README's two tables, in Markdown: by document and by language."""
    language = {doc: row["language"] for row in rows for doc in _name_documents(row)}
    lines = [
        "| document | language | length | questions with evidence in it |",
        "|---|---|--:|--:|",
    ]
    for doc in sorted(corpus, key=lambda name: (language.get(name, ""), name)):
        unit = "characters" if language.get(doc) == "zh" else "words"
        length = measure_length(corpus[doc], language.get(doc, ""))
        asked = sum(doc in row["relevant_docs"] for row in rows)
        lines.append(f"| `{doc}` | {language.get(doc, '')} | {length:,} {unit} | {asked} |")
    lines += [
        "",
        "| language | questions | answerable | of these, several spans | several documents "
        "| unanswerable, near | unanswerable, off topic |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        _draw_language(name, [row for row in rows if row["language"] == code])
        for code, name in LANGUAGES.items()
    ]
    lines.append(_draw_language("all", rows))
    return "\n".join(lines) + "\n"


def _name_documents(row: Row) -> list[str]:
    return [*row["relevant_docs"], *([row["touches"]] if "touches" in row else [])]


def _draw_language(name: str, rows: Sequence[Row]) -> str:
    counts = (
        len(rows),
        sum(row["answerable"] for row in rows),
        sum(len(row["evidence"]) > 1 for row in rows),
        sum(len(row["relevant_docs"]) > 1 for row in rows),
        sum(row.get("near_topic") is True for row in rows),
        sum(row.get("near_topic") is False for row in rows),
    )
    return f"| {name} | " + " | ".join(map(str, counts)) + " |"


def main(arguments: Sequence[str]) -> int:
    """Renew both files, or with ``--check`` say which of them are stale."""
    corpus = read_corpus()
    rows, lost = locate_all(read_rows(), corpus)
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    before, after = readme.split(MARKS[0])[0], readme.split(MARKS[1])[1]
    new = {
        "questions.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        "README.md": before + MARKS[0] + draw_counts(rows, corpus) + MARKS[1] + after,
    }
    stale = [n for n, text in new.items() if (DATA / n).read_text(encoding="utf-8") != text]
    if "--check" not in arguments:
        for name in stale:
            (DATA / name).write_text(new[name], encoding="utf-8", newline="\n")
    for line in lost:
        print(line, file=sys.stderr)
    print(f"{'stale' if '--check' in arguments else 'renewed'}: {', '.join(stale) or 'nothing'}")
    return 1 if lost or ("--check" in arguments and stale) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
