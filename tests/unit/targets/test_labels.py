"""LabelMatrix: every form of y, and what is unknown."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from designs import WHOLE
from proxembed.targets.labels import LabelMatrix

NAN = float("nan")
Y = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]])


def dense(labels: LabelMatrix) -> np.ndarray:
    assert isinstance(labels.Y, sp.csc_array) and labels.Y.dtype == np.float64
    assert set(np.unique(labels.Y.data)) <= {1.0}
    return labels.Y.toarray()


def unknown(labels: LabelMatrix) -> np.ndarray:
    assert isinstance(labels.unknown, sp.csc_array) and labels.unknown.dtype == bool
    assert labels.unknown.data.all() and labels.Y.multiply(labels.unknown).nnz == 0
    return labels.unknown.toarray()


CLASSES = {
    "integers": (np.array([3, 1, 3, 7]), [1, 3, 7]),
    "list of integers": ([3, 1, 3, 7], [1, 3, 7]),
    "unsigned": (np.array([3, 1, 3, 7], dtype=np.uint8), [1, 3, 7]),
    "strings": (np.array(["b", "a", "b", "c"]), ["a", "b", "c"]),
    "object strings": (np.array(["b", "a", "b", "c"], dtype=object), ["a", "b", "c"]),
    "numpy strings of version 2": (np.array(["b", "a", "b", "c"], dtype=np.dtypes.StringDType()), ["a", "b", "c"]),
    "bools": (np.array([True, False, True, True]), [False, True]),
    "whole floats": (np.array([3.0, 1.0, 3.0, 7.0]), [1.0, 3.0, 7.0]),
    "column": (np.array([[3], [1], [3], [7]]), [1, 3, 7]),
    "column of strings": (np.array([["b"], ["a"], ["b"], ["c"]]), ["a", "b", "c"]),
    "tuple": ((3, 1, 3, 7), [1, 3, 7]),
    "series": (pd.Series([3, 1, 3, 7], index=[9, 8, 7, 6]), [1, 3, 7]),
    "string series": (pd.Series(["b", "a", "b", "c"], dtype="string"), ["a", "b", "c"]),
    "categories": (pd.Series(["b", "a", "b", "c"], dtype="category"), ["a", "b", "c"]),
    "one-column table": (pd.DataFrame({"kind": ["b", "a", "b", "c"]}), ["a", "b", "c"]),
    "negative": (np.array([0, -1, 0, 0]), [-1, 0]),
}


@pytest.mark.parametrize(("y", "classes"), CLASSES.values(), ids=CLASSES)
def test_classes_become_one_hot(y, classes):
    labels = LabelMatrix.of(y)
    values = np.ravel(np.asarray(y)).tolist()
    assert labels.form == "classes" and labels.unknown is None and labels.one_hot
    assert labels.classes_.tolist() == classes
    np.testing.assert_array_equal(dense(labels), [[v == c for c in classes] for v in values])
    assert np.asarray(labels.decode(labels.Y)).tolist() == values


MISSING_CLASSES = {
    "NaN": np.array([3.0, NAN, 3.0, 7.0]),
    "None": [3, None, 3, 7],
    "NaN among objects": np.array([3, NAN, 3, 7], dtype=object),
    "pandas NA": pd.Series([3, pd.NA, 3, 7], dtype="Int64"),
    "column": np.array([[3.0], [NAN], [3.0], [7.0]]),
}


@pytest.mark.parametrize("y", MISSING_CLASSES.values(), ids=MISSING_CLASSES)
def test_an_unknown_class_is_a_row_of_unknown_cells(y):
    labels = LabelMatrix.of(y)
    assert labels.classes_.tolist() == [3, 7]
    assert labels.classes_.dtype.kind == "i"
    np.testing.assert_array_equal(dense(labels), [[1, 0], [0, 0], [1, 0], [0, 1]])
    np.testing.assert_array_equal(unknown(labels), [[0, 0], [1, 1], [0, 0], [0, 0]])
    assert labels.rows_known.tolist() == labels.rows_any.tolist() == [True, False, True, True]


@pytest.mark.parametrize(
    "y",
    [
        np.array(["b", None, "a"], dtype=object),
        np.array(["b", NAN, "a"], dtype=object),
        pd.Series(["b", pd.NA, "a"], dtype="string"),
        pd.Series(["b", None, "a"], dtype="category"),
        ["b", None, "a"],
        pd.Series(["b", pd.NaT, "a"], dtype=object),
    ],
    ids=["None", "NaN", "NA", "category", "list", "NaT"],
)
def test_unknown_among_strings(y):
    labels = LabelMatrix.of(y)
    assert labels.classes_.tolist() == ["a", "b"]
    assert labels.rows_known.tolist() == [True, False, True]
    assert labels.decode([[1, 0], [0, 1]]).tolist() == ["a", "b"]


INDICATORS = {
    "integers": Y,
    "lists": Y.tolist(),
    "floats": Y.astype(float),
    "float32": Y.astype(np.float32),
    "bools": Y.astype(bool),
    "objects": Y.astype(object),
    "csr array": sp.csr_array(Y),
    "csc array": sp.csc_array(Y),
    "csr matrix": sp.csr_matrix(Y),
    "csc matrix": sp.csc_matrix(Y),
    "coo array": sp.coo_array(Y),
    "lil array": sp.lil_array(Y),
    "sparse bools": sp.csr_array(Y.astype(bool)),
    "table": pd.DataFrame(Y),
    "table of pandas integers": pd.DataFrame(Y).astype("Int64"),
    "table of pandas bools": pd.DataFrame(Y.astype(bool)).astype("boolean"),
}


@pytest.mark.parametrize("y", INDICATORS.values(), ids=INDICATORS)
def test_indicators(y):
    labels = LabelMatrix.of(y)
    assert labels.form == "indicator" and labels.unknown is None
    np.testing.assert_array_equal(dense(labels), Y)
    np.testing.assert_array_equal(labels.decode(labels.Y), Y)
    assert (labels.n, labels.c, labels.nt) == (4, 3, 5.0)
    assert labels.m.tolist() == [2, 1, 0, 2] and labels.nk.tolist() == [2, 2, 1]
    assert [str(name) for name in labels.classes_] == ["0", "1", "2"]


SIGNS = {
    "integers": 2 * Y - 1,
    "floats": 2.0 * Y - 1,
    "sparse": sp.csr_array(2 * Y - 1),
    "table": pd.DataFrame(2 * Y - 1),
}


@pytest.mark.parametrize("y", SIGNS.values(), ids=SIGNS)
def test_signs(y):
    labels = LabelMatrix.of(y)
    assert labels.form == "signs"
    np.testing.assert_array_equal(dense(labels), Y)
    np.testing.assert_array_equal(labels.decode(Y), 2 * Y - 1)


def test_stored_zeros_and_repeated_entries_of_a_sparse_indicator():
    stored = sp.csr_array((np.array([1.0, 0.0, 1.0]), (np.array([0, 1, 2]), np.array([0, 1, 1]))), shape=(3, 2))
    np.testing.assert_array_equal(dense(LabelMatrix.of(stored)), [[1, 0], [0, 0], [0, 1]])
    twice = sp.coo_array((np.ones(2), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    with pytest.raises(ValueError, match="y holds 2"):
        LabelMatrix.of(twice)


UNKNOWN = np.array([[1, NAN, 0], [NAN, NAN, NAN], [0, 0, 0], [1, 1, NAN]])
MISSING_INDICATORS = {
    "NaN": UNKNOWN,
    "None": [[1, None, 0], [None, None, None], [0, 0, 0], [1, 1, None]],
    "table": pd.DataFrame(UNKNOWN),
    "pandas NA": pd.DataFrame(UNKNOWN).astype("Int64"),
    "csr": sp.csr_array(UNKNOWN),
    "csc matrix": sp.csc_matrix(UNKNOWN),
    "signs": np.where(UNKNOWN == 0, -1.0, UNKNOWN),
    "sparse signs": sp.csr_array(np.where(UNKNOWN == 0, -1.0, UNKNOWN)),
}


@pytest.mark.parametrize("y", MISSING_INDICATORS.values(), ids=MISSING_INDICATORS)
def test_unknown_cells(y):
    labels = LabelMatrix.of(y)
    np.testing.assert_array_equal(dense(labels), np.nan_to_num(UNKNOWN))
    np.testing.assert_array_equal(unknown(labels), np.isnan(UNKNOWN))
    assert labels.rows_known.tolist() == [False, False, True, False]
    assert labels.rows_any.tolist() == [True, False, True, True]


def test_a_table_names_its_labels():
    labels = LabelMatrix.of(pd.DataFrame(Y, columns=["<b>", "naïve 标签", 3]))
    assert labels.classes_.tolist() == ["<b>", "naïve 标签", "3"]


SETS = {
    "sets": [{"a", "c"}, {"b"}, set(), {"a", "b"}],
    "frozensets": [frozenset("ac"), frozenset("b"), frozenset(), frozenset("ab")],
    "lists of strings": [["a", "c"], ["b"], [], ["a", "b", "a"]],
    "tuples of strings": [("a", "c"), ("b",), (), ("a", "b")],
    "tuple of sets": ({"a", "c"}, {"b"}, set(), {"a", "b"}),
    "series of sets": pd.Series([{"a", "c"}, {"b"}, set(), {"a", "b"}]),
}


@pytest.mark.parametrize("y", SETS.values(), ids=SETS)
def test_sets(y):
    labels = LabelMatrix.of(y)
    assert labels.form == "sets" and labels.classes_.tolist() == ["a", "b", "c"] and labels.unknown is None
    np.testing.assert_array_equal(dense(labels), Y)
    assert labels.decode(labels.Y) == [{"a", "c"}, {"b"}, set(), {"a", "b"}]


def test_sets_with_unknown_rows():
    entries = np.empty(3, dtype=object)
    entries[:] = [{"a"}, None, {"b", "a"}]
    for y in (
        entries,
        entries.tolist(),
        [{"a"}, NAN, {"b", "a"}],
        [["a"], None, ["b", "a"]],
        [{"a"}, pd.NA, {"b", "a"}],
    ):
        labels = LabelMatrix.of(y)
        np.testing.assert_array_equal(dense(labels), [[1, 0], [0, 0], [1, 1]])
        np.testing.assert_array_equal(unknown(labels), [[0, 0], [1, 1], [0, 0]])


def test_sets_of_numbers_and_of_mixed_names():
    assert LabelMatrix.of([{2, 10}, {1}]).classes_.tolist() == [1, 2, 10]
    mixed = LabelMatrix.of([{1, "a"}, {"b"}])
    assert mixed.decode(mixed.Y) == [{1, "a"}, {"b"}]


def test_sets_of_equal_size_as_lists_of_strings_are_sets():
    """Not a table of text: each entry is one row's labels."""
    assert LabelMatrix.of([["a", "b"], ["b", "c"]]).classes_.tolist() == ["a", "b", "c"]


