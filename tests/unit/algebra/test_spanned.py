"""Spanned: the projection on the labels without a c x c matrix, against a dense pseudo-inverse."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg.lapack import dtfttr

from designs import pairwise
from proxembed.algebra.operators import spanned
from proxembed.algebra.operators.spanned import PANEL, Spanned, packed_gram
from proxembed.algebra.pencil.symmetric import pseudo_inverse

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def labels(n: int, c: int, kind: str, seed: int = 0) -> np.ndarray:
    Y = (np.random.default_rng(seed).random((n, c)) < 0.2) * 1.0
    if kind == "dependent":  # equal columns, sums of columns, an empty and a full one, equal rows
        Y[:, 3], Y[:, 5], Y[:, 2], Y[:, 4] = Y[:, 1], Y[:, 0] + Y[:, 1], 0.0, 1.0
        Y[3:6] = Y[1]
    if kind == "rare":  # most labels have one row, others two, one of them alone
        Y = np.zeros((n, c))
        Y[np.arange(c) % n, np.arange(c)] = 1.0
        Y[(3 * np.arange(c // 2)) % n, np.arange(c // 2)] = 1.0
        Y[n // 2 :] = 0.0
    if kind == "shares":
        Y *= np.random.default_rng(9).random((n, c))
    return Y


def projection(Y: np.ndarray, ridge: float, centred: bool) -> tuple[np.ndarray, np.ndarray]:
    Yc = Y - Y.mean(axis=0) if centred else Y
    inverse = pseudo_inverse(Yc.T @ Yc, ridge)
    return Yc @ inverse @ Yc.T, inverse


@pairwise
@pytest.mark.parametrize("ridge", [0.0, 1e-12, 0.4])
@pytest.mark.parametrize("centred", [True, False], ids=["centred", "as it is"])
@pytest.mark.parametrize("kind", ["independent", "dependent", "rare", "shares"])
@pytest.mark.parametrize("sizes", [(40, 17), (18, 45), (61, 23), (24, 71)], ids=str)
def test_products_are_those_of_the_pseudo_inverse(sizes, kind, centred, ridge):
    Y = labels(*sizes, kind)
    X = np.random.default_rng(1).standard_normal((sizes[0], 4))
    expected, inverse = projection(Y, ridge, centred)
    A = Spanned(sparse.csc_array(Y), ridge, centred=centred)
    np.testing.assert_allclose(A.sandwich(X), X.T @ expected @ X, **TIGHT)
    np.testing.assert_allclose(A @ X, expected @ X, **TIGHT)
    np.testing.assert_allclose(A @ X[:, 0], expected @ X[:, 0], **TIGHT)
    np.testing.assert_allclose(A.diagonal(), np.diag(expected), **TIGHT)
    np.testing.assert_allclose(A.trace_on(X), np.trace(X.T @ expected @ X), rtol=1e-9)
    np.testing.assert_allclose(A.S, inverse, rtol=1e-6, atol=1e-8 * np.abs(inverse).max())


def test_on_more_rows_the_others_are_zero():
    Y = labels(20, 31, "dependent")
    index = np.arange(0, 40, 2)
    whole = np.zeros((40, 40))
    whole[np.ix_(index, index)] = projection(Y, 0.0, True)[0]
    V = np.random.default_rng(2).standard_normal((40, 3))
    np.testing.assert_allclose(Spanned(sparse.csc_array(Y)).spread(index, 40) @ V, whole @ V, **TIGHT)


def test_labels_that_do_not_differ_span_nothing():
    ones = sparse.csc_array(np.ones((9, 4)))
    X = np.random.default_rng(3).standard_normal((9, 2))
    np.testing.assert_array_equal(Spanned(ones).sandwich(X), np.zeros((2, 2)))


@pytest.mark.parametrize("rounds", [0, 1, 100])
def test_a_row_taken_away_leaves_the_same_projection(rounds, monkeypatch):
    """A chain: the labels at both ends have one row, the others two neighbouring rows, so that all rows follow."""
    monkeypatch.setattr(spanned, "ROUNDS", rounds)
    Y = np.eye(12) + np.eye(12, k=1)
    Y[10:, 10:] = 0.0
    A = Spanned(sparse.csc_array(Y))
    assert len(A.span.rest) == {0: 11, 1: 9, 100: 1}[rounds]  # of 11 distinct rows, two without a label being equal
    X = np.random.default_rng(4).standard_normal((12, 3))
    np.testing.assert_allclose(A.sandwich(X), X.T @ projection(Y, 0.0, True)[0] @ X, **TIGHT)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 2 * PANEL + 3, 4 * PANEL])
def test_the_packed_array_is_the_lower_triangle(n):
    A = sparse.random_array((n, 7), density=0.5, rng=np.random.default_rng(n), format="csr")
    L = np.random.default_rng(5).standard_normal((n, 1))
    packed = packed_gram(A, L, L, 3.0)
    size = n + n % 2
    found = dtfttr(size, packed, uplo="L")[0][:n, :n]
    np.testing.assert_allclose(np.tril(found), np.tril((A @ A.T).toarray() - L @ L.T + 3.0 * np.eye(n)), atol=1e-12)


def test_a_factor_above_the_guard_is_refused():
    none = np.zeros((30_000, 0))
    with pytest.raises(ValueError, match="The factor of Y'Y"):
        packed_gram(sparse.csr_array((30_000, 1)), none, none, 1.0)
