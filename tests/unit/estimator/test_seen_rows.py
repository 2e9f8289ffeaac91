"""SeenRows: identical rows are found, by their values and not by how they are stored; no other row is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import strategies
from proxembed.estimator.rows import SeenRows


def rows() -> np.ndarray:
    X = strategies.features_text(40, 12, 0).toarray()
    X[5] = 0.0
    return X


@pytest.mark.parametrize("seen", [np.asarray, sparse.csr_array], ids=["seen dense", "seen csr"])
@pytest.mark.parametrize("asked", [np.asarray, sparse.csr_array], ids=["asked dense", "asked csr"])
def test_every_row_finds_itself_dense_or_sparse(seen, asked):
    X = rows()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(SeenRows(seen(X)).find(asked(X[order])), order)


def test_the_first_of_equal_rows_stands_for_all():
    X = strategies.features_duplicate_rows(30, 5, 2)
    found = SeenRows(X).find(X)
    np.testing.assert_array_equal(found, np.concatenate([np.arange(20), np.arange(10)]))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_nearly_equal_rows_are_not_found(make):
    X = strategies.features_dense(30, 5, 3)
    seen = SeenRows(X)
    for column in range(5):
        for direction in (np.inf, -np.inf):
            near = X.copy()
            near[:, column] = np.nextafter(near[:, column], direction)
            np.testing.assert_array_equal(seen.find(make(near)), -1)


def test_a_permuted_or_negated_row_is_another_row():
    X = strategies.features_dense(30, 5, 4)
    seen = SeenRows(X)
    for other in (X[:, ::-1].copy(), -X, 2.0 * X, X[:, [1, 0, 2, 3, 4]]):
        np.testing.assert_array_equal(seen.find(other), -1)


def test_negative_zero_equals_zero():
    X = rows()
    other = np.where(X == 0, -0.0, X)
    assert np.signbit(other).any()
    np.testing.assert_array_equal(SeenRows(X).find(other), np.arange(len(X)))
    np.testing.assert_array_equal(SeenRows(other).find(X), np.arange(len(X)))


def test_stored_zeros_and_unsorted_columns_change_nothing():
    X = sparse.csr_array(rows())
    explicit = X.copy()
    explicit.data[::3] = 0.0
    dense = explicit.toarray()
    assert (explicit.data == 0).any()
    np.testing.assert_array_equal(SeenRows(dense).find(explicit), SeenRows(dense).find(dense))
    backwards = sparse.csr_array(
        (
            np.concatenate([X.data[i:j][::-1] for i, j in zip(X.indptr, X.indptr[1:], strict=False)]),
            np.concatenate([X.indices[i:j][::-1] for i, j in zip(X.indptr, X.indptr[1:], strict=False)]),
            X.indptr,
        ),
        shape=X.shape,
    )
    np.testing.assert_array_equal(SeenRows(X).find(backwards), np.arange(40))


def test_float32_rows_equal_their_float64_values():
    X = rows().astype(np.float32)
    np.testing.assert_array_equal(SeenRows(X).find(X.astype(np.float64)), np.arange(len(X)))
    np.testing.assert_array_equal(SeenRows(rows()).find(X)[:3], -1)  # rounding made them other rows


@pytest.mark.parametrize("value", [1.0, 2.0, 3.0, -1.0, 0.5, 2.0**-29], ids=lambda v: f"{v:g}")
def test_distinct_rows_of_few_values_are_told_apart(value):
    """Rows of 0 and one other value: their bit patterns are mostly zero, and a fingerprint must not lose the rest."""
    codes = np.random.default_rng(0).choice(2**30, 150_000, replace=False)
    X = ((codes[:, None] >> np.arange(30)) & 1) * value
    np.testing.assert_array_equal(SeenRows(X).find(X), np.arange(len(X)))


def test_seen_and_new_rows_are_told_apart_in_one_call():
    X, new = strategies.features_dense(20, 4, 5), strategies.features_dense(20, 4, 6)
    found = SeenRows(X).find(np.vstack([new[:7], X[3:5], new[7:]]))
    np.testing.assert_array_equal(found[7:9], [3, 4])
    assert (np.delete(found, [7, 8]) == -1).all()
    assert SeenRows(X).find(X[:0]).shape == (0,)
