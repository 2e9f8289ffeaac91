"""A figure as SVG text: one line an entrant, one dot a column (a data set, or a share of labelled rows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxembed.report.figures import COLOURS, svg_text

WIDTH, ROW, EDGES = 9.4, 0.25, 1.3  # inches: of the figure, of an entrant's line, of all above and below the lines
TICKS = [tick / 10 for tick in range(11)]
SHAPES = ("o", "s")


def dot_plot(title: str, axis: str, rows: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> str:
    """Draw values from 0 to 1: rows of dots, a colour and a shape for each column.

    Parameters
    ----------
    title, axis : str
    rows : mapping of str to mapping of str to float
        For each entrant the value in each column; columns that it lacks have no dot.
    columns : sequence of str
        In the order of the legend.

    Returns
    -------
    str
        SVG markup without an XML head, its text kept as text.

    Examples
    --------
    >>> from papers.dots import dot_plot
    >>> dot_plot("made", "macro F1", {"PCA": {"yeast": 0.5}}, ["yeast"])[:4]
    '<svg'
    """

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for number, column in enumerate(columns):
            places = enumerate(values.get(column) for values in rows.values())
            known = [(value, row) for row, value in places if value is not None]
            colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number // len(COLOURS) % len(SHAPES)]
            look = {"color": colour, "marker": shape, "linestyle": "", "markersize": 7.5, "markeredgewidth": 0}
            x, y = [value for value, _ in known], [row for _, row in known]
            axes.plot(x, y, label=column, alpha=0.85, clip_on=False, zorder=3, gid=f"column-{number}", **look)
        _frame(axes, axis, list(rows))
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        figure.legend(loc="outside upper left", ncols=min(len(columns), 8), frameon=False, handletextpad=0.2)

    return svg_text((WIDTH, EDGES + ROW * len(rows)), draw, title)


def _frame(axes: Any, axis: str, names: Sequence[str]) -> None:
    """Axes from 0 to 1, and from the first entrant at the top to the last."""
    axes.set(xlim=(0.0, 1.0), ylim=(len(names) - 0.5, -0.5), xlabel=axis)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.grid(axis="y", color="#eeeeee", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
