"""Many questions over one corpus: the runs that metrics are computed from."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from citespan.config import LoadedSettings
from citespan.errors import InputError
from citespan.load import load_corpus
from citespan.pipeline.ask import search_index
from citespan.pipeline.calibrate import calibrate_index
from citespan.pipeline.manage import read_stored
from citespan.pipeline.opened import open_index
from citespan.pipeline.parts import adopt_stored, asked_for, check_settings, open_parts
from citespan.pipeline.write import BuildReport, write_documents
from citespan.protocols import Filter
from citespan.stores import open_store
from citespan.types import Document, Trace, content_id


@dataclass(frozen=True, slots=True)
class Query:
    """A question of a batch; ``scope`` names the only documents to search, if there are any."""

    id: str
    text: str
    scope: tuple[str, ...] = ()


def read_queries(path: Path) -> list[Query]:
    """Read questions from JSON lines with ``id``, ``text`` (or ``question``) and ``scope``.

    Raises
    ------
    InputError
        With every line that is not usable, and why.
    """
    if not path.is_file():
        raise InputError(f"no file of questions at {path}", fix="check the path")
    queries: list[Query] = []
    problems: list[str] = []
    seen: set[str] = set()
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8", fix="save it as UTF-8") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            query = _parse_query(json.loads(line), number)
            if query.id in seen:
                raise ValueError(f"the id {query.id!r} occurs twice")
        except json.JSONDecodeError:
            problems.append(f"line {number}: not JSON")
            continue
        except ValueError as error:
            problems.append(f"line {number}: {error}")
            continue
        seen.add(query.id)
        queries.append(query)
    if problems:
        shown = "; ".join(problems[:5])
        more = f" and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise InputError(f"{path}: {shown}{more}", fix='each line wants {"id": …, "text": …}')
    if not queries:
        raise InputError(f"{path} holds no question", fix='each line wants {"id": …, "text": …}')
    return queries


def _parse_query(row: Any, number: int) -> Query:
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    text = row.get("text", row.get("question"))
    if not isinstance(text, str) or not text.strip():
        raise ValueError("no text")
    scope = row.get("scope") or ()
    if isinstance(scope, str):
        scope = (scope,)
    if not isinstance(scope, list | tuple):
        raise ValueError("scope is not a list of document ids")
    return Query(str(row.get("id", number)), text, tuple(str(item) for item in scope))


def index_corpus(
    documents: Iterable[Document], loaded: LoadedSettings, folder: Path
) -> BuildReport:
    """Index ready documents under their own ids; those unchanged since the last run cost nothing.

    Documents of the index that are no longer in the corpus are removed from it.
    """
    stored = read_stored(folder)
    settings = adopt_stored(loaded, stored)
    parts = open_parts(settings, required=asked_for(loaded, "embedder"))
    if stored is not None:
        check_settings(stored, parts, folder)
    report = BuildReport(notes=list(parts.notes))
    with open_store(folder, create_settings=parts.stored) as store:
        known = store.get_fingerprints()
        listed: set[str] = set()

        def changed() -> Iterator[tuple[Document, str]]:
            for document in documents:
                listed.add(document.source)
                fingerprint = content_id(document.id, document.title, document.text)
                if known.get(document.source) == fingerprint:
                    report.unchanged += 1
                else:
                    yield document, fingerprint

        write_documents(changed(), store, parts.splitter, parts.embedder, report, known=set(known))
        gone = [source for source in known if source not in listed]
        if gone and not report.stopped:
            store.remove(gone)
            report.removed.extend(gone)
        if not report.stopped:
            calibrate_index(store)
    return report


def run_queries(
    queries: Path,
    out: Path,
    loaded: LoadedSettings,
    *,
    corpus: Path | None = None,
    keep: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> tuple[int, list[str]]:
    """Search for each question and write one line of JSON for each; return their number and notes.

    Parameters
    ----------
    queries, out
        The questions, and the file of results; it appears whole, at the end.
    corpus
        A file or folder of ready documents to index first; None asks the index as it is.
    keep
        Whether the corpus is indexed in the settings' index folder; else in one that is deleted.

    Raises
    ------
    InputError
        If a file is unusable, or a scope names a document that is not in the index.
    """
    asked = read_queries(queries)
    out.parent.mkdir(parents=True, exist_ok=True)
    notes: list[str] = []
    with ExitStack() as stack:
        if corpus is not None:
            folder = Path(loaded.settings.index)
            if not keep:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "index"
                loaded = replace(loaded, settings=replace(loaded.settings, index=str(folder)))
            report = index_corpus(load_corpus(corpus), loaded, folder)
            if report.stopped:
                raise KeyboardInterrupt
        index = stack.enter_context(open_index(loaded))
        notes.extend(index.notes)
        _check_scopes(asked, {info.id for info in index.store.list_documents()})
        draft = out.with_name(out.name + ".part")
        with draft.open("w", encoding="utf-8") as file:
            for number, query in enumerate(asked, start=1):
                where = Filter(document_ids=query.scope) if query.scope else None
                trace = search_index(index, query.text, where=where, unlimited=True)
                file.write(json.dumps(_run_line(query, trace), ensure_ascii=False) + "\n")
                if progress is not None:
                    progress(number, len(asked))
        os.replace(draft, out)
    return len(asked), notes


def _run_line(query: Query, trace: Trace) -> Mapping[str, Any]:
    return {
        "query_id": query.id,
        "passages": [
            {"doc_id": p.document_id, "start": p.start, "end": p.end, "score": p.score}
            for p in trace.passages
        ],
        "gate": {"state": trace.gate.state, "score": trace.gate.score} if trace.gate else None,
    }


def _check_scopes(queries: Iterable[Query], known: set[str]) -> None:
    absent = {item for query in queries for item in query.scope} - known
    if absent:
        raise InputError(
            f"the scopes name documents not in the index: {', '.join(sorted(absent)[:10])}",
            fix="correct the scopes, or index those documents",
        )
