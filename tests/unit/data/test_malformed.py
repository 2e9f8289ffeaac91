"""Malformed ARFF, XML and arbitrary bytes: always a DataError, in one sentence that names the place."""

import re
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from designs import WHOLE
from proxembed.data import DataError, Dataset, read

HEAD = "@relation t\n@attribute x real\n@attribute c {red,blue}\n@attribute y {0,1}\n@data\n"
SPARSE = HEAD + "{0 1,1 blue,2 1}\n"
DENSE = HEAD + "1,red,0\n"


def failure(tmp_path, text, labels=("y",)):
    file = tmp_path / "t.arff"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as caught:
        read(file, labels=labels)
    message = str(caught.value)
    assert message.endswith((".", "?")) and "\n" not in message and message.count("; ") == 1, message
    return message.replace(str(tmp_path) + "/", "")


ROWS = [
    (
        DENSE + "1,red\n",
        "t.arff, line 7: the row has 2 values, but 3 attributes are declared; give every attribute one "
        "value, with commas between.",
    ),
    (DENSE + "1,red,0,0\n", "t.arff, line 7: the row has 4 values, but 3 attributes are declared"),
    (DENSE + "1 red 0\n", "t.arff, line 7: the row has 1 values"),
    (DENSE + "\n% note\n1.2.3,red,0\n", "t.arff, line 9: '1.2.3' in column 1 ('x') is not a number; correct"),
    (DENSE + ",red,0\n", "t.arff, line 7: '' in column 1 ('x') is not a number"),
    (DENSE + "1_0,red,0\n", "t.arff, line 7: '1_0' in column 1 ('x') is not a number"),
    (DENSE + "nan,red,0\n", "t.arff, line 7: 'nan' in column 1 ('x') is not a number"),
    (DENSE + "inf,red,0\n", "t.arff, line 7: 'inf' in column 1 ('x') is not a number"),
    (DENSE + "1e999,red,0\n", "t.arff, line 7: '1e999' in column 1 ('x') is too large for a number"),
    (DENSE + "\u0661,red,0\n", "t.arff, line 7: '\u0661' in column 1 ('x') is not a number"),
    (
        DENSE + "1,green,0\n",
        "t.arff, line 7: 'green' in column 2 ('c') is not one of the declared values; correct the "
        "value or add it to the @attribute line.",
    ),
    (DENSE + "1,red,2\n", "t.arff, line 7: '2' in column 3 ('y') is not one of the declared values"),
    (DENSE + "{0 1}\n", "t.arff, line 7: a sparse row stands among dense rows"),
    (SPARSE + "1,red,0\n", "t.arff, line 7: a dense row stands among sparse rows; write all rows in one layout."),
    (SPARSE + "{0 1,3 1}\n", "t.arff, line 7: column number '3' is out of range; number the 3 attributes from 0 to 2."),
    (SPARSE + "{0 1,99999999999999999999 1}\n", "t.arff, line 7: column number '99999999999999999999' is out of range"),
    (SPARSE + "{2 1,0 1}\n", "t.arff, line 7: column 0 stands after column 2; give every column once"),
    (SPARSE + "{0 1,0 1}\n", "t.arff, line 7: column 0 is given twice; give every column once, in rising order."),
    (SPARSE + "{0 1\n", "t.arff, line 7: the closing brace of the sparse row is missing; end the row with }."),
    (SPARSE + "{0 1,}\n", "t.arff, line 7: '' is not a column number and a value"),
    (SPARSE + "{-1 1}\n", "t.arff, line 7: '-1 1' is not a column number and a value"),
    (SPARSE + "{0}\n", "t.arff, line 7: '0' is not a column number and a value; write {column"),
    (SPARSE + "{0 1 2 1}\n", "t.arff, line 7: '1 2 1' in column 1 ('x') is not a number"),
    (SPARSE + "{0 one}\n", "t.arff, line 7: 'one' in column 1 ('x') is not a number"),
    (SPARSE + "{0 ?}\n", "t.arff, line 7: ? in feature 'x' (column 1)"),
]


@pytest.mark.parametrize(("text", "message"), ROWS)
def test_a_malformed_row_is_named(tmp_path, text, message):
    assert message in failure(tmp_path, text)


