"""Weights of rows in blocks: fits from sums are those of weighted rows in memory, in every form of blocks."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from scipy import sparse
from sklearn.base import clone

from designs import WHOLE
from proxembed import (
    CCA,
    FDA,
    LSI,
    MDDM,
    MESD,
    MLDA,
    MLSI,
    MORP,
    OPLS,
    PCA,
    PLS,
    SLVM,
    Kernelized,
    PCovR,
    RowBlocks,
)
from proxembed.blocks import WeightedTargets
from proxembed.classify import MultiOutputRidge
from proxembed.data import parquet_blocks

pytestmark = pytest.mark.default_configuration

N, D = 60, 5
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, D)) + 2.0
W = RNG.uniform(0.2, 3.0, N) * (RNG.random(N) < 0.8)
W[40:60:2] = 0.0
LABELS = (X[:, :3] + 0.5 * RNG.normal(size=(N, 3)) > 2).astype(int)
CLASSES = np.array(list("abc"))[np.arange(N) % 3]
NUMBERS = X[:, :2] * [1.0, 40.0] + RNG.normal(size=(N, 2)) * [0.3, 12.0] + [0.0, 500.0]
HOLES = NUMBERS.copy()
HOLES[[1, 8, 33], [0, 1, 0]] = np.nan
UNKNOWN = np.where(RNG.random(LABELS.shape) < 0.1, np.nan, LABELS)
NEW = RNG.normal(size=(7, D)) + 2.0
CASES = [
    (PCA(n_components=2, whiten=True), None),
    (LSI(n_components=2), None),
    (FDA(ridge=0.1), CLASSES),
    (OPLS(), LABELS),
    (OPLS(), NUMBERS),
    (OPLS(ridge=0.1, unknown="mean"), HOLES),
    (OPLS(ridge=0.1), UNKNOWN),
    (CCA(ridge=0.1), NUMBERS),
    (PLS(), NUMBERS),
    (MDDM(label_kernel="rbf"), LABELS),
    (MLDA(ridge=0.1), LABELS),
    (MESD(FDA(), weighting="printed"), LABELS),
    (MORP(n_components=2), NUMBERS),
    (MLSI(n_components=2), LABELS),
    (PCovR(n_components=2, ridge=0.1), NUMBERS),
]


def assert_alike(model, other):
    Z, same = np.abs(model.transform(NEW)), np.abs(other.transform(NEW))
    np.testing.assert_allclose(Z, same, rtol=0, atol=1e-9 * same.max())
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-9)
    assert getattr(model, "ridge_", 0.0) == pytest.approx(getattr(other, "ridge_", 0.0), rel=1e-9)
    if hasattr(model, "coef_"):
        np.testing.assert_allclose(model.predict(NEW), other.predict(NEW), rtol=1e-9)
        for own, alike in zip(model.targets_, other.targets_, strict=True):
            assert (own.mean, own.scale) == pytest.approx((alike.mean, alike.scale), rel=1e-9)


@pytest.mark.filterwarnings("ignore:.*left out of fit")
@pytest.mark.parametrize("turn", range(2))
def test_fits_from_weighted_blocks_are_those_in_memory(turn):
    rows = (X, sparse.csr_array(np.where(X > 1, X, 0.0)))[turn]
    for method, y in CASES if WHOLE else CASES[turn::2]:
        whole = clone(method).fit(rows, y, sample_weight=W)
        blocks = RowBlocks.from_arrays(rows, y, sample_weight=W, block_rows=17)
        assert_alike(clone(method).fit(blocks), whole)
        triples = [(rows[i : i + 25], None if y is None else y[i : i + 25], W[i : i + 25]) for i in range(0, N, 25)]
        assert_alike(clone(method).fit(RowBlocks(lambda parts=triples: iter(parts))), whole)


def test_every_form_of_blocks_takes_weights(tmp_path):
    expected = OPLS().fit(X, NUMBERS, sample_weight=W)
    columns = {f"f{j}": X[:, j] for j in range(D)} | {"one": NUMBERS[:, 0], "two": NUMBERS[:, 1], "times": W}
    pd.DataFrame(columns).to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    file = parquet_blocks(tmp_path / "rows.parquet", ["one", "two"], sample_weight="times", block_rows=16)
    assert_alike(OPLS().fit(file), expected)
    assert next(iter(file))[0].shape == (16, D)
    rows, y, w = (da.from_array(each, chunks=(20, *each.shape[1:])) for each in (X, NUMBERS, W))
    for weights in (w, W):
        assert_alike(OPLS().fit(rows, y, sample_weight=weights), expected)
    pieces = [delayed((X[i : i + 30], NUMBERS[i : i + 30], W[i : i + 30])) for i in (0, 30)]
    assert_alike(OPLS().fit(RowBlocks.from_dask(pieces)), expected)
    unlabelled = PCA(n_components=2).fit(rows, sample_weight=w)
    assert_alike(unlabelled, PCA(n_components=2).fit(X, sample_weight=W))
    parts = OPLS(ridge=0.1).partial_fit(RowBlocks.from_arrays(X, NUMBERS, sample_weight=W, block_rows=7))
    assert_alike(parts, OPLS(ridge=0.1).fit(X, NUMBERS, sample_weight=W))
    spread = OPLS(ridge=0.1).partial_fit(rows[:40], y[:40], sample_weight=w[:40])
    assert_alike(spread.partial_fit(X[40:], NUMBERS[40:], sample_weight=W[40:]), parts)


def test_products_that_take_a_reading_are_weighted(monkeypatch):
    """Of more features than X'X is formed for, and where the ridge is chosen on a sample."""
    from proxembed.algebra.pencil import problem
    from proxembed.estimator import sums

    for ridge in (0.1, "auto"):
        whole = OPLS(ridge=ridge).fit(X, NUMBERS, sample_weight=W)
        with monkeypatch.context() as patch:
            patch.setattr(sums, "DENSE_LIMIT", 2)
            patch.setattr(problem, "DENSE_LIMIT", 2, raising=False)
            found = OPLS(ridge=ridge, solver="iterative").fit(
                RowBlocks.from_arrays(X, NUMBERS, sample_weight=W, block_rows=17)
            )
        np.testing.assert_allclose(np.abs(found.transform(NEW)), np.abs(whole.transform(NEW)), rtol=1e-6)


