"""Numbers to predict among the columns of a table, and several columns of classes."""

import numpy as np
import pandas as pd
import pytest

from proxembed.data import Columns, DataError, Dataset, read
from proxembed.workflow.labelled_data import frame_dataset

ROWS = "a;b;kg;grade;site\n" + "".join(
    f"{i},5;{i % 3};{'' if i == 4 else f'{i},25'};{i % 4 + 1};{'NS'[i % 2]}\n" for i in range(24)
)


def made(folder, text, name="t.csv"):
    (folder / name).write_text(text)
    return folder / name


def kinds(data):
    return {column.name: column.kind for column in data.outputs.layout.columns}


def test_numbers_are_read_in_the_style_of_the_table_with_classes_beside_them(tmp_path):
    data = read(made(tmp_path, ROWS), columns=Columns(targets=("k*",), labels=("grade", "site")))
    assert kinds(data) == {"kg": "real", "grade": "classes", "site": "classes"}
    known = np.asarray(data.outputs)[:, 0]
    assert np.isnan(known[4]) and known[[0, 23]].tolist() == [0.25, 23.25]
    assert data.outputs.layout.columns[1].values.tolist() == [1, 2, 3, 4]
    assert data.feature_names == ("a", "b") and data.Y.shape == (24, 0) and data.y is data.outputs
    assert data.notes[-1] == (
        "outputs: kg (number, 0.25 to 23.25; 1 unknown), grade (classes 1, 2, 3, 4), site (classes N, S)"
    )
    assert [each["name"] for each in data.describe()["outputs"]] == ["kg", "grade", "site"]
    part = data.take([3, 4])
    assert repr(part) == "Dataset(name='t', n=2, d=2, outputs=3)" and np.isnan(np.asarray(part.y)[1, 0])


def test_numbers_of_a_matrix_and_of_its_test_file(tmp_path):
    text = "a,b,y\n" + "".join(f"{i}.5,{i % 5},{i * i % 7}.25\n" for i in range(30))
    train, test = made(tmp_path, text), made(tmp_path, "y,b,a\n,1,2.5\n4,2,3.5\n", "test.csv")
    data = read(train, test=test, columns=Columns(targets="y"))
    assert isinstance(data.X, np.ndarray) and data.outputs.layout.flat and data.train_idx.tolist() == list(range(30))
    assert np.asarray(data.outputs)[-1, 0] == 4.0 and data.outputs.dense_holes().ravel().nonzero()[0].tolist() == [30]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["7.5", "high", "low", "poor"], "line 3: column 'y' mixes numbers and text (7.5, 'high'): make it one kind."),
        (
            ["2024-01-01", "2024-02-01"],
            "column 'y' holds dates: write numbers, such as days since the first date, or name",
        ),
        (["", ""], "column 'y' holds no number: every cell is empty"),
        (["red", "blue"], "'red', which is not a number: name it with labels= instead of targets=."),
        (["low", "high", "medium"], "holds the steps low, medium, high: write numbers (1 for low, 2 for medium, 3 for"),
        (["5 kg", "300 g"], "line 3: column 'y' mixes units (5 kg, 300 g): write all of its cells in one unit."),
        (["1.5"] + [""] * 23, "column 'y' has 1 known cell, and two are needed; leave it out"),
        (
            ["1", "2", "3", "-999"],
            "column 'y' holds -999 in 6 cells, far from all others: an empty cell, or else a value",
        ),
    ],
)
def test_what_is_no_number_is_told(tmp_path, cells, message):
    text = "a,c,y\n" + "".join(f"{i}.5,{'uvw'[i % 3]},{cells[i % len(cells)]}\n" for i in range(24))
    with pytest.raises(DataError) as caught:
        read(made(tmp_path, text), columns=Columns(targets="y"))
    assert message in str(caught.value)


def topics(second):
    first, n = ["art", "sport", "art", ""], 40
    pairs = [(first[i % 4], second[i % 5]) for i in range(n)]
    return "a,t1,t2\n" + "".join(f"{i}.5,{one},{two}\n" for i, (one, two) in enumerate(pairs)), pairs


def test_columns_that_share_their_values_are_one_label_set(tmp_path):
    text, pairs = topics(["art", "music", "", "art", "sport"])
    file = made(tmp_path, text)
    data = read(file, columns=Columns(labels="t*"))
    assert data.label_names == ("art", "music", "sport") and data.unknown is None
    assert data.Y.sum() == sum(len({*pair} - {""}) for pair in pairs)
    assert "one label set" in " ".join(data.notes) and "target_type='classes'" in " ".join(data.notes)
    frame = pd.read_csv(file)
    for y in (frame[["t1", "t2"]], frame[["t1", "t2"]].to_numpy(object)):
        same = frame_dataset(frame[["a"]], y)
        assert same.label_names == data.label_names and (same.Y != data.Y).nnz == 0
    classes = read(file, columns=Columns(labels="t*", target_type="classes"))
    assert kinds(classes) == {"t1": "classes", "t2": "classes"}
    blank = read(file, columns=Columns(labels="t*", empty="unknown")).unknown
    assert blank.nnz == 3 * sum(pair == ("", "") for pair in pairs)


