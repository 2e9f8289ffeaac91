"""Columns by purpose: names and globs to the roles of a table's columns."""

from pathlib import Path

import pytest

from proxembed.data import Columns, DataError
from proxembed.data.readers.columns import Roles, required, resolve

NAMES = ["id", "topic_a", "hue", "topic_b", "when", "topic_id", "size"]
FILE = Path("f.csv")


def test_what_has_no_purpose_is_a_feature_in_the_order_of_the_file():
    assert resolve(Columns(), NAMES, FILE) == Roles((), tuple(NAMES))
    roles = resolve(Columns(labels=("topic_b", "topic_a"), id="id", time="wh*"), NAMES, FILE)
    assert roles == Roles(("topic_a", "topic_b"), ("hue", "topic_id", "size"), id="id", time="when")
    assert roles.named == ("topic_a", "topic_b", "id", "when", "hue", "topic_id", "size")


def test_a_name_in_full_beats_a_glob():
    roles = resolve(Columns(labels=("topic_*",), groups="topic_id", drop=("*",)), NAMES, FILE)
    assert roles == Roles(("topic_a", "topic_b"), (), groups="topic_id")
    assert resolve(Columns(labels=("topic_*",), drop=("topic_id",)), NAMES, FILE).labels == ("topic_a", "topic_b")


def test_a_column_whose_name_looks_like_a_glob_is_named_in_full():
    assert resolve(Columns(labels=("t[1]",)), ["t1", "t[1]"], FILE).labels == ("t[1]",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            Columns(labels=("topics",)),
            "f.csv: labels 'topics' names no column of the table; did you mean 'topic_b' or 'topic_a' or 'topic_id'?",
        ),
        (
            Columns(labels=("tpic_*",)),
            "labels 'tpic_*' names no column of the table; did you mean 'topic_a' or 'topic_b' or 'topic_id'?",
        ),
        (Columns(labels=("HUE",)), "labels 'HUE' names no column of the table; did you mean 'hue'?"),
        (Columns(drop=("zz*",)), "drop 'zz*' names no column of the table; its columns are 'id', 'topic_a'"),
        (Columns(id="topic_*"), "id 'topic_*' matches 3 columns; name one column."),
        (Columns(id="id", groups="id"), "column 'id' is named for both id and groups; name it once."),
        (Columns(id="id", drop=("id",)), "column 'id' is named for both id and drop; name it once."),
        (Columns(labels=("top*",), time="*_i?"), "column 'topic_id' is named for both labels and time; name it once."),
        (Columns(labels=("topic_id",), time="*_id"), "time '*_id' matches only columns with another purpose"),
    ],
)
def test_columns_that_do_not_fit(columns, message):
    with pytest.raises(DataError) as caught:
        resolve(columns, NAMES, FILE)
    assert message in str(caught.value)


def test_one_name_is_a_list_of_one_and_the_fields_that_are_set_are_named():
    columns = Columns(labels="a", drop=["b"], separator=";")
    assert columns == Columns(labels=("a",), drop=("b",), separator=";")
    assert columns.fields_set == ("labels", "separator", "drop") and Columns().fields_set == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": 3}, "id=3 must be None or a str."),
        ({"labels": (1,)}, "labels=(1,) must hold column names"),
    ],
)
def test_fields_of_other_types(fields, message):
    with pytest.raises(DataError) as caught:
        Columns(**fields)
    assert message in str(caught.value)


def test_a_file_that_lacks_columns_is_told_which():
    required(["a"], ["a", "b"], FILE, "the model")
    with pytest.raises(DataError) as caught:
        required(["a", "hue", "c"], ["a", "hues"], FILE, "the model")
    expected = "f.csv: columns 'hue', 'c' of the model are missing; did you mean 'hues'? Give a file with the same"
    assert str(caught.value).startswith(expected)
    with pytest.raises(DataError, match="columns '0', '1', '2', '3', '4' and 2 more of the model are missing"):
        required(list("0123456"), ["a"], FILE, "the model")
    with pytest.raises(DataError, match="column 'zz' of the model is missing; its columns are 'a'; give a file"):
        required(["zz"], ["a"], FILE, "the model")
