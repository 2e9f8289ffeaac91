"""Columns that alone tell a label are named; signals that are merely strong are not."""

import numpy as np
import pandas
import pytest
import scipy.stats

import proxembed
from proxembed.data import Columns, read
from proxembed.evaluate.arms import rival_arms
from proxembed.workflow import comparison
from proxembed.workflow.comparison import data_and_head
from proxembed.workflow.labelled_data import label_areas, labelled_data, leaks, skewed
from proxembed.workflow.options import CompareOptions


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    done = rng.random(200) < 0.3
    strong = rng.normal(2.0 * done)
    days = np.where(done, rng.integers(1, 30, 200), 0)
    rows = zip(
        strong, days, np.where(done, "closed", "open"), rng.choice(["a", "b"], 200), done.astype(int), strict=True
    )
    text = "\n".join(",".join(map(str, row)) for row in rows)
    (tmp_path / "t.csv").write_text(f"strong,days,state,kind,done\n{text}\n")
    return tmp_path / "t.csv"


def test_a_column_that_tells_the_label_is_named_and_others_are_not(table):
    found = leaks(read(table, labels="done"))
    assert [line.split(" alone")[0] for line in found] == ["days", "state=open", "state=closed"]
    assert leaks(read(table, columns=Columns(labels=("done",), drop=("state", "days")))) == []


@pytest.mark.parametrize(("apart", "named"), [(3.4, False), (3.8, True)])
def test_a_feature_that_is_strong_is_not_named_and_one_that_nearly_tells_is(apart, named):
    """Areas of .992 and .996."""
    place = (np.arange(200) + 0.5) / 200
    values = np.concatenate([scipy.stats.norm.ppf(place), scipy.stats.norm.ppf(place) + apart])
    frame = pandas.DataFrame({"x": values, "z": np.arange(400) % 7, "y": np.repeat(["u", "v"], 200)})
    found = leaks(labelled_data(frame, labels="y"))
    assert (found != []) is named and all("x alone predicts" in line and "is it known before" in line for line in found)


def test_classes_of_few_rows_are_told_by_chance():
    random = np.random.default_rng(0)
    frame = pandas.DataFrame(random.normal(size=(10, 500))).add_prefix("x").assign(y=["u", "v"] * 5)
    areas = label_areas(frame.drop(columns="y").to_numpy(), frame[["y"]].to_numpy() == "u")
    assert areas.max() == 0 and leaks(labelled_data(frame, labels="y")) == []


def test_test_rows_are_not_looked_at(table):
    data = read(table, labels="done", test=table)
    assert leaks(data)[0].startswith("days alone predicts 'done' (AUC 1.000)")
    few = data.take(np.arange(4))
    assert leaks(few) == []


def test_rows_without_a_known_label_do_not_count(table):
    frame = pandas.read_csv(table).astype({"done": object})
    frame.loc[::2, "done"] = ""
    frame.to_csv(table, index=False)
    assert [line.split(" alone")[0] for line in leaks(read(table, labels="done"))][:1] == ["days"]


def test_a_number_or_class_that_a_column_tells_is_named(tmp_path):
    rng = np.random.default_rng(0)
    asleep = rng.uniform(2, 20, 100).round(1)
    near = asleep + rng.normal(size=100)
    columns = {"near": near, "awake": 24 - asleep, "asleep": asleep, "kind": np.where(asleep > 11, "long", "short")}
    columns |= {"half": np.where(np.arange(100) % 2, columns["kind"], ""), "size": rng.choice(["s", "m"], 100)}
    pandas.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    told = "awake alone predicts 'asleep' (rank correlation 1.000): is it known before the"
    settings = Columns(targets=("asleep",), drop=("kind", "half"))
    assert leaks(read(tmp_path / "t.csv", columns=settings)) == [f"{told} output? If not, leave it out (drop)"]
    settings = Columns(labels=("kind", "size"), drop=("near", "asleep", "half"), target_type="classes")
    told = "awake alone predicts 'kind=long' (AUC 1.000): is it known before the label? If not, leave it out (drop)"
    assert leaks(read(tmp_path / "t.csv", columns=settings)) == [told]