# the same faults in files of plain numbers, which are parsed in bulk first
PLAIN = "@relation t\n@attribute x real\n@attribute n {2,1}\n@attribute y {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,0\n1,2\n", "line 7: the row has 2 values"),
        ("1,2,0\nx,2,0\n", "line 7: 'x' in column 1 ('x') is not a number"),
        ("1,2,0\n1,3,0\n", "line 7: '3' in column 2 ('n') is not one of the declared values"),
        ("1,2,0\nnan,2,0\n", "line 7: 'nan' in column 1 ('x') is not a number"),
        ("1,2,0\n1e400,2,0\n", "line 7: '1e400' in column 1 ('x') is too large"),
        ("{0 1}\n{0 1,0 2}\n", "line 7: column 0 is given twice"),
        ("{0 1}\n{1 1,0 2}\n", "line 7: column 0 stands after column 1"),
        ("{0 1}\n{3 1}\n", "line 7: column number '3' is out of range"),
        ("{0 1}\n{1 3}\n", "line 7: '3' in column 2 ('n') is not one of the declared values"),
        ("{0 1}\n{0 1e400}\n", "line 7: '1e400' in column 1 ('x') is too large"),
        ("{0 1}\n{0 1,}\n", "line 7: '' is not a column number and a value"),
    ],
)
def test_a_malformed_row_of_plain_numbers_is_named(tmp_path, text, message):
    assert message in failure(tmp_path, PLAIN + text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.arff: the file is empty; fetch or write it again."),
        ("% only\n\n", "t.arff: the file is empty"),
        ("@relation t\n@attribute x real\n", "t.arff: there is no @data line; check that the file is"),
        (HEAD, "t.arff: there are no rows after @data; check that the file is complete."),
        ("@relation t\n@data\n1\n", "t.arff, line 2: @data comes before any @attribute; declare the columns first."),
        ("x,y\n1,2\n", "t.arff, line 1: 'x,y' is not an ARFF header line; header lines start with @"),
        ("@attribute x\n", "t.arff, line 1: @attribute 'x' lacks a name or a type; write @attribute NAME TYPE"),
        ("@attribute\n", "t.arff, line 1: @attribute '' lacks a name or a type"),
        ("@attribute two words real\n", "line 1: attribute 'two' has type 'words real', which is none of numeric"),
        (
            "@attribute s relational\n",
            "attribute 's' has type 'relational', which is none of numeric, real, integer, string, date and "
            "{value,value,...}; drop the column or turn it into numbers first.",
        ),
        (
            "@attribute s string\n@attribute y {0,1}\n@data\n{0 red}\n",
            "line 4: attribute 's' has type 'string', which is read in dense rows; drop the column, or",
        ),
        ("@attribute c {a,b\n", "line 1: the values of attribute 'c' lack the closing brace"),
        ("@attribute c {a,,b}\n", "line 1: attribute 'c' declares an empty or a repeated value; declare every value"),
        ("@attribute c {a,b,a}\n", "line 1: attribute 'c' declares an empty or a repeated value"),
        (
            b"@relation t\n@attribute gr\xf6\xdfe real\n",
            "t.arff, line 2: byte 14 of the line is not UTF-8; "
            "save the file as UTF-8 (from Latin-1: iconv -f latin1 -t utf-8).",
        ),
        ((HEAD.replace("blue", "grün") + "1,grün,0\n").encode("latin1"), "t.arff, line 3: byte 21 of the line is"),
        (DENSE.encode() + b"1,bl\xfc,0\n", "t.arff, line 7: byte 5 of the line is not UTF-8"),
        (HEAD.encode("utf-16"), "t.arff, line 1: the file is UTF-16; save it as UTF-8."),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, message):
    assert message in failure(tmp_path, text)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "t.arff: no labels are named among its columns 'x', 'c', 'y'; name them or give a pattern"),
        (["yy"], "t.arff: label 'yy' of labels is not an attribute of the file; did you mean 'y'?"),
        (["beach"], "t.arff: label 'beach' of labels is not an attribute of the file; correct the names."),
        ([], "t.arff: labels names no label; name at least one attribute."),
        (["x", "y"], "t.arff, line 8: label 'x' is 5; labels must be 0 or 1 (or -1 and 1), or ? where unknown (t"),
        ("y", "t.arff: labels='y' is not a file; give the path of the Mulan XML file, or a list of attribute names."),
        (Path("gone.xml"), "gone.xml: no such file; check the path"),
    ],
)
def test_labels_that_do_not_fit(tmp_path, labels, message):
    assert message in failure(tmp_path, DENSE + "1,red,?\n5,red,1\n7,red,1\n", labels=labels)


def test_labels_of_sparse_rows_that_do_not_fit(tmp_path):
    text = "@relation t\n@attribute x real\n@attribute c {0,1,2}\n@attribute y {0,1}\n@data\n{0 5}\n{1 2, 2 1}\n"
    told = "t.arff: no labels are named: there is no t.xml beside it and no -C in @relation; give labels=PATH.xml or"
    assert told in failure(tmp_path, text, labels=None)


def test_every_attribute_a_label(tmp_path):
    text = "@relation 't: -C 5'\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0\n"
    assert "t.arff: every attribute is a label; keep at least one feature." in failure(tmp_path, text, ["a", "b"])
    assert "t.arff: -C 5 in @relation does not fit 2 attributes; give -C n for" in failure(tmp_path, text, None)
    assert "-C 0 in @relation does not fit 2" in failure(tmp_path, text.replace("-C 5", "-C 0"), None)


