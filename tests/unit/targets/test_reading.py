"""What y is read as: a row of the table of kinds each, unknown cells in every kind, and the sentence for each bad y."""

import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from proxembed import FDA, HSL, LFDA, OPLS
from proxembed.targets import LabelMatrix, Outputs, read_targets

RNG = np.random.default_rng(0)
N = 24
REAL = RNG.normal(size=N)
WHOLE = np.arange(N) % 4
WORDS = np.array(list("abc"))[np.arange(N) % 3]
ORDERED = pd.Categorical(np.array(["low", "mid", "high"])[np.arange(N) % 3], ["low", "mid", "high"], ordered=True)
X = RNG.normal(size=(N, 5)) + REAL[:, None]


def kinds(y, target_type=None):
    found = read_targets(y, target_type)
    return [output.kind for output in found.reading.outputs(getattr(found, "classes_", None))]


LABELS = {
    "text": WORDS,
    "bool": WHOLE > 1,
    "categories": pd.Series(WORDS, dtype="category"),
    "sets": [{"a"}, {"a", "b"}, set()] * 8,
    "0/1 columns": np.eye(4)[WHOLE],
    "-1/+1 columns": 2 * np.eye(4)[WHOLE] - 1,
    "sparse 0/1": sp.csr_array(np.eye(4)[WHOLE]),
    "frame of 0/1": pd.DataFrame(np.eye(4)[WHOLE], columns=list("abcd")),
    "frame of bool": pd.DataFrame(np.eye(4)[WHOLE] > 0, columns=list("abcd")),
    "frame of bool and 0/1": pd.DataFrame({"a": WHOLE > 1, "b": WHOLE % 2}),
    "whole numbers": WHOLE,
    "whole floats": WHOLE.astype(float),
    "whole floats, some unknown": np.where(np.arange(N) < 2, np.nan, WHOLE),
    "a column of whole numbers": WHOLE[:, None],
    "many whole numbers of three rows each": np.repeat(np.arange(30), 3),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_read_as_before(name):
    y = LABELS[name]
    found, expected = read_targets(y), LabelMatrix.of(y)
    assert type(found) is LabelMatrix and found.form == expected.form
    np.testing.assert_array_equal(found.Y.toarray(), expected.Y.toarray())
    assert found.classes_.tolist() == expected.classes_.tolist() and not found.numbers


OUTPUTS = {
    "fractions": (REAL, ["real"]),
    "a list": (REAL.tolist(), ["real"]),
    "a column": (REAL[:, None], ["real"]),
    "a series": (pd.Series(REAL, name="yield"), ["real"]),
    "one fraction": (np.append(np.zeros(N - 1), 0.5), ["real"]),
    "Decimal": ([Decimal(k) for k in range(N)], ["real"]),
    "Fraction": ([Fraction(k, 3) for k in range(N)], ["real"]),
    "columns of fractions": (np.column_stack([REAL, REAL**2]), ["real"] * 2),
    "columns of whole numbers": (np.column_stack([WHOLE, WHOLE % 3]), ["real"] * 2),
    "0/1 among numbers": (np.column_stack([REAL, WHOLE % 2]), ["real"] * 2),
    "counts": (3 * np.eye(4)[WHOLE], ["real"] * 4),
    "fractions from 0 to 1": (RNG.random((N, 3)), ["real"] * 3),
    "a table of objects": (np.column_stack([REAL, WHOLE]).astype(object), ["real"] * 2),
    "a table of text": (np.column_stack([WORDS, WORDS[::-1]]), ["classes"] * 2),
    "a frame of text": (pd.DataFrame({"a": WORDS, "b": WORDS[::-1]}), ["classes"] * 2),
    "text and numbers": (np.column_stack([WORDS.astype(object), REAL.astype(object)]), ["classes", "real"]),
    "a frame of several kinds": (
        pd.DataFrame({"a": WORDS, "b": REAL, "c": WHOLE > 1, "d": ORDERED, "e": pd.Categorical(WORDS), "f": WHOLE}),
        ["classes", "real", "labels", "ranks", "classes", "real"],
    ),
    "ordered categories": (pd.Series(ORDERED), ["ranks"]),
    "a column of ordered categories": (pd.DataFrame({"grade": ORDERED}), ["ranks"]),
    "sparse numbers": (sp.csr_array(np.column_stack([REAL, WHOLE])), ["real"] * 2),
    "nullable integers": (pd.DataFrame({"a": pd.Series(WHOLE, dtype="Int64"), "b": REAL}), ["real"] * 2),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_numbers_and_columns_of_several_kinds(name):
    y, expected = OUTPUTS[name]
    assert isinstance(read_targets(y), Outputs) and kinds(y) == expected


def test_polars_frames_of_several_kinds():
    pl = pytest.importorskip("polars")
    grades = pl.Series("d", list(ORDERED), dtype=pl.Enum(["low", "mid", "high"]))
    y = pl.DataFrame({"a": WORDS.tolist(), "b": REAL.tolist(), "c": (WHOLE > 1).tolist()}).with_columns(grades)
    found = read_targets(y)
    assert kinds(y) == ["classes", "real", "labels", "ranks"]
    np.testing.assert_array_equal(found.cells[:, 3], np.arange(N) % 3)


WORDED = {
    "whole numbers as real": (WHOLE, "real", ["real"]),
    "many whole numbers as real": (np.arange(N), "real", ["real"]),
    "0/1 columns as real": (np.eye(4)[WHOLE], "real", ["real"] * 4),
    "-1, 0 and 1 as real": (np.eye(4)[WHOLE] - np.eye(4)[WHOLE[::-1]], "real", ["real"] * 4),
    "sparse 0/1 as real": (sp.csr_array(np.eye(4)[WHOLE]), "real", ["real"] * 4),
    "bool as real": (WHOLE > 1, "real", ["real"]),
    "ordered categories as real": (pd.Series(ORDERED), "real", ["ranks"]),
    "columns of whole numbers as classes": (np.column_stack([WHOLE, WHOLE % 3]), "classes", ["classes"] * 2),
    "ordered categories as classes": (pd.Series(ORDERED), "classes", ["classes"]),
    "memberships": (RNG.random((N, 3)), "labels", ["labels"] * 3),
    "by position": (
        np.column_stack([REAL, WHOLE, WHOLE % 2]),
        {1: "classes", 2: "labels"},
        ["real", "classes", "labels"],
    ),
    "by name": (pd.DataFrame({"a": REAL, "b": WHOLE}), {"b": "classes"}, ["real", "classes"]),
    "one series": (pd.Series(WHOLE, name="a"), {"a": "real"}, ["real"]),
    "a 0/1 column of labels as real": (np.eye(3)[WHOLE % 3], {0: "real"}, ["real", "labels", "labels"]),
}


@pytest.mark.parametrize("name", WORDED)
def test_words_decide(name):
    y, word, expected = WORDED[name]
    assert kinds(y, word) == expected


@pytest.mark.parametrize("word", ["classes", "labels", None])
def test_an_indicator_stays_one(word):
    """Whatever the word: folds of a job say "classes" of labels that were checked on all rows."""
    for y in (np.eye(4)[WHOLE], 2 * np.eye(4)[WHOLE] - 1, sp.csr_array(np.eye(4)[WHOLE])):
        assert type(read_targets(y, word)) is LabelMatrix


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA], ids=repr)
def test_unknown_cells_in_every_kind(missing):
    y = pd.DataFrame({"a": WORDS, "b": REAL, "c": WHOLE > 1, "d": ORDERED}).astype(object)
    y["d"] = pd.Series(ORDERED)
    for j in range(4):
        y.iloc[j, j] = missing
    found = read_targets(y)
    assert kinds(y) == ["classes", "real", "labels", "ranks"]
    assert [output.n_unknown for output in found.reading.outputs(None)] == [1] * 4
    np.testing.assert_array_equal(np.flatnonzero(~found.rows_known), range(4))
    hidden = found.Y.toarray()[found.unknown.toarray()]
    assert len(hidden) == 6 and not hidden.any()  # three indicators of the classes


