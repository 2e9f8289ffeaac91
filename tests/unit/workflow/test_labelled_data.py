"""The data of a run: arrays, files and data sets in; labels that no embedding can serve are refused."""

import dataclasses
import inspect
import re

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import proxembed
from proxembed import RowBlocks, compare, search
from proxembed.data import Dataset
from proxembed.workflow import labelled_data as labelled_data_module
from proxembed.workflow.labelled_data import OF_FILES, check_labels, labelled_data, with_test_rows
from runs import program

X = np.arange(24.0).reshape(8, 3) ** 2
MIXED = np.array([[1, 0], [0, 1]] * 4)


def saved(folder, Y, rows=8):
    """A file of the first rows; NaN is unknown."""
    np.savez(folder / "made.npz", X=X[:rows], Y=np.asarray(Y, float)[:rows])
    return folder / "made.npz"


CASES = [
    (np.zeros((8, 2)), 8, "no row has a label"),
    (np.ones((8, 2)), 8, "every row has the same labels"),
    (np.column_stack([np.ones(8), np.zeros(8)]), 8, "every row has the same labels"),
    (np.full((8, 2), np.nan), 8, "y is unknown in every cell: at least some rows must carry a label"),
    (np.column_stack([np.full(8, np.nan), np.ones(8)]), 8, "every row has the same labels"),
    (np.where(np.arange(8)[:, None] < 6, [[0.0, np.nan]], np.nan), 8, "no row with known labels has a label"),
]


@pytest.mark.parametrize(("Y", "rows", "message"), CASES)
@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_labels_that_say_nothing_are_one_line_that_names_the_file(tmp_path, verb, Y, rows, message):
    file = saved(tmp_path, Y, rows)
    done = program(verb, file, "-o", tmp_path / ("m.skops" if verb == "fit" else "out"))
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith(f"proxembed: {file}: {message}") and len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["made.npz"]


def test_too_few_rows():
    few = Dataset(X[:3], MIXED[:3])
    with pytest.raises(
        ValueError, match=r"^f\.csv: there are only 3 rows with known labels, and at least 4 are needed; label"
    ):
        check_labels(few, "f.csv")
    check_labels(Dataset(X, MIXED), "f.csv")


@pytest.mark.parametrize("words", [("demo", "--jobs", 0), ("compare", "absent.npz", "-j", 0)])
def test_limits_are_checked_before_anything_is_read_or_made(tmp_path, words):
    done = program(*words, "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.stderr.startswith("proxembed: --jobs 0 must be")
    assert list(tmp_path.iterdir()) == []


def test_arrays_of_every_kind_become_a_data_set():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    labels = pandas.DataFrame(MIXED, columns=["red", "blue"])
    found = labelled_data(table, labels, groups=list("aabbccdd"), test=[6, 7])
    assert found.feature_names == ("a", "b", "c") and found.label_names == ("red", "blue")
    assert found.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and found.test_idx.tolist() == [6, 7]
    assert found.train_idx.tolist() == list(range(6))
    masked = labelled_data(X, ["p", "q"] * 4, test=np.arange(8) > 5)
    assert masked.single_label and masked.label_names == ("p", "q") and masked.test_idx.tolist() == [6, 7]
    unknown = labelled_data(X, np.where(np.arange(8)[:, None] == 0, np.nan, MIXED))
    assert unknown.unknown.toarray().any(axis=1).tolist() == [True] + [False] * 7
    assert labelled_data(found) is found


def test_a_data_frame_with_cells_of_every_kind_is_searched_and_its_model_takes_new_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    age, kind = rng.normal(40, 9, 60), np.where(rng.random(60) < 0.5, "a", "b")
    frame = pandas.DataFrame(
        {"age": np.where(age > 55, np.nan, age), "kind": kind, "who": [f"P-{j}" for j in range(60)]}
    )
    data = labelled_data(frame, kind == "a")
    assert data.feature_names == ("age", "kind") and np.isnan(data.X["age"]).sum() == (age > 55).sum()
    found = proxembed.search(frame, kind == "a", methods="opls", n_components=1, max_trials=1, folds=2, shuffles=0)
    new = pandas.DataFrame({"kind": ["a", "unheard"], "age": [None, 30.0]})
    assert found.model[:-1].transform(new).shape == (2, 1)
    proxembed.save(found.model, tmp_path / "m.skops")
    again = proxembed.load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict(frame), found.model.predict(frame))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((X,), {}), "y=None: pass the labels"),
        ((("t.csv", MIXED), {}), "y was passed beside the file t.csv"),
        (((X, MIXED), {"labels": "a"}), "labels names columns, but X is neither a file"),
        (((Dataset(X, MIXED), MIXED), {}), "X is a Dataset, which holds labels"),
        (((X, MIXED), {"test": [0.5]}), "test must hold row numbers of X"),
        (
            ((X, MIXED), {"groups": [np.nan] + [1.0] * (len(X) - 1)}),
            "groups holds nan in row 0; give every row a group",
        ),
        (((X, MIXED), {"groups": [None] + ["a"] * (len(X) - 1)}), "groups holds None in row 0; give every row a group"),
        (((X, [np.inf] + [0.5] * (len(X) - 1)), {}), "y holds infinity in 1 row; replace it, NaN stands for unknown"),
    ],
)
def test_arguments_that_do_not_fit_each_other(arguments, message):
    with pytest.raises(ValueError, match=message):
        labelled_data(*arguments[0], **arguments[1])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (RowBlocks.from_arrays(np.ones((4, 2)), np.array([0, 1, 0, 1])), None),
        (da.ones((4, 2)), [0, 1, 0, 1]),
        (np.ones((4, 2)), da.ones(4)),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}), npartitions=1), None),
    ],
)
def test_blocks_of_rows_are_refused_with_the_remedy(X, y):
    with pytest.raises(ValueError, match="take rows in memory. Pass a sample of the rows and its labels"):
        labelled_data(X, y)


