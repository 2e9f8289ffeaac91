"""FLDA: against scikit-learn's LDA and the formula by explicit scatters, one label and many, dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from designs import pairwise
from proxembed.classify import FLDAClassifier
from unit.classify.contract_cases import checked_in_turn


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 4
    Y = ((X - 4) @ rng.normal(size=(5, 4)) + 2 * rng.normal(size=(60, 4)) > [0, 1, 2, -2]).astype(int)
    return X, Y


@pytest.fixture
def classes(data):
    X = data[0].copy()
    y = np.repeat(["p", "q", "r"], [10, 20, 30])
    X[:10, 0] += 3
    X[10:30, 1] -= 3
    return X, y


def by_scatters(X, y, ridge, prior):
    """Section 12.1 of the formula, from the two scatter matrices of one label."""
    n, d = X.shape
    high, low = X[y == 1], X[y == 0]
    total = X - X.mean(axis=0)
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (high, low))
    lam = ridge * np.trace(total.T @ total) / d
    w = np.linalg.solve(within + lam * np.eye(d), high.mean(axis=0) - low.mean(axis=0))
    cut = w @ (high.mean(axis=0) + low.mean(axis=0)) / 2
    return X @ w - cut + prior * np.log(len(high) / len(low)) / (n - 2)


@checked_in_turn(FLDAClassifier(), FLDAClassifier("prior", ridge=0.1))
def test_scikit_learn_contract(estimator, check):
    if check.func.__name__ == "check_classifiers_multilabel_output_format_predict_proba":
        assert not hasattr(estimator, "predict_proba"), "this check is skipped only for want of probabilities"
    check(estimator)


@pairwise
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("ridge", [0, 1e-6, 0.5])
@pytest.mark.parametrize("threshold", ["midpoint", "prior"])
def test_every_label_equals_the_formula(data, form, ridge, threshold):
    X, Y = data
    expected = np.column_stack([by_scatters(X, y, ridge, threshold == "prior") for y in Y.T])
    model = FLDAClassifier(threshold, ridge=ridge).fit(form(X), Y)
    np.testing.assert_allclose(model.decision_function(form(X)), expected, rtol=1e-8, atol=1e-11)
    np.testing.assert_array_equal(model.predict(X), expected > 0)


def test_more_features_than_rows_equals_the_formula(data):
    X, Y = data
    X = np.random.default_rng(3).normal(size=(20, 70))
    expected = np.column_stack([by_scatters(X, y, 1e-3, 0) for y in Y[:20].T])
    for form in (np.asarray, sp.csr_array):
        scores = FLDAClassifier(ridge=1e-3).fit(form(X), Y[:20]).decision_function(X)
        np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-9)


def by_gaussians(X, y, shares):
    """Log densities of the classes under one covariance, pooled without bias, with or without their shares."""
    names, counts = np.unique(y, return_counts=True)
    parts = [X[y == name] for name in names]
    pooled = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts) / (len(y) - len(names))
    densities = [multivariate_normal(part.mean(axis=0), pooled).logpdf(X) for part in parts]
    return np.column_stack(densities) + shares * np.log(counts / len(y))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_two_classes_are_gaussian_discriminant_analysis(data, form):
    X, Y = data
    for y in Y.T:
        for threshold, shares in (("midpoint", 0), ("prior", 1)):
            scores = FLDAClassifier(threshold, ridge=0).fit(form(X), y).decision_function(X)
            expected = by_gaussians(X, y, shares)
            np.testing.assert_allclose((len(y) - 2) * scores, expected[:, 1] - expected[:, 0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_several_classes_are_gaussian_discriminant_analysis(classes, form):
    X, y = classes
    for threshold, shares in (("midpoint", 0), ("prior", 1)):
        model, expected = FLDAClassifier(threshold, ridge=0).fit(form(X), y), by_gaussians(X, y, shares)
        scores = model.decision_function(X) * (len(y) - 3)
        gaps, expected_gaps = scores - scores[:, :1], expected - expected[:, :1]
        np.testing.assert_allclose(gaps, expected_gaps, rtol=1e-8, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), np.array(list("pqr"))[expected.argmax(axis=1)])


def test_with_equal_priors_the_classes_are_those_of_scikit_learns_lda(classes):
    X, y = classes
    oracle = LinearDiscriminantAnalysis(priors=[1 / 3] * 3).fit(X, y)
    model = FLDAClassifier(ridge=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X))
    gaps = [np.diff(estimator.decision_function(X), axis=1) for estimator in (model, oracle)]
    ratio = gaps[0] / gaps[1]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-7)


def test_several_classes_are_the_nearest_mean_after_projection(classes):
    X, y = classes
    oracle = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    Z = (X - X.mean(axis=0)) @ oracle.scalings_
    means = np.stack([Z[y == name].mean(axis=0) for name in "pqr"])
    nearest = np.square(Z[:, None] - means).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(FLDAClassifier(ridge=0).fit(X, y).predict(X), np.array(list("pqr"))[nearest])


def test_two_classes_and_one_label_agree(data):
    X, Y = data
    one = FLDAClassifier().fit(X, Y[:, :2])
    two = FLDAClassifier().fit(X, Y[:, 1])
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X)[:, 1], rtol=1e-10)
    names = FLDAClassifier().fit(X, np.where(Y[:, 1] == 1, "yes", "no")).predict(X)
    np.testing.assert_array_equal(names == "yes", two.predict(X))


def test_a_label_of_no_row_or_of_all_rows_is_constant(data):
    X, Y = data
    Y = np.column_stack([np.zeros(60), Y, np.ones(60)]).astype(int)
    for threshold in ("midpoint", "prior"):
        model = FLDAClassifier(threshold).fit(X, Y)
        scores = model.decision_function(-3 * X)
        assert (scores[:, 0] == -1).all() and (scores[:, -1] == 1).all()
        np.testing.assert_array_equal(model.predict(X)[:, [0, -1]], [[0, 1]] * 60)


def test_features_that_do_not_vary_and_rows_without_noise():
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    flat = FLDAClassifier().fit(np.ones((4, 2)), Y)
    np.testing.assert_array_equal(flat.decision_function(np.ones((4, 2))), 0)
    collapsed = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(FLDAClassifier().fit(collapsed, Y).predict(collapsed), Y)
    np.testing.assert_array_equal(FLDAClassifier().fit(np.eye(3), [2, 0, 1]).predict(np.eye(3)), [2, 0, 1])


@pytest.mark.parametrize("y", [[[1, 0], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 2]])
def test_a_singular_within_scatter_without_ridge_is_refused(y):
    X = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="ridge=0 leaves a singular within-class scatter; take a ridge above 0"):
        FLDAClassifier(ridge=0).fit(X, y)


def test_rows_with_unknown_labels_are_left_out_with_a_warning(data):
    X, Y = data
    holes = Y.astype(float)
    holes[:5, 1] = np.nan
    with pytest.warns(UserWarning, match=f"unknown labels: 5 of {len(X)} rows have one and are left out"):
        model = FLDAClassifier().fit(X, holes)
    np.testing.assert_allclose(model.coef_, FLDAClassifier().fit(X[5:], Y[5:]).coef_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "mean"}, "threshold='mean' is not allowed; threshold must be 'midpoint' or 'prior'"),
        ({"ridge": -1.0}, "ridge=-1.0 is not allowed; ridge must be a number >= 0"),
        ({"ridge": np.nan}, "ridge=nan is not allowed"),
        ({"ridge": "auto"}, "ridge='auto' is not allowed"),
        ({"ridge": True}, "ridge=True is not allowed"),
    ],
)
def test_impossible_parameters_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        FLDAClassifier(**options).fit(*data)


def test_rows_of_single_precision_give_the_same_without_scatter_within_the_classes():
    X = np.random.default_rng(1).normal(size=(2, 5)).astype(np.float32)
    dense, sparse, double = (FLDAClassifier().fit(A, ["p", "q"]) for A in (X, sp.csr_array(X), X.astype(float)))
    np.testing.assert_allclose(dense.coef_, double.coef_, rtol=1e-7)
    np.testing.assert_allclose(sparse.coef_, double.coef_, rtol=1e-7)
