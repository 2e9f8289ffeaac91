"""Small panels of lines as one SVG, with one legend: values of several methods over a number, a panel a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .figures import COLOURS, MARKERS, svg_text

DASHES = ("-", "--", ":", "-.")
WIDTH = 9.6  # inches
LETTER, HANDLE = 0.075, 0.6  # inches of a legend: a letter of a name, the line before it


@dataclass(frozen=True)
class Panel:
    """Lines of one panel by name, each its x and its y, and levels: values that hold for every x.

    ``errors`` holds half the length of the bars of a line, a number for each x; ``xscale`` and ``yscale`` are
    matplotlib's, such as "linear" or "log".
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    levels: Mapping[str, float] = field(default_factory=dict)
    xscale: str = "linear"
    yscale: str = "linear"
    errors: Mapping[str, Sequence[float]] = field(default_factory=dict)


def line_panels(panels: Sequence[Panel], across: int, note: str, *, marks: bool = True) -> str:
    """Draw panels in rows of a fixed length; a name looks the same in all of them.

    Parameters
    ----------
    panels : sequence of Panel
        At least one.
    across : int
        Panels a row.
    note : str
        Below the panels: what was measured on how many rows.
    marks : bool, default=True
        A mark at every value.

    Returns
    -------
    str
        SVG markup without an XML head, its text kept as text.

    Raises
    ------
    ValueError
        There is no panel, or a line's x, y and errors differ in length.

    Examples
    --------
    >>> from proxembed.report.line_panels import Panel, line_panels
    >>> line_panels([Panel("made", "k", "loss", {"PCA": ([1, 2], [0.5, 0.4])})], 1, "n = 2")[:4]
    '<svg'
    """
    if not panels or across < 1:
        raise ValueError(f"there are {len(panels)} panels, {across} a row; give at least one of each.")
    for panel in panels:
        for name, (x, y) in panel.lines.items():
            if len(x) != len(y) or len(panel.errors.get(name, y)) != len(y):
                raise ValueError(
                    f"{panel.title}: {name} has {len(x)} x, {len(y)} y and {len(panel.errors.get(name, y))} errors; "
                    "give one of each for each x."
                )
    wide = max(2.9, WIDTH / across) if across > 1 else WIDTH / 2
    down = -(-len(panels) // across)

    def draw(figure: Any) -> None:
        import matplotlib

        with matplotlib.rc_context({"font.size": 9.5}):
            _fill(figure, panels, figure.subplots(down, across, squeeze=False).ravel(), _looks(panels, marks), across)
            figure.supxlabel(note, fontsize=9)

    return svg_text((wide * across, 0.86 * min(wide, 4.0) * down + 0.9), draw, note)


def _fill(figure: Any, panels: Sequence[Panel], places: Any, looks: Mapping[str, dict[str, Any]], across: int) -> None:
    """Every panel in its place, and one legend above them."""
    for axes, panel in zip(places, panels, strict=False):
        _draw(axes, panel, looks)
    for axes in places[len(panels) :]:
        axes.axis("off")
    handles: dict[str, Any] = {}
    for axes in places:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    named = [name for name in looks if name in handles]
    fit = int(figure.get_figwidth() / (LETTER * max(map(len, named), default=0) + HANDLE))
    columns, place = max(1, min(len(named), 2 * across, fit)), "outside upper left"
    figure.legend([handles[name] for name in named], named, loc=place, ncols=columns, frameon=False)


def _looks(panels: Sequence[Panel], marks: bool) -> dict[str, dict[str, Any]]:
    """Colour, mark and dash of each name in the order of its appearance."""
    names = dict.fromkeys(name for panel in panels for name in (*panel.lines, *panel.levels))
    return {
        name: {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": DASHES[i % len(DASHES)],
            "marker": MARKERS[i % len(MARKERS)] if marks else "",
        }
        for i, name in enumerate(names)
    }


def _draw(axes: Any, panel: Panel, looks: Mapping[str, dict[str, Any]]) -> None:
    for name, (x, y) in panel.lines.items():
        axes.plot(x, y, label=name, linewidth=1.5, markersize=4, **looks[name])
        if name in panel.errors:
            axes.errorbar(x, y, panel.errors[name], fmt="none", ecolor=looks[name]["color"], elinewidth=1)
    for name, level in panel.levels.items():
        axes.axhline(level, label=name, linewidth=1.3, **{**looks[name], "marker": ""})
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale=panel.xscale, yscale=panel.yscale)
    for axis, scale in ((axes.xaxis, panel.xscale), (axes.yaxis, panel.yscale)):
        if scale == "log":
            axis.set_major_formatter("{x:g}")  # matplotlib's powers of ten are mathematics, which is not parsed here
            axis.set_minor_formatter("")
    axes.title.set_fontsize(10)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
