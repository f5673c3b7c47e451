"""Who may import whom, what may be loaded when, and how long a file may be.

The layers, low to high; arrows point down only:

0 ``types spans errors plain`` · 1 ``text tokens weights config protocols`` · 2 the stages, which
never import each other · 2.5 ``stores``, which of the stages may import ``index`` ·
3 ``registry`` · 4 ``pipeline`` · 5 ``evaluate`` · 6 ``cli server adapters``.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from support import ROOT

SOURCE = ROOT / "src" / "citespan"
FILES = sorted(SOURCE.rglob("*.py"))

STAGES = (
    *("load", "split", "embed", "index", "retrieve"),
    *("expand", "gate", "prompt", "generate", "verify"),
)
LAYERS: dict[str, float] = {
    **dict.fromkeys(("types", "spans", "errors", "plain"), 0),
    **dict.fromkeys(("text", "tokens", "weights", "config", "protocols"), 1),
    **dict.fromkeys(STAGES, 2),
    "stores": 2.5,
    "registry": 3,
    "pipeline": 4,
    "evaluate": 5,
    **dict.fromkeys(("cli", "server", "adapters"), 6),
    "__main__": 7,
}
# Within a layer nobody imports a neighbour, with these exceptions.
NEIGHBOURS = {("spans", "types"), ("weights", "text")}

TOP_LEVEL = {"numpy": None, "regex": None, "click": "cli"}
"""Third-party packages that may be imported at the top of a file, and in which part only."""

LIMIT = 350


class Import(NamedTuple):
    """One imported module: where, what, and whether it is loaded when the file is."""

    file: Path
    line: int
    module: str
    at_top: bool

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def module_name(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit(module: str) -> str:
    """Return the part of citespan that a module belongs to; empty for the package root."""
    return module.split(".")[1] if "." in module else ""


NAMES = {module_name(file): file for file in FILES}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def walk_imports(node: ast.AST, file: Path, at_top: bool = True) -> Iterator[Import]:
    """Yield all imports of a file; ``from package import module`` names the module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(file, child.lineno, alias.name, at_top)
        elif isinstance(child, ast.ImportFrom):
            base = "." * child.level + (child.module or "")
            for alias in child.names:
                name = f"{base}.{alias.name}"
                yield Import(file, child.lineno, name if name in NAMES else base, at_top)
        else:
            later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            now = at_top and not later and not is_type_checking(child)
            yield from walk_imports(child, file, now)


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(found for file in FILES for found in walk_imports(parse(file), file))


def own_imports() -> Iterator[Import]:
    return (i for i in all_imports() if i.module.split(".")[0] == "citespan")


def may_import(importer: str, imported: str) -> bool:
    """Say whether one part of citespan may import another."""
    if importer in ("", imported):
        return True  # the package root shows names of all layers
    if importer == "stores" and imported in STAGES:
        return imported == "index"
    if (importer, imported) in NEIGHBOURS:
        return True
    return LAYERS[imported] < LAYERS[importer]


def test_each_part_has_a_layer():
    parts = {unit(name) for name in NAMES} - {""}
    assert parts <= set(LAYERS), f"which layer are these in? {parts - set(LAYERS)}"


def test_arrows_point_down():
    wrong = [
        i.place
        for i in own_imports()
        if unit(i.module) and not may_import(unit(module_name(i.file)), unit(i.module))
    ]
    assert wrong == []


def test_the_rule_refuses_what_it_should():
    assert may_import("stores", "index")
    assert not may_import("stores", "embed")
    assert not may_import("gate", "retrieve")
    assert not may_import("text", "load")
    assert not may_import("evaluate", "cli")


def test_nobody_imports_the_package_root():
    assert [i.place for i in own_imports() if i.module == "citespan"] == []


def test_imports_are_absolute():
    assert [i.place for i in all_imports() if i.module.startswith(".")] == []


