"""The documentation is tested: links resolve, examples run, and each command is documented.

A fenced block marked ``python`` that holds ``>>>`` is an example: the blocks of a page are run in
order, as one session, and must print what the page says. Blocks without ``>>>`` are only sketches.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
from pathlib import Path

import click
import pytest

from support import ROOT

DOCS = sorted((ROOT / "docs").glob("**/*.md"))
PAGES = [*(p for p in sorted(ROOT.glob("*.md"))), *DOCS]

FENCE = re.compile(r"^```[ \t]*(?P<tag>[^\n`]*)\n(?P<body>.*?)^```[ \t]*$", re.M | re.S)
LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)\n]*\)|^\[[^\]\n]+\]:\s*<?(\S+?)>?\s*$", re.M)
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.M)
ANCHOR = re.compile(r"""<[^>]+\b(?:id|name)=["']([^"']+)""")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def heading_anchors(text: str) -> set[str]:
    """Return the ids that a Markdown page gives its headings (GitHub's rule)."""
    anchors: set[str] = set(ANCHOR.findall(text))
    for title in HEADING.findall(FENCE.sub("", text)):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        count = 0
        while (candidate := f"{anchor}-{count}" if count else anchor) in anchors:
            count += 1
        anchors.add(candidate)
    return anchors


def broken_links(page: Path) -> list[str]:
    """Return the relative links of a page whose file or heading is not there, with the reason."""
    wrong = []
    text = page.read_text(encoding="utf-8")
    for target in (a or b for a, b in LINK.findall(without_code(text))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue  # an address; the tests never go to the network
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            wrong.append(f"{target}: no such file")
        elif not file.is_relative_to(ROOT):
            wrong.append(f"{target}: leads out of the project")
        elif (
            anchor
            and file.suffix == ".md"
            and anchor not in heading_anchors(file.read_text(encoding="utf-8"))
        ):
            wrong.append(f"{target}: no such heading")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_resolve(page):
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# A heading, twice\n# A heading, twice\n", "utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[ok](other.md) [ok](other.md#a-heading-twice-1) [web](https://example.org/x) `[c](d)`\n"
        "[gone](gone.md) [gone](other.md#nowhere) [out](../)\n\n[ref]: lost.md\n"
        "```text\n[in code](nothing.md)\n```\n",
        "utf-8",
    )
    assert broken_links(page) == [
        "gone.md: no such file",
        "other.md#nowhere: no such heading",
        "../: leads out of the project",
        "lost.md: no such file",
    ]


def find_examples(page: Path) -> list[doctest.Example]:
    """Return a page's examples, with the lines on which they stand."""
    text = page.read_text(encoding="utf-8")
    examples = []
    for match in FENCE.finditer(text):
        if match["tag"].split()[:1] == ["python"] and ">>>" in match["body"]:
            first = text.count("\n", 0, match.start("body"))
            for example in doctest.DocTestParser().get_examples(match["body"], name(page)):
                example.lineno += first
                examples.append(example)
    return examples


@pytest.mark.parametrize("page", [p for p in PAGES if find_examples(p)], ids=name)
def test_examples_print_what_the_page_says(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    examples = find_examples(page)
    session = doctest.DocTest(examples, {}, name(page), str(page), 0, page.read_text("utf-8"))
    report: list[str] = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=options).run(session, out=report.append)
    assert not report, "".join(report)


def test_first_principles_page_has_examples():
    assert len(find_examples(ROOT / "docs" / "first-principles.md")) > 10


# The command


def load_generator():
    spec = importlib.util.spec_from_file_location("make_cli", ROOT / "docs" / "make_cli.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cli():
    if not (ROOT / "docs" / "cli.md").exists():
        pytest.skip("docs/cli.md is not written yet; python docs/make_cli.py begins it")
    return importlib.import_module("citespan.cli.app").cli


def test_each_command_stands_in_the_page_with_its_own_help(cli):
    generator = load_generator()
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == generator.update_page(page, cli), "run: python docs/make_cli.py"


def test_each_command_and_option_says_what_it_does(cli):
    generator = load_generator()
    silent = []
    for path, command in generator.walk_commands(cli):
        if not (command.help or "").strip():
            silent.append(" ".join(path))
        for parameter in command.params:
            if parameter.param_type_name == "option" and not getattr(parameter, "help", None):
                silent.append(f"{' '.join(path)} {parameter.opts[0]}")
    assert silent == []


def test_page_is_rewritten_between_its_markers_only():
    generator = load_generator()

    @click.group()
    def tool():
        """Do things."""

    @tool.command()
    @click.option("--fast", is_flag=True, help="Hurry.")
    def greet(fast):
        """Say hello."""

    page = f"# By hand\n\n{generator.BEGIN}\nold\n{generator.END}\n\nMore by hand.\n"
    new = generator.update_page(page, tool)
    assert new.startswith(f"# By hand\n\n{generator.BEGIN}\n")
    assert new.endswith(f"{generator.END}\n\nMore by hand.\n")
    assert "## citespan greet" in new
    assert "--fast" in new
    assert "old" not in new
    assert generator.update_page(new, tool) == new
    with pytest.raises(SystemExit, match="markers"):
        generator.update_page("# No markers\n", tool)
