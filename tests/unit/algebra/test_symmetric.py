"""The dense kernels: eigenpairs, scaled Cholesky, range whitening, polish, signs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hilbert

import strategies
from memory import traced_memory
from proxembed.algebra.pencil import symmetric as symmetric_module
from proxembed.algebra.pencil.symmetric import (
    SPD,
    descending,
    eigenvalues,
    fix_signs,
    lanczos,
    orthonormal_columns,
    orthonormalise,
    pseudo_inverse,
    range_basis,
    solve_linear,
    top,
)


def symmetric(n: int, seed: int = 0) -> np.ndarray:
    """Eigenvalues of both signs."""
    M = np.random.default_rng(seed).standard_normal((n, n))
    return (M + M.T) / 2


def positive(n: int, rank: int | None = None, seed: int = 0) -> np.ndarray:
    F = np.random.default_rng(seed).standard_normal((n, rank or n + 5))
    return F @ F.T


def assert_eigenpairs(M: np.ndarray, w: np.ndarray, V: np.ndarray, tolerance: float = 1e-12) -> None:
    size = np.abs(np.linalg.eigvalsh(M)).max()
    np.testing.assert_allclose(M @ V, V * w, rtol=0, atol=tolerance * size * len(M) ** 0.5)
    np.testing.assert_allclose(V.T @ V, np.eye(len(w)), rtol=0, atol=tolerance * len(M))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(M)[::-1][: len(w)], rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("n", [1, 7, 120, 801])
def test_descending_gives_every_eigenpair(n):
    M = symmetric(n)
    w, V = descending(M)
    assert w.shape == (n,) and V.shape == (n, n)
    assert (np.diff(w) <= 0).all()
    assert_eigenpairs(M, w, V)
    np.testing.assert_allclose(eigenvalues(M), w, rtol=0, atol=1e-12 * np.abs(w).max())


@pytest.mark.parametrize("n, k", [(1, 1), (10, 3), (10, 10), (10, 15), (63, 5), (64, 5), (64, 63), (64, 64), (200, 1)])
def test_top_gives_the_largest_algebraic_eigenpairs(n, k):
    M = symmetric(n, seed=1)
    w, V = top(M, k)
    assert w.shape == (min(n, k),) and V.shape == (n, min(n, k))
    assert_eigenpairs(M, w, V)


def test_top_takes_the_largest_by_value_not_by_size(monkeypatch):
    M = symmetric(150, seed=2)
    M -= 30 * np.eye(150)  # all eigenvalues negative
    for below, small in ((1000, 1000), (1000, 100), (10, 100)):  # divide and conquer, then the subset solver twice
        monkeypatch.setattr(symmetric_module, "EVD_BELOW", below)
        monkeypatch.setattr(symmetric_module, "EVD_SMALL", small)
        assert len(symmetric_module.top_or_all(M, 5)[0]) == (150 if small == 1000 else 5)
        w, V = top(M, 5)
        assert w[0] < 0
        assert_eigenpairs(M, w, V, 1e-10)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(M)[:-6:-1], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 19])
def test_lanczos_finds_the_largest_and_repeats_itself(k):
    M = symmetric(20, seed=3)
    seen = set()

    def product(v):
        seen.add(v.ndim)
        return M @ v

    w, V = lanczos(product, 20, k)
    assert seen == {1}
    assert_eigenpairs(M, w, V, 1e-10)
    again = lanczos(product, 20, k)
    np.testing.assert_array_equal(w, again[0])
    np.testing.assert_array_equal(V, again[1])


def test_lanczos_of_the_zero_operator_gives_zeros_and_unit_vectors():
    w, V = lanczos(np.zeros_like, 7, 3)
    np.testing.assert_array_equal(w, np.zeros(3))
    np.testing.assert_array_equal(V.T @ V, np.eye(3))


def test_cholesky_solves_and_whitens():
    M, E = positive(12), strategies.features_dense(12, 3, 0)
    before = M.copy()
    factorised = SPD(M)
    assert factorised.ok
    np.testing.assert_allclose(M @ factorised.solve(E), E, rtol=0, atol=1e-11)
    np.testing.assert_allclose(factorised.solve(E[:, :1]), factorised.solve(E)[:, :1], rtol=0, atol=1e-13)
    C = factorised.whiten()
    np.testing.assert_allclose(C.T @ M @ C, np.eye(12), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(M, before)


def test_the_diagonal_of_an_inverse_takes_some_columns_at_a_time(monkeypatch):
    monkeypatch.setattr(symmetric_module, "INVERSE_COLUMNS", 5)
    M = positive(12) * np.outer(scale := np.linspace(1, 3, 12), scale)
    np.testing.assert_allclose(SPD(M).inverse_diagonal(), np.diag(np.linalg.inv(M)), rtol=1e-9)


def test_the_diagonal_of_an_inverse_takes_little_more_memory():
    factorised = SPD(np.eye(2000) + 1e-4)
    with traced_memory() as memory:
        found = factorised.inverse_diagonal()
    assert memory.peak < 0.6 * factorised.factor.nbytes and found[0] == pytest.approx(1 - 1e-4 / 1.2, abs=1e-9)


def test_a_factor_without_an_inverse_is_refused():
    factorised = SPD(positive(4))
    factorised.factor[2, 2] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="a zero at diagonal 2"):
        factorised.whiten()


def test_cholesky_is_not_troubled_by_scale():
    """Features in very different units: the condition is that of the correlation matrix."""
    scale = np.logspace(-9, 9, 12)
    M = positive(12) * np.outer(scale, scale)
    E = strategies.features_dense(12, 3, 0)
    factorised = SPD(M)
    assert np.linalg.cond(M) > 1e30 and factorised.ok
    expected = np.linalg.solve(positive(12), E / scale[:, None]) / scale[:, None]
    np.testing.assert_allclose(factorised.solve(E) * scale[:, None], expected * scale[:, None], rtol=1e-9)
    C = factorised.whiten()
    np.testing.assert_allclose(C.T @ M @ C, np.eye(12), rtol=0, atol=1e-9)


SINGULAR = {
    "low rank": positive(12, rank=4),
    "a zero feature": np.pad(positive(11), (0, 1)),
    "a repeated feature": positive(12)[np.ix_([*range(11), 0], [*range(11), 0])],
    "indefinite": symmetric(12),
    "negative": -positive(12),
    "zero": np.zeros((3, 3)),
    "hilbert": hilbert(14),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_a_matrix_that_is_not_positive_definite_is_known_as_such(name):
    assert not SPD(SINGULAR[name]).ok


@pytest.mark.parametrize("rank", [1, 4, 12])
def test_range_basis_whitens_the_range_only(rank):
    M = positive(12, rank=rank)
    C = range_basis(M)
    assert C.shape == (12, rank)
    np.testing.assert_allclose(C.T @ M @ C, np.eye(rank), rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.linalg.matrix_rank(np.hstack([C, M])), rank)
    assert range_basis(np.zeros((4, 4))).shape == (4, 0)


def test_range_basis_drops_what_is_below_its_tolerance():
    M = np.diag([1.0, 1e-3, 2e-10, 0.5e-10, 0.0])
    assert range_basis(M).shape == (5, 3)
    assert range_basis(M, tol=1e-2).shape == (5, 1)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_pseudo_inverse_adds_the_ridge_on_the_range(ridge):
    M = positive(9, rank=4)
    V = np.linalg.svd(M)[0][:, :4]
    expected = V @ np.linalg.inv(V.T @ M @ V + ridge * np.eye(4)) @ V.T
    np.testing.assert_allclose(pseudo_inverse(M, ridge), expected, rtol=0, atol=1e-11)
    if ridge == 0:
        np.testing.assert_allclose(pseudo_inverse(M), np.linalg.pinv(M, rcond=1e-10), rtol=0, atol=1e-11)


def test_solve_linear_takes_indefinite_matrices():
    M, E = symmetric(8), strategies.features_dense(8, 2, 0)
    np.testing.assert_allclose(M @ solve_linear(M, E), E, rtol=0, atol=1e-11)


def test_orthonormalise_keeps_the_leading_spans():
    B, P = positive(9), strategies.features_dense(9, 4, 1)
    found = orthonormalise(P, B @ P)
    np.testing.assert_allclose(found.T @ B @ found, np.eye(4), rtol=0, atol=1e-11)
    for k in range(1, 5):
        together = np.hstack([found[:, :k], P[:, :k]])
        assert np.linalg.matrix_rank(together, tol=1e-8 * np.abs(together).max()) == k
    np.testing.assert_allclose(orthonormalise(found, B @ found), found, rtol=0, atol=1e-11)


def test_orthonormal_columns_keep_signs_and_spans():
    P = strategies.features_dense(9, 4, 2)
    Q = orthonormal_columns(P)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), rtol=0, atol=1e-14)
    R = Q.T @ P
    np.testing.assert_allclose(np.tril(R, -1), 0, rtol=0, atol=1e-13)
    assert (np.diag(R) > 0).all()
    np.testing.assert_allclose(orthonormal_columns(Q), Q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(orthonormal_columns(-P), -Q, rtol=0, atol=1e-14)


def test_signs_make_the_largest_entry_of_each_column_positive():
    P = np.array([[1.0, -2.0, 0.5, 0.0], [-3.0, 1.0, -0.5, 0.0], [2.0, 2.0, 0.1, 0.0]])
    found = fix_signs(P)
    np.testing.assert_array_equal(found, P * [-1, -1, 1, 1])
    np.testing.assert_array_equal(fix_signs(-P), found)
    np.testing.assert_array_equal(fix_signs(found), found)
    assert fix_signs(np.zeros((3, 0))).shape == (3, 0)


def test_signs_of_equal_sizes_do_not_hang_on_rounding():
    """Entries equal up to 1e-9 are equal: the first of them decides."""
    P = np.array([[0.5], [-0.5], [0.5]])
    for tilt in (0.0, 1e-12, -1e-12):
        found = fix_signs(-P * np.array([[1.0], [1 + tilt], [1 - tilt]]))
        assert found[0, 0] > 0


@pytest.mark.parametrize("size", [2.0**-100, 2.0**100])
def test_lanczos_does_not_see_the_unit(size):
    """To ARPACK, what lies below 1e-10 has converged."""
    M = symmetric(60)
    (w, V), (other, W) = (lanczos(lambda v, factor=factor: factor * (M @ v), 60, 3) for factor in (1.0, size))
    np.testing.assert_array_equal(other / size, w)
    np.testing.assert_array_equal(W, V)
