"""Blocks of rows: every source gives the rows in their order, once or as often as it can."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxembed import RowBlocks

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
