"""Arms that predict by themselves, on one split: their parameter chosen and their scores cross-fitted inside the
training part."""

from typing import Any

import numpy as np
from sklearn.base import clone

from .arms import Arm
from .metrics import macro_average_precision
from .part import Part

GRID_ROWS, GRID_LABELS = 1500, 10


def fitted_scores(arm: Arm, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the training rows with known labels, by models that have not seen them, and of the held-out rows.

    The parameter of the arm's grid is the one of the largest macro average precision over the inner folds, on at most
    1,500 rows and the 10 most frequent labels.

    Parameters
    ----------
    arm : Arm
        With an estimator that has ``decision_function``.
    part : Part

    Returns
    -------
    (array of shape (n, c), array of shape (m, c))

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.part import prepare
    >>> from proxembed.evaluate.score_arms import fitted_scores
    >>> from proxembed.evaluate.rivals.linear import LogisticScores
    >>> from proxembed.splits.splits import stratified_folds
    >>> data = digits().take(range(300))
    >>> part = prepare(data, stratified_folds(data.Y, 3)[0])
    >>> [S.shape for S in fitted_scores(Arm("logistic regression", LogisticScores()), part)]
    [(203, 7), (97, 7)]
    """
    X, Y = part.X[part.known_rows], part.Y.toarray()
    y = Y if part.known_cells is None else part.read.indicator
    estimator = _chosen(arm, X, Y, y, part.inner)
    model = clone(estimator).fit(X, y)
    own = getattr(model, "own_scores_", None)
    if own is None or part.groups is not None:  # rows of a group are near copies: own scores leave out single rows
        own = _cross_fitted(estimator, X, y, part.inner)
    own = own[:, -Y.shape[1] :]  # a single column is two classes, of which the second is the label
    return own, _scores(model, part.X_held_out, Y.shape[1])


def _chosen(arm: Arm, X: Any, Y: np.ndarray, y: np.ndarray, inner: np.ndarray) -> Any:
    """The unfitted estimator, at the parameter that is best over the inner folds."""
    if arm.grid is None:
        return arm.estimator
    name, values = arm.grid
    rows = np.arange(X.shape[0]) if X.shape[0] <= GRID_ROWS else np.random.default_rng(0).permutation(X.shape[0])
    rows = np.sort(rows[:GRID_ROWS])
    labels = np.argsort(-Y.sum(axis=0, dtype=np.int64), kind="stable")[:GRID_LABELS]
    X, Y, y, inner = X[rows], Y[np.ix_(rows, labels)], y[np.ix_(rows, labels)], inner[rows]
    tried = [clone(arm.estimator).set_params(**{name: value}) for value in values]
    known = None if y.dtype.kind != "f" else ~np.isnan(y)
    found = [macro_average_precision(Y > 0, _cross_fitted(each, X, y, inner), known=known).value for each in tried]
    return tried[int(np.argmax(found))]


def _cross_fitted(estimator: Any, X: Any, y: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """The scores of each row, by a model fitted on the other inner folds."""
    own = np.empty(y.shape)
    for fold in np.unique(inner):
        out = inner == fold
        own[out] = _scores(clone(estimator).fit(X[~out], y[~out]), X[out], y.shape[1])
    return own


def _scores(model: Any, X: Any, c: int) -> np.ndarray:
    """(m, c), where a model gives those of a single label as (m,), too."""
    return np.reshape(model.decision_function(X), (X.shape[0], c))