@pytest.mark.parametrize(("low", "high"), [(0, 1), ("shut", "open"), ("2024-01-01", "2024-01-02")])
def test_a_copy_with_empty_cells_is_named(tmp_path, low, high):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    copy = np.where(np.arange(200) % 4 == 0, "", np.where(y == 1, str(high), str(low)))
    few = np.where(np.arange(200) % 20 == 0, y, rng.integers(0, 9, 200)).astype(str)
    few[np.arange(200) % 20 != 0] = ""  # known in too few rows to tell
    table = pandas.DataFrame({"copy": copy, "few": few, "x": rng.normal(size=200), "kind": np.where(y, "u", "v")})
    table.to_csv(tmp_path / "t.csv", index=False)
    names = {line.split(" alone")[0] for line in leaks(read(tmp_path / "t.csv", labels="kind"))}
    assert names and all(name.startswith("copy") for name in names)


def test_a_number_in_another_unit_with_empty_cells_is_named(tmp_path):
    y = np.random.default_rng(0).normal(size=100).round(4)
    other = np.where(np.arange(100) % 4, 3 * y, np.nan)
    pandas.DataFrame({"other": other, "x": y[::-1], "y": y}).to_csv(tmp_path / "t.csv", index=False)
    found = leaks(read(tmp_path / "t.csv", columns=Columns(targets=("y",))))
    assert [line.split(" alone")[0] for line in found] == ["other"]


def test_wavelengths_are_not_named(tmp_path):
    y = np.arange(60) % 2
    spectra = {f"{1000 + j}.5": y + j / 100 for j in range(20)}
    for stray in ({}, {"50 Hz": y % 1}):
        columns = {"kind": np.where(y, "u", "v"), **stray, **spectra, "copy": y}
        pandas.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
        assert [line.split(" alone")[0] for line in leaks(read(tmp_path / "t.csv", labels="kind"))] == ["copy"]


def test_columns_of_an_arff_file_are_named(tmp_path):
    rows = "".join(f"{j % 2},{j % 2 + 1},{j * j % 7}\n" for j in range(40))
    head = "@relation 't: -C 1'\n@attribute y {0,1}\n@attribute copy numeric\n@attribute x numeric\n@data\n"
    (tmp_path / "t.arff").write_text(head + rows)
    assert [line.split(" (")[0] for line in leaks(read(tmp_path / "t.arff"))] == ["copy alone predicts 'y'"]


def test_results_and_pages_hold_the_notes_of_the_data(table, monkeypatch):
    """Of a file and of the same DataFrame, in Python as in the program."""
    frame = pandas.read_csv(table).drop(columns="state")
    frame["row_id"] = [f"r{j}x" for j in range(len(frame))]
    frame.loc[0, "strong"] = np.nan
    y = frame.pop("done")
    whole = frame.assign(done=y)
    for arguments, labels in (((frame, y), {}), ((whole, None), {"labels": "done"})):
        words = "\n".join(data_and_head("compare", *arguments, options=CompareOptions(), **labels)[0].notes)
        assert "row_id is an id (all different)" in words and "days alone predicts" in words
    monkeypatch.setattr(comparison, "rival_arms", lambda *given, **more: rival_arms(*given, **more)[:2])
    found = proxembed.compare(whole, labels="done", methods="opls", n_components=1, folds=2)
    assert "\n".join(found.notes) == words
    page = found.report()
    assert "row_id is an id" in page and "days alone predicts" in page


def test_skewed_numbers_are_noted_once_none_is_below_0_and_test_rows_do_not_count():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.exponential(size=(120, 2)) ** 2
    skew = np.median([scipy.stats.skew(column[:100]) for column in y.T])
    data = labelled_data(X, y, test=np.arange(100, 120))
    assert skewed(data) == [f"Outputs are skewed (median skewness {skew:.1f}, no number below 0): try log1p of them."]
    y[100:] = 1e9  # of test rows
    assert skewed(labelled_data(X, y, test=np.arange(100, 120))) == skewed(data)
    assert skewed(labelled_data(X, y - 0.5)) == skewed(labelled_data(X, rng.uniform(size=120))) == []