def test_an_unknown_option_is_named():
    for name, remedy in {
        "label": "did you mean labels",
        "max_second": "did you mean max_seconds",
        "q": "those of a file are",
    }.items():
        with pytest.raises(TypeError, match=f"{name} is not an option; {remedy}"):
            labelled_data("t.csv", **{name: "a"})


JOBS = {"search": search, "compare": compare}
OPTIONS = {name: set(inspect.signature(job).parameters) - {"X", "y", "columns"} for name, job in JOBS.items()}
OF_OTHERS = [(caller, name) for caller in JOBS for other in JOBS for name in sorted(OPTIONS[other] - OPTIONS[caller])]


@pytest.mark.parametrize(("caller", "name"), OF_OTHERS)
@pytest.mark.parametrize("value", [4, None])
def test_an_option_of_another_function_is_told_so(caller, name, value):
    other = "compare" if caller == "search" else "search"
    words = f"{name} is not an option of {caller}, but one of {other}; leave it out, or call {other}."
    with pytest.raises(TypeError, match=re.escape(words)):
        JOBS[caller](np.eye(4), [0, 1, 0, 1], **{name: value})


@pytest.mark.parametrize("caller", JOBS)
def test_a_misspelled_option_gets_one_that_the_function_takes(caller):
    names = OPTIONS[caller] | set(OF_FILES)
    for name in sorted(OPTIONS["search"] | OPTIONS["compare"] | set(OF_FILES)):
        with pytest.raises(TypeError) as error:
            JOBS[caller](np.eye(4), [0, 1, 0, 1], **{f"{name}x": 1})
        suggested = re.search(r"did you mean (\w+)\?", str(error.value))
        assert suggested is None or suggested[1] in names and suggested[1] != f"{name}x"
        assert name not in names or suggested[1] == name


def test_the_options_that_errors_name_are_those_of_the_functions():
    for name, (kind, more) in labelled_data_module.JOBS.items():
        taken = {field.name for field in dataclasses.fields(kind)} | set(more) | {"groups", "test", "sample_weight"}
        assert taken == OPTIONS[name]


