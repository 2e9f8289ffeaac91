"""Numbers, times and lists in the text cells of files and frames, in a fit and in new rows."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxembed.data import Columns, DataError, read, read_rows
from proxembed.data.errors import TableFaults
from proxembed.data.large_table import LargeTable
from proxembed.methods.table_encoder import TableEncoder
from proxembed.workflow.labelled_data import labelled_data

OPEN = ["1,101", "2,202", "7,303"]
ROWS = 60


def written(path, columns, sep=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=sep).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def table(tmp_path, cells, sep=",", other=None, **options):
    """The data set of a file with a column v of these cells, repeated."""
    others = other or [str(j * j % 7) for j in range(ROWS)]
    columns = {
        "v": [cells[j % len(cells)] for j in range(ROWS)],
        "b": [others[j % len(others)] for j in range(ROWS)],
        "y": ["uv"[j % 2] for j in range(ROWS)],
    }
    return read(written(tmp_path / "t.csv", columns, sep), columns=Columns(labels=("y",), **options))


def new_rows(tmp_path, data, cells, sep=",", other="0"):
    """The numbers of new cells of the column v, read as the data set was."""
    file = written(tmp_path / "n.csv", {"v": cells, "b": [other] * len(cells)}, sep)
    X, _ = read_rows(file, json.loads(json.dumps(data.source)))
    return (X[:, 0] if isinstance(X, np.ndarray) else X["v"]).tolist()


def how(data, name="v"):
    return {column: words for column, words, _ in data.columns}[name]


@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_one_style_in_all_columns_whatever_separates_them(tmp_path, sep):
    data = table(tmp_path, ["1,234", "5"], sep, other=["1,5", "0,25"])
    assert data.X["v"][:2].tolist() == [1.234, 5] and data.X["b"][:2].tolist() == [1.5, 0.25]
    data = table(tmp_path, ["1,234", "5"], sep, other=["1.5", "0.25"])
    assert data.X["v"][:2].tolist() == [1234, 5] and how(data) == "number, comma between thousands"


@pytest.mark.parametrize("sep", [",", ";"])
def test_what_both_readings_fit_is_asked_about_and_either_answer_is_taken(tmp_path, sep):
    with pytest.raises(TableFaults, match="'1,101', which is 1.101 with a decimal comma and 1101 with a") as caught:
        table(tmp_path, OPEN, sep)
    assert caught.value.answers == [(("decimal", ","),), (("decimal", "."),)]
    for decimal, value in ((",", 1.101), (".", 1101)):
        data = table(tmp_path, OPEN, sep, decimal=decimal)
        assert data.X["v"][0] == value and new_rows(tmp_path, data, ["1,101"], sep) == [value]


def test_points_before_three_digits_are_open_in_a_file_with_semicolons_alone(tmp_path):
    cells = ["1.101", "2.202", "7"]
    assert table(tmp_path, cells).X[0, 0] == 1.101
    with pytest.raises(TableFaults, match="1.101"):
        table(tmp_path, cells, ";")
    assert table(tmp_path, cells, ";", decimal=",").X["v"][0] == 1101
    assert table(tmp_path, cells, ";", decimal=".").X[0, 0] == 1.101
    assert table(tmp_path, cells, ";", other=["1,5", "2"]).X["v"][0] == 1101
    assert table(tmp_path, cells, ";", other=["1.5", "2"]).X[0, 0] == 1.101


def test_columns_of_different_decimal_marks_are_asked_about(tmp_path):
    with pytest.raises(TableFaults, match="'1,5', with a decimal comma, but column 'b' holds '2.5'"):
        table(tmp_path, ["1,5", "3"], other=["2.5", "1"])
    data = table(tmp_path, ["1,5", "3"], other=[f"{j}.5" for j in range(9)], decimal=",")
    assert how(data) == "number, decimal comma" and how(data, "b").startswith("category")
    assert any(note.startswith("b is read as a category") for note in data.notes)


@pytest.mark.parametrize("other", [None, ["red", "blue"]])
def test_new_rows_of_another_style_are_refused(tmp_path, other):
    point = table(tmp_path, ["1.25", "3.5"], other=other)
    comma = table(tmp_path, ["1,25", "3,5"], ";", other=other)
    more = other[0] if other else "0"
    assert new_rows(tmp_path, point, ["4.12"], other=more) == [4.12]
    assert new_rows(tmp_path, comma, ["4,123", "1.234,5", "-0,5"], ";", more) == [4.123, 1234.5, -0.5]
    for data, cells in ((point, ["4,12", "0,126", "4,123", "$4"]), (comma, ["4.12", "0.126", "4.123", "1,234.5"])):
        for cell in cells:
            for sep in ",;":
                with pytest.raises(DataError, match="is not a number"):
                    new_rows(tmp_path, data, [cell], sep, more)


def test_text_columns_of_parquet_and_of_frames(tmp_path):
    frame = pd.DataFrame({"v": OPEN * 20, "b": np.arange(60.0) ** 2 % 7, "y": ["u", "v"] * 30})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    X, y = frame.drop(columns="y"), frame["y"].to_numpy()
    for decimal, value in ((",", 1.101), (".", 1101)):
        from_file = read(tmp_path / "t.parquet", columns=Columns(labels=("y",), decimal=decimal))
        labelled = labelled_data(frame, labels="y", decimal=decimal)
        beside = labelled_data(X, y, decimal=decimal)
        assert from_file.X["v"][0] == labelled.X["v"][0] == beside.X["v"][0] == value
    for ask in (lambda: labelled_data(frame, labels="y"), lambda: labelled_data(X, y), lambda: TableEncoder().fit(X)):
        with pytest.raises(ValueError, match="which is 1.101 with a decimal comma"):
            ask()
    encoder = TableEncoder().fit(X.assign(v=["1,5", "2,5", "3"] * 20))
    with pytest.raises(ValueError, match="'1.5' in row 0 of column 'v', which is not a number with a decimal comma"):
        encoder.transform(X.assign(v="1.5"))
    with pytest.raises(ValueError, match="decimal names columns, but X is neither"):
        labelled_data(np.eye(60), y, decimal=",")
    with pytest.raises(DataError, match="decimal=';' must be"):
        Columns(decimal=";")


def test_a_large_table_is_read_in_the_style_of_its_sample(tmp_path):
    columns = {"v": [f"{j % 9},5" for j in range(80)], "y": ["u", "v"] * 40}
    large = LargeTable(written(tmp_path / "t.csv", columns, ";"), Columns(labels=("y",)))
    source = large.sample(60, seed=0).source
    assert [X["v"].tolist() for X, _ in large.parts(source, 100)][0][:3] == [0.5, 1.5, 2.5]


@pytest.mark.parametrize(
    "cells",
    [
        ["5'11\"", "6'0\"", "5'10\""],
        [f"{4 + j // 12}'{j % 12}\"" for j in range(ROWS)],
        ["1/2", "3/4", "1/4"],
        ["1,23,456", "12,34,567", "5,000"],
        ["1.2.3", "1.10.0", "2.0.1"],
        ["192.168.0.1", "10.0.0.2"],
        ["5-10", "10-20", "20-30"],
        ["14:40", "14:40:05"],
        ["1h30", "2h15"],
        ["5. M\u00e4rz 2024", "6. Januar 2024"],
        ["2023-24", "2024-25"],
        ["80:20", "50:50", "75:25"],
        ["29:26", "31:30"],
        ["43:32:51", "12:10:05"],
        ["16:10", "16:9", "4:3"],
        [*(f"1:{25 * j}" for j in range(1, 4)), "1:100"],
        [f"{j},23,456" for j in range(1, ROWS + 1)],
        [f"{j % 20}h{j:02}" for j in range(ROWS)],
        [f"{30 + j}K-{90 + j}K" for j in range(ROWS)],
        ["8\u00d710^4", "3\u00d710^5"],
        ["72 \u00b1 5", "81 \u00b1 4"],
        ["~64", "~18"],
        [f"{2 ** (j % 8)} {'kMG'[j % 3]}B" for j in range(ROWS)],
        [f"{130 + j}{('', ' H', ' L')[j % 3]}" for j in range(ROWS)],
    ],
)
def test_what_looks_like_numbers_or_dates_but_is_not_read_as_such_is_noted(tmp_path, cells):
    data = table(tmp_path, cells)
    assert how(data).startswith(("category", "text")) and any(n.startswith("v is read as a") for n in data.notes)


def test_clock_times_are_hours_and_new_ones_are_checked(tmp_path):
    for cells in (["14:30", "9:15"], [f"{j % 24}:{j:02}" for j in range(ROWS)]):
        data = table(tmp_path, cells)
        assert how(data) == "clock time, in hours"
    assert new_rows(tmp_path, data, ["14:30", ""])[0] == 14.5
    with pytest.raises(DataError, match="'25:00' in column 'v' is not a time such as 14:40"):
        new_rows(tmp_path, data, ["25:00"])


def test_durations_are_minutes_and_months_are_dates(tmp_path):
    data = table(tmp_path, ["59:10", "1:02:30"])
    assert how(data) == "duration, in minutes" and new_rows(tmp_path, data, ["75:30", "1:00:00"]) == [75.5, 60]
    with pytest.raises(DataError, match="'late' in column 'v' is not a duration such as 75:30"):
        new_rows(tmp_path, data, ["late"])
    for name in ("lap", "Finish Time", "runtime"):
        columns = {name: [f"{20 + j}:{j:02}" for j in range(40)], "y": ["u", "v"] * 20}
        assert how(read(written(tmp_path / "t.csv", columns), "y"), name) == "duration, in minutes"
    assert how(table(tmp_path, ["1:35.1", "0:58.25"])) == "duration, in minutes"
    with pytest.raises(TableFaults, match="'v' holds durations: write numbers, such as minutes, or name it with lab"):
        read(tmp_path / "t.csv", columns=Columns(targets=("v",)))
    data = table(tmp_path, [f"{1960 + j}-{1 + j % 12:02}" for j in range(ROWS)])
    assert how(data) == "date" and "v is read as months, such as '1960-01' (category='v': as codes)" in data.notes


def test_factors_after_numbers_are_taken_into_account_in_new_rows(tmp_path):
    data = table(tmp_path, ["$1.2M", "$300K", "$2M"])
    assert how(data) == "number in $ (k, M)" and data.X["v"][:2].tolist() == [1.2e6, 3e5]
    assert new_rows(tmp_path, data, ["$5K", "$7", ""])[:2] == [5000, 7]
    with pytest.raises(DataError, match=r"'5 km' in column 'v' is not a number in \$ \(k, M\)"):
        new_rows(tmp_path, data, ["5 km"])


def test_a_few_words_among_clock_times_are_asked_about(tmp_path):
    cells = ["noon", *(f"{j % 24}:{j:02}" for j in range(ROWS - 1))]
    with pytest.raises(TableFaults, match="'v' holds 'noon' in 1 cell of 60, and clock times in the others: missing"):
        table(tmp_path, cells)
    assert how(table(tmp_path, cells, missing=("noon",))) == "clock time, in hours; 1 empty"
    with pytest.raises(TableFaults, match="'v' holds 'DNF' in 1 cell of 60, and durations in the others: missing"):
        table(tmp_path, ["DNF", *(f"1:{j:02}.5" for j in range(ROWS - 1))])
    for odd, others in (("100:0", "80:20 70:30 60:40"), ("12:10", "9.5:1 8.5:1 7.5:1"), ("n.a.", "80:20 50:50 70:30")):
        assert how(table(tmp_path, [odd, *(others.split() * ROWS)[: ROWS - 1]])).startswith("category")


def test_time_zones_by_name_are_noted(tmp_path):
    data = table(tmp_path, ["Jan 5, 2024 12:00 AM EST", "Jul 5, 2024 12:00 AM EDT"])
    assert how(data) == "date" and any("zones by name, such as EST, which count as UTC" in each for each in data.notes)


def test_years_of_two_digits_and_dates_without_a_known_order_are_noted(tmp_path):
    (note,) = (each for each in table(tmp_path, ["01.02.24", "03.04.24"]).notes if each.startswith("v "))
    assert "the day first; no cell shows the order" in note and "years of two digits" in note
    assert any("years of two digits" in note for note in table(tmp_path, ["Dec-11", "Jan-85"]).notes)
    assert how(table(tmp_path, ["12/31/2024", "01/02/2024"])) == "date, month first"


@pytest.mark.parametrize("cell", ["[0.1 0.2 ... 0.9]", "[0.1, ..., 0.9]", "[0.1, 0.2...", "['a' ... 'z']"])
def test_a_list_without_all_of_its_entries_is_refused(tmp_path, cell):
    full = "['a' 'b']" if "a" in cell else "[0.1 0.2 0.5]"
    with pytest.raises(TableFaults, match="line 3: column 'v' holds a list without all of its entries"):
        table(tmp_path, [full, cell])
    columns = {"v": map(str, range(ROWS)), "y": [full, cell] * (ROWS // 2)}
    with pytest.raises(DataError, match="label 'y' is a list without all of its entries"):
        read(written(tmp_path / "l.csv", columns), labels="y")
    data = table(tmp_path, [full, full.replace("a", "c").replace("0.5", "0.7")])
    with pytest.raises(DataError, match="is not a|something else than numbers"):
        new_rows(tmp_path, data, [cell])


@pytest.mark.parametrize(
    "cells",
    [
        ["['a' 'b']", "['c']"],
        ["{a,b}", "{c}"],
        ["<a><b>", "<c>"],
        ["('a', 'b')", "('c',)"],
        ["{'a', 'b'}", "{'c'}"],
        ['[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]', '[{"id": 3, "name": "c"}]'],
        ["[a, b]", "[c]"],
        ["['a', 'b', None]", "['c', nan]"],
        ['[{"id": 1, "label": "a"}, {"title": "b"}]', '[{"name": "c"}]'],
    ],
)
def test_labels_and_features_in_lists_of_every_form(tmp_path, cells):
    columns = {"v": map(str, range(ROWS)), "y": cells * (ROWS // 2)}
    data = read(written(tmp_path / "l.csv", columns), labels="y")
    assert data.label_names == ("a", "b", "c") and data.Y.sum() == 3 * ROWS // 2
    features = table(tmp_path, cells).X["v"]
    assert [set(each) for each in features[:2]] == [{"a", "b"}, {"c"}]


@pytest.mark.parametrize("cell", ['[{"id": 1}]', "[['a'], ['b']]"])
def test_lists_of_what_has_no_name_are_refused(tmp_path, cell):
    columns = {"v": map(str, range(ROWS)), "y": [cell, "['a']"] * (ROWS // 2)}
    with pytest.raises(DataError, match="label 'y' is a list of something else than names"):
        read(written(tmp_path / "l.csv", columns), labels="y")


def test_a_column_named_as_a_category_is_one_whatever_it_holds(tmp_path):
    data = table(tmp_path, [str(j) for j in range(20)], category=("v",))
    assert how(data) == "category, 20 values" and data.X["v"][3] == "3"
    with pytest.raises(DataError, match="category 'w' names no column"):
        table(tmp_path, ["1", "2"], category=("w",))


def test_identifiers_by_name_may_look_like_ranges_or_fractions(tmp_path):
    columns = {
        "patient": [f"{j % 30}-{j % 30 + 7}" for j in range(ROWS)],
        "b": [str(j * j % 7) for j in range(ROWS)],
        "y": ["uv"[j * j % 5 % 2] for j in range(ROWS)],
    }
    data = read(written(tmp_path / "t.csv", columns), columns=Columns(labels=("y",)))
    assert data.groups is not None and len(set(data.groups)) == 30


@pytest.mark.parametrize(("sign", "unit"), [("<", ""), (">= ", " mg/l"), ("\u2264", "")])
def test_limits_among_numbers_are_read_as_these(tmp_path, sign, unit):
    cells = [f"{sign}0.6{unit}", *(f"{j}.25{unit}" for j in range(1, 9))]
    data = table(tmp_path, cells)
    assert data.X["v"][:2].tolist() == [0.6, 1.25] and how(data) == ("number in mg/l" if unit else "number")
    assert f"v: 7 cells such as {cells[0]!r} are read as that limit (category='v': as categories)" in data.notes
    assert new_rows(tmp_path, data, [f"<5{unit}", f"7{unit}"]) == [5, 7]
    with pytest.raises(DataError, match="'low' in column 'v' is not a number"):
        new_rows(tmp_path, data, ["low"])
    assert how(table(tmp_path, cells, category=("v",))) == "category, 9 values"
    outputs = read(tmp_path / "t.csv", columns=Columns(targets=("v",), drop=("y",)))
    assert any("are read as that limit" in note for note in outputs.notes)


@pytest.mark.parametrize("cells", [["<=50K", ">50K"], ["<1", "1", "2", "3", ">3"], ["<18", "18-65", ">65"] * 8])
def test_limits_alone_and_steps_are_categories(tmp_path, cells):
    assert how(table(tmp_path, cells)).startswith("category")


def test_choices_joined_by_commas_are_names(tmp_path):
    """As forms write the answers to a question with several; a comma may be the decimal mark elsewhere."""
    choices = ["art", "art, music", "music, sport", "art, sport", "sport", "art, music, sport", ""]
    for sep in ",;":
        data = table(tmp_path, choices, sep, other=["1,5", "2,25"])
        assert how(data).startswith("names, joined by ','; ") and data.X["v"][1] == ("art", "music")
        assert new_rows(tmp_path, data, ["sport,art", ""], sep, other="3,5") == [("sport", "art"), ()]


@pytest.mark.parametrize("beside", [[1.5, 2.5], ["red", "blue"]])
@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_whole_numbers_that_are_all_dates_are_dates(form, beside, tmp_path):
    days = pd.date_range("2020-11-28", periods=ROWS)
    frame = pd.DataFrame({"day": [int(f"{day:%Y%m%d}") for day in days], "x": beside * 30, "y": ["u", "v", "v"] * 20})
    (frame.to_parquet if form == "parquet" else frame.to_csv)(tmp_path / f"t.{form}", index=False)
    data = labelled_data(frame, labels="y") if form == "frame" else read(tmp_path / f"t.{form}", "y")
    days = data.X["day"]
    assert np.diff(days).tolist() == [days[1] - days[0]] * (ROWS - 1)
    assert any("day is read as dates, such as 20201128 (category='day': as codes)" in note for note in data.notes)
    codes = read(tmp_path / f"t.{form}", "y", columns=Columns(category=("day",))) if form != "frame" else None
    assert codes is None or codes.X["day"][0] == "20201128"
    if form != "frame":
        assert read_rows(tmp_path / f"t.{form}", data.source)[0]["day"].tolist() == days.tolist()


def test_codes_of_choices_leave_the_decimal_mark_of_a_table_open(tmp_path):
    pairs = [f"{one},{other}" for one in range(1, 6) for other in range(one + 1, 6)]
    columns = {"q": [*pairs, "3", "5"] * 5, "cost": ["1,101", "2,202", "7.5"] * 20, "y": ["u", "v"] * 30}
    data = read(written(tmp_path / "t.csv", columns), "y")
    assert data.X["q"][0] == ("1", "2") and data.X["cost"][:3].tolist() == [1101, 2202, 7.5]
    assert any("q is read as choices joined by ',', such as '1,2' (decimal=',': as numbers)" in n for n in data.notes)
    as_numbers = read(tmp_path / "t.csv", "y", columns=Columns(decimal=",", missing=("7.5",)))
    assert as_numbers.X["q"][0] == 1.2


@pytest.mark.parametrize("words", [True, False])
def test_numbers_that_may_be_times_are_noted_by_the_name_of_their_column(tmp_path, words):
    cells = [f"{8 + j % 10}.{7 * j % 60:02d}" for j in range(ROWS)]
    beside = ["red", "blue"] * 30 if words else [f"{j}.5" for j in range(ROWS)]
    for name, noted in (("start_time", True), ("price", False)):
        data = read(written(tmp_path / "t.csv", {name: cells, "x": beside, "y": ["u", "v"] * 30}), "y")
        note = f"{name} is read as a number: write times such as 8.00 with a colon if they are times"
        assert (note in data.notes) is noted and float(data.X[name][1] if noted or words else data.X[1, 0]) == 9.07
    cells[3] = "8.75"
    data = read(written(tmp_path / "t.csv", {"start_time": cells, "x": beside, "y": ["u", "v"] * 30}), "y")
    assert not data.notes
