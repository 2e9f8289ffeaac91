"""Tables that are no labelled data: one sentence with file, line, reason and remedy; never another error."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from designs import WHOLE
from proxembed.cli.options import option_words
from proxembed.data import Columns, DataError, Dataset, read
from proxembed.data.errors import TableFaults
from proxembed.data.large_table import LargeTable
from proxembed.data.readers import table, table_file
from proxembed.features.table import table_fit

HEAD = "y,x,k\n"
ROWS = "0,1,a\n1,2,b\n0,3,a\n1,4,b\n"


def in_program(error):
    """The arguments that solve it, as options of the program."""
    return " ".join(option_words(*option) for option in getattr(error, "answers", [error.options])[0])


def failure(tmp_path, content, columns=None, name="t.csv", **options):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read(tmp_path / name, columns=columns or Columns(labels=("y",)), **options)
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message and "; " in message, message
    return message.replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv: the file is empty; fetch or write it again."),
        (HEAD, "t.csv: there are no rows after the header; check that the file is complete."),
        (HEAD.strip(), "t.csv: there are no rows after the header"),
        ("\n" + HEAD, "t.csv: there are no rows after the header"),
        ("0,1,2\n1,2,3\n", "t.csv, line 1: numbers stand where column names belong; name the columns"),
        (",".join(map(str, range(16))) + "\n", "t.csv: there are no rows after the header"),  # such as wavelengths
        ("y,,k\n" + ROWS, "t.csv, line 1: column 2 has no name; name it; only the first may have none"),
        ("y,x,x\n" + ROWS, "t.csv, line 1: two columns are named 'x'; give every column its own name."),
        (HEAD + ROWS + "1,2\n", "t.csv, line 6: the row has 2 values, not the 3 of the header; give every column one"),
        (HEAD + ROWS + "Source: X\n", "line 6: the row has 1 values, not the 3 of the header; remove the line if it"),
        ("By X\n1,a,a\n2,a,b\n", "line 2: the row has 3 values, not the 1 of the header; remove the lines above"),
        (HEAD + "\n\n" + ROWS + "1,2,b,\n", "t.csv, line 8: the row has 4 values, not the 3 of the header"),
        (HEAD + '0,1,"a\nb"\n0,1\n' + ROWS, "t.csv, line 4: the row has 2 values"),
        (HEAD + ROWS + '0,1,"a\n', "t.csv, line 6: the row is not CSV (unexpected end of data); close every quote"),
        (HEAD + ROWS + "0,1e999,a\n", "t.csv: line 6: column 'x' holds 1e999, which is infinite or too large for a"),
        (
            HEAD + ROWS + "0,one,a\n",
            "t.csv: line 6: column 'x' holds 'one' in 1 cell of 5, and numbers in the others: missing values, or a",
        ),
        (b"\x00\xff\x01", "t.csv, line 1: byte 2 of the line is not UTF-8"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, content, message):
    assert message in failure(tmp_path, content)


def test_a_fault_after_the_first_block_is_named_by_its_line(tmp_path):
    many = HEAD + ROWS * 100_000
    for row, reason in {
        "1,2\n": "t.csv, line 400002: the row has 2 values",
        "0,one,a\n": "t.csv: line 400002: column 'x' holds 'one' in 1 cell of 400,001, and numbers in the others",
        "2,1,a\n": "t.csv, line 400002: label 'y' is '2', not 0 or 1",
    }.items():
        columns = Columns(labels=("y", "k")) if "label" in reason else None
        text = many.replace("a\n", "0\n").replace("b\n", "1\n") if columns else many
        assert reason in failure(tmp_path, text + row, columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            Columns(),
            "no labels are named among its columns 'y', 'x', 'k'; name them or give a pattern, such as labels='t",
        ),
        (Columns(labels=("z",)), "labels 'z' names no column of the table; its columns are 'y', 'x', 'k'."),
        (Columns(labels=("y", "x", "k")), "no column is left for the features; keep at least one column"),
        (Columns(labels=("y",), text="x", drop=("k",)), "text column 'x' holds no text; name a column of texts."),
        (Columns(labels=("y",), time="k"), "line 2: 'a' in time column 'k' is neither a number nor a date; write"),
    ],
)
def test_columns_that_do_not_fit_the_file(tmp_path, columns, message):
    assert message in failure(tmp_path, HEAD + ROWS, columns)


@pytest.mark.parametrize("purpose", ["id", "groups", "time"])
def test_empty_cells_of_ids_groups_and_times(tmp_path, purpose):
    columns = Columns(labels=("y",), **{purpose: "k"})
    assert f"line 3: the cell of {purpose} column 'k' is empty" in failure(tmp_path, HEAD + "0,1,5\n1,2,\n", columns)


def test_a_table_without_a_feature_says_how_its_columns_were_read(tmp_path):
    rows = "".join(f"{j % 2},7,N-{j}\n" for j in range(20))
    expected = (
        "t.csv: no column is left for the features (x: constant, left out; k: id, left out); name them with keep."
    )
    assert expected in failure(tmp_path, HEAD + rows)


def test_every_problem_is_in_one_message_with_the_options_that_settle_all(tmp_path):
    rows = ["1,-999,[1],12,p,0", "2,-999,[1 2],14,q,1", "3,1,[3 4],9999,p,0", "4,2,[3],9999,q,1", "1e999,3,[1],13,p,no"]
    text = "a,b,c,d,kind,y\n" + "\n".join([*rows, "5,4,[2],-,p,maybe", "6,5,[2],15,p,1", "7,5,[2],16,p,1"]) + "\n"
    with pytest.raises(TableFaults) as caught:
        (tmp_path / "t.csv").write_text(text)
        read(tmp_path / "t.csv")
    found = [problem for problem, *_ in caught.value.problems]
    starts = ["line 6: column 'a' holds 1e999", "column 'b' holds -999 in 2", "column 'c' holds vectors of unequal"]
    starts += [
        "line 7: column 'd' holds '-' in 1 cell of 8, and numbers in the others",
        "line 6: column 'y' holds 'no' and 'maybe'",
        "no labels are named",
    ]
    assert [problem[: len(start)] for problem, start in zip(found, starts, strict=True)] == starts
    assert in_program(caught.value) == (
        "--missing=1e999 --missing=-999 --drop c --missing=- --missing=9999 --missing=no --missing=maybe --labels y"
    )
    settled = Columns(labels=("y",), missing=("1e999", "-999", "-", "9999", "maybe"), drop=("c",))
    data = read(tmp_path / "t.csv", columns=settled)
    assert np.isnan(data.X["a"]).sum() == 1 and np.isnan(data.X["b"]).sum() == 2 and np.isnan(data.X["d"]).sum() == 3
    assert data.label_names == ("y",) and data.unknown.sum() == 1


def write_cells(path, cells, words):
    """A table of a column of numbers, a column of words (or digits) and labels."""
    text = "".join(f"{cell},{'abcde'[j % 5] if words else j % 5},{j % 2}\n" for j, cell in enumerate(cells))
    path.write_text("v,k,y\n" + text)


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([*range(40), -200, -200, -200], "-200"),  # of a sensor
        ([*range(92, 132), -1, -1, -1], "-1"),
        ([*(j / 4 for j in range(40)), 99.9, 99.9, 99.9], "99.9"),
        ([*(j / 4 for j in range(40)), -999.25, -999.25, -999.25], "-999.25"),
        ([*(60 + j for j in range(40)), 99.9, 99.9, 99.9], None),
        ([*range(40), -200, -200], None),  # twice
        ([92, 95] * 20 + [99] * 3, None),  # years
        ([*range(40), -200, -300], None),
        ([*range(40), -0.5, -0.5, -0.5], None),
        ([*range(40), -20, -20, -20], None),  # as near as the others are to each other
        ([1, 2, 1, 2, -2, -2, -2], None),  # answers
    ],
)
def test_a_lone_negative_number_far_from_all_others_is_asked_about(tmp_path, cells, code, words):
    """In a table with words, and in a matrix of numbers."""
    write_cells(tmp_path / "t.csv", cells, words)
    if code is None:
        assert read(tmp_path / "t.csv", "y").X.shape[1] == 2
        return
    told = f"column 'v' holds {code} in 3 cells, far from all others: an empty cell, or else a value"
    with pytest.raises(TableFaults, match=f"{told}; add missing='{code}', or missing='none'") as e:
        read(tmp_path / "t.csv", "y")
    assert in_program(e.value) == f"--missing={code}"
    kept = read(tmp_path / "t.csv", columns=Columns(labels=("y",), missing=("none",)))
    assert np.sum(kept.X["v"] == float(code)) == 3


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([1, 2, 3, 4, 5] * 6 + [-9] * 3 + [-1] * 3, ("-9", "-1")),
        ([1, 2, 3, 4, 5] * 6 + [-9, -8, -1] * 3, ("-9", "-8", "-1")),
        ([1, 2, 3, 4, 5] * 6 + [99, 99, 99, 999, 999], ("99", "999")),
        ([*range(-2, 3)] * 6, None),  # answers
        ([-3, -1, 1, 3] * 6, None),
        ([-5, -1, 1, 2, 3] * 6, None),  # not as codes are written
        ([1, 2, 3, 4, 5] * 6 + [-9, -1], None),  # once
        ([0, 10, 20, 35] * 6 + [-20, -5] * 3, None),  # as near as the others are to each other
        ([0, 1.5, 2, 4] * 6 + [-9, -1] * 3, None),  # measured
    ],
)
def test_several_codes_of_a_survey_in_a_column_are_asked_about_at_once(tmp_path, cells, codes, words):
    write_cells(tmp_path / "t.csv", cells, words)
    if codes is None:
        assert read(tmp_path / "t.csv", "y").X.shape[1] == 2
        return
    shown = " and ".join([", ".join(codes[:-1]), codes[-1]])
    with pytest.raises(TableFaults, match=f"'v' holds {shown} in . cells, far from all others: empty cells, or") as e:
        read(tmp_path / "t.csv", "y")
    assert in_program(e.value) == " ".join(f"--missing={code}" for code in codes)
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",), missing=codes))
    assert len(data.Y.toarray()) == len(cells)


COMMAS = [f"{20 + j % 29},{j % 7}5" for j in range(58)]
POINTS = [f"{20 + j % 29}.{j % 7}5" for j in range(58)]
DAYS = [f"2023-{1 + j % 12:02}-{1 + j % 28:02}" for j in range(58)]
FIRST = [f"{1 + j % 28:02}.{1 + j % 12:02}.2023" for j in range(58)]


def column(tmp_path, cells, missing=None):
    """A table with a column v of these cells, which hold no double quotes."""
    rows = "".join(f'"{cell}",{j % 7},{"uv"[j * j % 7 % 2]}\n' for j, cell in enumerate(cells))
    (tmp_path / "t.csv").write_text("v,b,y\n" + rows)
    return read(tmp_path / "t.csv", columns=Columns(labels=("y",), missing=missing))


@pytest.mark.parametrize(
    ("cells", "odd", "kind", "option", "read_as"),
    [
        (COMMAS, ["-", "-"], "number", "--missing=-", "number, decimal comma; 2 empty"),
        ([f"{j},25" for j in range(58)], ["-"], "number", "--missing=-", "number, decimal comma; 1 empty"),
        (COMMAS, ["12,5o"], "number", "--missing='\"12,5o\"'", "number, decimal comma; 1 empty"),
        (COMMAS, ["a", "b", "c"], "number", "--missing=a --missing=b --missing=c", "number, decimal comma; 3 empty"),
        ([f"{cell} EUR" for cell in COMMAS], ["-"], "number", "--missing=-", "number in EUR, decimal comma; 1 empty"),
        (COMMAS, ["", "-", "12.50"], "number", "--missing=- --missing=12.50", "number, decimal comma; 3 empty"),
        (["1,299", "12.5", "3,400.75"] * 9, ["."], "number", "--missing=.", "number, comma between thousands; 1 empty"),
        (POINTS, ["12,50"], "number", "--missing='\"12,50\"'", "number; 1 empty"),
        (DAYS, ["-", "-"], "date", "--missing=-", "date; 2 empty"),
        (FIRST, ["soon", "?"], "date", "--missing=soon", "date, day first; 2 empty"),
    ],
)
def test_an_odd_cell_among_numbers_or_dates_is_asked_about(tmp_path, cells, odd, kind, option, read_as):
    with pytest.raises(
        TableFaults, match=f"line .*: column 'v' holds '.*' in . cells? of .., and {kind}s in the others: missing"
    ) as e:
        column(tmp_path, cells + odd)
    assert in_program(e.value) == option
    data = column(tmp_path, cells + odd, [word for word in odd if word not in ("", "?")])
    assert data.columns[0][1] == read_as and not any("read as" in note for note in data.notes)


@pytest.mark.parametrize("mark", ["-", ".", "--", "Inf", "-inf"])
@pytest.mark.parametrize("cells", [COMMAS, [f"{cell} EUR" for cell in COMMAS], POINTS, DAYS])
def test_a_mark_among_numbers_or_dates_is_asked_about_however_often_it_stands(tmp_path, mark, cells):
    with pytest.raises(TableFaults, match=r"column 'v' holds '.*' in 80 cells of \d+, and (number|date)s in") as e:
        column(tmp_path, cells[:40] + [mark] * 80)
    assert in_program(e.value) == f"--missing={mark}"
    data = column(tmp_path, cells[:40] + [mark] * 80, [mark])
    assert data.columns[0][1].startswith(("number", "date")) and data.columns[0][1].endswith("; 80 empty")


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (
            DAYS[:40] + FIRST[:20],
            "v is read as a category, though 40 of its 60 cells are dates such as '2023-01-01'; write the others, "
            "such as '01.01.2023', the same way, or leave them empty",
        ),
        (
            COMMAS + ["12.50", "13.75", "14.25", "15.25"],
            "58 of its 62 cells are numbers such as '20,05'; write the others, such as",
        ),
        (COMMAS[:40] + ["a", "b", "c"] * 8, "40 of its 64 cells are numbers"),
        (["14", "2", "3", "8", "23", "24", "28"] + ["missing"] * 5, "v is read as a category, though 7 of its 12"),
        ([f"{cell} EUR" for cell in COMMAS] + ["nil"] * 6, "v is read as a text, though 58 of its 64 cells are"),
        (["14", "2", "3", "8", "23", "24", "28", "31"] + ["missing"] * 12, "though 8 of its 20 cells are numbers"),
        ([f"{j}\u00b0{j % 7}'{j % 9}\u2033{'NS'[j % 2]}" for j in range(31)] * 2, 'N", look like numbers, but are not'),
        ([f"{j % 9} lb {j % 13} oz" for j in range(60)], "such as '0 lb 0 oz', look like numbers, but are not"),
        ([f"0xA{j % 31:02X}" for j in range(62)], "such as '0xA00', look like numbers, but are not"),
    ],
)
def test_a_column_that_is_mostly_numbers_or_dates_but_read_as_another_kind_is_told(tmp_path, cells, note):
    assert any(note in told for told in column(tmp_path, cells).notes)


@pytest.mark.parametrize(
    "cells",
    [
        (COMMAS[:20] + list("abcdefghijklmnopqrstuvwxyz")) * 2,
        [f"{j:05}" for j in range(20)] * 2 + ["E11", "E12", "E13"],
        ["12 months", "24 months", "lifetime"] * 10,
        ["1 year", "2 years", "3 years", "5 years"] * 10,
        [f"{j}{'ABCD'[j % 4]}" for j in range(20)] * 2,
        [f"{j}A{j}B7" for j in range(20)] * 2,
        [f"{j} {'Elm Oak Fir Ash Yew Box'.split()[j % 6]} St" for j in range(30)] * 3,
    ],
)
def test_words_and_codes_are_categories_without_a_question_or_a_note(tmp_path, cells):
    data = column(tmp_path, cells)
    assert data.columns[0][1].startswith("category") and not any("read as" in note for note in data.notes)


def test_a_column_that_is_proposed_as_labels_is_not_to_be_dropped(tmp_path):
    lists = ['"[1, 5]"', '"[9]"', '"[1, 9, 12]"']
    (tmp_path / "t.csv").write_text("x,tags\n" + "".join(f"{j}.5,{lists[j % 3]}\n" for j in range(30)))
    with pytest.raises(TableFaults) as caught:
        read(tmp_path / "t.csv")
    assert caught.value.answers == [(("labels", "tags"),)]
    assert read(tmp_path / "t.csv", "tags").label_names == ("1", "5", "9", "12")


def test_vectors_of_several_lengths_or_of_text(tmp_path):
    expected = "t.csv: column 'x' holds vectors of unequal lengths (1, 2); add drop='x'."
    assert failure(tmp_path, "y,x\n0,[1 2]\n1,[1]\n") == expected
    assert "column 'x' holds lists that are neither numbers" in failure(tmp_path, 'y,x\n0,"[1, {}]"\n1,"[2, {}]"\n')


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"y": [0, 1], "x": [1.0, np.inf]}, "t.parquet: row 2: column 'x' holds inf, which is infinite or too large"),
        ({"y": [0, 1], "x": [[1.0], [1, 2]]}, "t.parquet: column 'x' holds vectors of unequal lengths (1, 2); add"),
        ({"y": [0, 1], "x": [{"a": 1}, {"a": 2}]}, "column 'x' holds values that are neither numbers nor text"),
        ({"y": pa.array([], pa.int8()), "x": pa.array([], pa.int8())}, "t.parquet: the table has no rows; check"),
        ({"y": [0, 1], "z": [3, 4], "x": [0, 3]}, "row 2: label 'x' is '3', not 0 or 1"),
    ],
)
def test_parquet_files_that_do_not_fit(tmp_path, columns, message):
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    labels = Columns(labels=("y", "x") if "z" in columns else ("y",))
    assert message in failure(tmp_path, (tmp_path / "t.parquet").read_bytes(), labels, "t.parquet")


def test_a_damaged_parquet_file(tmp_path):
    pq.write_table(pa.table({"y": [0, 1] * 500, "x": np.arange(1000.0)}), tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    for content in (b"", b"PAR1", whole[:-20], whole[: len(whole) // 2]):
        assert "t.parquet: it cannot be read as a Parquet file (" in failure(tmp_path, content, name="t.parquet")
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "gone.parquet", labels="y")
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "gone.csv", labels="y")


def test_a_test_file_of_other_columns_or_values(tmp_path):
    (tmp_path / "a.csv").write_text("y,x,k,z\n0,1,7,7\n")
    assert "a.csv" not in failure(tmp_path, "y,x\n", name="b.csv", test=tmp_path / "a.csv")
    train, test = tmp_path / "c.csv", tmp_path / "d.csv"
    train.write_text(HEAD + ROWS)
    test.write_text("y,k\n0,a\n")
    with pytest.raises(DataError, match="column 'x' of the training file c.csv is missing"):
        read(train, labels="y", test=test)
    test.write_text(HEAD + "0,1,a\n0,ten,zz\n")
    with pytest.raises(DataError, match="d.csv, line 3: 'ten' in column 'x' is not a number, as in the training file"):
        read(train, labels="y", test=test)


def test_options_that_the_format_does_not_take(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), Y=np.eye(2))
    with pytest.raises(DataError, match="id, drop was given, but columns of this format are not named by purpose"):
        read(tmp_path / "t.npz", columns=Columns(id="a", drop=("b",)))
    assert "labels= was given beside columns.labels" in failure(tmp_path, HEAD + ROWS, labels="y")


def test_arrays_and_label_files_that_do_not_fit(tmp_path):
    path, labels = tmp_path / "e.npy", tmp_path / "y.npy"
    np.save(path, np.eye(3))
    (tmp_path / "y.csv").write_text("a,b\n0,1\n")
    (tmp_path / "y.foo").write_text("")
    cases = {
        None: "a .npy file holds no labels; give labels=FILE",
        tmp_path / "y.foo": "no known ending of a label file",
    }
    cases |= {
        tmp_path / "y.csv": "it labels 1 rows, but there are 3 vectors",
        ("a", "b"): "labels= holds several texts",
    }
    for given_labels, message in cases.items():
        with pytest.raises(DataError, match=message):
            read(path, labels=given_labels)
    for Y, message in {
        "short": (np.eye(2), "it has shape \\(2, 2\\), but there are 3 vectors"),
        "values": (np.where(np.eye(3) > 0, np.inf, 0), "y.npy: y column 0 holds infinity in 1 row"),
        "objects": (np.array([None] * 3), "it cannot be read as an .npy file"),
    }.values():
        np.save(labels, Y)
        with pytest.raises(DataError, match=message):
            read(path, labels=labels)
    for X, message in ((np.arange(3), "the array has shape"), (np.full((3, 1), np.nan), "row 1 holds nan in column 1")):
        np.save(path, X)
        with pytest.raises(DataError, match=message):
            read(path, labels=labels)
    with pytest.raises(DataError, match="a second npy file was given"):
        read(path, labels=labels, test=path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    expected = (
        "t.csv: CSV and Parquet need pyarrow, which is not installed; install it (pip install 'proxembed[data]')."
    )
    assert failure(tmp_path, HEAD + ROWS) == expected


def attempt(suffix, content, columns):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t" + suffix)
        file.write_bytes(content)
        labels = file if suffix == ".npy" else None
        try:
            assert isinstance(read(file, labels, columns=columns), Dataset)
        except DataError as error:
            assert str(error).endswith((".", "?")) and folder in str(error)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npy"])
@settings(deadline=None)  # the first example pays for importing pyarrow
@given(content=st.binary(max_size=300))
@example(content=b"\x1f\x8b")
@example(content=b"PAR1\x00\x00\x00\x00PAR1")
@example(content=b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }")
def test_arbitrary_bytes_raise_nothing_but_data_errors(suffix, content):
    attempt(suffix, content, Columns() if suffix == ".npy" else Columns(labels=("*y*",)))


BITS = ["1", "0", ",", ",", "\n", "\n", '"', "y", "x", "k", "2", ".5", "[1 2]", " ", ";", "\r", "\x00", "nan", "true"]
BITS += ["\u00e9", "\ufeff", "2024-01-31", "-", "e9", "|", "\t", "a;b"]


@pytest.mark.parametrize("head", ["", HEAD, "y,x\n1,2\n0,5\n"])
@settings(max_examples=200 if WHOLE else 50, deadline=None)
@given(pieces=st.lists(st.sampled_from(BITS), max_size=30), separator=st.sampled_from([None, ";", ""]))
@example(pieces=["\n"] * 4, separator=None)
def test_near_misses_raise_nothing_but_data_errors(head, pieces, separator):
    attempt(".csv", (head + "".join(pieces)).encode(), Columns(labels=("y",), separator=separator))


def test_a_parquet_file_with_any_byte_changed_raises_nothing_but_data_errors(tmp_path):
    pq.write_table(pa.table({"y": [0, 1, 1, 0], "x": [0.5, 1, 2, 3]}), tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    for place in range(0, len(whole), 5):
        attempt(".parquet", whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :], Columns(labels=("y",)))


def test_a_text_without_words_that_repeat_is_refused_where_it_is_encoded(tmp_path):
    (tmp_path / "t.csv").write_text(HEAD + "0,1,red\n1,2,blue\n")
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",), text="k", drop=("x",)))
    with pytest.raises(ValueError, match="no column of the table varies between these rows"):
        table_fit(data.X)


@pytest.mark.parametrize(
    ("columns", "option", "instead"),
    [
        ({"age": range(12), "town": "abcabcabcabc", "answer": "ynynynynynyn"}, "answer", ["town"]),
        ({"answer": "ynynynynynyn", "age": range(12)}, "answer", []),
        ({"topic": "aabbccddeeff", "answer": "ynynynynynyn"}, "topic", ["answer"]),
        ({"code": range(12), "target": "a" * 12, "answer": "ynynynynynyn"}, "answer", []),
        ({"y": [f"{j}.5" for j in range(12)], "answer": "ynynynynynyn"}, "y", ["answer"]),
        ({"tags": [f"t{j};u" for j in range(12)], "answer": "ynynynynynyn"}, "tags", ["answer"]),
        ({"a": "ynynynynynyn", "b": range(12), "c": "ynynynynynyn", "d": "010101010101"}, "c d", ["a"]),
        ({"kind": "aabbccddeeff"[::-1] * 3, "half": [0.5, 1, 2] * 12, "four": [1, 2, 3, 4] * 9}, "kind", ["four"]),
        ({"a": "u" * 12, "species_id": "aaaabbbbcccc"}, "species_id", []),
        ({"a": "uuuuvvvvwwww", "species_id": "aaaabbbbcccc"}, "species_id", ["a"]),
        ({"a": range(30), "who": [f"w{j}" for j in range(30)]}, "", []),
        ({"a": range(12), "month": ["May 2020", "June 2020"] * 6}, "month", []),
        ({"age": range(12), "name": "abcdefghijkl", "one": "a" * 12, "four": [1, 2, 3, 4, 5, 6] * 2}, "", []),
    ],
)
def test_columns_of_few_values_are_proposed_where_no_name_tells(tmp_path, columns, option, instead):
    rows = zip(*columns.values(), strict=True)
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    with pytest.raises(DataError, match="no labels are named") as caught:
        read(tmp_path / "t.csv")
    kind = "targets" if option == "y" else "labels"
    assert caught.value.options == tuple((kind, name) for name in option.split())
    assert caught.value.instead == tuple((("labels", name),) for name in instead)


def test_quotes_that_are_text_in_a_file_of_tabs_are_refused_with_the_command_that_reads_them(tmp_path):
    (tmp_path / "t.tsv").write_text('y\ttext\nham\t"Your opinion?\nspam\twin "now" here\n' * 4)
    with pytest.raises(DataError, match=r"line 2: .*in pandas by read_csv\(FILE, sep='\\t', quoting=3\)"):
        read(tmp_path / "t.tsv", "y")


def test_a_last_column_of_numbers_is_proposed_as_a_target(tmp_path):
    rows = [f"{j},2024-0{1 + j % 3}-01,{'uv'[j % 2]},${j % 3}.5,{j * j}" for j in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["age,day,kind,fee,price", *rows]))
    with pytest.raises(DataError, match="no labels are named") as caught:
        read(tmp_path / "t.csv")
    assert caught.value.options == (("labels", "kind"),) and caught.value.instead == ((("targets", "price"),),)


@pytest.mark.parametrize("cells", [["3.5", "4"], ["5 mg", "7 mg"], ["3 star", "4 star"]])
def test_a_last_column_of_few_measurements_is_proposed_as_a_target(tmp_path, cells):
    (tmp_path / "t.csv").write_text("age,v\n" + "".join(f"{j},{cells[j % 2]}\n" for j in range(30)))
    with pytest.raises(DataError, match="no labels are named") as caught:
        read(tmp_path / "t.csv")
    assert (caught.value.options, caught.value.instead) == ((("targets", "v"),), ())
    assert read(tmp_path / "t.csv", columns=Columns(targets=("v",))).targets.shape == (30, 1)


def test_without_labels_the_first_rows_tell_what_to_ask(tmp_path, monkeypatch):
    """A large table is not read to its end to say that its labels are not named."""
    monkeypatch.setattr(table, "FIRST_ROWS", 40)
    code = ["-999" if i > 100 else str(i) for i in range(300)]
    rows = [f"{i},{cell},{'yn'[i % 2]}" for i, cell in enumerate(code)]
    pq.write_table(
        pa.table({"age": [float(i) for i in range(300)], "size": list(map(float, code)), "answer": list("yn" * 150)}),
        tmp_path / "t.parquet",
    )
    (tmp_path / "t.csv").write_text("\n".join(["age,size,answer", *rows]) + "\n")
    monkeypatch.setattr(table_file, "BLOCK_BYTES", 400)
    for name in ("t.parquet", "t.csv"):
        with pytest.raises(DataError, match="no labels are named") as caught:
            read(tmp_path / name)
        assert in_program(caught.value) == "--labels answer" and "-999" not in str(caught.value)
        with pytest.raises(DataError, match="-999"):
            read(tmp_path / name, columns=Columns(labels=("answer",)))
        with pytest.raises(DataError, match="no labels are named") as caught:
            LargeTable(tmp_path / name, Columns())
        assert in_program(caught.value) == "--labels answer"
