"""Folds and splits: partitions, balanced labels, whole groups, the order of time, unknown rows, seeds, refusals."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from proxembed.splits.splits import (
    Splitting,
    group_folds,
    holdout_split,
    make_splits,
    standard_split,
    stratified_folds,
    time_cuts,
    time_folds,
)
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets

N = 203


@pytest.fixture
def Y():
    return np.random.default_rng(0).random((N, 5)) < [0.5, 0.3, 0.1, 0.05, 0.0]


def data(Y, groups=None, times=None, unknown_rows=()):
    unknown = None
    if len(unknown_rows):
        unknown = np.zeros(Y.shape, dtype=bool)
        unknown[unknown_rows] = True
        Y = Y & ~unknown
        unknown = sp.csc_array(unknown)
    targets = LabelMatrix(sp.csc_array(Y.astype(np.uint8)), np.arange(Y.shape[1]), "indicator", unknown)
    return SimpleNamespace(name="made", Y=targets.Y, targets=targets, groups=groups, times=times)


def numbers(y, groups=None):
    return SimpleNamespace(name="made", targets=read_targets(y), groups=groups, times=None)


def spread(splits, F):
    """The standard deviation of the means of the held-out rows, over splits, of standardised columns."""
    return np.std([np.nanmean(F[split.held_out], axis=0) for split in splits], axis=0).mean()


@pytest.fixture
def groups():
    rng = np.random.default_rng(1)
    return rng.permutation(np.concatenate([np.arange(30), rng.integers(0, 30, N - 30)]))


@pytest.fixture
def times():
    return np.random.default_rng(2).integers(0, 40, N).astype(float)


def assert_partition(splits, rows):
    np.testing.assert_array_equal(np.sort(np.concatenate([split.held_out for split in splits])), rows)
    for split in splits:
        assert np.intersect1d(split.train, split.held_out).size == 0
        assert len(split.train) and len(split.held_out)


def test_folds_partition_the_rows_and_balance_every_label(Y):
    folds = stratified_folds(sp.csc_array(Y.astype(np.uint8)), 5)
    assert [fold.name for fold in folds] == ["1", "2", "3", "4", "5"]
    assert_partition(folds, np.arange(N))
    for fold in folds:
        np.testing.assert_array_equal(np.sort(np.r_[fold.train, fold.held_out]), np.arange(N))
        assert np.abs(Y[fold.held_out].sum(axis=0) - Y.sum(axis=0) / 5).max() <= 2
        assert abs((~Y[fold.held_out].any(axis=1)).sum() - (~Y.any(axis=1)).sum() / 5) <= 2


def test_the_seed_decides(Y, groups):
    first, again, other = (stratified_folds(Y, 3, seed=seed)[0].held_out for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    for kind, codes in (("stratified", None), ("groups", groups)):
        first, again, other = (
            make_splits(data(Y, codes), Splitting(kind, 3, seed=seed))[0].held_out for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)


def test_only_the_given_rows_are_split_and_one_label_works(Y):
    rows = np.arange(3, 103, 2)
    assert_partition(stratified_folds(Y[:, :1], 2, rows=rows), rows)
    splits = make_splits(data(Y), Splitting(n_folds=2), rows=rows)
    assert_partition(splits, rows)
    assert all(np.isin(split.train, rows).all() for split in splits)


@pytest.mark.parametrize("n_folds", [1, 0, 204])
def test_impossible_numbers_of_folds_are_refused(Y, n_folds):
    with pytest.raises(ValueError, match=f"n_folds={n_folds}"):
        stratified_folds(Y, n_folds)


@pytest.mark.parametrize("n_folds", [2, 5])
def test_groups_are_never_on_both_sides(Y, groups, n_folds):
    for splitting in (Splitting("groups", n_folds), Splitting(n_folds=n_folds)):
        splits = make_splits(data(Y, groups), splitting)
        assert_partition(splits, np.arange(N))
        for split in splits:
            assert np.intersect1d(groups[split.train], groups[split.held_out]).size == 0
            assert len(split.train) + len(split.held_out) == N


def test_group_folds_balance_rows_and_labels_better_than_groups_dealt_out_at_random(Y, groups):
    def imbalance(folds):
        """The quantity that group_sides makes small: squared distance of every label's shares from a fifth."""
        share = np.array([np.r_[len(fold), Y[fold].sum(axis=0)] for fold in folds]) / np.r_[N, Y.sum(axis=0)].clip(1)
        return float(np.mean((share[:, :5] - 1 / 5) ** 2))

    rng = np.random.default_rng(0)
    sides = [rng.permutation(np.arange(30) % 5)[groups] for _ in range(20)]
    chance = [imbalance([np.flatnonzero(side == f) for f in range(5)]) for side in sides]
    assert imbalance([fold.held_out for fold in group_folds(Y, groups, 5)]) < min(chance)


