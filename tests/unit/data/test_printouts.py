"""Tables as programs print them: in frames, with rules, types and the number of rows, or shortened."""

from contextlib import nullcontext

import pandas
import pytest

from proxembed.data import Columns, DataError, read, read_rows
from proxembed.data.readers.table_file import LeftOutLinesWarning

NAMES, RULE = "| place | n | y |", "+---+---+---+"
FRAMES = {  # as programs print tables: above the header, header, below it, a row, below the rows
    "Markdown": ("", NAMES, "|:---|---:|---|", "| {} | {} | {} |", ""),
    "Markdown without a frame": ("", "place | n | y", "---|---|---", "{} | {} | {}", ""),
    "Markdown below a title": ("# Cities\n", NAMES, "| -- | --- | :--: |", "|{}|{}|{}|", ""),
    "MySQL": (RULE, NAMES, RULE, "| {} |  {} | {} |", f"{RULE}\n30 rows in set (0.00 sec)"),
    "psql": ("", " place | n | y ", "-------+---+---", " {} | {} | {}", "(30 rows)\n"),
    "DuckDB": (
        "┌───┬───┬───┐",
        "│ place │ n │ y │\n│ varchar │ double │ varchar │",
        "├───┼───┼───┤",
        "│ {} │ {} │ {} │",
        "├───┴───┴───┤\n│ 30 rows   3 columns │\n└───────────┘",
    ),
    "polars": (
        "shape: (30, 3)\n┌───┬───┬───┐",
        "│ place ┆ n ┆ y │\n│ ---   ┆ --- ┆ --- │\n│ str   ┆ f64 ┆ str │",
        "╞═══╪═══╪═══╡",
        "│ {}    ┆ {}  ┆ {}  │",
        "└───┴───┴───┘",
    ),
    "psql in boxes": ("", " place │ n │ y ", "───────┼───┼───", " {} │ {} │ {}", "(30 rows)\n"),
    "grid": (RULE, NAMES, "+===+===+===+", f"| {{}} | {{}} | {{}} |\n{RULE}", ""),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_tables_in_frames_are_read(frame, tmp_path):
    above, header, below, row, end = FRAMES[frame]
    places = ["New York", 'a "b", c', "x|y" if "│" in row else "x\\|y", "", "Rome"]
    rows = [row.format(places[j % 5], f"{j % 7}.5", "uv"[j * j % 3]) for j in range(30)]
    (tmp_path / "t.txt").write_text("\n".join(filter(None, [above, header, below, *rows, end])) + "\n")
    data = read(tmp_path / "t.txt", "y")
    assert list(data.X["place"][:5]) == ["New York", 'a "b", c', "x|y", "", "Rome"]
    assert list(data.X["n"][:3]) == [0.5, 1.5, 2.5] and data.X.shape == (30, 2)
    assert "columns are separated by '|' in a frame" in data.notes and data.label_names == ("u", "v")
    (tmp_path / "new.txt").write_text("\n".join([header, below, *rows[:4]]) + "\n")
    with pytest.warns(LeftOutLinesWarning) if "\n" in header else nullcontext():
        assert read_rows(tmp_path / "new.txt", data.source)[0]["n"].tolist() == [0.5, 1.5, 2.5, 3.5]


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_a_rule_below_the_header_and_the_number_of_rows_are_no_rows(separator, tmp_path):
    rows = [separator.join((f"{j % 7}.5", "red", "uv"[j % 2])) for j in range(30)]
    lines = [separator.join(("x", "colour", "y")), separator.join(("---", "------", "-")), *rows]
    (tmp_path / "t.txt").write_text("\n".join([*lines, "", "(30 rows affected)", ""]))
    data = read(tmp_path / "t.txt", "y")
    assert data.X.shape == (30, 1) and "1 line of hyphens below the header" in " ".join(data.notes)


@pytest.mark.parametrize("gap", ["│ ·  │ ·  │", "│ …  │ …  │", "│ ... │ ... │"])
def test_a_printed_table_that_leaves_out_rows_is_refused(gap, tmp_path):
    rows = [f"│ {j} │ {'uv'[j % 2]} │" for j in range(20)]
    (tmp_path / "t.txt").write_text("\n".join(["│ a │ y │", "├───┼───┤", *rows, gap, *rows, ""]))
    with pytest.raises(DataError, match=r"line 23: the line stands in the place of rows .* write the whole table"):
        read(tmp_path / "t.txt", "y")
    pandas.DataFrame({"a": range(90), "y": ["u", "v"] * 45}).to_string(tmp_path / "p.txt", max_rows=10)
    with pytest.raises(DataError, match="line 7: the line stands in the place of rows"):
        read(tmp_path / "p.txt", "y")


def test_rows_of_hyphens_in_a_framed_table_are_rows(tmp_path):
    rows = [("| -- | -- |", "| ++ | -- |", f"| {j} | u |", f"| {j} | v |")[j % 4] for j in range(40)]
    (tmp_path / "t.txt").write_text("\n".join(["| a | y |", "|---|---|", *rows, ""]))
    data = read(tmp_path / "t.txt", columns=Columns(labels=("y",), missing=("--", "++")))
    assert data.X.shape[0] == 40
