"""Iterative stratification: folds with equal shares of every label.  [sechidis2011stratification]

The folds are those of ``iterstrat.ml_stratifiers.MultilabelStratifiedKFold`` with ``shuffle=True``, number by number,
without a call of NumPy for every row.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def label_fold_numbers(Y: NDArray[np.bool_], n_folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row of an indicator (n, c). The rarest label is dealt out first, each row to the fold that lacks
    most rows of it; ties are broken by the rows that a fold lacks, then at random."""
    random = np.random.RandomState(seed)
    order = np.arange(len(Y))
    random.shuffle(order)
    dealt = _Dealt(np.asarray(Y, dtype=bool)[order], n_folds, random)
    dealt.deal()
    found = np.empty(len(Y), dtype=np.intp)
    found[order] = dealt.fold
    return found


class _Dealt:
    """Rows as they are dealt out to folds; ``lacking`` says how many rows each fold lacks, in all and of each label."""

    def __init__(self, Y: NDArray[np.bool_], n_folds: int, random: np.random.RandomState) -> None:
        self._Y, self._random = Y, random
        shares = np.full(n_folds, 1 / n_folds)
        self._lacking: list[float] = (shares * len(Y)).tolist()
        self._lacking_of: list[list[float]] = np.outer(Y.sum(axis=0), shares).tolist()
        rows = sp.csr_array(Y)
        labels = rows.indices.tolist()
        self._labels = [labels[first:last] for first, last in pairwise(rows.indptr.tolist())]
        self.fold = np.zeros(len(Y), dtype=np.intp)

    def deal(self) -> None:
        """Deal out all rows."""
        left, counts = np.ones(len(self._Y), dtype=bool), self._Y.sum(axis=0)
        while counts.any():
            rarest = np.flatnonzero(counts == counts[counts > 0].min())
            label = rarest[self._one_of(len(rarest))]
            rows = np.flatnonzero(self._Y[:, label] & left)
            for row in rows.tolist():
                self._give(row, self._lacking_of[label])
            left[rows] = False
            counts = counts - self._Y[rows].sum(axis=0)
        for row in np.flatnonzero(left).tolist():
            self._give(row, self._lacking)

    def _give(self, row: int, lacking: list[float]) -> None:
        """Give a row to the fold that lacks most."""
        most = max(lacking)
        folds = [fold for fold, number in enumerate(lacking) if number == most]
        if len(folds) > 1:
            most = max(self._lacking[fold] for fold in folds)
            folds = [fold for fold in folds if self._lacking[fold] == most]
        fold = folds[self._one_of(len(folds))]
        self.fold[row] = fold
        self._lacking[fold] -= 1
        for label in self._labels[row]:
            self._lacking_of[label][fold] -= 1

    def _one_of(self, count: int) -> Any:
        return self._random.randint(count) if count > 1 else 0
