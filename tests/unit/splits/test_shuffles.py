"""Shuffles of labels: what stays together, and how many different ones there are."""

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from proxembed.splits.shuffles import LabelShuffle, time_periods
from proxembed.splits.splits import Split
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets


def column(*values):
    return LabelMatrix.of(np.array(values, dtype=float)[:, None])


def orders(shuffle, count=200):
    random = np.random.default_rng(0)
    return [shuffle.order(random) for _ in range(count)]


def autocorrelated(rng, shape, memory=0.95):
    """Columns of an autoregressive process."""
    return lfilter([1], [1, -memory], rng.normal(size=(200 + shape[0], shape[1])), axis=0)[200:]


def related(rng, kind):
    """Features and labels that are independent of each other while rows depend on each other."""
    if kind == "time":
        return autocorrelated(rng, (200, 5)), autocorrelated(rng, (200, 1)) > 0, {"times": np.arange(200.0)}
    sizes = np.full(20, 8) if kind != "unequal groups" else rng.integers(3, 14, size=20)
    groups = np.repeat(np.arange(20), sizes)
    X = rng.normal(size=(20, 5))[groups] + rng.normal(size=(len(groups), 5))
    y = (rng.random((20, 1)) < 0.5)[groups]
    return X, y ^ (rng.random(y.shape) < 0.2) if kind == "labels vary in groups" else y, {"groups": groups}


def level(kind, runs=200, **none):
    """The share of tests of independent features and labels, at 5 per cent, that find a relation."""
    found = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y, units = related(rng, kind)
        labels = LabelMatrix.of(y.astype(int))
        shuffle = LabelShuffle.of(labels, **(units if not none else {}))
        all_orders = [np.arange(len(X)), *(shuffle.order(rng) for _ in range(19))]
        drawn = np.array([y[order, 0] - y.mean() for order in all_orders])
        values = np.linalg.norm(drawn @ (X - X.mean(axis=0)), axis=1)
        found += (values >= values[0]).sum() <= 1
    return found / runs


@pytest.mark.parametrize("kind", ["groups", "unequal groups", "labels vary in groups", "time"])
def test_independent_labels_are_found_to_be_related_in_five_per_cent_only_by_the_unit_of_the_data(kind):
    assert level(kind) <= 0.095  # 0.05 and 2.9 standard errors
    assert level(kind, 80, rows=True) > 0.15


def test_rows_stay_inside_held_out_parts_and_unknown_rows_stay():
    labels = np.tile([0.0, 1.0], 6)
    labels[[2, 9]] = np.nan
    parts = [np.array([0, 1, 4, 5]), np.array([3, 6, 7]), np.array([8, 10, 11])]
    splits = [Split(str(i), np.setdiff1d(np.arange(12), part), part) for i, part in enumerate(parts)]
    shuffle = LabelShuffle.of(column(*labels), splits)
    order = shuffle.order(np.random.default_rng(0))
    for part in parts:
        assert set(order[part]) == set(part)
    assert order[2] == 2 and order[9] == 9 and (order != np.arange(12)).any()
    assert shuffle.distinct == math.comb(4, 2) * 3 * 3


def test_groups_of_equal_size_exchange_their_labels_and_rows_inside_are_shuffled_too():
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    shuffle = LabelShuffle.of(column(1, 1, 1, 0, 0, 0, 0, 1, 0), groups=groups)
    found = orders(shuffle)
    for order in found:
        assert sorted(order) == list(range(9))
        assert all(len(set(groups[order[groups == group]])) == 1 for group in range(3))
    donors = {tuple(groups[order[::3]]) for order in found}
    inside = {tuple(order[6:] % 3) for order in found}
    assert len(donors) == 6 and len(inside) == 6
    assert shuffle.unit == "groups" and shuffle.distinct == 6 * 3


def test_equal_groups_are_not_told_apart():
    labels = LabelMatrix.of(np.repeat([[1], [1], [0], [0], [0]], 4, axis=0))
    assert LabelShuffle.of(labels, groups=np.repeat(np.arange(5), 4)).distinct == 10


def test_a_donor_of_another_size_gives_its_rows_without_repeats_as_far_as_they_suffice():
    groups = np.array([0, 0, 1, 1, 1, 1, 1])
    for order in orders(LabelShuffle.of(column(1, 0, 1, 1, 0, 0, 0), groups=groups), 40):
        small, large = order[:2], order[2:]
        assert len(set(groups[small])) == len(set(groups[large])) == 1 and len(set(small)) == 2
        assert len(set(large)) == (2 if groups[large[0]] == 0 else 5)


