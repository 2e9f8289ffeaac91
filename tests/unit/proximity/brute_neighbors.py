"""Nearest rows by brute force."""

import numpy as np


def brute(D, K, exclude=True):
    """The K smallest of each row, ties by number."""
    D = np.array(D, dtype=float)
    if exclude:
        np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :K]
    return order, np.take_along_axis(D, order, axis=1)


def grid(n=90, d=4, seed=0, top=3):
    """Small whole numbers: many ties, and duplicates."""
    return np.random.default_rng(seed).integers(0, top, (n, d)).astype(float)


def same(a, b):
    np.testing.assert_array_equal(a.index, b.index)
    np.testing.assert_array_equal(a.distance, b.distance)


def assert_nearest(found, expected, rtol=0):
    """The neighbours are these rows at these distances, as ``brute`` gives them."""
    np.testing.assert_array_equal(found.index, expected[0])
    np.testing.assert_allclose(found.distance, expected[1], rtol=rtol)
