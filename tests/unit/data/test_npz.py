"""npz archives: dense and sparse layouts, codes and indicators, and what must not be loaded."""

import zipfile

import numpy as np
import pytest
from scipy import sparse

from proxembed.data import DataError, read

X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
Y = np.array([[1, 0], [1, 1], [0, 0]], dtype=np.uint8)


def save(tmp_path, **arrays):
    np.savez(tmp_path / "t.npz", **arrays)
    return tmp_path / "t.npz"


def test_plain_dense_archive(tmp_path):
    data = read(save(tmp_path, X=X.astype(np.float32), Y=Y, doc_ids=np.arange(3)))
    assert data.X.dtype == np.float32
    assert data.feature_names == ("x0", "x1") and data.label_names == ("label0", "label1")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


def test_sparse_archive_with_names_and_split(tmp_path):
    S = sparse.csr_array(X)
    data = read(
        save(
            tmp_path,
            data=S.data,
            indices=S.indices,
            indptr=S.indptr,
            shape=S.shape,
            Y=Y,
            licence="CC0",
            train_idx=[0, 2],
            test_idx=[1],
            feature_names=["f", ""],
            label_names=["p", "q"],
        )
    )
    assert isinstance(data.X, sparse.csr_array) and data.feature_names == ("f", "") and data.label_names == ("p", "q")
    np.testing.assert_array_equal(data.X.toarray(), X)
    assert data.train_idx.tolist() == [0, 2] and data.test_idx.tolist() == [1] and data.licence == "CC0"


@pytest.mark.parametrize(
    ("arrays", "names", "codes"),
    [
        ({"Y": [1, 0, 1], "classes": [-1, 7]}, ("-1", "7"), [1, 0, 1]),
        ({"Y": [1, 0, 1], "label_names": ["no", "yes"], "classes": [3, 4]}, ("no", "yes"), [1, 0, 1]),
        ({"Y": [5, 3, 5]}, ("3", "5"), [1, 0, 1]),
        ({"y": ["b", "a", "b"]}, ("a", "b"), [1, 0, 1]),
    ],
)
def test_one_class_a_row(tmp_path, arrays, names, codes):
    data = read(save(tmp_path, X=X, **arrays))
    assert data.label_names == names and data.single_label
    assert data.Y.toarray().argmax(axis=1).tolist() == codes


def test_nan_in_Y_is_unknown(tmp_path):
    data = read(save(tmp_path, X=X, Y=np.array([[1, np.nan], [0, 1], [0, 0]])))
    assert data.unknown.toarray().tolist() == [[False, True], [False, False], [False, False]]
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, "the archive holds no labels (Y); save X"),
        ({"Y": Y}, "the archive holds no features (X, or data, indices, indptr, shape); save X"),
        ({"X": X[:2], "Y": Y}, "X has 2 rows but Y has 3"),
        ({"X": X, "Y": [[1, 0], [-1, 1], [0, 1]]}, "-1 may mean negative or unknown"),
        ({"X": X, "Y": [1.5, np.inf, 2.0]}, "infinity in 1 row"),
        (
            {"X": X, "Y": Y * 1.5, "target_names": ["a"]},
            "1 name for 2 columns of numbers in Y; give one",
        ),
        ({"X": X, "Y": [0, 1, 5], "label_names": ["a", "b"]}, "the codes 0 to 1 of its 2 label_names"),
        ({"X": np.where(X == 2, np.inf, X), "Y": Y}, "NaN or infinite values"),
        ({"data": [1.0], "indices": [9], "indptr": [0, 1, 1, 1], "shape": [3, 2], "Y": Y}, "are not a CSR matrix"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [3, 2], "Y": Y}, "are not a CSR matrix"),
        ({"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": 3, "Y": Y}, "are not a CSR matrix"),
        ({"X": X.astype(object), "Y": Y}, "it cannot be read as an npz archive (ValueError: Object arrays cannot be"),
    ],
)
def test_what_does_not_fit_is_named_with_its_file(tmp_path, arrays, message):
    with pytest.raises(DataError) as caught:
        read(save(tmp_path, **arrays))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path / 't.npz'}: ") and message in text and text.endswith(".") and "\n" not in text


def test_archives_that_are_none(tmp_path):
    file = tmp_path / "t.npz"
    whole = save(tmp_path, X=X, Y=Y).read_bytes()
    for content in (b"", b"PK", whole[: len(whole) // 2], b"not a zip file", whole[:60] + b"\0\0\0\0" + whole[64:]):
        file.write_bytes(content)
        with pytest.raises(DataError, match="it cannot be read as an npz archive"):
            read(file)
    with open(file, "wb") as stream:
        np.save(stream, X)
    with pytest.raises(DataError, match="it is a single array"):
        read(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("X.npy", b"\x93NUMPY\x01\x00junk")
    with pytest.raises(DataError, match="it cannot be read as an npz archive"):
        read(file)


def test_an_npz_holds_its_own_split(tmp_path):
    file = save(tmp_path, X=X, Y=Y)
    with pytest.raises(DataError, match="store the split as train_idx and test_idx"):
        read(file, test=file)


@pytest.mark.parametrize("name", ["t.npz", "t.npy"])
def test_nobody_is_told_to_load_a_file_unsafely(tmp_path, name):
    (tmp_path / name).write_bytes(b"no array at all")
    with pytest.raises(DataError, match="it holds Python objects, or is of another format") as caught:
        read(tmp_path / name, labels="y.npy" if name == "t.npy" else None)
    assert "unsafely" not in str(caught.value)
