"""More labels than features: results as with dense matrices of labels, and no dense n x c array."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from identities.comparison import assert_same_embedding
from memory import traced_memory
from proxembed import CCA, DMLDA, MDDM, MLDA, MLSI, MOPE, MORP, OPLS, SFEHS
from proxembed.algebra.operators import inverse
from proxembed.methods import dependence, fisher
from proxembed.proximity import label_similarity


def many_labels(n: int, c: int, d: int, seed: int = 0) -> tuple[np.ndarray, sparse.csr_array]:
    """Rows of d features, and c labels of falling frequency that depend on them; every tenth label equals another one,
    some are the sum of two others, and one has no row."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.zeros((n, c))
    for j in range(c):
        score = X @ rng.standard_normal(d) + rng.standard_normal(n)
        Y[np.argsort(score)[-max(1, int(0.2 * n / (1 + j) ** 0.6)) :], j] = 1.0
    Y[:, 10::10] = Y[:, : len(range(10, c, 10))]
    Y[:, 13::20] = Y[:, 2:3] + Y[:, 3:4] * (1 - Y[:, 2:3])
    Y[:, 7] = 0.0
    return X, sparse.csr_array(Y)


@pytest.mark.parametrize("ridge_y", [0.0, 1e-2])
@pytest.mark.parametrize("sizes", [(60, 90), (150, 70)], ids=["more labels than rows", "more rows than labels"])
@pytest.mark.parametrize("ridge", [1e-3, "auto"])
def test_cca_of_many_labels_is_that_of_the_pseudo_inverse(sizes, ridge, ridge_y, monkeypatch):
    X, Y = many_labels(*sizes, 8)
    method = CCA(n_components=5, ridge=ridge, ridge_y=ridge_y)
    expected = clone(method).fit(X, Y)
    monkeypatch.setattr(dependence, "MANY_LABELS", 20)
    found = clone(method).fit(X, Y)
    assert found.ridge_ == expected.ridge_
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    if np.ptp(expected.eigenvalues_) > 1e-6:  # more labels than rows explain all that there is
        assert_same_embedding(found, expected, X)


def test_cca_of_many_labels_with_unknown_cells(monkeypatch):
    X, Y = many_labels(150, 60, 8)
    y = Y.toarray()
    y[np.random.default_rng(1).random(y.shape) < 0.02] = np.nan
    method = CCA(n_components=4, ridge=1e-3, unknown="mean")
    expected = clone(method).fit(X, y)
    monkeypatch.setattr(dependence, "MANY_LABELS", 20)
    for given in (y, sparse.csr_array(y)):
        assert_same_embedding(clone(method).fit(X, given), expected, X)


@pytest.mark.parametrize("solver", ["thin", "primal"])
def test_cca_of_many_labels_by_every_route(solver, monkeypatch):
    X, Y = many_labels(150, 40, 60)
    expected = CCA(n_components=5, ridge=1e-2, solver=solver).fit(X, Y)
    monkeypatch.setattr(dependence, "MANY_LABELS", 20)
    assert_same_embedding(CCA(n_components=5, ridge=1e-2, solver=solver).fit(X, Y), expected, X)


LATENT = {
    "MORP": MORP(n_components=4),
    "MORP of labels": MORP(n_components=4, beta=1.0, eps=1e-3),
    "MLSI": MLSI(n_components=4, beta=0.1),
    "MLSI centred": MLSI(n_components=4, center=True),
    "an eps below the tolerance": MLSI(n_components=4, eps=1e-14),
}


@pytest.mark.parametrize("sizes", [(60, 90, 8), (150, 70, 8), (60, 45, 80)], ids=str)
@pytest.mark.parametrize("name", LATENT)
def test_the_inverse_of_many_labels_is_that_of_their_eigenvectors(name, sizes, monkeypatch):
    X, Y = many_labels(*sizes)
    expected = clone(LATENT[name]).fit(X, Y)
    monkeypatch.setattr(inverse, "MANY_COLUMNS", 20)
    for rows in (X, sparse.csr_array(X)):
        found = clone(LATENT[name]).fit(rows, Y)
        np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-8)
        assert_same_embedding(found, expected, X)


DISCRIMINANT = {
    "MLDA": MLDA(n_components=4, ridge=1e-3),
    "MLDA of rows": MLDA(n_components=4, ridge="auto", normalize=False),
    "DMLDA": DMLDA(n_components=4, ridge=1e-3),
    "DMLDA of memberships": DMLDA(n_components=4, ridge=1e-3, weights="mlda"),
}


@pytest.mark.parametrize("name", DISCRIMINANT)
def test_discriminants_of_many_labels_are_those_of_dense_cosines(name, monkeypatch):
    X, Y = many_labels(150, 70, 8)
    expected = clone(DISCRIMINANT[name]).fit(X, Y)
    monkeypatch.setattr(fisher, "MANY_LABELS", 20)
    assert_same_embedding(clone(DISCRIMINANT[name]).fit(X, Y), expected, X)


FITS = {
    "OPLS": OPLS(n_components=4),
    "CCA": CCA(n_components=4),
    "CCA ridge_y": CCA(n_components=4, ridge_y=0.1),
    "MLDA": MLDA(n_components=4),
    "DMLDA": DMLDA(n_components=4),
    "SFEHS": SFEHS(n_components=4),
    "MORP": MORP(n_components=4),
}


@pytest.mark.parametrize("name", FITS)
def test_no_dense_array_of_labels_is_made(name):
    """NumPy's arrays of a whole fit stay below one n x c array of float64."""
    X, Y = many_labels(900, 2400, 8)
    FITS[name].fit(X, Y)  # what is made once
    with traced_memory() as memory:
        FITS[name].fit(X, Y)
    assert memory.peak < 8 * Y.shape[0] * Y.shape[1]


SIMILARITIES = {
    "MDDM cosine": MDDM(n_components=4, label_kernel="cosine"),
    "MDDM rbf": MDDM(n_components=4, label_kernel="rbf"),
    "MDDM of a function": MDDM(n_components=4, label_kernel=lambda sets: sets @ sets.T),
    "SFEHS": SFEHS(n_components=4, label_kernel="tanimoto"),
    "MOPE classes": MOPE(n_components=4),
    "MOPE of an indefinite similarity": MOPE(n_components=4, similarity="hamming_linear"),
    "MOPE labels": MOPE("labels", n_components=4),
    "MOPE scaled": MOPE("labels", similarity="scaled_dice", n_components=4),
    "MOPE cosines": MOPE("labels", similarity="cosine", n_components=4),
    "MOPE latent": MOPE("latent", n_latent=5, n_components=4),
}


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_of_many_labels_are_those_of_dense_label_sets(name, monkeypatch):
    X, Y = many_labels(150, 70, 8)
    expected = clone(SIMILARITIES[name]).fit(X, Y)
    monkeypatch.setattr(label_similarity, "MANY_LABELS", 20)
    found = clone(SIMILARITIES[name]).fit(X, Y)
    np.testing.assert_allclose(found.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
    assert_same_embedding(found, expected, X)