def test_all_shifts_along_time_are_equally_likely_and_keep_neighbours():
    times = np.array([3.0, 1.0, 2.0, 0.0, 4.0])
    by_time = np.argsort(times)
    shuffle = LabelShuffle.of(column(0, 1, 0, 0, 1), times=times)
    starts = []
    for order in orders(shuffle, 1000):
        moved = np.argsort(by_time)[order[by_time]]
        assert (np.diff(moved) % 5 == 1).all()
        starts.append(moved[0])
    assert np.bincount(starts).min() > 150  # of 200 expected; the identity is one of them
    assert shuffle.distinct == 5


def test_with_times_groups_are_shifted_whole_in_the_order_of_their_mean_time():
    groups, times = np.array([7, 5, 5, 7, 6, 6, 6]), np.array([5, 0, 1, 6, 2, 3, 4.0])
    shuffle = LabelShuffle.of(column(1, 0, 1, 1, 0, 0, 1), times=times, groups=groups)
    found = {tuple(groups[order[[1, 4, 0]]]) for order in orders(shuffle)}
    assert found == {(5, 6, 7), (6, 7, 5), (7, 5, 6)}
    assert all((order[1], order[2]) == (0, 3) for order in orders(shuffle) if groups[order[1]] == 7)  # in order of time


def test_a_period_lessens_the_distinct_shifts():
    assert LabelShuffle.of(column(0, 1, 0, 1, 0, 1), times=np.arange(6)).distinct == 2


def test_unknown_cells_move_with_their_row():
    labels = LabelMatrix.of(np.array([[1, np.nan], [1, 0], [0, 1.0]]))
    assert LabelShuffle.of(labels).distinct == 6
    moved = labels.take(LabelShuffle.of(labels).order(np.random.default_rng(1)))
    assert moved.unknown.sum() == 1


def test_a_group_that_the_splits_part_is_refused():
    split = Split("1", np.array([0, 1]), np.array([2, 3]))
    with pytest.raises(ValueError, match="use GroupFolds"):
        LabelShuffle.of(column(0, 1, 0, 1), [split], groups=[0, 1, 1, 2])


def test_periods_of_time_are_longer_than_labels_stay_alike():
    rng, times = np.random.default_rng(0), np.random.default_rng(1).permutation(2000)
    slow = LabelMatrix.of((autocorrelated(rng, (2000, 3)) > 0).astype(int)[times])
    periods = time_periods(slow, times)
    assert 20 <= len(np.unique(periods)) <= 60  # labels stay alike for about 25 rows
    assert (np.diff(periods[np.argsort(times)]) >= 0).all() and np.bincount(periods).min() > 30
    assert time_periods(LabelMatrix.of(rng.integers(2, size=(2000, 3))), times) is None
    assert time_periods(LabelMatrix.of(np.ones((50, 1), dtype=int)), np.arange(50)) is None


def test_means_over_periods_have_the_variance_of_the_mean_of_all_rows():
    means, claimed = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = (autocorrelated(rng, (1000, 1)) > 0).astype(int)
        unit = time_periods(LabelMatrix.of(y), np.arange(1000))
        sums = np.bincount(unit, y[:, 0] - y.mean())
        means.append(y.mean())
        claimed.append((sums**2).sum() / 1000**2)
    assert 0.5 < np.mean(claimed) / np.var(means) < 1.2  # 0.04 by rows


def test_whole_rows_of_numbers_are_shuffled_as_labels_are():
    y = np.array([[0.5, np.nan, 1], [0.5, 2, 1], [0.5, 2, 1], [7.5, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    shuffle = LabelShuffle.of(read_targets(y))
    assert shuffle.distinct == 12 and all(order[4] == 4 for order in orders(shuffle))  # 4! / 2!, one row is unknown
    order = shuffle.order(np.random.default_rng(1))
    np.testing.assert_array_equal(np.asarray(read_targets(y).take(order)), y[order])
    grouped = LabelShuffle.of(read_targets(y[:4]), groups=[0, 0, 1, 1])
    assert {tuple(sorted(order[:2])) for order in orders(grouped)} == {(0, 1), (2, 3)}
    in_time = LabelShuffle.of(read_targets(y[:4]), times=np.array([3.0, 1, 2, 4]))
    assert {tuple(order) for order in orders(in_time)} == {(0, 1, 2, 3), (3, 2, 0, 1), (1, 0, 3, 2), (2, 3, 1, 0)}


def test_numbers_have_periods_of_time():
    slow = autocorrelated(np.random.default_rng(0), (2000, 3))
    periods = time_periods(read_targets(slow), np.arange(2000))
    assert 15 <= len(np.unique(periods)) <= 60
    assert time_periods(read_targets(np.random.default_rng(1).normal(size=2000)), np.arange(2000)) is None
