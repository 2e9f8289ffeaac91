"""Matrices as shaded cells, small ones with their values, side by side as one SVG: a measure over two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .figures import COLOURS, INK, ramp, svg_text

DARK = 0.5  # of the range: values above it are written in white
MOST_WRITTEN = 12  # rows or columns of a matrix whose values are written


@dataclass(frozen=True)
class CellPanel:
    """One matrix: its title, what rows and columns are, their numbers, and values of shape (rows, columns).

    ``outlined``: bool of that shape, the cells about which a line is drawn.
    """

    title: str
    x: str
    y: str
    columns: Sequence[float]
    rows: Sequence[float]
    values: np.ndarray
    outlined: np.ndarray | None = None


def cell_panels(panels: Sequence[CellPanel], note: str) -> str:
    """Draw matrices beside each other, dark where values are large, each with a scale of its own.

    With more than twelve rows or columns their titles have the range in place of the values in the cells.

    Parameters
    ----------
    panels : sequence of CellPanel
        At least one.
    note : str
        Below the panels: what was measured on how many rows.

    Returns
    -------
    str
        SVG markup without an XML head, its text kept as text.

    Raises
    ------
    ValueError
        There is no panel, or values have another shape than rows and columns.

    Examples
    --------
    >>> from proxembed.report.cell_panels import CellPanel, cell_panels
    >>> cell_panels([CellPanel("made", "H", "alpha", [0.3, 0.6], [0.1], np.array([[0.5, 0.7]]))], "n = 2")[:4]
    '<svg'
    """
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
            _draw(axes, panel)
        figure.supxlabel(note, fontsize=9)

    return svg_text((4.6 * len(panels), 4.2), draw, note)


def _draw(axes: Any, panel: CellPanel) -> None:
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
