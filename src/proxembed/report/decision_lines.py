"""Rows in two dimensions with the line at which each label's classifier decides: all lines together, then label by
label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .figures import COLOURS, STYLE
from .sections import SPREAD

LABELS = 8
KEY = (
    "n = {n:,} rows shown; triangles: rows with the label; shaded: where it is predicted (strokes point there); wrong: "
    "share of rows on the wrong side; never: of a rule that never predicts the label"
)
POSITIVE, NEGATIVE = COLOURS[1], "#9aa5b1"


@dataclass(frozen=True)
class Plane:
    """Rows in a plane and a linear classifier per label: label o where Z weights[:, o] + bias[o] > 0.

    ``Z`` has shape (m, 2), ``weights`` (2, c), ``bias`` (c,); ``unit`` is what the axes count.

    See Also
    --------
    proxembed.report.decision_lines : Draws rows and decision lines.
    proxembed.BSML : Embedding and classifiers learned together.
    """

    title: str
    Z: np.ndarray
    weights: np.ndarray
    bias: np.ndarray
    unit: str = ""

    @classmethod
    def of(cls, title: str, model: Any, X: Any, unit: str = "s.d. of z given x") -> Plane:
        """The rows X and the lines of a fitted model of two components with classifiers of its own, such as BSML.
        ``weights_`` and ``bias_`` are read. With labels that weigh differently on their two sides (BSSML's
        ``class_prior``) or exactly one class per row, its predictions are not those of these lines."""
        return cls(title, np.asarray(model.transform(X)), model.weights_, model.bias_, unit)

    def check(self, Y: np.ndarray) -> None:
        """ValueError where shapes do not fit the labels, or numbers are not finite."""
        m, c = Y.shape
        wanted = {"Z": (m, 2), "weights": (2, c), "bias": (c,)}
        for name, shape in wanted.items():
            found = np.asarray(getattr(self, name))
            if found.shape != shape:
                raise ValueError(
                    f"{self.title}: {name} has shape {found.shape}, but labels of shape {Y.shape} need {shape}; fit "
                    "two components, and give one line per column of Y."
                )
            if not np.isfinite(found).all():
                raise ValueError(f"{self.title}: {name} holds NaN or infinity; leave the plane out.")

    def wrong(self, Y: np.ndarray) -> np.ndarray:
        """For each label the share of rows on the wrong side of its line."""
        return ((np.asarray(self.Z) @ self.weights + self.bias > 0) != (Y != 0)).mean(axis=0)


def decision_lines(planes: Sequence[Plane], Y: Any, label_names: Sequence[str], note: str = "") -> Any:
    """Draw each plane in a row of panels: all lines over all rows, then each label with its own line and rows.

    The side on which a label is predicted is shaded in its panel; in the first panel short strokes point there.

    Parameters
    ----------
    planes : sequence of Plane
        The same rows in each.
    Y : array or sparse matrix of shape (m, c)
        Labels of these rows, 0 or 1; at most 8 labels.
    label_names : sequence of str
    note : str
        Below the panels, before the number of rows and the key.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        There is no plane, there are no or too many labels, or shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.report import Plane, decision_lines
    >>> Z = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> figure = decision_lines([Plane("made", Z, np.array([[1.0], [0.0]]), np.array([-0.5]))], [[0], [1]], ["right"])
    >>> len(figure.axes), figure.axes[1].get_xlabel()
    (2, 'wrong: 0.000 (never: 0.500)')
    """
    Y = np.asarray(Y.toarray() if sp.issparse(Y) else Y)
    if Y.ndim != 2 or not 1 <= Y.shape[1] <= LABELS or len(label_names) != Y.shape[1] or not planes:
        raise ValueError(
            f"there are {len(planes)} planes, labels of shape {Y.shape} and {len(label_names)} names; give at least "
            f"one plane, 1 to {LABELS} columns of Y, and a name per column."
        )
    for plane in planes:
        plane.check(Y)
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {**STYLE, "font.size": 8.5}
    with matplotlib.rc_context(settings):
        size = (1.6 * (Y.shape[1] + 1.6), 2.1 * len(planes) + 0.8)
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        _fill(figure, planes, Y, label_names)
        figure.supxlabel(f"{note}\n{KEY.format(n=len(Y))}".strip(), fontsize=8.5)
    return figure


def _fill(figure: Any, planes: Sequence[Plane], Y: np.ndarray, label_names: Sequence[str]) -> None:
    """A row of panels per plane, and the legend of the lines above them."""
    c = Y.shape[1]
    places = figure.subplots(len(planes), c + 1, squeeze=False, gridspec_kw={"width_ratios": [1.6] + [1.0] * c})
    for row, plane in zip(places, planes, strict=True):
        window = _window(np.asarray(plane.Z, dtype=np.float64))
        _together(row[0], plane, label_names, window)
        for o, axes in enumerate(row[1:]):
            _alone(axes, plane, Y, o, window)
    for axes, name in zip(places[0][1:], label_names, strict=True):
        axes.set_title(name, fontsize=8.5)
    handles, names = places[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper left", ncols=c, frameon=False, handlelength=2.6, columnspacing=1.2)


def _window(Z: np.ndarray) -> np.ndarray:
    """Limits (low, high) of both axes, (2, 2): nearly all rows are inside, and the others are put on its edge."""
    low, high = np.percentile(Z, [(100 - SPREAD) / 2, (100 + SPREAD) / 2], axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 0.5)
    return np.array([low - margin, high + margin])


def ends(w: np.ndarray, b: float, window: np.ndarray) -> np.ndarray | None:
    """The two points at which the line w'z + b = 0 enters and leaves a window, (2, 2); None where it does not."""
    size = float(w @ w)
    if size == 0:
        return None
    foot, along = -b * w / size, np.array([-w[1], w[0]]) / np.sqrt(size)
    first, last = -np.inf, np.inf
    for axis in (0, 1):
        low, high = window[:, axis]
        if along[axis] == 0:
            if not low <= foot[axis] <= high:
                return None
            continue
        cuts = sorted(((low - foot[axis]) / along[axis], (high - foot[axis]) / along[axis]))
        first, last = max(first, cuts[0]), min(last, cuts[1])
    if first >= last:
        return None
    return foot + np.outer([first, last], along)


