"""One split made ready: features scaled by the training part, rows with known labels set apart, inner folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.model import scaling_kind
from proxembed.splits.splits import Split

from .results import AVERAGE_PRECISION, worst_value

INNER_FOLDS = 3


@dataclass(frozen=True)
class Part:
    """One split with its features scaled by the training rows; what all arms share.

    ``X``, ``y`` and ``groups`` (or None) are of all training rows, ``Y`` and ``inner`` of those whose labels are
    ``known``; ``rows`` are the held-out ones.
    """

    name: str
    scaling: str
    X: Any
    y: Any
    known: np.ndarray
    Y: Any
    inner: np.ndarray
    groups: Any
    X_held_out: Any
    Y_held_out: Any
    rows: np.ndarray

    @property
    def sizes(self) -> dict:
        """Numbers of rows, as plain data."""
        return {"train": self.X.shape[0], "held_out": len(self.rows)}

    def worst(self, measure: str, least: int) -> float:
        """What a failure counts as; NaN where no held-out label has enough positive rows for an average precision."""
        positives = np.asarray(self.Y_held_out.sum(axis=0)).ravel()
        return np.nan if measure == AVERAGE_PRECISION and not (positives >= least).any() else worst_value(measure)


def rows_known(dataset) -> np.ndarray:
    """Mask of the rows all of whose labels are known."""
    if dataset.unknown is None:
        return np.ones(dataset.X.shape[0], dtype=bool)
    return np.asarray(dataset.unknown.sum(axis=1)).ravel() == 0


def prepare(dataset, split: Split, seed: int = 0) -> Part:
    """Scale the features by the training rows alone, and set apart the rows whose labels are known.

    Parameters
    ----------
    dataset : proxembed.data.Dataset
    split : Split
        Held-out rows with an unknown label are left out: they cannot be scored.
    seed : int, default=0
        Seed of the inner folds on which thresholds and probabilities are tuned.

    Returns
    -------
    Part

    Raises
    ------
    ValueError
        Fewer than two training rows, or no held-out row, with known labels.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.part import prepare
    >>> from proxembed.splits.splits import stratified_folds
    >>> data = digits()
    >>> prepare(data, stratified_folds(data.Y, 3)[0]).sizes
    {'train': 1206, 'held_out': 591}
    """
    known, Y = rows_known(dataset), sp.csr_array(dataset.Y)
    train, held_out = split.train, split.held_out[known[split.held_out]]
    index = np.flatnonzero(known[train])
    if len(index) < 2 or len(held_out) == 0:
        raise ValueError(
            f"fold {split.name} has {len(index)} training and {len(held_out)} held-out rows with known labels; "
            "it needs 2 and 1. Take fewer folds, or label more rows."
        )
    X = dataset.X[train]
    kind = scaling_kind(X)
    state = scaling_fit(kind, X)
    groups = None if dataset.groups is None else np.asarray(dataset.groups)[train]
    inner = _inner_folds(len(index), None if groups is None else groups[index], seed)
    labels = Y[train]
    return Part(
        split.name,
        kind,
        scaling_apply(state, X),
        labels if dataset.unknown is None else _with_unknown(labels, sp.csr_array(dataset.unknown)[train]),
        index,
        labels[index],
        inner,
        groups,
        scaling_apply(state, dataset.X[held_out]),
        Y[held_out],
        held_out,
    )


def _inner_folds(n: int, groups, seed: int) -> np.ndarray:
    """The inner fold of each row, at random; a group stays in one fold where there are several groups."""
    unit = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    unit = np.arange(n) if unit.max() == 0 else unit
    count = unit.max() + 1
    return (np.random.default_rng(seed).permutation(count) % min(INNER_FOLDS, count))[unit]


def _with_unknown(Y, unknown) -> np.ndarray:
    y = Y.toarray().astype(np.float64)
    y[unknown.toarray().astype(bool)] = np.nan
    return y