def test_a_label_matrix_is_taken_as_it_is():
    labels = LabelMatrix.of(Y)
    assert LabelMatrix.of(labels) is labels


@pytest.mark.parametrize(
    "y", [Y.astype(float), UNKNOWN.copy(), sp.csr_array(UNKNOWN), sp.csr_array(2.0 * Y - 1)], ids=type
)
def test_y_is_left_as_it_was(y):
    array = y.data if sp.issparse(y) else y
    before = array.copy()
    array.setflags(write=False)
    LabelMatrix.of(y).drop_empty().take([0, 2])
    np.testing.assert_array_equal(array, before)


def test_take_keeps_rows_in_order_and_drops_an_empty_mask():
    labels = LabelMatrix.of(UNKNOWN)
    some = labels.take([3, 2])
    np.testing.assert_array_equal(dense(some), [[1, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(unknown(some), [[0, 0, 1], [0, 0, 0]])
    assert labels.take([2]).unknown is None
    np.testing.assert_array_equal(dense(labels.take(labels.rows_known)), [[0, 0, 0]])
    assert labels.take(slice(0, 0)).n == 0


def test_drop_empty_and_expand():
    labels = LabelMatrix.of(np.insert(Y, 1, 0, axis=1))
    kept = labels.drop_empty()
    assert kept.c == 3 and len(kept.classes_) == 4 and kept.kept_columns.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(dense(kept), Y)
    np.testing.assert_array_equal(kept.expand(np.array([[1.0, 2.0, 3.0]])), [[1.0, 0.0, 2.0, 3.0]])
    np.testing.assert_array_equal(kept.expand(np.array([1.0, 2.0, 3.0])), [1.0, 0.0, 2.0, 3.0])
    full = LabelMatrix.of(Y)
    assert full.drop_empty() is full
    np.testing.assert_array_equal(full.expand(np.ones(3)), np.ones(3))


def test_drop_empty_after_rows_were_taken_remembers_the_first_columns():
    """Dropping twice (a part of a part) still knows the place among all classes."""
    labels = LabelMatrix.of(np.insert(Y, 1, 0, axis=1)).drop_empty().take([1, 2]).drop_empty()
    assert labels.c == 1 and len(labels.classes_) == 4
    np.testing.assert_array_equal(labels.expand(np.array([5.0])), [0.0, 0.0, 5.0, 0.0])


def test_drop_empty_takes_the_mask_along():
    kept = LabelMatrix.of(np.array([[1, 0, NAN], [NAN, 0, 1]])).drop_empty()
    np.testing.assert_array_equal(unknown(kept), [[0, 1], [1, 0]])


def test_groups_are_distinct_label_sets():
    table = np.array([[1, 0], [0, 1], [1, 0], [0, 0], [0, 1]])
    sets, group = LabelMatrix.of(table).groups()
    assert len(sets) == 3
    np.testing.assert_array_equal(sets[group], table)


def test_groups_of_more_than_eight_labels():
    table = (np.random.default_rng(0).random((60, 19)) < 0.1).astype(int)
    sets, group = LabelMatrix.of(table).groups()
    assert len(sets) == len(np.unique(table, axis=0))
    np.testing.assert_array_equal(sets[group], table)


def test_rank_of_the_centred_labels():
    assert LabelMatrix.of([0, 1, 2, 0]).rank == 2
    assert LabelMatrix.of(Y).rank == 3
    twins = np.column_stack([Y, Y[:, 0], np.ones(4)])
    assert LabelMatrix.of(twins).rank == 3
    assert LabelMatrix.of(np.ones((4, 2))).rank == 0
    centred = Y - Y.mean(axis=0)
    np.testing.assert_allclose(LabelMatrix.of(Y).centred_gram, centred.T @ centred, atol=1e-14)


@pytest.mark.parametrize("indicator", [Y, Y.astype(float), sp.csr_array(Y), sp.csc_array(Y)], ids=type)
def test_decode_takes_any_storage(indicator):
    np.testing.assert_array_equal(LabelMatrix.of(Y).decode(indicator), Y)
    assert LabelMatrix.of(SETS["sets"]).decode(indicator) == SETS["sets"]


def test_decode_of_empty_labels_keeps_their_columns():
    """Predictions come back with a column for every class that came in."""
    kept = LabelMatrix.of(np.insert(Y, 1, 0, axis=1)).drop_empty()
    np.testing.assert_array_equal(kept.decode(kept.expand(kept.Y.toarray())), np.insert(Y, 1, 0, axis=1))


INDICATOR = hnp.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(2, 12)), elements=st.integers(0, 1))


@settings(max_examples=60 if WHOLE else 25, deadline=None)
@given(INDICATOR, st.sampled_from([np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame, lambda Y: Y.astype(bool)]))
def test_indicators_round_trip(table, storage):
    labels = LabelMatrix.of(storage(table))
    np.testing.assert_array_equal(labels.decode(labels.Y), table)
    assert labels.nt == table.sum() == labels.m.sum()


@settings(max_examples=60 if WHOLE else 25, deadline=None)
@given(st.lists(st.sets(st.text(max_size=5), max_size=4), min_size=1, max_size=8).filter(any))
def test_sets_round_trip(sets):
    labels = LabelMatrix.of(sets)
    assert labels.decode(labels.Y) == sets


@settings(max_examples=60 if WHOLE else 25, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 50)), min_size=1, max_size=12).filter(
        lambda y: any(v is not None for v in y)
    )
)
def test_classes_round_trip(y):
    labels = LabelMatrix.of(y)
    known = np.flatnonzero(labels.rows_known)
    assert known.tolist() == [i for i, v in enumerate(y) if v is not None]
    assert labels.decode(labels.Y)[known].tolist() == [y[i] for i in known]


