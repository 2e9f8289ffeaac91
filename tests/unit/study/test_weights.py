"""Weights of rows in a search: ones are none, a row of weight 0 is absent, and methods that take none are left out."""

import numpy as np
import pytest

from proxembed import EmbeddingSearch
from proxembed.data import Dataset
from proxembed.splits.splits import Splitting, make_splits

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(50, 4))
NUMBERS = X[:, :2] + 0.5 * DRAW.normal(size=(50, 2))
OPTIONS = {"n_components": [1, 2], "max_trials": 1, "final_cv": 0}


def scores(found):
    """The scores of all trials, by size."""
    return [list(trial["scores"].values()) for trial in found.trials_]


@pytest.mark.parametrize("y", [NUMBERS, (NUMBERS > 0).astype(int)], ids=["numbers", "labels"])
def test_ones_are_none_and_a_row_of_weight_zero_is_absent(y):
    splits = make_splits(Dataset.from_targets(X, NUMBERS), Splitting(n_folds=3))
    plain = EmbeddingSearch(["opls"], cv=splits, **OPTIONS).fit(X, y)
    ones = EmbeddingSearch(["opls"], cv=splits, **OPTIONS).fit(X, y, sample_weight=np.ones(50))
    assert scores(ones) == scores(plain) and ones.best_params_ == plain.best_params_
    np.testing.assert_array_equal(ones.transform(X), plain.transform(X))
    at = np.r_[20:25, np.arange(50), 3]  # rows of weight 0 in front, and one behind
    w, moved = np.r_[np.zeros(5), np.ones(50), 0.0], [(train + 5, held_out + 5) for _, train, held_out in splits]
    moved = [(np.append(train, 1), np.append(held_out, 55)) for train, held_out in moved]
    absent = EmbeddingSearch(["opls"], cv=moved, **OPTIONS).fit(X[at], y[at], sample_weight=w)
    np.testing.assert_allclose(np.ravel(scores(absent)), np.ravel(scores(plain)), rtol=1e-9)
    np.testing.assert_allclose(absent.transform(X), plain.transform(X), rtol=1e-9, atol=1e-12)


def test_weights_count_in_the_last_fit_and_methods_without_them_are_left_out():
    y, w = (NUMBERS[:, 0] > 0).astype(int), DRAW.integers(1, 4, 50).astype(float)
    search = EmbeddingSearch(["mddm", "lle"], n_components=1, max_trials=1, final_cv=0).fit(X, y, sample_weight=w)
    assert {trial["method"] for trial in search.trials_} == {"MDDM"} and not search.trials_[0]["failure"]
    assert search.unweighted_ == (
        "LLE takes no weights of rows: it links pairs of rows, or places the rows themselves.",
    )
    with pytest.raises(ValueError, match="LLE takes no sample_weight"):
        EmbeddingSearch(["lle"], n_components=1, max_trials=1).fit(X, y, sample_weight=w)
    rows = np.repeat(np.arange(50), w.astype(int))
    repeated = EmbeddingSearch(["mddm"], n_components=1, max_trials=1, final_cv=0).fit(X[rows], y[rows])
    apart = np.abs(search.transform(X)) - np.abs(repeated.transform(X))
    assert np.abs(apart).max() < 1e-8 or search.scaling_ != repeated.scaling_
