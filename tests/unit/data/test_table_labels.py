"""Label columns of tables: indicators, classes, joined and listed labels, and what is unknown."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxembed.data import Columns, DataError, read
from proxembed.data.readers.label_arrays import labels_of
from proxembed.data.readers.table_labels import NUMBERS_OF_FILE


def labelled(tmp_path, cells, separator=None, test=None):
    for name, rows in {"a.csv": cells, "b.csv": test or ()}.items():
        (tmp_path / name).write_text("y,x\n" + "".join(f"{cell},{j}\n" for j, cell in enumerate(rows)))
    columns = Columns(labels=("y",), separator=separator)
    return read(tmp_path / "a.csv", columns=columns, test=tmp_path / "b.csv" if test else None)


def sets(data):
    """The labels of each row; None where all are unknown."""
    Y = data.Y.toarray()
    unknown = [] if data.unknown is None else data.unknown.toarray().all(axis=1).tolist()
    named = [{name for name, has in zip(data.label_names, row, strict=True) if has} for row in Y]
    return [None if j < len(unknown) and unknown[j] else row for j, row in enumerate(named)]


def test_one_column_of_zero_and_one_is_one_label(tmp_path):
    data = labelled(tmp_path, ["0", "1.0", "", "FALSE", "NaN", "?"])
    assert data.label_names == ("y",) and sets(data) == [set(), {"y"}, None, set(), None, None]


def test_one_column_of_classes_is_one_hot_in_order(tmp_path):
    data = labelled(tmp_path, ["10", "9", "9", "10", "2", "2"])
    assert data.label_names == ("2", "9", "10") and data.single_label
    data = labelled(tmp_path, ["red", " blue ", "blue", "red", "", "red"])
    assert data.label_names == ("blue", "red")
    assert sets(data) == [{"red"}, {"blue"}, {"blue"}, {"red"}, None, {"red"}]
    assert labelled(tmp_path, ["2.0", "0", "2", "0"]).label_names == ("0", "2")


def test_classes_are_returned_with_the_blanks_that_they_came_with(tmp_path):
    """Unless a class has cells with and without them; numbers have none."""
    assert labelled(tmp_path, [" red", "blue ", " red", "blue "]).values == ("blue ", " red")
    assert labelled(tmp_path, [" red", "blue ", "red", "blue "]).values == ("blue ", "red")
    assert labelled(tmp_path, [" 2", "10 ", " 3", " 2"]).values == (2, 3, 10)
    assert labelled(tmp_path, [" no", "yes ", " no"]).values == (" no", "yes ")


def test_joined_labels_are_split(tmp_path):
    data = labelled(tmp_path, ["sea; sun", "sun", ";", "", "sea;sea;"], separator=";")
    assert data.label_names == ("sea", "sun") and sets(data) == [{"sea", "sun"}, {"sun"}, set(), set(), {"sea"}]
    assert data.notes == ("y: its 1 empty cells are rows without labels (empty='unknown': unknown ones)",)


def test_empty_cells_of_joined_labels_may_be_unknown(tmp_path):
    (tmp_path / "a.csv").write_text("y,x\nsea;sun,1\n;,2\n,3\nsun,4\n")
    data = read(tmp_path / "a.csv", columns=Columns(labels=("y",), empty="unknown"))
    assert sets(data) == [{"sea", "sun"}, set(), None, {"sun"}]
    assert data.notes[0].endswith("its 1 empty cells are unknown")
    with pytest.raises(DataError, match="empty='some' must be None, 'no labels' or 'unknown'"):
        Columns(empty="some")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a;b", "a", "b"], [{"a", "b"}, {"a"}, {"b"}]),
        (["a|b", "b|c", "a|c", "a|b|c"], [{"a", "b"}, {"b", "c"}, {"a", "c"}, {"a", "b", "c"}]),
        (['"a, b"', "a", "b", "b"], [{"a", "b"}, {"a"}, {"b"}, {"b"}]),
        (["P;E, o;", "P;", "E, o;"], [{"P", "E, o"}, {"P"}, {"E, o"}]),
        (['"Salem, OR"', '"Bend, OR"', '"Salem, OR"', '"Bend, OR"'], [{"Salem, OR"}, {"Bend, OR"}] * 2),
        (["A > B", "A > C", "A > B"], [{"A", "A > B"}, {"A", "A > C"}, {"A", "A > B"}]),
        ((["\"['a', 'b']\"", "[]", "\"['b']\""]), [{"a", "b"}, set(), {"b"}]),
        (['"[""a"", ""b""]"', '"[""b""]"', "[]"], [{"a", "b"}, {"b"}, set()]),
        (["yes", "No", "yes", ""], [{"y"}, set(), {"y"}, None]),
    ],
)
def test_the_form_of_the_labels_is_found(tmp_path, cells, expected):
    cells = [f'"{cell}"' if cell.count(",") and '"' not in cell else cell for cell in cells]
    assert sets(labelled(tmp_path, cells)) == expected


def test_the_two_values_of_one_label_are_counted(tmp_path):
    data = labelled(tmp_path, ["False", "True", "False", "False"])
    assert data.notes == ("y is read as one label (False: 3, True: 1)",)
    assert (
        data.describe()["negative"] == "y False" and labelled(tmp_path, ["a", "b"] * 2).describe()["negative"] is None
    )


def test_an_empty_separator_keeps_cells_whole(tmp_path):
    data = labelled(tmp_path, ["a;b", "a", "a;b", "a"], separator="")
    assert data.label_names == ("a", "a;b") and data.single_label
    data = labelled(tmp_path, ["0", "1", "1", "0"], separator="")
    assert data.label_names == ("0", "1") and data.single_label


def test_lists_in_parquet_are_label_sets(tmp_path):
    cells = pa.array([["sea", "sun"], [], None, ["sun"]], pa.list_(pa.string()))
    pq.write_table(pa.table({"y": cells, "x": [1, 2, 3, 4]}), tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet", labels="y")
    assert sets(data) == [{"sea", "sun"}, set(), None, {"sun"}]


def test_classes_of_a_training_and_a_test_file_are_named_together(tmp_path):
    data = labelled(tmp_path, ["0", "1", "1", "0"], test=["2", "0", ""])
    assert data.label_names == ("0", "1", "2")
    assert sets(data) == [{"0"}, {"1"}, {"1"}, {"0"}, {"2"}, {"0"}, None]


@pytest.mark.parametrize(
    ("cells", "separator", "message"),
    [
        (["", "", "NA"], None, "a.csv: every label cell is empty; give labels to some rows at least."),
        (
            ["0.5", "1.5", "0.5"],
            None,
            "a.csv, line 2: label 'y' is the fraction '0.5'; name columns of numbers with targets",
        ),
        (["1", "2", "2.25", "1"], None, "a.csv, line 4: label 'y' is the fraction '2.25'"),
        (["a", "b", "c", "d"], None, "a.csv: label column 'y' holds 4 different classes in 4 rows, such as 'a'; name"),
        (["1 2", "2", "1 3", "3 2"], None, "give their separator, separator=' ' if they are joined by blanks."),
        ([";", ";"], ";", "a.csv: the cells of label column 'y' hold no label; give labels to some rows."),
    ],
)
def test_cells_that_are_no_labels(tmp_path, cells, separator, message):
    with pytest.raises(DataError) as caught:
        labelled(tmp_path, cells, separator)
    assert message in str(caught.value)


def test_many_numbers_that_hardly_repeat_are_a_target_and_no_classes_unless_they_are_said_to_be(tmp_path):
    target = [str(100 + row // 2) for row in range(50)]
    reason = "label column 'y' holds 25 different whole numbers in 50 rows, 2 rows each; pass target_type='classes' if"
    for separator in (None, ""):
        with pytest.raises(DataError, match=reason):
            labelled(tmp_path, target, separator)
    classes = read(tmp_path / "a.csv", columns=Columns(labels=("y",), target_type="classes"))
    assert len(classes.label_names) == 25
    assert len(labelled(tmp_path, [str(row) for row in range(20)] * 2).label_names) == 20
    assert len(labelled(tmp_path, [f"c{number}" for number in target]).label_names) == 25
    assert len(labelled(tmp_path, [str(row // 3) for row in range(75)]).label_names) == 25


@pytest.mark.parametrize(("value", "shown"), [("2", "'2'"), ("0.5", "'0.5'"), ("maybe", "'maybe'"), ("inf", "'inf'")])
def test_several_label_columns_hold_zero_and_one_only(tmp_path, value, shown):
    (tmp_path / "t.csv").write_text(f"a,x,b\n1,5,0\n0,6,1\n\n,6,{value}\n")
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t.csv", labels=["a", "b"])
    expected = (
        f"t.csv, line 5: label 'b' is {shown}, not 0 or 1; write 0 or 1 (or yes and no), and leave the cell empty"
    )
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "remedy", "option"),
    [
        (
            "2,,2",
            "1,0,0",
            "write 1 for '2' and 0 where there is none, and",
            (),
        ),
        (
            "1,0,x",
            ",x,",
            "write 1 for 'x' and 0 where there is none, and",
            (),
        ),
        ("0,x,0", "1,0,0", "write 0 or 1 (or yes and no), and", ()),
        (
            "1,0,x",
            "1,0,0",
            "write 0 or 1 (or yes and no), and",
            (("missing", "x"),),
        ),
        ("1,0,9", "1,0,0", "write 0 or 1 (or yes and no), and", (("missing", "9"),)),
        ("1,0,2", "1,0,0", "write 0 or 1 (or yes and no), and", ()),  # perhaps a further step
        ("1,p,q", "1,0,0", "write 0 or 1 (or yes and no), and", ()),
    ],
)
def test_a_mark_is_proposed_as_an_empty_cell_only_where_labels_keep_their_zeros_and_ones(
    tmp_path, a, b, remedy, option
):
    rows = zip(a.split(","), "567", b.split(","), strict=True)
    (tmp_path / "t.csv").write_text("a,x,b\n" + "".join(f"{','.join(row)}\n" for row in rows))
    with pytest.raises(DataError, match="not 0 or 1; ") as caught:
        read(tmp_path / "t.csv", labels=["a", "b"])
    assert (
        f"; {remedy} leave the cell empty where it is unknown" in str(caught.value) and caught.value.options == option
    )
    assert str(caught.value).endswith(f"; {NUMBERS_OF_FILE}.") is (a == "1,0,2")
    if option:
        settled = Columns(labels=("a", "b"), missing=(option[0][1],))
        assert read(tmp_path / "t.csv", columns=settled).unknown.sum() == 1


@pytest.mark.parametrize(
    ("cells", "separator", "fits"),
    [
        (["sea; sun", "sun", "sea;sky"], ",", "';'"),
        (["sea|sun", "sun", "", "sea/x|sky"], ";", "'|'"),
        (["sea/sun", "sun", "sea/sun"], "|", "'/'"),
        (["sea\tsun", "sun", "sea\tsun"], ";", r"'\t'"),
        (["sea; sun", "sun", "sea; sun"], ">", "';'"),
    ],
)
def test_a_separator_that_no_cell_contains_is_refused_where_cells_contain_another(tmp_path, cells, separator, fits):
    with pytest.raises(DataError) as caught:
        labelled(tmp_path, cells, separator)
    text = str(caught.value)
    assert f"no cell of label column 'y' contains the separator {separator!r}, but cells contain" in text
    assert f"; give separator={fits} (or separator='' for one class per cell)." in text


def test_a_separator_that_no_cell_needs_is_taken(tmp_path):
    assert labelled(tmp_path, ["sea", "sun", "sea", "sun"], ";").label_names == ("sea", "sun")
    assert labelled(tmp_path, ["a/b;c", "c", "c"], ";").label_names == ("a/b", "c")
    assert labelled(tmp_path, ["a/b", "a/b"], test=["c;a/b"], separator=";").label_names == ("a/b", "c")


def test_empty_cells_of_marks_and_of_zero_and_one_are_what_empty_says(tmp_path):
    """Unknown beside 0 and 1 unless they are said to be 0; asked about beside a mark, such as x."""
    n = 12
    rows = [(i, ["0", "1", ""][i % 3], ["x", ""][i % 2], ["", "Phone"][i % 2], "uv"[i % 2] * (i > 0)) for i in range(n)]
    (tmp_path / "t.csv").write_text("a,b,m,p,c\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))

    def told(labels, empty=None):
        return read(tmp_path / "t.csv", columns=Columns(labels=labels, empty=empty))

    assert told("b").unknown.nnz == told("b", "unknown").unknown.nnz == 4
    whole = told("b", "no labels")
    assert whole.unknown is None and whole.Y.sum() == 4 and "empty: 4, read as 0" in whole.notes[1]
    for labels in (("m", "p"), ("m", "b"), "m"):
        with pytest.raises(
            DataError, match="label 'm' is 'x' or empty in every row; give empty='no labels' if"
        ) as error:
            told(labels)
        assert error.value.options == (("empty", "no labels"),)
    marks = told(("m", "p"), "no labels")
    assert (
        marks.label_names == ("m", "p") and marks.unknown is None and marks.Y[:2].toarray().tolist() == [[1, 0], [0, 1]]
    )
    assert told(("m", "p"), "unknown").unknown.nnz == n
    with pytest.raises(DataError, match="label column 'c' holds one class a row; leave it out: its empty cells are"):
        told("c", "no labels")


@pytest.mark.parametrize("typed", [False, True])
def test_many_whole_numbers_as_classes_are_noted(tmp_path, typed):
    """In a column of text, too."""
    labels = [str(i % 21) for i in range(84)]
    if typed:
        pq.write_table(pa.table({"x": [float(i % 5) for i in range(84)], "y": labels}), tmp_path / "t.parquet")
    else:
        (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i % 5},{label}\n" for i, label in enumerate(labels)))
    file = tmp_path / ("t.parquet" if typed else "t.csv")
    note = "y: its 21 whole numbers are read as classes (targets='y' in place of labels reads them as numbers)"
    assert note in read(file, "y").notes
    assert note not in read(file, columns=Columns(labels=("y",), target_type="classes")).notes


def test_classes_of_a_few_words_may_be_labels_joined_by_blanks(tmp_path):
    names = ("cs.LG", "math.CO", "hep-ph", "stat.ML")
    tags = [" ".join(name for j, name in enumerate(names) if i % 15 + 1 >> j & 1) for i in range(45)]
    (tmp_path / "t.csv").write_text("x,tags\n" + "".join(f"{i * i % 7},{tag}\n" for i, tag in enumerate(tags)))
    notes = read(tmp_path / "t.csv", "tags").notes
    assert "tags: its classes are made of a few words (separator=' ': labels joined by blanks)" in notes
    assert read(tmp_path / "t.csv", columns=Columns(labels=("tags",), separator=" ")).Y.shape[1] == 4
    (tmp_path / "t.csv").write_text("x,town\n" + "".join(f"{i % 7},New {'abcdefghijkl'[i % 12]}\n" for i in range(60)))
    assert not any("few words" in note for note in read(tmp_path / "t.csv", "town").notes)


@pytest.mark.parametrize("words", [("n", "j", "y"), ("si", "sim"), ("no", "si", "tak"), ("yes", "ja"), ("n", "no")])
def test_words_of_several_pairs_are_classes(tmp_path, words):
    """They are not one label, nor are they beside another label, in a test file, or in memory."""
    cells = [words[j % len(words)] for j in range(30)]
    rows = [f"{j * j % 7},{cell},{'yes' if j % 2 else 'no'}" for j, cell in enumerate(cells)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y,z", *rows]))
    assert read(path, columns=Columns(labels=("y",), drop=("z",))).label_names == tuple(sorted(words))
    several = read(path, columns=Columns(labels=("y", "z"))).outputs.layout.columns
    assert [(column.name, column.kind) for column in several] == [("y", "classes"), ("z", "labels")]
    assert labels_of(cells).names == tuple(sorted(words))


def test_words_of_two_pairs_in_a_training_and_a_test_file_are_classes(tmp_path):
    for name, cells in (("train", "nj"), ("test", "ny")):
        rows = [f"{j * j % 7},{cells[j % 2]}" for j in range(20)]
        (tmp_path / f"t-{name}.csv").write_text("\n".join(["x,y", *rows]))
    data = read(tmp_path / "t-train.csv", test=tmp_path / "t-test.csv", columns=Columns(labels=("y",)))
    assert data.label_names == ("j", "n", "y")


def test_columns_of_different_pairs_are_one_label_each(tmp_path):
    rows = [f"{j * j % 7},{'nein ja'.split()[j % 2]},{'no yes'.split()[j % 3 == 0]}" for j in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,z", *rows]))
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y", "z")))
    assert data.label_names == ("y", "z") and data.Y.toarray().sum(axis=0).tolist() == [10, 7]


def test_places_with_commas_are_classes_and_no_joined_labels(tmp_path):
    cells = ["London, UK", "Paris", "London", "Rome, Italy", "Rome"]
    rows = [f'{j * j % 7},"{cells[j % 5]}"' for j in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *rows]))
    assert read(tmp_path / "t.csv", columns=Columns(labels=("y",))).label_names == tuple(sorted(cells))
