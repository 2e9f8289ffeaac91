"""solve(): every route gives the optimum, told by the dense pencil and by a certificate that solves nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from designs import each_value, pairwise
from oracles.dense import dense_solve
from proxembed.algebra.pencil import eigen, pencil
from proxembed.algebra.pencil.conjugate import conjugate_gradients
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.pencil.problem import Aim, Problem
from unit.algebra.pencils import FEATURES, setting

K = 3
RIDGES = {"absolute": (0.3, "absolute"), "trace": (0.05, "trace")}
ROUTES = ("auto", "thin", "primal", "dual", "iterative")
CLOSE = {"iterative": 1e-5}

features = pytest.mark.parametrize("features", FEATURES)
objectives = pytest.mark.parametrize("A", ["labels", "both signs", "graph", "mixed"])
constraints = pytest.mark.parametrize("B", ["none", "total", "within"])
offsets = pytest.mark.parametrize("offset", ["none", "uniform", "weighted"])
ridges = pytest.mark.parametrize("ridge", RIDGES)


def can_take(A: str, route: str) -> bool:
    """Thin is for proximities of low rank."""
    return route != "thin" or A in ("labels", "both signs")


@pairwise
@ridges
@offsets
@constraints
@objectives
@features
def test_every_route_gives_the_leading_components(features, A, B, offset, ridge):
    problem = setting(features, A, B, offset)
    amount, scale = RIDGES[ridge]
    Bp = problem.constraint(amount, scale)
    P, w = dense_solve(problem.objective, Bp, problem.weighted_rows, K)
    positive = int(np.sum(w > 1e-8 * w[0]))
    reference = problem.rows @ P[:, :positive]
    for route in ROUTES:
        if not can_take(A, route):
            continue
        found = solve(problem.template, problem.X, K, amount, scale, solver=route)
        tolerance = CLOSE.get(found.solver, 1e-8) * (100 if features == "tall float32" else 1)
        assert found.P.shape[1] >= positive, route
        np.testing.assert_allclose(found.eigenvalues[:positive], w[:positive], rtol=0, atol=tolerance * w[0])
        Z = problem.rows @ found.P[:, :positive]
        gap = np.linalg.norm(Z @ Z.T - reference @ reference.T) / np.linalg.norm(reference @ reference.T)
        assert gap < 10 * tolerance, (route, gap)
        expected = 0.0 if B == "none" else Bp[0, 0] - problem.constraint()[0, 0]
        assert found.ridge == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pairwise
@pytest.mark.parametrize(
    "A, route",
    [(A, route) for A in ("labels", "both signs", "graph", "mixed") for route in ROUTES if can_take(A, route)],
)
@offsets
@constraints
@features
def test_certificate(features, A, B, offset, route):
    """P'BpP = I, Ap P = Bp P diag(w), and no other feasible P does better: told without an eigensolver."""
    problem = setting(features, A, B, offset)
    found = solve(problem.template, problem.X, K, 0.3, "absolute", solver=route)
    Ap, Bp, P, w = problem.objective, problem.constraint(0.3), found.P, found.eigenvalues
    tolerance = CLOSE.get(found.solver, 1e-8) * (100 if features == "tall float32" else 1)
    np.testing.assert_allclose(P.T @ Bp @ P, np.eye(len(w)), rtol=0, atol=tolerance)
    # Where a direction of the row space is hardly there, its share of the residual cannot be seen in XP either.
    V = problem.basis
    residual = np.linalg.norm(V.T @ (Ap @ P - Bp @ P * w)) / (np.abs(w).max() * np.linalg.norm(Bp @ P))
    assert residual < tolerance
    assert found.residual <= eigen.RESIDUAL_LIMIT
    assert (np.diff(w) <= tolerance * w[0]).all()
    rng = np.random.default_rng(0)
    best = np.trace(P.T @ Ap @ P)
    for scale in (np.inf, 1.0, 0.1, 1e-2):
        for _ in range(10):
            step = V @ rng.standard_normal((V.shape[1], len(w)))
            step /= np.sqrt(np.trace(step.T @ Bp @ step))
            other = step if scale == np.inf else P + scale * step
            L = np.linalg.cholesky(other.T @ Bp @ other)
            other = np.linalg.solve(L, other.T).T
            assert np.trace(other.T @ Ap @ other) <= best + tolerance * abs(best)


