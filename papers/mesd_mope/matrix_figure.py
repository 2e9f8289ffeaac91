"""Matrices side by side as one figure, as means of blocks where the rows are many.  [mu2012mesd]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from proxembed.report.figures import shades, svg_text

BLOCKS = 150
ACROSS, SIDE = 4, 2.9  # panels in a row; inches of a panel
CLIPPED = 99.5  # percentile of the blocks of a matrix that has the darkest shade


def block_means(values: np.ndarray, blocks: int = BLOCKS, wide: bool = True) -> np.ndarray:
    """The means of at most ``blocks`` x ``blocks`` blocks of a matrix, in their order; of all its columns where not
    ``wide``.

    Blocks are of equal size, up to one row or column.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.matrix_figure import block_means
    >>> block_means(np.arange(16.0).reshape(4, 4), 2)
    array([[ 2.5,  4.5],
           [10.5, 12.5]])
    """
    for axis in (0, 1) if wide else (0,):
        n = values.shape[axis]
        ends = np.linspace(0, n, min(blocks, n) + 1).astype(int)
        shape = [1, 1]
        shape[axis] = -1
        values = np.add.reduceat(values, ends[:-1], axis=axis) / np.diff(ends).reshape(shape)
    return values


def matrix_figure(
    matrices: Mapping[str, np.ndarray], columns: Sequence[str], told: Mapping[str, str], note: str
) -> str:
    """Draw matrices of the same rows in the same order, each with shades from 0 to a scale of its own.

    Parameters
    ----------
    matrices : mapping of str to array
        Of shape (n, n); one of another width has ``columns``.
    columns : sequence of str
        Names of the columns of a matrix that is not square.
    told : mapping of str to str
        What stands beside the name of a matrix, such as a score.
    note : str
        Below the panels.

    Returns
    -------
    str
        SVG markup without an XML head.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.mesd_mope.matrix_figure import matrix_figure
    >>> matrix_figure({"W": np.eye(3)}, [], {"W": "0.9"}, "n = 3 rows")[:4]
    '<svg'
    """
    down = -(-len(matrices) // ACROSS)

    def draw(figure: Any) -> None:
        panels = figure.subplots(down, ACROSS, squeeze=False).ravel()
        for number, ((name, values), axes) in enumerate(zip(matrices.items(), panels, strict=False)):
            _panel(axes, values, columns, number)
            axes.set_title(f"{name} ({told[name]})" if name in told else name, fontsize=9)
        for axes in panels[len(matrices) :]:
            axes.set_visible(False)
        figure.supxlabel(note, fontsize=9)

    return svg_text((ACROSS * SIDE, down * SIDE + 0.7), draw, "proximity matrices")


def _panel(axes: Any, values: np.ndarray, columns: Sequence[str], number: int) -> None:
    """One matrix: light at 0 and below, dark from the 99.5th percentile of its blocks on."""
    from matplotlib.colors import ListedColormap

    n, square = len(values), values.shape[0] == values.shape[1]
    shown = block_means(values, wide=square)
    top = float(np.percentile(shown, CLIPPED)) or float(shown.max()) or 1.0
    look = {"cmap": ListedColormap(shades() / 255.0), "vmin": 0.0, "vmax": top, "interpolation": "none"}
    width = n if square else values.shape[1]
    axes.imshow(shown, extent=(0, width, n, 0), aspect="auto", gid=f"matrix-{number}", **look)
    marks = np.linspace(0, n, 4).astype(int)
    axes.set_yticks(marks, [f"{mark:,}" for mark in marks], fontsize=6)
    axes.tick_params(length=2)
    if square:
        axes.set_xticks(marks, [f"{mark:,}" for mark in marks], fontsize=6)
    else:
        axes.set_xticks(np.arange(width) + 0.5, list(columns), fontsize=6, rotation=90)
