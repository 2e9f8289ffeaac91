"""The figures of the page: mean ranks with their intervals, and ranks against seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.entrants import OUTSIDE, OWN, RIVAL, SEMI, SUPERVISED, UNSUPERVISED
from benchmarks.findings import Interval
from proxembed.report.figures import COLOURS, svg_text

WIDTH, ROW, EDGES = 8.4, 0.215, 1.6  # inches: of the figure, of a method's line, of all above and below the lines
LOOKS = {
    SUPERVISED: (COLOURS[0], "o"),
    SEMI: (COLOURS[1], "D"),
    OWN: (COLOURS[3], "^"),
    UNSUPERVISED: (COLOURS[2], "s"),
    RIVAL: (COLOURS[6], "X"),
    OUTSIDE: (COLOURS[4], "P"),
}


def rank_figure(title: str, ranks: Mapping[str, Interval], kinds: Mapping[str, str], n_sets: int) -> str:
    """Mean rank of each method, best at the top, with a bar for its interval; colour and shape say its kind.

    Examples
    --------
    >>> from benchmarks.figures import rank_figure
    >>> from benchmarks.findings import Interval
    >>> rank_figure("made", {"OPLS": Interval(1.0, 1.0, 1.0)}, {"OPLS": "labels"}, 3)[:4]
    '<svg'
    """

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for row, (name, at) in enumerate(ranks.items()):
            colour, shape = LOOKS[kinds[name]]
            axes.plot([at.low, at.high], [row, row], color=colour, linewidth=1.8, alpha=0.55, solid_capstyle="butt")
            axes.plot([at.mean], [row], color=colour, marker=shape, markersize=6.5, markeredgewidth=0)
        axes.set(xlim=(0.0, len(ranks) + 1.0), ylim=(len(ranks) - 0.4, -0.6))
        axes.set_xlabel(
            f"mean rank among {len(ranks)} methods, n = {n_sets} data sets\n(1 is best; bars: 95 %, sets drawn again)"
        )
        axes.set_yticks(range(len(ranks)), list(ranks))
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        _legend(figure, set(kinds[name] for name in ranks))

    return svg_text((WIDTH, EDGES + ROW * len(ranks)), draw, title)


def cost_figure(
    title: str, ranks: Mapping[str, Interval], seconds: Mapping[str, float], kinds: Mapping[str, str], n_sets: int
) -> str:
    """Mean rank against the median CPU seconds per fold; those named are better than all that are as fast."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        for name, at in ranks.items():
            colour, shape = LOOKS[kinds[name]]
            look = {"color": colour, "marker": shape, "markersize": 7, "markeredgewidth": 0, "alpha": 0.85}
            axes.plot([seconds[name]], [at.mean], **look)
        for name in front(ranks, seconds):
            place = {"xytext": (-5, 5), "textcoords": "offset points", "ha": "right", "fontsize": 9}
            axes.annotate(name, (seconds[name], ranks[name].mean), **place)  # nothing stands there
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="median CPU seconds per fold: tuning, last fit, read-outs (log scale)")
        axes.set_ylabel(f"mean rank among {len(ranks)} methods, n = {n_sets} data sets (1 is best)")
        axes.margins(x=0.16, y=0.1)
        axes.invert_yaxis()
        axes.grid(color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        _legend(figure, set(kinds[name] for name in ranks))

    return svg_text((WIDTH, 5.4), draw, title)


def front(ranks: Mapping[str, Interval], seconds: Mapping[str, float]) -> list[str]:
    """The methods of lower mean rank than all that are as fast or faster, fastest first.

    Examples
    --------
    >>> from benchmarks.figures import front
    >>> from benchmarks.findings import Interval
    >>> ranks = {"a": Interval(1, 1, 1), "b": Interval(2, 2, 2), "c": Interval(3, 3, 3)}
    >>> front(ranks, {"a": 5.0, "b": 1.0, "c": 2.0})
    ['b', 'a']
    """
    found: list[str] = []
    for name in sorted(ranks, key=lambda name: (seconds[name], ranks[name].mean)):
        if not found or ranks[name].mean < ranks[found[-1]].mean:
            found.append(name)
    return found


def _legend(figure: Any, kinds: set[str]) -> None:
    from matplotlib.lines import Line2D

    shown = [
        Line2D([], [], color=colour, marker=shape, linestyle="", markeredgewidth=0, label=kind)
        for kind, (colour, shape) in LOOKS.items()
        if kind in kinds
    ]
    figure.legend(handles=shown, loc="outside upper left", ncols=len(shown), frameon=False, handletextpad=0.2)
