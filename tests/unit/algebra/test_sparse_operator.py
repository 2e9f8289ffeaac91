"""Sparse proximities: X'WX by either way of multiplying, Laplacians, and every solver route where A is minus a
Laplacian."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from designs import pairwise
from oracles.dense import dense_solve, laplacian
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators import sandwich
from proxembed.algebra.operators.sandwich import sparse_sandwich, upper_half
from proxembed.algebra.operators.structured import (
    Centering,
    Diagonal,
    Identity,
    Laplacian,
    LowRank,
    Sparse,
    Sum,
)
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.template import Template
from unit.algebra.pencils import FEATURES, row_weights

SEEDS = {"undirected": 0, "signed": 1, "with a diagonal": 2}


def graph(n: int, kind: str = "undirected", density: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng((n, SEEDS[kind]))
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    if kind == "signed":
        W *= np.where(rng.random((n, n)) < 0.5, -1.0, 1.0)
    W = W + W.T
    return W + np.diag(rng.standard_normal(n)) if kind == "with a diagonal" else W


# -------------------------------------------------------------------------------------------------- the sandwich

SHAPES = [(90, 7), (40, 300), (1, 3), (5, 1)]


def forms(X: np.ndarray) -> dict[str, tuple[object, np.ndarray]]:
    holes = X * (np.random.default_rng(1).random(X.shape) < 0.2)
    narrow, mean = X.astype(np.float32), holes.mean(axis=0)
    return {
        "C order": (X, X),
        "Fortran order": (np.asfortranarray(X), X),
        "every other row": (np.repeat(X, 2, axis=0)[::2], X),
        "float32": (narrow, narrow.astype(float)),
        "centred": (CentredMatrix(X, X.mean(axis=0)), X - X.mean(axis=0)),
        "csr": (sparse.csr_array(holes), holes),
        "centred csr": (CentredMatrix(sparse.csr_array(holes), mean), holes - mean),
        "centred float32 csr": (
            CentredMatrix(sparse.csr_array(holes.astype(np.float32)), mean),
            holes.astype(np.float32) - mean,
        ),
    }


@pairwise
@pytest.mark.parametrize("way", ["auto", "columns", "sparse products", "sparse products of few rows"])
@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_sandwich_is_the_product_of_three(shape, kind, way, monkeypatch):
    X, W = strategies.features_dense(*shape, 5), graph(shape[0], kind)
    if way != "auto":
        monkeypatch.setattr(sandwich, "_mostly_zero", lambda H, X: way != "columns")
    if way == "sparse products of few rows":
        monkeypatch.setattr(sandwich, "ENTRIES", 20)
    for name, (rows, array) in forms(X).items():
        found, expected = Sparse(sparse.csr_array(W)).sandwich(rows), array.T @ W @ array
        size = np.abs(array.T) @ np.abs(W) @ np.abs(array)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * size.max() + 1e-15, err_msg=name)
        np.testing.assert_array_equal(found, found.T)
        assert found.dtype == np.float64


def test_both_ways_are_taken_by_the_number_of_stored_entries():
    few = sparse.csr_array(sparse.random(400, 3000, density=0.002, random_state=0))
    many = sparse.csr_array(sparse.random(400, 30, density=0.5, random_state=0))
    H = upper_half(sparse.csr_array(graph(400, density=0.02)))
    assert sandwich._mostly_zero(H, few) and not sandwich._mostly_zero(H, many)


def test_the_half_adds_up_to_the_whole():
    for kind in SEEDS:
        W = graph(30, kind)
        H = upper_half(sparse.csr_array(W))
        np.testing.assert_allclose((H + H.T).toarray(), W, rtol=0, atol=1e-16)
        assert H.nnz <= (np.count_nonzero(W) + 30) / 2 + 1


@pytest.mark.parametrize(
    ("form", "name", "limit"),
    [(np.asarray, "_centred_columns", "COPY_BYTES"), (sparse.csr_array, "by_columns", "BLOCK_BYTES")],
)
def test_no_temporary_of_the_size_of_the_rows(monkeypatch, form, name, limit):
    """What is held beside X is some columns of it: the blocks that are multiplied are narrow."""
    seen = []
    made = getattr(sandwich, name)

    def watched(*given):
        found = made(*given)
        if len(found) == 90:
            seen.append(found.shape[1])
        return found

    monkeypatch.setattr(sandwich, name, watched)
    monkeypatch.setattr(sandwich, limit, 8 * 90 * 20)
    monkeypatch.setattr(sandwich, "block_rows", lambda d: 50)
    monkeypatch.setattr(sandwich, "_mostly_zero", lambda H, X: False)
    X = strategies.features_dense(90, 150, 2)
    W = graph(90)
    found = sparse_sandwich(sparse.csr_array(W), CentredMatrix.of(form(X)))
    np.testing.assert_allclose(found, X.T @ W @ X, rtol=0, atol=1e-11)
    assert max(seen) <= 20 and sum(seen) == 150


@pytest.mark.parametrize("form", ["C order", "csr"])
def test_the_number_of_threads_changes_nothing(form, monkeypatch):
    X, _ = forms(strategies.features_dense(600, 130, 3))[form]
    W = sparse.csr_array(graph(600, density=0.05))
    for cheap in (True, False):
        monkeypatch.setattr(sandwich, "_mostly_zero", lambda H, X, cheap=cheap: cheap)
        found = []
        for workers in (1, 2, 5):
            monkeypatch.setattr(blas, "threads", lambda workers=workers: workers)
            found.append(sparse_sandwich(W, CentredMatrix.of(X)))
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-12 * np.abs(found[0]).max())


@pytest.mark.parametrize("kind", ["signed", "with a diagonal"])
def test_sparse_products_of_rows_far_from_the_origin(monkeypatch, kind):
    """A Laplacian has no part in the mean; another matrix has."""
    monkeypatch.setattr(sandwich, "_mostly_zero", lambda H, X: True)
    X = strategies.features_dense(40, 12, 3) * (np.random.default_rng(0).random((40, 12)) < 0.5) + 0.0
    X[:, 3] += 1e3
    X[0, 3] = 0.0
    mean, W = X.mean(axis=0), graph(40, kind)
    for M in (W, np.diag(W.sum(axis=1)) - W):
        found = sparse_sandwich(sparse.csr_array(M), CentredMatrix(sparse.csr_array(X), mean))
        exact = (X - mean).T @ M @ (X - mean)
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12 * np.abs(X.T @ np.abs(M) @ X).max())


def test_a_matrix_that_is_not_symmetric_is_refused():
    W = graph(20)
    W[3, 5] += 1.0
    with pytest.raises(ValueError, match=r"must be symmetric.*Pass \(W \+ W.T\) / 2"):
        Sparse(sparse.csr_array(W))
    with pytest.raises(ValueError, match="square matrix, not 3 x 4"):
        Sparse(sparse.csr_array(np.ones((3, 4))))
    with pytest.raises(ValueError, match="it cannot be applied to 19 rows"):
        Sparse(sparse.csr_array(graph(20))).sandwich(np.ones((19, 2)))


def test_whole_numbers_and_truth_values_are_weights():
    A = graph(20) > 0
    for W in (A, A.astype(np.int8)):
        np.testing.assert_array_equal(Laplacian(Sparse(sparse.csr_array(W))).todense(), laplacian(A.astype(float)))


# ---------------------------------------------------------------------------------------------------- Laplacians


def test_laplacians_of_sums_are_one_sparse_term_and_the_rest():
    n = 25
    V, W = graph(n, "signed"), graph(n, "with a diagonal")
    F, S = np.random.default_rng(2).random((n, 2)), np.array([0.5, -0.2])
    sparse_only = Laplacian(2.0 * Sparse(V) - 0.5 * Sparse(W))
    ((c, leaf),) = sparse_only.terms()
    assert c == 1.0 and isinstance(leaf, Sparse)
    np.testing.assert_allclose(sparse_only.todense(), laplacian(2 * V - 0.5 * W), rtol=0, atol=1e-13)
    both = Laplacian(2.0 * Sparse(V) - LowRank(F, S) + 3.0 * Sparse(W))
    assert [type(leaf) for _, leaf in both.terms()] == [Sparse, Diagonal, LowRank]
    expected = laplacian(2 * V - F @ np.diag(S) @ F.T + 3 * W)
    np.testing.assert_allclose(both.todense(), expected, rtol=0, atol=1e-13)
    X = strategies.features_dense(n, 6, 4)
    np.testing.assert_allclose(both.sandwich(X), X.T @ expected @ X, rtol=0, atol=1e-11)
    assert isinstance(Laplacian(LowRank(F, S)), Sum)


# --------------------------------------------------------------------------------------------------------- routes

N_COMPONENTS = 3
LIMIT = {"iterative": 1e-4}


def bottom(features: str, B: str, offset: str, b: float = 0.0):
    """max -P'X'LXP under a constraint, as a template and as arrays."""
    X = FEATURES[features]
    n = X.shape[0]
    W, w = graph(n, density=0.25), row_weights(n, offset)
    V = graph(n, "with a diagonal", density=0.1)
    V = np.abs(V - np.diag(np.diag(V)))
    ones = np.ones(n) if w is None else w
    operators = {
        "none": (None, None),
        "scatter": (Centering(ones), np.diag(ones) - np.outer(ones, ones) / ones.sum()),
        "rows alike": (Identity(n), np.eye(n)),
        "degrees": (Diagonal(W.sum(axis=1)), np.diag(W.sum(axis=1))),
        "laplacian": (Laplacian(Sparse(V)), laplacian(V)),
    }
    operator, array = operators[B]
    A = -Laplacian(Sparse(W))
    template = Template(A, operator, b=1.0 if B == "none" else b, offset=w, sense=-1)
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    rows = dense if w is None else dense - w @ dense / w.sum()
    weighted = rows if w is None else np.sqrt(w)[:, None] * rows
    Bp = np.eye(X.shape[1]) if array is None else rows.T @ array @ rows + b * np.eye(X.shape[1])
    return X, template, rows, weighted, -rows.T @ laplacian(W) @ rows, Bp


@pairwise
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("offset", ["none", "uniform", "weighted"])
@pytest.mark.parametrize("B", ["none", "scatter", "rows alike", "degrees", "laplacian"])
@pytest.mark.parametrize("features", FEATURES)
def test_every_route_minimises(features, B, offset, ridge):
    X, template, rows, weighted, Ap, Bp = bottom(features, B, offset)
    if B != "none":
        Bp = Bp + ridge * np.eye(len(Bp))
    P, w = dense_solve(Ap, Bp, weighted, N_COMPONENTS)
    reference = rows @ P
    size = np.abs(dense_solve(Ap, Bp, weighted)[1]).max()
    for route in ("auto", "primal", "dual", "iterative"):
        if route == "iterative" and B != "none" and ridge == 0:
            with pytest.raises(ValueError, match="ridge=0 needs a decomposition"):
                solve(template, X, N_COMPONENTS, ridge, "absolute", solver=route)
            continue
        found = solve(template, X, N_COMPONENTS, ridge, "absolute", solver=route)
        limit = LIMIT.get(found.solver, 1e-8) * (100 if features == "tall float32" else 1)
        np.testing.assert_allclose(found.eigenvalues, w, rtol=0, atol=1e-2 * limit * size + limit * np.abs(w).max())
        Z = rows @ found.P
        gap = np.linalg.norm(Z @ Z.T - reference @ reference.T) / np.linalg.norm(reference @ reference.T)
        if w[0] < -1e-9 * size:  # a component without cost has no scale of its own under a Laplacian constraint
            assert gap < 10 * limit, (route, gap)
        assert found.sense == -1 and found.residual < 1e-6


def test_lanczos_minimises_where_no_direction_is_lost():
    X, template, *_ = bottom("tall", "none", "uniform")
    assert solve(template, X, N_COMPONENTS, solver="iterative").solver == "iterative"
    X, template, *_ = bottom("tall", "scatter", "uniform")
    assert solve(template, X, N_COMPONENTS, 0.3, "absolute", solver="iterative").solver == "iterative"


@pytest.mark.parametrize("route", ["auto", "primal", "dual", "iterative"])
@pytest.mark.parametrize("B", ["none", "scatter"])
def test_directions_outside_the_row_space_are_never_taken(B, route):
    """They cost nothing, so that a minimisation in the whole space would take them first (negative control)."""
    wide = strategies.features_dense(24, 60, 2)
    lost = np.column_stack([strategies.features_dense(60, 8, 1), np.zeros((60, 2))])
    for X in (wide, lost):
        n, d = X.shape
        W = graph(n, density=0.3)
        template = Template(
            -Laplacian(Sparse(W)), None if B == "none" else Centering(), b=float(B == "none"), offset=np.ones(n),
            sense=-1,
        )  # fmt: skip
        found = solve(template, X, 2, 0.2, "absolute", solver=route)
        assert (X @ found.P).std(axis=0).min() > 1e-2
        Ap = X.T @ laplacian(W) @ X
        _, P = np.linalg.eigh(Ap)
        assert (X @ P[:, :2]).std(axis=0).max() < 1e-9
