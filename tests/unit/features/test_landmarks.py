"""Landmarks: how many there are, and which rows."""

import numpy as np
import pytest

from proxembed.features.prototypes import landmark_count, landmark_rows


def test_how_many():
    assert landmark_count("LLE", None, 10**9, 10, 5) is None
    assert landmark_count("LLE", "auto", 10, 10, 5) is None
    assert landmark_count("LLE", "auto", 11, 10, 5) == 5
    assert landmark_count("LLE", 11, 11, 10, 5) == 11
    with pytest.raises(ValueError, match="LLE: n_landmarks=12 is not allowed with 11 rows.*n_landmarks <= 11, or None"):
        landmark_count("LLE", 12, 11, 10, 5)


def test_rows_are_distinct_and_follow_the_seed():
    X = np.repeat(np.random.default_rng(0).standard_normal((150, 3)), 2, axis=0)
    found = landmark_rows(X, 20, random_state=1)
    assert len(found) == 20 and np.all(np.diff(found) > 0) and np.all(found % 2 == 0)  # the first of equal rows
    np.testing.assert_array_equal(found, landmark_rows(X, 20, random_state=1))
    assert not np.array_equal(found, landmark_rows(X, 20, random_state=2))
    np.testing.assert_array_equal(landmark_rows(X, 300, random_state=1), np.arange(0, 300, 2))


def test_strata_take_part_in_proportion():
    X, groups = np.arange(400.0)[:, None], np.repeat([0, 1, 2], [350, 49, 1])
    found = landmark_rows(X, 10, y_groups=groups, random_state=0)
    assert len(found) == 10 and 399 in found  # the one row of its group
    assert np.count_nonzero(groups[found] == 0) == 8
