"""Quadratic programs on the simplex: against all supports, one by one, and their optimality conditions."""

from itertools import combinations

import numpy as np
import pytest

from proxembed.methods.transductive import label_iteration
from proxembed.methods.transductive.label_iteration import simplex_weights

REG = 1e-3


def matrices(b, K, rank, seed=0):
    F = np.random.default_rng(seed).standard_normal((b, K, rank)) + 0.6
    return F @ F.transpose(0, 2, 1)


def definite(L):
    return L + REG * np.trace(L) * np.eye(len(L))


def best(L):
    """The smallest w'Lw over every support, the affine minimum of each where that is nonnegative."""
    K, least = len(L), (np.inf, None)
    for size in range(1, K + 1):
        for support in combinations(range(K), size):
            v = np.linalg.solve(L[np.ix_(support, support)], np.ones(size))
            w = np.zeros(K)
            w[list(support)] = v / v.sum()
            if w.min() >= 0 and w @ L @ w < least[0]:
                least = w @ L @ w, w
    return least[1]


@pytest.mark.parametrize(("K", "rank"), [(1, 1), (2, 1), (5, 2), (6, 9)])
def test_against_all_supports(K, rank):
    L = matrices(40, K, rank, K)
    found = simplex_weights(L, REG)
    np.testing.assert_allclose(found, [best(definite(each)) for each in L], atol=1e-7)
    assert (found == 0).any() or K == 1


def test_conditions_of_optimality_hold_for_many_neighbours():
    L = matrices(60, 15, 6)
    w = simplex_weights(L, REG)
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    assert w.min() >= 0
    gradient = np.einsum("ijk,ik->ij", np.array([definite(each) for each in L]), w)
    value = np.einsum("ij,ij->i", gradient, w)[:, None]
    assert (gradient >= value * (1 - 1e-8)).all()
    np.testing.assert_allclose(np.where(w > 0, gradient / value, 1.0), 1.0, atol=1e-8)


def test_clipped_affine_weights_are_not_the_minimum():
    L = matrices(40, 6, 9, 6)
    v = np.array([np.linalg.solve(definite(each), np.ones(6)) for each in L])
    clipped = np.maximum(v, 0) / np.maximum(v, 0).sum(axis=1, keepdims=True)
    cost = [
        [w @ definite(each) @ w for w, each in zip(ws, L, strict=True)] for ws in (clipped, simplex_weights(L, REG))
    ]
    assert (np.array(cost[1]) <= np.array(cost[0]) + 1e-12).all() and max(np.subtract(*cost)) > 1e-3


def test_size_does_not_matter_and_no_difference_gives_equal_weights():
    L = matrices(5, 4, 3)
    for scale in (1e-150, 1e150):
        np.testing.assert_allclose(simplex_weights(scale * L, REG), simplex_weights(L, REG), rtol=1e-12)
    np.testing.assert_array_equal(simplex_weights(np.zeros((2, 4, 4)), REG), 0.25)


def test_exchanges_that_run_in_circles_go_on_one_by_one(monkeypatch):
    """Among these are some that exchanges of whole sets never solve."""
    F = np.random.default_rng(0).standard_normal((4000, 6, 2))
    F += np.random.default_rng(99).choice([0, 0.6, 2.0])
    L = F @ F.transpose(0, 2, 1)
    exact = np.array([definite(each) for each in L])

    def worst():
        w = simplex_weights(L, REG)
        gradient = np.einsum("ijk,ik->ij", exact, w)
        return np.max(1 - gradient.min(axis=1) / np.einsum("ij,ij->i", gradient, w))

    assert worst() < 1e-7
    monkeypatch.setattr(label_iteration, "TRIALS", 10**6)
    assert worst() > 1e-3
