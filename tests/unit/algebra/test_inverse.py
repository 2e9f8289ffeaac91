"""(I - W)'(I - W) by its factor against the matrix itself."""

import numpy as np
import pytest
from scipy import sparse

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.operators import inverse
from proxembed.algebra.operators.inverse import SquaredResidual

RNG = np.random.default_rng(0)
W = sparse.csr_array(RNG.random((200, 200)) * (RNG.random((200, 200)) < 0.03))
W.data[: W.indptr[1]] = 0.0
X = RNG.standard_normal((200, 7)) * (RNG.random((200, 7)) < 0.4)


@pytest.fixture(params=[W, sparse.csr_array(W.multiply(np.arange(200)[:, None] % 3 > 0))], ids=["all", "empty_rows"])
def case(request):
    has = np.diff(request.param.indptr) > 0
    R = np.diag(has.astype(float)) - request.param.toarray()
    return SquaredResidual(request.param), R.T @ R


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32], ids=["dense", "sparse", "single"])
@pytest.mark.parametrize("mean", [None, np.arange(7.0)], ids=["as_is", "centred"])
def test_it_is_the_matrix(case, form, mean, monkeypatch):
    monkeypatch.setattr(inverse, "block_rows", lambda width: 8 * 64)  # four blocks
    operator, M = case
    V = X.astype(np.float32).astype(float) if form is np.float32 else X
    rows, Xc = CentredMatrix(form(X), mean), V if mean is None else V - mean
    np.testing.assert_allclose(operator.sandwich(rows), Xc.T @ M @ Xc, rtol=0, atol=1e-11 * np.abs(M).max() * 200)
    assert operator.trace_on(rows) == pytest.approx(np.trace(Xc.T @ M @ Xc), rel=1e-11)
    np.testing.assert_allclose(operator @ V, M @ V, rtol=0, atol=1e-12)
    np.testing.assert_allclose(operator.diagonal(), np.diag(M), rtol=1e-12, atol=1e-14)
    sandwich = operator.sandwich(rows)
    np.testing.assert_array_equal(sandwich, sandwich.T)
