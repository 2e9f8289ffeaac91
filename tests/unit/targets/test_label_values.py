"""Entries of y as they came in: none merged, invented, renamed or silently known."""

import enum

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from designs import WHOLE
from proxembed import load, save, unlabelled
from proxembed.classify import LabelKNN, MultiOutputRidge, cross_fitted_scores, tune_thresholds
from proxembed.measures.metrics import macro_average_precision
from proxembed.targets.labels import LabelMatrix

NAN = float("nan")
BIG = 2**53  # BIG and BIG + 1 are one number in float64


class Colour(enum.StrEnum):
    RED, BLUE = "red", "blue"


class Column:
    """A column of another library: its array rounds, its entries do not."""

    dtype = "Int64"

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def to_numpy(self):
        return np.asarray([NAN if value is None else value for value in self.values], dtype=np.float64)


class Table:
    """A table of another library, without pandas' positions."""

    def __init__(self, **columns):
        self.columns, self.content = list(columns), columns

    def __getitem__(self, name):
        return Column(self.content[name])

    def to_numpy(self):
        return np.column_stack([self[name].to_numpy() for name in self.columns])


NULLABLE = pd.Series([BIG, BIG + 1, None], dtype="Int64")
CATEGORIES = pd.Categorical.from_codes([0, 1, -1], [BIG, BIG + 1])
MOMENTS = np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]")

# name -> (y, its entries; None where unknown)
EXACT = {
    "nullable integers": (NULLABLE, [BIG, BIG + 1, None]),
    "one-column table of nullable integers": (pd.DataFrame({"a": NULLABLE}), [BIG, BIG + 1, None]),
    "Arrow integers": (NULLABLE.astype("int64[pyarrow]"), [BIG, BIG + 1, None]),
    "categories": (CATEGORIES, [BIG, BIG + 1, None]),
    "series of categories": (pd.Series(CATEGORIES), [BIG, BIG + 1, None]),
    "one-column table of categories": (pd.DataFrame({"a": CATEGORIES}), [BIG, BIG + 1, None]),
    "column of another library": (Column([BIG, BIG + 1, None]), [BIG, BIG + 1, None]),
    "one-column table of another library": (Table(a=[BIG, BIG + 1, None]), [BIG, BIG + 1, None]),
    "floats above int64": (np.array([1e19, 2e19, NAN]), [1e19, 2e19, None]),
    "negative floats below int64": (np.array([-1e19, 3.0, NAN]), [-1e19, 3, None]),
    "integers beside floats": ([BIG + 1, float(BIG), None], [BIG + 1, BIG, None]),
    "int64 beside uint64": ([np.uint64(2**63), np.int64(-2), np.uint64(2**63 + 1)], [2**63, -2, 2**63 + 1]),
    "integers of any size": ([10**30, 10**30 + 1, 1], [10**30, 10**30 + 1, 1]),
    "an integer above all floats": ([10**400, 1.0, None], [10**400, 1, None]),
    "trailing NUL": (["a", "a\0", "b"], ["a", "a\0", "b"]),
    "trailing NUL among objects": (np.array(["a", "a\0", None], dtype=object), ["a", "a\0", None]),
    "trailing NUL in a series": (pd.Series(["a", "a\0", None]), ["a", "a\0", None]),
    "trailing NUL, numpy strings of version 2": (np.array(["a", "a\0"], dtype=np.dtypes.StringDType()), ["a", "a\0"]),
    "bytes with trailing NUL": ([b"a", b"a\0"], [b"a", b"a\0"]),
    "bytes": ([b"b", b"a", None], [b"b", b"a", None]),
    "texts of an enumeration": ([Colour.RED, Colour.BLUE], ["red", "blue"]),
    "bools and None": ([True, False, None], [True, False, None]),
    "arrays without axes": ([np.array(1), np.array(2)], [1, 2]),
    "moments": (np.append(MOMENTS, np.datetime64("NaT", "D")), [*MOMENTS, None]),
    "series of moments": (pd.Series(MOMENTS), list(MOMENTS)),
    "list of moments": ([np.datetime64("2020-01-01"), np.datetime64("NaT", "D")], [np.datetime64("2020-01-01"), None]),
    "masked integers": (np.ma.array([1, 2, 3], mask=[0, 1, 0]), [1, None, 3]),
    "masked big integers": (np.ma.array([BIG, BIG + 1, 3], mask=[0, 0, 1]), [BIG, BIG + 1, None]),
    "masked floats": (np.ma.array([1.0, 2.0, 3.0], mask=[1, 0, 0]), [None, 2, 3]),
    "masked text": (np.ma.array(["a", "b"], mask=[0, 1]), ["a", None]),
    "masked moments": (np.ma.array(MOMENTS, mask=[0, 1]), [MOMENTS[0], None]),
    "masked column": (np.ma.array([[1], [2]], mask=[[0], [1]]), [1, None]),
    "masked entry of a list": ([1, np.ma.masked, 2], [1, None, 2]),
    "masked array without axes": ([np.ma.array(1, mask=True), np.ma.array(2)], [None, 2]),
    "nothing masked": (np.ma.array([1, 2]), [1, 2]),
}


