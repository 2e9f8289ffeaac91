"""The one entry: dispatch on the file name, pairs of files, and what is not a data file."""

import gzip
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from proxembed.data import Columns, DataError, read, read_rows

ARFF = "@relation 'toy: -C 1'\n@attribute a {0,1}\n@attribute x numeric\n@data\n1,0.5\n0,2\n"
SVM = "0 1:0.5\n1 1:2\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.arff", ARFF),
        ("t.ARFF", ARFF),
        *((f"t.{s}", SVM) for s in ("svm", "svmlight", "libsvm", "txt", "scale", "t")),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_suffix_picks_the_reader(tmp_path, name, text, zipped):
    file = tmp_path / (name + ".gz" if zipped else name)
    file.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    data = read(str(file))
    assert data.name == "t" and data.X.shape == (2, 1) and data.X[1, 0] == 2.0


def test_the_only_file_of_an_archive_names_the_format(tmp_path):
    text = "x,y\n" + "".join(f"{j}.5,{'uv'[j % 2]}\n" for j in range(20))
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("data/train.csv", text)
        archive.writestr("__MACOSX/data/._train.csv", "x")
    data = read(tmp_path / "archive.zip", "y")
    assert data.name == "train" and data.X.shape == (20, 1)
    assert read_rows(tmp_path / "archive.zip", data.source)[0].shape == (20, 1)
    with zipfile.ZipFile(tmp_path / "archive.zip", "a") as archive:
        archive.writestr("test.csv", text)
    with pytest.raises(DataError, match="it is not an archive of one file; unpack it, and give one of its files"):
        read(tmp_path / "archive.zip", "y")
    (tmp_path / "archive.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="it is not an archive of one file"):
        read(tmp_path / "archive.zip", "y")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.mat", ".mat files are not read; write its arrays as .npz, in SciPy by m = scipy.io.loadmat"),
        ("t.sqlite", ".sqlite files are not read; write a table of it as Parquet, in pandas by pandas.read_sql"),
        ("t.html", "pandas.read_html"),
        ("t.csv.tar.gz", ".tar files are not read; unpack it, and give one of its files"),
        ("t.psv", "the file name has no known ending; if it is a table of text, name it t.csv; accepted are .csv"),
    ],
)
def test_formats_that_are_not_read_are_refused_with_the_way_to_convert_them(name, message, tmp_path):
    (tmp_path / name).write_bytes(b"a|b\n1|2\n")
    with pytest.raises(DataError) as caught:
        read(tmp_path / name)
    assert message in str(caught.value)


def test_gzip_is_seen_by_its_bytes_not_its_name(tmp_path):
    (tmp_path / "a.arff").write_bytes(gzip.compress(ARFF.encode()))
    (tmp_path / "b.arff.gz").write_text(ARFF)
    np.testing.assert_array_equal(read(tmp_path / "a.arff").X, read(tmp_path / "b.arff.gz").X)


def test_a_pair_is_one_data_set_with_its_split(tmp_path):
    (tmp_path / "t-train.arff").write_text(ARFF)
    (tmp_path / "t-test.arff").write_text(ARFF.replace("0,2\n", "?,3\n1,4\n"))
    data = read(tmp_path / "t-train.arff", test=tmp_path / "t-test.arff")
    assert data.name == "t" and data.X.ravel().tolist() == [0.5, 2, 0.5, 3, 4]
    assert data.train_idx.tolist() == [0, 1] and data.test_idx.tolist() == [2, 3, 4]
    assert data.unknown.toarray().ravel().tolist() == [False, False, False, True, False]
    assert read(tmp_path / "t-train.arff").train_idx is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@attribute x numeric", "@attribute z numeric", "feature 1 is 'z', not 'x' as in"),
        ("@attribute a {0,1}", "@attribute b {0,1}", "label 1 is 'b', not 'a' as in"),
        ("@data\n1,0.5\n0,2", "@attribute y real\n@data\n1,2,3", "it has 2 features, not the 1 of"),
    ],
)
def test_a_pair_must_name_the_same_columns(tmp_path, old, new, message):
    (tmp_path / "t-train.arff").write_text(ARFF)
    (tmp_path / "t-test.arff").write_text(ARFF.replace(old, new))
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t-train.arff", test=tmp_path / "t-test.arff")
    assert message in str(caught.value) and str(caught.value).startswith(str(tmp_path / "t-test.arff"))


def test_what_is_no_data_file_is_told_with_what_is_accepted(tmp_path):
    for path, reason in [
        (tmp_path, "this is a folder without .parquet files"),
        (tmp_path / "emotions", "the file name has no known ending"),
        (tmp_path / "a.docx", "the file name has no known ending"),
    ]:
        if path != tmp_path:
            path.touch()
        with pytest.raises(DataError) as caught:
            read(path)
        text = str(caught.value)
        assert text.startswith(f"{path}: {reason}; ")
        assert ".npz" in text and ".arff" in text and ".svmlight" in text and text.endswith(".")


@pytest.mark.parametrize("name", ["gone.arff", "gone.npz", "gone.svm.gz", "gone.txt", "gone"])
def test_a_missing_file_is_told_before_what_does_not_fit_its_name(tmp_path, name):
    for columns in (None, Columns(labels=("y",))):
        with pytest.raises(DataError, match="no such file; check the path"):
            read(tmp_path / name, columns=columns)
    with pytest.raises(DataError, match="no such file; check the path"):
        read_rows(tmp_path / name, {})


def test_two_formats_are_no_pair(tmp_path):
    (tmp_path / "a.arff").touch()
    (tmp_path / "b.svm").touch()
    with pytest.raises(DataError, match="the format differs"):
        read(tmp_path / "a.arff", test=tmp_path / "b.svm")


@pytest.mark.parametrize("name", ["a.svm", "a.npz"])
def test_labels_are_for_arff(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(DataError, match="leave labels= out"):
        read(tmp_path / name, labels=["a"])


@pytest.mark.parametrize(("name", "text"), [("t.arff.gz", ARFF), ("t.svm.gz", SVM)])
@pytest.mark.parametrize(
    "damage", [lambda b: b[:-12], lambda b: b[:12] + b"\xff\xff" + b[14:], lambda b: b[:-8] + b"12345678"]
)
def test_damaged_gzip(tmp_path, name, text, damage):
    (tmp_path / name).write_bytes(damage(gzip.compress(text.encode() * 50)))
    with pytest.raises(DataError, match="the packed data are cut short or damaged; fetch the file again"):
        read(tmp_path / name)


def test_import_is_light():
    code = "import sys, proxembed.data; print([m for m in ('pandas', 'sklearn', 'matplotlib') if m in sys.modules])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"
