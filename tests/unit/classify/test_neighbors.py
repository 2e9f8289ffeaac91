"""Neighbour classifiers: the search with its ties, k-NN against scikit-learn, ML-kNN against a loop of its formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier

from designs import pairwise
from proxembed.classify import MLKNN, LabelKNN
from proxembed.classify.neighbors import nearest_rows
from unit.classify.contract_cases import checked_in_turn


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    Y = (X @ rng.normal(size=(4, 3)) + 0.5 * rng.normal(size=(50, 3)) > 0.2).astype(int)
    return X, Y, rng.normal(size=(30, 4))


def by_sorting(X, X_train, k, metric, own=False):
    """All distances, a stable sort."""
    if metric == "cosine":
        X, X_train = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (X, X_train))
    distances = np.square(X[:, None] - X_train).sum(axis=2).round(9)
    if own:
        np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@checked_in_turn(LabelKNN(), LabelKNN(3, metric="cosine"))
def test_scikit_learn_contract_of_lists(estimator, check):
    if check.func.__name__.endswith("multilabel_output_format_predict_proba"):
        assert not hasattr(estimator, "predict_proba"), "this check is skipped only for want of probabilities"
    check(estimator)


@checked_in_turn(MLKNN(), MLKNN(2))
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pairwise
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("width", [2, 30])
@pytest.mark.parametrize("k", [1, 5, 60])
def test_neighbours_equal_a_stable_sort_with_many_ties(form, metric, width, k):
    rng = np.random.default_rng(width)
    train = rng.integers(0, 3, size=(60, width)).astype(float) + 1
    train[20:60] = train[rng.integers(0, 20, 40)]
    rows = np.vstack([train[:10], rng.integers(1, 4, size=(10, width))])
    found = nearest_rows(form(rows), form(train), k, metric=metric)
    np.testing.assert_array_equal(found, by_sorting(rows, train, k, metric))
    own = nearest_rows(form(train), form(train), min(k, 59), metric=metric, own=True)
    np.testing.assert_array_equal(own, by_sorting(train, train, min(k, 59), metric, own=True))
    assert not (own == np.arange(60)[:, None]).any()


def test_when_all_rows_are_equal_the_lowest_numbers_are_nearest():
    X = np.full((40, 20), 0.1)
    assert nearest_rows(X, X, 3).tolist() == [[0, 1, 2]] * 40
    own = nearest_rows(X, X, 3, own=True)
    assert own[:4].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]] and (own[4:] == [0, 1, 2]).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_zeros_are_at_right_angles_to_all(form):
    train = np.array([[0.0, 0.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0], [2.0, 2.0]])
    rows = np.array([[0.0, 0.0], [3.0, 3.0], [1.0, -2.0]])
    found = nearest_rows(form(rows), form(train), 5, metric="cosine")
    assert found.tolist() == [[0, 1, 2, 3, 4], [4, 0, 1, 2, 3], [1, 0, 3, 4, 2]]


def test_far_from_the_origin_close_rows_are_told_apart():
    train = 1e6 + np.array([[0.0], [1e-3], [2e-3], [5.0]])
    assert nearest_rows(1e6 + np.array([[1.1e-3]]), train, 4).tolist() == [[1, 2, 0, 3]]


@pairwise
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_labels_equal_scikit_learns_neighbours(data, form, metric, k):
    X, Y, new = data
    oracle = KNeighborsClassifier(k, metric=metric).fit(X, Y)
    model = LabelKNN(k, metric=metric).fit(form(X), Y)
    np.testing.assert_array_equal(model.predict(form(new)), oracle.predict(new))
    expected = np.column_stack([part[:, 1] for part in oracle.predict_proba(new)])
    np.testing.assert_allclose(model.decision_function(form(new)), expected - 0.5)


def test_classes_equal_scikit_learns_neighbours(data):
    X, Y, new = data
    y = np.array(["u", "v", "w"])[Y[:, 0] + Y[:, 1]]
    for k in (1, 5):
        oracle = KNeighborsClassifier(k).fit(X, y)
        model = LabelKNN(k).fit(X, y)
        np.testing.assert_array_equal(model.predict(new), oracle.predict(new))
        np.testing.assert_allclose(model.decision_function(new), oracle.predict_proba(new) - 0.5)


def test_the_nearest_row_gives_its_label_set_and_equal_rows_the_first():
    X = np.array([[0.0], [2.0], [2.0], [9.0]])
    y = [{"a"}, {"a", "b"}, {"c"}, set()]
    assert LabelKNN().fit(X, y).predict([[2.0], [1.0], [8.0]]) == [{"a", "b"}, {"a"}, set()]
    even = LabelKNN(2).fit(X, y)
    assert even.predict([[2.0]]) == [set()], "one vote of two is no majority"
    assert LabelKNN(9).fit(X, y).n_neighbors_ == 4


def by_loop(X, Y, new, K, s):
    """Posteriors of ML-kNN, one count at a time."""
    n, c = Y.shape
    own, near = by_sorting(X, X, K, "euclidean", own=True), by_sorting(new, X, K, "euclidean")
    out = np.empty((len(new), c))
    for j in range(c):
        prior = (s + Y[:, j].sum()) / (2 * s + n)
        count = [sum(Y[a, j] for a in own[i]) for i in range(n)]
        for t in range(len(new)):
            r = sum(Y[a, j] for a in near[t])
            yes = sum(1 for i in range(n) if Y[i, j] == 1 and count[i] == r)
            no = sum(1 for i in range(n) if Y[i, j] == 0 and count[i] == r)
            p1 = prior * (s + yes) / (s * (K + 1) + Y[:, j].sum())
            p0 = (1 - prior) * (s + no) / (s * (K + 1) + n - Y[:, j].sum())
            out[t, j] = p1 / (p1 + p0)
    return out


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("K", "s"), [(1, 1.0), (10, 1.0), (4, 0.3)])
def test_mlknn_equals_a_loop_of_its_formula(data, form, K, s):
    X, Y, new = data
    Y = np.column_stack([Y, np.zeros(50, int), np.ones(50, int)])
    expected = by_loop(X, Y, new, K, s)
    model = MLKNN(K, smoothing=s).fit(form(X), Y)
    np.testing.assert_allclose(model.predict_proba(form(new)), expected, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(form(new)), expected - 0.5, atol=1e-14)
    np.testing.assert_array_equal(model.predict(new), expected > 0.5)
    np.testing.assert_allclose(model.likelihood_.sum(axis=1), 1)


@pytest.mark.parametrize("prior", [0.4, 0.6])
def test_equal_posteriors_go_by_the_prior(data, prior):
    X, Y, new = data
    model = MLKNN(1).fit(X, Y)
    model.prior_ = np.full(3, prior)
    model.likelihood_ = np.stack([np.full((2, 3), prior), np.full((2, 3), 1 - prior)])
    np.testing.assert_array_equal(model.decision_function(new), 0)
    np.testing.assert_array_equal(model.predict(new), int(prior > 0.5))


def test_mlknn_uses_all_other_rows_when_there_are_few():
    model = MLKNN().fit(np.arange(5.0)[:, None], [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    assert model.n_neighbors_ == 4 and model.likelihood_.shape == (2, 5, 2)
    with pytest.raises(ValueError, match="needs at least 2 rows with known labels"), pytest.warns(UserWarning):
        model.fit(np.eye(5)[:2], [[1, 0], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LabelKNN(0), "n_neighbors=0 is not allowed; n_neighbors must be an integer >= 1"),
        (LabelKNN(1.5), "n_neighbors=1.5 is not allowed"),
        (LabelKNN(True), "n_neighbors=True is not allowed"),
        (LabelKNN(metric="manhattan"), "metric='manhattan' is not allowed; metric must be 'euclidean' or 'cosine'"),
        (MLKNN(-1), "n_neighbors=-1 is not allowed"),
        (MLKNN(smoothing=0), "smoothing=0 is not allowed; smoothing must be a number >= 1e-300"),
        (MLKNN(smoothing="laplace"), "smoothing='laplace' is not allowed"),
    ],
)
def test_impossible_parameters_are_refused(data, estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*data[:2])