@each_value
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("features", ["tall", "wide", "wide sparse"])
def test_signs_do_not_depend_on_the_route(features, route):
    problem = setting(features)
    P = solve(problem.template, problem.X, K, 0.3, "absolute", solver=route).P
    lead = np.argmax(np.abs(P), axis=0)
    assert (P[lead, range(K)] > 0).all()
    expected = solve(problem.template, problem.X, K, 0.3, "absolute", solver="dual").P
    np.testing.assert_allclose(P, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@each_value
@constraints
@features
def test_no_number_of_components_gives_the_whole_spectrum(features, B):
    problem = setting(features, "graph", B)
    found = solve(problem.template, problem.X, None, 0.3, "absolute")
    _, w = dense_solve(problem.objective, problem.constraint(0.3), problem.weighted_rows)
    assert len(w) == found.bound == found.P.shape[1] == problem.basis.shape[1]
    np.testing.assert_allclose(found.spectrum, w, rtol=0, atol=1e-6 * np.abs(w).max())
    np.testing.assert_array_equal(found.eigenvalues, found.spectrum)
    assert found.positive == np.sum(w > 1e-10 * np.abs(w).max())


@pytest.mark.parametrize("route", ["thin", "iterative"])
@features
def test_low_rank_gives_as_many_components_as_there_are_positive_eigenvalues(features, route):
    for A, bound in (("labels", 4), ("both signs", 2)):
        problem = setting(features, A)
        found = solve(problem.template, problem.X, 20, 0.3, "absolute", solver=route)
        assert found.bound == found.P.shape[1] == found.positive == bound
        np.testing.assert_array_equal(found.first(1).P, found.P[:, :1])
        assert found.first(1).bound == bound


@features
def test_more_components_than_the_rank_gives_the_rank(features):
    problem = setting(features, "graph")
    found = solve(problem.template, problem.X, 500, 0.3, "absolute")
    assert found.bound == found.P.shape[1] == problem.basis.shape[1]


CHOICES = [
    ("tall", "labels", "none", "thin"),
    ("tall", "labels", "total", "thin"),
    ("wide", "labels", "none", "thin"),
    ("wide", "labels", "total", "thin"),
    ("wide sparse", "both signs", "total", "thin"),
    ("tall", "labels", "within", "primal"),
    ("wide", "labels", "within", "dual"),
    ("tall", "graph", "total", "primal"),
    ("tall sparse", "mixed", "none", "primal"),
    ("wide", "graph", "none", "dual"),
    ("wide sparse", "graph", "within", "dual"),
]


@pytest.mark.parametrize("features, A, B, route", CHOICES, ids=lambda value: str(value))
def test_the_route_follows_from_structure_and_sizes_and_is_reported(features, A, B, route):
    problem = setting(features, A, B)
    assert solve(problem.template, problem.X, 2, 0.3).solver == route
    forced = "dual" if route == "primal" else "primal" if route == "dual" else route
    assert solve(problem.template, problem.X, 2, 0.3, solver=forced).solver == forced


@pytest.mark.parametrize("features", ["tall", "wide", "wide sparse"])
def test_above_the_dense_limit_operators_take_over(features, monkeypatch):
    monkeypatch.setattr("proxembed.algebra.pencil.problem.DENSE_LIMIT", 10)
    problem = setting(features, "labels", "total")
    assert solve(problem.template, problem.X, 2, 0.3).solver == "iterative"
    problem = setting(features, "labels", "none")
    assert solve(problem.template, problem.X, 2).solver == "thin"
    problem = setting(features, "graph", "none")
    assert solve(problem.template, problem.X, 1).solver == "iterative"
    assert solve(problem.template, problem.X, 8).solver in ("primal", "dual")  # not few of so many


def test_routes_that_cannot_be_taken_say_so():
    problem = setting("tall", "graph", "total", b=0.0)
    with pytest.raises(ValueError, match='solver="thin" needs .* Use solver="auto"'):
        solve(problem.template, problem.X, 2, 0.3, solver="thin")
    with pytest.raises(ValueError, match="integer n_components"):
        solve(problem.template, problem.X, None, 0.3, solver="iterative")
    with pytest.raises(ValueError, match="or use a positive ridge"):
        solve(problem.template, problem.X, 2, 0.0, solver="iterative")
    with pytest.raises(ValueError, match="integer n_components"):
        solve(problem.template, problem.X, None, 0.3, criterion="trace_ratio")


@pytest.mark.parametrize("features", ["tall", "wide sparse"])
def test_a_search_stopped_early_warns(features, monkeypatch):
    """Negative control of the residual check: conjugate gradients that may take one step only."""
    problem = setting(features)
    exact = solve(problem.template, problem.X, K, 0.01, solver="iterative")
    assert exact.residual <= eigen.RESIDUAL_LIMIT

    def one_step(rows, weights, scale, shift, E, tol):
        return conjugate_gradients(rows, weights, scale, shift, E, tol, maxiter=1)

    monkeypatch.setattr(eigen, "conjugate_gradients", one_step)
    with pytest.warns(ConvergenceWarning, match="iterative solver stopped at a relative residual"):
        found = solve(problem.template, problem.X, K, 0.01, solver="iterative")
    assert found.residual > eigen.RESIDUAL_LIMIT


@pytest.mark.parametrize("features", ["tall", "tall float32"])
@pytest.mark.parametrize("B", ["total", "within"])
@pytest.mark.parametrize("offset", ["uniform", "weighted"])
def test_features_serve_as_coordinates_where_the_rows_span_them(features, B, offset):
    given = setting(features, "graph", B, offset)
    problem = Problem(given.template, given.X, aim=Aim(K, 0.01, "trace"))
    ridge = problem.absolute(0.01, "trace")
    found, other = eigen._spanning(problem, ridge, K), eigen._restricted(problem, ridge, K)
    assert problem.spans and problem.rank == problem.coordinates.rank
    assert ridge == pytest.approx(0.01 * np.trace(given.constraint()) / problem.dimensions, rel=1e-8)
    np.testing.assert_allclose(found.eigenvalues, other.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(eigen.fix_signs(found.P), eigen.fix_signs(other.P), rtol=0, atol=1e-8)
    assert found.bound == other.bound and found.residual < 1e-12


def test_features_are_no_coordinates_where_one_hardly_varies_or_follows_from_others():
    given = setting("tall", "graph", "within")
    X, tiny = given.X, np.r_[1e-8, np.ones(23)]
    for other in (np.hstack([X, X[:, :1]]), X * tiny):
        problem = Problem(given.template, other, aim=Aim(K, 0.01))
        assert not problem.spans and eigen._spanning(problem, 0.01, K) is None
    assert Problem(given.template, given.X, aim=Aim(K, 0.01)).spans


def spoilt(find):
    """The eigensolver with its vectors mixed by a thousandth."""

    def spoil(*args):
        w, V = find(*args)
        return w, V + 1e-3 * np.roll(V, 1, axis=0)

    return spoil


WRONG = [
    (eigen, "lanczos", "tall", "none", "iterative"),
    (eigen, "top_or_all", "tall", "none", "primal"),
    (eigen, "top_of_pencil", "tall", "total", "primal"),
    (pencil, "top", "wide", "total", "dual"),
]


@pytest.mark.parametrize("room, name, features, B, solver", WRONG, ids=["lanczos", "top", "features", "coordinates"])
def test_wrong_eigenvectors_warn(room, name, features, B, solver, monkeypatch):
    problem = setting(features, "graph", B)
    monkeypatch.setattr(room, name, spoilt(getattr(room, name)))
    with pytest.warns(ConvergenceWarning, match=f"The {solver} solver"):
        solve(problem.template, problem.X, K, solver=solver)


def test_a_loose_tolerance_is_told_from_a_tight_one(monkeypatch):
    """The residual reported is the true one: it follows the tolerance of the search."""
    problem, found = setting("tall"), {}
    for tol in (1e-7, 1e-9):
        monkeypatch.setattr(eigen, "CG_TOLERANCE", tol)
        found[tol] = solve(problem.template, problem.X, K, 0.3, solver="iterative")
        Ap, Bp = problem.objective, problem.constraint(0.3, "trace")
        P, w = found[tol].P, found[tol].eigenvalues
        true = np.linalg.norm(Ap @ P - Bp @ P * w) / (w[0] * np.linalg.norm(Bp @ P))
        assert found[tol].residual == pytest.approx(true, rel=0.5, abs=1e-12)


@pytest.mark.parametrize("route", ROUTES)
def test_inputs_are_untouched(route):
    for features in ("tall", "wide sparse"):
        problem = setting(features, "labels", "total", "weighted")
        X, w = problem.X.copy(), problem.template.offset.copy()
        F = problem.template.A.F.copy()
        solve(problem.template, problem.X, K, 0.3, solver=route)
        np.testing.assert_array_equal(problem.template.offset, w)
        assert (problem.template.A.F != F).nnz == 0
        assert (problem.X != X).nnz == 0 if features == "wide sparse" else np.array_equal(problem.X, X)
