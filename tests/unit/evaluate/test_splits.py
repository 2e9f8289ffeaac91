"""Stratified folds: a partition, balanced labels, seeded; and the standard split."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.evaluate.splits import standard_split, stratified_folds


@pytest.fixture
def Y():
    return np.random.default_rng(0).random((203, 5)) < [0.5, 0.3, 0.1, 0.05, 0.0]


def test_folds_partition_the_rows_and_balance_every_label(Y):
    folds = stratified_folds(sp.csc_array(Y.astype(np.uint8)), 5)
    assert [fold.name for fold in folds] == ["1", "2", "3", "4", "5"]
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.held_out for fold in folds])), np.arange(203))
    for fold in folds:
        np.testing.assert_array_equal(np.sort(np.r_[fold.train, fold.held_out]), np.arange(203))
        assert np.abs(Y[fold.held_out].sum(axis=0) - Y.sum(axis=0) / 5).max() <= 2
        assert abs((~Y[fold.held_out].any(axis=1)).sum() - (~Y.any(axis=1)).sum() / 5) <= 2


def test_the_seed_decides(Y):
    first, again, other = (stratified_folds(Y, 3, seed=seed)[0].held_out for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_only_the_given_rows_are_split_and_one_label_works(Y):
    rows = np.arange(3, 103, 2)
    folds = stratified_folds(Y[:, :1], 2, rows=rows)
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.held_out for fold in folds])), rows)


@pytest.mark.parametrize("n_folds", [1, 0, 204])
def test_impossible_numbers_of_folds_are_refused(Y, n_folds):
    with pytest.raises(ValueError, match=f"n_folds={n_folds}"):
        stratified_folds(Y, n_folds)


def test_standard_split_is_the_data_sets_own_or_an_error():
    own = SimpleNamespace(name="scene", train_idx=np.array([0, 1]), test_idx=np.array([2]))
    assert standard_split(own).name == "test" and standard_split(own).held_out.tolist() == [2]
    with pytest.raises(ValueError, match="scene has no standard split"):
        standard_split(SimpleNamespace(name="scene", train_idx=None, test_idx=None))
