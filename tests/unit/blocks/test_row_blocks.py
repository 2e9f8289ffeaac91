"""Blocks of rows: every source gives the rows in their order, once or as often as it can."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxembed import OPLS, MultiOutputRidge, RowBlocks
from proxembed.estimator import sums

X = np.random.default_rng(0).normal(size=(11, 3))
Y = (X > 0).astype(int)


def read(blocks: RowBlocks) -> tuple[np.ndarray, np.ndarray | None]:
    parts = list(blocks)
    rows = np.vstack([part.toarray() if sparse.issparse(part) else part for part, _ in parts])
    return rows, None if parts[0][1] is None else np.concatenate([np.asarray(y) for _, y in parts])


def as_files(folder, kind: str):
    """The rows in two files of one kind, the labels beside them."""
    files, labels = [], []
    for number, part in enumerate((slice(0, 7), slice(7, 11))):
        labels.append(folder / f"y{number}.npy")
        np.save(labels[-1], Y[part])
        files.append(folder / f"X{number}{'' if kind == 'csr' else '.' + kind}")
        if kind == "npy":
            np.save(files[-1], X[part])
        elif kind == "npz":
            sparse.save_npz(files[-1], sparse.csr_array(X[part]))
        else:
            files[-1].mkdir()
            for name in ("data", "indices", "indptr"):
                np.save(files[-1] / f"{name}.npy", getattr(sparse.csr_array(X[part]), name))
    return files, labels


@pytest.mark.parametrize("kind", ["npy", "npz", "csr"])
@pytest.mark.parametrize("in_files", [True, False])
@pytest.mark.parametrize("block_rows", [1, 3, 100])
def test_files(tmp_path, kind, in_files, block_rows):
    files, labels = as_files(tmp_path, kind)
    y = labels if in_files else Y
    if kind == "csr":
        blocks = RowBlocks.from_csr(files, 3, y, block_rows=block_rows)
    else:
        blocks = {"npy": RowBlocks.from_npy, "npz": RowBlocks.from_npz}[kind](files, y, block_rows=block_rows)
    for _ in range(2):
        rows, found = read(blocks)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(found, Y)
    assert max(part.shape[0] for part, _ in blocks) <= block_rows


def test_npy_files_are_mapped_not_loaded(tmp_path):
    files, _ = as_files(tmp_path, "npy")
    assert all(
        isinstance(part.base, np.memmap | np.ndarray) and isinstance(part, np.memmap)
        for part, _ in RowBlocks.from_npy(files)
    )


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X), sparse.csc_matrix(X)])
def test_arrays(rows):
    blocks = RowBlocks.from_arrays(rows, [set(np.flatnonzero(y).tolist()) for y in Y], block_rows=4)
    np.testing.assert_array_equal(blocks.stacked() if isinstance(rows, np.ndarray) else blocks.stacked().toarray(), X)
    assert [len(y) for _, y in blocks] == [4, 4, 3]


def test_a_table_of_labels_is_cut_by_rows():
    blocks = RowBlocks.from_arrays(X, pd.DataFrame(Y), block_rows=5)
    assert [y.shape for _, y in blocks] == [(5, 3), (5, 3), (1, 3)]


def test_a_function_starts_each_reading_and_an_iterator_is_read_once():
    again = RowBlocks(lambda: ((X[i : i + 5], Y[i : i + 5]) for i in range(0, 11, 5)))
    once = RowBlocks((X[i : i + 5], Y[i : i + 5]) for i in range(0, 11, 5))
    assert again.rereadable and not once.rereadable
    np.testing.assert_array_equal(again.stacked(), again.stacked())
    np.testing.assert_array_equal(once.stacked(), X)
    with pytest.raises(ValueError, match="can be read once"):
        once.stacked()


def test_a_mapped_source_is_read_when_it_is_asked_for():
    read_blocks = []
    blocks = RowBlocks(lambda: iter([X[:4], X[4:]])).map(lambda part: read_blocks.append(len(part)) or 2 * part)
    assert read_blocks == []
    np.testing.assert_array_equal(blocks.stacked(), 2 * X)
    assert read_blocks == [4, 7]
    once = RowBlocks(iter([X])).map(np.negative)
    np.testing.assert_array_equal(once.stacked(), -X)
    assert not once.rereadable


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: list(RowBlocks([(X, Y[:3])])), "Block 0 has 11 rows of X and 3 of y"),
        (lambda: list(RowBlocks([X, X[:0]])), "Block 1 has no rows"),
        (lambda: list(RowBlocks.from_arrays(X, Y[:9], block_rows=4)), "Part 0 has 11 rows of X and 9 of y"),
        (lambda: RowBlocks.from_arrays(X, block_rows=0), "block_rows=0 is not allowed"),
        (lambda: RowBlocks([X], precision="half"), "precision='half' is not allowed"),
        (lambda: RowBlocks.from_npy([]), "names no files"),
        (lambda: RowBlocks.from_npy(["a.npy", "b.npy"], ["c.npy"]), "2 parts and y 1 file;"),
    ],
)
def test_bad_blocks(build, words):
    with pytest.raises(ValueError, match=words):
        build()


def test_labels_of_all_files_must_be_as_many_as_rows(tmp_path):
    files, _ = as_files(tmp_path, "npy")
    with pytest.raises(ValueError, match="X has 11 rows, y has 12"):
        list(RowBlocks.from_npy(files, np.arange(12)))


def test_blocks_must_be_blocks():
    with pytest.raises(TypeError, match="RowBlocks.from_arrays"):
        RowBlocks(X)


@pytest.mark.parametrize("n_rows", [1, 4, 11, 30])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_sample_does_not_depend_on_the_cuts(n_rows, stored):
    sets = [{i} for i in range(11)]
    found = [RowBlocks.from_arrays(X, sets, block_rows=rows).sample(n_rows) for rows in (1, 2, 5, 11)]
    for rows, y in found:
        own = [next(iter(one)) for one in y]
        assert own == sorted(own) and len(own) == min(n_rows, 11) == len(set(own))
        np.testing.assert_array_equal(rows, X[own])
        assert own == [next(iter(one)) for one in found[0][1]]
    tables = RowBlocks([stored(X[:5]), stored(X[5:])]).sample(n_rows)
    assert tables[1] is None
    dense = tables[0].toarray() if sparse.issparse(tables[0]) else tables[0]
    np.testing.assert_array_equal(dense, found[0][0])


def test_a_sample_is_uniform():
    """Each of 40 rows is among 10 of them in a quarter of the samples, whichever block it is in."""
    rows = RowBlocks.from_arrays(np.arange(40.0)[:, None], block_rows=7)
    drawn = np.concatenate([rows.sample(10, seed=seed)[0].ravel() for seed in range(400)])
    counts = np.bincount(drawn.astype(int), minlength=40)
    assert counts.sum() == 4000 and np.sum((counts - 100.0) ** 2 / 75.0) < 85.0  # chi squared, 39 degrees: p < 1e-4
    assert not np.array_equal(rows.sample(10, seed=0)[0], rows.sample(10, seed=1)[0])


@pytest.mark.parametrize("n_rows", [0, 2.5, True])
def test_a_sample_of_no_number_of_rows(n_rows):
    with pytest.raises(ValueError, match="n_rows=.* is not allowed"):
        RowBlocks([X]).sample(n_rows)


@pytest.mark.parametrize("make", [lambda: OPLS(n_components=2, ridge="auto"), lambda: MultiOutputRidge(penalty="auto")])
@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_rows_that_choose_a_ridge_are_picked_before_a_function_of_rows(make, unknown, monkeypatch):
    monkeypatch.setattr(sums, "LOO_ROWS", 20)
    rng = np.random.default_rng(0)
    A, Z = rng.normal(size=(150, 6)), rng.normal(size=(150, 2))
    B = (np.hstack([A[:, :1], Z]) + rng.normal(size=(150, 3)) > 0).astype(float)
    B[7] = np.nan if unknown else B[7]
    seen = []

    def scaled(X):
        seen.append(len(X))
        return (X - 1.0) / [1, 2, 3, 4, 5, 6]

    def read():
        yield from ((A[a : a + 40], B[a : a + 40]) for a in range(0, 150, 40))

    def fitted(by_row):
        seen.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of rows left out
            return make().fit(RowBlocks(read).map(scaled, by_row=by_row))

    plain, every = fitted(False), sum(seen)
    found = fitted(True)
    assert sum(seen) == (every if unknown else every - 150 + 20)
    for name in ("components_", "coef_", "penalty_"):
        if hasattr(plain, name):
            np.testing.assert_allclose(getattr(found, name), getattr(plain, name), rtol=1e-10, atol=1e-13)
