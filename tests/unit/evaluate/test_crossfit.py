"""Cross-fitted embeddings: never the row's own model, one frame for all folds, unknown rows as new ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import orthogonal_procrustes
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import TimeSeriesSplit

from proxembed import OPLS, PCA
from proxembed.classify import MultiOutputRidge
from proxembed.evaluate.diagnose import crossfit_embedding
from proxembed.measures.metrics import macro_average_precision
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.splits.splits import StratifiedFolds, procrustes_frame


@pytest.fixture
def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 60)), rng.integers(0, 2, size=(120, 2))


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 6))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(150, 3)) > 0).astype(int)


class Turned(TransformerMixin, BaseEstimator):
    """Two columns, turned, mirrored, scaled and shifted by amounts that depend on the rows given to fit."""

    def fit(self, X, y):
        rng = np.random.default_rng(len(X) + int(1e6 * abs(X[0, 0])))
        self.Q_ = np.linalg.qr(rng.normal(size=(2, 2)))[0] * rng.uniform(0.5, 2)
        self.b_ = rng.normal(size=2)
        return self

    def transform(self, X):
        return X[:, :2] @ self.Q_ + self.b_


@pytest.mark.parametrize("widths", [(3, 3), (2, 3), (3, 2), (1, 1)])
def test_the_frame_is_that_of_scipy_with_a_scale_and_a_shift(widths):
    rng = np.random.default_rng(2)
    Z, T = rng.normal(size=(30, widths[0])), rng.normal(size=(30, widths[1]))
    frame = procrustes_frame(Z, T)
    wide = [np.pad(A - A.mean(axis=0), ((0, 0), (0, max(widths) - A.shape[1]))) for A in (Z, T)]
    Q, nuclear = orthogonal_procrustes(*wide)
    np.testing.assert_allclose(frame.Q, Q[: widths[0], : widths[1]], atol=1e-10)
    np.testing.assert_allclose(frame.scale, nuclear / np.sum(wide[0] ** 2), rtol=1e-10)
    np.testing.assert_allclose(frame.carry(Z).mean(axis=0), T.mean(axis=0), atol=1e-12)


def test_a_frame_of_columns_that_do_not_vary_is_orthogonal_and_finite():
    Z = np.random.default_rng(0).normal(size=(20, 3)) * [1, 1e-9, 0]
    frame = procrustes_frame(Z, Z[:, ::-1])
    np.testing.assert_allclose(frame.Q.T @ frame.Q, np.eye(3), atol=1e-12)
    assert np.isfinite(procrustes_frame(np.zeros((5, 2)), np.ones((5, 2))).carry(np.ones((2, 2)))).all()


def test_folds_that_differ_by_a_similarity_are_put_into_one_frame(data):
    X, Y = data
    np.testing.assert_allclose(crossfit_embedding(Turned(), X, Y), Turned().fit(X, Y).transform(X), atol=1e-10)


def test_rows_are_embedded_by_a_model_that_has_not_seen_them(data):
    X, Y = data
    splits = list(StratifiedFolds(3).split(X, Y))
    Z, whole = crossfit_embedding(OPLS(n_components=2), X, Y, splits), OPLS(n_components=2).fit(X, Y).transform(X)
    for train, held_out in splits:
        model = OPLS(n_components=2).fit(X[train], Y[train])
        frame = procrustes_frame(model.transform(X[train]), whole[train])
        np.testing.assert_allclose(Z[held_out], frame.carry(model.transform(X[held_out])), atol=1e-12)


def test_labels_that_are_noise_show_in_the_own_embedding_and_not_in_the_cross_fitted_one(noise):
    X, Y = noise
    estimator = OPLS(n_components=2, ridge=1e-3)

    def value(Z):
        return macro_average_precision(Y, MultiOutputRidge("auto").fit(Z, Y).decision_function(Z)).value

    assert value(estimator.fit(X, Y).transform(X)) > 0.85
    assert value(crossfit_embedding(estimator, X, Y)) < 0.65


def test_repeats_are_averaged_and_pipelines_lose_their_classifier(data):
    X, Y = data
    cv = StratifiedFolds(2, n_repeats=3)
    each = [crossfit_embedding(OPLS(n_components=2), X, Y, list(cv.split(X, Y))[2 * r : 2 * r + 2]) for r in range(3)]
    np.testing.assert_allclose(crossfit_embedding(OPLS(n_components=2), X, Y, cv), np.mean(each, axis=0), atol=1e-12)
    with_readout = embedding_pipeline(OPLS(n_components=2), X)
    without = embedding_pipeline(OPLS(n_components=2), X, readout=False)
    np.testing.assert_array_equal(crossfit_embedding(with_readout, X, Y), crossfit_embedding(without, X, Y))


def test_unknown_rows_get_the_model_of_all_rows_and_sparse_equals_dense(data):
    X, Y = data
    holes = Y.astype(float)
    holes[:10] = np.nan
    Z = crossfit_embedding(PCA(n_components=2), X, holes)
    np.testing.assert_allclose(Z[:10], PCA(n_components=2).fit(X).transform(X)[:10], atol=1e-12)
    A = sp.csr_array(X * (np.abs(X) > 1))
    np.testing.assert_allclose(
        crossfit_embedding(OPLS(n_components=2), A, sp.csr_array(Y)),
        crossfit_embedding(OPLS(n_components=2), A.toarray(), Y),
        atol=1e-8,
    )


def test_rows_without_an_out_of_fold_embedding_are_refused(data):
    with pytest.raises(ValueError, match="cv never holds out 50 of 150 rows"):
        crossfit_embedding(OPLS(n_components=2), *data, TimeSeriesSplit(2))
    with pytest.raises(ValueError, match="y is None; pass the labels"):
        crossfit_embedding(PCA(n_components=2), data[0], None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        crossfit_embedding(OPLS(), data[0], data[1][:-1])
