"""Tables that are written in parts: numbers in full, the same columns in every part."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet
import pytest

import proxembed
from proxembed.data import Columns
from proxembed.data import read as load
from proxembed.data.table_writer import TableWriter
from proxembed.report.record import leaderboard_csv


def test_numbers_in_csv_are_whole(tmp_path):
    values = np.array([0.1, 1 / 3, 1e-300, -0.0])
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"z0": values[:3]})
        table.add({"z0": values[3:]})
    header, *read = (tmp_path / "z.csv").read_text().splitlines()
    assert header == "z0" and np.array(read, dtype=float).tobytes() == values.tobytes()


@pytest.mark.parametrize("with_pyarrow", [True, False])
def test_single_precision_has_its_own_digits_in_csv(tmp_path, monkeypatch, with_pyarrow):
    if not with_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    limits = np.finfo("float32")
    shown = ["0.1", "-0.33333334", "16777216", str(limits.max), str(limits.tiny), str(limits.smallest_subnormal), "nan"]
    drawn = np.random.default_rng(0).integers(0, 2**32, 2000, dtype="uint32").view("float32")
    values = np.concatenate([np.array(shown, dtype="float32"), drawn])
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"z0": values})
    read = (tmp_path / "z.csv").read_text().splitlines()[1:]
    assert [*map(float, read[:6])] == [*map(float, shown[:6])]
    np.testing.assert_array_equal(np.array(read, dtype=float).astype("float32"), values)
    digits = [len(re.sub(r"e.*|[-.]|^-?0\.0*", "", cell).strip("0")) for cell in read if cell[-1] not in "nf"]
    assert max(digits) <= 9  # of float64 up to 17


COLUMNS = {
    "id": ["a", "b c", "é-d", "1"],
    "z0": np.array([0.1, -1 / 3, np.nan, 1e22]),
    "z1": np.array([0.1, -2.5e-7, np.inf, 3], dtype="float32"),
    "k": np.array([-1, 2, 3, 4]),
    "y": np.array([0, 1, 1, 0], dtype="uint8"),
    "truth": np.array([True, False, True, True]),
}


@pytest.mark.parametrize("names", [["z0"], ["id", "z0", "z1"], ["k", "y"], ["id", "y"], ["z0", "truth"], list(COLUMNS)])
def test_rows_of_csv_are_those_of_the_csv_module(tmp_path, monkeypatch, names):
    columns = {name: COLUMNS[name] for name in names}
    for path in (tmp_path / "arrow.csv", tmp_path / "csv.csv"):
        with TableWriter(path) as table:
            table.add({name: values[:3] for name, values in columns.items()})
            table.add({name: values[3:] for name, values in columns.items()})
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.undo()
    one, two = (pandas.read_csv(path, dtype=str, keep_default_na=False) for path in sorted(tmp_path.glob("*.csv")))
    assert one.columns.tolist() == two.columns.tolist() == names and len(one) == len(two) == 4
    for name in names:
        if name[0] == "z":
            values = [each[name].astype(float).to_numpy() for each in (one, two)]
            assert values[0].tobytes() == values[1].tobytes(), name
        else:
            assert one[name].tolist() == two[name].tolist(), name


def test_only_columns_that_repeat_have_a_dictionary_in_parquet(tmp_path):
    with TableWriter(tmp_path / "z.parquet") as table:
        table.add(COLUMNS)
    group = pyarrow.parquet.ParquetFile(tmp_path / "z.parquet").metadata.row_group(0)
    own = {group.column(j).path_in_schema: group.column(j).has_dictionary_page for j in range(group.num_columns)}
    assert own["id"] and own["k"] and own["y"] and not own["z0"] and not own["z1"]


def test_cells_of_csv_are_quoted_where_they_must_be(tmp_path):
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"id": ['a,"b"', "ü"], "z0": [1, 2]})
    assert (tmp_path / "z.csv").read_bytes() == 'id,z0\n"a,""b""",1\nü,2\n'.encode()


