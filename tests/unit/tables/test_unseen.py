"""New rows whose categories, names of lists or codes the training rows do not have."""

import numpy as np
import pandas as pd
import pytest

from proxembed import OPLS, TableEncoder
from proxembed.data import Columns, Dataset, read, read_rows, row_parts
from proxembed.data.large_table import LargeTable
from proxembed.methods.pipeline import fit_on, source_of
from proxembed.methods.table_encoder import table_of
from proxembed.persist import save
from proxembed.tables.unseen import UnseenCells, UnseenCellsWarning
from proxembed.workflow.new_rows import through_model

RNG = np.random.default_rng(0)
SIZE = RNG.normal(size=40)
FRAME = pd.DataFrame(
    {
        "sex": np.where(np.arange(40) % 2, "M", "F"),
        "tags": [["red", "round"], ["red"], ["blue"], ["round"]] * 10,
        "zip": [f"0{1230 + j % 8}" if j % 3 else "20095" for j in range(40)],
        "size": SIZE,
    }
)
ENCODER = TableEncoder().fit(FRAME)
MODEL = fit_on(OPLS(), Dataset(table_of(FRAME), (SIZE > 0)[:, None].astype(int)))
KNOWN = {"sex": ["M"] * 4, "tags": [["red"]] * 4, "zip": ["20095"] * 4, "size": [0.0] * 4}


@pytest.mark.parametrize("call", [ENCODER.transform, MODEL.transform, MODEL.predict])
@pytest.mark.parametrize(
    ("column", "cells", "note"),
    [
        ("sex", ["male", "female", "male", "M"], "sex: 3 of 4 cells .* 'male' and 'female'; .* 'F' and 'M'"),
        ("sex", ["m", None, "", "m"], "sex: 2 of 2 cells are unknown to the model, such as 'm'"),
        ("tags", [["green"], ["green"], ["Red"], []], "tags: 3 of 3 cells .* 'green' and 'Red'; .* 'blue' and 'red'"),
        ("zip", ["1234", "20095", "20095", "1231"], "zip: 2 of 4 cells lack .* '1234' for '01234'; write"),
        ("zip", [1234, 20095, 1235, 1236], "zip: 3 of 4 cells lack the leading zeros"),
        ("zip", [1234.0, np.nan, 1235.0, 20095.0], "zip: 2 of 3 cells lack the leading zeros"),
        ("zip", ["1234.0", "1235.0", "20095", "20095"], "zip: 2 of 4 cells lack .* '1234.0' for '01234'"),
    ],
)
def test_a_column_of_unseen_cells_is_noted(call, column, cells, note):
    with pytest.warns(UnseenCellsWarning, match=note) as caught:
        call(pd.DataFrame(KNOWN | {column: cells}))
    assert len(caught) == 1


@pytest.mark.parametrize(
    "changed",
    [{}, {"sex": ["male", "M", "F", "female"]}, {"tags": [["red", "green"]] * 3 + [[]]}, {"sex": [None] * 4}],
)
def test_rows_of_known_cells_pass_without_a_note(changed):
    MODEL.predict(pd.DataFrame(KNOWN | changed))


def test_names_of_which_most_occur_once_are_expected_to_be_new():
    names = pd.DataFrame({"name": [f"n{j}" for j in range(30)] + ["a", "a"], "size": np.arange(32.0)})
    new = pd.DataFrame({"name": ["x", "y", "z"], "size": [0.0, 1.0, None]})
    encoder = TableEncoder().fit(names.assign(size=[None, *range(31)]))
    assert encoder.state_.alone[0] == ("name", 30 / 32)
    encoder.transform(new)


def test_codes_of_several_widths_lose_zeros_where_the_training_rows_have_them():
    code = UnseenCells("code", ["007", "12", "1"], 0.0)
    code.add(["7", "12", "3", "1"])
    assert code.notes == [
        "code: 1 of 4 cells lack the leading zeros of the training rows, such as '7' for '007'; write the column as "
        "text, with its zeros"
    ]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    FRAME.drop(columns="tags").assign(y=np.where(SIZE > 0, "u", "v")).to_csv(folder / "old.csv", index=False)
    data = read(folder / "old.csv", columns=Columns(labels=("y",)))
    model = fit_on(OPLS(), data)
    save(model, folder / "m.skops", source=source_of(data))
    return folder, model, data.source


def test_new_rows_of_a_file_are_noted(saved, tmp_path):
    (tmp_path / "new.csv").write_text("sex,zip,size\nmale,20095,0\nfemale,01234,1\n")
    X, _ = read_rows(tmp_path / "new.csv", saved[2])
    with pytest.warns(UnseenCellsWarning, match="sex: 2 of 2 cells"):
        saved[1].transform(X)


def test_a_file_read_in_parts_has_one_note(saved, tmp_path):
    pd.DataFrame({"sex": ["male"] * 3000, "zip": ["20095"] * 3000, "size": 0.5}).to_parquet(tmp_path / "new.parquet")
    columns_of = lambda model, X, _: ({"z": model.transform(X)[:, 0]}, {})  # noqa: E731
    with pytest.warns(UnseenCellsWarning, match="sex: 3,000 of 3,000 cells") as caught:
        through_model(saved[0] / "m.skops", tmp_path / "new.parquet", tmp_path / "z.csv", columns_of, memory=1)
    assert len(caught) == 1


def test_a_test_file_of_unseen_cells_is_noted(tmp_path):
    for name, sexes in (("a", "MFMF"), ("b", "mmff")):
        rows = "".join(f"{sex},{j},{'uv'[j % 2]}\n" for j, sex in enumerate(sexes))
        (tmp_path / f"{name}.csv").write_text("sex,size,y\n" + rows)
    data = read(tmp_path / "a.csv", test=tmp_path / "b.csv", columns=Columns(labels=("y",)))
    assert any("b.csv" in note and "sex: 4 of 4 cells are unknown" in note for note in data.notes)


def test_the_parts_of_a_training_table_are_no_new_rows(saved):
    table = LargeTable(saved[0] / "old.csv", Columns(labels=("y",)))
    assert [X.new for X, _ in table.parts(saved[2], 10)] == [False]
    assert [X.new for X, _ in row_parts(saved[0] / "old.csv", saved[2], 10)] == [True]
