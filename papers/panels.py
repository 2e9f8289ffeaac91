"""Figures of several panels as SVG text: matrices of values in their cells, and lines that look alike everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from proxembed.report.figures import COLOURS, INK, MARKERS, ramp, svg_text

DARK = 0.5  # of the range: values above it are written in white
MOST_WRITTEN = 12  # rows or columns of a matrix whose values are written


@dataclass(frozen=True)
class CellPanel:
    """One matrix: its title, what rows and columns are, their numbers, and values of shape (rows, columns)."""

    title: str
    x: str
    y: str
    columns: Sequence[float]
    rows: Sequence[float]
    values: np.ndarray
    outlined: np.ndarray | None = None


def cell_panels(panels: Sequence[CellPanel], note: str) -> str:
    """Draw matrices beside each other, dark where values are large, each with a scale of its own."""
    if not panels:
        raise ValueError("there are no panels; give at least one.")
    for panel in panels:
        shape = len(panel.rows), len(panel.columns)
        if panel.values.shape != shape:
            raise ValueError(f"{panel.title}: values have shape {panel.values.shape}; {shape} is needed.")
        if panel.outlined is not None and panel.outlined.shape != shape:
            raise ValueError(f"{panel.title}: outlined has shape {panel.outlined.shape}; {shape} is needed.")

    def draw(figure: Any) -> None:
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False).ravel(), panels, strict=True):
            _draw_cells(axes, panel)
        figure.supxlabel(note, fontsize=9)

    return svg_text((4.6 * len(panels), 4.2), draw, note)


def _draw_cells(axes: Any, panel: CellPanel) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    values = panel.values
    shade = (values - values.min()) / max(float(np.ptp(values)), 1e-12)
    colours = LinearSegmentedColormap.from_list("ramp", ramp())
    axes.pcolormesh(shade, cmap=colours, vmin=0.0, vmax=1.0, edgecolors="white", linewidth=0.5)
    title = panel.title
    if max(values.shape) <= MOST_WRITTEN:
        _write(axes, values, shade)
    else:
        title = f"{title}: {values.min():.2f} (light) to {values.max():.2f} (dark)"
    if panel.outlined is not None:
        _outline(axes, panel.outlined)
    columns, rows = (_spaced(len(each)) for each in (panel.columns, panel.rows))
    axes.set_xticks(columns + 0.5, [f"{panel.columns[i]:g}" for i in columns])
    axes.set_yticks(rows + 0.5, [f"{panel.rows[i]:g}" for i in rows])
    axes.tick_params(length=0, labelsize=8)
    axes.set(xlabel=panel.x, ylabel=panel.y)
    axes.set_title(title, fontsize=10)
    for side in axes.spines.values():
        side.set_visible(False)


def _write(axes: Any, values: np.ndarray, shade: np.ndarray) -> None:
    """Every value in its cell."""
    for (i, j), value in np.ndenumerate(values):
        ink = "white" if shade[i, j] > DARK else INK
        axes.text(j + 0.5, i + 0.5, f"{value:.2f}".lstrip("0"), color=ink, fontsize=7, ha="center", va="center")


def _outline(axes: Any, outlined: np.ndarray) -> None:
    """A line wherever an outlined cell meets another cell or the edge."""
    padded = np.pad(outlined.astype(int), 1)
    for (i, j), turned in np.ndenumerate(np.diff(padded, axis=0)[:, 1:-1]):
        if turned:
            axes.plot([j, j + 1], [i, i], color=COLOURS[1], linewidth=1.2, clip_on=False)
    for (i, j), turned in np.ndenumerate(np.diff(padded, axis=1)[1:-1]):
        if turned:
            axes.plot([j, j], [i, i + 1], color=COLOURS[1], linewidth=1.2, clip_on=False)


def _spaced(count: int) -> np.ndarray:
    """Numbers of the ticks: of many cells every second, third or so."""
    return np.arange(0, count, -(-count // MOST_WRITTEN))


LINE_STYLES = ("-", "--", ":", "-.")
WIDTH = 9.6  # inches
LETTER, HANDLE = 0.075, 0.6  # inches of a legend: a letter of a name, the line before it


@dataclass(frozen=True)
class Panel:
    """Lines of one panel by name, each its x and its y, and levels: values that hold for every x."""

    title: str
    x: str
    y: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    levels: Mapping[str, float] = field(default_factory=dict)
    xscale: str = "linear"
    yscale: str = "linear"
    errors: Mapping[str, Sequence[float]] = field(default_factory=dict)


def line_panels(panels: Sequence[Panel], across: int, note: str, *, marks: bool = True) -> str:
    """Draw panels in rows of a fixed length; a name looks the same in all of them."""
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
        _draw_lines(axes, panel, looks)
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
            "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
            "marker": MARKERS[i % len(MARKERS)] if marks else "",
        }
        for i, name in enumerate(names)
    }


def _draw_lines(axes: Any, panel: Panel, looks: Mapping[str, dict[str, Any]]) -> None:
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