FORMULAS = ["=1+1", "+a", "-", "-b", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "--1", "-1_000", "+1+1", '=HYPERLINK("x")']
TEXTS = ["-1", "+2.5", "-.5e-3", "a=1", " =1", "", "'=1", "1-2", "é@b"]


def test_cells_and_names_that_a_spreadsheet_takes_for_formulas_are_text(tmp_path):
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"=id": [*FORMULAS, *TEXTS], "-z": np.arange(len(FORMULAS) + len(TEXTS)) - 5.0, "-1": ["x"] * 21})
    read = pandas.read_csv(tmp_path / "z.csv", dtype={"'=id": str}, keep_default_na=False)
    assert read.columns.tolist() == ["'=id", "'-z", "-1"] and read["'-z"].tolist() == (np.arange(21) - 5.0).tolist()
    told = read["'=id"].tolist()
    assert told[: len(FORMULAS)] == [f"'{text}" for text in FORMULAS] and told[len(FORMULAS) :] == TEXTS
    assert not any(text[:1] and text[0] in "=@" for text in told)
    assert read["'=id"].str.removeprefix("'").tolist()[:-3] == [*FORMULAS, *TEXTS][:-3]


def test_our_reader_gives_the_apostrophe_back_too(tmp_path):
    with TableWriter(tmp_path / "z.csv") as table:
        table.add({"doc": ["=a", "-b", "c", "d"], "x": [0.5, -1.5, 2.0, -3.0], "y": [0, 1, 0, 1]})
    found = load(tmp_path / "z.csv", columns=Columns(labels=("y",), id="doc"))
    assert list(found.ids) == ["'=a", "'-b", "c", "d"] and found.X.ravel().tolist() == [0.5, -1.5, 2.0, -3.0]


def test_a_leaderboard_quotes_as_every_csv_file_does():
    score = {"mean": -0.5, "standard_error": None, "test": None}
    entry = {"arm": "=OPLS", "rival": False, "k": 2, "components": 2, "labels": 3, "seconds": 0.1, "failures": ["@x"]}
    text = leaderboard_csv({"leaderboard": [entry | {"scores": {"+loss (ridge)": score}}], "folds": [1]})
    assert text.splitlines()[1] == "'=OPLS,method,2,2,ridge,'+loss,-0.5,,1,3,,0.1,'@x"


def test_no_other_module_writes_csv():
    """Messages may name pandas' way."""
    code = {
        path.name: re.sub('"[^"\n]*"', "", path.read_text()) for path in Path(proxembed.__file__).parent.rglob("*.py")
    }
    found = [name for name, text in code.items() if re.search(r"csv\.(Dict)?[Ww]riter|to_csv", text)]
    assert found == ["table_writer.py"]


def test_parts_become_row_groups_of_one_type(tmp_path):
    with TableWriter(tmp_path / "z.parquet") as table:
        table.add({"id": ["a", "b"], "z0": np.array([0.5, 0.25]), "class": [1, 2]})
        table.add({"id": ["c"], "z0": [3], "class": [3]})
    file = pyarrow.parquet.ParquetFile(tmp_path / "z.parquet")
    assert file.num_row_groups == 2 and file.schema_arrow.field("z0").type == "double"
    assert file.read().to_pydict() == {"id": ["a", "b", "c"], "z0": [0.5, 0.25, 3.0], "class": [1, 2, 3]}


def test_columns_of_parquet_keep_their_order_and_types(tmp_path):
    columns = {"id": ["a", "é <b>"], "z, 0": np.array([0.1, 1e-300]), "n": np.array([1, 0], np.uint8)}
    with TableWriter(tmp_path / "z.parquet") as table:
        table.add(columns)
    read = pyarrow.parquet.read_table(tmp_path / "z.parquet")
    assert read.column_names == list(columns) and str(read.schema.field("n").type) == "uint8"
    assert read.to_pydict() == {name: list(values) for name, values in columns.items()}


def test_without_pyarrow_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"needs pyarrow: pip install 'proxembed\[data\]', or write \.csv"):
        TableWriter(tmp_path / "z.parquet")


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'z.txt' must end in one of .csv, .parquet"):
        TableWriter(tmp_path.relative_to(tmp_path) / "z.txt")
