"""Shifted systems that share one sparse matrix, and the Sylvester equation made of them."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import solve_sylvester
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays import blas, matrix
from proxembed.algebra.graphs import harmonic
from proxembed.algebra.graphs.harmonic import least_eigenvalue, shifted_solves, sylvester
from proxembed.proximity.graph import feature_graph
from proxembed.proximity.weights import edge_weights


def system(n: int, dimension: int, c: int, seed: int):
    """A = J + L of a neighbour graph with a tenth of the rows labelled, a positive semidefinite T, and B."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, dimension))
    W = edge_weights(X, feature_graph(X, "undirected", 6))
    labelled = (rng.random(n) < 0.1).astype(float)
    labelled[0] = 1.0
    A = sparse.diags_array(labelled + 1e-3 + W.sum(axis=1)) - W
    F = rng.standard_normal((c, c))
    return sparse.csr_array(A), 0.1 * F @ F.T, rng.random((n, c)) * labelled[:, None]


def path(n: int) -> sparse.csr_array:
    """The Laplacian of a path whose first node is tied to 0: about n steps of conjugate gradients."""
    diagonal = np.full(n, 2.0)
    diagonal[-1] = 1.0
    return sparse.csr_array(sparse.diags_array([-np.ones(n - 1), diagonal, -np.ones(n - 1)], offsets=[-1, 0, 1]))


