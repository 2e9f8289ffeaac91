"""Every forced route of the solver against the dense definition, and the refusals where there is no such route."""

from __future__ import annotations

import numpy as np
import pytest

import proxembed
import strategies
from designs import each_value, pairwise
from oracles import dense

DIRECT, ITERATIVE = 1e-8, 1e-4  # the iterative route stops at a relative residual of 1e-6, times cond(Bp) <= 1e3 below
RIDGE = {"ridge": 0.2, "ridge_scale": "absolute"}
PROBLEMS = {p.name: p for p in strategies.problems_multi()}

LOW_RANK = {
    "CCA": (lambda X, Y: dense.cca(X, Y, 0.2), RIDGE),
    "PLS": (dense.pls, {}),
    "OPLS": (lambda X, Y: dense.opls(X, Y, 0.2), RIDGE),
    "MDDM": (dense.mddm, {}),
    "HSL": (lambda X, Y: dense.hsl(X, Y, "zhou", 0.2), RIDGE),
    "MLDA": (lambda X, Y: dense.mlda(X, Y, ridge=0.2), RIDGE),
    "CopyLDA": (lambda X, Y: dense.copy_lda(X, Y, 0.2), RIDGE),
}
FULL_RANK = {
    "PCA": (dense.pca, {}),
    "MVMD": (dense.mvmd, {}),
    "SFEHS": (dense.sfehs, {}),
    "DMLDA": (lambda X, Y: dense.dmlda(X, Y, ridge=0.2), RIDGE),
    "MLSI": (
        lambda X, Y: dense.mlsi(X, Y, 0.5, 0.2, form="ratio"),
        {"form": "ratio", "penalty": 0.2},
    ),
}


def fitted(name, options, solver, problem, k=1):
    method = getattr(proxembed, name)(n_components=k, solver=solver, **options)
    return method.fit(problem.X, problem.Y.astype(int))


def check(name, define, options, solver, problem, tolerance):
    pencil = define(problem.dense, problem.Y)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, pencil.rows(problem.dense))
    after = np.maximum(np.append(w, 0.0), 0.0)
    k = max(k for k in range(1, min(4, len(w)) + 1) if w[k - 1] - after[k] > 1e-2 * w[0])
    method = fitted(name, options, solver, problem, k)
    assert method.components_.shape == (k, problem.X.shape[1])
    np.testing.assert_allclose(method.eigenvalues_, w[:k], rtol=0, atol=tolerance * w[0])
    Z = (problem.dense - pencil.mean) @ P[:, :k]
    assert dense.gram_error(method.transform(problem.X), Z) < tolerance


@pairwise
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("solver", ["thin", "primal", "dual"])
@pytest.mark.parametrize("name", LOW_RANK)
def test_direct_routes_of_low_rank_methods(name, solver, problem):
    check(name, *LOW_RANK[name], solver, problem, DIRECT)


@pairwise
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("name", FULL_RANK)
def test_direct_routes_of_other_methods(name, solver, problem):
    check(name, *FULL_RANK[name], solver, problem, DIRECT)


@each_value
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
@pytest.mark.parametrize("name", [*LOW_RANK, *FULL_RANK])
def test_iterative_route(name, problem):
    check(name, *(LOW_RANK | FULL_RANK)[name], "iterative", problem, ITERATIVE)


@pytest.mark.parametrize("name", ["PCA", "MVMD", "SFEHS", "DMLDA"])
def test_the_thin_route_is_refused_without_low_rank(name):
    with pytest.raises(ValueError, match='solver="thin"'):
        fitted(name, FULL_RANK[name][1], "thin", PROBLEMS["tall"])


@pytest.mark.parametrize("name", ["OPLS", "CCA", "HSL"])
def test_the_iterative_route_is_refused_without_a_ridge(name):
    with pytest.raises(ValueError, match="ridge=0"):
        fitted(name, {"ridge": 0.0}, "iterative", PROBLEMS["tall"])
