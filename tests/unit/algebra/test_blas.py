"""In-place products and sums: what they leave is what the plain formula gives, in either storage order."""

import numpy as np
import pytest

from proxembed.algebra.arrays.blas import add_product, add_symmetric, symmetrise

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
