"""Maps of training and held-out rows, each beside the same map of shuffled labels, and what their neighbours say."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.execute.executor import Progress
from proxembed.methods.layout import Layout
from proxembed.proximity.layouts import NeighborMap, layout_named
from proxembed.proximity.reordering import even_sample
from proxembed.targets.values import dense_labels

from .metrics import jaccard_at_k
from .neighbors import neighbor_weights, new_neighbor_weights
from .part import Part

MOST_ROWS = 5000  # of either kind that figures are taken over
HONEST_ABOVE = 0.1  # how much more alike the neighbours of training rows may be before the honest map leads
K = 10
LAID_OUT = 1000  # training rows of a map beside others


@dataclass(frozen=True)
class Places:
    """One map: where it puts the rows of fit and the held-out ones, and how alike the labels of neighbours are.

    Attributes
    ----------
    honest, shuffled : bool
        Whether training rows are placed by models of folds, and whether the training labels are shuffled.
    train, new : arrays of shape (n, 2) and (m, 2)
    inside, outside, among : float
        Mean Jaccard@10 of training rows among themselves, of held-out rows to training rows, and of held-out rows among
        themselves (NaN for a single one).
    chance : float
        Mean similarity of the labels of held-out rows to those of all training rows.
    """

    honest: bool
    shuffled: bool
    train: np.ndarray
    new: np.ndarray
    inside: float
    outside: float
    among: float
    chance: float


def drawn_maps(layout: Layout, part: Part, *, progress: Progress | None = None) -> list[tuple[Places, Places]]:
    """The maps of a method, each with that of shuffled training labels, the one to look at first in front.

    That is the plain map, or the honest one where training rows have neighbours of more similar labels than held-out
    rows have, by more than 0.1: their clusters are then partly their own labels. The plain map follows it.

    Parameters
    ----------
    layout : Layout
        Unfitted; ``honest`` is set here.
    part : Part
        Training rows, held-out rows with known labels.
    progress : callable, optional
        Called as ``progress(done, total, text)`` before each map.

    Returns
    -------
    list of (Places, Places)
        One pair, or two.

    Examples
    --------
    >>> from proxembed import OPLS, Layout
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.maps import drawn_maps
    >>> from proxembed.evaluate.part import prepare
    >>> from proxembed.splits.splits import holdout_split
    >>> data = digits().take(range(200))
    >>> (first, null), *others = drawn_maps(Layout(OPLS(), layout="sklearn"), prepare(data, holdout_split(data)))
    >>> first.train.shape, first.new.shape, first.outside > null.outside
    ((152, 2), (48, 2), True)
    """
    rng = np.random.default_rng(part.seed)
    shuffled = replace(part, labels=part.labels.take(rng.permutation(part.labels.n)))
    step = _Steps(progress or (lambda done, total, text: None))
    plain = step(f"{len(part.Y_held_out):,} held-out rows on the map", lambda: _places(layout, part, False, False))
    honest = layout.traits.labels is not None and plain.inside - plain.outside > HONEST_ABOVE
    step.total = 4 if honest else 2
    found = [(plain, step("the map of shuffled labels", lambda: _places(layout, shuffled, False, True)))]
    if honest:
        first = step("the honest map, by models of folds", lambda: _places(layout, part, True, False))
        null = step("the honest map of shuffled labels", lambda: _places(layout, shuffled, True, True))
        found.insert(0, (first, null))
    step("done", lambda: None)
    return found


class _Steps:
    """Runs named steps and reports progress before each."""

    def __init__(self, progress: Progress):
        self.progress, self.done, self.total = progress, 0, 2

    def __call__(self, text: str, work: Callable[[], Any]) -> Any:
        self.progress(self.done, self.total, text)
        self.done += 1
        return work()


def _places(layout: Layout, part: Part, honest: bool, shuffled: bool) -> Places:
    """One map and its figures; only the first map of a method shows its warnings."""
    with warnings.catch_warnings():
        if honest or shuffled:
            warnings.simplefilter("ignore")
        fitted = clone(layout).set_params(honest=honest)
        X, y, X_held_out = part.rows_for(layout)
        train = fitted.fit_transform(X, y if layout.traits.labels is not None else None)
        new = fitted.transform(X_held_out)
    known = part.known_cells, part.known_held_out
    figures = map_figures(train[part.known_rows], new, part.Y, part.Y_held_out, *known)
    return Places(honest, shuffled, train, new, **figures)


def places_on_layout(Z: np.ndarray, Z_new: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The places of at most 1,000 training rows on a layout of these, and those of the held-out rows.

    Parameters
    ----------
    Z, Z_new : arrays of shape (n, k) and (m, k)
        An embedding of the training rows, and of the held-out rows.
    part : Part

    Returns
    -------
    arrays of shape (at most 1,000, 2) and (m, 2)

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.maps import places_on_layout, scored_places
    >>> from proxembed.evaluate.part import prepare
    >>> from proxembed.splits.splits import holdout_split
    >>> data = digits().take(range(120))
    >>> part = prepare(data, holdout_split(data))
    >>> new, jaccard = scored_places(*places_on_layout(part.X, part.X_held_out, part), part)
    >>> new.shape == (len(part.X_held_out), 2), jaccard > 0.5
    (True, True)
    """
    rows = part.known_rows[even_sample(len(part.known_rows), LAID_OUT)]
    found = NeighborMap.of(Z[rows], layout_named("auto"), 2, part.seed)
    return found.places, found.place(Z_new)


