"""Wrappers of methods on numbers: kernel, views, leaves, scaling, axes, maps and mixtures."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from proxembed import (
    CCA,
    FDA,
    LSI,
    MESD,
    MMC,
    OLPP,
    OPLS,
    PCA,
    PLS,
    SSDR,
    ForestLeaves,
    Kernelized,
    Layout,
    ReadoutAxes,
    Scaled,
    Sliced,
    Views,
)
from proxembed.methods.forest import averaged_rows, distinct_folds
from proxembed.methods.views import GRID, LabelModels, scores_out_of_fold
from proxembed.targets import LabelMatrix, read_targets

RNG = np.random.default_rng(1)
N = 90
X = RNG.normal(size=(N, 5))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]]) * [1.0, 100.0, 0.01] + [0.0, 0.0, 7.0]
Y += RNG.normal(size=Y.shape) * [0.1, 10.0, 0.001]
NEW = RNG.normal(size=(40, 5))
WRAPPERS = {
    "Kernelized": Kernelized(OPLS(ridge=0.1), tau=3.0),
    "Kernelized on stratified prototypes": Kernelized(
        OPLS(ridge=0.1), tau=3.0, n_prototypes=30, prototypes="stratified", random_state=0
    ),
    "Views": Views(OPLS(ridge=0.1), n_estimators=20),
    "Views of regressors": Views(
        OPLS(ridge=0.1), views=["features", Ridge(), RandomForestRegressor(5, random_state=0)]
    ),
    "ForestLeaves": ForestLeaves(OPLS(), n_estimators=20),
    "ForestLeaves by folds": ForestLeaves(CCA(ridge=0.1), ridge="folds", n_estimators=20),
    "Scaled": Scaled(OPLS(ridge=0.1)),
    "ReadoutAxes": ReadoutAxes(OPLS(ridge=0.1)),
    "SSDR": SSDR(OPLS(ridge=0.1), PCA()),
    "SSDR of graphs": SSDR(CCA(ridge=0.1), OLPP(), balance="trace"),
}


def copy_of(method):
    return type(method)(**method.get_params(deep=False))


@pytest.mark.parametrize("name", WRAPPERS)
def test_units_do_not_matter(name):
    """Every wrapper takes numbers, and what it makes of them does not depend on their units."""
    Z = copy_of(WRAPPERS[name]).fit(X, Y).transform(NEW)
    other = copy_of(WRAPPERS[name]).fit(X, Y * [2.0**9, 2.0**-7, 2.0**3]).transform(NEW)
    assert Z.shape == (40, 3) and np.all(Z.std(axis=0) > 0)
    signs = np.sign(np.sum(Z * other, axis=0))
    np.testing.assert_allclose(other * signs, Z, rtol=0, atol=1e-6 * np.abs(Z).max())


@pytest.mark.parametrize("name", [name for name in WRAPPERS if "SSDR" not in name])
def test_unknown_cells_and_rows(name):
    """Rows without a known cell do not move the others, up to the rounding of other sizes."""
    hidden = np.where(RNG.random(Y.shape) < 0.2, np.nan, Y)
    hidden[:4] = np.nan
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "[A-Za-z]+ cannot use rows without a known output: [0-9]+ of 90 rows", UserWarning
        )
        model = copy_of(WRAPPERS[name]).fit(X, hidden)
    assert np.isfinite(model.transform(NEW)).all() and np.isfinite(model.transform(X)).all()


def test_the_kernel_finds_what_lines_do_not():
    scores = {}
    truth = np.column_stack([np.sin(2 * NEW[:, 0]), NEW[:, 1] * NEW[:, 2], NEW[:, 3]])
    truth = truth * [1.0, 100.0, 0.01] + [0.0, 0.0, 7.0]
    for name, method in {"lines": OPLS(ridge=0.1), "kernel": WRAPPERS["Kernelized"]}.items():
        model = copy_of(method).fit(X, Y)
        found = LinearRegression().fit(model.transform(X), Y).predict(model.transform(NEW))
        scores[name] = np.mean(1 - np.sum((found - truth) ** 2, axis=0) / np.sum((truth - Y.mean(axis=0)) ** 2, axis=0))
    assert scores["kernel"] > scores["lines"] + 0.1


def test_the_scale_of_new_rows_is_matched_for_labels_alone():
    labels = (Y > np.median(Y, axis=0)).astype(int)
    made = ForestLeaves(OPLS(), n_estimators=20)
    assert copy_of(made).fit(X, Y).scale_ == 1.0 and copy_of(made).fit(X, labels).scale_ > 1.0
    for match in (True, False):
        model = ForestLeaves(OPLS(), n_estimators=20, match_scale=match)
        assert (copy_of(model).fit(X, Y).scale_ > 1.0) is (copy_of(model).fit(X, labels).scale_ > 1.0) is match


def test_the_forest_is_that_of_scikit_learn_on_the_standardised_numbers():
    model = ForestLeaves(OPLS(), n_estimators=15, random_state=3).fit(X, Y)
    F = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    forest = RandomForestRegressor(15, min_samples_leaf=2, max_features="sqrt", random_state=3).fit(X, F)
    together = model.prepared_.leaves.features(NEW) @ model.prepared_.leaves.features(NEW).T
    leaves = forest.apply(NEW)
    same = (leaves[:, None] == leaves[None]).mean(axis=2) > 0
    assert np.mean((together.toarray() > 0) == same) > 0.99  # thresholds are rounded otherwise


def test_votes_are_out_of_bag_means():
    views = Views(OPLS(ridge=0.1), views=["scores"], n_estimators=40).fit(X, Y)
    F = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    votes = views.views_[0].lift(X)
    assert votes.shape == (N, 3) and np.all(np.abs(votes) <= np.abs(F).max())
    assert np.corrcoef(votes[:, 0], F[:, 0])[0, 1] > 0.7


def test_folds_keep_the_fifths_of_each_column_in_proportion():
    targets = read_targets(Y)
    assert np.bincount(targets.strata()).tolist() == [9] * 10  # tenths of the first score, for prototypes
    fifths = targets.fold_labels(np.arange(N)).toarray()
    assert fifths.sum(axis=0).tolist() == [18] * 15
    for split in distinct_folds(X, targets, 3):
        assert np.abs(fifths[split.held_out].sum(axis=0) - 6).max() <= 2
    assert averaged_rows(X, targets.Y)[1].shape == (N, 3)


def test_scores_of_folds_are_in_the_units_of_all_rows():
    targets = read_targets(Y)
    splits = distinct_folds(X, targets, 3)
    F = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    found = scores_out_of_fold(Ridge(), X, targets, splits)
    for split in splits:
        expected = Ridge().fit(X[split.train], F[split.train]).predict(X[split.held_out])
        np.testing.assert_allclose(found[split.held_out], expected, atol=1e-10)
    single = LabelModels.of(RandomForestRegressor(3, random_state=0), X, targets)
    assert len(single.models) == 1 and single.lift(NEW).shape == (40, 3)


def test_the_weight_of_folds_predicts_held_out_numbers_best():
    """By hand: at full rank the read-out of OPLS is the ridge regression on the blocks; unknown cells do not count."""
    y = np.where(RNG.random(Y.shape) < 0.1, np.nan, Y)
    y[np.isnan(y).all(axis=1)] = 0.0
    settings = {"method": OPLS(ridge=0.5, ridge_scale="absolute"), "views": ["features", "kernel"]}
    views, targets = Views(**settings, weights="folds").fit(X, y), read_targets(y)
    F, seed, found = targets.Y.toarray(), np.random.RandomState(0).randint(2**31 - 1), np.zeros(len(GRID))
    for _, own, new in distinct_folds(X, targets, 3, seed):
        low, high = F[own].min(axis=0), F[own].max(axis=0)
        for i, weight in enumerate(GRID):
            model = Views(**settings, weights=[1.0, weight]).fit(X[own], targets.held().take(own))
            ridge = Ridge(0.5).fit(model.prepared_.columns(X[own]), F[own])
            errors = np.clip(ridge.predict(model.prepared_.columns(X[new])), low, high) - F[new]
            found[i] += np.sum(errors[np.isfinite(y[new])] ** 2)
    assert views.weights_.tolist() == [1.0, GRID[int(np.argmin(found))]] and np.ptp(found) > 1
    best = np.sort(found)
    assert best[1] > 1.001 * best[0]  # so that another measure would not choose the same by chance


def test_layout_draws_numbers():
    Z = Layout(OPLS(ridge=0.1), random_state=0).fit_transform(X, Y)
    assert Z.shape == (N, 2) and np.isfinite(Z).all()


def test_what_wrappers_cannot_take():
    cases = {
        "LogisticRegression, a classifier, for numbers": Views(OPLS(ridge=0.1), views=[LogisticRegression()]),
        "Scaled takes classes, y holds 3 numbers": Scaled(FDA()),
        "SSDR takes classes, y holds 3 numbers": SSDR(FDA(), PCA()),
        "ForestLeaves takes labels, y holds 3 numbers": ForestLeaves(LSI()),
    }
    for message, method in cases.items():
        with pytest.raises(ValueError, match=message):
            method.fit(X, Y)


def test_labels_are_as_before():
    labels = LabelMatrix.of((Y > np.median(Y, axis=0)).astype(int))
    np.testing.assert_array_equal(labels.strata(), labels.groups()[1])
    np.testing.assert_array_equal(labels.fold_labels(np.array([3, 1])).toarray(), labels.Y.toarray()[[3, 1]] > 0)
    assert labels.held() is labels and not PLS().fit(X, labels).traits.keeps_unknown


def test_the_natural_number_of_components_is_that_of_the_method_inside():
    """Of slices one less than these, whatever is put around them, and of labels as many as without a kernel."""
    for method in (Sliced(), Kernelized(Sliced(), tau=3.0, ridge=0.1), ForestLeaves(Sliced(), n_estimators=5)):
        assert method.fit(X, Y[:, 0]).n_components_ == min(9, X.shape[1])
    labels = np.column_stack([Y > np.median(Y, axis=0), Y[:, 0] > Y[:, 0].mean()]).astype(int)
    for method in (MESD(Kernelized(MMC(), tau=3.0)), Kernelized(MESD(MMC()), tau=3.0)):
        assert method.fit(X, labels).n_components_ == labels.shape[1] - 1
