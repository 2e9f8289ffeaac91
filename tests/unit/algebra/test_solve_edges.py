"""solve() at the edges: singular constraints, null spaces, constant features, few features, trace ratio, scalings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import pairwise
from oracles.dense import dense_solve
from proxembed.algebra.operators.structured import Centering, Dense, Diagonal, LowRank, Sparse
from proxembed.algebra.pencil import eigen
from proxembed.algebra.pencil.eigen import principal_axes, rescaled, solve
from proxembed.algebra.pencil.pencil import solve_trace_ratio
from proxembed.algebra.pencil.problem import Problem
from proxembed.algebra.template import Template
from unit.algebra.pencils import FEATURES, constraint, graph, setting


def assert_same_solution(found, P, w, rows, tolerance=1e-7) -> None:
    np.testing.assert_allclose(found.eigenvalues, w, rtol=0, atol=tolerance * np.abs(w).max())
    Z, R = rows @ found.P, rows @ P
    assert np.linalg.norm(Z @ Z.T - R @ R.T) < tolerance * np.linalg.norm(R @ R.T)


@pairwise
@pytest.mark.parametrize("A", ["labels", "graph"])
@pytest.mark.parametrize("B", ["total", "within"])
@pytest.mark.parametrize("features", ["tall", "wide", "tall sparse", "wide sparse"])
def test_without_a_ridge_the_constraint_is_whitened_on_its_range(features, B, A):
    problem = setting(features, A, B, b=0.0)
    found = solve(problem.template, problem.X, 3, 0.0)
    P, w = dense_solve(problem.objective, problem.constraint(), problem.weighted_rows, 3)
    assert found.ridge == 0.0
    assert_same_solution(found, P, w, problem.rows)
    np.testing.assert_allclose(found.P.T @ problem.constraint() @ found.P, np.eye(3), rtol=0, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 1e-9, 0.1])
def test_repeated_and_constant_features_do_no_harm(ridge):
    X = FEATURES["tall"][:, [*range(24), 0, 0, 5]].copy()
    X[:, 7] = 0.1
    problem = replace(setting("tall", b=0.0), X=X)
    found = solve(problem.template, X, 3, ridge, "absolute")
    P, w = dense_solve(problem.objective, problem.constraint(ridge), problem.weighted_rows, 3)
    assert_same_solution(found, P, w, problem.rows, 1e-6)
    np.testing.assert_allclose(found.P[7], 0.0, rtol=0, atol=1e-6 * np.abs(found.P).max())


def within_problem(n: int = 24, d: int = 60):
    Y = strategies.one_hot(strategies.labels_classes(n, 4, n))
    return Template(Centering(), constraint("within", n, None)[0], b=0.0, offset=np.ones(n)), n - Y.shape[1]


@pytest.mark.parametrize("k", [None, 3, 20, 23])
def test_the_bound_is_the_same_however_many_components_are_asked_for(k):
    """Within-class scatter, d > n: of the n - 1 dimensions of the row space only n - c can be whitened."""
    template, dimensions = within_problem()
    found = solve(template, FEATURES["wide"], k, 0.0)
    assert found.P.shape[1] == (dimensions if k is None else min(k, dimensions))
    assert found.bound == dimensions


def negative(kind: str, n: int):
    """An objective without positive eigenvalues, and its array."""
    if kind == "diagonal":
        return Diagonal(-np.arange(1.0, n + 1)), -np.diag(np.arange(1.0, n + 1))
    W = graph(n)
    return Sparse(W) - Diagonal(W.sum(axis=1)), W - np.diag(W.sum(axis=1))


NEGATIVE = ("diagonal", "laplacian")


@pytest.mark.parametrize("features", ["wide", "wide sparse"])
@pytest.mark.parametrize("kind", NEGATIVE)
def test_why_the_row_space_matters(kind, features):
    """Negative control: over all of R^d null directions precede negative eigenvalues, and map all rows to a point."""
    n = FEATURES[features].shape[0]
    X = FEATURES[features].toarray() if features == "wide sparse" else FEATURES[features]
    Xc, (_, A) = X - X.mean(axis=0), negative(kind, n)
    w, P = np.linalg.eigh(Xc.T @ A @ Xc)
    w, P = w[::-1], P[:, ::-1]
    assert np.abs(w[:3]).max() < 1e-10 * np.abs(w).max()
    assert (Xc @ P[:, :3]).std(axis=0).max() < 1e-6


def repeated_features() -> np.ndarray:
    """Tall rows of rank 24 in 27 columns."""
    return FEATURES["tall"][:, [*range(24), 0, 0, 5]].copy()


@pytest.mark.parametrize("k", [20, 24])
@pytest.mark.parametrize("offset", ["uniform", "weighted"])
def test_negative_eigenvalues_follow_the_positive_ones_without_null_directions(offset, k, monkeypatch):
    """Zero eigenvalues of the null space, which lie before the negative ones, are left out without a second
    decomposition."""
    problem = replace(setting("tall", "graph", "none", offset), X=repeated_features())
    monkeypatch.delattr(eigen, "_restricted")
    found = solve(problem.template, problem.X, k)
    P, w = dense_solve(problem.objective, problem.constraint(), problem.weighted_rows, k)
    assert (w < 0).any() and found.bound == 24
    assert_same_solution(found, P, w, problem.rows)
    np.testing.assert_allclose(found.P, problem.basis @ problem.basis.T @ found.P, rtol=0, atol=1e-9)


def test_an_eigenvalue_of_zero_inside_the_row_space_counts():
    """X'AX has a direction of eigenvalue zero inside the row space, which counts, and three outside, which do not."""
    X = repeated_features()
    lost = (X - X.mean(axis=0)) @ np.linalg.pinv(X - X.mean(axis=0))[:, :1]
    keep = np.eye(60) - lost @ lost.T / (lost.T @ lost)
    problem = replace(setting("tall", "graph", "none"), X=X)
    A = keep @ problem.A @ keep
    problem = replace(problem, template=replace(problem.template, A=Dense((A + A.T) / 2)), A=(A + A.T) / 2)
    found = solve(problem.template, X, 24)
    P, w = dense_solve(problem.objective, problem.constraint(), problem.weighted_rows, 24)
    assert found.bound == 24 and np.count_nonzero(np.abs(w) < 1e-9 * w[0]) == 1
    assert_same_solution(found, P, w, problem.rows)


