"""The examples in the docstrings are run, module by module.

Only an example that needs an extra which is not installed is skipped, and says which.
"""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from citespan.errors import MissingExtraError
from support import ROOT

SOURCE = ROOT / "src" / "citespan"
MODULES = [
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__main__.py"  # importing that one runs the command
]


class Runner(doctest.DocTestRunner):
    """Remembers an extra that was missing instead of counting it as wrong."""

    missing: MissingExtraError | None = None

    def report_unexpected_exception(self, out, test, example, exc_info):
        if isinstance(exc_info[1], MissingExtraError):
            self.missing = exc_info[1]
        else:
            super().report_unexpected_exception(out, test, example, exc_info)


def run_examples(module) -> None:
    report: list[str] = []
    runner = Runner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=report.append)
    assert not report, "".join(report)
    if runner.missing:
        pytest.skip(str(runner.missing))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        module = importlib.import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    run_examples(module)


def example_module(docstring: str):
    module = type(doctest)("example")
    module.__doc__ = docstring
    return module


def test_wrong_example_fails():
    with pytest.raises(AssertionError, match="Expected:"):
        run_examples(example_module(">>> 1 + 1\n3\n"))


def test_missing_extra_skips_and_says_which():
    code = (
        ">>> from citespan.errors import MissingExtraError\n"
        ">>> raise MissingExtraError('chromadb', extra='chroma')\n"
    )
    with pytest.raises(pytest.skip.Exception, match=r"citespan\[chroma\]"):
        run_examples(example_module(code))


def test_there_are_modules_with_examples():
    assert {"citespan.plain", "citespan.spans", "citespan.retrieve.tfidf"} <= set(MODULES)
