"""The smallest eigenpairs off a known null space: every route gives the same subspace, certified, nothing missed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

from designs import each_value
from proxembed.algebra.arrays import matrix
from proxembed.algebra.arrays.matrix import estimated_fill, factor_fits, fill
from proxembed.algebra.graphs import bottom as bottom_module
from proxembed.algebra.graphs.bottom import bottom, leading
from proxembed.algebra.operators.structured import Diagonal, LowRank, Sparse
from proxembed.algebra.pencil.direct import solve_graph

ROUTES = ("dense", "shift-invert", "lanczos")


def laplacian(W) -> sparse.csr_array:
    W = sparse.csr_array(W)
    return sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)


def neighbour_laplacian(n: int, d: int, seed: int = 0) -> sparse.csr_array:
    X = np.random.default_rng(seed).random((n, d)) * np.geomspace(3.0, 1.0, d)
    W = kneighbors_graph(X, 8)
    return laplacian(W.maximum(W.T))


def ring(n: int) -> sparse.csr_array:
    """Every eigenvalue but the ends is double."""
    i = np.arange(n)
    W = sparse.coo_array((np.ones(2 * n), (np.r_[i, i], np.r_[(i + 1) % n, (i - 1) % n])), shape=(n, n))
    return laplacian(W)


def indicators(*sizes: int) -> sparse.csr_array:
    label = np.repeat(np.arange(len(sizes)), sizes)
    values = 1.0 / np.sqrt(np.asarray(sizes, dtype=float))[label]
    return sparse.csr_array((values, (np.arange(len(label)), label)))


def exact(M, null, k: int) -> tuple[np.ndarray, np.ndarray]:
    """By the complement of the null space, formed in full."""
    off = np.linalg.svd(null.toarray(), full_matrices=True)[0][:, null.shape[1] :]
    w, V = np.linalg.eigh(off.T @ M.toarray() @ off)
    return w[:k], off @ V[:, :k]


def two_parts() -> tuple[sparse.csr_array, sparse.csr_array]:
    M = sparse.csr_array(sparse.block_diag([neighbour_laplacian(150, 2), neighbour_laplacian(100, 2, 1)]))
    return M, indicators(150, 100)


PROBLEMS = {
    "surface": lambda: (neighbour_laplacian(260, 2), indicators(260)),
    "eight dimensions": lambda: (neighbour_laplacian(260, 8), indicators(260)),
    "two components": two_parts,
    "ring": lambda: (ring(260), indicators(260)),
    "equal components": lambda: (sparse.csr_array(sparse.block_diag([ring(130)] * 2)), indicators(130, 130)),
}


@each_value
@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_route_finds_the_whole_subspace(name, solver):
    """k = 4 ends a cluster of equal eigenvalues in every problem; a single Krylov space holds one vector of each."""
    M, null = PROBLEMS[name]()
    w, V = exact(M, null, 5)
    assert w[4] > w[3] * (1 + 1e-6)
    found = bottom(M, null, 4, solver=solver)
    assert found.solver == solver
    np.testing.assert_allclose(found.eigenvalues, w[:4], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.Z.T @ found.Z, np.eye(4), rtol=0, atol=1e-12)
    np.testing.assert_allclose(null.T @ found.Z, 0.0, rtol=0, atol=1e-12)
    assert np.linalg.norm(found.Z @ found.Z.T - V[:, :4] @ V[:, :4].T) < 1e-5
    residual = np.linalg.norm(M @ found.Z - found.Z * found.eigenvalues, axis=0).max()
    assert residual == pytest.approx(found.residual, abs=1e-12) and residual < 1e-8


def test_a_null_space_that_is_not_given_is_found_as_eigenvectors():
    """Negative control: without the indicators the zeros come first."""
    M, null = two_parts()
    found = bottom(M, sparse.csr_array((250, 0)), 2)
    assert found.eigenvalues.max() < 1e-12 and bottom(M, null, 2).eigenvalues.min() > 1e-4


def test_one_krylov_space_misses_a_double_eigenvalue(monkeypatch):
    """Negative control of the check: without it the second vector of a pair is lost to the next eigenvalue."""
    M, null = PROBLEMS["ring"]()
    expected = bottom(M, null, 2, solver="lanczos").eigenvalues

    def one_run(product, null, k, *rest, **options):
        return bottom_module._leading(product, null, np.empty((260, 0)), k, None)[1]

    monkeypatch.setattr(bottom_module, "LANCZOS_TOLERANCE", 1e-10)
    monkeypatch.setattr(bottom_module, "_complete", one_run)
    found = bottom(M, null, 2, solver="lanczos").eigenvalues
    assert np.ptp(expected) < 1e-9 and np.ptp(found) > 1e-3


@pytest.mark.parametrize("sizes", [(150, 130, 90), (200, 3, 120), (130, 130, 2)])
def test_lanczos_takes_graph_components_one_by_one(sizes, monkeypatch):
    """The smallest of all components' eigenvalues, of equal components too, as from all of the matrix at once."""
    M = sparse.csr_array(sparse.block_diag([neighbour_laplacian(n, 2) if n > 20 else ring(n) for n in sizes]))
    null, n = indicators(*sizes), sum(sizes)
    mixed = np.random.default_rng(0).permutation(n)
    M, null = sparse.csr_array(M[mixed][:, mixed]), null[mixed]
    monkeypatch.setattr(bottom_module, "DENSE_UP_TO", 4)
    w, V = exact(M, null, 4)
    taken = []
    alone = bottom_module._lanczos_of_one
    monkeypatch.setattr(bottom_module, "_lanczos_of_one", lambda M, *rest: taken.append(M.shape[0]) or alone(M, *rest))
    found = bottom(M, null, 4, solver="lanczos")
    assert taken == [size for size in sizes if size > 4]
    np.testing.assert_allclose(found.eigenvalues, w, rtol=1e-8)
    assert np.linalg.norm(found.Z - V @ (V.T @ found.Z)) < 1e-5
    monkeypatch.setattr(bottom_module, "APART_UP_TO", 1)
    np.testing.assert_allclose(bottom(M, null, 4, solver="lanczos").eigenvalues, w, rtol=1e-8)
    assert taken[-1] == n