def test_groups_may_be_names_and_all_of_one_size():
    names = np.repeat(["ann", "bob", "eve", "joe"], 3)
    splits = make_splits(data(np.ones((12, 1), dtype=bool), names), Splitting("groups", 4))
    assert sorted(names[split.held_out[0]] for split in splits) == ["ann", "bob", "eve", "joe"]
    assert all(len(split.held_out) == 3 for split in splits)


@pytest.mark.parametrize("n_folds", [2, 5, 39])
def test_training_rows_are_earlier_than_every_held_out_row(Y, times, n_folds):
    splits = make_splits(data(Y, times=times), Splitting("time", n_folds))
    assert [split.name for split in splits] == [str(f + 1) for f in range(n_folds)]
    for split in splits:
        assert times[split.train].max() < times[split.held_out].min()
        np.testing.assert_array_equal(split.train, np.flatnonzero(times < times[split.held_out].min()))
    first = splits[0].train
    np.testing.assert_array_equal(np.sort(np.concatenate([first, *(split.held_out for split in splits)])), np.arange(N))


def test_time_parts_are_about_even(times):
    splits = time_folds(times, 4)
    sizes = np.array([len(splits[0].train), *(len(split.held_out) for split in splits)])
    assert np.abs(sizes - N / 5).max() <= np.unique(times, return_counts=True)[1].max()


def test_cuts_never_part_rows_of_one_time():
    assert time_cuts([0, 0, 0, 0, 0, 1], [0.2]).tolist() == [1.0]
    assert time_cuts([5, 5, 6, 7, 7, 7], [1 / 3, 2 / 3]).tolist() == [6.0, 7.0]


def test_groups_stay_whole_in_the_order_of_time(Y, times):
    groups = (np.arange(N) * 7) % 90
    for split in make_splits(data(Y, groups, times), Splitting("time", 3)):
        assert times[split.train].max() < times[split.held_out].min()
        assert np.intersect1d(groups[split.train], groups[split.held_out]).size == 0


def test_auto_follows_the_data_set(Y, groups, times):
    def same(one, other):
        return all(np.array_equal(a.held_out, b.held_out) for a, b in zip(one, other, strict=True))

    assert same(make_splits(data(Y)), make_splits(data(Y), Splitting("stratified")))
    assert same(make_splits(data(Y, groups)), make_splits(data(Y, groups), Splitting("groups")))
    both = data(Y, (np.arange(N) * 7) % 90, times)
    assert same(make_splits(both), make_splits(both, Splitting("time")))


@pytest.mark.parametrize("kind", ["stratified", "groups", "time"])
def test_rows_with_unknown_labels_are_never_held_out_and_train_wherever_they_do_not_leak(Y, groups, times, kind):
    unknown = np.arange(0, N, 4)
    made = data(Y, groups if kind == "groups" else None, times if kind == "time" else None, unknown)
    splits = [*make_splits(made, Splitting(kind, 4)), holdout_split(made)]
    for split in splits:
        assert np.intersect1d(split.held_out, unknown).size == 0
        if kind == "stratified":
            wanted = unknown
        elif kind == "groups":
            wanted = unknown[~np.isin(groups[unknown], groups[split.held_out])]
        else:
            wanted = unknown[times[unknown] < times[split.held_out].min()]
        assert len(wanted)
        np.testing.assert_array_equal(np.intersect1d(split.train, unknown), wanted)


