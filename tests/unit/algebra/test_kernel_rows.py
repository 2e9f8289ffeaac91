"""Kernel rows: the pencil by one Cholesky factorisation is that of explicit coordinates of the feature space."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import strategies
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank, Sparse
from proxembed.algebra.pencil.eigen import solve
from proxembed.algebra.pencil.kernel_rows import KernelRows, solve_kernel
from proxembed.algebra.template import Template

N, Q = 40, 3
X = strategies.features_dense(N, 4, 3)
K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2) / 8.0)
Y = strategies.labels_multi(N, Q, 3)
ONES, WEIGHTS = np.ones(N), 0.2 + np.random.default_rng(0).random(N)
ZEROS = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHTS)
S = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 0.3]])
INSIDE = Y * (np.arange(N)[:, None] % 5 != 0)


def explicit_pencil(template: Template, ridge: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The d x d pencil on the symmetric root of K as coordinates, as NumPy arrays, and these, centred."""
    w, U = np.linalg.eigh(K)
    T = U * np.sqrt(np.maximum(w, 0.0))
    if template.offset is not None:
        T = T - template.offset @ T / template.offset.sum()
    A = T.T @ template.A.todense(N) @ T
    B = np.zeros((N, N)) if template.B is None else T.T @ template.B.todense(N) @ T
    return A, B + (template.b + ridge) * np.eye(N), T


TEMPLATES = {
    "scatter": Template(LowRank(Y, center=ONES), Centering(), b=0, offset=ONES),
    "weights of factors": Template(LowRank(Y, S, center=ONES), 0.7 * Centering(), b=0.3, offset=ONES),
    "no constraint": Template(LowRank(Y, center=ONES), b=2.0, offset=ONES),
    "not centred": Template(LowRank(Y), Identity(N), b=0),
    "row weights": Template(LowRank(Y, center=WEIGHTS), Centering(WEIGHTS), b=0, offset=WEIGHTS),
    "weights of zero": Template(LowRank(INSIDE, center=ZEROS), Centering(ZEROS), b=0, offset=ZEROS),
    "other weights": Template(LowRank(Y), Diagonal(WEIGHTS), b=0, offset=ONES),
    "low rank in the constraint": Template(
        LowRank(Y, center=ONES), Centering() - 0.5 * LowRank(Y @ np.linalg.inv(linalg.cholesky(Y.T @ Y)), center=ONES),
        b=0, offset=ONES,
    ),
}  # fmt: skip


@pytest.mark.parametrize("ridge", [1e-3, 0.5])
@pytest.mark.parametrize("name", list(TEMPLATES))
def test_the_thin_route_is_the_pencil_of_the_coordinates(name, ridge):
    template = TEMPLATES[name]
    A, B, T = explicit_pencil(template, ridge if template.B is not None else 0.0)
    w, P = linalg.eigh(A, B)
    w, P = w[::-1][:Q], P[:, ::-1][:, :Q]
    rows = KernelRows(K.copy())
    found = solve_kernel(template, rows, Q, ridge, "absolute")
    assert (found.solver, found.bound) == ("thin", Q)
    np.testing.assert_allclose(found.eigenvalues, w, rtol=1e-8)
    Z, expected = rows.dot(found.P), T @ P
    np.testing.assert_allclose(Z @ Z.T, expected @ expected.T, rtol=0, atol=1e-8 * np.abs(expected @ expected.T).max())
    mean = np.zeros(N) if found.mean is None else found.mean
    np.testing.assert_allclose((K - mean) @ found.P, Z, rtol=0, atol=1e-8 * np.abs(Z).max())  # as new rows are placed
    inner = P.T @ P
    np.testing.assert_allclose(abs(rows.inner(found.P)), abs(inner), rtol=0, atol=1e-7 * np.abs(inner).max())


@pytest.mark.parametrize("name", list(TEMPLATES))
def test_a_relative_ridge_has_the_unit_of_the_other_routes(name):
    template, (_, _, T) = TEMPLATES[name], explicit_pencil(TEMPLATES[name], 0.0)
    found = solve_kernel(template, KernelRows(K.copy()), Q, 0.2, "trace")
    assert found.ridge == pytest.approx(solve(template, T, Q, 0.2, "trace").ridge, rel=1e-8)


@pytest.mark.parametrize(
    ("template", "ridge"),
    [
        (Template(Centering(), Centering(), b=0, offset=ONES), 0.1),
        (Template(LowRank(Y), Sparse(np.eye(N)), b=0), 0.1),
        (Template(LowRank(Y), Centering(), b=0, offset=ONES), 0.0),
        (Template(LowRank(Y), Centering(), b=0, offset=ONES, target=Y), "auto"),
        (Template(LowRank(Y, center=ONES), Centering(), a=1.0, b=0, offset=ONES), 0.1),
        (Template(LowRank(Y), Centering(ZEROS), b=0, offset=ZEROS), 0.1),
    ],
    ids=["A of full rank", "B of a graph", "no ridge", "ridge to choose", "a I", "a factor in rows without weight"],
)
def test_other_problems_are_left_to_the_map(template, ridge):
    assert solve_kernel(template, KernelRows(K.copy()), Q, ridge, "absolute") is None


def test_one_buffer_holds_the_centred_kernel_and_the_factor():
    rows = KernelRows(K.copy())
    assert rows.semidefinite() and np.array_equal(rows.values, K)
    rows.centre(WEIGHTS)
    J = np.eye(N) - np.outer(np.ones(N), WEIGHTS) / WEIGHTS.sum()
    Kc, E = J @ K @ J.T, strategies.features_dense(N, 2, 1)
    np.testing.assert_allclose(rows.dot(E), Kc @ E, rtol=0, atol=1e-12)
    root = np.sqrt(WEIGHTS)
    assert rows.factorise(root, 0.3)
    np.testing.assert_allclose(rows.dot(E), Kc @ E, rtol=0, atol=1e-12)
    M = root[:, None] * Kc * root + 0.3 * np.eye(N)
    np.testing.assert_allclose(M @ rows.solve(E), E, rtol=0, atol=1e-10)
    np.testing.assert_allclose(rows.dot(E), Kc @ E, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="overwritten"):
        _ = rows.values


def test_a_matrix_with_negative_eigenvalues_is_seen():
    U = np.linalg.qr(strategies.features_dense(N, N, 1))[0]
    w = np.linspace(1.0, 2.0, N)
    for lowest, semidefinite in ((1e-3, True), (0.0, True), (-1e-6, False)):
        w[0] = lowest
        M = (U * w) @ U.T
        assert KernelRows((M + M.T) / 2).semidefinite() is semidefinite
