"""Laws of the readers: damaged files are refused in one sentence, and one set in any format is the same set."""

import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from scipy import sparse

from designs import WHOLE
from proxembed import TableEncoder
from proxembed.data import DataError, Dataset, read
from proxembed.data.readers import arff
from proxembed.data.readers.arff import Attribute, _SparseRows
from proxembed.tables import TableRows

DENSE = b"""@relation 'toy set: -C 2'
% a note
@attribute 'first label' {0,1}
@attribute second {0,1}
@attribute x numeric
@attribute "it\\'s" {red,'dark blue',3}
@attribute n {2,1,-1e3}
@data
1,0,0.5,red,2
0,?,-1e-3,'dark blue',-1000
1,1,7,3,1
"""
SPARSE = b"""@RELATION "sparse: -C -1"
@ATTRIBUTE a real
@ATTRIBUTE b {5,0}
@ATTRIBUTE c {no,yes}
@ATTRIBUTE y {0,1}
@DATA
{0 1.5,3 1}
{}
{1 0,2 yes}
{0 -2e2 , 3 ?}
"""
PLAIN = (
    b"@relation 'p: -C 1'\n@attribute y {0,1}\n@attribute u real\n@attribute v real\n@data\n1,2,3\n0,4,5.5\n0,-6,7\n"
)
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="first label"><label name="second"></label></label>
<!-- the end --></labels>
"""
SVM = b"1,0 1:0.5 3:-1e-2 # note\n 2:1\n2 qid:1 1:+3. 7:0\n0 1:1\n"
BITS = [b"", b"0", b"1", b"-", b"?", b",", b" ", b"{", b"}", b"'", b'"', b"\\", b"\n", b"\r", b"\x00", b"%", b"#", b":"]
BITS += [
    b"e9",
    b"e999",
    b"nan",
    b"inf",
    b"@data\n",
    b"@attribute",
    b"-C 99",
    b"red",
    b"\xff\xfe",
    b"\xc3",
    b"\xe2\x80\xa8",
]
BITS += [
    b"\\u12",
    b"99999999999",
    b"9" * 30,
    b"<",
    b">",
    b"/",
    b"&a;",
    b"label",
    b"name=",
    b"<!DOCTYPE x [",
    b"]]>",
    b"qid:",
]


@st.composite
def damaged(draw, whole):
    """A valid file after one to four edits: bytes cut, put in, put in place of others, doubled, or the end cut off."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(whole)))
        stop = draw(st.integers(start, min(len(whole), start + 12)))
        kind = draw(st.sampled_from(["replace", "double", "end", "move"]))
        if kind == "replace":
            whole = whole[:start] + draw(st.sampled_from(BITS) | st.binary(max_size=4)) + whole[stop:]
        elif kind == "double":
            whole = whole[:stop] + whole[start:]
        elif kind == "end":
            whole = whole[:stop]
        else:
            place = draw(st.integers(0, start))
            whole = whole[:place] + whole[start:stop] + whole[place:start] + whole[stop:]
    return whole


def test_a_header_with_odd_values_makes_a_table():
    test = DENSE.replace(b"second {0,1}", b"second {0,e second {0,1}")
    attempt({"t-train.arff": DENSE, "t-test.arff": test}, test="t-test.arff")