def test_a_label_name_that_two_attributes_share(tmp_path):
    text = "@relation t\n@attribute y {0,1}\n@attribute y {0,1}\n@attribute x real\n@data\n1,0,1\n"
    assert "label 'y' of labels is the name of several attributes; correct the names." in failure(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<labels><label name='z'/></labels>", "label 'z' of t.xml is not an attribute of the file"),
        ("<labels><label/></labels>", "t.xml: a <label> has no name; write <label name="),
        ("<labels/>", "t.arff: t.xml names no label"),
        ("<labels>\n<label name='y'>", "t.xml, line 2: this is not XML (no element found: line 2, column 16);"),
        ("", "t.xml, line 1: this is not XML"),
        ("<?xml version='1.0' encoding='klingon'?><labels/>", "this is not XML (unknown encoding: klingon)"),
    ],
)
def test_xml_that_does_not_fit(tmp_path, content, message):
    (tmp_path / "t.xml").write_text(content)
    assert message in failure(tmp_path, DENSE, labels=None)


def test_long_foreign_text_is_cut_and_made_printable(tmp_path):
    message = failure(tmp_path, DENSE + "\x07" + "9" * 500 + "z,red,0\n")
    assert "line 7: '\\x07999" in message and len(message) < 150


def test_hostile_repetition_is_read_in_linear_time(tmp_path):
    many = 200_000
    for inside in ("0 " + "1" * many + "x", "0 1" + " " * many + "x", "0" * many, "0 '" + "\\" * many):
        row = "{" + inside + "}"
        assert "line 7: " in failure(tmp_path, SPARSE + row + "\n")
    assert "line 7: " in failure(tmp_path, DENSE + "1" * many + "x,red,0\n")
    assert "line 7: " in failure(tmp_path, DENSE + "'" + "a" * many + ",red,0\n")


def attempt(suffix, content, labels):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t" + suffix)
        file.write_bytes(content)
        try:
            assert isinstance(read(file, labels=labels), Dataset)
        except DataError as error:
            assert str(error).endswith((".", "?")) and folder in str(error)


NPZ_HEAD = b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00!\x00"


@pytest.mark.parametrize(("suffix", "labels"), [(".arff", ["y"]), (".svm", None), (".npz", None)])
@settings(deadline=None)  # the first example pays for importing scikit-learn
@given(content=st.binary(max_size=300))
@example(content=b"\x1f\x8b")
@example(content=b"1 1:1")
@example(content=NPZ_HEAD)
def test_arbitrary_bytes_raise_nothing_but_data_errors(suffix, labels, content):
    attempt(suffix, content, labels)


ARFF_BITS = ["1", "0", "?", ",", " ", "{", "}", "'", '"', "\\", "\n", "red", "blue", "2", ".5", "e9", "-", "%", "nan"]
ARFF_BITS += ["\u00e9", "\x00", "\r"]
SVM_BITS = ["1", "0", ",", ":", " ", "\n", "-", ".5", "e9", "#", "qid:1", "1:1", " 2:3", "nan", "\x00", "inf", "+"]


@pytest.mark.parametrize(
    ("suffix", "head", "bits", "labels"),
    [
        (".arff", HEAD, ARFF_BITS, ["y"]),
        (".arff", PLAIN, ARFF_BITS, ["y"]),
        (".arff", "@attribute", [*ARFF_BITS, "@data\n"], ["y"]),
        (".svm", "1 1:1\n", SVM_BITS, None),
        (".svm", "", SVM_BITS, None),
    ],
)
@settings(max_examples=200 if WHOLE else 50, deadline=None)  # the first example pays for importing scikit-learn
@given(data=st.data())
def test_near_misses_raise_nothing_but_data_errors(suffix, head, bits, labels, data):
    pieces = data.draw(st.lists(st.sampled_from(bits), max_size=30))
    attempt(suffix, (head + "".join(pieces)).encode(), labels)


def test_a_damaged_archive_raises_nothing_but_data_errors(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", X=np.eye(4), Y=np.eye(4, dtype=np.uint8), label_names=list("abcd"))
    whole = (tmp_path / "t.npz").read_bytes()
    for place in range(0, len(whole), 3):
        attempt(".npz", whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :], None)


def test_a_damaged_header_of_an_array_raises_nothing_but_data_errors(tmp_path):
    np.save(tmp_path / "y.npy", np.eye(4, dtype=np.uint8))
    np.save(tmp_path / "t.npy", np.eye(4))
    whole = (tmp_path / "t.npy").read_bytes()
    for place in range(6, 80, 2 if WHOLE else 6):
        for byte in (b"", b'"', b"(", b"\n", b"\x00", b"\xff", b",", b"e", b"["):
            damaged = whole[:place] + byte + whole[place + 1 :]
            attempt(".npy", damaged, tmp_path / "y.npy")
            np.savez(tmp_path / "t.npz", Y=np.eye(4))
            with zipfile.ZipFile(tmp_path / "t.npz", "a") as archive:
                archive.writestr("X.npy", damaged)
            attempt(".npz", (tmp_path / "t.npz").read_bytes(), None)


def test_messages_are_one_sentence_with_file_line_reason_and_remedy():
    assert re.fullmatch(r"f, line 3: r; m\.", str(DataError.at("f", 3, "r", "m")))
    assert str(DataError.at("f", None, "r", "m")) == "f: r; m." and issubclass(DataError, ValueError)
