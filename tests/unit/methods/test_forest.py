"""Forest leaves: the forest's votes are linear in them, their kernels are the known ones, and figures on real data."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge

from proxembed import FDA, MESD, OPLS, PCA, SSDR, ForestLeaves, Isomap, Kernelized
from proxembed.algebra.shared import Shared
from proxembed.features.leaves import column_unit, for_trees, grown
from proxembed.methods.forest import RIDGES, averaged_rows
from proxembed.splits.splits import stratified_folds

X, Y = make_multilabel_classification(90, 8, n_classes=4, n_labels=2, random_state=0)
X = X + np.random.default_rng(0).normal(size=X.shape) / 10
NEW = X[:20] + np.random.default_rng(1).normal(size=(20, 8))
SETTINGS = {"n_estimators": 40, "min_samples_leaf": 2, "max_features": "sqrt", "random_state": 3}


def forest():
    """The map, the draws, and V with the rows of V_i = (T M)^-1/2 W_it at the leaves of row i."""
    leaves, own = grown(X, Y.astype(float), np.ones(len(X)), **SETTINGS)
    at = leaves.leaves(X)
    V = sp.csr_array(
        ((leaves.entries[at] * own.draws).ravel(), at.ravel(), np.arange(0, at.size + 1, at.shape[1])),
        shape=(len(X), len(leaves.entries)),
    )
    return leaves, own, V


def test_the_forest_is_that_of_scikit_learn_and_its_vote_is_linear_in_the_leaves():
    leaves, _, V = forest()
    same = RandomForestRegressor(**SETTINGS).fit(for_trees(X, column_unit(X)), Y)
    expected = same.predict(for_trees(NEW, column_unit(X)))
    np.testing.assert_allclose(leaves.features(NEW) @ (V.T @ Y), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("rows", [X, np.column_stack([np.ones(len(X)), X[:, :3]]), sp.csr_array(np.maximum(X, 1) - 1)])
def test_leaves_and_draws_are_kept_of_the_rows_that_a_forest_is_grown_on(rows):
    counts = np.arange(1.0, len(X) + 1)
    leaves, own = grown(rows, Y.astype(float), counts, **SETTINGS)
    np.testing.assert_array_equal(own.leaves, leaves.leaves(rows))
    np.testing.assert_allclose(
        own.draws.sum(axis=0) / (own.draws / counts[:, None]).sum(axis=0), counts.mean(), rtol=0.2
    )
    np.testing.assert_array_equal((own.draws / counts[:, None]).sum(axis=0), len(X))
    with Shared().active():
        for _ in range(2):  # grown, and taken from what is shared
            again, same = grown(rows, Y.astype(float), counts, **SETTINGS)
            np.testing.assert_array_equal(again.entries, leaves.entries)
            np.testing.assert_array_equal(same.draws, own.draws)
            np.testing.assert_array_equal(same.leaves, own.leaves)


def test_extra_trees_are_those_of_scikit_learn():
    leaves, own = grown(X, Y.astype(float), np.ones(len(X)), **SETTINGS, forest="extra")
    same = ExtraTreesRegressor(**SETTINGS, bootstrap=True, oob_score=True).fit(for_trees(X, column_unit(X)), Y)
    votes = leaves.votes(own, Y)
    new = same.predict(for_trees(NEW, column_unit(X)))
    np.testing.assert_allclose(leaves.features(NEW) @ votes, new, rtol=0, atol=1e-14)
    np.testing.assert_allclose(leaves.unbiased(own) @ votes, same.oob_prediction_, rtol=0, atol=1e-14)
    model = ForestLeaves(forest="extra", n_estimators=40, random_state=3).fit(X, Y)
    np.testing.assert_array_equal(model.prepared_.leaves.threshold, leaves.threshold)


def test_the_ridge_of_folds_is_that_of_forests_grown_again():
    """By scikit-learn's ridge regression on the leaves of a forest per fold, every copy of a row in one fold."""
    twice = np.r_[np.arange(90), np.arange(30)]
    model = ForestLeaves(ridge="folds", n_estimators=30, random_state=3).fit(X[twice], Y[twice])
    errors = np.zeros(len(RIDGES))
    for fold in stratified_folds(Y[:, np.lexsort(Y)], 3):
        own, out = twice[np.isin(twice, fold.train)], twice[np.isin(twice, fold.held_out)]
        once = ForestLeaves(n_estimators=30, n_components=1, random_state=3).fit(X[own], Y[own])
        R, R_new = once.lift(X[own]).toarray(), once.lift(X[out]).toarray()
        unit = ((R - R.mean(axis=0)) ** 2).sum() / min(R.shape)
        for i, ridge in enumerate(RIDGES):
            found = Ridge(alpha=ridge * unit, solver="cholesky").fit(R, Y[own])
            errors[i] += ((found.predict(R_new) - Y[out]) ** 2).sum()
    best = RIDGES[errors.argmin()]
    assert np.sort(errors)[1] > errors.min() * (1 + 1e-6)
    assert model.ridge_ == pytest.approx(
        ForestLeaves(ridge=best, n_estimators=30, random_state=3).fit(X[twice], Y[twice]).ridge_
    )