def test_masked_entries_are_unknown():
    y = np.ma.array(np.column_stack([REAL, WHOLE]), mask=np.eye(N, 2) > 0)
    found = read_targets(y)
    np.testing.assert_array_equal(found.holes, np.eye(N, 2) > 0)


def test_a_stored_nan_of_a_sparse_y_is_unknown():
    y = sp.csr_array(np.column_stack([np.where(np.arange(N) == 2, np.nan, REAL), WHOLE]))
    assert read_targets(y).unknown.toarray().nonzero()[0].tolist() == [2]


def whole_numbers(distinct, n):
    return np.arange(n) % distinct


BAD = {
    "infinity": (
        pd.DataFrame({"Cd": REAL, "Cu": np.where(np.arange(N) < 3, np.inf, REAL)}),
        None,
        "y column 'Cu' holds infinity in 3 rows; replace it, NaN stands for unknown.",
    ),
    "infinity in 1-D": (
        np.append(REAL, np.inf),
        None,
        "y holds infinity in 1 row; replace it, NaN stands for unknown.",
    ),
    "infinity without a name": (
        pl.Series(np.append(REAL, np.inf)),
        None,
        "y holds infinity in 1 row; replace it, NaN stands for unknown.",
    ),
    "sparse infinity": (
        sp.csr_array(np.column_stack([REAL, np.where(np.arange(N) < 2, -np.inf, REAL)])),
        None,
        "y column 1 holds infinity in 2 rows; replace it, NaN stands for unknown.",
    ),
    "one known cell": (
        pd.DataFrame({"Cd": np.where(np.arange(N) > 0, np.nan, REAL), "Cu": REAL}),
        None,
        "y column 'Cd' has 1 known cell; two are needed: drop it.",
    ),
    "no known cell": (
        np.column_stack([np.full(N, np.nan), REAL]),
        None,
        "y column 0 has 0 known cells; two are needed: drop it.",
    ),
    "numbers and text": (
        pd.DataFrame({"a": REAL, "grade": [7.5, "high"] * (N // 2)}),
        None,
        "y mixes numbers and text in column 'grade' (7.5, 'high'); make it one kind.",
    ),
    "numbers and text in 1-D": (["a", 1] * 9, None, "y mixes numbers and text (1, 'a'); make it one kind."),
    "continuous classes": (
        pd.DataFrame({"yield": REAL, "b": WHOLE}),
        "classes",
        f"target_type='classes': column 'yield' holds {N} values.",
    ),
    "continuous classes in 1-D": (REAL, "classes", f"target_type='classes': y holds {N} values."),
    "dates": (
        pd.DataFrame({"day": pd.date_range("2020-01-01", periods=N), "b": REAL}),
        None,
        "y column 'day' holds dates; pass numbers, (t - t.min()) / day, or strings for classes.",
    ),
    "dates in 1-D": (
        np.arange(N).astype("datetime64[D]"),
        None,
        "y holds dates; pass numbers, (t - t.min()) / day, or strings for classes.",
    ),
    "time spans": (
        np.arange(N).astype("timedelta64[D]"),
        None,
        "y holds dates; pass numbers, (t - t.min()) / day, or strings for classes.",
    ),
    "whole numbers neither few nor repeated": (
        whole_numbers(214, 442),
        None,
        "y holds 214 different whole numbers in 442 rows, 2 rows each: classes or measurements? Pass "
        "target_type='real' or 'classes'.",
    ),
    "-1, 0 and 1": (
        np.eye(4)[WHOLE] - np.eye(4)[WHOLE[::-1]],
        None,
        "y mixes -1, 0 and 1: -1 may mean negative or unknown, and 0 likewise. Use 0 and 1 (or -1 and +1) for known "
        "labels and NaN for unknown ones, e.g. proxembed.unlabelled(y, marker=0) or marker=-1. If they are numbers, "
        "pass target_type='real'.",
    ),
    "text as numbers": (
        np.column_stack([WORDS, WORDS]),
        "real",
        "target_type='real': column 0 holds text, such as 'a'; pass numbers.",
    ),
    "counts as labels": (
        3 * np.eye(4)[WHOLE],
        "labels",
        "target_type='labels': column 0 holds 3.0; labels are 0 and 1, or from 0 to 1.",
    ),
    "an unknown column": (REAL, {"a": "real"}, "target_type names column 'a', which y does not have; y has 0."),
    "an unknown word": (
        REAL,
        {0: "number"},
        "target_type={0: 'number'} is not allowed; a word is one of real, classes, labels.",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_the_sentence_for_each_bad_y(name):
    y, word, message = BAD[name]
    for call in (lambda: read_targets(y, word), lambda: OPLS(target_type=word).fit(np.zeros((np.shape(y)[0], 2)), y)):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == message


def test_numbers_for_methods_of_labels():
    Y = np.column_stack([REAL, REAL**2, REAL**3])
    cases = {
        "FDA takes classes, y holds 3 numbers: use Sliced(FDA()), OPLS or CCA.": (FDA(), Y),
        "FDA takes classes, y holds numbers: use Sliced(FDA()), OPLS or CCA.": (FDA(), REAL),
        "LFDA takes classes, y holds numbers: use MFA(target_neighbors=10), Sliced(LFDA()), OPLS or CCA.": (
            LFDA(),
            REAL,
        ),
        "HSL takes labels or counts, y holds 3 numbers: use OPLS, CCA or Sliced(FDA()).": (HSL(), Y),
        "HSL takes labels or counts, y holds 2 columns of classes or memberships: use OPLS, CCA or Sliced(FDA()).": (
            HSL(),
            np.column_stack([WORDS, WORDS[::-1]]),
        ),
        "FDA takes classes, and ordered categories in y are read as ranks: pass target_type='classes', or use OPLS or "
        "CCA.": (FDA(), pd.Series(ORDERED)),
    }
    for message, (method, y) in cases.items():
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            method.fit(X, y)


def test_constant_columns_are_dropped_by_name_and_all_of_them_refused():
    y = pd.DataFrame({"a": REAL, "b": 2.5, "c": REAL**2, "d": np.full(N, 0.1) + 1e-18})
    with pytest.warns(UserWarning, match="^y columns 'b', 'd': constant, and left out of the fit.$"):
        model = OPLS(ridge=0.1).fit(X, y)
    whole = OPLS(ridge=0.1).fit(X, y[["a", "c"]])
    np.testing.assert_allclose(model.transform(X), whole.transform(X), rtol=1e-12)
    predicted = model.predict(X)
    np.testing.assert_allclose(predicted[["a", "c"]], whole.predict(X), rtol=1e-12)
    assert (predicted["b"] == 2.5).all() and not model.coef_[[1, 3]].any() and model.label_loadings_.shape == (2, 4)
    for constant in (y[["b", "d"]], np.full(N, 0.5), y[["b"]].to_numpy()):
        with pytest.raises(ValueError, match="^Every column of y is constant.$"):
            OPLS().fit(X, constant)


def test_whole_numbers_of_few_rows_are_classes_with_a_warning():
    y = np.arange(10) // 2
    with pytest.warns(UserWarning, match="^y holds 5 different whole numbers in 10 rows, which are taken as classes"):
        assert read_targets(y).c == 5
    assert read_targets(y, "classes").c == 5 and read_targets(y[:3]).c == 2  # two classes are no measurements


def test_label_readers_refuse_numbers():
    with pytest.raises(ValueError, match="target_type='real': labels are needed here"):
        LabelMatrix.of(WHOLE, "real")


def test_zero_and_one_are_labels_where_no_column_holds_other_numbers():
    table = pd.DataFrame({"p": [True, False, True, False], "q": ["a", "b", "c", "a"], "r": [0, 1, 1, 0]})
    kinds = [output.kind for output in read_targets(table).reading.outputs(None)]
    assert kinds == ["labels", "classes", "labels"]
    with_numbers = [output.kind for output in read_targets(table.assign(s=[0.5, 1.5, 2.0, 3.0])).reading.outputs(None)]
    assert with_numbers == ["labels", "classes", "real", "real"]


def test_numbers_as_text_are_classes_with_a_warning_that_names_numbers():
    """Where some are fractions; words and whole numbers, such as the names of classes, without a warning."""
    for words, remedy in ((["7.5", "8.25"] * 5, r"such as y\.astype\(float\)"), (["7,5", "8"] * 5, "a point in place")):
        with pytest.warns(UserWarning, match=f"^y holds numbers as text, such as '7.5', .* 2 classes.*{remedy}"):
            assert isinstance(read_targets(words), LabelMatrix)
        with pytest.raises(ValueError, match=f"target_type='real': y holds text, such as '7.5'; .*{remedy}"):
            read_targets(words, "real")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in ([str(value) for value in range(9)], ["a", "7.5"] * 5, [b"7.5", b"8"] * 5):
            read_targets(words)
        read_targets(["7.5", "8.25"] * 5, "classes")
