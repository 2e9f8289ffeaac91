"""Nearest rows by brute force, and what a search is measured by."""

import tracemalloc

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


def peak_of(work) -> float:
    """The most memory in use while ``work`` runs, in bytes."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
