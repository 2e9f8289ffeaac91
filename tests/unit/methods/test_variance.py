"""MVMD with balanced terms: what cannot be balanced is refused; the variance that PCA and MVMD keep."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from scipy.sparse import csr_array
from sklearn.base import clone

from proxembed import DLA, DNE, DONPP, MMC, MVMD, OLPP, OLPPR, ONPP, ONPPR, OPLS, PCA, SONPP, RowBlocks


def test_a_term_without_trace_cannot_be_balanced():
    Y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]])
    with pytest.raises(ValueError, match="X is constant"):
        MVMD(balance="trace").fit(np.zeros((4, 2)), Y)
    apart = np.array([[1.0], [-1.0], [-1.0], [1.0]])  # at right angles to both labels
    with pytest.raises(ValueError, match=r'balance="trace" is not allowed here: .* Use balance="none"'):
        MVMD(balance="trace").fit(apart, Y)
    assert MVMD().fit(apart, Y).n_components_ == 1


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_balanced_terms_of_extreme_rows(size):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 4)), rng.integers(0, 2, (12, 3))
    one, other = (MVMD(balance="trace", n_components=2).fit(factor * X, Y) for factor in (1.0, size))
    np.testing.assert_allclose(other.components_, one.components_, rtol=0, atol=1e-9)


rng = np.random.default_rng(1)
X = rng.standard_normal((90, 6)) * np.arange(1, 7) + 2.0
Y = (X[:, :3] + rng.standard_normal((90, 3)) > 2).astype(int)


def shares(P):
    """What each of the orthonormal columns of P keeps of the variance, by definition."""
    centred = X - X.mean(axis=0)
    return np.diag(P.T @ centred.T @ centred @ P) / np.sum(centred**2)


@pytest.mark.parametrize("whiten", [False, True])
def test_explained_variance_is_that_of_scikit_learn(whiten):
    ours = PCA(n_components=4, whiten=whiten).fit(X)
    theirs = sklearn.decomposition.PCA(4, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-12)
    np.testing.assert_array_equal(ours.truncate(2).explained_variance_ratio_, ours.explained_variance_ratio_[:2])


@pytest.mark.parametrize("scaling", ["template", "eigenvalue"])
def test_explained_variance_is_that_of_the_reconstruction(scaling):
    model = MVMD(n_components=4, scaling=scaling).fit(X, Y)
    Q = model.components_.T / np.linalg.norm(model.components_, axis=1)
    np.testing.assert_allclose(model.explained_variance_ratio_, shares(Q), rtol=1e-10)
    lost = np.sum((X - model.inverse_transform(model.transform(X))) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1 - lost, rel=1e-10)


def test_explained_variance_of_blocks_sparse_and_weighted_rows():
    whole = MVMD(n_components=3).fit(X, Y).explained_variance_ratio_
    blocks = MVMD(n_components=3).fit(RowBlocks.from_arrays(X, Y))
    parts = MVMD(n_components=3).partial_fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])
    sparse = MVMD(n_components=3).fit(csr_array(X), Y)
    for model in (blocks, parts, sparse):
        np.testing.assert_allclose(model.explained_variance_ratio_, whole, rtol=1e-10)
    w = rng.integers(0, 3, len(X))
    weighted = MVMD(n_components=3).fit(X, Y, sample_weight=w.astype(float))
    repeated = MVMD(n_components=3).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-10)


ORTHONORMAL = [OLPP(), OLPP(objective="laplacian"), ONPP(), MMC(), OLPPR(), ONPPR(), SONPP(), DONPP(), DLA(), DNE()]


@pytest.mark.parametrize("method", ORTHONORMAL, ids=repr)
def test_orthonormal_directions_of_neighbours_and_classes_explain_variance(method):
    y = [Y[:, 0]] if method.traits.labels else []
    model = clone(method).set_params(n_components=2).fit(X, *y)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, shares(model.components_.T), rtol=1e-9)
    np.testing.assert_array_equal(model.truncate(1).explained_variance_ratio_, model.explained_variance_ratio_[:1])
    lost = np.sum((X - model.inverse_transform(model.transform(X))) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1 - lost, rel=1e-9)


@pytest.mark.parametrize("method", ORTHONORMAL[:6], ids=repr)
def test_explained_variance_counts_repeated_and_weighted_rows(method):
    w = np.random.default_rng(0).integers(1, 3, len(X))
    rows, labels = np.repeat(X, w, axis=0), [np.repeat(Y[:, 0], w)] if method.traits.labels else []
    model = clone(method).set_params(n_components=2).fit(rows, *labels)
    centred = rows - rows.mean(axis=0)
    expected = np.sum((centred @ model.components_.T) ** 2, axis=0) / np.sum(centred**2)
    np.testing.assert_allclose(model.explained_variance_ratio_, expected, rtol=1e-9)
    weighted = clone(method).set_params(n_components=2)
    weighted.fit(X, *([Y[:, 0]] if labels else []), sample_weight=w.astype(float))
    np.testing.assert_allclose(weighted.explained_variance_ratio_, expected, rtol=1e-8)


def test_other_methods_explain_no_variance():
    assert not hasattr(OPLS().fit(X, Y), "explained_variance_ratio_")
