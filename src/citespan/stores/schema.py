"""The SQLite file: its tables, and how it is made, opened and found fit or unfit."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citespan.errors import StoreError

FILE_NAME = "index.sqlite"
LOCK_NAME = "write.lock"
APPLICATION = 0x63697465
"""Marks the file as ours ("cite")."""
VERSION = 1

REMAKE = "make it anew: remove the folder and run: citespan index PATH"

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
-- A document's chunks have the keys first_chunk .. first_chunk + chunks - 1, given in one
-- transaction and never again.
CREATE TABLE documents (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    language TEXT NOT NULL,
    metadata TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    length INTEGER NOT NULL,
    first_chunk INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    sentences INTEGER NOT NULL
);
CREATE TABLE texts (
    document INTEGER PRIMARY KEY,
    text BLOB NOT NULL,
    pages TEXT NOT NULL,
    sections TEXT NOT NULL
);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    spans TEXT NOT NULL,
    text BLOB NOT NULL,
    context BLOB NOT NULL,
    overlap INTEGER NOT NULL,
    -- [first, last) number of the sentences that each span overlaps
    sentences TEXT NOT NULL
);
-- float32, little-endian.
CREATE TABLE vectors (key INTEGER PRIMARY KEY, vector BLOB NOT NULL);
-- Sentences in blocks, little-endian: spans as pairs of int32, vectors as float16, hashes of their
-- terms as uint32, one sentence after another, and how many each sentence has as int32.
CREATE TABLE sentences (
    document INTEGER NOT NULL,
    block INTEGER NOT NULL,
    spans BLOB NOT NULL,
    vectors BLOB,
    terms BLOB NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (document, block)
);
-- What the derived indexes must forget, emptied once they have.
CREATE TABLE removed (
    generation INTEGER NOT NULL,
    first_chunk INTEGER NOT NULL,
    last_chunk INTEGER NOT NULL
);
CREATE INDEX removed_generation ON removed (generation);
"""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a connection in autocommit mode that other threads may close."""
    mode = "ro" if read_only else "rwc"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA busy_timeout = 30000")
    db.execute("PRAGMA cache_size = -16000")
    if read_only:
        db.execute("PRAGMA query_only = ON")
    else:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")
    return db


def is_blank(directory: Path) -> bool:
    """Whether an index may be made here.

    That is where there is nothing, an empty folder, or an index whose making was cut short.
    """
    if not directory.exists():
        return True
    if not directory.is_dir():
        return False
    names = {path.name for path in directory.iterdir()} - {LOCK_NAME, ".gitignore"}
    if not names:
        return True
    own = {FILE_NAME, FILE_NAME + "-wal", FILE_NAME + "-shm", FILE_NAME + "-journal"}
    return names <= own and FILE_NAME in names and _is_unfinished(directory / FILE_NAME)


def _is_unfinished(path: Path) -> bool:
    try:
        db = sqlite3.connect(path)
        try:
            tables: int = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            version: int = db.execute("PRAGMA user_version").fetchone()[0]
        finally:
            db.close()
    except sqlite3.Error:
        return False
    return tables == 0 and version == 0


def create_database(path: Path, settings: Mapping[str, Any]) -> None:
    """Make the tables in one transaction; a file cut short before its end counts as absent."""
    try:
        text = json.dumps(dict(settings), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise StoreError(f"settings cannot be stored: {error}", fix="use JSON values") from None
    db = connect(path, read_only=False)
    try:
        db.execute("BEGIN IMMEDIATE")
        for statement in TABLES.split(";"):
            if statement.strip():
                db.execute(statement)
        rows = {
            "identity": secrets.token_hex(8),
            "generation": 0,
            "next_key": 1,
            "log_start": 0,
            "dimension": int(settings.get("dimension") or 0),
            "settings": text,
        }
        db.executemany("INSERT INTO meta VALUES (?, ?)", rows.items())
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    finally:
        db.close()


def check_database(path: Path) -> None:
    """Refuse what is no index of ours, is newer than we are, or was cut short.

    Raises
    ------
    StoreError
        With what is wrong and what to do.
    """
    where = path.parent
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(b"SQLite format 3\0") or len(header) < 100:
        raise StoreError(f"{path} is not an index of citespan, or is damaged", fix=REMAKE)
    wal = path.with_name(path.name + "-wal")
    if not (wal.exists() and wal.stat().st_size):
        page = int.from_bytes(header[16:18], "big")
        expected = (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
        actual = path.stat().st_size
        if actual < expected:
            raise StoreError(
                f"{path} is cut short: {actual} bytes of {expected}",
                fix=f"restore it from a copy, or {REMAKE}",
            )
    db = connect(path, read_only=True)
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.close()
    if application != APPLICATION:
        raise StoreError(f"{path} is not an index of citespan", fix="name another folder")
    if version > VERSION:
        raise StoreError(
            f"the index at {where} was made by a newer citespan (format {version}, "
            f"this one reads {VERSION})",
            fix="run: pip install --upgrade citespan",
        )
    if version < VERSION:
        raise StoreError(f"the index at {where} has the old format {version}", fix=REMAKE)
