"""Rows that are read for every product."""

import numpy as np
import pytest
from scipy import sparse

from proxembed.algebra.arrays.stream import RowStream, gram_product

X = np.random.default_rng(0).normal(size=(30, 6)) + 3.0


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_the_gram_matrix(stored, centred, dtype):
    mean = X.mean(axis=0) if centred else None
    Xc = X - mean if centred else X
    readings = []

    def product(V, level):
        readings.append(1)
        return gram_product((stored(part) for part in (X[:1], X[1:20], X[20:])), V, level)

    rows = RowStream(product, 30, mean, np.sum(Xc**2, axis=0), Xc.sum(axis=0), [])
    V = np.random.default_rng(1).normal(size=(6, 3)).astype(dtype)
    found = rows.normal_dot(V)
    assert found.dtype == dtype and rows.shape == (6, 6) and rows.count == 30 and len(readings) == 1
    np.testing.assert_allclose(found, Xc.T @ Xc @ V, rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert rows.squared_norm() == pytest.approx(np.sum(Xc**2))
