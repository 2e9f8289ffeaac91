"""The size of the entries of a matrix: bounds by the sum of squares, and the unit that is taken from it."""

import numpy as np
import pytest
from scipy import sparse

from designs import pairwise
from proxembed.algebra.arrays.matrix import entry_bounds, largest_entry, unit_of

X = np.random.default_rng(0).standard_normal((70, 5))
X[X < -1.0] = 0.0


@pairwise
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "make",
    [np.asarray, np.asfortranarray, lambda A: A[::2, 1:], sparse.csr_array],
    ids=["rows", "columns", "part", "csr"],
)
@pytest.mark.parametrize("size", [1.0, 1e-6, 1e9])
def test_bounds_hold_the_largest_entry(make, dtype, size):
    rows = make((size * X).astype(dtype))
    low, high = entry_bounds(rows)
    assert 0 < low <= largest_entry(rows) <= high * (1 + 1e-6) < 30 * low


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf, 1e200])
def test_no_bounds_where_the_squares_are_not_finite(entry):
    rows = X.copy()
    rows[3, 2] = entry
    assert entry_bounds(rows) == (0.0, np.inf)
    assert (
        entry_bounds(1e-170 * X) == entry_bounds(np.zeros((3, 2))) == entry_bounds(np.eye(2, dtype=int)) == (0, np.inf)
    )


@pytest.mark.parametrize("power", [-900, -210, -198, -100, 0, 100, 198, 210, 900])
def test_the_unit_is_one_unless_entries_are_extreme(power):
    unit = unit_of(X * 2.0**power)
    assert (unit == 1.0) == (abs(power) < 200)
    assert 2.0**-102 < largest_entry(X * 2.0**power) / unit < 2.0**102 or unit == 1.0