@pairwise
@pytest.mark.parametrize("B", ["none", "total"])
@pytest.mark.parametrize("route", ["auto", "dual", "iterative"])
@pytest.mark.parametrize("features", ["wide", "wide sparse"])
@pytest.mark.parametrize("kind", NEGATIVE)
def test_null_directions_are_never_chosen(kind, features, route, B):
    n = FEATURES[features].shape[0]
    problem = setting(features, B=B)
    operator, A = negative(kind, n)
    problem = replace(problem, template=replace(problem.template, A=operator), A=A)
    found = solve(problem.template, problem.X, 3, 0.1, "absolute", solver=route)
    Z = problem.rows @ found.P
    assert Z.std(axis=0).min() > 1e-3 * Z.std(axis=0).max()
    P, w = dense_solve(problem.objective, problem.constraint(0.1), problem.weighted_rows, 3)
    assert (w < 0).all()
    assert_same_solution(found, P, w, problem.rows, 1e-4 if route == "iterative" else 1e-7)


@pytest.mark.parametrize("a", [-2.0, 0.7])
@pytest.mark.parametrize("features", ["tall", "wide"])
def test_a_multiple_of_the_identity_in_the_objective(features, a):
    problem = setting(features)
    problem = replace(problem, template=replace(problem.template, a=a))
    found = solve(problem.template, problem.X, 3, 0.2, "absolute")
    P, w = dense_solve(problem.objective, problem.constraint(0.2), problem.weighted_rows, 3)
    assert found.solver in ("primal", "dual")
    assert_same_solution(found, P, w, problem.rows)
    with pytest.raises(ValueError, match="thin"):
        solve(problem.template, problem.X, 3, 0.2, solver="thin")


