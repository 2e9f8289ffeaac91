"""The size of the entries of a matrix, the unit that is taken from it, and the lengths of its rows."""

import numpy as np
import pytest
from scipy import sparse

from designs import pairwise
from proxembed.algebra.arrays.matrix import (
    all_ones,
    centred_lengths,
    divide_rows,
    entry_bounds,
    float_matrix,
    largest_entry,
    row_blocks,
    row_norms,
    row_squares,
    short_indices,
    unit_of,
)

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


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_lengths_of_rows_are_those_of_each_row(make):
    rows, norms = make(X), np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(row_squares(rows), norms**2, rtol=1e-14)
    np.testing.assert_allclose(row_norms(rows), norms, rtol=1e-14)
    np.testing.assert_allclose(row_norms(rows * 1e-200), norms * 1e-200, rtol=1e-14)  # their squares underflow
    mean, lengths = centred_lengths(rows)
    np.testing.assert_allclose(mean, X.mean(axis=1), rtol=1e-13)
    np.testing.assert_allclose(lengths, np.linalg.norm(X - X.mean(axis=1, keepdims=True), axis=1), rtol=1e-13)
    assert centred_lengths(make(np.full((2, 3), 0.1)))[1].tolist() == [0.0, 0.0]
    halves = divide_rows(rows, np.full(len(X), 2.0))
    np.testing.assert_array_equal(halves.toarray() if sparse.issparse(halves) else halves, X / 2)


def test_floats_blocks_and_weights():
    assert float_matrix([[1, 2], [3, 4]]).dtype == np.float64
    assert [(part.start, part.stop) for part in row_blocks(5, 2**20)] == [(0, 2), (2, 4), (4, 5)]
    assert all_ones(None) and all_ones(np.ones(3)) and not all_ones(np.array([1.0, 2.0]))


def test_indices_become_short_where_they_reach():
    wide = sparse.csr_array((np.ones(1), np.zeros(1, np.int64), np.array([0, 1], np.int64)), shape=(1, 1))
    assert short_indices(wide).indices.dtype == np.int32 and short_indices(short_indices(wide)).nnz == 1
