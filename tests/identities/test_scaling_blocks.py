"""Scaling of rows in blocks: the statistics of all rows, however they are cut and wherever they are."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

import strategies
from proxembed import OPLS, RowBlocks, Scaling
from proxembed.features.scaling import ColumnSums

N, D = 400, 6
rng = np.random.default_rng(2)
Y = strategies.labels_multi(N, 3, 2)
X = strategies.told_by_labels(strategies.features_dense(N, D, 2), Y, 2) * 10.0 ** np.arange(-2, 4) + 1e4
X[:, 3] = 7.0
X[:250, 5] = 0.0  # constant in the first blocks
SPARSE = sparse.csr_array(np.where(rng.random((N, D)) < 0.3, rng.integers(1, 9, (N, D)), 0).astype(float))


@pytest.mark.parametrize("kind", ["standard", "center"])
@pytest.mark.parametrize("block_rows", [1, 7, 123, N])
def test_statistics_are_those_of_all_rows(kind, block_rows):
    for rows in (X, X.astype(np.float32)) + ((SPARSE,) if kind == "standard" else ()):
        found = Scaling(kind).fit(RowBlocks.from_arrays(rows, Y, block_rows=block_rows)).state_
        whole = Scaling(kind).fit(rows).state_
        for one, other in ((found.mean, whole.mean), (found.std, whole.std)):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-9)
    assert found.kind == kind and found.n_features == D


def test_sums_far_from_zero_lose_no_digits():
    far = 1e8 + rng.normal(size=(3000, 2))
    parts = [ColumnSums.of(part) for part in np.array_split(far, 17)]
    joint = parts[0]
    for part in parts[1:]:
        joint = joint.merged(part)
    exact = (far - 1e8).std(axis=0, ddof=1)
    np.testing.assert_allclose(joint.moments()[1], exact, rtol=1e-7)
    np.testing.assert_allclose(joint.mean - 1e8, (far - 1e8).mean(axis=0), atol=1e-7)


@pytest.mark.default_configuration
def test_a_pipeline_on_blocks_is_that_of_all_rows():
    model, whole = make_pipeline(Scaling("standard"), OPLS()), make_pipeline(Scaling("standard"), OPLS())
    whole.fit(X, Y)
    for rows in (RowBlocks.from_arrays(X, Y, block_rows=90), RowBlocks.from_dask(da.from_array(X, chunks=(110, D)), Y)):
        model.fit(rows)
        np.testing.assert_allclose(model[-1].eigenvalues_, whole[-1].eigenvalues_, rtol=1e-8)
        Z = np.vstack([part for part, _ in model.transform(rows)])
        np.testing.assert_allclose(np.abs(Z), np.abs(whole.transform(X)), rtol=1e-6, atol=1e-8)


@pytest.mark.default_configuration
def test_frames_of_dask_give_frames():
    from dask import dataframe

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    scaled = Scaling().fit(dataframe.from_pandas(frame, npartitions=3))
    assert list(scaled.feature_names_in_) == list(frame.columns)
    later = scaled.transform(dataframe.from_pandas(frame, npartitions=3))
    np.testing.assert_allclose(later.compute().to_numpy(), Scaling().fit(frame).transform(frame), rtol=1e-9, atol=1e-9)


def test_what_blocks_cannot_have_is_refused():
    rows = RowBlocks.from_arrays(X, block_rows=90)
    with pytest.raises(
        ValueError, match=r"kind='quantile' is not allowed for blocks of rows; 'center' and 'standard' are"
    ):
        Scaling("quantile").fit(rows)
    with pytest.raises(ValueError, match="X has no rows"):
        Scaling().fit(RowBlocks([]))
    with pytest.raises(ValueError, match="features"):
        Scaling().fit(RowBlocks([X, X[:, :2]]))
