"""Rank matrices against the definitions, pair by pair and list by list."""

import numpy as np
import pytest

from designs import pairwise
from proxembed.methods.adaptive.pairs import NEVER, directed_ranks, rank_matrices
from proxembed.targets.labels import LabelMatrix


def nearest(S, i, pool, k):
    """The k most similar rows of a pool, ties to the lower index."""
    return sorted((j for j in pool if j != i), key=lambda j: (-S[i, j], j))[:k]


def listed(S, Y, n_friends, n_enemies, n_neighbors, pool="pair"):
    """Directed relations by their definition: friend, enemy and neighbour lists of every row."""
    n, c = Y.shape
    F, E, N = (np.zeros((n, n), dtype=bool) for _ in range(3))
    for i in range(n):
        N[i, nearest(S, i, range(n), n_neighbors)] = True
        own = {j for j in range(n) if j != i and (Y[i] & Y[j]).any()}
        for t in np.flatnonzero(Y[i]):
            F[i, nearest(S, i, np.flatnonzero(Y[:, t]), n_friends)] = True
        for u in range(c) if Y[i].any() else ():
            others = set(np.flatnonzero(Y[:, u])) - own - {i}
            E[
                i,
                [
                    j
                    for j in nearest(S, i, others | own if pool == "pair" else others, n_enemies)
                    if j in others and not (Y[i] & Y[j]).any()
                ],
            ] = True
    return F, E, N


def single(rng, n, c):
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    return np.eye(c, dtype=bool)[y]


def several(rng, n, c):
    Y = rng.random((n, c)) < 0.3
    Y[:c] |= np.eye(c, dtype=bool)
    Y[-1] = False
    return Y


def similarities(rng, n):
    return rng.integers(0, 12, (n, n)).astype(float)  # ties, and not symmetric


@pairwise
@pytest.mark.parametrize("make", [single, several], ids=["single", "several"])
@pytest.mark.parametrize("c", [2, 3, 4, 5])
@pytest.mark.parametrize("link", ["undirected", "mutual"])
@pytest.mark.parametrize("pool", ["pair", "other"])
def test_every_number_of_neighbours_at_once(make, c, link, pool):
    rng = np.random.default_rng(c)
    n = 24
    Y, S = make(rng, n, c), similarities(rng, n)
    ranks = rank_matrices(S, LabelMatrix.of(Y.astype(int)), link, pool)
    join = np.logical_or if link == "undirected" else np.logical_and
    for n_friends, n_enemies in [(1, 1), (3, 5), (7, 20), (n - 1, n - 1)]:
        F, E, N = listed(S, Y, n_friends, n_enemies, n_friends, pool)
        assert np.array_equal(ranks.friends <= n_friends, join(F, F.T))
        assert np.array_equal(ranks.enemies <= n_enemies, join(E, E.T))
        assert np.array_equal(ranks.neighbors <= n_friends, join(N, N.T))


def test_the_oracle_sees_a_pool_without_the_own_class():
    """The pool of enemies holds the own class: without it, a row inside its class would have enemies at once."""
    S = -np.abs(np.subtract.outer([0.0, 1.0, 2.0, 9.0], [0.0, 1.0, 2.0, 9.0]))
    Y = np.eye(2, dtype=bool)[[0, 0, 0, 1]]
    assert not listed(S, Y, 1, 2, 1)[1][0, 3]
    assert directed_ranks(S, LabelMatrix.of(Y.astype(int))).enemies[0, 3] == 3
    assert listed(S, Y, 1, 1, 1, "other")[1][0, 3]
    assert directed_ranks(S, LabelMatrix.of(Y.astype(int)), "other").enemies[0, 3] == 1


@pytest.mark.parametrize("pool", ["pair", "other"])
def test_one_hot_columns_and_classes_agree(pool, monkeypatch):
    rng = np.random.default_rng(0)
    Y, S = single(rng, 40, 4), similarities(rng, 40)
    labels = LabelMatrix.of(Y.astype(int))
    fast = directed_ranks(S, labels, pool)
    monkeypatch.setattr(LabelMatrix, "one_hot", False)
    slow = directed_ranks(S, labels, pool)
    for name in ("friends", "enemies", "neighbors"):
        assert np.array_equal(getattr(fast, name), getattr(slow, name))


@pytest.mark.parametrize("make", [single, several])
def test_blocks_of_rows_change_nothing(make, monkeypatch):
    rng = np.random.default_rng(1)
    Y, S = make(rng, 30, 3), similarities(rng, 30)
    labels = LabelMatrix.of(Y.astype(int))
    whole = directed_ranks(S, labels)
    monkeypatch.setattr("proxembed.algebra.arrays.matrix.BLOCK_ENTRIES", 7 * 30)
    parts = directed_ranks(S, labels)
    for name in ("friends", "enemies", "neighbors"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_a_class_of_one_row_has_no_friends():
    ranks = rank_matrices(np.eye(4), LabelMatrix.of([0, 0, 0, 1]))
    assert (ranks.friends[3] == NEVER).all() and (np.diag(ranks.neighbors) == NEVER).all()


def test_bad_input_is_named():
    labels = LabelMatrix.of([0, 1])
    with pytest.raises(ValueError, match="S has shape"):
        directed_ranks(np.eye(3), labels)
    with pytest.raises(ValueError, match="link='xor'"):
        rank_matrices(np.eye(2), labels, "xor")
    with pytest.raises(ValueError, match="enemy_pool='all'"):
        directed_ranks(np.eye(2), labels, "all")
