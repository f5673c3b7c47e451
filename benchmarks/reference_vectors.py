"""Make the reference vectors that tests/embed compares the default embedder with.

Run it in an environment of its own, as it needs torch, which citespan does not:

    pip install sentence-transformers
    python benchmarks/reference_vectors.py MODEL tests/embed/reference.npz

MODEL is sentence-transformers/all-MiniLM-L6-v2, or a folder with a copy of that repository. The
texts stand below, written for this purpose; the file keeps them beside their vectors.
"""

from __future__ import annotations

import json
import sys

import numpy as np

ENGLISH = """\
The pump stops when the tank is full.
A refund is paid within fourteen days of the return.
Who signed the second amendment to the lease?
Error ERR-1042 means that the certificate has expired.
She planted three apple trees behind the old barn.
Interest rates rose by a quarter of a point in March.
def add(a, b): return a + b
The meeting moved from Tuesday to Thursday, 14:30.
Do not open the valve while the line is under pressure!
Mitochondria turn sugar into the cell's fuel.
Café naïve façade — coöperate, señor.
Read the manual, then read it again.
It was the coldest night in forty years; the canal froze from bank to bank.
No animals are allowed in the laboratory.
Animals are allowed in the laboratory.
What is the boiling point of water at 2,000 metres?
foo_bar.baz(x=1)[0] -> None
Price: $1,299.00 (incl. 19% VAT)
https://example.org/a/b?c=d#e
ALL CAPITALS SHOUT
all capitals shout
Supercalifragilisticexpialidocious
The the the the the the.
1 2 3 4 5 6 7 8 9 10
Yes."""

RUSSIAN = """\
Насос останавливается, когда бак полон.
Деньги возвращаются в течение четырнадцати дней.
Кто подписал второе дополнение к договору аренды?
Ёлка стояла у окна до конца января.
Не открывайте клапан под давлением!
Совещание перенесли со вторника на четверг.
Клетка получает энергию в митохондриях.
г. Москва, ул. Лесная, д. 5"""

CHINESE = """\
水箱满了,水泵就停。
退货后十四天内退款。
谁签署了租约的第二份修正案?
会议从星期二改到星期四。
带压时不要打开阀门!
线粒体为细胞提供能量。
龘靐齉
今天天气很好。Let us go out."""

ODD = [
    "",
    " ",
    "\n\t\n",
    ".",
    "🙂",
    "The build failed 😱🔥 again",
    "👩‍👩‍👧‍👦 family",
    "a\u0301 combining",
    "zero\u200bwidth\u00a0spaces",
    "tab\tand\nnew line",
    "[CLS] [SEP] [MASK] [PAD]",
    "\u0000control\u0007",
    "שלום עולם مرحبا بالعالم",
    "日本語のテキスト 한국어 텍스트",
    "x" * 300,
]


def make_texts() -> list[str]:
    """Return the texts: three languages, odd ones, and lengths around and beyond 256 pieces."""
    english, russian, chinese = (part.splitlines() for part in (ENGLISH, RUSSIAN, CHINESE))
    long = [
        " ".join(english),
        " ".join(english * 3),
        " ".join(russian * 2),
        "".join(chinese * 6),
        "water " * 253,
        "water " * 254,
        "water " * 255,
        "water " * 2000 + "fire",
    ]
    return [*english, *russian, *chinese, *ODD, *long]


def main(model_folder: str, out: str) -> None:
    """Embed the texts with sentence-transformers, one at a time, and write both."""
    import torch
    from sentence_transformers import SentenceTransformer, __version__

    model = SentenceTransformer(model_folder, device="cpu")
    texts = make_texts()
    rows = [model.encode(text, convert_to_numpy=True) for text in texts]
    np.savez_compressed(
        out,
        texts=np.array(json.dumps(texts)),
        vectors=np.stack(rows).astype(np.float32),
        made_with=np.array(f"sentence-transformers {__version__}, torch {torch.__version__}"),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
