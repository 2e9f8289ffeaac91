"""DirectMOPE against the eigenvectors of its n x n matrix, and where it is another method."""

from __future__ import annotations

import numpy as np
import pytest

import strategies
from identities.comparison import DIFFERENT, IDENTITY, assert_same_embedding, gram_distance
from oracles import mope, preserving
from proxembed import MOPE, SLVM, SSDR, DirectMOPE, load, save

N, D = 36, 7
X = strategies.features_dense(N, D, 3)
Y = strategies.labels_multi(N, 4)
NEW = strategies.features_dense(5, D, 9)
J = np.eye(N) - 1.0 / N


def leading(A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    w, Z = np.linalg.eigh(A)
    return Z[:, ::-1][:, :k], w[::-1][:k]


def ridge_regression(Z: np.ndarray, ridge: float) -> np.ndarray:
    """The places of the new rows."""
    Xc, Zc = X - X.mean(axis=0), Z - Z.mean(axis=0)
    return Z.mean(axis=0) + (NEW - X.mean(axis=0)) @ np.linalg.solve(Xc.T @ Xc + ridge * np.eye(D), Xc.T @ Zc)


@pytest.mark.parametrize("objective", ["proximity", "normalized"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_rows_are_placed_by_the_eigenvectors_of_psi(objective, center, weighted):
    G = mope.similarity_of_sets("jaccard", Y)
    A = G
    if weighted:
        W = preserving.gaussian_weights(X, preserving.adjacency(X, 5))
        A = mope.psi(W / W.max(), G, 1.0, 1.0, 2.0, 0.8)
    A = mope.stated(A, objective)
    Z, w = leading(J @ A @ J if center else A, 3)
    options = {"weights": "gaussian", "beta": 2.0, "gamma": 0.8} if weighted else {}
    model = DirectMOPE("labels", similarity="jaccard", objective=objective, center=center, n_components=3, **options)
    model.set_params(ridge=0.3, ridge_scale="absolute").fit(X, Y)
    np.testing.assert_allclose(model.eigenvalues_, w, rtol=1e-9)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(3), atol=1e-10)
    assert gram_distance(model.embedding_, Z) < IDENTITY
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    assert gram_distance(model.transform(NEW), ridge_regression(Z, 0.3)) < IDENTITY


def test_of_as_many_independent_features_as_rows_it_is_the_projection():
    """Every place is a linear function of such features, so that the constraint P'X'XP = I is Z'Z = I."""
    wide = strategies.features_dense(N, 2 * N, 5)
    options = {"similarity": "dice", "n_components": 4}
    projected = MOPE("labels", constraint="embedding", ridge=0.0, **options).fit(wide, Y)
    direct = DirectMOPE("labels", **options).fit(wide, Y)
    assert_same_embedding(direct, projected, wide)
    few = MOPE("labels", constraint="embedding", ridge=0.0, **options).fit(X, Y)
    assert gram_distance(few.transform(X), DirectMOPE("labels", **options).fit(X, Y).embedding_) > DIFFERENT


def test_of_shared_labels_it_is_slvm_of_labels_alone():
    direct = DirectMOPE("labels", similarity="and", center=False, n_components=3).fit(X, Y)
    slvm = SLVM(beta=1.0, balance="none", n_components=3).fit(X, Y)
    for rows in (X, NEW):
        assert gram_distance(direct.transform(rows), slvm.transform(rows)) < IDENTITY
    np.testing.assert_allclose(slvm.eigenvalues_, direct.eigenvalues_ * (Y @ Y.T).max(), rtol=1e-9)


def test_positive_components_alone_are_taken():
    sigma = np.array([[1.0, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 3], [0, 0, 3, 1]])  # of both signs
    A = J @ mope.similarity_through_classes(sigma, Y) @ J
    positive = int((np.linalg.eigvalsh(A) > 1e-10).sum())
    assert DirectMOPE("classes", similarity=sigma, n_components=positive).fit(X, Y).n_components_ == positive
    with pytest.raises(ValueError, match=f"n_components <= {positive}"):
        DirectMOPE("classes", similarity=sigma, n_components=positive + 1).fit(X, Y)


def test_rows_with_unknown_labels_are_new_rows():
    known = np.arange(N) % 4 > 0
    with pytest.warns(UserWarning, match="left out of fit"):
        model = DirectMOPE("labels", n_components=3).fit(X, np.where(known[:, None], Y, np.nan))
    alone = DirectMOPE("labels", n_components=3).fit(X[known], Y[known])
    assert_same_embedding(model, alone, X)


def test_truncated_saved_and_as_a_member(tmp_path):
    model = DirectMOPE("labels", n_components=3).fit(X, Y)
    short = DirectMOPE("labels", n_components=2, ridge=model.ridge_, ridge_scale="absolute").fit(X, Y)
    assert gram_distance(model.truncate(2).transform(NEW), short.transform(NEW)) < IDENTITY
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.transform(NEW), model.transform(NEW))
    member = SSDR(DirectMOPE("labels"), mix=0.0, n_components=3).fit(X, Y)
    assert_same_embedding(member, SSDR(MOPE("labels"), mix=0.0, n_components=3).fit(X, Y), X)


def test_refusals():
    with pytest.raises(ValueError, match="objective='laplacian' is not allowed"):
        DirectMOPE(objective="laplacian").fit(X, Y)
    with pytest.raises(TypeError):
        DirectMOPE(constraint="projection")
