"""Laplacians inside classes: one pass for all of them, every tile met once, the same for one thread and two; traces."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from contracts.operators import composed_cases, leaves
from designs import each_value
from proxembed.algebra.arrays import blas, class_blocks
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.class_blocks import ClassLinks, ClassWeights

N = 700
X = strategies.features_dense(N, 6, 1)
SIZES = [400, 290, 10]


class Tiles:
    """Random symmetric weights of the classes that remember which tiles were asked for."""

    def __init__(self):
        rng = np.random.default_rng(0)
        ends = np.cumsum(SIZES)
        order = rng.permutation(N)
        self.index = [order[end - size : end] for end, size in zip(ends, SIZES, strict=True)]
        self.arrays = [np.abs(rng.standard_normal((size, size))) for size in SIZES]
        self.arrays = [A + A.T for A in self.arrays]
        self.asked: list[tuple[int, int]] = []

    def weights(self) -> ClassWeights:
        def tile(k):
            def part(rows: slice, columns: slice) -> np.ndarray:
                A = self.arrays[k][rows, columns].copy()
                self.asked.append((k, A.size))
                return A

            return part

        return ClassWeights(N, [(index, lambda k=k: tile(k)) for k, index in enumerate(self.index)])

    def sandwich(self, factors) -> np.ndarray:
        L = np.zeros((N, N))
        for c, index, A in zip(factors, self.index, self.arrays, strict=True):
            L[np.ix_(index, index)] += c * (np.diag(A.sum(axis=1)) - A)
        return X.T @ L @ X


FACTORS = [np.array([1.0, 0.5, 2.0]), np.array([-1.0, 0.0, 3.0])]


def assert_sandwiches(weights, tiles, form):
    """The Laplacians of the factors on centred rows, all of them made before the first is used."""
    operators = [weights.laplacian(factors) for factors in FACTORS]
    rows = CentredMatrix.centred(form(X), np.ones(N))
    for operator, factors in zip(operators, FACTORS, strict=True):
        expected = tiles.sandwich(factors)
        np.testing.assert_allclose(operator.sandwich(rows), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_laplacians_of_the_same_weights_share_one_pass(form):
    tiles = Tiles()
    weights = tiles.weights()
    assert_sandwiches(weights, tiles, form)
    asked = sum(size for _, size in tiles.asked)
    assert asked < sum(size * (size + 256) / 2 + 256**2 for size in SIZES)  # about half of all pairs, and once


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_links_inside_classes_share_one_pass(form, monkeypatch):
    tiles, passes = Tiles(), []
    weights = ClassLinks(N, [(index, sp.csr_array(A)) for index, A in zip(tiles.index, tiles.arrays, strict=True)])
    counted = ClassLinks.sandwiches
    monkeypatch.setattr(ClassLinks, "sandwiches", lambda *given: passes.append(1) or counted(*given))
    assert_sandwiches(weights, tiles, form)
    assert len(passes) == 1


def test_another_matrix_is_another_pass():
    tiles = Tiles()
    weights = tiles.weights()
    first, second = (weights.laplacian(c) for c in FACTORS)
    first.sandwich(X)
    other = second.sandwich(2.0 * X)
    expected = 4.0 * tiles.sandwich(FACTORS[1])
    np.testing.assert_allclose(other, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    again = second.sandwich(X)
    np.testing.assert_allclose(again, expected / 4.0, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("group", [1, 300, 10_000])
def test_one_thread_two_threads_and_any_grouping_agree(monkeypatch, group):
    monkeypatch.setattr(class_blocks, "GROUP_ROWS", group)
    found = []
    for threads in (1, 2):
        monkeypatch.setattr(blas, "threads", lambda threads=threads: threads)
        found.append(Tiles().weights().laplacian(FACTORS[0]).sandwich(X))
    np.testing.assert_array_equal(found[0], found[1])
    expected = Tiles().sandwich(FACTORS[0])
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_no_tile_is_large():
    tiles = Tiles()
    operator = tiles.weights().laplacian(FACTORS[0])
    operator.sandwich(X)
    assert max(size for _, size in tiles.asked) <= class_blocks.TALL * class_blocks.WIDE


@each_value
@pytest.mark.parametrize("case", leaves(9) + composed_cases(9), ids=lambda case: case.name)
@pytest.mark.parametrize("form", ["dense", "csr", "centred csr", "centred dense"])
def test_traces_without_the_matrix(case, form):
    from contracts.operators import matrices

    Z, array = matrices()[form]
    expected = np.trace(array.T @ case.array @ array)
    scale = np.trace(np.abs(array.T) @ np.abs(case.array) @ np.abs(array))
    assert case.operator.trace_on(Z) == pytest.approx(expected, rel=0, abs=1e-12 * scale)
