"""Iterative stratification of sparse labels: the parts of iterative-stratification, draw for draw."""

import numpy as np
import pytest
import scipy.sparse as sp
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

from proxembed.splits.stratification import stratified_parts, with_empty_column


def made(seed):
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(5, 80)), int(rng.integers(1, 12))
    return (rng.random((n, c)) < 0.5 * rng.random(c)).astype(np.uint8)


@pytest.mark.parametrize("seed", range(40))
def test_folds_are_those_of_iterative_stratification(seed):
    Y = made(seed)
    n_folds = 2 + seed % 4
    marked, empty = with_empty_column(Y).toarray(), np.empty((len(Y), 0))
    folds = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed).split(empty, marked)
    part = stratified_parts(sp.csc_array(Y), np.full(n_folds, 1 / n_folds), seed)
    for fold, (_, held_out) in enumerate(folds):
        np.testing.assert_array_equal(np.flatnonzero(part == fold), held_out)


@pytest.mark.parametrize("seed", range(6))
def test_unequal_shares_are_those_of_iterative_stratification(seed):
    Y = made(seed)
    n, test = len(Y), int(np.ceil(0.25 * len(Y)))
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=0.25, random_state=seed)
    ((_, held_out),) = splitter.split(np.empty((n, 0)), with_empty_column(Y).toarray())
    part = stratified_parts(Y, [(n - test) / n, test / n], seed)
    np.testing.assert_array_equal(np.flatnonzero(part == 1), held_out)


def test_rows_without_a_label_are_marked_and_stored_zeros_are_none():
    Y = sp.csr_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 1, 2]), np.array([0, 0, 1]))), shape=(4, 2))
    np.testing.assert_array_equal(with_empty_column(Y).toarray(), [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]])
    assert Y.nnz == 3


def test_a_thousand_labels_of_few_rows_are_spread_over_the_folds():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 600, 6000), np.repeat(np.arange(2000), 3)
    Y = sp.csr_array(sp.coo_array((np.ones(6000), (rows, columns)), shape=(600, 2000))) > 0
    part = stratified_parts(Y, np.full(3, 1 / 3))
    sizes = np.bincount(part)
    held = np.array([np.diff(sp.csc_array(Y[part == fold]).indptr) > 0 for fold in range(3)])
    assert np.ptp(sizes) < 60 and held.sum(axis=0).mean() > 2