def test_the_ridge_of_folds_is_large_where_labels_are_noise():
    rng = np.random.default_rng(0)
    noise, told = rng.integers(0, 2, size=(90, 2)), (X[:, :2] > np.median(X[:, :2], axis=0)).astype(int)
    ridges = [ForestLeaves(ridge="folds", n_estimators=50).fit(X, y).prepared_.ridge for y in (noise, told)]
    assert ridges[0] == RIDGES[-1] and ridges[1] < 3


def test_a_row_that_every_tree_has_drawn_is_left_out_and_placed_at_the_mean():
    model = ForestLeaves(rows="oob", n_estimators=2, n_components=2, random_state=3).fit(X, Y)
    leaves, own = grown(X, Y.astype(float), np.ones(len(X)), **SETTINGS | {"n_estimators": 2})
    drawn = (own.draws > 0).all(axis=1)
    assert 10 < drawn.sum() < 60
    assert np.all(model.transform(X)[drawn] == 0)
    Q = leaves.unbiased(own).toarray()[~drawn]
    np.testing.assert_allclose(model.mean_, Q.mean(axis=0), rtol=0, atol=1e-14)
    alone = OPLS(n_components=2, ridge=1.0).fit(Q, Y[~drawn])
    np.testing.assert_allclose(model.transform(X)[~drawn], alone.transform(Q), rtol=0, atol=1e-10)


def test_rows_that_every_tree_has_drawn_are_refused_out_of_bag():
    with pytest.raises(ValueError, match="rows='oob' has no tree that was grown without a row"):
        ForestLeaves(rows="oob", n_estimators=3).fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_out_of_bag_leaves_give_out_of_bag_votes_and_the_rf_gap_weights():
    leaves, own, V = forest()
    Q = leaves.unbiased(own)
    same = RandomForestRegressor(**SETTINGS, oob_score=True).fit(for_trees(X, column_unit(X)), Y)
    np.testing.assert_allclose(Q @ (V.T @ Y), same.oob_prediction_, rtol=0, atol=1e-14)
    gap = (Q @ V.T).toarray()
    np.testing.assert_allclose(gap.sum(axis=1), 1.0, rtol=0, atol=1e-13)
    assert np.all(np.diag(gap) == 0)


def test_the_kernel_of_out_of_bag_leaves_counts_common_trees():
    leaves, own, _ = forest()
    Q, at, unseen = leaves.unbiased(own), leaves.leaves(X), own.draws == 0
    i, j = 4, 9
    size = 1 / (leaves.n_trees * leaves.entries[at[i]] ** 2)
    common = unseen[i] & unseen[j] & (at[i] == at[j])
    expected = leaves.n_trees / (unseen[i].sum() * unseen[j].sum()) * np.sum(common / size)
    assert expected > 0
    assert (Q @ Q.T).toarray()[i, j] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("rows", ["all", "oob"])
