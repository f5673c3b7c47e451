"""A writer to be killed: goes on with a fixed sequence of commits, saying each when it is done.

Run as ``python killed_writer.py FOLDER``; the sequence's place is the store's generation.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from citespan.stores import SqliteStore, open_store
from store_parts import analyze, make_document, make_vectors

NAMES = [f"{i}.txt" for i in range(25)]


def plan(step: int, present: set[str]) -> tuple[str, str]:
    """Return what commit number ``step`` does: ("write" or "remove", source)."""
    choice = random.Random(step)
    if len(present) > 15 and choice.random() < 0.4:
        return "remove", choice.choice(sorted(present))
    return "write", choice.choice(NAMES)


def state_after(steps: int) -> dict[str, str]:
    """Return the fingerprints, by source, that stand after so many commits."""
    state: dict[str, str] = {}
    for step in range(1, steps + 1):
        action, source = plan(step, set(state))
        if action == "write":
            state[source] = str(step)
        else:
            del state[source]
    return state


def apply(store: SqliteStore, step: int, present: set[str]) -> None:
    action, source = plan(step, present)
    if action == "remove":
        store.remove([source])
        return
    count = 1 + step % 4
    parts = [f"step{step} part{i} word" for i in range(count)]
    document, chunks = make_document(source, *parts)
    store.write(document, chunks, make_vectors(count, seed=step), fingerprint=str(step))


def main(folder: str) -> None:
    with open_store(folder, create_settings={"test": 1}, analyze=analyze, exact_limit=8) as store:
        while True:
            step = store.generation + 1
            apply(store, step, set(store.get_fingerprints()))
            if step % 5 == 0:
                store.flush()
            print(step, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