@settings(max_examples=60 if WHOLE else 25, deadline=None)
@given(INDICATOR, st.integers(0, 2**16))
def test_unknown_cells_round_trip(table, seed):
    hole = np.random.default_rng(seed).random(table.shape) < 0.3
    if hole.all():
        hole[0, 0] = False
    labels = LabelMatrix.of(np.where(hole, NAN, table))
    np.testing.assert_array_equal(dense(labels), np.where(hole, 0, table))
    np.testing.assert_array_equal(hole if labels.unknown is None else unknown(labels), hole)
    assert (labels.unknown is None) == (not hole.any())


@settings(max_examples=60 if WHOLE else 25, deadline=None)
@given(INDICATOR)
def test_groups_drop_empty_and_expand_agree_with_the_table(table):
    labels = LabelMatrix.of(table)
    sets, group = labels.groups()
    np.testing.assert_array_equal(sets[group], table)
    kept = labels.drop_empty()
    np.testing.assert_array_equal(kept.expand(kept.Y.toarray()), table)
    assert np.all(kept.nk > 0)


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_shared_rows_of_labels_sparse_and_dense(share):
    Y = (np.random.default_rng(0).random((2100, 7)) < share).astype(float)
    Y[0] = 1.0
    np.testing.assert_array_equal(LabelMatrix.of(Y).gram, Y.T @ Y)
    np.testing.assert_array_equal(LabelMatrix.of(Y).Y.toarray(), Y)
