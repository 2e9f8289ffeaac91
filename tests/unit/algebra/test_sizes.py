"""Sizes of the two matrices of a problem against dense arrays, on every route."""

import numpy as np
import pytest
from scipy import sparse

import strategies
from proxembed.algebra.operators.structured import Centering, Laplacian, LowRank, Sparse
from proxembed.algebra.pencil import sizes
from proxembed.algebra.pencil.problem import Problem
from proxembed.algebra.pencil.sizes import constraint_size, objective_size
from proxembed.algebra.template import Template


def problem(n, d, form=np.asarray):
    X = strategies.features_dense(n, d, 1)
    W = sparse.csr_array(np.triu(np.random.default_rng(2).random((n, n)) < 0.2, 1).astype(float))
    L = Laplacian(Sparse(W + W.T))
    A = LowRank(np.random.default_rng(3).standard_normal((n, 3)), center=np.ones(n)) - 3.0 * L
    Xc = X - X.mean(axis=0)
    V = np.linalg.svd(Xc, full_matrices=False)[2]
    V = V[: min(n - 1, d)].T
    Ap, Bp = (V.T @ (Xc.T @ M.todense() @ Xc) @ V for M in (A, L))
    template = Template(A, L, a=0.5, b=2.0, offset=np.ones(n))
    return Problem(template, form(X)), Ap, Bp


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(40, 6), (20, 35)])
@pytest.mark.parametrize("limit", [5000, 0])
def test_sizes_are_those_of_the_dense_matrices(shape, form, limit, monkeypatch):
    monkeypatch.setattr(sizes, "DENSE_LIMIT", limit)
    found, Ap, Bp = problem(*shape, form)
    assert objective_size(found, "trace") == pytest.approx(abs(np.trace(Ap) + 0.5 * min(shape)), rel=1e-9)
    assert objective_size(found, "spectral") == pytest.approx(np.abs(np.linalg.eigvalsh(Ap) + 0.5).max(), rel=1e-6)
    assert constraint_size(found, "trace") == pytest.approx(np.trace(Bp) + 2.0 * min(shape), rel=1e-9)
    assert constraint_size(found, "spectral") == pytest.approx(np.linalg.eigvalsh(Bp).max() + 2.0, rel=1e-6)


def test_without_a_constraint_operator_it_is_the_identity():
    found = Problem(Template(Centering(), offset=np.ones(30)), strategies.features_dense(30, 5, 1))
    assert constraint_size(found, "trace") == 5.0 and constraint_size(found, "spectral") == 1.0
