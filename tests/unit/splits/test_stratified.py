"""Iterative stratification: the folds of the package from which the rule is known, row by row."""

import numpy as np
import pytest
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

from proxembed.splits.splits import with_empty_column
from proxembed.splits.stratified import label_fold_numbers


def drawn(seed, largest=120):
    """Labels of some rows, a number of folds, and the share of each label: rare and frequent ones, and none."""
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(2, largest)), int(rng.integers(1, 9))
    return rng.random((n, c)) < rng.random(c) ** 2, int(rng.integers(2, min(n, 7) + 1))


@pytest.mark.parametrize("seed", range(60))
def test_folds_are_those_of_iterative_stratification(seed):
    Y, n_folds = drawn(seed)
    Y = with_empty_column(Y)
    splitter = MultilabelStratifiedKFold(n_splits=n_folds, shuffle=True, random_state=seed)
    wanted = np.empty(len(Y), dtype=int)
    for number, (_, left_out) in enumerate(splitter.split(np.empty((len(Y), 0)), Y)):
        wanted[left_out] = number
    assert label_fold_numbers(Y, n_folds, seed).tolist() == wanted.tolist()


def test_rows_without_any_label_are_dealt_out_evenly():
    Y = np.zeros((10, 2), dtype=bool)
    Y[:3, 0] = True
    fold = label_fold_numbers(Y, 3, 0)
    assert sorted(np.bincount(fold)) == [3, 3, 4] and np.bincount(fold[:3]).tolist() == [1, 1, 1]