@pytest.mark.parametrize("scale", [("low", "mid", "high"), ("here", "there"), ("1", "2", "3", "4", "5")])
def test_answers_on_one_scale_are_outputs(tmp_path, scale):
    """Several columns of them may hold one value in a row."""
    rng = np.random.default_rng(0)
    rows = (f"{i}.5,{','.join(rng.choice(scale, 3))}\n" for i in range(60))
    file = made(tmp_path, "a,t1,t2,t3\n" + "".join(rows))
    data = read(file, columns=Columns(labels="t*"))
    assert kinds(data) == dict.fromkeys(("t1", "t2", "t3"), "classes")
    assert any("target_type='labels': one label set of all their values" in note for note in data.notes)
    assert read(file, columns=Columns(labels="t*", target_type="labels")).outputs is None


def test_columns_of_checked_and_unchecked_are_labels(tmp_path):
    rows = (f"{i}.5,{('Unchecked', 'Checked')[i % 2]},{('Checked', 'Unchecked')[i // 3 % 2]}\n" for i in range(30))
    data = read(made(tmp_path, "a,t (choice=x),t (choice=y)\n" + "".join(rows)), columns=Columns(labels="t*"))
    assert data.label_names == ("t (choice=x)", "t (choice=y)") and data.Y.toarray()[:3].tolist() == [
        [0, 1],
        [1, 1],
        [0, 1],
    ]


def test_columns_of_other_values_are_outputs_unless_they_are_said_to_be_one_label_set(tmp_path):
    file = made(tmp_path, topics(["red", "blue", "", "red", "green"])[0])
    assert kinds(read(file, columns=Columns(labels="t*"))) == {"t1": "classes", "t2": "classes"}
    one = read(file, columns=Columns(labels="t*", target_type="labels"))
    assert one.label_names == ("art", "blue", "green", "red", "sport") and one.outputs is None


def test_outputs_of_arrays_and_tables():
    X = np.arange(12.0).reshape(6, 2)
    y = pd.DataFrame({"u": [0.5, 1, 2, 3, 4, np.nan], "v": list("ababab")})
    data = Dataset.from_targets(X, y)
    assert kinds(data) == {"u": "real", "v": "classes"} and data.outputs.layout.frame == "pandas"
    assert Dataset.from_targets(X, range(6), target_type="real").outputs.layout.flat
    with pytest.raises(DataError, match="y holds labels alone"):
        Dataset.from_targets(X, list("ababab"))
    with pytest.raises(DataError, match="X has 6 rows but Y has 3"):
        Dataset.from_targets(X, [0.5, 1.5, 2.5])


def test_targets_are_named_as_plain_text_like_labels(tmp_path):
    file = made(tmp_path, "a,b,y\n" + "".join(f"{i}.5,{i % 3},{i % 7}.25\n" for i in range(20)))
    for targets in ("y", ["y"]):
        assert kinds(read(file, targets=targets)) == {"y": "real"}
    assert kinds(read(file, "b", targets="y", columns=Columns(target_type="classes"))) == {"b": "classes", "y": "real"}
    with pytest.raises(DataError, match=r"targets= was given beside columns\.targets; name the targets once"):
        read(file, targets="y", columns=Columns(targets="y"))


def test_joined_labels_of_several_columns_are_split(tmp_path):
    text = "a,t1,t2\n" + "".join(f"{i}.5,{['a;b', 'b', ''][i % 3]},{['d', 'a; d'][i % 2]}\n" for i in range(24))
    file = made(tmp_path, text)
    for columns in (Columns(labels="t*"), Columns(labels="t*", separator=";")):
        data = read(file, columns=columns)
        assert data.label_names == ("a", "b", "d") and data.Y[:3].toarray().tolist() == [
            [1, 1, 1],
            [1, 1, 1],
            [0, 0, 1],
        ]
        assert "t1, t2 are read as one label set, since their labels are joined by ';'" in data.notes[0]
    for columns in (Columns(labels="t*", target_type="classes"), Columns(labels="t*", separator="")):
        assert kinds(read(file, columns=columns)) == {"t1": "classes", "t2": "classes"}
    with pytest.raises(DataError, match="contains the separator '/', but cells contain ';'"):
        read(file, columns=Columns(labels="t*", separator="/"))
    marked = made(tmp_path, text.replace("t2", "t2,t3").replace("\n", ",1\n").replace("t3,1", "t3"), "m.csv")
    with pytest.raises(DataError, match="separator=';' splits text, and label column 't3' holds 0 and 1"):
        read(marked, columns=Columns(labels="t*", separator=";"))
