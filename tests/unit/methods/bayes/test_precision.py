"""Routes to posteriors with diagonal prior precisions, against dense inverses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from designs import pairwise
from proxembed.algebra.arrays import blas
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.methods.bayes.precision import (
    FeaturePosterior,
    RowPosterior,
    SharedPosterior,
    TrainingRows,
    inverse_stack,
    posterior,
    ridge_diagonal,
    spd_inverse,
)

SHAPES = [(30, 8), (8, 30), (12, 12)]


def rows(shape, sparse=False, rank=None):
    rng = np.random.default_rng(sum(shape))
    X = rng.standard_normal(shape)
    if rank is not None:
        X = X[:, :rank] @ rng.standard_normal((rank, shape[1]))
    if sparse:
        X[rng.random(shape) < 0.7] = 0.0
    return X


def dense(X, P, v):
    return [np.linalg.inv(np.diag(p) + X.T @ X / v) for p in P.T]


def check(route, X, P, Z, v, keep, given=None):
    inverses = dense(X, P, v)
    means = np.column_stack([C @ X.T @ z / v for C, z in zip(inverses, Z.T, strict=True)])
    np.testing.assert_allclose(route.refresh(P if given is None else given, Z, keep), means, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(route.logdet, [np.linalg.slogdet(C)[1] for C in inverses], rtol=1e-9)
    diagonals = np.column_stack([np.diag(C) for C in inverses])
    np.testing.assert_allclose(route.diagonal, diagonals if given is None else diagonals.sum(axis=0), rtol=1e-8)
    if keep:
        other = np.random.default_rng(9).standard_normal(Z.shape)
        means = np.column_stack([C @ X.T @ z / v for C, z in zip(inverses, other.T, strict=True)])
        np.testing.assert_allclose(route.means(other), means, rtol=1e-8, atol=1e-11)


@pairwise
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", [FeaturePosterior, RowPosterior])
@pytest.mark.parametrize("keep", [False, True], ids=["once", "kept"])
def test_a_precision_an_entry(kind, shape, sparse, keep):
    rng = np.random.default_rng(1)
    X, P, Z = rows(shape, sparse), np.exp(rng.standard_normal((shape[1], 3))), rng.standard_normal((shape[0], 3))
    check(kind(CentredMatrix(sp.csr_array(X) if sparse else X), 0.3), X, P, Z, 0.3, keep)


@pairwise
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("rank", [None, 4])
def test_a_precision_a_column(shape, sparse, rank):
    rng = np.random.default_rng(1)
    X, p, Z = rows(shape, sparse, rank), np.array([0.1, 1.0, 1e8]), rng.standard_normal((shape[0], 3))
    route = SharedPosterior(CentredMatrix(sp.csr_array(X) if sparse else X), 0.3)
    check(route, X, np.repeat(p[None], shape[1], axis=0), Z, 0.3, True, given=p)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_diagonals_and_quadratic_forms(shape, sparse):
    X, new = rows(shape, sparse), rows((7, shape[1]))
    P = np.exp(np.random.default_rng(2).standard_normal((shape[1], 2)))
    form = sp.csr_array if sparse else np.asarray
    expected = np.diag(np.linalg.inv(X.T @ X + 0.7 * np.eye(shape[1])))
    np.testing.assert_allclose(ridge_diagonal(CentredMatrix(form(X)), 0.7), expected, rtol=1e-9)
    forms = np.column_stack([np.einsum("if,fg,ig->i", new, C, new) for C in dense(X, P, 0.3)])
    np.testing.assert_allclose(
        TrainingRows.of(CentredMatrix(form(X))).quadratic_forms(form(new), P, 0.3), forms, rtol=1e-9
    )


def test_the_cheaper_side_is_taken():
    kinds = {shape: type(posterior(CentredMatrix(rows(shape)), 1.0, False)) for shape in SHAPES}
    assert kinds == {(30, 8): FeaturePosterior, (8, 30): RowPosterior, (12, 12): FeaturePosterior}


def test_inverses():
    K = rows((30, 8)).T @ rows((30, 8))
    C, logdet = spd_inverse(np.asfortranarray(K))
    np.testing.assert_allclose(np.tril(C), np.tril(np.linalg.inv(K)), rtol=1e-9)
    assert logdet == pytest.approx(-np.linalg.slogdet(K)[1])
    stack, logdets = inverse_stack(np.stack([K, 2 * K]))
    np.testing.assert_allclose(stack[1] @ K, np.eye(8) / 2, atol=1e-10)
    np.testing.assert_allclose(logdets, [logdet, logdet - 8 * np.log(2)])


def test_what_is_not_positive_definite_is_mended_once_or_refused():
    for order in "CF":
        C, logdet = spd_inverse(np.ones((3, 3), order=order))
        assert logdet == pytest.approx(-np.log(3e-20), rel=1e-4)
        assert C[0, 0] == pytest.approx(2 / 3 * 1e10, rel=1e-4)
    stack, _ = inverse_stack(np.stack([np.eye(3), np.ones((3, 3))]))
    assert stack[1, 0, 0] == pytest.approx(C[0, 0], rel=1e-12) and np.array_equal(stack[0], np.eye(3))
    with pytest.raises(ValueError, match="not positive definite.*unit variance"):
        inverse_stack(-np.eye(3)[None])
    with pytest.raises(ValueError, match="not positive definite.*unit variance"):
        spd_inverse(np.asfortranarray(-np.eye(3)))


def test_a_stack_is_not_written_to():
    K = np.stack([4.0 * np.eye(3), np.ones((3, 3))])
    before = K.copy()
    inverse_stack(K)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e4, 1e7])
def test_no_variance_is_lost_where_large_numbers_cancel(scale, sparse):
    """Rows of the fit have quadratic forms near v, the difference of two numbers of the size of scale^2."""
    X = rows((8, 30), sparse) * scale
    P = np.exp(np.random.default_rng(2).standard_normal((30, 2)))
    form = sp.csr_array if sparse else np.asarray
    found = TrainingRows.of(CentredMatrix(form(X))).quadratic_forms(form(X), P, 0.3)
    for s, p in enumerate(P.T):
        A = X / np.sqrt(p)
        U, sigma, _ = np.linalg.svd(A, full_matrices=False)
        expected = (U**2 * (sigma**2 / (1 + sigma**2 / 0.3))).sum(axis=1)
        np.testing.assert_allclose(found[:, s], expected, rtol=1e-6)


def test_diagonals_stay_positive_where_one_feature_dwarfs_the_others():
    X = rows((8, 30))
    X[:, 3] *= 1e9
    route = RowPosterior(CentredMatrix(X), 0.3)
    route.refresh(np.ones((30, 1)), np.ones((8, 1)), False)
    assert np.all(route.diagonal > 0)
    assert np.all(ridge_diagonal(CentredMatrix(X), 0.7) > 0)


def test_what_a_fit_keeps_is_its_own():
    X = rows((8, 30))
    kept = TrainingRows.of(CentredMatrix(X))
    assert not np.shares_memory(kept.X, X)


@pytest.mark.parametrize("kind", [FeaturePosterior, RowPosterior])
def test_any_number_of_threads_gives_the_same_bits(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X, P, Z = CentredMatrix(rows((12, 9))), rng.random((9, 6)) + 0.1, rng.standard_normal((12, 6))
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        route = kind(X, 0.7)
        found.append((route.refresh(P, Z, True), route.diagonal, route.logdet, route.means(Z + 1.0)))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