@pytest.mark.parametrize("d, k", [(1, 1), (4, 2), (12, 5), (30, 8)])
def test_the_iterative_route_gives_as_many_components_as_asked_for(d, k):
    """Few features: the block of the search may not be cut below k."""
    X = strategies.features_dense(60, d, 3)
    W = graph(60)
    template = Template(Dense(W), Dense(np.eye(60) + W @ W / 60), offset=np.ones(60))
    dense = solve(template, X, k, 0.1, "absolute")
    found = solve(template, X, k, 0.1, "absolute", solver="iterative")
    np.testing.assert_allclose(
        found.eigenvalues, dense.eigenvalues, rtol=0, atol=1e-6 * np.abs(dense.eigenvalues).max()
    )


def on_any_rows(kind: str, n: int) -> Template:
    labels = LowRank(strategies.labels_multi(n, 2, 0), center=np.ones(n))
    A = Centering() if kind == "variance" else labels
    return Template(A, Centering() if kind == "labels, total" else None, offset=np.ones(n))


@pairwise
@pytest.mark.parametrize("kind", ["variance", "labels", "labels, total"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 12345.6789], ids=lambda v: f"{v:g}")
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("shape", [(20, 3), (20, 30)], ids=str)
def test_constant_features_are_refused(shape, make, value, kind):
    """Rounding of the mean must not pass for variation."""
    with pytest.raises(ValueError, match="X is constant.*Pass features that vary"):
        solve(on_any_rows(kind, shape[0]), make(np.full(shape, value)), 1, 0.1)