@pytest.mark.parametrize("solver", ["auto", "factor", "cg"])
@pytest.mark.parametrize(("n", "dimension"), [(60, 2), (500, 2), (500, 9)])
def test_the_sylvester_equation(n, dimension, solver):
    A, T, B = system(n, dimension, 5, n + dimension)
    found = sylvester(A, T, B, solver=solver)
    expected = solve_sylvester(A.toarray(), T, B)
    np.testing.assert_allclose(found.Z, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert found.solver == solver or solver == "auto"
    assert (found.steps == 1) == (found.solver == "factor")


def test_another_right_side_has_another_solution():
    A, T, B = system(60, 2, 5, 1)
    other = sylvester(A, T.T + np.diag(np.arange(5.0)), B).Z
    assert np.abs(other - sylvester(A, T, B).Z).max() > 1e-3


def test_both_routes_agree_on_shifts_of_every_size():
    A, _, B = system(500, 3, 6, 2)
    shifts = np.array([0.0, 1e-6, 0.3, 0.3, 40.0, 1e5])
    one, other = (shifted_solves(A, shifts, B, solver=solver).Z for solver in ("factor", "cg"))
    np.testing.assert_allclose(other / np.abs(one).max(axis=0), one / np.abs(one).max(axis=0), rtol=0, atol=1e-9)
    for j, shift in enumerate(shifts):
        np.testing.assert_allclose(A @ one[:, j] + shift * one[:, j], B[:, j], atol=1e-10)


def test_equal_shifts_are_factorised_once(monkeypatch):
    made = []
    splu = harmonic.splu
    monkeypatch.setattr(harmonic, "splu", lambda *args, **options: made.append(1) or splu(*args, **options))
    A, _, B = system(60, 2, 5, 3)
    shifted_solves(A, np.array([0.5, 0.0, 0.5 + 1e-17, 0.5, 1e-18]), B, solver="factor")
    assert len(made) == 2


def test_a_column_of_zeros_stays_zero_and_costs_nothing():
    A, _, B = system(500, 9, 3, 4)
    B[:, 1] = 0.0
    for solver in ("factor", "cg"):
        assert not shifted_solves(A, np.zeros(3), B, solver=solver).Z[:, 1].any()
    assert shifted_solves(A, np.zeros(3), 0.0 * B, solver="cg").steps == 1


def test_the_route_follows_the_graph():
    assert sylvester(path(3000), np.diag([0.0, 1e-3]), np.eye(3000)[:, :2]).solver == "factor"
    A, T, B = system(3000, 12, 3, 5)
    assert sylvester(A, T, B).solver == "cg"


def test_a_path_takes_many_steps_and_comes_to_the_same():
    E = np.zeros((600, 2))
    E[-1] = 1.0
    one, other = (shifted_solves(path(600), np.array([0.0, 1e-4]), E, solver=s) for s in ("factor", "cg"))
    assert other.steps > 300
    np.testing.assert_allclose(one.Z[:, 0], np.arange(1.0, 601.0), rtol=1e-9)
    np.testing.assert_allclose(other.Z, one.Z, rtol=1e-6)


@pytest.mark.parametrize("solver", ["factor", "cg"])
def test_what_is_not_positive_definite_is_refused(solver):
    A, _, B = system(500, 3, 2, 6)
    least = np.linalg.eigvalsh(A.toarray())[0]
    shifted_solves(A, np.array([0.0, -0.9 * least]), B, solver=solver)
    with pytest.raises(ValueError, match="not positive definite"):
        shifted_solves(A, np.array([0.0, -20.0 * least]), B, solver=solver)


@pytest.mark.parametrize(("n", "dimension"), [(1, 1), (60, 2), (500, 2), (500, 9)])
def test_the_least_eigenvalue(n, dimension):
    A = system(n, dimension, 2, 7)[0] if n > 1 else sparse.csr_array([[3.0]])
    assert least_eigenvalue(A) == pytest.approx(np.linalg.eigvalsh(A.toarray())[0], rel=1e-8)


def test_one_and_two_threads_give_the_same_bits(monkeypatch):
    A, _, B = system(500, 9, 20, 8)
    shifts = np.linspace(0.0, 1.0, 20)
    found = []
    for count in (1, 2):
        monkeypatch.setattr(blas, "threads", lambda count=count: count)
        found.append(shifted_solves(A, shifts, B, solver="cg").Z)
    np.testing.assert_array_equal(found[1], found[0])


def test_the_order_of_a_large_graph_changes_nothing_but_rounding(monkeypatch):
    A, T, B = system(500, 6, 3, 0)
    as_it_is = sylvester(A, T, B, solver="cg").Z
    monkeypatch.setattr(matrix, "ORDERED_FROM", 1)
    moved = sylvester(A, T, B, solver="cg").Z
    assert not np.array_equal(matrix.near_order(A), np.arange(500))
    np.testing.assert_allclose(moved, as_it_is, rtol=0, atol=1e-9 * np.abs(as_it_is).max())
    np.testing.assert_allclose(A @ moved + moved @ T, B, rtol=0, atol=1e-9)


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(harmonic, "_conjugate", lambda A, s, E, limit, run=harmonic._conjugate: run(A, s, E, 5))
    with pytest.warns(ConvergenceWarning, match="stopped after 5 steps on 600 rows with a residual"):
        shifted_solves(path(600), np.zeros(1), np.eye(600)[:, :1], solver="cg")


def test_where_conjugate_gradients_fail_a_factor_is_made(monkeypatch):
    monkeypatch.setattr(harmonic, "_conjugate", lambda A, s, E, limit, run=harmonic._conjugate: run(A, s, E, 5))
    monkeypatch.setattr(harmonic, "STEPS", 0)
    E = np.eye(600)[:, :1]
    found = shifted_solves(path(600), np.zeros(1), E)
    assert found.solver == "factor"
    np.testing.assert_allclose(path(600) @ found.Z, E, atol=1e-9)


def test_a_factor_that_does_not_fit_is_not_made(monkeypatch):
    monkeypatch.setattr(matrix, "MAX_DENSE_BYTES", 1)
    assert shifted_solves(path(600), np.zeros(1), np.eye(600)[:, :1]).solver == "cg"


def test_a_pivot_of_zero_is_told_as_an_indefinite_matrix():
    singular = sparse.csr_array([[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(ValueError, match="The matrix with shift 0 is not positive definite"):
        shifted_solves(singular, np.zeros(1), np.ones((2, 1)))
