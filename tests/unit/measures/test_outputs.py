"""Measures of outputs against their definitions."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, r2_score

from proxembed.measures.measures import measure_for, measure_of
from proxembed.measures.neighbors import neighbor_weights, new_neighbor_weights
from proxembed.measures.outputs import (
    OutputCells,
    agreement,
    agreement_each,
    mean_over_outputs,
    near_outputs,
    q2,
    q2_each,
    r2,
    spearman,
)


def cells(F, owner=None, known=None):
    r = F.shape[1]
    return OutputCells(F, np.arange(r) if owner is None else owner, np.zeros(r), np.ones(r), known)


def lists(rng, m, n, k):
    return np.array([rng.choice(n, k, replace=False) for _ in range(m)])


def weights(chosen, n):
    W = np.zeros((len(chosen), n))
    np.put_along_axis(W, chosen, 1 / chosen.shape[1], axis=1)
    return W


def defined(Y, Y_train, chosen, known=None):
    """A@k of one output by its definition, a sum over all pairs."""
    rows = np.arange(len(Y)) if known is None else np.flatnonzero(known)
    own = sum((Y[i] - Y_train[j]) ** 2 for i in rows for j in chosen[i])
    pairs = sum((Y[i] - Y_train[j]) ** 2 for i in rows for other in rows for j in chosen[other])
    return 1 - own * len(rows) / pairs


def test_agreement_is_its_definition():
    rng = np.random.default_rng(0)
    F, train, chosen = rng.normal(size=(12, 2)), rng.normal(size=(20, 2)), lists(rng, 12, 20, 3)
    near = near_outputs(weights(chosen, 20), train)
    expected = [defined(F[:, j], train[:, j], chosen) for j in range(2)]
    assert agreement_each(cells(F), near) == pytest.approx(expected, rel=1e-12)
    known = rng.random((12, 2)) < 0.7
    expected = [defined(F[:, j], train[:, j], chosen, known[:, j]) for j in range(2)]
    assert agreement_each(cells(np.where(known, F, 0), known=known), near) == pytest.approx(expected, rel=1e-12)


def test_an_output_that_does_not_vary_is_left_out_of_the_agreement():
    rng = np.random.default_rng(0)
    F, train, chosen = rng.normal(size=(12, 2)), rng.normal(size=(20, 2)), lists(rng, 12, 20, 3)
    F[:, 1], train[:, 1] = 0.5, 0.5
    W, draws = weights(chosen, 20), np.array([[1.0] * 12, [2.0] * 12])
    expected = defined(F[:, 0], train[:, 0], chosen)
    assert agreement(cells(F), near_outputs(W, train)) == (pytest.approx(expected, rel=1e-12), 1)
    found = mean_over_outputs(agreement_each(cells(F), near_outputs(W, train), draws))
    assert found == pytest.approx([expected] * 2, rel=1e-12)
    assert agreement(cells(F[:, 1:]), near_outputs(W, train[:, 1:])) == (0.0, 1)


def test_a_fixed_list_of_neighbours_agrees_no_more_than_chance_and_shuffled_lists_hardly_do():
    rng = np.random.default_rng(1)
    F, train = rng.normal(size=(200, 3)), rng.normal(size=(300, 3))
    same = np.tile(rng.choice(300, 10, replace=False), (200, 1))
    assert agreement(cells(F), near_outputs(weights(same, 300), train))[0] == pytest.approx(0, abs=1e-12)
    mixed = lists(rng, 200, 300, 10)
    assert abs(agreement(cells(F), near_outputs(weights(mixed, 300), train))[0]) < 0.05
    assert agreement(cells(np.ones((200, 3))), near_outputs(weights(mixed, 300), np.ones((300, 3))))[0] == 0


def test_agreement_of_0_and_1_is_cohens_kappa_and_does_not_depend_on_the_coding():
    rng = np.random.default_rng(2)
    y, train, chosen = rng.random(40) < 0.4, rng.random(60) < 0.4, lists(rng, 40, 60, 10)
    near = weights(chosen, 60)
    kappa = cohen_kappa_score(np.repeat(y, 10), train[chosen].ravel())
    one = agreement(cells(y[:, None] * 1.0), near_outputs(near, train[:, None] * 1.0))[0]
    two = [np.column_stack([each, ~each]) / np.sqrt(2) for each in (y, train)]
    both = agreement(cells(two[0], owner=np.zeros(2, dtype=int)), near_outputs(near, two[1]))
    assert (one, both[0]) == pytest.approx((kappa, kappa), rel=1e-12) and both[1] == 1


def test_q2_r2_and_rank_correlation_of_known_cells():
    rng = np.random.default_rng(3)
    F = rng.normal(size=(30, 2))
    P, known = F + rng.normal(size=F.shape), rng.random(F.shape) < 0.8
    own = cells(np.where(known, F, 0), known=known)
    parts = [(F[known[:, j], j], P[known[:, j], j]) for j in range(2)]
    assert q2(own, P)[0] == pytest.approx(np.mean([1 - ((y - p) ** 2).sum() / (y**2).sum() for y, p in parts]))
    assert r2(own, P)[0] == pytest.approx(np.mean([r2_score(y, p) for y, p in parts]))
    ranks = [np.corrcoef(y.argsort().argsort(), p.argsort().argsort())[0, 1] for y, p in parts]
    assert spearman(own, P)[0] == pytest.approx(np.mean(ranks))
    assert np.isnan(q2_each(cells(np.zeros((5, 1))), np.ones((5, 1)))).all()


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    F, train, counts = rng.normal(size=(15, 3)), rng.normal(size=(25, 3)), rng.integers(0, 4, size=(2, 15))
    P, near = F + rng.normal(size=F.shape), near_outputs(weights(lists(rng, 15, 25, 5), 25), train)
    owner = np.array([0, 0, 1])
    for row, drawn in enumerate(counts):
        again = np.repeat(np.arange(15), drawn)
        for each, reading in ((q2_each, P), (agreement_each, near)):
            weighted = mean_over_outputs(each(cells(F, owner), reading, counts))[row]
            repeated = mean_over_outputs(each(cells(F[again], owner), reading[again]))
            assert weighted == pytest.approx(repeated, rel=1e-12)


def test_euclidean_neighbours_are_those_of_distances():
    rng = np.random.default_rng(5)
    Z, train = rng.normal(size=(9, 2)) + 3, rng.normal(size=(30, 2))
    found = neighbor_weights(Z, train, 4, metric="euclidean").toarray() > 0
    distance = ((Z[:, None] - train) ** 2).sum(axis=2)
    assert (found == (distance <= np.sort(distance, axis=1)[:, [3]])).all()
    among = new_neighbor_weights(Z, train, 2, metric="euclidean").toarray()
    assert (np.diag(among) == 0).all() and among.sum(axis=1) == pytest.approx(np.ones(9))


def test_measures_are_of_labels_or_of_numbers():
    assert measure_for(None, True).name == "Q2" and measure_for(None, False).name == "macro average precision"
    assert measure_of("A@5").n_neighbors == 5 and measure_of("new-new A@3").reads == "new neighbors"
    with pytest.raises(ValueError, match=r"Jaccard@10 needs labels; y holds numbers: use A@10\."):
        measure_for("Jaccard@10", True)
    with pytest.raises(ValueError, match=r"Q2 needs numbers; y holds labels: use macro average precision"):
        measure_for("Q2", False)

    def half_error(Y, P):
        return -float(np.nanmean(np.abs(Y - P))) / 2

    own = OutputCells(np.array([[1.0], [-1.0]]), np.zeros(1, dtype=int), np.array([10.0]), np.array([0.5]))
    assert measure_for(half_error, True).value(own, np.zeros((2, 1)))[0] == -1.0  # in units of y
