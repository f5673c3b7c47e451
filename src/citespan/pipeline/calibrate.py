"""Asking an index about itself, once it has grown enough: how far to trust the vectors."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from citespan.protocols import Store
from citespan.retrieve.calibrate import DEFAULT_TRUST, measure_trust

NOTE = "calibration"
DOCUMENTS = 400
"""Sampled for one language."""
SENTENCES = 6_000
"""Sentences looked at for one language; so the cost does not grow with the index."""
FEWEST_DOCUMENTS = 3
"""A language with fewer documents goes by what all documents together say."""
GROWTH = 1.5


def calibrate_index(store: Store, *, force: bool = False) -> Mapping[str, Any] | None:
    """Measure the trust in the vectors for each language, and keep it with the index.

    It is done when an index is first made and again when it has grown by half; ``None`` is
    returned where neither is so, or there is nothing to measure.
    """
    chunks = store.count_chunks()
    before = store.read_note(NOTE)
    if not chunks or not store.settings.get("dimension"):
        return None
    if before and not force and before["chunks"] / GROWTH <= chunks <= before["chunks"] * GROWTH:
        return None
    by_language: dict[str, list[str]] = {}
    for info in store.list_documents():
        by_language.setdefault(info.language, []).append(info.id)
    groups = {code: ids for code, ids in by_language.items() if len(ids) >= FEWEST_DOCUMENTS}
    groups[""] = [document for ids in by_language.values() for document in ids]
    found = {code: asdict(_measure_group(store, ids)) for code, ids in sorted(groups.items())}
    value = {"chunks": chunks, "generation": store.generation, "languages": found}
    store.write_note(NOTE, value)
    return value


def _measure_group(store: Store, ids: list[str]) -> Any:
    chosen = random.Random(0).sample(sorted(ids), min(len(ids), DOCUMENTS))
    ranges = []
    left = SENTENCES
    for document in chosen:
        (found,) = store.get_sentence_ranges([(document, 0, left)])
        ranges.append(found)
        left -= len(found.spans)
        if left <= 0:
            break
    return measure_trust(ranges)


def read_trust(store: Store, language: str) -> float:
    """Return the weight of cosines for questions of a language."""
    note = store.read_note(NOTE)
    if not note:
        return DEFAULT_TRUST
    languages = note["languages"]
    return float(languages.get(language, languages[""])["trust"])
