"""Block conjugate gradients against a dense solve in float64, and in honest residuals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import pairwise
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.conjugate import conjugate_gradients

TOL = 1e-8


def dense_matrix(X, weights, scale, shift, mean) -> np.ndarray:
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    Xc = X if mean is None else X - mean
    w = np.ones(len(X)) if weights is None else weights
    return scale * Xc.T @ (w[:, None] * Xc) + shift * np.eye(X.shape[1])


def residuals(M: np.ndarray, G: np.ndarray, E: np.ndarray) -> np.ndarray:
    """Each column's residual relative to its right-hand side, in the diagonal scaling the solver works in."""
    D = 1.0 / np.sqrt(np.diag(M))[:, None]
    size = np.linalg.norm(D * E, axis=0)
    size[size == 0] = 1.0
    return np.linalg.norm(D * (E - M @ G), axis=0) / size


def right_hand_side(d: int, q: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((d, q))


WEIGHTS = 0.1 + np.random.default_rng(3).random(60)
SPARSE = strategies.features_text(60, 40, 1)


def with_empty_columns() -> sparse.csr_array:
    X = SPARSE.toarray()
    X[:, [0, 7, 39]] = 0.0
    return sparse.csr_array(X)


MATRICES = {
    "tall": strategies.features_dense(60, 12, 0),
    "wide": strategies.features_dense(60, 90, 0),
    "float32": strategies.features_dense(60, 12, 0).astype(np.float32),
    "sparse": SPARSE,
    "sparse float32": SPARSE.astype(np.float32),
    "sparse with empty columns": with_empty_columns(),
}


@pairwise
@pytest.mark.parametrize("scale, shift", [(1.0, 1.0), (0.2, 0.05), (3.0, 20.0)])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows weigh 1", "weighted"])
@pytest.mark.parametrize("centred", [False, True], ids=["as is", "centred"])
@pytest.mark.parametrize("name", MATRICES)
def test_agrees_with_a_dense_solve(name, centred, weights, scale, shift):
    X = MATRICES[name]
    w = np.ones(60) if weights is None else weights
    rows = CentredMatrix.centred(X, w if centred else None)
    E = right_hand_side(X.shape[1], 5)
    before = E.copy()
    G, steps = conjugate_gradients(rows, weights, scale, shift, E, TOL)
    M = dense_matrix(X, weights, scale, shift, rows.centre)
    assert G.shape == E.shape and G.dtype == np.float64 and 1 <= steps < 1000
    assert residuals(M, G, E).max() <= TOL
    expected = np.linalg.solve(M, E)
    condition = np.linalg.cond(M / np.sqrt(np.outer(np.diag(M), np.diag(M))))
    np.testing.assert_allclose(G, expected, rtol=0, atol=3 * TOL * condition * np.abs(expected).max())
    np.testing.assert_array_equal(E, before)


@pytest.mark.parametrize("q", [1, 2, 12])
def test_any_number_of_columns_up_to_the_size_of_the_system(q):
    X = MATRICES["tall"]
    E = right_hand_side(12, q)
    G, _ = conjugate_gradients(CentredMatrix(X), None, 1.0, 0.5, E, TOL)
    assert residuals(dense_matrix(X, None, 1.0, 0.5, None), G, E).max() <= TOL


def test_more_columns_than_features():
    """More labels than features: the block is wider than the system."""
    X = MATRICES["tall"][:, :4]
    E = right_hand_side(4, 9)
    G, _ = conjugate_gradients(CentredMatrix(X), None, 1.0, 0.5, E, TOL)
    assert residuals(dense_matrix(X, None, 1.0, 0.5, None), G, E).max() <= TOL


def deficient() -> dict[str, np.ndarray]:
    E = right_hand_side(12, 4)
    return {
        "duplicate columns": E[:, [0, 1, 0, 0]],
        "a zero column": np.column_stack([E[:, :2], np.zeros(12), E[:, 2]]),
        "zero": np.zeros((12, 3)),
        "a sum of others": np.column_stack([E, E.sum(axis=1)]),
        "rank one": np.outer(E[:, 0], [1.0, -2.0, 1e-3, 1e3]),
        "nearly equal columns": np.column_stack([E[:, 0], E[:, 0] + 1e-6 * E[:, 1]]),
        "very different sizes": E * [1e-12, 1.0, 1e12, 1e-3],
    }


@pytest.mark.parametrize("name", deficient())
def test_right_hand_sides_that_are_dependent(name):
    X, E = MATRICES["tall"], deficient()[name]
    G, _ = conjugate_gradients(CentredMatrix.centred(X, np.ones(60)), None, 1.0, 0.5, E, TOL)
    M = dense_matrix(X, None, 1.0, 0.5, X.mean(axis=0))
    assert np.isfinite(G).all()
    assert residuals(M, G, E).max() <= TOL
    np.testing.assert_array_equal(G[:, ~E.any(axis=0)], 0.0)


@pytest.mark.parametrize("decades", [1, 2])
def test_ill_conditioned_systems_reach_the_tolerance(decades):
    """Singular values over that many decades: the condition is their square."""
    X = ill_conditioned(decades)
    E = X.T @ right_hand_side(80, 3)
    G, _ = conjugate_gradients(CentredMatrix(X), None, 1.0, 1e-8, E, TOL)
    M = dense_matrix(X, None, 1.0, 1e-8, None)
    assert np.linalg.cond(M / np.sqrt(np.outer(np.diag(M), np.diag(M)))) > 10 ** (1.5 * decades)
    assert residuals(M, G, E).max() <= TOL


def test_beyond_float32_the_error_still_falls():
    """Condition 1e8: float32 steps cannot reach the tolerance, but they lower the energy norm of the error."""
    X = ill_conditioned(4)
    M = dense_matrix(X, None, 1.0, 1e-8, None)
    exact = right_hand_side(25, 3)
    G, steps = conjugate_gradients(CentredMatrix(X), None, 1.0, 1e-8, M @ exact, TOL, maxiter=60)
    assert steps <= 60 and np.isfinite(G).all()

    def energy(error):
        return np.einsum("ij,ij->j", error, M @ error)

    assert (energy(exact - G) < 1e-4 * energy(exact)).all()


def ill_conditioned(decades: float) -> np.ndarray:
    rng = np.random.default_rng(5)
    U, V = np.linalg.qr(rng.standard_normal((80, 25)))[0], np.linalg.qr(rng.standard_normal((25, 25)))[0]
    return U * np.logspace(0, -decades, 25) @ V.T


def test_scaling_takes_out_the_units_of_the_features():
    """Condition 1e13 as it stands, hopeless in float32; some thousands once every feature has the same norm.

    How many steps these take depends on the last bits; the classical bound of conjugate gradients does not.
    """
    units = np.logspace(-3, 3, 12)
    X, E = (MATRICES["tall"] - MATRICES["tall"].mean(axis=0)) * units, right_hand_side(12, 3) * units[:, None]
    M = dense_matrix(X, None, 1.0, 1e-10, None)
    root = np.sqrt(np.linalg.cond(M / np.sqrt(np.outer(np.diag(M), np.diag(M)))))
    assert np.linalg.cond(M) > 1e12 and root < 100
    G, steps = conjugate_gradients(CentredMatrix(X), None, 1.0, 1e-10, E, TOL)
    assert residuals(M, G, E).max() <= TOL
    assert steps <= 0.5 * root * np.log(2 * root / TOL)


def test_a_block_takes_no_more_steps_than_its_columns_alone():
    X, E = SPARSE, SPARSE.T @ right_hand_side(60, 6)
    together = conjugate_gradients(CentredMatrix(X), None, 1.0, 0.01, E, TOL)[1]
    alone = [conjugate_gradients(CentredMatrix(X), None, 1.0, 0.01, E[:, [j]], TOL)[1] for j in range(6)]
    assert together <= max(alone)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_the_tolerance_is_met_and_costs_steps(tol):
    X, E = SPARSE, right_hand_side(40, 2)
    M = dense_matrix(X, None, 1.0, 0.01, None)
    G, steps = conjugate_gradients(CentredMatrix(X), None, 1.0, 0.01, E, tol)
    assert residuals(M, G, E).max() <= tol
    assert steps <= conjugate_gradients(CentredMatrix(X), None, 1.0, 0.01, E, tol / 100)[1]


@pytest.mark.parametrize("maxiter", [0, 1, 3])
def test_maxiter_is_honoured(maxiter):
    E = right_hand_side(40, 2)
    G, steps = conjugate_gradients(CentredMatrix(SPARSE), None, 1.0, 1e-3, E, TOL, maxiter=maxiter)
    assert steps == maxiter
    assert residuals(dense_matrix(SPARSE, None, 1.0, 1e-3, None), G, E).max() > TOL
    if maxiter == 0:
        np.testing.assert_array_equal(G, 0.0)


@pytest.mark.parametrize("name", ["tall", "sparse"])
def test_the_number_of_threads_changes_rounding_only(name, monkeypatch):
    X = MATRICES[name]
    E = right_hand_side(X.shape[1], 12 if name == "tall" else 40)
    found = {}
    for threads in (1, 2, 5):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        rows = CentredMatrix.centred(X, np.ones(60))
        found[threads] = conjugate_gradients(rows, None, 1.0, 0.1, E, TOL)[0]
    for threads in (2, 5):
        np.testing.assert_allclose(found[threads], found[1], rtol=0, atol=1e-7 * np.abs(found[1]).max())


@pairwise
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("q", [1, 3, 35])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows weigh 1", "weighted"])
@pytest.mark.parametrize("name", MATRICES)
def test_products_are_those_of_the_matrix_and_leave_their_input(name, weights, q, threads, monkeypatch):
    monkeypatch.setattr(blas, "threads", lambda: threads)
    X = MATRICES[name]
    V = right_hand_side(X.shape[1], q)
    before = V.copy()
    rows = CentredMatrix.centred(X, WEIGHTS)
    M = dense_matrix(X, weights, 1.7, 0.3, rows.centre)
    found = rows.ridge_dot(V, weights, 1.7, 0.3)
    np.testing.assert_array_equal(V, before)
    np.testing.assert_allclose(found, M @ V, rtol=0, atol=1e-12 * np.abs(M @ V).max())
    D = 1.0 / np.sqrt(np.diag(M))
    single = V.astype(np.float32)
    found = rows.scaled_ridge_product(weights, 1.7, 0.3, D)(single)
    np.testing.assert_array_equal(single, before.astype(np.float32))
    expected = D[:, None] * (M @ (D[:, None] * V))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
