"""Fits of rivals that score labels, at the parameter that inner folds choose; scores of rows by models without them."""

from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.estimator.weights import weights_of
from proxembed.measures.metrics import macro_average_precision

from .part import some_weights

GRID_ROWS, GRID_LABELS = 1500, 10


def fitted_rival(
    estimator: Any,
    grid: tuple[str, tuple[Any, ...]] | None,
    X: Any,
    Y: np.ndarray,
    y: np.ndarray,
    inner: np.ndarray,
    weights: np.ndarray | None = None,
    refit: bool = False,
) -> tuple[Any, np.ndarray]:
    """A rival fitted to labels Y (n, c), ``y`` with NaN where unknown, at the value of ``grid`` that is best on the
    inner folds; and its scores (n, c) of these rows by models that have not seen them, by fits on the inner
    folds if ``refit``: rows of a group are near copies, and own scores of a rival leave out single rows."""
    chosen = _chosen(estimator, grid, X, Y, y, inner, weights)
    model = clone(chosen).fit(X, y, **weights_of(weights))
    own = getattr(model, "own_scores_", None)
    if own is None or refit:
        own = _cross_fitted(chosen, X, y, inner, weights)
    return model, own[:, -Y.shape[1] :]  # a single column is two classes, of which the second is the label


def _chosen(
    estimator: Any,
    grid: tuple[str, tuple[Any, ...]] | None,
    X: Any,
    Y: np.ndarray,
    y: np.ndarray,
    inner: np.ndarray,
    weights: np.ndarray | None = None,
) -> Any:
    """The unfitted estimator, at the parameter that is best over the inner folds."""
    if grid is None:
        return estimator
    name, values = grid
    rows = np.arange(X.shape[0]) if X.shape[0] <= GRID_ROWS else np.random.default_rng(0).permutation(X.shape[0])
    rows = np.sort(rows[:GRID_ROWS])
    labels = np.argsort(-Y.sum(axis=0, dtype=np.int64), kind="stable")[:GRID_LABELS]
    X, Y, y, inner = X[rows], Y[np.ix_(rows, labels)], y[np.ix_(rows, labels)], inner[rows]
    weights = some_weights(weights, rows)
    tried = [clone(estimator).set_params(**{name: value}) for value in values]
    known = None if y.dtype.kind != "f" else ~np.isnan(y)
    scores = (_cross_fitted(each, X, y, inner, weights) for each in tried)
    found = [macro_average_precision(Y > 0, own, known=known, sample_weight=weights).value for own in scores]
    return tried[int(np.argmax(found))]


def _cross_fitted(
    estimator: Any, X: Any, y: np.ndarray, inner: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """The scores of each row, by a model fitted on the other inner folds."""
    own = np.empty(y.shape)
    for fold in np.unique(inner):
        out = inner == fold
        fitted = clone(estimator).fit(X[~out], y[~out], **weights_of(weights, ~out))
        own[out] = label_scores(fitted, X[out], y.shape[1])
    return own


def label_scores(model: Any, X: Any, c: int) -> np.ndarray:
    """(m, c), where a model gives those of a single label as (m,), too."""
    return np.reshape(model.decision_function(X), (X.shape[0], c))
