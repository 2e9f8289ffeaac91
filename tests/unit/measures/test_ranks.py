"""Precision at positive rows for many labels: against the definition, cell by cell."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.measures.ranks import FEW, Positives, label_precisions, precision_at


def by_definition(y, s):
    """Precision at each positive row, by looking at every other row."""
    return np.array([y[s >= s[i]].mean() for i in np.flatnonzero(y)])


@pytest.fixture
def labels():
    rng = np.random.default_rng(0)
    return rng.random((150, 40)) < np.r_[np.zeros(3), np.full(17, 0.02), np.linspace(0.05, 0.9, 19), 1.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_at_positive_rows_is_that_of_the_definition(labels, dtype, monkeypatch):
    S = np.round(np.random.default_rng(1).normal(size=labels.shape), 1).astype(dtype)  # many are equal
    positives = Positives.of(labels)
    assert all(map(np.array_equal, positives, Positives.of(np.asfortranarray(labels))))
    assert positives.counts.min() == 0 and 0 < np.median(positives.counts) < FEW < positives.counts.max()
    monkeypatch.setattr("proxembed.measures.ranks.SORTED", 7 * len(S))
    found, means = precision_at(positives, S), label_precisions(labels, S)
    np.testing.assert_array_equal(precision_at(positives, np.asfortranarray(S)), found)
    for j in range(labels.shape[1]):
        wanted = by_definition(labels[:, j], S[:, j])
        np.testing.assert_allclose(found[positives.labels == j], wanted, rtol=1e-14)
        np.testing.assert_allclose(means[j], wanted.mean() if len(wanted) else np.nan, rtol=1e-13)


def test_sparse_scores_rank_as_the_same_scores_stored_in_full(labels):
    rng = np.random.default_rng(2)
    S = np.where(rng.random(labels.shape) < 0.3, rng.integers(1, 5, labels.shape) / 10, 0.0)
    S[:, 5] = 0.0
    stored = sp.csr_array(S)
    np.testing.assert_allclose(label_precisions(labels, stored), label_precisions(labels, S), rtol=1e-13)
    assert stored.nnz == np.count_nonzero(S)
    none = sp.csr_array(labels.shape)
    shares = labels.mean(axis=0)
    np.testing.assert_allclose(label_precisions(labels, none), np.where(shares > 0, shares, np.nan), rtol=1e-13)


def test_sparse_scores_below_0_are_refused(labels):
    with pytest.raises(ValueError, match="at least 0"):
        label_precisions(labels, sp.csr_array(-labels.astype(float)))
