"""Ten categories in three parts, as distances to the training documents."""

import numpy as np

from papers.mesd_mope.reuters_ten import largest_categories, reuters_ten
from proxembed.data import read


def test_the_three_parts_are_near_equal_in_every_category(folder, stage):
    data = read(folder / "reuters.npz")
    columns, rows = largest_categories(data)
    counts = np.asarray(data.Y.sum(axis=0)).ravel()
    assert len(columns) == 10 and counts[columns].min() >= np.delete(counts, columns).max()
    parts = stage.Y, stage.Y_validation, stage.Y_test
    assert sum(map(len, parts)) == len(rows) and np.ptp([len(part) for part in parts]) <= 2
    per_category = np.array([part.sum(axis=0) for part in parts])
    assert (per_category.sum(axis=0) == counts[columns]).all() and np.ptp(per_category, axis=0).max() <= 3


def test_relation_features_are_distances_of_unit_rows_to_the_training_rows(stage):
    n = len(stage.Y)
    assert stage.R.shape == (n, n) and stage.R_test.shape == (len(stage.Y_test), n)
    assert np.diagonal(stage.R).max() == 0 and np.allclose(stage.R, stage.R.T)
    assert 0 < stage.R_test.min() and stage.R_test.max() <= np.sqrt(2) + 1e-12


def test_other_seeds_make_other_parts_and_equal_ones_the_same(folder, stage):
    again, other = reuters_ten(folder, seed=0), reuters_ten(folder, seed=1)
    assert np.array_equal(again.R_test, stage.R_test) and not np.array_equal(other.Y, stage.Y)


def test_a_smaller_share_of_labels_is_a_part_of_a_larger_one(stage):
    few, many = stage.with_labels(0.4, 0), stage.with_labels(0.8, 0)
    assert set(few.labelled) < set(many.labelled) and len(few.labelled) == round(0.4 * len(stage.Y))


def test_on_the_real_data_the_categories_are_the_ten_that_are_named(data_folder):
    with np.load(data_folder / "reuters.npz", allow_pickle=False) as held:
        named, rows = held["r10_label_idx"], held["r10_idx"]
    found = largest_categories(read(data_folder / "reuters.npz"))
    assert set(found[0]) == set(named) and np.array_equal(found[1], np.sort(rows))
