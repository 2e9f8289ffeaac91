"""The scores of the entrants as a figure: the mean of the draws with its interval, and every draw.  [mu2012mesd]"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.mesd_mope.draws import Scores
from papers.rule import LEVEL, over_rows
from proxembed.report.figures import COLOURS, svg_text

WIDTH, ROW, EDGES = 9.4, 0.28, 1.5  # inches: of the figure, of an entrant's line, of all above and below the lines
SHAPES = ("o", "s", "^", "D", "v", "P", "X")


def score_figure(scores: Scores, title: str) -> str:
    """Draw the test scores: a line an entrant, the best first, a colour and a shape for each kind.

    Parameters
    ----------
    scores : Scores
    title : str

    Returns
    -------
    str
        SVG markup without an XML head.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.draws import Scores
    >>> from papers.mesd_mope.figure import score_figure
    >>> score_figure(Scores({"PCA": np.array([[0.8], [0.9]])}, {"unsupervised": ["PCA"]}, 100), "made")[:4]
    '<svg'
    """
    names = sorted(scores.values, key=lambda name: -scores.values[name].mean())
    draws = max((len(each) for each in scores.values.values()), default=0)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for number, group in enumerate(scores.groups):
            colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
            for place, name in enumerate(name for name in scores.groups[group] if name in scores.values):
                label = group if place == 0 else None
                _line(axes, scores, name, names.index(name), {"color": colour, "marker": shape, "label": label})
        axes.set(ylim=(len(names) - 0.5, -0.5))
        axes.set_xlabel(f"macro F1 of the test part (share; n = {scores.test:,.0f} documents, {draws} draws)")
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)
        axes.grid(axis="both", color="#e4e4e4", linewidth=0.7)
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        figure.legend(loc="outside upper left", ncols=3, frameon=False, title=_legend())

    return svg_text((WIDTH, EDGES + ROW * len(names)), draw, title)


def _legend() -> str:
    return f"Mean of the draws with its {100 * LEVEL:.0f} % interval; rings are the draws"


def _line(axes: Any, scores: Scores, name: str, row: int, look: dict[str, Any]) -> None:
    """The draws of an entrant as rings, its mean, and the interval of the mean."""
    values, colour = scores.values[name], look["color"]
    mean = over_rows(scores.cells[name])
    if np.isfinite(mean.error):
        axes.plot(list(mean.interval()), [row, row], color=colour, linewidth=1.2, gid=f"interval-{row}")
    axes.plot(values, [row] * len(values), linestyle="", marker="o", markersize=4, markerfacecolor="none",
              markeredgecolor=colour, markeredgewidth=0.7)  # fmt: skip
    axes.plot([mean.mean], [row], linestyle="", markersize=7, markeredgewidth=0, gid=f"mean-{row}", **look)