def test_repeats_have_names_and_seeds_of_their_own(Y):
    splits = make_splits(data(Y), Splitting(n_folds=2, n_repeats=3))
    assert [split.name for split in splits] == ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"]
    for repeat in range(3):
        assert_partition(splits[2 * repeat : 2 * repeat + 2], np.arange(N))
    assert not np.array_equal(splits[0].held_out, splits[2].held_out)


def test_splits_of_some_rows_know_only_these(Y, groups):
    for outer in make_splits(data(Y, groups), Splitting(n_folds=3)):
        inner = make_splits(data(Y, groups), Splitting(n_folds=2), outer.train)
        assert_partition(inner, outer.train)
        assert all(np.isin(split.train, outer.train).all() for split in inner)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.6])
def test_one_part_is_held_out(Y, groups, times, share):
    whole = [holdout_split(data(Y), share), holdout_split(data(Y, groups), share)]
    for split in [*whole, holdout_split(data(Y, times=times), share)]:
        assert split.name == "test"
        np.testing.assert_array_equal(np.sort(np.r_[split.train, split.held_out]), np.arange(N))
        assert abs(len(split.held_out) / N - share) < 0.03
    assert np.abs(Y[whole[0].held_out].mean(axis=0) - Y.mean(axis=0)).max() < 0.03
    assert np.intersect1d(groups[whole[1].train], groups[whole[1].held_out]).size == 0


def test_two_groups_of_any_size_are_parted():
    for groups in (np.r_[np.zeros(50), 1.0], np.r_[0.0, np.ones(50)]):
        split = holdout_split(data(np.ones((51, 1), dtype=bool), groups))
        assert len(split.held_out) and len(split.train)


def test_standard_split_is_the_data_sets_own_or_an_error():
    own = SimpleNamespace(name="scene", train_idx=np.array([0, 1]), test_idx=np.array([2]))
    assert standard_split(own).name == "test" and standard_split(own).held_out.tolist() == [2]
    with pytest.raises(ValueError, match="scene has no standard split"):
        standard_split(SimpleNamespace(name="scene", train_idx=None, test_idx=None))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "random"}, "kind='random' is unknown; use one of 'auto'"),
        ({"n_folds": 1}, "n_folds=1 must be"),
        ({"n_folds": 2.5}, "n_folds=2.5 must be"),
        ({"n_repeats": 0}, "n_repeats=0 must be"),
        ({"seed": -1}, "seed=-1 must be"),
    ],
)
def test_bad_splittings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Splitting(**options)


def test_what_would_leak_or_cannot_be_done_is_refused_with_a_remedy(Y, groups, times):
    cases = [
        (data(Y, groups), Splitting("stratified"), "a group of made on both sides; use 'groups' or 'auto'"),
        (data(Y), Splitting("groups"), "kind='groups' needs groups, which made does not have"),
        (data(Y), Splitting("time"), "kind='time' needs times, which made does not have"),
        (data(Y, times=times), Splitting("time", n_repeats=2), "n_repeats=2 is not possible in the order of time"),
        (data(Y, np.arange(N)), Splitting(), "groups of made holds one row a group"),
        (data(Y, np.arange(N) % 3), Splitting(), r"n_folds=5 must be from 2 to the number of groups \(3\)"),
        (data(Y, times=np.arange(N) % 5.0), Splitting(), "5 distinct times, too few for 6 parts"),
        (data(Y, times=np.where(np.arange(N) == 7, np.nan, times)), Splitting(), "times holds nan"),
        (data(Y, np.arange(N) % 2, times), Splitting(), "no training row: every group of the earlier rows"),
        (data(Y, unknown_rows=np.arange(N)), Splitting(), "made has 0 rows that can be scored"),
    ]
    for made, splitting, message in cases:
        with pytest.raises(ValueError, match=message):
            make_splits(made, splitting)
    with pytest.raises(ValueError, match="share=1 must be above 0 and below 1"):
        holdout_split(data(Y), 1)
    with pytest.raises(ValueError, match="1 group; holding out whole groups needs at least 2"):
        holdout_split(data(Y, np.zeros(N)))


