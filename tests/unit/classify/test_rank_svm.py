"""RankSVM beside liblinear, a general solver and its own certificate."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from proxembed.classify import RankSVM
from proxembed.classify.rank_svm import mean_distance, middles
from unit.classify.contract_cases import checked_in_turn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X @ RNG.normal(size=(4, 5)) + RNG.normal(size=(60, 5)) > 0.3).astype(int)


@checked_in_turn(RankSVM(), RankSVM(C=10.0, kernel="gaussian"))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def about_mean(X, Y):
    """The rows that have pairs, from their mean, of mean squared length 1; their labels, the mean, and the length."""
    paired = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
    mean = X[paired].mean(axis=0)
    length = np.sqrt(np.mean(np.sum((X[paired] - mean) ** 2, axis=1)))
    return (X[paired] - mean) / length, Y[paired], mean, length


def objective(W, b, X, Y, C):
    """The sum as it is written, by loops."""
    F, total = X @ W + b, 0.5 * (np.sum(W**2) + np.sum(b**2))
    for f, own in zip(F, Y.astype(bool), strict=True):
        pairs = [max(0.0, 1.0 - (f[k] - f[m])) for k in np.flatnonzero(own) for m in np.flatnonzero(~own)]
        total += C * np.mean(pairs) if pairs else 0.0
    return total


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_two_classes_are_liblinears_support_vectors(C):
    """w_2 = -w_1, and u = 2 w_1 solves 1/2 ||u||^2 + 2 C sum max(0, 1 - y u'x), the constant penalised alike."""
    y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
    model = RankSVM(C=C, tol=1e-7, max_iter=20_000).fit(X, y)
    rows, _, mean, length = about_mean(X, np.column_stack([1 - y, y]))
    known = LinearSVC(loss="hinge", C=2 * C, tol=1e-10, max_iter=2_000_000, random_state=0).fit(rows, y)
    np.testing.assert_allclose(length * (model.coef_[:, 1] - model.coef_[:, 0]), known.coef_[0], atol=2e-3)
    level = model.intercept_ + mean @ model.coef_
    np.testing.assert_allclose(level[1] - level[0], known.intercept_[0], atol=2e-3)


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_no_general_solver_finds_a_smaller_objective(C):
    model = RankSVM(C=C, tol=1e-6, max_iter=20_000).fit(X, Y)
    rows, labels, mean, length = about_mean(X, Y)
    level = model.intercept_ + mean @ model.coef_
    own = objective(length * model.coef_, level, rows, labels, C)
    assert model.gap_ <= 1e-6

    def of(v):
        return objective(v[:20].reshape(4, 5), v[20:], rows, labels, C)

    start = np.concatenate([length * model.coef_.ravel(), level])
    found = minimize(of, start, method="Powell", options={"maxiter": 4})
    assert own <= found.fun * (1 + 1e-5)
    for _ in range(50):
        assert own <= of(start + 0.05 * RNG.normal(size=25)) + 1e-6 * own


def test_the_gaussian_kernel_is_a_linear_one_of_its_features():
    """K + 1 = VV' of dense vectors: the linear form on V without a constant has the same scores."""
    model = RankSVM(C=3.0, kernel="gaussian", width=1.5, tol=1e-6, max_iter=20_000).fit(X, Y)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.exp(-distances / (2 * 1.5**2)) + 1.0
    paired = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 5)
    values, vectors = np.linalg.eigh(K[np.ix_(paired, paired)])
    V = vectors * np.sqrt(np.maximum(values, 0))
    B = model.dual_coef_
    own = objective(V.T @ B, np.zeros(5), V, Y[paired], 3.0)
    start = (V.T @ B).ravel()
    for step in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            other = start + step * np.random.default_rng(1).normal(size=start.size)
            assert own <= objective(other.reshape(-1, 5), np.zeros(5), V, Y[paired], 3.0) + 1e-6 * own
    assert own == pytest.approx(0.5 * np.vdot(B, K[np.ix_(paired, paired)] @ B) + own - 0.5 * np.vdot(V.T @ B, V.T @ B))


def test_the_threshold_is_the_regression_of_the_middles():
    F = np.array([[3.0, 1.0, 0.0], [0.5, 2.0, 4.0], [1.0, 1.0, 2.0]])
    labels = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    np.testing.assert_allclose(middles(F, labels), [2.0, 1.25, 0.5])
    model = RankSVM().fit(X, Y)
    ranks = X @ model.coef_ + model.intercept_
    beside = np.column_stack([ranks, np.ones(60)])
    level = beside @ model.threshold_
    np.testing.assert_allclose(beside.T @ (middles(ranks, Y > 0) - level), 0, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), ranks - level[:, None])


def test_it_ranks_the_labels_of_new_rows():
    from sklearn.metrics import coverage_error

    draw = np.random.default_rng(5)
    W, new = draw.normal(size=(4, 5)), draw.normal(size=(200, 4))
    known = draw.normal(size=(200, 4))
    model = RankSVM(C=10.0).fit(known, (known @ W > 0.3).astype(int))
    truth = (new @ W > 0.3).astype(int)
    some = (truth.sum(axis=1) > 0) & (truth.sum(axis=1) < 5)
    best = truth[some].sum(axis=1).mean()
    assert coverage_error(truth[some], model.decision_function(new)[some]) < best + 0.25
    assert np.mean(model.predict(new) == truth) > 0.9


def test_sparse_rows_and_unknown_labels():
    dense, rows = RankSVM(tol=1e-6).fit(X, Y), RankSVM(tol=1e-6).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(dense.coef_, rows.coef_, atol=1e-6)
    partly = Y.astype(float)
    partly[3, 1] = np.nan
    with pytest.warns(UserWarning, match="RankSVM cannot use unknown labels: 1 of 60 rows have one and are left out"):
        found = RankSVM(tol=1e-6).fit(X, partly)
    left = np.delete(np.arange(60), 3)
    np.testing.assert_allclose(found.coef_, RankSVM(tol=1e-6).fit(X[left], Y[left]).coef_, atol=1e-6)


def test_without_pairs_all_labels_or_none_are_predicted():
    for cell in (0, 1):
        found = RankSVM().fit(X, np.tile([[cell, cell]], (60, 1)))
        assert not found.coef_.any() and np.all(found.predict(X) == cell) and found.gap_ == 0


def test_an_unfinished_solution_is_said():
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        RankSVM(C=1e5, tol=1e-9, max_iter=3).fit(X, Y)


def test_the_score_of_two_classes_is_positive_where_the_second_is_predicted():
    """Also with rows whose labels are ranked wrongly, which move the threshold away from the middle."""
    rare = (np.arange(60) == 7).astype(int)
    found, turned = (RankSVM().fit(X, y) for y in (rare, 1 - rare))
    scores = found.decision_function(X)
    np.testing.assert_array_equal(found.predict(X), (scores > 0).astype(int))
    np.testing.assert_allclose(turned.decision_function(X), -scores, rtol=0, atol=1e-6)


def test_the_width_is_the_mean_distance():
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert mean_distance(X) == pytest.approx(distances.sum() / (60 * 59))
    assert mean_distance(np.ones((3, 2))) == 1.0


def test_a_weight_that_no_pair_can_share_is_refused():
    with pytest.raises(ValueError, match="RankSVM: C=5e-324 is not allowed; C must be a number >= 1e-300"):
        RankSVM(C=5e-324).fit(np.arange(8.0).reshape(4, 2), [[1, 0], [0, 1], [1, 0], [0, 1]])