def attempt(files, test=None, labels=None):
    """Read the first of the files: a data set, or a DataError of one sentence that names one of the files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in files]
        for path, content in zip(paths, files.values(), strict=True):
            path.write_bytes(content)
        try:
            data = read(paths[0], labels=labels, test=None if test is None else paths[0].with_name(test))
        except DataError as error:
            text = str(error)
            assert any(str(path) in text for path in paths), text
            assert text.endswith((".", "?")) and text.isprintable() and len(text) < 600, text
        else:
            assert isinstance(data, Dataset)
            X = TableEncoder().fit_transform(data.X) if isinstance(data.X, TableRows) else data.X
            kept = X.data if sparse.issparse(X) else X
            assert data.X.shape[0] == data.Y.shape[0] and np.isfinite(kept).all()
            assert "".join(data.feature_names + data.label_names).encode()  # can be written to a report
            assert len(data.feature_names) == data.X.shape[1] and len(data.label_names) == data.Y.shape[1]


SHAPES = st.sampled_from(
    ["{}", "{0 1}", "{1 20,2 1}", "{0 7,1 0,2 123456789}", "{0 1234567890}", "{ }", "{2 1.5}", "{0 1, 2 1}"]
)
ODD = st.text(alphabet="{} ,012", max_size=9).map(lambda text: "{" + text + "}")


@pytest.mark.parametrize("method", ["_whole_numbers", "_any_numbers", "plain"])
@settings(max_examples=400 if WHOLE else 50, deadline=None)
@given(rows=st.lists(SHAPES | ODD | ODD.map(lambda row: row[1:]), min_size=1, max_size=4))
@example(rows=["{5}", "{ 1,2 3}"])
@example(rows=["5{0 1}", "{0 }"])
@example(rows=["{}", "{}"])
def test_sparse_rows_read_in_bulk_are_those_read_one_by_one(method, rows):
    attributes = [Attribute(name) for name in "abc"]
    block = _SparseRows([row.strip().encode() for row in rows], np.arange(len(rows)), attributes, Path("t.arff"))
    try:
        exact = block.exact()
    except DataError:
        exact = None
    bulk = getattr(block, method)()
    if exact is None and method != "plain" and bulk is not None:  # which columns there are is asked by `plain`
        counts, columns, _ = bulk
        rises = [np.diff(part).min(initial=1) > 0 for part in np.split(columns, np.cumsum(counts)[:-1])]
        assert columns.max(initial=0) > 2 or not all(rises)
    elif bulk is not None:
        for ours, theirs in zip(bulk, exact, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_fault_is_named_by_its_line_whatever_the_blocks(tmp_path, monkeypatch):
    rows = ["{0 1,1 1}", "", "% note", "{}"] * 5 + ["{0 one}"]
    (tmp_path / "t.arff").write_text(
        "@relation 't: -C 1'\n@attribute y {0,1}\n@attribute x real\n@data\n" + "\n".join(rows)
    )
    for size in (1, 7, 10, 64, 1 << 20):
        monkeypatch.setattr(arff, "BLOCK_BYTES", size)
        with pytest.raises(DataError, match="line 25: 'one' in column 1"):
            read(tmp_path / "t.arff")


once = settings(deadline=None)  # the first example pays for importing scikit-learn
often = settings(max_examples=200 if WHOLE else 25, deadline=None)


@pytest.mark.parametrize("name", ["t.arff", "t.svm", "t.npz", "t.arff.gz", "t.svm.gz"])
@once
@given(content=st.binary(max_size=200))
def test_random_bytes_are_refused(name, content):
    attempt({name: content}, labels=["y"] if ".arff" in name else None)


@once
@given(content=st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
@example(content=b"<a>" * 5000)
@example(content=b"\xff\xfe<\x00")
@example(content=b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><x><label name="&b;"/></x>')
def test_random_bytes_are_refused_as_names_of_labels(content):
    attempt({"t.arff": DENSE, "t.xml": content})


@pytest.mark.parametrize("whole", [DENSE, SPARSE, PLAIN], ids=["dense", "sparse", "plain"])
@often
@given(data=st.data())
def test_damaged_arff_is_read_or_refused(whole, data):
    attempt({"t.arff": data.draw(damaged(whole))})


@often
@given(content=damaged(XML))
def test_damaged_xml_is_read_or_refused(content):
    attempt({"t.arff": DENSE, "t.xml": content})


@often
@given(content=damaged(SVM))
def test_damaged_svmlight_is_read_or_refused(content):
    attempt({"t.svm": content})


@pytest.mark.parametrize(("whole", "suffix"), [(DENSE, ".arff"), (SPARSE, ".arff"), (SVM, ".svm")])
@once
@given(data=st.data())
def test_a_damaged_test_file_is_read_or_refused(whole, suffix, data):
    test = data.draw(damaged(whole))
    attempt({"t-train" + suffix: whole, "t-test" + suffix: test}, test="t-test" + suffix)


@pytest.mark.parametrize(("whole", "suffix"), [(DENSE * 9, ".arff.gz"), (SVM * 9, ".svm.gz")])
@once
@given(data=st.data())
def test_damaged_gzip_is_read_or_refused(whole, suffix, data):
    attempt({"t" + suffix: data.draw(damaged(gzip.compress(whole, mtime=0)))})


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def archive(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        for name, content in members.items():
            zipped.writestr(f"{name}.npy", content)
    return stream.getvalue()


CSR = sparse.csr_array(np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]]))
PARTS = {"data": CSR.data, "indices": CSR.indices, "indptr": CSR.indptr, "shape": np.array(CSR.shape)}
REST = {"train_idx": np.array([0, 2]), "test_idx": np.array([1]), "label_names": np.array(["a", "b"])}
INDICATOR = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.uint8)
ARRAYS = {
    "csr": PARTS | REST | {"Y": INDICATOR, "feature_names": np.array(["u", "v", "w"]), "licence": np.array("free")},
    "dense": REST | {"X": CSR.toarray(), "Y": np.array([[1, 0], [np.nan, 1], [1, 1]])},
    "classes": {"X": CSR.toarray(), "Y": np.array([0, 1, 0]), "classes": np.array([7.0, 8.5])},
}


@pytest.mark.parametrize("kind", ARRAYS)
@often
@given(data=st.data())
def test_a_damaged_archive_is_read_or_refused(kind, data):
    """Damage inside a member, zipped again so that its checksum fits; else damage of the zip file itself."""
    members = {name: npy(array) for name, array in ARRAYS[kind].items()}
    if inside := data.draw(st.sampled_from([None, *members])):
        members[inside] = data.draw(damaged(members[inside]))
        attempt({"t.npz": archive(members)})
    else:
        attempt({"t.npz": data.draw(damaged(archive(members)))})


KINDS = [arrays_of.integer_dtypes(), arrays_of.floating_dtypes(), arrays_of.unicode_string_dtypes(max_len=3)]
KINDS += [arrays_of.boolean_dtypes(), arrays_of.complex_number_dtypes(), arrays_of.byte_string_dtypes(max_len=3)]
KINDS += [arrays_of.datetime64_dtypes(), arrays_of.unsigned_integer_dtypes()]
ANY_ARRAY = arrays_of.arrays(st.one_of(KINDS), arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
SMALL = arrays_of.arrays(np.int64, arrays_of.array_shapes(max_dims=2, max_side=4), elements=st.integers(-1, 4))


@pytest.mark.parametrize("kind", ARRAYS)
@often
@given(data=st.data())
def test_an_archive_of_other_arrays_is_read_or_refused(kind, data):
    """Well-formed archives in which one to three arrays are swapped for arrays of any type, shape and value."""
    known = ARRAYS[kind]
    swapped = data.draw(
        st.dictionaries(st.sampled_from([*known, "y", "classes"]), ANY_ARRAY | SMALL, min_size=1, max_size=3)
    )
    attempt({"t.npz": archive({name: npy(array) for name, array in (known | swapped).items()})})


@pytest.mark.parametrize("width", [2**31, 10**12, 2**62])
def test_a_matrix_of_absurd_width_is_refused_before_names_are_made(width):
    members = PARTS | {"shape": np.array([3, width]), "Y": INDICATOR}
    attempt({"t.npz": archive({name: npy(array) for name, array in members.items()})})


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_labels_of_any_float_type_are_read(tmp_path, kind):
    np.savez(tmp_path / "t.npz", X=np.eye(3, dtype=kind), Y=np.array([[1, 0], [np.nan, 1], [0, 1]], dtype=kind))
    data = read(tmp_path / "t.npz")
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 1]] and data.unknown.nnz == 1


def test_row_pointers_that_fall_below_zero_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", **PARTS | {"indptr": np.array([0, 2, 2, -5])}, Y=INDICATOR)
    with pytest.raises(DataError, match=r"are not a CSR matrix \(indptr falls\)"):
        read(tmp_path / "t.npz")


def test_archives_of_the_other_byte_order_are_read(tmp_path):
    parts = {name: array.astype(array.dtype.newbyteorder("S")) for name, array in PARTS.items()}
    np.savez(tmp_path / "t.npz", **parts, Y=INDICATOR.astype(">i2"), train_idx=np.array([0, 2], dtype=">i4"))
    data = read(tmp_path / "t.npz")
    np.testing.assert_array_equal(data.X.toarray(), CSR.toarray())
    np.testing.assert_array_equal(data.Y.toarray(), INDICATOR)
    assert data.train_idx.tolist() == [0, 2] and data.X.dtype.isnative


def test_escaped_halves_of_a_character_are_joined_and_a_lone_half_is_replaced():
    """Java escapes characters beyond the 16-bit plane in two halves, and ARFF comes from Java."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t.arff")
        header = "@relation 't: -C 1'\n@attribute '\\ud83d\\ude00' {0,1}\n@attribute '\\u00e9\\ud800' real\n"
        file.write_text(header + "@data\n1,2\n")
        data = read(file)
    assert data.label_names == ("\U0001f600",) and data.feature_names == ("\u00e9\ufffd",)