def test_one_column_of_numbers_is_dealt_out_along_its_order():
    """Of 6 neighbours each of 6 folds has one; a held-out part of 50 rows has one of any 4 or 5 neighbours."""
    y = np.random.default_rng(0).gamma(1.0, size=210)
    rank = np.argsort(np.argsort(y))
    for fold in make_splits(numbers(y), Splitting(n_folds=6)):
        assert sorted(rank[fold.held_out] // 6) == list(range(35))
        assert len(fold.train) == 175
    test = holdout_split(numbers(y), 50 / 210)
    assert len(test.held_out) == 50 and np.diff(np.sort(rank[test.held_out])).max() < 2 * 210 / 50
    ties = read_targets(np.where(np.arange(90) % 3, 0.5, 0.25))
    shares = [np.mean(ties.raw[fold.held_out] == 0.25) for fold in stratified_folds(ties, 3)]
    np.testing.assert_allclose(shares, 1 / 3, atol=0.05)


def test_folds_of_numbers_are_more_alike_than_random_ones():
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 3))
    Y[rng.random(Y.shape) < 0.1] = np.nan
    Y[:3] = np.nan
    F = (Y - np.nanmean(Y, axis=0)) / np.nanstd(Y, axis=0)
    for columns, rounds in (([0], 3), ([0, 1, 2], 3)):
        given = numbers(Y[:, columns])
        found = [make_splits(given, Splitting(seed=seed)) for seed in range(rounds)]
        held_out = np.sort(np.concatenate([split.held_out for split in found[0]]))
        np.testing.assert_array_equal(held_out, np.flatnonzero(np.isfinite(Y[:, columns]).any(axis=1)))
        chance = []
        for seed in range(rounds):
            parts = np.array_split(np.random.default_rng(seed).permutation(held_out), 5)
            chance.append(np.std([np.nanmean(F[part][:, columns], axis=0) for part in parts], axis=0).mean())
        assert np.mean([spread(splits, F[:, columns]) for splits in found]) < 0.7 * np.mean(chance)


def test_groups_of_numbers_stay_whole_and_share_their_fifths():
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 40, 300)
    y = rng.normal(size=40)[groups] + 0.3 * rng.normal(size=300)
    splits = make_splits(numbers(y, groups), Splitting(n_folds=4))
    for split in splits:
        assert np.intersect1d(groups[split.train], groups[split.held_out]).size == 0
    sides = [rng.permutation(40) % 4 for _ in range(5)]
    chance = [np.std([y[side[groups] == part].mean() for part in range(4)]) for side in sides]
    assert spread(splits, y[:, None]) < 0.7 * np.mean(chance)
    test = holdout_split(numbers(y, groups), 0.3)
    assert np.intersect1d(groups[test.train], groups[test.held_out]).size == 0
    assert abs(len(test.held_out) - 90) < 15


def test_fifths_share_equal_values_and_leave_unknown_ones_out():
    table = pd.DataFrame({"a": [0.0, 0, 0, 0, 5, 7.5, 9, 9, np.nan, 1], "kind": list("uvuvuvuvuw")})
    labels = read_targets(table).fold_labels(np.arange(10)).toarray()
    assert labels[:, :5].sum(axis=0).tolist() == [0, 4, 1, 2, 2]
    assert not labels[8, :5].any() and (labels[:4, :5] == labels[0, :5]).all() and (labels[6] == labels[7])[:5].all()
    np.testing.assert_array_equal(labels[:, 5:].argmax(axis=1), [0, 1, 0, 1, 0, 1, 0, 1, 0, 2])