def test_columns_that_the_matrix_links_stay_together():
    """A link between two columns, or a row that no column has, and the columns are no list of components."""
    M, null = two_parts()
    assert [len(rows) for rows in bottom_module._apart(M, null.tocsc())] == [150, 100]
    linked = M.tolil()
    linked[0, 249] = linked[249, 0] = -1e-3
    assert [len(rows) for rows in bottom_module._apart(sparse.csr_array(linked), null)] == [250]
    assert [len(rows) for rows in bottom_module._apart(M, null[:, [0]])] == [250]


@pytest.mark.parametrize("solver", ROUTES)
@pytest.mark.parametrize("name", ["eight dimensions", "two components"])
def test_the_order_of_a_large_graph_changes_nothing_but_rounding(name, solver, monkeypatch):
    M, null = PROBLEMS[name]()
    as_it_is = bottom(M, null, 3, solver=solver)
    monkeypatch.setattr(matrix, "ORDERED_FROM", 1)
    moved = bottom(M, null, 3, solver=solver)
    np.testing.assert_allclose(moved.eigenvalues, as_it_is.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(moved.Z, as_it_is.Z, rtol=0, atol=1e-5)
    np.testing.assert_allclose(M @ moved.Z, moved.Z * moved.eigenvalues, rtol=0, atol=1e-7)


def test_linked_rows_come_near_each_other(monkeypatch):
    """A path whose rows are mixed has bandwidth 1 again, and every row is there once."""
    n = 300
    path = laplacian(sparse.diags_array([np.ones(n - 1)] * 2, offsets=(-1, 1)))
    mixed = np.random.default_rng(0).permutation(n)
    M = sparse.csr_array(path[mixed][:, mixed])
    np.testing.assert_array_equal(matrix.near_order(M), np.arange(n))
    monkeypatch.setattr(matrix, "ORDERED_FROM", n)
    found = matrix.near_order(M)
    again = matrix.permuted(M, found).tocoo()
    assert np.abs(again.row - again.col).max() == 1 and sorted(found) == list(range(n))
    x = np.arange(n, dtype=float)
    np.testing.assert_allclose(matrix.restored(matrix.permuted(M, found) @ x[found], found), M @ x, atol=1e-9)


@pytest.mark.parametrize("solver", ROUTES)
def test_the_same_numbers_every_time(solver):
    M, null = PROBLEMS["surface"]()
    one, two = (bottom(M, null, 3, solver=solver) for _ in range(2))
    np.testing.assert_array_equal(one.Z, two.Z)
    lead = one.Z[np.abs(one.Z).argmax(axis=0), np.arange(3)]
    assert np.all(lead > 0)


def test_the_route_follows_the_structure():
    """A surface is factorised, a graph of high dimension is not; small ones and many components are dense."""
    for n, d, solver in ((1500, 2, "shift-invert"), (1500, 12, "lanczos"), (300, 2, "dense")):
        M, null = neighbour_laplacian(n, d), indicators(n)
        assert bottom(M, null, 2).solver == solver
    assert bottom(neighbour_laplacian(500, 2), indicators(500), 120).solver == "dense"
    flat, deep = (fill(neighbour_laplacian(1500, d), indicators(1500)) for d in (2, 12))
    assert flat[0] < deep[0] / 5 and flat[1] < deep[1] and flat[2] > deep[2]


def test_many_components_are_no_reason_to_decompose_all_of_the_matrix():
    """400 rings: a null space of 400 vectors is left out by products, and 5 (k + p) > n."""
    M = sparse.csr_array(sparse.block_diag([ring(3 + i % 5) for i in range(400)]))
    null = indicators(*(3 + i % 5 for i in range(400)))
    n = M.shape[0]
    assert 5 * (2 + 400) > n
    found = bottom(M, null, 2)
    assert found.solver != "dense"
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(2 * np.pi / 7), rtol=1e-9)
    assert bottom_module._whole(20_000, 15_000, 2) is False and bottom_module._whole(2_000, 1_500, 400) is True