@pytest.mark.parametrize("kind", ["variance", "labels", "labels, total"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_one_row_that_differs_is_variation(make, kind):
    X = np.full((20, 3), 0.1)
    X[13, 1] = 0.2
    P = solve(on_any_rows(kind, 20), make(X), 1, 0.1).P
    np.testing.assert_array_equal(np.abs(P / P[1]) > 1e-6, [[False], [True], [False]])


@pytest.mark.parametrize("features", ["tall", "wide", "wide sparse"])
def test_rows_of_weight_zero_do_not_count(features):
    """The rows that weigh nothing may be left out altogether."""
    X = FEATURES[features]
    n = X.shape[0]
    w = np.ones(n)
    w[::4] = 0.0
    kept = np.flatnonzero(w)
    Y = strategies.labels_multi(n, 3, 2)
    Y[w == 0] = 0.0
    whole = solve(Template(LowRank(Y, center=w), Centering(w), offset=w), X, 2, 0.2, "absolute")
    part = solve(
        Template(LowRank(Y[kept], center=w[kept]), Centering(w[kept]), offset=w[kept]), X[kept], 2, 0.2, "absolute"
    )
    np.testing.assert_allclose(whole.eigenvalues, part.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(whole.mean, part.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(whole.P, part.P, rtol=0, atol=1e-8 * np.abs(part.P).max())


@pytest.mark.parametrize("offset", ["uniform", "weighted", "none"])
def test_the_mean_that_transform_subtracts(offset):
    problem = setting("tall", offset=offset)
    found = solve(problem.template, problem.X, 2, 0.1)
    if offset == "none":
        assert found.mean is None
    else:
        expected = np.average(problem.X, axis=0, weights=problem.template.offset)
        np.testing.assert_allclose(found.mean, expected, rtol=0, atol=1e-12)


@pairwise
@pytest.mark.parametrize("A", ["labels", "graph"])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_trace_ratio_is_a_fixed_point_and_beats_the_ratio_trace(k, features, A):
    problem = setting(features, A, "within")
    Ap, Bp, V = problem.objective, problem.constraint(0.2), problem.basis

    def ratio(P):
        Q = np.linalg.qr(P)[0]
        return np.trace(Q.T @ Ap @ Q) / np.trace(Q.T @ Bp @ Q)

    found = solve(problem.template, problem.X, k, 0.2, "absolute", criterion="trace_ratio")
    np.testing.assert_allclose(found.P.T @ found.P, np.eye(k), rtol=0, atol=1e-9)
    np.testing.assert_allclose(V @ (V.T @ found.P), found.P, rtol=0, atol=1e-5)  # in the row space
    shifted = np.linalg.eigvalsh(V.T @ (Ap - ratio(found.P) * Bp) @ V)
    assert abs(shifted[-k:].sum()) < 1e-6 * np.abs(shifted).max()
    other = solve(problem.template, problem.X, k, 0.2, "absolute")
    assert ratio(found.P) >= ratio(other.P) * (1 - 1e-9)
    rng = np.random.default_rng(0)
    assert all(ratio(V @ rng.standard_normal((V.shape[1], k))) <= ratio(found.P) for _ in range(50))


def test_trace_ratio_needs_a_constraint_with_trace():
    A = np.diag([3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match='needs a constraint with positive trace.*criterion="ratio_trace"'):
        solve_trace_ratio(A, np.diag([0.0, 1.0, 1.0]), 1)
    w, Q, ratio = solve_trace_ratio(A, np.diag([1.0, 4.0, 2.0]), 2)
    assert ratio == pytest.approx(max((3 + 2) / (1 + 4), (3 + 1) / (1 + 2)))
    np.testing.assert_allclose(np.abs(Q), [[1, 0], [0, 0], [0, 1]], rtol=0, atol=1e-12)
    assert w.sum() == pytest.approx(0.0, abs=1e-12)


def test_scalings_of_a_solution():
    P, w = strategies.features_dense(9, 3, 0), np.array([4.0, 1.0, -0.25])
    np.testing.assert_array_equal(rescaled(P, w, "template"), P)
    np.testing.assert_allclose(rescaled(P, w, "eigenvalue"), P * [2.0, 1.0, 0.5], rtol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(rescaled(P, w, "unit"), axis=0), 1.0, rtol=1e-14)
    np.testing.assert_allclose(rescaled(P, w, "unit") * np.linalg.norm(P, axis=0), P, rtol=1e-14)
    Q = rescaled(P, w, "orthonormal")
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(Q[:, :1], rescaled(P, w, "unit")[:, :1], rtol=1e-12)


@pytest.mark.parametrize("features", FEATURES)
def test_principal_axes_are_the_singular_vectors_of_the_centred_rows(features):
    X = FEATURES[features]
    array = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    mean, V, s = principal_axes(X)
    _, exact, Vt = np.linalg.svd(array - array.mean(axis=0), full_matrices=False)
    assert V.shape == (array.shape[1], len(s)) and len(s) == np.sum(exact**2 > 1e-10 * exact[0] ** 2)
    np.testing.assert_allclose(mean, array.mean(axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(s, exact[: len(s)], rtol=1e-5)
    np.testing.assert_allclose(V.T @ V, np.eye(len(s)), rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(V * Vt[: len(s)].T, axis=0))[:3], 1.0, rtol=0, atol=1e-9)


def test_a_gram_matrix_above_the_guard_is_refused_with_its_size():
    n = 20_000
    X = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
    problem = Problem(Template(Centering(), offset=np.ones(n)), X)
    with pytest.raises(ValueError, match="The Gram matrix of X would be a dense 20,000 x 20,000 array"):
        _ = problem.gram


def test_no_component_is_divided_by_an_eigenvalue_that_is_zero():
    X = strategies.features_dense(20, 3, 1)
    pull = np.diag([0.0, 1.0, 2.0])
    inverse = np.linalg.pinv(X)
    template = Template(-Dense(inverse.T @ pull @ inverse), sense=-1)  # X'AX = -pull
    found = solve(template, X, 3)
    with pytest.raises(ValueError, match=r'scaling="eigenvalue" is not allowed here: component 0 .* zero up to'):
        found.refuse_zero_eigenvalues()
    solve(replace(template, a=-1e-6), X, 3).refuse_zero_eigenvalues()


def test_a_constraint_without_range_is_refused():
    X = np.array([[0.0], [1.0], [1.0], [0.0]])
    pairs = Sparse(sparse.csr_array(np.array([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=float)))
    within = Diagonal(np.ones(4)) - pairs  # zero on X
    with pytest.raises(ValueError, match="holds nothing that this method can use|constraint is zero"):
        solve(Template(Centering(), within - 1e-30 * Centering(), b=1e-300, offset=np.ones(4)), X, 1)