@pytest.mark.parametrize(("y", "values"), EXACT.values(), ids=EXACT)
def test_every_class_is_what_came_in(y, values):
    labels = LabelMatrix.of(y)
    assert labels.form == "classes"
    assert labels.rows_known.tolist() == [value is not None for value in values]
    assert labels.c == len(labels.classes_) == len({value for value in values if value is not None})
    decoded = labels.decode(labels.Y)
    assert all(decoded[i] == value for i, value in enumerate(values) if value is not None)


CELLS = {
    "masked": np.ma.array([[1, 0], [0, 1]], mask=[[0, 1], [0, 0]]),
    "masked floats": np.ma.array([[1.0, 0.0], [0.0, 1.0]], mask=[[0, 1], [0, 0]]),
    "masked bools": np.ma.array([[True, False], [False, True]], mask=[[0, 1], [0, 0]]),
    "masked rows": [np.ma.array([1, 0], mask=[0, 1]), [0, 1]],
    "masked cell of a list": [[1, np.ma.masked], [0, 1]],
    "bools beside integers": [[True, None], [0, 1]],
    "table of another library": Table(a=[1, 0], b=[None, 1]),
}


@pytest.mark.parametrize("y", CELLS.values(), ids=CELLS)
def test_every_cell_is_what_came_in(y):
    labels = LabelMatrix.of(y)
    assert labels.form == "indicator"
    np.testing.assert_array_equal(labels.Y.toarray(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(labels.unknown.toarray(), [[0, 1], [0, 0]])


def test_masked_entries_of_a_sparse_indicator_are_unknown():
    y = sp.csr_array(np.eye(2))
    y.data = np.ma.array(y.data, mask=[0, 1])
    np.testing.assert_array_equal(LabelMatrix.of(y).unknown.toarray(), [[0, 0], [0, 1]])
    assert isinstance(y.data, np.ma.MaskedArray), "y stays as it was"


def test_a_masked_set_is_an_unknown_row():
    labels = LabelMatrix.of(np.ma.array(np.array([{"a"}, {"b"}], dtype=object), mask=[0, 1]))
    assert labels.classes_.tolist() == ["a"] and labels.rows_known.tolist() == [True, False]


def test_labels_of_sets_are_what_came_in():
    tuples = [{("a", "b")}, {("c", "d")}, {("a", "b"), ("c", "d")}]
    for sets in (tuples, [{"a"}, {"a\0"}], [{BIG}, {BIG + 1}, {float(BIG)}]):
        labels = LabelMatrix.of(sets)
        assert labels.c == 2 and labels.decode(labels.Y) == sets


REFUSED = {
    "list of mixed types": ([1, "a", 2], r"Unknown label type: y mixes \['int', 'str'\]; use numbers only"),
    "list of mixed types and None": (["a", None, 1], r"mixes \['int', 'str'\]"),
    "bools among integers": ([True, 2, 0], r"mixes \['bool', 'int'\]"),
    "NumPy bools among integers": ([np.True_, 2], "mixes.*bool.*int"),
    "bytes among text": ([b"a", "a"], r"mixes \['bytes', 'str'\]"),
    "moments of different units": (
        [np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns")],
        r"mixes \['datetime64\[D\]', 'datetime64\[ns\]'\]",
    ),
    "spans among integers": ([np.timedelta64(1, "s"), 1], "mixes.*timedelta64"),
    "intervals": (pd.cut(pd.Series([1, 2, 3]), 2), "objects of type.*Interval.*str"),
    "complex among numbers": ([1, 2j], "[Cc]omplex"),
    "a fraction beside a large integer": ([10**30, 2.5], "fractions such as 2.5"),
    "infinity beside a large integer": ([10**30, np.inf], "infinity"),
    "structured": (np.zeros(3, dtype=[("a", int)]), "structured array"),
    "NaN in a set": ([{"a", NAN}, {"b"}], r"y\[0\] holds an unknown entry.*Put None in place of the set"),
    "None in a set": ([{"b"}, {"a", None}], r"y\[1\] holds an unknown entry"),
    "NA in a set": ([{"a", pd.NA}], "unknown entry"),
    "None in a list of strings": ([["a", None], ["b", "c"]], r"y\[0\] holds an unknown entry"),
    "True beside 1": ([{1}, {True}, {2}], "True or False beside the label 1 or 0"),
    "sets beside lists": ([{"a"}, ["b"]], "lists beside other entries"),
    "numbers as text": (np.array([["1", "0"], ["0", "1"]]), "table of text"),
    "numbers as text among objects": (np.array([["1", 0], [0, 1]], dtype=object), "table of text"),
    "a large cell": ([[10**400, 0], [1, 0]], "holds an integer of 1329 bits; an n x c indicator holds only 0 and 1"),
    "moments in a table": (np.zeros((2, 2), dtype="M8[s]"), "objects of type datetime"),
    "a list in a cell": ([[1, [2]], [0, 1]], "lists beside other entries"),
    "-1 and 0": (np.array([[-1, 0], [0, -1]]), "mixes -1 and 0.*Use 0 and 1.*NaN.*unlabelled"),
    "-1 and 0, sparse": (sp.csr_array([[-1, 0], [0, -1]]), "mixes -1 and 0.*unlabelled"),
    "-1 and 0 beside NaN": (np.array([[-1, 0], [NAN, -1]]), "mixes -1 and 0"),
    "-1 and 0 among objects": ([[-1, 0], [None, -1]], "mixes -1 and 0"),
    "two columns of one name": (
        pd.DataFrame([[1, 0, 0], [0, 1, 1]], columns=["a", "b", "a"]),
        r"y has several columns named 'a'; give each a name of its own, or pass y.to_numpy\(\)",
    ),
    "two names of one text": (pd.DataFrame([[1, 0], [0, 1]], columns=["3", 3]), "several columns named '3'"),
}


@pytest.mark.parametrize(("y", "message"), REFUSED.values(), ids=REFUSED)
def test_what_would_have_to_be_guessed_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        LabelMatrix.of(y)


SCALARS = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([BIG, BIG + 1, BIG + 2, 2**63, 2**63 + 1, -(2**63) - 1]),
    st.sampled_from([float(BIG), 2.0**63, 1e300]),
)


@settings(max_examples=150 if WHOLE else 50, deadline=None)
@given(st.lists(SCALARS, min_size=1, max_size=8).filter(lambda y: any(v is not None for v in y)), st.booleans())
def test_whole_numbers_of_any_size_round_trip(y, as_array):
    known = [value for value in y if value is not None and value != -1]
    if not known:
        return
    labels = LabelMatrix.of(np.array(known, dtype=object) if as_array else known)
    assert labels.c == len(set(known))
    assert labels.decode(labels.Y).tolist() == known


@settings(max_examples=100 if WHOLE else 40, deadline=None)
@given(st.lists(st.text(alphabet="ab\0", max_size=3), min_size=1, max_size=8))
def test_text_round_trips(y):
    labels = LabelMatrix.of(y)
    assert labels.c == len(set(y)) and labels.decode(labels.Y).tolist() == y


@pytest.mark.parametrize("name", EXACT)
def test_models_predict_and_save_such_classes(name, tmp_path):
    y, values = EXACT[name]
    X = np.arange(len(values), dtype=float)[:, None]
    known = [i for i, value in enumerate(values) if value is not None]
    if len(known) < len(values):
        with pytest.warns(UserWarning, match="rows have one and are left out of fit"):
            model = LabelKNN().fit(X, y)
    else:
        model = LabelKNN().fit(X, y)
    for fitted in (model, load(save(model, tmp_path / "model.skops"))):
        assert all(found == values[i] for found, i in zip(fitted.predict(X[known]), known, strict=True))


def test_unlabelled_merges_nothing():
    assert unlabelled([BIG, BIG + 1, -1])[:2].tolist() == [BIG, BIG + 1]
    assert unlabelled(np.array([BIG, BIG + 1, -1]))[:2].tolist() == [BIG, BIG + 1]
    assert unlabelled(["a", "a\0", "?"], marker="?")[:2].tolist() == ["a", "a\0"]
    assert np.isnan(unlabelled(np.ma.array([7, -1, 2], mask=[1, 0, 0]))[:2]).all()
    assert np.isnan(unlabelled(pd.Series([1, None, -1], dtype="Int64"))[1:]).all()
    assert np.isnat(unlabelled(MOMENTS, marker=MOMENTS[0])).tolist() == [True, False]


def test_unlabelled_of_a_sparse_indicator():
    y = sp.csr_array([[1, -1], [0, 1]])
    np.testing.assert_array_equal(unlabelled(y).toarray(), [[1, NAN], [0, 1]])
    np.testing.assert_array_equal(y.toarray(), [[1, -1], [0, 1]])
    with pytest.raises(ValueError, match=r"marker=0.*y.toarray\(\)"):
        unlabelled(y, marker=0)
    with pytest.raises(ValueError, match="marker=5"):
        unlabelled(y, marker=5)


NO_INDICATOR = {
    "masked": np.ma.array([[1, 0], [0, 1]], mask=[[0, 1], [0, 0]]),
    "NaN": np.array([[1.0, NAN], [0.0, 1.0]]),
    "signs": np.array([[1, -1], [-1, 1]]),
    "counts": sp.csr_array([[2, 0], [0, 1]]),
}


@pytest.mark.parametrize("Y", NO_INDICATOR.values(), ids=NO_INDICATOR)
def test_functions_of_known_labels_take_no_others(Y):
    X, S = np.array([[0.0], [1.0]]), np.array([[0.2, 0.1], [0.4, 0.3]])
    for call in (
        lambda: tune_thresholds(S, Y),
        lambda: cross_fitted_scores(MultiOutputRidge(), X, Y, cv=2),
        lambda: macro_average_precision(Y, S),
    ):
        with pytest.raises(ValueError, match="Y must hold only 0 and 1; code known negatives as 0 and leave out rows"):
            call()
