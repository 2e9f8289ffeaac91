"""Counts and memberships as weights of labels: what is weighed is what is repeated."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from identities.test_numbers import assert_same_span, assert_same_up_to_sign
from proxembed import DMLDA, FDA, HSL, LFDA, MESD, MLDA, MMC, CopyLDA, Kernelized, RowBlocks, Scaled

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 5))
COUNTS = RNG.poisson(np.exp(0.6 * X[:, :3])).astype(float)
LAM = {"ridge": 0.7, "ridge_scale": "absolute"}
METHODS = [
    HSL(**LAM),
    HSL("star", **LAM),
    HSL("clique", self_loops=False, **LAM),
    MLDA(**LAM),
    DMLDA(**LAM),
    CopyLDA(**LAM),
]
METHODS += [MESD(FDA(**LAM)), MESD(MMC())]


def test_counts_are_repeated_copies():
    rows, labels = np.repeat(np.arange(60), 3), np.tile(np.arange(3), 60)
    times = COUNTS.ravel().astype(int)
    expected = FDA(**LAM).fit(X[np.repeat(rows, times)], np.repeat(labels, times))
    for method in (CopyLDA(**LAM), MESD(FDA(**LAM)), MESD(**LAM)):
        model = method.fit(X, COUNTS)
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)
        assert_same_span(model.components_.T, expected.components_.T, 1e-9)
        np.testing.assert_allclose(model.mean_, expected.mean_)


def test_the_hypergraph_of_counts_is_its_definition():
    """S = D^-1/2 Y W Y' D^-1/2, D its row sums, W = 1/column sums."""
    m, nk = COUNTS.sum(axis=1), COUNTS.sum(axis=0)
    half = np.divide(1.0, np.sqrt(m), out=np.zeros(60), where=m > 0)
    S = half[:, None] * (COUNTS / nk @ COUNTS.T) * half
    Xc = X - X.mean(axis=0)
    M = np.linalg.solve(Xc.T @ Xc + 0.7 * np.eye(5), Xc.T @ S @ Xc)
    found = HSL(**LAM).fit(X, COUNTS)
    np.testing.assert_allclose(found.eigenvalues_, np.sort(np.linalg.eigvals(M).real)[::-1][:3], rtol=1e-9)
    Q = COUNTS / np.maximum(m, 1.0)[:, None]  # MLDA: shares of the labels of a row
    q, s = Q.sum(axis=0), Q.sum(axis=1)
    mean = s @ X / s.sum()
    means = Q.T @ X / q[:, None] - mean
    total = (X - mean).T @ (s[:, None] * (X - mean))
    M = np.linalg.solve(total + 0.7 * np.eye(5), means.T @ (q[:, None] * means))
    found = MLDA(correlation=False, **LAM).fit(X, COUNTS)
    np.testing.assert_allclose(found.eigenvalues_, np.sort(np.linalg.eigvals(M).real)[::-1][:2], rtol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_forms_of_counts(method):
    Z = method.fit(X, COUNTS).transform(X)
    assert [output.kind for output in method.targets_] == ["real"] * 3
    for form in (sp.csr_array(COUNTS), pd.DataFrame(COUNTS.astype(int), columns=list("abc"))):
        assert_same_up_to_sign(method.fit(X, form).transform(X), Z)
    assert method.classes_.tolist() == list("abc") and method.label_loadings_.shape == (len(Z.T), 3)
    assert np.isfinite(method.label_loadings_).all()
    labels = (COUNTS > 0).astype(int)
    one = method.fit(X, labels).transform(X)
    assert_same_up_to_sign(
        type(method)(**{**method.get_params(deep=False), "target_type": "real"}).fit(X, labels).transform(X), one
    )


def test_memberships_amounts_and_what_is_neither():
    shares = COUNTS / (COUNTS.sum(axis=1, keepdims=True) + 1.0)
    soft = CopyLDA(target_type="labels", **LAM).fit(X, shares)
    assert_same_span(soft.components_.T, CopyLDA(**LAM).fit(X, shares).components_.T, 1e-9)
    amounts = 3.3 * COUNTS
    assert_same_span(  # the ridge grows with the amounts
        CopyLDA(target_type="real", ridge=0.1).fit(X, amounts).components_.T,
        CopyLDA(ridge=0.1).fit(X, COUNTS).components_.T,
        1e-9,
    )
    ways = "takes labels or counts, y holds .*: use OPLS, CCA or Sliced"
    for method in (HSL(), MLDA(), DMLDA(), CopyLDA(), MESD(), Scaled(MESD()), Kernelized(HSL())):
        for y in (amounts, COUNTS - 1.0, COUNTS[:, 0] + 0.5, np.column_stack([COUNTS[:, 0], 0.0 * COUNTS[:, 0]])):
            with pytest.raises(ValueError, match=ways):
                method.fit(X, y)
    for method in (MESD(LFDA()), MESD(weighting="mimj")):
        with pytest.raises(ValueError, match="MESD takes labels, y holds 3 numbers: use OPLS, CCA or Sliced"):
            method.fit(X, COUNTS)
    with pytest.raises(ValueError, match="CopyLDA takes labels or counts, y holds 3 numbers"):
        CopyLDA().fit(RowBlocks.from_arrays(X, COUNTS, block_rows=20))


def test_unknown_counts_are_at_their_mean():
    hidden = COUNTS.copy()
    hidden[3, 1] = np.nan
    filled = COUNTS.copy()
    filled[3, 1] = np.nanmean(hidden[:, 1])
    one, other = CopyLDA(**LAM).fit(X, hidden), CopyLDA(target_type="real", **LAM).fit(X, filled)
    assert_same_span(one.components_.T, other.components_.T, 1e-9)
    assert one.targets_[1].n_unknown == 1