def test_sparse_rows_and_any_number_of_threads_give_the_same(rows):
    build = lambda: ForestLeaves(rows=rows, n_estimators=20, n_components=3)  # noqa: E731
    expected = build().fit(X, Y).transform(NEW)
    with parallel_config(backend="threading", n_jobs=2):
        np.testing.assert_array_equal(build().fit(X, Y).transform(NEW), expected)
    words = np.where(X > 4, np.floor(X), 0.0)
    dense, thin = build().fit(words, Y), build().fit(sp.csr_array(words), Y)
    np.testing.assert_allclose(thin.transform(words[:9]), dense.transform(words[:9]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", ["all", "oob"])
def test_rows_of_fit_keep_their_places_and_new_rows_are_enlarged(rows):
    model = ForestLeaves(OPLS(), rows=rows, n_estimators=30, n_components=3).fit(X, Y)
    plain = ForestLeaves(OPLS(), rows=rows, n_estimators=30, n_components=3, match_scale=False).fit(X, Y)
    np.testing.assert_array_equal(model.transform(X), plain.transform(X))
    assert model.scale_ > 1.2 and plain.scale_ == 1.0
    np.testing.assert_allclose(model.transform(NEW), model.scale_ * plain.transform(NEW), rtol=1e-12)
    training = plain.prepared_.training
    assert training is None  # fit's leaves are not kept
    R = plain.lift(X) if rows == "all" else grown_out_of_bag()
    np.testing.assert_allclose((R - plain.mean_) @ plain.components_.T, plain.transform(X), rtol=0, atol=1e-10)


def grown_out_of_bag():
    leaves, own = grown(X, Y.astype(float), np.ones(len(X)), **SETTINGS | {"n_estimators": 30, "random_state": 0})
    return leaves.unbiased(own).toarray()


def test_equal_rows_are_one_row_to_the_forest():
    """Twice each row: the forest of the rows once, with twice the weight, so that no bag holds a copy alone."""
    once, twice = (
        ForestLeaves(rows="oob", n_estimators=30, n_components=2).fit(np.tile(X, (m, 1)), np.tile(Y, (m, 1)))
        for m in (1, 2)
    )
    assert twice.n_leaves_ == once.n_leaves_
    np.testing.assert_allclose(twice.prepared_.leaves.entries * np.sqrt(2), once.prepared_.leaves.entries, rtol=1e-13)
    Z = twice.transform(np.tile(X, (2, 1)))
    np.testing.assert_array_equal(Z[: len(X)], Z[len(X) :])


def test_averaged_rows_carry_the_mean_of_their_labels():
    rows, means, counts, number = averaged_rows(np.array([[1.0], [2.0], [1.0]]), sp.csc_array([[1.0], [0.0], [0.0]]))
    assert rows.tolist() == [[1.0], [2.0]] and means.tolist() == [[0.5], [0.0]]
    assert counts.tolist() == [2.0, 1.0] and number.tolist() == [0, 1, 0]


def test_a_unit_of_x_however_small_or_large_changes_nothing():
    expected = ForestLeaves(n_estimators=10, n_components=2).fit(X, Y).transform(NEW)
    for unit in (2.0**-300, 2.0**300):
        model = ForestLeaves(n_estimators=10, n_components=2).fit(X * unit, Y)
        np.testing.assert_array_equal(model.transform(NEW * unit), expected)


def test_new_rows_beyond_single_precision_fall_into_the_outermost_leaves():
    model = ForestLeaves(n_estimators=10, n_components=2).fit(X, Y)
    far = X[:1] + 1e6
    np.testing.assert_array_equal(model.transform(far * 1e60), model.transform(far))


def test_forests_of_many_labels_are_grown_on_their_principal_scores():
    many = (np.random.default_rng(0).random((90, 60)) < 0.2) | (X[:, :1] > np.median(X[:, 0]))
    model = ForestLeaves(n_estimators=10, n_components=2).fit(X, many.astype(int))
    assert np.all(np.isfinite(model.transform(NEW)))
    top = model.transform(X)[:, 0]
    assert abs(np.corrcoef(top, X[:, 0] > np.median(X[:, 0]))[0, 1]) > 0.8


def test_unknown_cells_are_the_mean_of_their_label_and_rows_without_any_are_new():
    partly = Y.astype(float)
    partly[:10] = np.nan
    partly[10:15, 1] = np.nan
    model = ForestLeaves(n_estimators=20, n_components=2).fit(X, partly)
    filled = Y[10:].astype(float)
    filled[:5, 1] = filled[5:, 1].mean()
    leaves, _ = grown(
        X[10:], filled, np.ones(80), n_estimators=20, min_samples_leaf=2, max_features="sqrt", random_state=0
    )
    np.testing.assert_array_equal(model.prepared_.leaves.threshold, leaves.threshold)
    seen = (model.lift(X[10:]) - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.transform(X[10:]), seen, rtol=0, atol=1e-10)
    unseen = (model.lift(X[:10]) - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.transform(X[:10]), model.scale_ * unseen, rtol=0, atol=1e-10)


def test_one_class_is_refused_before_any_tree(monkeypatch):
    monkeypatch.setattr("proxembed.methods.forest.grown", lambda *args, **kwargs: pytest.fail("a forest was grown"))
    with pytest.raises(ValueError, match="one class only"):
        ForestLeaves().fit(X, np.ones(len(X), int))


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (Isomap(), "places the rows themselves"),
        (Kernelized(), "makes features of its own"),
        (ForestLeaves(), "makes features of its own"),
        (SSDR(), "is made of two methods"),
    ],
)
def test_methods_that_leaves_do_not_serve(method, reason):
    with pytest.raises(ValueError, match=f"ForestLeaves cannot wrap|{reason}"):
        ForestLeaves(method, n_estimators=2).fit(X, Y)


