"""k-means prototypes of rows in blocks: a sample's centroids, moved once to the means of all rows nearest to each."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

import strategies
from invariants.cases import assert_same_gram
from proxembed import OPLS, Kernelized, RelationFeatures, RowBlocks
from proxembed.methods import relation

N, D, K = 3000, 5, 12
rng = np.random.default_rng(4)
CENTRES = 6 * rng.normal(size=(K, D))
X = CENTRES[rng.integers(K, size=N)] + rng.normal(size=(N, D)) + 100
Y = strategies.labels_multi(N, 3, 4)


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(relation, "SAMPLE_ROWS", 400)


def relate(**others):
    return RelationFeatures("gaussian", prototypes="kmeans", n_prototypes=K, random_state=0, **others)


def inertia(centroids, rows=X) -> float:
    return float(np.min(((rows[:, None] - centroids) ** 2).sum(axis=2), axis=1).sum())


def of_sample(blocks):
    rows, _ = blocks.sample(400)
    return relate().fit(rows).prototypes_


def test_one_step_of_k_means_by_hand():
    blocks = RowBlocks.from_arrays(X, block_rows=170)
    start = of_sample(blocks)
    near = np.argmin(((X[:, None] - start) ** 2).sum(axis=2), axis=1)
    expected = np.array([X[near == k].mean(axis=0) for k in range(K)])
    np.testing.assert_allclose(relate().fit(blocks).prototypes_, expected, rtol=1e-10)
    assert np.abs(expected - start).max() > 0.01, "the sample's centroids are others"


def test_inertia_is_below_that_of_the_sample_and_near_that_of_all_rows():
    blocks = RowBlocks.from_arrays(X, block_rows=500)
    found = inertia(relate().fit(blocks).prototypes_)
    best = KMeans(K, n_init=5, random_state=0).fit(X).inertia_
    assert found < inertia(of_sample(blocks)) and found < 1.03 * best


def test_neither_cuts_nor_processes_nor_the_form_of_the_rows_matter():
    expected = relate().fit(RowBlocks.from_arrays(X, block_rows=170)).prototypes_
    again = relate().fit(RowBlocks.from_arrays(X, block_rows=170)).prototypes_
    np.testing.assert_array_equal(again, expected)
    others = RowBlocks.from_arrays(X, block_rows=1999), RowBlocks.from_arrays(sparse.csr_array(X), block_rows=600)
    for blocks in others:
        np.testing.assert_allclose(relate().fit(blocks).prototypes_, expected, rtol=1e-9)
    single = relate().fit(RowBlocks.from_arrays(X.astype(np.float32), block_rows=170)).prototypes_
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-5)
    pieces = relate().fit(RowBlocks.from_dask(da.from_array(X, chunks=(700, D)))).prototypes_
    assert inertia(pieces) < 1.05 * inertia(expected), "another sample, drawn in each piece"


def test_a_kernel_takes_them_and_leaves_out_unknown_rows():
    method = Kernelized(OPLS(ridge=1.0), tau=50.0, prototypes="kmeans", n_prototypes=K, random_state=0)
    blocks = RowBlocks.from_arrays(X, Y, block_rows=700)
    model = method.fit(blocks)
    np.testing.assert_allclose(model.prototypes_, relate().fit(blocks).prototypes_, rtol=1e-9)
    given = Kernelized(OPLS(ridge=1.0), tau=50.0, prototypes=lambda *_, **__: (model.prototypes_, None), n_prototypes=K)
    assert_same_gram(model.transform(X[:99]), given.fit(X, Y).transform(X[:99]), 1e-8)
    holes = Y.astype(float)
    holes[2000:] = np.nan
    with pytest.warns(UserWarning, match="1000"):
        known = method.fit(RowBlocks.from_arrays(X, holes, block_rows=700)).prototypes_
    far = np.abs(known - method.fit(RowBlocks.from_arrays(X[:2000], Y[:2000], block_rows=700)).prototypes_).max()
    assert far < 1e-9