def test_heavy_libraries_are_imported_where_they_are_used():
    wrong = []
    for found in all_imports():
        package = found.module.split(".")[0]
        if not found.at_top or package == "citespan" or package in sys.stdlib_module_names:
            continue
        only_in = TOP_LEVEL.get(package, "nowhere")
        if only_in not in (None, unit(module_name(found.file))):
            wrong.append(found.place)
    assert wrong == [], "move these into the function that needs them (or under TYPE_CHECKING)"


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return one cycle as the names on it, or an empty list."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for target in sorted(graph.get(name, ())):
            if cycle := visit(target, [*path, name]):
                return cycle
        done.add(name)
        return []

    return next((cycle for name in sorted(graph) if (cycle := visit(name, []))), [])


def test_no_import_cycles():
    # Imports inside functions count: hiding an arrow does not turn it round.
    graph: dict[str, set[str]] = {}
    for found in own_imports():
        graph.setdefault(module_name(found.file), set()).add(found.module)
    assert find_cycle(graph) == []


def test_cycles_are_found():
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_plain_imports_nothing_but_math_and_collections():
    found = {i.module for i in all_imports() if i.file == SOURCE / "plain.py"}
    assert found == {"math", "collections"}


def test_imports_are_seen_as_they_stand():
    code = (
        "import a.b\n"
        "if TYPE_CHECKING:\n    import c\n"
        "try:\n    import d\nexcept ImportError:\n    pass\n"
        "def f():\n    import e\n"
        "class K:\n    import g\n    def m(self):\n        from h import i\n"
    )
    found = {i.module: i.at_top for i in walk_imports(ast.parse(code), SOURCE)}
    assert found == {"a.b": True, "c": False, "d": True, "e": False, "g": True, "h": False}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.relative_to(SOURCE).as_posix())
def test_file_is_short_enough_to_read(file):
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= LIMIT, f"{lines} lines, at most {LIMIT}: it holds more than one idea"


def public_parts(
    node: ast.Module | ast.ClassDef, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if child.name.startswith("_"):
                continue
            yield f"{prefix}{child.name}", child
            if isinstance(child, ast.ClassDef):
                yield from public_parts(child, f"{prefix}{child.name}.")


def test_public_things_have_docstrings():
    silent = []
    for file in FILES:
        silent += [
            f"{module_name(file)}.{name}"
            for name, part in public_parts(parse(file))
            if not ast.get_docstring(part)
        ]
        if not ast.get_docstring(parse(file)):
            silent.append(module_name(file))
    assert silent == []


MACHINE = re.compile(r"/(?:work|tmp|root|home/[a-z]\w*|Users/\w+|var/folders)/|[A-Z]:\\Users\\")


TEXTS = ["src", "docs", "main.py", "Makefile", "README.md", "CONTRIBUTING.md", "pyproject.toml"]


@pytest.mark.parametrize("part", TEXTS)
def test_no_path_of_some_machine(part):
    base = ROOT / part
    wrong = []
    for file in sorted(base.rglob("*")) if base.is_dir() else [base]:
        if file.suffix in {".py", ".md", ".toml", ""} and file.is_file():
            for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
                if MACHINE.search(line):
                    wrong.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert wrong == []


def loaded_packages(code: str) -> set[str]:
    """Return the third-party packages that a fresh Python has loaded after running some code."""
    report = "import sys, json; print(); print(json.dumps(list(sys.modules)))"

    def run(first: str) -> set[str]:
        result = subprocess.run(
            [sys.executable, "-c", f"{first}\n{report}"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return {name.split(".")[0] for name in json.loads(result.stdout.splitlines()[-1])}

    return run(code) - run("") - sys.stdlib_module_names - {"citespan"}


HELP = """
from citespan.cli import main
try:
    main(["--help"])
except SystemExit as stop:
    assert not stop.code
"""


@pytest.mark.parametrize(
    ("code", "allowed"),
    [("import citespan", {"numpy"}), (HELP, {"numpy", "click", "colorama"})],
    ids=["import", "help"],
)
def test_start_loads_nothing_heavy(code, allowed):
    # Not a timing, which would depend on the machine, but what costs the time.
    loaded = {name for name in loaded_packages(code) if not name.startswith("_")}
    assert loaded <= allowed


def test_loading_is_seen():
    assert "scipy" in loaded_packages("import scipy.sparse")
