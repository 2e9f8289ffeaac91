"""What the test rows say of a chosen embedding: a map beside rivals and shuffled labels, each label's score."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.base import Estimator
from proxembed.catalogue import title_of
from proxembed.classify.thresholds import tune_thresholds
from proxembed.methods.layout import Layout
from proxembed.methods.sizes import embedded_within_bound, with_size
from proxembed.model import unseen_scores
from proxembed.proximity.reordering import even_sample
from proxembed.splits.splits import Split
from proxembed.targets.labels import LabelMatrix

from .arms import rival_arms
from .calibration import label_calibration_error, platt_apply, platt_fit
from .maps import LAID_OUT, places_on_layout, scored_places
from .metrics import average_precision, jaccard_at_k
from .neighbors import neighbor_weights
from .part import Part, make_part, several_groups
from .rivals.maps import TSNE_FEATURES, SupervisedUMAP
from .scoring import Readings

SHOWN = 2

Arrays = tuple[np.ndarray, ...]
Keep = Callable[[str, Callable[[], Arrays]], Arrays]


def always_made(_name: str, make: Callable[[], Arrays]) -> Arrays:
    """What a fit gives, of which nothing is kept."""
    return make()


@dataclass(frozen=True)
class Evidence:
    """What a method, fitted on the training rows, does on the test rows.

    Attributes
    ----------
    rows : int array of shape (m,)
        Test rows with a known label.
    panels : list of (title, Z, score, directions)
        Test rows in the plane of PCA (LSI), of the method, and of the method fitted on shuffled labels; the score is
        the Jaccard@10 of the neighbours in the two axes shown, among the training rows with their true labels (a plane
        found with shuffled labels does as well as a random one); directions lead from the middle of the test rows to
        the middle of those with the label.
    ap_raw, ap_embedded, thresholds, calibration : arrays of shape (c,)
        Average precision from all features and from the embedding (NaN without a positive test row), cut of the ridge
        scores by the shared rule, calibration error of their sigmoid.
    features : array or sparse matrix of shape (m, d)
        The test rows as the methods see them.
    embeddings : list of (title, Z)
        The test rows in all components of the method, and of the method fitted on shuffled labels.
    laid_out : list of (title, places, score, None)
        Where it was asked for: the test rows on a neighbour layout of all components of PCA (at most 50), of the
        method, and of the method fitted on shuffled labels, and on supervised UMAP; scores as of ``panels``.
    """

    rows: np.ndarray
    panels: list[tuple[str, np.ndarray, float | None, list[dict[str, Any]] | None]]
    ap_raw: np.ndarray
    ap_embedded: np.ndarray
    thresholds: np.ndarray
    calibration: np.ndarray
    features: Any
    embeddings: list[tuple[str, np.ndarray]]
    laid_out: list[tuple[str, np.ndarray, float | None, None]] = field(default_factory=list)


def held_out_evidence(
    method: Any,
    dataset: Any,
    split: Split,
    *,
    seed: int = 0,
    name: str | None = None,
    lay_out: bool = False,
    supervised_umap: bool = False,
    keep: Keep = always_made,
) -> Evidence:
    """Fit a method, PCA, and the method on shuffled labels on the training rows, and look at the test rows.

    Parameters
    ----------
    method : unfitted estimator
    dataset : proxembed.data.Dataset
    split : Split
        Training rows and test rows.
    seed : int, default=0
        Seed of the shuffle.
    name : str, optional
        What the method is called in the titles; None: the name of its class.
    lay_out : bool, default=False
        Whether maps of all components are made, too, of at most 1,000 training rows.
    supervised_umap : bool, default=False
        Whether one of them is that of umap-learn, which takes a while to start.
    keep : callable, optional
        Called as ``keep(name, make)`` for each fit, whose arrays it returns: those that it has under this name, or what
        ``make()`` returns.

    Returns
    -------
    Evidence

    Raises
    ------
    ValueError
        No test row has known labels, or the method cannot be fitted.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.evidence import held_out_evidence
    >>> from proxembed.splits.splits import holdout_split
    >>> data = digits()
    >>> found = held_out_evidence(OPLS(n_components=3), data, holdout_split(data))
    >>> [title for title, *_ in found.panels]
    ['PCA', 'OPLS', 'OPLS on shuffled labels']
    """
    labels = LabelMatrix.of(dataset.y)
    rows = split.held_out[labels.rows_any[split.held_out]]
    if len(rows) == 0:
        raise ValueError("no test row has known labels, so that nothing can be shown of them; label some test rows.")
    part = make_part(dataset.X, labels, split.train, rows, groups=several_groups(dataset, split.train), seed=seed)
    shuffled = replace(part, labels=part.labels.take(np.random.default_rng(seed).permutation(part.labels.n)))
    plain = rival_arms(part.X, seed=seed)[1]
    title = title_of(method) if name is None else name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same method has told its warnings in the comparison
        plane = plain.estimator.set_params(n_components=_plane_size(part))
        Z, Z_held_out = keep("method", lambda: _embedded(method, part))
        pairs: list[tuple[str, Any, bool]] = [
            (plain.name, keep("plane", lambda: _embedded(plane, part)), False),
            (title, (Z, Z_held_out), True),
            (f"{title} on shuffled labels", keep("shuffled", lambda: _embedded(method, shuffled)), False),
        ]
        panels = [
            _panel(name, pair[0], pair[1], part, dataset.label_names if ours else None) for name, pair, ours in pairs
        ]
        raw = Readings(part.X, part.X_held_out, part, dtype=np.float64).scores
        scores = Readings(Z, Z_held_out, part, dtype=np.float64).scores
        cuts, calibration = keep("calibration", lambda: _calibrated(method, scores, part))
        own = [pair for _, pair, _ in pairs[1:]]
        maps = _laid_out(method, title, own, (part, shuffled), plain, supervised_umap, keep) if lay_out else []
    truth, whole = part.Y_held_out, [(name, held_out) for name, (_, held_out), _ in pairs[1:]]
    of_raw, of_embedding = (average_precision(truth, each, part.known_held_out) for each in (raw, scores))
    return Evidence(rows, panels, of_raw, of_embedding, cuts, calibration, part.X_held_out, whole, maps)


def _laid_out(
    method: Any, title: str, own: list[Any], parts: tuple[Part, Part], plain: Any, supervised_umap: bool, keep: Keep
) -> list[tuple[Any, ...]]:
    """Maps of all components of a method, beside those of PCA, of shuffled labels and of supervised UMAP.

    A method that is a layout has its ``own`` places, with true and with shuffled labels.
    """
    part, shuffled = parts
    some = part.known_rows[even_sample(len(part.known_rows), LAID_OUT)]
    size = min(TSNE_FEATURES, part.X.shape[0] - 1, part.X.shape[1])
    components = clone(plain.estimator).set_params(n_components=size)
    placed: list[Any] = [keep("components", lambda: places_on_layout(*_embedded(components, part), part))]
    if isinstance(method, Layout):
        placed += [(Z[some], Z_new) for Z, Z_new in own]
    else:
        whole = with_size(method, None) if isinstance(method, Estimator) else method
        placed += [keep("layout", lambda: places_on_layout(*_embedded(whole, part), part))]
        placed += [keep("layout, shuffled", lambda: places_on_layout(*_embedded(whole, shuffled), part))]
    names: tuple[str, ...] = (plain.name, title, f"{title} on shuffled labels")
    if supervised_umap:
        names, placed = (*names, SupervisedUMAP.title), [*placed, keep("umap", lambda: _umap(some, part))]
    return [
        (name, *scored_places(places[0], places[1], part), None) for name, places in zip(names, placed, strict=True)
    ]


def _umap(some: np.ndarray, part: Part) -> Arrays:
    rival = SupervisedUMAP(random_state=part.seed)
    return rival.fit_transform(part.X[some], part.labels.take(some)), rival.transform(part.X_held_out)


def _plane_size(part: Part) -> int:
    return min(SHOWN, *part.X.shape)


def _embedded(method: Any, part: Part) -> tuple[np.ndarray, np.ndarray]:
    return embedded_within_bound(method, *part.rows_for(method))


def _panel(title: str, Z: Any, Z_held_out: Any, part: Part, label_names: Any) -> tuple[Any, ...]:
    plane, shown = Z[:, :SHOWN], Z_held_out[:, :SHOWN]
    directions = None if label_names is None else _directions(shown, part.Y_held_out, label_names)
    weights = neighbor_weights(shown, plane[part.known_rows])
    similarity = jaccard_at_k(part.Y_held_out, part.Y, weights, part.known_cells, known=part.known_held_out)
    return title, shown, similarity, directions


def _directions(Z: np.ndarray, Y: np.ndarray, label_names: Any) -> list[dict[str, Any]]:
    """From the middle of all rows to the middle of the rows of each label; none for a plane of one axis."""
    if Z.shape[1] < SHOWN:
        return []
    counts = Y.sum(axis=0)
    middles = (Y.T.astype(float) @ (Z - Z.mean(axis=0))) / np.maximum(counts, 1)[:, None]
    return [
        {"label": str(label_names[j]), "x": float(middles[j, 0]), "y": float(middles[j, 1])}
        for j in np.flatnonzero(counts)
    ]


def _calibrated(method: Any, scores: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Cuts and calibration error, both tuned on scores of training rows that the embedding has not seen."""
    X, Y = part.rows_for(method)[0], part.Y.toarray() > 0
    unseen = unseen_scores(method, X, part.labels, part.groups)
    probabilities = platt_apply(scores, platt_fit(unseen, Y, part.known_cells))
    error = label_calibration_error(part.Y_held_out, probabilities, known=part.known_held_out)
    return tune_thresholds(unseen, Y, known=part.known_cells).cuts, error