VALUES = st.floats(-1e12, 1e12) | st.integers(-3, 3).map(float) | st.sampled_from([0.0, 5e-324, 1e-300, 1e300, 1 / 3])


@st.composite
def tables(draw):
    """Features and labels as every format can hold them.

    svmlight counts features and labels by what occurs, so that the last feature and every label do; it skips blank
    lines, so that no row is without a label and without a feature.
    """
    n, d, c = draw(st.integers(1, 6)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    X = draw(arrays_of.arrays(np.float64, (n, d), elements=VALUES))
    Y = draw(arrays_of.arrays(np.uint8, (n, c), elements=st.integers(0, 1)))
    X[0, -1], Y[0] = 1.5, 1
    X[~(X.any(axis=1) | Y.any(axis=1)), 0] = 2.0
    return X + 0.0, Y


def written(folder, X, Y):
    """The same set in every format."""
    d, c = X.shape[1], Y.shape[1]
    head = f"@relation 't: -C {c}'\n" + "".join(f"@attribute {j} {{0,1}}\n" for j in range(c))
    head += "".join(f"@attribute {j} numeric\n" for j in range(1, d + 1)) + "@data\n"
    cells = [[*map(str, labels), *map(repr, row)] for row, labels in zip(X.tolist(), Y.tolist(), strict=True)]
    given = [[(j, cell) for j, cell in enumerate(row) if float(cell) != 0] for row in cells]
    pairs = [" ".join(f"{j - c + 1}:{cell}" for j, cell in row if j >= c) for row in given]
    labels = [",".join(map(str, np.flatnonzero(row))) for row in Y]
    names = {"feature_names": [str(j) for j in range(1, d + 1)], "label_names": [str(j) for j in range(c)]}
    csr = sparse.csr_array(X)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    files = {
        "dense.arff": head + "".join(",".join(row) + "\n" for row in cells),
        "sparse.arff": head + "".join("{" + ",".join(f"{j} {cell}" for j, cell in row) + "}\n" for row in given),
        "t.svm": "".join(f"{own} {pair}\n" for own, pair in zip(labels, pairs, strict=True)),
    }
    for name, text in files.items():
        Path(folder, name).write_text(text)
    np.savez(Path(folder, "dense.npz"), X=X, Y=Y, **names)
    np.savez(Path(folder, "sparse.npz"), Y=Y, **parts, **names)
    return [Path(folder, name) for name in [*files, "dense.npz", "sparse.npz"]]


@often
@given(table=tables())
def test_every_format_gives_the_same_matrices_and_names(table):
    X, Y = table
    with tempfile.TemporaryDirectory() as folder:
        for path in written(folder, X, Y):
            data = read(path)
            assert sparse.issparse(data.X) == ("dense" not in path.name), path.name
            np.testing.assert_array_equal(data.X.toarray() if sparse.issparse(data.X) else data.X, X, err_msg=path.name)
            np.testing.assert_array_equal(data.Y.toarray(), Y, err_msg=path.name)
            assert data.feature_names == tuple(str(j) for j in range(1, X.shape[1] + 1)), path.name
            assert data.label_names == tuple(str(j) for j in range(Y.shape[1])), path.name
