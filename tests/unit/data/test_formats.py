"""A new format is one reader: it is found by its suffix, reads labelled files and new rows, and is named in errors."""

import sys

import numpy as np
import pytest

import contributed
from proxembed.data import DataError, Dataset, read, read_rows, readers
from proxembed.data.readers import READERS, Reader


@pytest.fixture
def planted(tmp_path):
    """The reader that CONTRIBUTING.md shows, from one file in a folder of the package."""
    folder, known = tmp_path / "formats", dict(READERS)
    folder.mkdir()
    (folder / "slashed.py").write_text(contributed.examples("Adding a reader")[0])
    readers.__path__.append(str(folder))
    readers.import_formats([str(folder)])
    yield READERS[".slash"]
    readers.__path__.remove(str(folder))
    del sys.modules["proxembed.data.readers.slashed"], readers.slashed
    READERS.clear()
    READERS.update(known)


def test_a_new_format_is_one_file(planted, tmp_path):
    old, new = tmp_path / "old.slashed", tmp_path / "new.SLASH"
    old.write_text("1/2/0\n3/4/1\n")
    new.write_text("5/6\n")
    data = read(old)
    assert isinstance(data, Dataset) and data.X.tolist() == [[1, 2], [3, 4]] and data.Y.toarray().tolist() == [[0], [1]]
    assert data.source == {"format": "slashed", "n_features": 2, "names": ["s0", "s1"]}
    assert read(old, test=old).X.shape == (4, 2)
    X, ids = read_rows(new, data.source)
    assert X.tolist() == [[5, 6]] and ids is None
    table = tmp_path / "new.csv"
    table.write_text("s1,s0\n6,5\n")
    assert read_rows(table, data.source)[0].tolist() == [[5, 6]]


def test_the_rows_of_a_new_format_are_checked(planted, tmp_path):
    for rows, message in {"5/6/7\n": "it has 3 features, not the 2 of", "5/nan\n": "it holds NaN or infinite"}.items():
        (tmp_path / "new.slash").write_text(rows)
        with pytest.raises(DataError, match=message):
            read_rows(tmp_path / "new.slash", {"format": "npz", "n_features": 2})


def test_the_errors_name_a_new_format(planted, tmp_path):
    (tmp_path / "a.xlsx").touch()
    with pytest.raises(DataError, match=r"\(svmlight\) and \.slashed and \.slash \(numbers .*each also with \.gz\.$"):
        read(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match=r"accepted are \.csv, .*\.val, \.slashed, \.slash\.$"):
        read_rows(tmp_path / "a.xlsx", {})


def test_a_suffix_has_one_reader():
    with pytest.raises(TypeError, match=r"Other reads \.npz, as Npz does"):
        type("Other", (Reader,), {"suffixes": (".npz",), "read": None, "read_rows": None})
    assert type(READERS[".npz"]).__name__ == "Npz"


def test_rows_whose_sum_overflows_are_finite(tmp_path):
    np.save(tmp_path / "new.npy", np.array([[1e308, 1e308]]))
    assert np.isfinite(read_rows(tmp_path / "new.npy", {})[0]).all()
