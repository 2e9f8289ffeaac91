"""Problem: constraints that are polynomials of the scatter are told from others and factorised into shifts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators.structured import Centering, Diagonal, Laplacian, LowRank, Sparse
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.algebra.pencil.symmetric import SPD
from proxembed.algebra.template import Template

N = 30


def problem(d: int, make, repeated: bool = False, aim: Aim | None = None):
    rng = np.random.default_rng(d)
    X, Y = rng.standard_normal((N, d)) + 2.0, (rng.random((N, 3)) < 0.4).astype(float)
    if repeated:
        X[:, 1] = X[:, 0]
    ones = np.ones(N)
    return Problem(Template(LowRank(Y, center=ones), make(X, ones), b=0.5, offset=ones), X, aim=aim)


def quadratic(c1: float, c2: float):
    return lambda X, ones: c1 * Centering() + LowRank(X, center=ones) * c2


@pytest.mark.parametrize("d", [8, 50])
def test_shifts_multiply_to_the_constraint(d):
    found = problem(d, quadratic(3.0, 0.25))
    scale, roots = found.shifts(0.1)
    S = found.rows.gram()
    product = scale * np.eye(d)
    for root in roots:
        product = product @ (S + root * np.eye(d))
    expected = 3.0 * S + 0.25 * S @ S + 0.6 * np.eye(d)
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_complex_roots_and_other_constraints_have_no_shifts():
    assert problem(8, quadratic(0.1, 5.0)).shifts(0.0) is None  # 0.1^2 < 4 * 0.5 * 5
    assert problem(8, lambda X, ones: Diagonal(np.arange(1.0, N + 1))).powers is None
    assert problem(8, lambda X, ones: LowRank(X.copy(), center=ones)).powers is None  # equal, but not the same matrix


@pytest.mark.parametrize("solver", ["auto", "iterative"])  # by the Gram matrix, and by the rows
@pytest.mark.parametrize("d", [8, 50])
def test_the_constraint_applied_is_the_constraint(d, solver):
    found = problem(d, quadratic(3.0, 0.25), aim=Aim(solver=solver))
    assert found.plan.gram == (solver == "auto")
    P = np.random.default_rng(1).standard_normal((d, 2))
    S = found.rows.gram()
    expected = 3.0 * S @ P + 0.25 * S @ (S @ P) + 0.7 * P
    np.testing.assert_allclose(found.apply_constraint(P, 0.2), expected, rtol=1e-10)


@pytest.mark.parametrize("d", [8, 50])
def test_regression_is_ridge_regression(d):
    found = problem(d, quadratic(1.0, 0.0))
    X, E = found.rows.X - found.rows.X.mean(axis=0), np.random.default_rng(2).standard_normal((N, 2))
    expected = np.linalg.solve(X.T @ X + 1.5 * np.eye(d), X.T @ E)
    np.testing.assert_allclose(found.regression(E, 1.5), expected, rtol=0, atol=1e-11)
    assert found.shifted(1.5) is found.shifted(1.5 * (1 + 1e-15))  # kept
    assert found.shifted(1.5) is not found.shifted(1.6)


@pytest.mark.parametrize("d", [8, 50])
def test_regression_under_a_ridge_that_is_lost_stays_in_the_row_space(d):
    found = problem(d, quadratic(1.0, 0.0), repeated=True)
    Xc, E = found.rows.X - found.rows.X.mean(axis=0), np.random.default_rng(2).standard_normal((N, 2))
    expected = np.linalg.pinv(Xc, rcond=1e-10) @ E
    assert not found.shifted(1e-25).ok
    np.testing.assert_allclose(found.regression(E, 1e-25), expected, rtol=0, atol=1e-8)


def test_one_pass_gives_the_products_of_several():
    rng = np.random.default_rng(3)
    X, U, w = rng.standard_normal((N, 6)) + 1.0, rng.standard_normal((N, 2)), rng.random(N)
    joint, alone = CentredMatrix.centred(X, w, [U]), CentredMatrix.centred(X, w)
    np.testing.assert_allclose(joint.mean, alone.mean, rtol=1e-13)
    np.testing.assert_allclose(joint.tdot(U), alone.tdot(U), rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.tdot(U), joint.tdot(U.copy()), rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.column_sums(), alone.column_sums(), rtol=0, atol=1e-12)


def test_a_constraint_of_full_rank_shows_that_the_rows_span_the_features(monkeypatch):
    """Then no Gram matrix is formed; the ridge and the eigenvalues are those of the dense pencil."""
    rng = np.random.default_rng(0)
    X, n = rng.random((60, 5)) * (rng.random((60, 5)) < 0.6), 60
    path, apart = (sparse.diags_array([np.ones(n - far)] * 2, offsets=[-far, far]) for far in (1, 7))
    pairs = sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(n, n))
    L = [Laplacian(Sparse(W)) for W in (apart, path)]
    template = Template(L[0], L[1], b=0, offset=np.ones(n))
    found = Problem(Template(L[0], Laplacian(Sparse(pairs)), b=0, offset=np.ones(n)), X, aim=Aim(2, 1e-3))
    assert not found.shown_by_constraint and found.spans
    monkeypatch.setattr(CentredMatrix, "gram", None)
    found = solve(template, sparse.csr_array(X), 2, 1e-3)
    A, B = (X.T @ one.todense(n) @ X for one in L)
    ridge = 1e-3 * np.trace(B) / 5
    np.testing.assert_allclose(found.ridge, ridge, rtol=1e-12)
    np.testing.assert_allclose(found.eigenvalues, eigh(A, B + ridge * np.eye(5), eigvals_only=True)[:2:-1], rtol=1e-10)


def test_shifted_spd_factorises_the_sum():
    M, E = np.diag([4.0, 1.0, 0.0]), np.ones((3, 1))
    np.testing.assert_allclose(SPD(M, 0.5).solve(E), np.linalg.solve(M + 0.5 * np.eye(3), E), rtol=1e-13)
    assert not SPD(M).ok
