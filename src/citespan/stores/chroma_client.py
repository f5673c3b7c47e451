"""A connection to Chroma, embedded or over HTTP: no telemetry, one process at a time, plain errors.

An embedded Chroma keeps parts of its index in each process that opened it. Two processes that
write, or one that goes on reading with what it loaded before another wrote, lose vectors without
an error. So every use of an embedded folder is under a lock that other processes heed, and a
client that was opened before somebody else wrote is opened anew. A Chroma server does that by
itself.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from citespan.errors import InputError, LockedError, MissingExtraError, StoreError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

LOCK_NAME = "citespan.lock"
WRITES_NAME = "citespan.writes"
"""Holds a random word that each writer replaces, so that others see their client is old."""
LOCK_SECONDS = 60.0


@dataclass(slots=True)
class _Folder:
    """One embedded folder in this process: its client, shared by all who use it."""

    path: Path
    mutex: threading.RLock = field(default_factory=threading.RLock)
    client: ClientAPI | None = None
    seen: str = ""
    users: int = 0
    depth: int = 0


_folders: dict[Path, _Folder] = {}
_folders_mutex = threading.Lock()


class Chroma:
    """Where collections are kept: a folder of this machine, or a Chroma server.

    Made from one of the two; ``use`` lends the client. Safe in several threads.

    Parameters
    ----------
    path
        A folder that holds nothing else; made where it does not exist.
    url
        ``http://host:port`` of a server (``chroma run``).

    Raises
    ------
    MissingExtraError
        If chromadb is not installed.
    InputError
        If neither or both are given, or the address cannot be one.
    StoreError
        If the folder cannot be written to, or nothing answers at the address.
    """

    def __init__(self, path: Path | str | None = None, *, url: str | None = None) -> None:
        if (path is None) == (url is None):
            raise InputError("Chroma needs a folder or an address", fix="give one of path and url")
        _import_chromadb()
        self.url = url
        self._closed = False
        self._folder: _Folder | None = None
        self._remote: ClientAPI | None = None
        if url is not None:
            self.where = url
            self._remote = _open_remote(url)
            return
        folder = Path(path or "").absolute()
        self.where = str(folder)
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file, not a folder of Chroma", fix="name a folder")
        with self._plain_errors():
            folder.mkdir(parents=True, exist_ok=True)
        with _folders_mutex:
            self._folder = _folders.setdefault(folder.resolve(), _Folder(folder.resolve()))
            self._folder.users += 1

    def __enter__(self) -> Chroma:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the client; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        if self._remote is not None:
            _close_remote(self._remote)
            return
        assert self._folder is not None
        with _folders_mutex:
            self._folder.users -= 1
            last = self._folder.users == 0
            if last:
                del _folders[self._folder.path]
        if last:
            with self._folder.mutex:
                _close_client(self._folder)

    @contextlib.contextmanager
    def use(self, *, write: bool = False) -> Iterator[ClientAPI]:
        """Lend the client; of an embedded Chroma to one thread of one process at a time.

        Uses may be nested, with ``write`` asked for by the outermost. What is kept from one use
        for the next are names and ids, never the client or a collection.

        Raises
        ------
        LockedError
            If another process keeps an embedded folder for longer than a minute.
        StoreError
            If it is closed, unreachable, or cannot be written to.
        """
        if self._closed:
            raise StoreError("the connection to Chroma is closed", fix="open it again")
        with self._plain_errors():
            if self._remote is not None:
                yield self._remote
                return
            assert self._folder is not None
            with self._folder.mutex:
                if self._folder.depth:
                    assert self._folder.client is not None
                    yield self._folder.client
                    return
                with _lock(self._folder.path):
                    client = _fresh_client(self._folder, write)
                    self._folder.depth += 1
                    try:
                        yield client
                    finally:
                        self._folder.depth -= 1

    def erase(self) -> None:
        """Remove all that an embedded folder holds, also where Chroma cannot open it."""
        import shutil

        assert self._folder is not None, "a server's data are not ours to remove"
        with self._plain_errors(), self._folder.mutex, _lock(self._folder.path):
            _close_client(self._folder)
            for path in self._folder.path.iterdir():
                if path.name != LOCK_NAME:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    @contextlib.contextmanager
    def _plain_errors(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except httpx.HTTPError as error:
            raise StoreError(
                f"Chroma at {self.where} does not answer ({error or type(error).__name__})",
                fix="start it: chroma run --path FOLDER, or correct the address",
            ) from error
        except PermissionError as error:
            raise StoreError(
                f"Chroma's folder {self.where} cannot be written to, which it needs even to read",
                fix="change its permissions, or copy it",
            ) from error


# ---------------------------------------------------------------------- clients


def _import_chromadb() -> Any:
    try:
        import chromadb
    except ImportError:
        raise MissingExtraError("chromadb", extra="chroma") from None
    return chromadb


def _settings() -> Any:
    from chromadb.config import Settings

    # A .env file of the folder one happens to stand in shall not decide anything here.
    return Settings(anonymized_telemetry=False, _env_file=None)  # type: ignore[call-arg]


def _open_remote(url: str) -> ClientAPI:
    import httpx
    from chromadb.errors import ChromaError

    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise InputError(f"{url!r} is no address of Chroma", fix="write http://HOST:PORT")
    if parts.path.strip("/") or parts.query or parts.username:
        raise InputError(f"{url!r} has more than a host and a port", fix="write http://HOST:PORT")
    secure = parts.scheme == "https"
    try:
        return _import_chromadb().HttpClient(  # type: ignore[no-any-return]
            host=parts.hostname,
            port=port or (443 if secure else 8000),
            ssl=secure,
            settings=_settings(),
        )
    except (httpx.HTTPError, ChromaError, ValueError) as error:
        # What Chroma's client says of a connection that failed is a ValueError.
        raise StoreError(
            f"no Chroma answers at {url} ({str(error).partition(chr(10))[0]})",
            fix="start it: chroma run --path FOLDER, or correct the address",
        ) from error


def _close_remote(client: Any) -> None:
    """Close a client of a server, and the sockets of its sessions, which it leaves open."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = [getattr(getattr(part, "_server", None), "_session", None) for part in parts]
    client.close()
    for session in sessions:
        if session is not None:
            session.close()


def _fresh_client(folder: _Folder, write: bool) -> ClientAPI:
    """Return the folder's client, opened anew if another process has written since."""
    stamp = folder.path / WRITES_NAME
    now = stamp.read_text() if stamp.exists() else ""
    if folder.client is not None and now != folder.seen:
        _close_client(folder)
    if write:
        # Before the first write, so that a writer that is killed has been noticed too.
        now = secrets.token_hex(8)
        stamp.write_text(now)
    if folder.client is None:
        folder.client = _import_chromadb().PersistentClient(str(folder.path), settings=_settings())
    folder.seen = now
    return folder.client


def _close_client(folder: _Folder) -> None:
    client, folder.client = folder.client, None
    if client is not None:
        client.close()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    import filelock

    lock = filelock.FileLock(str(folder / LOCK_NAME), timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise LockedError(
            f"another process is using Chroma at {folder}",
            fix="wait for it to end; for many at once use a server: chroma run",
        ) from None
    try:
        yield
    finally:
        lock.release()
