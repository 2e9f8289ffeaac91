"""Reconstruction weights: hand-worked rows, the definition row by row, scikit-learn, and the degenerate rules."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold._locally_linear import barycenter_weights

from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.matrix import solve_batch
from proxembed.proximity import reconstruction
from proxembed.proximity.reconstruction import reconstruction_matrix, reconstruction_weights, residual_matrix
from strategies import features_dense, features_duplicate_rows, features_text


def other_rows(n, K, seed=0):
    """K distinct other rows of each row."""
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(np.delete(np.arange(n), i), K, replace=False) for i in range(n)])


def by_definition(x, N, reg):
    """The weights of one row from its neighbours, as spec 4.4 writes them."""
    D = N - x
    G = D @ D.T
    G = G + reg * np.trace(G) * np.eye(len(N)) if np.trace(G) > 0 else np.eye(len(N))
    w = np.linalg.solve(G, np.ones(len(N)))
    return w / w.sum()


def test_the_four_corners_of_a_square():
    """Each corner from its two sides (equal weights); with the far corner too the parallelogram rule 1, 1, -1."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    sides = np.array([[1, 2], [0, 3], [0, 3], [1, 2]])
    np.testing.assert_allclose(reconstruction_weights(X, sides), 0.5)
    np.testing.assert_allclose(reconstruction_weights(X, np.array([[1, 2, 3]]), reg=1e-9, queries=X[:1]), [[1, 1, -1]])


def test_a_point_of_a_line_is_reconstructed_by_its_barycentric_coordinates():
    X = np.array([[0.0], [4.0], [1.0], [3.0]])
    index = np.array([[0, 1], [0, 1]])
    found = reconstruction_weights(X, index, reg=1e-12, queries=X[2:])
    np.testing.assert_allclose(found, [[0.75, 0.25], [0.25, 0.75]], atol=1e-10)


@pytest.mark.parametrize(("d", "K", "reg"), [(3, 8, 1e-3), (12, 4, 1e-3), (12, 4, 0.0), (30, 1, 1e-6), (5, 20, 0.5)])
def test_the_definition_and_scikit_learn(d, K, reg):
    X = features_dense(40, d, 3)
    index = other_rows(40, K)
    found = reconstruction_weights(X, index, reg=reg)
    expected = np.array([by_definition(X[i], X[index[i]], reg) for i in range(40)])
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    if reg:
        np.testing.assert_allclose(found, barycenter_weights(X, X, index, reg=reg), rtol=1e-8, atol=1e-10)


def test_weights_without_ridge_are_the_best_affine_ones():
    """No other weights of sum 1 reconstruct better; with a large ridge they do not (negative control)."""
    X = features_dense(30, 9, 5)
    index = other_rows(30, 4)
    rng = np.random.default_rng(0)
    step = rng.standard_normal((200, 30, 4)) * 0.1
    step -= step.mean(axis=2, keepdims=True)

    def errors(w):
        return np.linalg.norm(X - np.einsum("...ik,ikd->...id", w, X[index]), axis=-1)

    exact, ridged = (reconstruction_weights(X, index, reg=reg) for reg in (0.0, 10.0))
    assert (errors(exact + step) >= errors(exact) - 1e-12).all()
    assert (errors(ridged + step) < errors(ridged) - 1e-6).any()


def test_weights_do_not_change_with_shift_scale_and_rotation():
    X = features_dense(30, 6, 1)
    index = other_rows(30, 5)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    expected = reconstruction_weights(X, index)
    for moved in (X + 3.0, 1e-60 * X, 1e60 * X, X @ Q):
        np.testing.assert_allclose(reconstruction_weights(moved, index), expected, rtol=1e-7, atol=1e-9)


def test_neighbours_that_all_coincide_with_the_row_weigh_the_same():
    X = np.vstack([np.full((4, 3), 0.1), features_dense(3, 3, 0)])
    index = np.array([[1, 2, 3]])
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(reconstruction_weights(rows, index, queries=rows[[0]]), np.full((1, 3), 1 / 3))
        unlike = reconstruction_weights(rows, np.array([[4, 5, 6]]), queries=rows[[0]])
        assert np.ptp(unlike) > 1e-3


def test_one_coinciding_neighbour_takes_nearly_all_the_weight():
    X = features_duplicate_rows(12, 4, 2)
    gaps = [1.0 - reconstruction_weights(X, np.array([[8, 5, 6]]), reg=r, queries=X[:1])[0, 0] for r in (1e-3, 1e-6)]
    assert 0 < gaps[1] < 1e-4 < gaps[0] < 0.1


@pytest.mark.parametrize("block_entries", [1, 1000, 1 << 19])
def test_sparse_rows_give_the_weights_of_dense_ones(monkeypatch, block_entries):
    monkeypatch.setattr(reconstruction, "BLOCK_ENTRIES", block_entries)
    X = features_text(40, 200, 1)
    index = other_rows(40, 6)
    np.testing.assert_allclose(reconstruction_weights(X, index), reconstruction_weights(X.toarray(), index), atol=1e-10)
    Q = features_text(5, 200, 2)
    np.testing.assert_allclose(
        reconstruction_weights(X, index[:5], queries=Q),
        reconstruction_weights(X.toarray(), index[:5], queries=Q.toarray()),
        atol=1e-10,
    )


def test_new_rows_of_the_other_kind():
    X = features_text(20, 50, 1)
    index, Q = other_rows(20, 3)[:4], features_text(4, 50, 2)
    expected = reconstruction_weights(X, index, queries=Q)
    np.testing.assert_allclose(reconstruction_weights(X, index, queries=Q.toarray()), expected, atol=1e-12)
    np.testing.assert_allclose(reconstruction_weights(X.toarray(), index, queries=Q), expected, atol=1e-12)


