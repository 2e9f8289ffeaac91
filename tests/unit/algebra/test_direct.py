"""Direct embeddings: every way to the leading eigenvectors of an n x n operator gives the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import pairwise
from proxembed.algebra.operators.structured import Dense, Diagonal, Identity, LowRank, Sparse
from proxembed.algebra.pencil import direct
from proxembed.algebra.pencil.direct import solve_direct

N = 40
W = 0.5 + np.random.default_rng(0).random(N)
X, Y = strategies.features_text(N, 60, 0), strategies.labels_multi(N, 5, 1)


def stacked(center) -> LowRank:
    """Features and labels in one proximity, as the supervised latent variable model stacks them."""
    return 0.6 * LowRank(X, center=center) + 0.4 * LowRank(sparse.csc_array(Y), center=center)


def few_columns(center) -> LowRank:
    return 2.0 * LowRank(Y, center=center) + 0.3 * LowRank(sparse.csc_array(Y[:, :2] * 3.0), center=center)


CENTERS = {"as is": None, "centred": np.ones(N), "weighted": W}
OPERATORS = {"wide": stacked, "few columns": few_columns}
ROUTES = ("thin", "dual", "iterative")


def force(route: str, monkeypatch) -> None:
    if route != "thin":
        monkeypatch.setattr(direct, "low_rank_terms", lambda *_: None)
    if route == "iterative":
        monkeypatch.setattr(direct, "THIN_UP_TO", 5)


@pairwise
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("name", OPERATORS)
def test_routes_agree(name, center, route, monkeypatch):
    A = OPERATORS[name](CENTERS[center])
    exact, vectors = np.linalg.eigh(A.todense())
    exact, vectors = exact[::-1], vectors[:, ::-1]
    force(route, monkeypatch)
    found = solve_direct(A, 3)
    Z, w = found.Z, found.eigenvalues
    assert found.solver == route or (route, center) == ("thin", "weighted")  # which may be left to a slower route
    assert Z.shape == (N, 3) and found.bound >= 3
    np.testing.assert_allclose(w, exact[:3], rtol=1e-8)
    np.testing.assert_allclose(Z.T @ Z, np.eye(3), rtol=0, atol=1e-8)
    np.testing.assert_allclose(np.abs(np.sum(Z * vectors[:, :3], axis=0)), 1.0, rtol=0, atol=1e-8)
    lead = np.argmax(np.abs(Z), axis=0)
    assert (Z[lead, range(3)] > 0).all()


@pytest.mark.parametrize("route", ["thin", "dual"])
@pytest.mark.parametrize("center", ["as is", "centred"])
def test_the_whole_spectrum(center, route, monkeypatch):
    A = few_columns(CENTERS[center])
    exact = np.linalg.eigvalsh(A.todense())[::-1]
    force(route, monkeypatch)
    found = solve_direct(A, None)
    rank = np.linalg.matrix_rank(A.todense())
    assert found.bound == rank and found.Z.shape == (N, rank)
    assert len(found.spectrum) >= rank
    np.testing.assert_allclose(found.spectrum, exact[: len(found.spectrum)], rtol=0, atol=1e-10 * exact[0])
    np.testing.assert_array_equal(found.eigenvalues, found.spectrum[:rank])


def test_more_components_than_the_rank_gives_the_rank():
    A = LowRank(Y[:, [0, 1, 0]])
    found = solve_direct(A, 10)
    assert found.solver == "thin" and found.Z.shape == (N, 2)
    assert found.eigenvalues.shape == (2,) and found.bound == 2


@pytest.mark.parametrize("k", [2, None])
def test_operators_of_full_rank_and_of_both_signs_are_dense(k):
    G = strategies.features_dense(N, N, 3)
    for A in (
        Sparse(G + G.T),
        Dense(G + G.T),
        Diagonal(np.arange(N) - 10.0),
        LowRank(Y, np.array([1.0, -1, 2, 1, -3])),
    ):
        found = solve_direct(A, k)
        Z, w, exact = found.Z, found.eigenvalues, np.linalg.eigvalsh(A.todense())[::-1]
        assert found.solver == "dual" and Z.shape[1] == len(w) == (2 if k else np.sum(exact > 1e-12 * exact[0]))
        np.testing.assert_allclose(w, exact[: len(w)], rtol=0, atol=1e-10 * np.abs(exact).max())
        np.testing.assert_allclose(A @ Z, Z * w, rtol=0, atol=1e-10 * np.abs(exact).max())


def test_cancelling_diagonals_are_seen_as_low_rank():
    A = LowRank(Y) + Identity(N) - Diagonal(np.ones(N))
    found, expected = solve_direct(A, 2), solve_direct(LowRank(Y), 2)
    assert found.solver == "thin"
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-12)


def test_gram_matrices_met_on_the_way_are_handed_on():
    """Those of uncentred factors, known by the factor: the read-out needs them again."""
    found = solve_direct(stacked(None), 3)
    ((first, gram), (second, labels)) = found.grams
    assert first is X
    np.testing.assert_allclose(gram, (X.T @ X).toarray(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(labels, second.toarray().T @ second.toarray(), rtol=0, atol=1e-12)
    assert solve_direct(stacked(np.ones(N)), 3).grams == []