def test_the_square_of_a_well_connected_graph_takes_products():
    """A few steps of Lanczos tell a graph of high dimension, whose factor is dear, from one that only looks like it."""
    for d, solver in ((40, "lanczos"), (2, "shift-invert")):
        X = np.random.default_rng(0).standard_normal((3000, d))
        R = sparse.csr_array(sparse.eye_array(3000) - sparse.csr_array(kneighbors_graph(X, 8)) / 8)
        M, null = sparse.csr_array(R.T @ R), indicators(3000)
        w = bottom(M, null, 2, solver="shift-invert").eigenvalues
        found = bottom(M, null, 2, gap=2)
        assert found.solver == solver and w[0] * (1 - 1e-9) <= bottom_module.lowest(M, null)
        np.testing.assert_allclose(found.eigenvalues, w, rtol=1e-7)


def test_lanczos_that_fails_is_followed_by_a_factor(monkeypatch):
    """The square of a surface's Laplacian has eigenvalues that lie too close for products alone."""
    L = neighbour_laplacian(900, 2)
    M, null = sparse.csr_array(L @ L), indicators(900)
    monkeypatch.setattr(bottom_module, "_products_of_a_square", lambda M, null, direct: 300)
    found = bottom(M, null, 2, gap=2)
    assert found.solver == "shift-invert"
    np.testing.assert_allclose(found.eigenvalues, exact(M, null, 2)[0], rtol=1e-6)


def test_a_residual_that_misses_warns(monkeypatch):
    M, null = PROBLEMS["surface"]()
    monkeypatch.setitem(
        bottom_module.ROUTES, "lanczos", lambda M, null, k, norm: np.random.default_rng(0).random((260, k))
    )
    with pytest.warns(ConvergenceWarning, match="residual"):
        bottom(M, null, 2, solver="lanczos")


@pytest.mark.parametrize("k", [0, -1, 260, 300])
def test_k_out_of_range(k):
    M, null = PROBLEMS["surface"]()
    with pytest.raises(ValueError, match="has 1 to 259"):
        bottom(M, null, k)
    assert bottom(M, null, 259).Z.shape == (260, 259)


def test_leading_of_a_dense_operator_with_repeats():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((300, 300)))[0]
    values = np.r_[[5.0, 5.0, 3.0, 3.0], np.linspace(1.0, 0.0, 296)]
    A = Q * values @ Q.T
    w, V = leading(lambda v: A @ v, 300, 4)
    np.testing.assert_allclose(w, values[:4], rtol=1e-9)
    assert np.linalg.norm(V @ V.T - Q[:, :4] @ Q[:, :4].T) < 1e-6


def test_a_graph_operator_under_a_diagonal_constraint():
    W = sparse.csr_array(np.abs(np.triu(np.random.default_rng(0).random((30, 30)), 1)))
    W = sparse.csr_array(W + W.T)
    d = W.sum(axis=1)
    found = solve_graph(Sparse(W) - Diagonal(d), Diagonal(d), sparse.csr_array(np.ones((30, 1))), 3)
    np.testing.assert_allclose(found.Z.T @ (d[:, None] * found.Z), np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(laplacian(W) @ found.Z, -d[:, None] * found.Z * found.eigenvalues, atol=1e-12)
    assert found.bound == 29 and np.all(found.eigenvalues < 0)
    with pytest.raises(TypeError, match="LowRank has no sparse form"):
        solve_graph(LowRank(np.ones((30, 1))), None, sparse.csr_array(np.ones((30, 1))), 1)


def test_a_row_that_all_others_are_linked_to_leaves_them_in_place(monkeypatch):
    """Ordering would sort its links in their number squared: minutes, where it has a million."""
    n = 2000
    path = sparse.diags_array([np.ones(n - 1)] * 2, offsets=(-1, 1)).tolil()
    mixed = np.random.default_rng(0).permutation(n)
    monkeypatch.setattr(matrix, "ORDERED_FROM", n)
    moved = matrix.near_order(sparse.csr_array(path)[mixed][:, mixed])
    assert not np.array_equal(moved, np.arange(n))
    path[0, 1:] = path[1:, 0] = 1.0
    np.testing.assert_array_equal(matrix.near_order(sparse.csr_array(path)[mixed][:, mixed]), np.arange(n))


def test_the_cost_of_a_factor_is_estimated():
    assert estimated_fill(sparse.csr_array(np.eye(3))) == (3.0, 4.5)
    assert factor_fits(1e6) and not factor_fits(1e12)
