"""What all figures share: colours safe for colour-blind readers, the empty sheet, and saving it.

Colours are Okabe and Ito's (Color Universal Design, 2008). No two kinds differ by colour alone:
hatches and markers go with them. Nothing here touches a screen or pyplot's global state.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citespan.errors import MissingExtraError
from citespan.evaluate.metrics import LOWER_IS_BETTER, Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
HATCHES = ("", "//", "..", "xx", "\\\\", "oo", "--", "++")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#595959"


def save_figure(figure: Figure, path: Path | str) -> list[Path]:
    """Write a figure as PNG and as SVG beside it; the same figure gives the same bytes.

    Returns
    -------
    list of Path
        The two files; ``path`` may have either ending or none.
    """
    import matplotlib

    base = Path(path)
    if base.suffix.lower() in (".png", ".svg"):
        base = base.with_suffix("")
    files = [base.with_name(f"{base.name}.{ending}") for ending in ("png", "svg")]
    with matplotlib.rc_context({"svg.hashsalt": "citespan", "svg.fonttype": "path"}):
        figure.savefig(files[0], dpi=150, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None, "Creator": None})
    return files


def start_figure(*, width: float, height: float, rows: int = 1) -> tuple[Figure, Any]:
    """Return a figure and its axes (a list of them for several rows), without pyplot."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", extra="figures") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.09, h_pad=0.09)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(rows, 1, sharex=rows > 1, squeeze=False)[:, 0]
    for axes in grid:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="both", color="#E6E6E6", linewidth=0.7)
        axes.set_axisbelow(True)
    return figure, (grid[0] if rows == 1 else list(grid))


def set_title(axes: Axes, title: str, note: str, *, share: float = 0.85) -> None:
    """Write a bold title and a grey note over a figure, wrapped to its width.

    ``share`` says how much of the figure's width the axes, over which the note stands, take up.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    width = figure.get_size_inches()[0]
    bold = wrap_text(title, int(width * 9))
    figure.suptitle(bold, x=0.01, ha="left", weight="bold", fontsize=12)
    axes.set_title(wrap_text(note, int(width * share * 15)), loc="left", fontsize=9, color=GREY)


def say_direction(metric: Metric) -> str:
    """Return which way is better, in words."""
    return "lower is better" if metric.stem in LOWER_IS_BETTER else "higher is better"


def pick_colour(place: int) -> str:
    """Return the colour of the nth kind."""
    return PALETTE[place % len(PALETTE)]


def pick_hatch(place: int) -> str:
    """Return the hatch of the nth kind."""
    return HATCHES[place % len(HATCHES)]


def pick_marker(place: int) -> str:
    """Return the marker of the nth kind."""
    return MARKERS[place % len(MARKERS)]


def shorten(text: str, limit: int) -> str:
    """Return a text as one line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def wrap_text(label: str, width: int = 14) -> str:
    """Return a label broken into lines of about ``width`` characters."""
    return "\n".join(
        piece for line in label.split("\n") for piece in textwrap.wrap(line, width) or [""]
    )
