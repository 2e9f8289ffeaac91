"""Patch alignment: the patches of each method add up to its own matrix, written down without patches."""

from __future__ import annotations

import numpy as np
import pytest

import strategies
from oracles import dense, preserving
from proxembed.algebra import template
from proxembed.algebra.template import patch_alignment

X = strategies.features_dense(24, 5, 1)
Y_ONE = strategies.one_hot(strategies.labels_classes(24, 3, 1))
N = len(X)


def differences(weights) -> np.ndarray:
    """D' diag(w) D with D = [-1, I]: sum_j w_j (z_i - z_j)^2."""
    K = len(weights)
    D = np.column_stack([-np.ones(K), np.eye(K)])
    return D.T @ np.diag(weights) @ D


def residual(w) -> np.ndarray:
    """[1; -w][1; -w]': (z_i - sum_j w_j z_j)^2."""
    v = np.concatenate([[1.0], -np.asarray(w)])
    return np.outer(v, v)


def aligned(patches) -> np.ndarray:
    return patch_alignment(patches, N).toarray()


def assert_equal(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def others(i: int, chosen: np.ndarray) -> np.ndarray:
    chosen = np.flatnonzero(chosen)
    return chosen[chosen != i]


def same_class(i: int) -> np.ndarray:
    return Y_ONE[:, Y_ONE[i].argmax()] > 0


def test_laplacian_eigenmaps():
    W = preserving.gaussian_weights(X, preserving.adjacency(X, 4))
    patches = (([i, *others(i, W[i] > 0)], differences(W[i, W[i] > 0] / 2)) for i in range(N))
    assert_equal(aligned(patches), dense.laplacian(W))


def test_locally_linear_embedding():
    W = preserving.reconstruction(X, 4)
    patches = (([i, *others(i, W[i] != 0)], residual(W[i, W[i] != 0])) for i in range(N))
    assert_equal(aligned(patches), preserving.residual_matrix(W))


def test_principal_components():
    everyone = np.ones(N, dtype=bool)
    patches = (([i, *others(i, everyone)], differences(np.full(N - 1, 1 / (2 * N)))) for i in range(N))
    assert_equal(aligned(patches), dense.centring(N))


def test_fisher():
    nk = Y_ONE.sum(axis=0)
    Ww = Y_ONE @ np.diag(1 / nk) @ Y_ONE.T
    own = [others(i, same_class(i)) for i in range(N)]
    size = [same_class(i).sum() for i in range(N)]
    within = (([i, *own[i]], differences(np.full(len(own[i]), 1 / (2 * size[i])))) for i in range(N))
    assert_equal(aligned(within), dense.laplacian(Ww))
    between = []
    for i in range(N):
        foes = np.flatnonzero(~same_class(i))
        weights = np.concatenate([np.full(len(own[i]), (1 / N - 1 / size[i]) / 2), np.full(len(foes), 1 / (2 * N))])
        between.append(([i, *own[i], *foes], differences(weights)))
    assert_equal(aligned(between), dense.laplacian(1 / N - Ww))


def friends_and_enemies(i: int, K1: int, K2: int) -> tuple[list[int], list[int]]:
    order = np.argsort(preserving.distances(X)[i], kind="stable")
    same = same_class(i)
    return [j for j in order if same[j] and j != i][:K1], [j for j in order if not same[j]][:K2]


def test_discriminative_locality_alignment():
    lam, patches, Wd = 0.3, [], np.zeros((N, N))
    for i in range(N):
        friends, enemies = friends_and_enemies(i, 3, 4)
        patches.append(([i, *friends, *enemies], differences([1.0] * len(friends) + [-lam] * len(enemies))))
        Wd[i, friends], Wd[i, enemies] = 1.0, -lam
    assert_equal(aligned(patches), dense.laplacian(Wd + Wd.T))


def test_discriminative_neighbourhood_preservation():
    beta, patches, W, G = 0.2, [], np.zeros((N, N)), np.zeros((N, N))
    for i in range(N):
        mates, enemies = friends_and_enemies(i, 3, 4)
        G[i, enemies] = 1.0
        D = X[mates] - X[i]
        w = np.linalg.solve(D @ D.T + 1e-3 * np.trace(D @ D.T) * np.eye(len(mates)), np.ones(len(mates)))
        W[i, mates] = w / w.sum()
        both = np.zeros((1 + len(mates) + len(enemies),) * 2)
        own, foes = np.arange(1 + len(mates)), [0, *range(1 + len(mates), len(both))]
        both[np.ix_(own, own)] += residual(W[i, mates])
        both[np.ix_(foes, foes)] -= beta * differences(np.ones(len(enemies)))
        patches.append(([i, *mates, *enemies], both))
    assert_equal(aligned(patches), preserving.residual_matrix(W) - beta * dense.laplacian(G + G.T))


# ---------------------------------------------------------------------------------------------- the builder itself


def selected_sum(patches, n: int) -> np.ndarray:
    """sum_i S_i A_i S_i' with the selections as arrays."""
    total = np.zeros((n, n))
    for index, A in patches:
        S = np.eye(n)[:, index]
        total += S @ A @ S.T
    return total


def test_patches_of_any_size_and_order(monkeypatch):
    rng = np.random.default_rng(0)
    patches = []
    for size in (0, 1, 2, 5, 9, 3):
        A = rng.standard_normal((size, size))
        patches.append((rng.permutation(N)[:size], A + A.T))
    patches.append(([4, 4, 2], np.ones((3, 3))))  # a row twice counts twice
    expected = selected_sum([p for p in patches if len(p[0])], N)
    assert_equal(aligned(patches), expected)
    monkeypatch.setattr(template, "GATHERED", 20)  # added up in several goes
    found = patch_alignment(iter(patches), N)
    assert_equal(found.toarray(), expected)
    assert (found != found.T).nnz == 0
    assert patch_alignment([], 3).shape == (3, 3)


@pytest.mark.parametrize(
    ("index", "A", "message"),
    [
        ([0, 24], np.eye(2), r"patches\[1\]: row 24 is not among the n=24 rows.*0 to 23"),
        ([-1, 2], np.eye(2), r"patches\[1\]: row -1"),
        ([0.5, 1], np.eye(2), r"patches\[1\]: the rows must be a list of whole numbers"),
        ([0, 1, 2], np.eye(2), r"patches\[1\]: 3 rows need a 3 x 3 matrix, not one of shape \(2, 2\)"),
        ([0, 1], [[1.0, 2.0], [0.0, 1.0]], r"patches\[1\]: the matrix must be symmetric and finite"),
        ([0, 1], [[np.nan, 0.0], [0.0, 1.0]], r"patches\[1\]: the matrix must be symmetric and finite"),
        ([0, 1], [[1.0, np.inf], [np.inf, 1.0]], r"patches\[1\]: the matrix must be symmetric and finite"),
    ],
)
def test_a_bad_patch_is_named(index, A, message):
    with pytest.raises(ValueError, match=message):
        patch_alignment([([0, 1], np.eye(2)), (index, A)], N)
