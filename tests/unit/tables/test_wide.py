"""Tables of many columns: the operations grow linearly with the columns, and notes stay few."""

import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import proxembed as pe
from proxembed.cli.app import app
from proxembed.cli.options import in_program_words
from proxembed.data.errors import TableFaults
from proxembed.features.table import table_fit
from proxembed.tables import Column, TableRows
from proxembed.tables.notes import SHOWN_NOTES, LeftOut, few_notes, visible_texts
from proxembed.workflow.labelled_data import labelled_data, leaks
from runs import empty_figures, few_rivals, planes_alone  # noqa: F401


class Name(str):
    """A name that counts how often it is compared, also by a search through a list."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def operations(call):
    """Lines of Python that a call runs, each pass of a loop anew, and comparisons of names."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    earlier, Name.compared = sys.gettrace(), 0
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(earlier)
    return count + Name.compared


def rows_of_width(d, n=6):
    """Rows of numbers, every tenth column with an empty cell, and a category."""
    X = np.random.default_rng(d).normal(size=(n, d))
    X[0, ::10] = np.nan
    columns = [Column(Name(f"g{j}"), "number") for j in range(d)] + [Column(Name("sex"), "category")]
    return TableRows(columns, [*X.T, np.array(["m", "f"] * (n // 2), dtype=object)])


def frame_of_width(d, n=6):
    """The same as a frame."""
    rows = rows_of_width(d, n)
    return pd.DataFrame({Name(column.name): rows[column.name] for column in rows.columns})


def encoder(d):
    frame = frame_of_width(d)
    return lambda: pe.TableEncoder().fit(frame).transform(frame)


def state(d):
    rows = rows_of_width(d)
    return lambda: table_fit(rows).apply(rows)


def reading(d):
    frame = frame_of_width(d).assign(y=["a", "b", "c"] * 2)
    return lambda: labelled_data(frame, labels="y")


@pytest.mark.parametrize(
    ("made", "most"), [(state, 2000), (encoder, 400), (reading, 400)], ids=["state", "encoder", "reading"]
)
def test_the_operations_grow_linearly_with_the_columns(made, most):
    made(10)()  # imports
    few, some, many = (operations(made(d)) for d in (most // 100, most // 10, most))
    assert many - some <= 12 * (some - few)


def leaky(width, n=30):
    """A frame each of whose columns alone tells the class."""
    y = np.arange(n) % 2
    noise = np.random.default_rng(0).normal(size=(n, width))
    return pd.DataFrame(noise + 100 * y[:, None], columns=[f"g{j}" for j in range(width)]).assign(
        sex=["m", "f", "f"] * (n // 3), y=np.array(["a", "b"])[y]
    )


def test_a_few_leaks_are_told_and_the_other_columns_named():
    notes = leaks(labelled_data(leaky(213), labels="y"))
    assert len(notes) == SHOWN_NOTES + 1
    assert notes[-1] == "and 208 more columns: g5, g6, g7, g8, g9, g10, g11, g12, g13, g14 and 198 more"


@pytest.mark.usefixtures("few_rivals", "planes_alone", "empty_figures")
def test_the_program_tells_a_few_leaks(tmp_path):
    leaky(40).to_csv(tmp_path / "t.csv", index=False)
    shown = CliRunner().invoke(
        app, ["search", str(tmp_path / "t.csv"), "--labels", "y", "--max-work", "1", "--methods", "opls",
              "--shuffles", "0", "-o", str(tmp_path / "run")]
    )  # fmt: skip
    assert shown.exit_code == 0, shown.output
    lines = [line for line in shown.output.splitlines() if line.startswith("proxembed: note:")]
    assert sum("alone predicts" in line for line in lines) == SHOWN_NOTES
    assert sum("and 35 more columns: g5" in line for line in lines) == 1
    for page in ("index.html", "model.md"):
        text = (tmp_path / "run" / page).read_text(encoding="utf-8")
        assert text.count("alone predicts") <= SHOWN_NOTES


def test_notes_are_few_for_every_kind_of_column():
    n = 40
    ids = {f"code_{j}": [f"Q{j}-{i:03d}x" for i in range(n)] for j in range(20)}
    rows = {f"row{j}": range(1, n + 1) for j in range(20)}
    constant = {f"same{j}": ["x"] * n for j in range(30)}
    frame = pd.DataFrame(
        {**ids, **rows, **constant, "a": np.random.default_rng(0).normal(size=n), "b": ["u", "v"] * 20}
    )
    data = labelled_data(frame.assign(y=["p", "q"] * 20), labels="y")
    assert len(data.notes) <= 3 * (SHOWN_NOTES + 1)
    assert max(map(len, data.notes)) < 250


def test_problems_of_one_kind_are_few_and_the_remedy_names_all():
    frame = pd.DataFrame({f"v{j}": [[1.0], [1.0, 2.0], [3.0], [4.0]] for j in range(30)})
    with pytest.raises(TableFaults) as caught:
        labelled_data(frame.assign(y=["p", "q", "p", "q"]), labels="y")
    text = str(caught.value)
    assert text.count("vectors of unequal lengths") == SHOWN_NOTES
    assert "and 25 more columns: 'v5', 'v6'" in text
    assert len(caught.value.answers[0]) == 30


def test_names_of_a_wide_table_are_cut_in_errors():
    rows = rows_of_width(300)
    other = TableRows([Column(f"g{j}", "number", unit="m") for j in range(300)], [np.ones(6)] * 300)
    with pytest.raises(ValueError, match=r"g9 and 290 more, read otherwise than in fit"):
        pe.TableEncoder().fit(rows).transform(other)
    assert len(repr(rows)) < 100


def test_notes_of_one_kind_follow_one_another():
    notes = [("a", "a holds 3 cells"), ("b", "b is an id"), ("c", "c holds 4 cells")]
    assert few_notes(notes) == ["a holds 3 cells", "c holds 4 cells", "b is an id"]


def test_a_note_keeps_that_its_column_is_left_out_in_every_form():
    notes = [(name, LeftOut(f"{name} is an id")) for name in "abcdefgh"]
    told = few_notes([("z", "z holds 3 cells"), *notes])
    assert [isinstance(note, LeftOut) for note in told] == [False] + [True] * (len(told) - 1)
    assert told[-1].startswith("and 3 more columns") and isinstance(visible_texts(told)[-1], LeftOut)
    changed = in_program_words(LeftOut("a is an id (id='a' names the rows by it)"))
    assert changed == "a is an id (--id a names the rows by it)" and isinstance(changed, LeftOut)
