"""An encoder of the caller: fitted on training rows alone, refused by name where it cannot serve."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from proxembed.evaluate.part import choose_scaling, make_part
from proxembed.features.encoded import check_encoder, encoded, is_supervised, target_array
from proxembed.features.scaling import scaling_choices, scaling_kinds
from proxembed.tables import Column, RawRows, TableRows
from proxembed.tables.raw_rows import as_frame
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets

RNG = np.random.default_rng(0)
X = RNG.normal(2.0, 1.0, size=(40, 6))
Y = (X[:, :2] > 2).astype(int)
TRAIN, HELD_OUT = np.arange(30), np.arange(30, 40)


class Spy(TransformerMixin, BaseEstimator):
    """Tells which rows it was fitted on, and with which targets."""

    seen: list = []

    def fit(self, X, y=None):
        Spy.seen.append((np.asarray(X).copy(), None if y is None else np.asarray(y)))
        self.mean_ = np.asarray(X).mean(axis=0)
        return self

    def transform(self, X):
        return np.asarray(X) - self.mean_


class TargetSpy(Spy):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@pytest.fixture(autouse=True)
def nothing_seen():
    Spy.seen = []


def raw(encoder, rows=X):
    return RawRows(rows, encoder, [f"x{j}" for j in range(rows.shape[1])])


def scale_rows(factor, rows):
    return rows * factor


def test_a_part_is_encoded_by_its_training_rows_alone_and_then_scaled():
    labels = LabelMatrix.of(Y)
    part = make_part(raw(Spy()), labels, TRAIN, HELD_OUT)
    assert [rows.tolist() for rows, _ in Spy.seen] == [X[TRAIN].tolist()] and Spy.seen[0][1] is None
    manual = make_part(X - X[TRAIN].mean(axis=0), labels, TRAIN, HELD_OUT)
    assert np.allclose(part.X, manual.X, atol=1e-12) and np.allclose(part.X_held_out, manual.X_held_out, atol=1e-12)
    own = part.unscaled
    assert np.allclose(own.X[own.held_out], X[HELD_OUT] - X[TRAIN].mean(axis=0))
    inner = part.inside(np.arange(10), np.arange(10, 15))
    assert np.array_equal(inner.X, part.X[:10]) and len(Spy.seen) == 1  # as with a scaling


def test_an_encoder_that_learns_from_labels_is_fitted_again_for_other_rows_and_labels():
    part = make_part(raw(TargetSpy()), LabelMatrix.of(Y), TRAIN, HELD_OUT, seed=3)
    inner, shuffled, first = part.inside(np.arange(10), np.arange(10, 15)), part.shuffled(), part.first(8)
    sizes = [(len(rows), y.tolist()) for rows, y in Spy.seen]
    assert sizes == [(30, Y[:30].tolist()), (10, Y[:10].tolist()), (30, shuffled.labels.Y.toarray().tolist())]
    assert inner.X.shape == (10, 6) and inner.X_held_out.shape == (5, 6)
    assert shuffled.labels.Y.toarray().tolist() != Y[:30].tolist() and len(first.raw[0]) == first.X.shape[0] == 8


def test_targets_are_arrays_of_the_rows_that_are_known_in_all_cells():
    rows, y = target_array(LabelMatrix.of(np.array(["b", "a", None, "b"], dtype=object)))
    assert rows.tolist() == [0, 1, 3] and y.tolist() == ["b", "a", "b"]
    rows, y = target_array(LabelMatrix.of(np.array([[1.0, 0.0], [0.0, np.nan], [1.0, 1.0]])))
    assert rows.tolist() == [0, 2] and y.tolist() == [[1, 0], [1, 1]]
    rows, y = target_array(read_targets(np.array([0.5, np.nan, 2.25])))
    assert rows.tolist() == [0, 2] and y.tolist() == [0.5, 2.25]
    rows, y = target_array(LabelMatrix.of(sp.csr_array(Y[:, :1])))
    assert y.tolist() == Y[:, 0].tolist()


def test_which_encoders_learn_from_labels():
    for encoder in (SelectKBest(f_classif), make_pipeline(PCA(), SelectKBest(f_classif)), TargetSpy(), PLSRegression()):
        assert is_supervised(encoder)
    for encoder in (StandardScaler(), FunctionTransformer(), make_pipeline(PCA()), Spy()):
        assert not is_supervised(encoder)
    selected = encoded(raw(SelectKBest(f_classif, k=2)), lambda: LabelMatrix.of(Y[:, 0]))
    assert np.array_equal(selected[:, 0], X[:, 0]) and selected.shape == (40, 2)


@pytest.mark.parametrize(
    "function, told",
    [
        (lambda rows: rows[1:], r"gave an array of shape \(39, 6\) for 40 rows; it must give one row"),
        (
            lambda rows: np.where(rows == rows[3, 2], np.nan, rows),
            r"gave NaN or infinite values \(first: row 3 of 40\)",
        ),
        (lambda rows: sp.csr_array(np.where(rows == rows[3, 2], np.inf, rows)), r"\(first: row 3 of 40\)"),
        (lambda rows: rows[:, 0], "gives no matrix of numbers: X has 1 dimension"),
        (lambda rows: rows.astype(str), "gives no matrix of numbers"),
        (lambda rows: rows.no_such_thing, r"failed on 40 rows \(AttributeError: .*no_such_thing"),
    ],
)
def test_what_an_encoder_gives_is_checked_and_the_error_names_it(function, told):
    with pytest.raises(ValueError, match=told) as caught:
        encoded(raw(FunctionTransformer(function)), lambda: None)
    assert str(caught.value).startswith("encoder=FunctionTransformer(func=") and " at 0x" not in str(caught.value)


def test_what_is_no_transformer_is_refused():
    for wrong in (StandardScaler, "snv", lambda rows: rows):
        with pytest.raises(TypeError, match="is not a transformer of scikit-learn; pass one with fit, transform"):
            check_encoder(wrong)


def test_the_scaling_goes_by_the_encoded_rows():
    words = FunctionTransformer(partial(scale_rows, 0.0))
    assert encoded(raw(words), lambda: None).max() == 0
    assert choose_scaling(raw(words), LabelMatrix.of(Y)) in ("standard", "tfidf", "none")
    frame = pd.DataFrame({"word": list("abcd") * 10})
    rows = RawRows(frame, OneHotEncoder(), ["word"])
    example = RawRows(frame, OneHotEncoder(), ["word"], encoded(rows, lambda: None))
    assert example.is_sparse and example.is_frame and scaling_kinds(example) == scaling_kinds(example.example)
    assert scaling_choices(example) == scaling_choices(example.example) and scaling_kinds(rows) == ("standard",)


def test_numbers_of_a_table_are_an_array_and_other_columns_a_frame():
    numbers = [Column("a", "number"), Column("b", "vector", size=2)]
    table = TableRows(numbers, [np.array([1.0, np.nan]), np.array([[2.0, 3.0], [4.0, 5.0]])])
    rows = RawRows.of(table, SimpleImputer(), ["a", "b"])
    assert rows.names == ("a", "b[0]", "b[1]") and rows.X[0].tolist() == [1, 2, 3] and np.isnan(rows.X[1, 0])
    mixed = TableRows(
        [*numbers[:1], Column("c", "category")], [np.array([1.0, 2.0]), np.array(["u", "v"], dtype=object)]
    )
    cells = RawRows.of(mixed, OneHotEncoder(), ["a", "c"])  # of a file, which has no frame
    assert cells.X.to_dict("list") == {"a": [1, 2], "c": ["u", "v"]} and cells.names == ("a", "c")
    frame = pd.DataFrame({"y": [0, 1], "c": ["u", "v"], "a": [1.0, 2.0]})
    taken = RawRows.of(mixed, OneHotEncoder(), ["a", "c"], frame)
    assert list(taken.X.columns) == ["a", "c"] and taken[np.array([1])].X.c.tolist() == ["v"]
    assert taken.array.tolist() == [[0, 0], [1, 1]]


def test_cells_of_every_kind_become_columns_of_a_frame():
    columns = [Column("n", "number"), Column("d", "date"), Column("t", "text"), Column("l", "names")]
    cells = [np.array([1.0, np.nan]), np.array([0.0, np.nan]), np.array(["a b", ""], dtype=object)]
    lists = np.empty(2, dtype=object)
    lists[:] = [("p", "q"), ()]
    vector = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = as_frame(TableRows([*columns, Column("v", "vector", size=2)], [*cells, lists, vector]))
    assert list(frame) == ["n", "d", "t", "l", "v[0]", "v[1]"] and frame["v[1]"].tolist() == [2, 4]
    assert frame.isna().to_numpy()[1, :4].all() and not frame.isna().to_numpy()[0].any()
    assert frame["d"][0] == pd.Timestamp("1970-01-01") and frame["l"][0] == "p; q" and frame["t"][0] == "a b"