MESSY = {
    "when": ["2024-01-03", "2024-02-01", None, "2024-02-09"] * 3,
    "plan": ["basic", "plus", "basic", None] * 3,
    "minutes": [10.5, None, 3.0, 8.0] * 3,
    "tags": ["late;angry", "", "angry", "late"] * 3,
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_is_read_as_a_file_of_its_columns(library, tmp_path):
    frame = pytest.importorskip(library).DataFrame(MESSY)
    frame.to_csv(tmp_path / "t.csv", index=False) if library == "pandas" else frame.write_csv(tmp_path / "t.csv")
    found, read = labelled_data(frame, labels="tags"), labelled_data(tmp_path / "t.csv", labels="tags")
    assert found.label_names == read.label_names == ("angry", "late")
    np.testing.assert_array_equal(found.Y.toarray(), read.Y.toarray())
    encoded = [proxembed.TableEncoder().fit(data.X) for data in (found, read)]
    assert encoded[0].get_feature_names_out().tolist() == encoded[1].get_feature_names_out().tolist()
    np.testing.assert_allclose(encoded[0].transform(found.X), encoded[1].transform(read.X))
    parted = labelled_data(frame, labels="tags", test=[0, 5])
    assert parted.test_idx.tolist() == [0, 5] and len(parted.train_idx) == 10


def test_faults_of_a_frame_name_its_columns():
    frame = pytest.importorskip("pandas").DataFrame(MESSY)
    with pytest.raises(ValueError, match=r"^X: .*no labels are named"):
        labelled_data(frame)
    with pytest.raises(ValueError, match="tag"):
        labelled_data(frame, labels="tag")
    with pytest.raises(ValueError, match="column 'odd' holds values that are neither numbers nor text; add drop='odd'"):
        labelled_data(frame.assign(odd=[1, "a", [2]] * 4), labels="tags")
    with pytest.raises(ValueError, match="labels names columns, but X is neither"):
        labelled_data(frame, MESSY["tags"], labels="tags")


@pytest.mark.parametrize(
    ("more", "how"),
    [
        ({}, "drawn at random"),
        ({"groups": np.arange(80) // 4}, "whole groups, drawn at random"),
        ({"times": np.arange(80.0)}, "the latest ones"),
    ],
)
def test_test_rows_that_are_set_aside_are_noted(more, how):
    X = np.random.default_rng(0).normal(size=(80, 3))
    data = Dataset(X, (X > 0).astype(int), notes=["one"], **more)
    found, split = with_test_rows(data, 0)
    assert found.notes == (
        "one",
        f"No test rows are named: {len(split.held_out)} rows were set aside as test rows, {how}.",
    )
    assert with_test_rows(found, 0)[0].notes == found.notes


def test_copies_are_groups_of_rows_with_equal_features(tmp_path):
    X, Y = np.array([[1.0, 2], [0, 1], [1, 2], [-0.0, 1], [3, 3]]), np.array([[1], [0], [1], [0], [1]])
    names = ["a", "b"]
    frame = pd.DataFrame(X, columns=names).assign(y=Y[:, 0])
    np.savez(tmp_path / "five.npz", X=X, Y=Y)
    frame.to_csv(tmp_path / "five.csv", index=False)
    found = [
        labelled_data(X, Y, groups="copies"),
        labelled_data(scipy.sparse.csr_array(X), Y, groups="copies"),
        labelled_data(Dataset(X, Y, groups=np.arange(5)), groups="copies"),
        labelled_data(frame, labels="y", groups="copies"),
        labelled_data(frame[names], frame["y"], groups="copies"),
        labelled_data(tmp_path / "five.npz", groups="copies"),
        labelled_data(tmp_path / "five.csv", labels="y", groups="copies"),
    ]
    for data in found:
        assert data.groups.tolist() == [0, 1, 0, 1, 2]
        assert "groups='copies': 5 rows are 3 groups of rows with equal features" in data.notes
    alone = labelled_data(X[:2], Y[:2], groups="copies")
    assert alone.groups is None and alone.notes[-1] == "groups='copies': no two rows have equal features"
    with pytest.raises(ValueError, match="and a column has this name; rename the column"):
        labelled_data(frame.rename(columns={"a": "copies"}), labels="y", groups="copies")


def test_a_copy_of_a_named_test_row_is_not_trained_on_where_copies_are_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X[60:90] = X[:30]
    named = Dataset(X, (X[:, :2] > 0).astype(int), train_idx=np.arange(60), test_idx=np.arange(60, 120))
    found = labelled_data(named, groups="copies")
    assert found.train_idx.tolist() == list(range(30, 60)) and len(found.test_idx) == 60
    assert "; 30 training rows are copies of test rows, and are left out" in found.notes[-1]
    assert found.describe()["copied_test_rows"] == 0
