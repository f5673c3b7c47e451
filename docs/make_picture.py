"""Draw docs/terminal.svg: what two questions to data/corpus really print.

Run it with ``make docs`` after the output of ``citespan ask`` changed.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = Path(__file__).with_name("terminal.svg")
WIDTH = 92
QUESTIONS = (
    "How often should a hive be opened in the swarming season?",
    "年假有多少天？",
    "Who won the football world cup in 1998?",
)
LINES = 9
"""Lines shown of a longer answer."""


def ask(question: str, index: str) -> str:
    """Return what the command prints for a question."""
    command = [sys.executable, "-m", "citespan", "ask", question, "--docs", "corpus"]
    ran = subprocess.run(
        [*command, "--index", index],
        cwd=ROOT / "data",
        env={**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.rstrip()


def main() -> None:
    """Run the questions and write the picture."""
    from rich.console import CONSOLE_SVG_FORMAT, Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO())
    # The index stands beside the corpus for a moment, so that names are short.
    with tempfile.TemporaryDirectory(dir=ROOT / "data", prefix=".index-") as index:
        for question in QUESTIONS:
            shown = ask(question, index).splitlines()
            rest = ["…"] if len(shown) > LINES else []
            console.print(
                Text.assemble(("$ ", "bold green"), f'citespan ask "{question}" --docs corpus')
            )
            console.print(Text("\n".join([*shown[:LINES], *rest])))
            console.print()
    # Without the fonts that would be fetched from elsewhere: the reader's own will do.
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code", "ui-monospace")
    picture = console.export_svg(title="citespan", code_format=form, unique_id="citespan")
    PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
