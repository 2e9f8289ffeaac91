"""Sizes of packed data are checked before they are unpacked: claims that do not fit, and more than the memory takes."""

import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from memory import traced_memory
from proxembed.data import DataError, read, read_rows, unpacking
from proxembed.data.readers import npy, table_file

X, Y = np.arange(8.0).reshape(4, 2), np.eye(4, 2, dtype=np.uint8)
CSV = "a,b,l1,l2\n" + "".join(f"{a},{b},{c},{d}\n" for (a, b), (c, d) in zip(X, Y, strict=True))
ARFF = "@relation t\n@attribute a real\n@attribute b real\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@data\n"
TEXTS = {"t.csv.gz": CSV, "t.arff.gz": ARFF + CSV.split("\n", 1)[1], "t.svm.gz": "0 1:1\n1 2:1\n0,1 1:2\n"}
OPTIONS = {"t.csv.gz": ["l1", "l2"], "t.arff.gz": ["l1", "l2"], "t.svm.gz": None}


@pytest.fixture
def most(monkeypatch):
    """Call it with the bytes that may be unpacked."""

    def set_to(size):
        for room in (npy, table_file, unpacking):
            monkeypatch.setattr(room, "most_unpacked", lambda: size)

    return set_to


def header(shape, dtype="<f8"):
    """An array in NumPy's form, its header alone."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def npz_of(path, members, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def refused(call, *parts):
    """One sentence that holds these parts, without the memory that the file claims."""
    with traced_memory() as memory:
        with pytest.raises(DataError) as caught:
            call()
    message = str(caught.value)
    assert "\n" not in message and all(part in message for part in parts), message
    assert memory.peak < 1 << 25


@pytest.mark.parametrize("name", TEXTS)
def test_packed_texts_are_read_up_to_the_limit(tmp_path, most, name):
    text = TEXTS[name].encode()
    with gzip.open(tmp_path / name, "wb") as file:
        file.write(text)
    most(len(text))
    assert read(tmp_path / name, labels=OPTIONS[name]).Y.shape[1] == 2
    most(len(text) - 1)
    with pytest.raises(DataError, match=f"{name}: it unpacks to more than {len(text) - 1} bytes, the most that may"):
        read(tmp_path / name, labels=OPTIONS[name])


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return path


def test_a_zip_archive_of_another_packing_is_refused(tmp_path):
    """Such as Deflate64 (9), which Windows uses for large files."""
    packed = zipped(tmp_path / "t.csv.zip", t__csv=CSV).read_bytes()
    for start, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = packed.index(start) + place
        packed = packed[:at] + b"\x09\x00" + packed[at + 2 :]
    (tmp_path / "t.csv.zip").write_bytes(packed)
    with pytest.raises(DataError, match="the zip archive is packed by Deflate64; unpack it and give one file"):
        read(tmp_path / "t.csv.zip", labels=["l1", "l2"])


def test_zstd_and_the_only_file_of_a_zip_archive(tmp_path, most):
    (tmp_path / "t.csv.zst").write_bytes(whole := pa.compress(CSV.encode(), codec="zstd", asbytes=True))
    for path in (tmp_path / "t.csv.zst", zipped(tmp_path / "t.csv.zip", t__csv=CSV)):
        data = read(path, labels=["l1", "l2"])
        assert data.X.tolist() == X.tolist() and data.name == "t"
        assert read_rows(path, data.source)[0].shape == (4, 2)
        most(len(CSV) - 1)
        with pytest.raises(DataError, match=f"it unpacks to more than {len(CSV) - 1} bytes"):
            read(path, labels=["l1", "l2"])
        most(1 << 30)
    (tmp_path / "t.csv.zst").write_bytes(whole[:-6])
    for path, message in (
        (tmp_path / "t.csv.zst", "t.csv.zst: the packed data are cut short or damaged; fetch the file again"),
        (
            zipped(tmp_path / "u.csv.zip", t__csv=CSV, u__csv=CSV),
            "the zip archive holds 2 files; unpack it and give one",
        ),
        (zipped(tmp_path / "t.zip", t=CSV), "it is not an archive of one file; unpack it, and give one of its files"),
    ):
        with pytest.raises(DataError, match=message):
            read(path, labels=["l1", "l2"])


@pytest.mark.parametrize("name", TEXTS)
def test_a_line_without_end_is_refused_early(tmp_path, monkeypatch, name):
    with gzip.open(tmp_path / name, "wb") as file:
        file.write(TEXTS[name].encode() + bytes(1 << 24))
    monkeypatch.setattr(unpacking, "LINE_BYTES", 1 << 20)
    refused(lambda: read(tmp_path / name, labels=OPTIONS[name]), "it unpacks to a line of more than 1.0 MiB")


def test_a_packed_text_of_much_more_is_refused_within_little_memory(tmp_path, most):
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(CSV.encode() + b"0,1,1,0\n" * (1 << 21))
    most(1 << 22)
    refused(lambda: read(tmp_path / "t.csv.gz", labels=["l1", "l2"]), "it unpacks to more than 4.0 MiB")


@pytest.mark.parametrize("shape", [(10**12, 2), (5, 2), (3, 2), (10**12, 10**12)])
def test_an_array_that_is_not_what_its_header_claims_is_refused(tmp_path, shape):
    claims = header(shape) + X.tobytes()
    path = npz_of(tmp_path / "t.npz", {"X": claims, "Y": saved(Y)})
    words = f"X claims {shape[0]} x {shape[1]} values of float64 (", "), but holds 64 bytes; fetch or write"
    refused(lambda: read(path), *words)
    refused(lambda: read_rows(path, {"format": "npz", "n_features": 2}), *words)
    (tmp_path / "t.npy").write_bytes(claims)
    np.save(tmp_path / "y.npy", Y)
    words = f"the array claims {shape[0]} x {shape[1]} values", "but holds 64 bytes"
    refused(lambda: read(tmp_path / "t.npy", labels=tmp_path / "y.npy"), *words)
    refused(lambda: read_rows(tmp_path / "t.npy", {"format": "npy", "n_features": 2}), *words)


def test_arrays_of_more_than_the_limit_are_refused_before_they_are_unpacked(tmp_path, most):
    large = np.zeros((1 << 20, 8))
    np.savez_compressed(tmp_path / "t.npz", X=large, Y=np.ones((1 << 20, 1)), other=large)
    np.save(tmp_path / "t.npy", large)
    np.save(tmp_path / "y.npy", np.ones(1 << 20))
    most(1 << 25)
    refused(lambda: read(tmp_path / "t.npz"), "X would take 64.0 MiB, above 32.0 MiB, the most that may be unpacked")
    refused(lambda: read(tmp_path / "t.npy", labels=tmp_path / "y.npy"), "the array would take 64.0 MiB")
    most(1 << 26)
    refused(lambda: read(tmp_path / "t.npz"), "its arrays would take 72.0 MiB, above 64.0 MiB")
    most((1 << 26) + (1 << 23))
    assert read(tmp_path / "t.npz").X.shape == large.shape, "arrays that are not read do not count"


def test_a_packing_that_numpy_does_not_write_is_refused(tmp_path):
    path = npz_of(tmp_path / "t.npz", {"X": saved(X), "Y": saved(Y)}, zipfile.ZIP_LZMA)
    refused(lambda: read(path), "'X' is packed in another way than NumPy's")


def test_a_table_of_more_cells_than_fit_is_refused(tmp_path, most):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": np.zeros(1000), "l": np.arange(1000) % 2}), tmp_path / "t.parquet")
    most(15_999)
    refused(lambda: read(tmp_path / "t.parquet", labels=["l"]), "1,000 rows of 2 columns would take 15.6 KiB, above")
    most(16_000)
    assert read(tmp_path / "t.parquet", labels=["l"]).X.shape == (1000, 1)


def test_packed_arrays_and_sparse_ones_are_read_as_before(tmp_path):
    S = sp.csr_array(X)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "t.npz", Y=Y, label_names=["é", "b"], **parts)
        assert (read(tmp_path / "t.npz").X != S).nnz == 0
    (tmp_path / "t.npz").write_bytes(gzip.compress((tmp_path / "t.npz").read_bytes()))
    assert (read(tmp_path / "t.npz").X != S).nnz == 0


def test_the_limit_is_half_of_the_memory_or_of_the_containers(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "CONTAINER", tmp_path / "absent")
    whole = unpacking.most_unpacked()
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(unpacking, "CONTAINER", tmp_path / "memory.max")
    assert unpacking.most_unpacked() == whole
    (tmp_path / "memory.max").write_text("1000\n")
    assert unpacking.most_unpacked() == 500


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1,023 bytes"), (1024, "1.0 KiB"), (3 << 40, "3.0 TiB"), (1 << 60, "1,0")]
)
def test_sizes_in_words(size, text):
    assert unpacking.size_text(size).startswith(text)


def test_a_pipe_is_refused_at_once(tmp_path):
    os = pytest.importorskip("posix", reason="named pipes are a POSIX matter")
    os.mkfifo(tmp_path / "t.csv")
    refused(lambda: read(tmp_path / "t.csv", labels=["l"]), "it is a pipe or a device, which cannot be read twice")
