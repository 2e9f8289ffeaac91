"""The scaling of a training part, chosen by inner folds of it for all arms at once."""

from typing import Any

import numpy as np

from proxembed.classify.ridge import fit_readout
from proxembed.features.scaling import scaling_apply, scaling_fit, scaling_kinds
from proxembed.targets.labels import LabelMatrix

from .metrics import macro_average_precision

CHOICE_ROWS, CHOICE_LABELS, CHOICE_FOLDS = 600, 30, 3


def choose_scaling(X: Any, labels: LabelMatrix, groups: Any = None, seed: int = 0) -> str:
    """The scaling by which a ridge read-out of all features predicts best on inner folds of the rows.

    The measure is the macro average precision over three folds. At most 600 rows are drawn and the 30 most frequent
    labels are scored; of equal scalings the usual one is taken.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or TableRows
        Training rows.
    labels : LabelMatrix of n rows
        Rows with an unknown label are left out; where every row has one, known cells are scored.
    groups : array of shape (n,), optional
        Rows of one group are in one fold.
    seed : int, default=0
        Seed of the drawn rows and of the folds.

    Returns
    -------
    str
        One of ``features.scaling.scaling_kinds``.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from proxembed.evaluate.preprocessing import choose_scaling
    >>> from proxembed.targets.labels import LabelMatrix
    >>> draw = np.random.default_rng(0)
    >>> topic = draw.integers(2, size=(400, 1))
    >>> often = draw.random((400, 40)) < draw.choice([0.1, 0.9], size=(400, 1))
    >>> rare = draw.random((400, 200)) < np.where((np.arange(200) < 100) == topic, 0.02, 0.005)
    >>> choose_scaling(sp.csr_array(np.hstack([often, rare]).astype(float)), LabelMatrix.of(topic))
    'tfidf'
    """
    kinds = scaling_kinds(X)
    rows = np.flatnonzero(labels.rows_any)
    random = np.random.default_rng(seed)
    rows = np.sort(random.permutation(rows)[:CHOICE_ROWS])
    if len(kinds) == 1 or len(rows) < CHOICE_FOLDS:
        return kinds[0]
    labels = labels.take(rows)
    labels = labels.with_columns(np.argsort(-labels.nk, kind="stable")[:CHOICE_LABELS])
    fold = inner_folds(len(rows), None if groups is None else np.asarray(groups)[rows], CHOICE_FOLDS, seed)
    X = X[rows]
    values = [_value(kind, X, labels, fold) for kind in kinds]
    return kinds[int(np.argmax(values))]


def _value(kind: str, X: Any, labels: LabelMatrix, fold: np.ndarray) -> float:
    """Mean over the folds of the macro average precision; 0 of a fold without a positive row."""
    total, Y, T, known = 0.0, labels.Y.toarray() > 0, labels.with_means().Y.toarray(), labels.known_cells
    for each in range(fold.max() + 1):
        train, held_out = fold != each, fold == each
        if not train.any():
            continue
        state = scaling_fit(kind, X[train])
        readout = fit_readout(scaling_apply(state, X[train]), T[train])
        scores, cells = readout.scores(scaling_apply(state, X[held_out])), None if known is None else known[held_out]
        value = macro_average_precision(Y[held_out], scores, known=cells).value
        total += value if np.isfinite(value) else 0.0
    return total


def inner_folds(n: int, groups: Any, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each of n rows, at random; a group stays in one fold where there are several groups.

    Examples
    --------
    >>> from proxembed.evaluate.preprocessing import inner_folds
    >>> inner_folds(4, [7, 7, 8, 8], 2, seed=0).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    unit = np.arange(n) if unit.max() == 0 else unit
    count = unit.max() + 1
    return (np.random.default_rng(seed).permutation(count) % min(n_folds, count))[unit]
