"""A new format is one reader: it is found by its suffix, reads labelled files and new rows, and is named in errors."""

import bz2
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
    (tmp_path / "a.foo").touch()
    told = r"\(svmlight.*\) and \.slashed and \.slash \(numbers .*each also with \.gz, \.bz2, \.xz, \.zst or \.zip\.$"
    with pytest.raises(DataError, match=told):
        read(tmp_path / "a.foo")
    with pytest.raises(DataError, match=r"accepted are \.csv, .*\.tes, \.slashed, \.slash\.$"):
        read_rows(tmp_path / "a.foo", {})


def test_a_suffix_has_one_reader():
    with pytest.raises(TypeError, match=r"Other reads \.npz, as Npz does"):
        type("Other", (Reader,), {"suffixes": (".npz",), "read": None, "read_rows": None})
    assert type(READERS[".npz"]).__name__ == "Npz"


def test_rows_whose_sum_overflows_are_finite(tmp_path):
    np.save(tmp_path / "new.npy", np.array([[1e308, 1e308]]))
    assert np.isfinite(read_rows(tmp_path / "new.npy", {})[0]).all()


def test_packed_by_bzip2_as_by_gzip(tmp_path):
    svm = "".join(f"{i % 2} 1:{i % 7} 2:{i % 3}\n" for i in range(40))
    table = "a,b,y\n" + "".join(f"{i % 7},{i % 3},{'uv'[i % 2]}\n" for i in range(40))
    for name, text, labels in (("a.svm", svm, None), ("a.csv", table, "y")):
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.bz2").write_bytes(bz2.compress(text.encode()))
        plain, packed = read(tmp_path / name, labels), read(tmp_path / f"{name}.bz2", labels)
        assert (packed.X != plain.X).sum() == 0 and (packed.Y != plain.Y).nnz == 0 and packed.name == plain.name
    for damaged in (bz2.compress(table.encode())[:-8], b"BZh9" + bytes(40)):
        (tmp_path / "d.csv.bz2").write_bytes(damaged)
        with pytest.raises(DataError, match="the packed data are cut short or damaged; fetch the file again"):
            read(tmp_path / "d.csv.bz2", "y")


def test_the_header_of_the_extreme_classification_repository_is_no_row(tmp_path):
    rows = "".join(f"{i % 3},2 0:{i % 7} 1:1.5\n" for i in range(12))
    (tmp_path / "xc.txt").write_text("12 2 3\n" + rows)
    data = read(tmp_path / "xc.txt")
    assert data.X.shape == (12, 2) and data.label_names == ("0", "1", "2")
    (tmp_path / "xc.txt").write_text("12 2 3\n" + rows + "x 0:1\n")
    with pytest.raises(DataError, match="line 14: 'x' is not a comma-separated list"):
        read(tmp_path / "xc.txt")


def test_tables_in_text_files_and_in_latin_1(tmp_path):
    """New rows, too; a file that is no text in either encoding is refused as before."""
    table = "a\tcity\ty\n" + "".join(
        f"{i % 7}.5\t{('Genève', 'Bern', 'Zürich')[i % 3]}\t{'uv'[i % 2]}\n" for i in range(30)
    )
    (tmp_path / "t.txt").write_text(table)
    (tmp_path / "t.csv").write_bytes(table.replace("\t", ",").encode("latin1"))
    tabs, latin = read(tmp_path / "t.txt", "y"), read(tmp_path / "t.csv", "y")
    for data, note in ((tabs, "separated by tabs"), (latin, "not UTF-8 and is read as Windows-1252")):
        assert data.X.shape == (30, 2) and data.X["city"][:3].tolist() == ["Genève", "Bern", "Zürich"]
        assert note in data.notes[0]
        assert read_rows(tmp_path / "t.csv", data.source)[0]["city"][2] == "Zürich"
    (tmp_path / "t.csv").write_bytes(b"a,y\n\x00\xff,u\n")
    with pytest.raises(DataError, match="line 2: byte 2 of the line is not UTF-8; name its encoding"):
        read(tmp_path / "t.csv", "y")
