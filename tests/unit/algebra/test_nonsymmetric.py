"""Sparse nonsymmetric systems: every route solves them, the incomplete factor saves steps, failures are told."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.arrays import blas, matrix
from proxembed.algebra.graphs import nonsymmetric
from proxembed.algebra.graphs.nonsymmetric import (
    SOLVERS,
    Incomplete,
    factor_work,
    factorised,
    incomplete,
    loosely,
    normal_solve,
    solve,
)


def system(n=900, c=11, seed=0, signed=True):
    """I - W of six random neighbours per row, some of them hubs, weights of sum 0.98; and a right-hand side."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, n + 1) ** 0.5
    rows = np.repeat(np.arange(n), 6)
    columns = rng.choice(n, size=6 * n, p=chance / chance.sum())
    weights = rng.random((n, 6)) - (0.25 if signed else 0.0)
    weights *= (
        0.98 / weights.sum(axis=1, keepdims=True) if not signed else 0.9 / np.abs(weights).sum(axis=1, keepdims=True)
    )
    W = sparse.csr_array((weights.ravel(), (rows, columns)), shape=(n, n))
    return sparse.csr_array(sparse.eye_array(n) - W), rng.standard_normal((n, c))


def relative(A, B, Z):
    return np.max(np.linalg.norm(B - A @ Z, axis=0) / np.linalg.norm(B, axis=0))


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_route_solves(solver, signed):
    A, B = system(signed=signed)
    found = solve(A, B, solver=solver)
    expected = np.linalg.solve(A.toarray(), B)
    np.testing.assert_allclose(found.Z, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert found.residual == pytest.approx(relative(A, B, found.Z), abs=1e-14) and found.residual <= 1e-8
    assert found.solver == (solver if solver != "auto" else "bicgstab")


def test_another_matrix_has_another_solution():
    A, B = system()
    other, _ = system(seed=1)
    assert relative(other, B, solve(A, B).Z) > 1e-2


def test_few_rows_are_factorised_and_none_are_none():
    A, B = system(60)
    assert solve(A, B).solver == "factor"
    nothing = solve(sparse.csr_array((0, 0)), np.empty((0, 3)))
    assert (nothing.Z.shape, nothing.solver, nothing.residual) == ((0, 3), "none", 0.0)


def test_columns_of_zeros_have_zeros_whatever_the_start():
    A, B = system(700, 3)
    B[:, 1] = 0.0
    found = solve(A, B, start=np.ones(B.shape), solver="bicgstab")
    assert not found.Z[:, 1].any() and relative(A, B[:, [0, 2]], found.Z[:, [0, 2]]) <= 1e-8


def test_the_incomplete_factor_saves_steps_and_does_not_change_the_solution(monkeypatch):
    A, B = system(signed=False)
    with_it = solve(A, B, solver="bicgstab")
    monkeypatch.setattr(nonsymmetric, "incomplete", lambda *given: None)
    without = solve(A, B, solver="bicgstab")
    assert 2 * with_it.steps <= without.steps
    np.testing.assert_allclose(with_it.Z, without.Z, rtol=0, atol=1e-6 * np.abs(without.Z).max())


def test_a_useless_factor_is_left_for_plain_steps(monkeypatch):
    class Useless:
        def solve(self, V, trans="N"):
            return np.zeros_like(V)

    A, B = system()
    monkeypatch.setattr(nonsymmetric, "incomplete", lambda *given: Useless())
    assert solve(A, B, solver="bicgstab").residual <= 1e-8


def test_the_incomplete_factor_is_near_the_inverse_and_its_transpose():
    A, B = system(200, 3, signed=False)
    for own, trans in ((A, "N"), (A.T, "T")):
        rough, near = (relative(own, B, Incomplete(A, dropped).solve(B, trans)) for dropped in (0.1, 0.01))
        assert near < 0.8 * rough and rough < 0.5
    factor = Incomplete(A)
    np.testing.assert_allclose(factor.solve(B[:, 0]), factor.solve(B)[:, 0])
    assert relative(A.T, B, factor.solve(B)) > 2 * relative(A, B, factor.solve(B))


def test_a_loose_solve_meets_its_goal_with_the_matrix_and_its_transpose():
    A, B = system()
    factor = incomplete(A)
    assert relative(A, B, loosely(A, B, factor)) <= nonsymmetric.LOOSE * 1.01
    adjoint = sparse.csr_array(A.T)
    assert relative(adjoint, B, loosely(adjoint, B, factor, "T")) <= nonsymmetric.LOOSE * 1.01


def test_a_zero_pivot_has_no_incomplete_factor_and_a_singular_matrix_none():
    singular = sparse.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    with pytest.raises(RuntimeError, match="singular"):
        factorised(singular)
    assert incomplete(sparse.csr_array(np.zeros((2, 2)))) is None


def test_a_singular_system_without_solution_is_told():
    A = sparse.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    with pytest.warns(ConvergenceWarning, match="nearly singular. Use nonnegative weights"):
        found = solve(A, np.array([[1.0], [1.0]]))
    assert found.residual > 1e-6 and np.isfinite(found.Z).all()


def test_one_thread_or_two(monkeypatch):
    A, B = system(700, 20)
    two = solve(A, B, solver="bicgstab").Z
    monkeypatch.setattr(blas, "threads", lambda: 1)
    np.testing.assert_array_equal(solve(A, B, solver="bicgstab").Z, two)


@pytest.mark.parametrize("n", [60, 900])
def test_normal_equations(n):
    A, R = system(n, 4)
    b = np.random.default_rng(2).random(n)
    found = normal_solve(A, b, R)
    dense = A.toarray()
    np.testing.assert_allclose((dense.T @ dense + np.diag(b)) @ found.Z, R, rtol=0, atol=1e-6 * np.abs(R).max())
    assert found.solver == ("factor" if n == 60 else "cg") and found.residual <= 1e-8


def path(n=3000, c=4):
    """I - W of rows on a line, each rebuilt from its two neighbours: plain steps take as many as there are rows."""
    W = sparse.diags_array([np.full(n - 1, 0.5), np.full(n - 1, 0.5)], offsets=[-1, 1])
    return sparse.csr_array(sparse.eye_array(n) - W), np.random.default_rng(0).standard_normal((n, c))


def test_a_system_that_hardly_fills_is_factorised_however_many_rows():
    A, B = path()
    assert factor_work(A) < 1e5 < factor_work(system(3000)[0])
    found = solve(A, B)
    assert found.solver == "factor" and found.residual <= 1e-8


def test_steps_that_a_factor_would_have_paid_for_are_not_exceeded(monkeypatch):
    A, B = system(1500, 2)
    routes, limit = nonsymmetric._routes(A, 2, "")
    assert routes[:2] == ["bicgstab", "factor"] and 60 < limit < nonsymmetric.STEPS
    given = []

    def fails(A, B, start, limit):
        given.append(limit)
        return np.full(B.shape, np.nan), limit

    monkeypatch.setitem(nonsymmetric.ROUTES, "bicgstab", fails)
    found = solve(A, B)
    assert found.solver == "factor" and found.residual <= 1e-8 and given == [limit]
    assert solve(A, B, first="factor").solver == "factor" and given == [limit]


def test_the_limit_of_steps_holds(monkeypatch):
    A, B = path(800)
    monkeypatch.setattr(nonsymmetric, "incomplete", lambda *given: None)
    Z, steps = nonsymmetric.ROUTES["bicgstab"](A, B, np.zeros(B.shape), 7)
    assert np.isfinite(Z).all() and steps == 7
    assert nonsymmetric.ROUTES["bicgstab"](A, B, np.zeros(B.shape), 90)[1] == 90


def test_every_route_is_tried_until_one_solves(monkeypatch):
    A, B = system()
    for last in ("bicgstab", "factor", "ilu", "normal"):
        with monkeypatch.context() as patched:
            routes = nonsymmetric._routes(A, B.shape[1], "")[0]
            assert routes == ["bicgstab", "factor", "ilu", "normal"]
            for route in routes[: routes.index(last)]:
                patched.setitem(
                    nonsymmetric.ROUTES, route, lambda A, B, start, limit: (np.full(B.shape, np.nan), limit)
                )
            assert solve(A, B).solver == last
    with monkeypatch.context() as patched:
        patched.setattr(nonsymmetric, "LONG", 0.0)
        assert nonsymmetric._routes(A, 1, "")[0] == ["bicgstab", "ilu", "factor", "normal"]
        patched.setattr(matrix, "ENTRY_BYTES", np.inf)
        assert nonsymmetric._routes(A, 1, "")[0] == ["bicgstab", "ilu", "normal"]
        assert nonsymmetric._routes(A, 1, "ilu")[0][0] == "ilu" != nonsymmetric._routes(A, 1, "none")[0][0]
