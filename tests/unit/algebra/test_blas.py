"""In-place products and sums: what they leave is what the plain formula gives, in either storage order."""

import numpy as np
import pytest

from proxembed import MLSI, MORP
from proxembed.algebra.arrays.blas import (
    add_gram,
    add_product,
    add_symmetric,
    frobenius,
    gram,
    matmul,
    squared_length,
    symmetrise,
)

rng = np.random.default_rng(5)


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_product_adds_a_multiple_in_place(order):
    A, B = rng.standard_normal((7, 3)), np.asarray(rng.standard_normal((3, 7)), order=order)
    total = rng.standard_normal((7, 7))
    expected, same = total - 2.5 * A @ B, total
    add_product(total, -2.5, A, B)
    assert total is same
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_symmetric_adds_a_multiple_in_place(order):
    M = rng.standard_normal((6, 6))
    M = np.asarray(M + M.T, order=order)
    total = rng.standard_normal((6, 6))
    expected = total + 3.0 * M
    add_symmetric(total, 3.0, M)
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("size", [1, 5, 256, 257, 700])  # below, at and above the tile
def test_symmetrise_is_the_mean_with_the_transpose(size):
    M = rng.standard_normal((size, size))
    expected = (M + M.T) / 2
    np.testing.assert_array_equal(symmetrise(M), expected)


EMPTY = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)]
empty = pytest.mark.parametrize(("n", "k", "m"), EMPTY)


@empty
def test_products_of_empty_operands_are_zeros(n, k, m, capfd):
    A, B = np.zeros((n, k)), np.zeros((k, m))
    np.testing.assert_array_equal(matmul(A, B), A @ B)
    np.testing.assert_array_equal(matmul(A, np.zeros(k)), np.zeros(n))
    np.testing.assert_array_equal(gram(A), A.T @ A)
    np.testing.assert_array_equal(gram(np.asfortranarray(A)), A.T @ A)
    assert squared_length(A.ravel()) == frobenius(A) == 0.0
    assert capfd.readouterr() == ("", "")


@empty
def test_empty_operands_add_nothing(n, k, m, capfd):
    total, square, of_columns = np.ones((n, m)), np.ones((n, n)), np.ones((k, k), order="F")
    add_product(total, 2.0, np.zeros((n, k)), np.zeros((k, m)))
    add_symmetric(square, 2.0, np.zeros((n, n)))
    add_gram(of_columns, 2.0, np.zeros((n, k)))
    assert total.min(initial=1.0) == square.min(initial=1.0) == of_columns.min(initial=1.0) == 1.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("order", ["C", "F"])
def test_add_gram_adds_a_multiple_to_the_lower_triangle(order):
    X, total = np.asarray(rng.standard_normal((7, 4)), order=order), np.ones((4, 4), order="F")
    add_gram(total, -2.0, X)
    np.testing.assert_allclose(np.tril(total), np.tril(1 - 2 * X.T @ X), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(np.triu(total, 1), np.triu(np.ones((4, 4)), 1))


@pytest.mark.parametrize("cls", [MORP, MLSI], ids=["MORP", "MLSI"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_an_inverse_of_one_kernel_alone_prints_nothing(cls, beta, capfd):
    X, Y = rng.standard_normal((30, 5)), np.arange(90).reshape(30, 3) % 7 > 2
    assert np.isfinite(cls(beta=beta).fit(X, Y.astype(int)).components_).all()
    assert capfd.readouterr() == ("", "")
