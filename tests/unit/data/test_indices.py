"""Sparse data sets have 32-bit indices: scikit-learn's compiled solvers take no others."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from proxembed.data import Columns, Dataset, read, read_rows
from proxembed.methods.pipeline import embedding_pipeline, training_labels
from proxembed.methods.relation import Scaling
from proxembed.methods.variance import LSI
from proxembed.tables.rows import small_indices
from proxembed.targets.labels import LabelMatrix

rng = np.random.default_rng(0)
COUNTS = rng.poisson(0.7, size=(30, 6)) * 1.0
LABEL = (COUNTS[:, 0] > COUNTS[:, 1]).astype(int)
WORDS = ["stone", "water", "light", "green", "house", "paper"]


def wide(A) -> sparse.csr_array:
    """With 64-bit indices."""
    A = sparse.csr_array(A)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def npz(folder):
    A = wide(COUNTS)
    np.savez(folder / "a.npz", data=A.data, indices=A.indices, indptr=A.indptr, shape=A.shape, Y=LABEL[:, None])
    return folder / "a.npz", {}


def svmlight(folder):
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row) if value)
        for label, row in zip(LABEL, COUNTS, strict=True)
    ]
    (folder / "a.svm").write_text("\n".join(lines) + "\n")
    return folder / "a.svm", {}


def arff(folder):
    head = "@relation 'a: -C 1'\n@attribute y {0,1}\n" + "".join(f"@attribute f{j} numeric\n" for j in range(6))
    rows = [
        "{" + ",".join(f"{j} {value:g}" for j, value in enumerate([label, *row]) if value) + "}"
        for label, row in zip(LABEL, COUNTS, strict=True)
    ]
    (folder / "a.arff").write_text(head + "@data\n" + "\n".join(rows) + "\n")
    return folder / "a.arff", {}


def text(folder):
    cells = [
        " ".join(word for word, times in zip(WORDS, row, strict=True) for _ in range(int(times))) for row in COUNTS
    ]
    lines = [f"{cell or 'nothing'} here,{label}" for cell, label in zip(cells, LABEL, strict=True)]
    (folder / "a.csv").write_text("words,y\n" + "\n".join(lines) + "\n")
    return folder / "a.csv", {"columns": Columns(labels=("y",), text=("words",))}


@pytest.mark.parametrize("write", [npz, svmlight, arff, text], ids=lambda write: write.__name__)
def test_what_is_read_goes_through_the_solvers_of_scikit_learn(write, tmp_path):
    path, options = write(tmp_path)
    data = read(path, **options)
    new, _ = read_rows(path, json.loads(json.dumps(data.source)))
    scaled = embedding_pipeline(LSI(), data.X)["scaling"].fit(data.X)
    y = LABEL
    for rows in (scaled.transform(data.X), scaled.transform(new), scaled.transform(data.take(np.arange(30)).X)):
        assert sparse.issparse(rows) and rows.indices.dtype == rows.indptr.dtype == np.int32
        assert LogisticRegression(solver="liblinear").fit(rows, y).score(rows, y) > 0.5
        assert SVC(kernel="linear").fit(rows, y).score(rows, y) > 0.5
    assert data.Y.indices.dtype == data.Y.indptr.dtype == np.int32
    labels = training_labels(data)
    assert not sparse.issparse(labels) or labels.indices.dtype == np.int32


def test_data_sets_and_labels_of_wide_indices_are_made_small_without_a_change_of_the_callers():
    X, Y = wide(COUNTS), sparse.csc_array(np.column_stack([LABEL, 1 - LABEL]))
    Y.indices, Y.indptr = Y.indices.astype(np.int64), Y.indptr.astype(np.int64)
    unknown = sparse.csc_array(np.zeros((30, 2), dtype=bool))
    data = Dataset(X, Y, unknown=unknown)
    scaled = Scaling("tfidf").fit(data.X).transform(data.X)
    for A in (data.X, data.Y, scaled, LabelMatrix.of(Y).Y, LabelMatrix.of(sparse.csr_array(Y)).Y):
        assert A.indices.dtype == A.indptr.dtype == np.int32
    assert X.indices.dtype == Y.indices.dtype == np.int64
    np.testing.assert_array_equal(data.X.toarray(), COUNTS)


def test_indices_that_need_64_bits_stay():
    A = sparse.csr_array((np.ones(1), np.array([2**33]), np.array([0, 1])), shape=(1, 2**34))
    assert small_indices(A) is A and small_indices(None) is None and small_indices(COUNTS) is COUNTS
    B = small_indices(wide(COUNTS))
    assert small_indices(B) is B and B.has_canonical_format