def _frame(axes: Any, window: np.ndarray) -> None:
    axes.set(xlim=window[:, 0], ylim=window[:, 1])


def _together(axes: Any, plane: Plane, names: Sequence[str], window: np.ndarray) -> None:
    """All rows, and the line of every label with strokes towards its side."""
    Z = np.clip(plane.Z, *window)
    axes.plot(Z[:, 0], Z[:, 1], ".", color=NEGATIVE, markersize=2.5, alpha=0.7)
    for o, name in enumerate(names):
        look = {"color": COLOURS[o % len(COLOURS)], "linestyle": "-" if o < len(COLOURS) else "--"}
        found = ends(plane.weights[:, o], float(plane.bias[o]), window)
        line = np.full((2, 2), np.nan) if found is None else found
        axes.plot(line[:, 0], line[:, 1], label=name, linewidth=1.8, **look)
        if found is not None:
            scale = window[1] - window[0]
            step = plane.weights[:, o] * scale  # the positive side, as it looks in the panel
            step = 0.05 * step / np.linalg.norm(step) * scale
            for share in (0.25, 0.5, 0.75):
                start = found[0] + share * (found[1] - found[0])
                axes.plot(*np.column_stack([start, start + step]), color=look["color"], linewidth=1.8)
    _frame(axes, window)
    axes.set_title(plane.title, fontsize=9, loc="left", fontweight="bold")
    unit = f" ({plane.unit})" if plane.unit else ""
    axes.set_xlabel(f"component 1{unit}", fontsize=7)
    axes.set_ylabel("component 2", fontsize=7)
    axes.tick_params(labelsize=7)


def _alone(axes: Any, plane: Plane, Y: np.ndarray, o: int, window: np.ndarray) -> None:
    """The rows with and without one label, its line, and the side where it is predicted shaded."""
    Z, has = np.clip(plane.Z, *window), Y[:, o] != 0
    w, b = plane.weights[:, o], float(plane.bias[o])
    grid = np.meshgrid(window[:, 0], window[:, 1])
    height = w[0] * grid[0] + w[1] * grid[1] + b  # linear, so that four corners tell it exactly
    if height.max() > 0:
        axes.contourf(*grid, height, levels=[0, max(float(height.max()), 1e-300) * 1.01], colors=[POSITIVE], alpha=0.13)
    axes.plot(Z[~has, 0], Z[~has, 1], ".", color=NEGATIVE, markersize=2.5)
    axes.plot(Z[has, 0], Z[has, 1], "^", color=POSITIVE, markersize=2.6, markeredgewidth=0)
    found = ends(w, b, window)
    if found is not None:
        axes.plot(found[:, 0], found[:, 1], color="#1a1a1a", linewidth=1.2)
    _frame(axes, window)
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel(f"wrong: {plane.wrong(Y)[o]:.3f} (never: {has.mean():.3f})", fontsize=7)
