"""Matrices as shaded cells with their values, side by side as one SVG: a measure over two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .figures import INK, ramp, svg_text

DARK = 0.5  # of the range: values above it are written in white


@dataclass(frozen=True)
class Cells:
    """One matrix: its title, what rows and columns are, their numbers, and values of shape (rows, columns)."""

    title: str
    x: str
    y: str
    columns: Sequence[float]
    rows: Sequence[float]
    values: np.ndarray


def cell_panels(panels: Sequence[Cells], note: str) -> str:
    """Draw matrices beside each other, dark where values are large, each with a scale of its own.

    Parameters
    ----------
    panels : sequence of Cells
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
    >>> from proxembed.report.cell_panels import Cells, cell_panels
    >>> cell_panels([Cells("made", "H", "alpha", [0.3, 0.6], [0.1], np.array([[0.5, 0.7]]))], "n = 2")[:4]
    '<svg'
    """
    if not panels:
        raise ValueError("there are no panels; give at least one.")
    for panel in panels:
        shape = len(panel.rows), len(panel.columns)
        if panel.values.shape != shape:
            raise ValueError(f"{panel.title}: values have shape {panel.values.shape}; {shape} is needed.")

    def draw(figure: Any) -> None:
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False).ravel(), panels, strict=True):
            _draw(axes, panel)
        figure.supxlabel(note, fontsize=9)

    return svg_text((4.6 * len(panels), 4.2), draw, note)


def _draw(axes: Any, panel: Cells) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    values = panel.values
    shade = (values - values.min()) / max(float(np.ptp(values)), 1e-12)
    colours = LinearSegmentedColormap.from_list("ramp", ramp())
    axes.pcolormesh(shade, cmap=colours, vmin=0.0, vmax=1.0, edgecolors="white", linewidth=0.5)
    for (i, j), value in np.ndenumerate(values):
        ink = "white" if shade[i, j] > DARK else INK
        axes.text(j + 0.5, i + 0.5, f"{value:.2f}".lstrip("0"), color=ink, fontsize=7, ha="center", va="center")
    axes.set_xticks(np.arange(len(panel.columns)) + 0.5, [f"{each:g}" for each in panel.columns])
    axes.set_yticks(np.arange(len(panel.rows)) + 0.5, [f"{each:g}" for each in panel.rows])
    axes.tick_params(length=0, labelsize=8)
    axes.set(xlabel=panel.x, ylabel=panel.y)
    axes.set_title(panel.title, fontsize=10)
    for side in axes.spines.values():
        side.set_visible(False)