def test_sparse_rows_are_never_made_dense(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a sparse matrix was made dense")

    X = features_text(40, 200, 1)
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
        monkeypatch.setattr(kind, "toarray", refuse)
    assert np.isfinite(reconstruction_weights(X, other_rows(40, 6))).all()


def test_float32_rows_and_one_thread(monkeypatch):
    X = features_dense(50, 7, 4).astype(np.float32)
    index = other_rows(50, 4)
    found = reconstruction_weights(X, index)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, reconstruction_weights(X.astype(np.float64), index))
    monkeypatch.setattr(reconstruction, "BLOCK_ENTRIES", 500)
    monkeypatch.setattr(blas, "threads", lambda: 1)
    np.testing.assert_array_equal(reconstruction_weights(X, index), found)


def test_rows_and_neighbours_are_left_as_they_were():
    X = features_dense(20, 3, 0)
    index = other_rows(20, 3)
    before = X.copy(), index.copy()
    X.setflags(write=False)
    index.setflags(write=False)
    reconstruction_weights(X, index)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(index, before[1])


def test_no_neighbours_at_all():
    X = features_dense(3, 2, 0)
    weights = reconstruction_weights(X, np.empty((3, 0), dtype=int))
    assert weights.shape == (3, 0)
    W = reconstruction_matrix(np.empty((3, 0), dtype=int), weights, 3)
    assert W.nnz == 0 and residual_matrix(W).nnz == 0
    assert reconstruction_weights(X, np.empty((0, 2), dtype=int), queries=X[:0]).shape == (0, 2)


def test_singular_systems_and_bad_ridges_are_refused():
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    with pytest.raises(ValueError, match="reg=0.0 leaves a singular system .* 2 neighbours in 1 features"):
        reconstruction_weights(X, np.array([[1, 2]]), reg=0, queries=X[:1])
    for reg in (-1.0, np.nan, np.inf, "small", True):
        with pytest.raises(ValueError, match="reg="):
            reconstruction_weights(X, np.array([[1, 2]]), reg=reg, queries=X[:1])
    near = np.array([[1, 2]])
    with pytest.raises(ValueError, match="overflow: scale X"):
        reconstruction_weights(1.7e308 * np.array([[-1.0], [1.0], [0.0]]), near, queries=np.array([[-1.7e308]]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_more_neighbours_than_features_need_a_ridge(form):
    """The system is singular whatever the rows; rounding often hides it from the factorisation."""
    for seed in range(10):
        X = form(features_dense(20, 3, seed))
        with pytest.raises(ValueError, match="reg=0.0 leaves a singular system .* 5 neighbours in 3 features"):
            reconstruction_weights(X, other_rows(20, 5), reg=0)
        assert np.isfinite(reconstruction_weights(X, other_rows(20, 3), reg=0)).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_neighbours_that_coincide_need_a_ridge(form):
    X = np.repeat(features_dense(12, 6, 2), 2, axis=0)
    with pytest.raises(ValueError, match="reg=0.0 leaves a singular system"):
        reconstruction_weights(form(X), np.array([[2, 3, 4, 6]]), reg=0, queries=form(X[:1]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("power", [-700, -560, 600])
def test_weights_do_not_change_where_squares_leave_the_range_of_numbers(form, power):
    X, index = features_dense(30, 5, 3), other_rows(30, 4)
    expected = reconstruction_weights(form(X), index)
    np.testing.assert_array_equal(reconstruction_weights(form(np.ldexp(X, power)), index), expected)


def test_the_residual_matrix_is_the_sum_of_squared_errors():
    X = features_dense(25, 4, 2)
    index = other_rows(25, 3)
    W = reconstruction_matrix(index, reconstruction_weights(X, index), 25)
    M = residual_matrix(W)
    z = np.random.default_rng(0).standard_normal(25)
    np.testing.assert_allclose(z @ M @ z, np.sum((z - W @ z) ** 2))
    np.testing.assert_allclose(M @ np.ones(25), 0.0, atol=1e-10)
    np.testing.assert_array_equal(M.toarray(), M.T.toarray())
    np.testing.assert_allclose(M.toarray(), (np.eye(25) - W).T @ (np.eye(25) - W), atol=1e-12)


def test_rows_without_neighbours_give_no_term():
    """The last row neither has neighbours nor is one: its diagonal is 0, not 1."""
    W = sp.csr_array(np.array([[0.0, 0.5, 0.5, 0.0], [1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 0, 0]]))
    M = residual_matrix(W).toarray()
    assert M[3, 3] == 0.0
    np.testing.assert_allclose(M.sum(axis=1), 0.0, atol=1e-15)
    printed = (np.eye(4) - W).T @ (np.eye(4) - W)
    assert printed[3, 3] == 1.0


def test_weighted_errors():
    X = features_dense(15, 4, 2)
    index = other_rows(15, 3)
    W = reconstruction_matrix(index, reconstruction_weights(X, index), 15)
    v = np.linspace(0.0, 2.0, 15)
    T = np.eye(15) - W.toarray()
    found = residual_matrix(W, v).toarray()
    np.testing.assert_allclose(found, T.T @ np.diag(v) @ T, atol=1e-12)
    np.testing.assert_allclose(found, found.T, atol=1e-14)


def test_batches_are_solved_one_by_one():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((7, 4, 4))
    M, E = A @ A.transpose(0, 2, 1) + np.eye(4), rng.standard_normal((7, 4))
    found, regular = solve_batch(M, E)
    assert regular
    for m, e, x in zip(M, E, found, strict=True):
        np.testing.assert_allclose(m @ x, e, atol=1e-10)
    M[3] = 0.0
    found, regular = solve_batch(M, E)
    assert not regular and np.isnan(found).all()