def test_read_outs_and_scores_are_weighted():
    blocks = RowBlocks.from_arrays(X, LABELS, sample_weight=W, block_rows=17)
    copies = np.repeat(np.arange(N), np.ceil(W).astype(int))
    whole = RowBlocks.from_arrays(X, LABELS, sample_weight=np.ceil(W), block_rows=17)
    found, repeated = MultiOutputRidge(0.5).fit(whole), MultiOutputRidge(0.5).fit(X[copies], LABELS[copies])
    np.testing.assert_allclose(found.coef_, repeated.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, repeated.intercept_, rtol=1e-8)
    assert found.score(blocks) == pytest.approx(found.score(X, LABELS, W), rel=1e-12)
    latent = SLVM(n_components=2, ridge=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.abs(clone(latent).fit(whole).transform(NEW)) == pytest.approx(
            np.abs(clone(latent).fit(RowBlocks.from_arrays(X[copies], LABELS[copies])).transform(NEW)), rel=1e-7
        )


def test_what_is_refused_and_what_comes_back():
    X1, y1 = next(iter(RowBlocks([(X, LABELS, W)])))
    assert isinstance(y1, WeightedTargets) and y1.y is LABELS and y1[2:5].weights.tolist() == W[2:5].tolist()
    assert len(y1) == N and (y1[[1, 3]].y == LABELS[[1, 3]]).all() and X1 is X
    negative = W - 1.0
    for w, message in [(negative, "sample_weight of block 0 holds -"), (W[:9], "sample_weight of block 0 has shape")]:
        with pytest.raises(ValueError, match=message):
            OPLS().fit(RowBlocks([(X, LABELS, w)]))
    with pytest.raises(ValueError, match="sample_weight must come with the blocks"):
        OPLS().fit(RowBlocks([(X, LABELS)]), sample_weight=W)
    with pytest.raises(ValueError, match="Kernelized takes no sample_weight with blocks: .* counts each row once"):
        Kernelized(n_prototypes=5, tau=1.0, ridge=0.1).fit(RowBlocks([(X, LABELS, W)]))
    with pytest.raises(ValueError, match="A sample of blocks has no weights"):
        RowBlocks([(X, LABELS, W)]).sample(5)
    turns = iter([W, W + 1.0])
    with pytest.raises(ValueError, match="other rows in reading 2"):
        OPLS().fit(RowBlocks(lambda: iter([(X, LABELS, next(turns))])))


def test_weights_of_files_are_those_of_all_rows_or_one_file_per_part(tmp_path):
    cuts, expected = [0, 25, len(X)], OPLS().fit(X, NUMBERS, sample_weight=W)
    paths = {name: [tmp_path / f"{name}{i}.npy" for i in (0, 1)] for name in "Xyw"}
    sparse_paths, folders = ([tmp_path / f"{i}{end}" for i in (0, 1)] for end in (".npz", ""))
    for i in (0, 1):
        rows = slice(cuts[i], cuts[i + 1])
        own = sparse.csr_array(X[rows])
        for name, values in (("X", X), ("y", NUMBERS), ("w", W)):
            np.save(paths[name][i], values[rows])
        sparse.save_npz(sparse_paths[i], own)
        folders[i].mkdir()
        for name in ("data", "indices", "indptr"):
            np.save(folders[i] / f"{name}.npy", getattr(own, name))
    for y in (NUMBERS, paths["y"]):
        for weights in (W, paths["w"]):
            more = {"sample_weight": weights, "block_rows": 9}
            assert_alike(OPLS().fit(RowBlocks.from_npy(paths["X"], y, **more)), expected)
    of_sparse = OPLS().fit(sparse.csr_array(X), NUMBERS, sample_weight=W)
    assert_alike(OPLS().fit(RowBlocks.from_npz(sparse_paths, NUMBERS, sample_weight=W, block_rows=9)), of_sparse)
    assert_alike(OPLS().fit(RowBlocks.from_csr(folders, X.shape[1], NUMBERS, sample_weight=paths["w"])), of_sparse)
    with pytest.raises(ValueError, match="X has 2 parts and sample_weight 1 file; pass one file of weights for each"):
        RowBlocks.from_npy(paths["X"], NUMBERS, sample_weight=paths["w"][:1])
    with pytest.raises(ValueError, match="X has 25 rows or more, sample_weight has 7"):
        list(RowBlocks.from_npy(paths["X"], NUMBERS, sample_weight=np.ones(7)))
    with pytest.raises(ValueError, match=f"X has {len(X)} rows, sample_weight has {len(X) + 1}"):
        list(RowBlocks.from_npy(paths["X"], NUMBERS, sample_weight=np.ones(len(X) + 1)))
