"""Label scores: cross-fitted on training rows, the full model on new rows, never a row's own label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from proxembed import LabelScores


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X @ rng.normal(size=(5, 3)) + rng.normal(size=(60, 3)) > 0.3).astype(int)


def test_new_rows_get_the_full_model_and_training_rows_a_model_of_other_rows(data):
    X, Y = data
    new = X + 0.5
    model = LabelScores(penalty=2.0, n_folds=60).fit(X, Y)
    np.testing.assert_allclose(model.transform(new), Ridge(alpha=2.0).fit(X, Y).predict(new), rtol=1e-9)
    rows = np.arange(60)
    left_out = [Ridge(alpha=2.0).fit(X[rows != i], Y[rows != i]).predict(X[[i]])[0] for i in rows]
    np.testing.assert_allclose(model.transform(X), left_out, rtol=1e-8)
    np.testing.assert_allclose(LabelScores(penalty=2.0, n_folds=60).fit_transform(X, Y), left_out, rtol=1e-8)


def test_scores_of_labels_that_are_noise_do_not_know_the_training_labels():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 60)), rng.integers(0, 2, size=(80, 1))
    Y = np.hstack([y, 1 - y])
    own = np.corrcoef(Ridge(alpha=1e-3).fit(X, Y).predict(X)[:, 0], Y[:, 0])[0, 1]
    crossed = np.corrcoef(LabelScores(penalty=1e-3).fit_transform(X, Y)[:, 0], Y[:, 0])[0, 1]
    assert own > 0.8 and abs(crossed) < 0.3


def test_identical_rows_share_a_fold_and_a_score(data):
    X, Y = data
    X = np.vstack([X, X[:10]])
    Y = np.vstack([Y, 1 - Y[:10]])
    S = LabelScores().fit_transform(X, Y)
    np.testing.assert_array_equal(S[:10], S[60:])


def test_reduction_is_pca_of_the_cross_fitted_scores(data):
    X, Y = data
    S = LabelScores().fit_transform(X, Y)
    np.testing.assert_allclose(LabelScores(2).fit_transform(X, Y), PCA(2).fit_transform(S), atol=1e-10)
    np.testing.assert_allclose(LabelScores(3).fit_transform(X, Y)[:, :2], PCA(2).fit_transform(S), atol=1e-10)


def test_sparse_equals_dense(data):
    X, Y = data
    X = X * (np.abs(X) > 0.5)
    S = LabelScores().fit(X, Y).transform(X)
    np.testing.assert_allclose(
        LabelScores().fit(sp.csr_array(X), sp.csc_array(Y)).transform(sp.csr_array(X)), S, rtol=1e-9
    )
    np.testing.assert_allclose(LabelScores().fit(sp.csr_array(X), Y).transform(X), S, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 4}, "from 1 to the number of labels"),
        ({"n_folds": 1}, "n_folds=1"),
        ({"penalty": -1.0}, "penalty=-1.0"),
    ],
)
def test_bad_parameters_are_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        LabelScores(**options).fit(*data)