def scored_places(places: np.ndarray, new: np.ndarray, part: Part) -> tuple[np.ndarray, float]:
    """The places of the held-out rows with their Jaccard@10 among the training rows that ``even_sample`` takes."""
    some = even_sample(len(part.known_rows), LAID_OUT)
    known = None if part.known_cells is None else part.known_cells[some]
    weights = neighbor_weights(new, places, K)
    return new, jaccard_at_k(part.Y_held_out, part.Y[some], weights, known, known=part.known_held_out)


def map_figures(
    Z: np.ndarray, Z_new: np.ndarray, Y: Any, Y_new: Any, known: Any = None, known_new: Any = None
) -> dict[str, float]:
    """How alike the labels of ten neighbours on a map are: training rows, held-out rows, and by chance.

    Parameters
    ----------
    Z, Z_new : arrays of shape (n, q) and (m, q)
        Places of training and of held-out rows.
    Y, Y_new : arrays or sparse arrays of shape (n, c) and (m, c)
        Their labels, 0 or 1. Of more than 5,000 rows of either kind, 5,000 count, drawn evenly.
    known, known_new : bool arrays of these shapes, optional
        The cells that are known; None for all. Label sets are compared on the cells that both rows know.

    Returns
    -------
    dict
        ``inside``, ``outside``, ``among`` and ``chance``, as in ``Places``.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.maps import map_figures
    >>> Z = np.arange(40.0)[:, None] + np.repeat([0, 100], 20)[:, None]
    >>> Y = np.eye(2, dtype=int)[np.repeat([0, 1], 20)]
    >>> {name: round(value, 6) for name, value in map_figures(Z, Z + 0.25, Y, Y).items()}
    {'inside': 1.0, 'outside': 1.0, 'among': 1.0, 'chance': 0.5}
    """
    own, new = (even_sample(len(each), MOST_ROWS) for each in (Z, Z_new))
    Z, Y, known = Z[own], dense_labels(Y[own]), None if known is None else known[own]
    Z_new, Y_new, known_new = Z_new[new], dense_labels(Y_new[new]), None if known_new is None else known_new[new]
    inside = outside = among = float("nan")
    if len(Z) > 1:
        inside = jaccard_at_k(Y, Y, new_neighbor_weights(Z, Z, K), known, known=known)
    outside = jaccard_at_k(Y_new, Y, neighbor_weights(Z_new, Z, K), known, known=known_new)
    if len(Z_new) > 1:
        among = jaccard_at_k(Y_new, Y_new, new_neighbor_weights(Z_new, Z, K), known_new, known=known_new)
    chance = _chance(Y_new, Y, known_new, known)
    return {"inside": inside, "outside": outside, "among": among, "chance": chance}


def _chance(Y: np.ndarray, Y_train: np.ndarray, known: Any, known_train: Any) -> float:
    """Mean similarity of the label sets of all pairs of a held-out and a training row that have known cells in
    common."""
    Y, Y_train = Y.astype(np.float64), Y_train.astype(np.float64)
    cells, cells_train = (
        np.ones_like(labels) if mask is None else np.asarray(mask, dtype=np.float64)
        for labels, mask in ((Y, known), (Y_train, known_train))
    )
    common = Y @ Y_train.T
    union = Y @ cells_train.T + cells @ Y_train.T - common
    similarity = np.where(union == 0, 1.0, common / np.maximum(union, 1))
    return float(similarity[cells @ cells_train.T > 0].mean())
