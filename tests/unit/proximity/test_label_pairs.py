"""Pairs of rows that share a label: each once, never n x n."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from proxembed.labels import LabelMatrix
from proxembed.proximity.label_pairs import shared_label_pairs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("step", [1, 7, 30])
def test_pairs_are_those_that_share_a_label(seed, step):
    rng = np.random.default_rng(seed)
    Y = (rng.random((30, 5)) < 0.3).astype(int)
    Y[4] = 0
    labels = LabelMatrix.of(Y)
    found = [shared_label_pairs(labels, slice(start, start + step)) for start in range(0, 30, step)]
    i, j = (np.concatenate(part) for part in zip(*found, strict=True))
    shares = Y @ Y.T > 0
    np.fill_diagonal(shares, False)
    assert list(zip(i, j, strict=True)) == list(map(tuple, np.argwhere(shares)))


def test_a_block_of_many_rows_stays_a_block():
    """20,000 rows of 2,000 labels: all pairs would be 3.2 GB, the block's are a few."""
    n, c = 20_000, 2_000
    Y = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % c)), shape=(n, c))
    labels = LabelMatrix.of(Y)
    tracemalloc.start()
    i, j = shared_label_pairs(labels, slice(0, 100))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(i) == 100 * 9 and np.all(i % c == j % c) and np.all(i != j)
    assert peak < 5_000_000
