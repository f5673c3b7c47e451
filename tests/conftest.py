"""Settings for every test: timings never decide one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from chroma_server import run_chroma

settings.register_profile("citespan", deadline=None)
settings.load_profile("citespan")


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server that ends with the tests."""
    with run_chroma(tmp_path_factory.mktemp("chroma")) as url:
        yield url