def test_a_ridge_chosen_by_leave_one_out_is_refused():
    with pytest.raises(ValueError, match="ridge=None takes ridge='auto' of OPLS"):
        ForestLeaves(ridge=None).fit(X, Y)
    ForestLeaves(OPLS(ridge=0.5), ridge=None, n_estimators=3).fit(X, Y)


def test_leaves_too_large_to_split_are_named():
    with pytest.raises(ValueError, match="min_samples_leaf=60 lets no tree split these 90"):
        ForestLeaves(n_estimators=3, min_samples_leaf=60).fit(X, Y)


def test_methods_of_every_kind_run_on_leaves():
    iris, classes = load_iris(return_X_y=True)
    for method in (FDA(), PCA(), MESD(FDA())):
        Z = ForestLeaves(method, n_estimators=20, n_components=2).fit_transform(iris, classes)
        means = np.array([Z[classes == k].mean(axis=0) for k in range(3)])
        between = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(3, 1)].min()
        assert between > Z[classes == 0].std()


def test_damaged_trees_are_refused():
    model = ForestLeaves(n_estimators=3, n_components=2).fit(X, Y)
    leaves = model.prepared_.leaves
    leaves.left[0] = len(leaves.left) + 7
    leaves.__dict__.pop("trees", None)
    with pytest.raises(ValueError, match="damaged"):
        model.transform(NEW)


def test_effects_are_those_of_the_splits():
    """By hand on one tree: the mean value of the component on both sides of each split, weighted by the rows there."""
    leaves, own = grown(X, Y.astype(float), np.ones(len(X)), **SETTINGS | {"n_estimators": 1})
    weights = np.random.default_rng(2).normal(size=(2, len(leaves.entries)))
    rows = np.repeat(np.arange(len(X)), own.draws[:, 0].astype(int))
    values, scaled = leaves.features(X[rows]) @ weights.T, X[rows] * leaves.unit
    expected, sign = np.zeros((2, X.shape[1])), np.zeros((2, X.shape[1]))

    def split(node, here):
        if leaves.left[node] < 0:
            return
        j = leaves.feature[node]
        low = scaled[here, j].astype(np.float32) <= leaves.threshold[node]
        step = (values[here[~low]].mean(axis=0) - values[here[low]].mean(axis=0)) * len(here) / len(rows)
        expected[:, j] += np.abs(step)
        sign[:, j] += step
        split(leaves.left[node], here[low])
        split(leaves.right[node], here[~low])

    split(0, np.arange(len(rows)))
    np.testing.assert_allclose(leaves.effects(weights), expected * np.where(sign < 0, -1, 1), rtol=1e-10, atol=1e-12)


def test_explain_names_the_features_that_matter():
    rng = np.random.default_rng(0)
    noisy = np.hstack([X[:, :2], rng.normal(size=(90, 8))])
    told = ForestLeaves(n_components=1).fit(noisy, (X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1])).astype(int))
    assert told.explain(0).effects and {name for name, _ in told.explain(0, n_features=2).features} == {"x0", "x1"}
