"""Bad and awkward y, on every public estimator: a clear error that says what to do, or the stated rule."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import strategies
from contracts.estimators import (
    CLASSES,
    MULTI,
    SUPERVISED,
    N,
    X,
    Y,
    build,
    gram_distance,
    kind,
    multi,
    output,
    predicts_labels,
    readings,
    several_labelled,
    several_multi,
    several_supervised,
    single,
    y_for,
)
from designs import each_value
from proxembed import (
    BSML,
    BSSML,
    CCA,
    DEFC,
    FDA,
    MDDM,
    MESD,
    MLLS,
    OPLS,
    PLS,
    SSDR,
    CopyLDA,
    EmbeddingSearch,
    ForestLeaves,
    Kernelized,
    Views,
)
from proxembed.classify import MultiOutputRidge, Thresholded
from proxembed.evaluate.rivals.linear import LabelScores
from proxembed.methods.transductive.propagator import Propagation
from proxembed.targets.labels import LabelMatrix


@several_supervised
def test_no_y_at_all(cls):
    with pytest.raises(ValueError, match="requires y to be passed"):
        build(cls).fit(X, None)


@several_labelled
def test_one_class_only(cls):
    for y in (np.zeros(N, dtype=int), np.full(N, "a"), np.ones((N, 3), dtype=int)):
        if kind(cls) == "single" and np.ndim(y) == 2:
            continue
        with pytest.raises(ValueError, match="one class only.*at least two"):
            build(cls).fit(X, y)


@several_labelled
def test_no_row_has_a_label(cls):
    for y in (np.zeros((N, 3), dtype=int), [set() for _ in range(N)], sp.csr_array((N, 3))):
        with pytest.raises(ValueError, match="label|class"):
            build(cls).fit(X, y)


OTHERS = "takes (labels|classes), y holds "
BAD_LABELS = {
    "mixed signs": (np.where(np.arange(N * 4).reshape(N, 4) % 7 == 0, -1, Y), "mixes -1, 0 and 1"),
    "-1 and 0 alone": (Y - 1, "mixes -1 and 0.*Use 0 and 1 .*NaN for unknown.*unlabelled"),
    "-1 and 0 alone, sparse": (sp.csr_array(Y - 1), "mixes -1 and 0"),
    "mixed types": (["a", 1] * (N // 2), r"Unknown label type: y mixes|y mixes numbers and text \(1, 'a'\)"),
    "NaN in a set": ([{"a", np.nan}, {"b"}] * (N // 2), r"y\[0\] holds an unknown entry"),
    "None in a set": ([{"a"}, {"b", None}] * (N // 2), r"y\[1\] holds an unknown entry"),
    "numbers as text": (Y.astype(int).astype(str), f"table of text|{OTHERS}4 columns"),
    "fractions": (0.5 * Y, f"fractions such as 0.5|{OTHERS}4 numbers"),
    "fractions of classes": (CLASSES + 0.5, f"fractions such as|{OTHERS}numbers"),
    "infinity": (np.where(np.arange(N) == 3, np.inf, CLASSES), "infinity"),
    "all unknown": (np.full(N, np.nan), "unknown in every row"),
    "all cells unknown": (np.full((N, 4), np.nan), "unknown in every cell"),
    "all unknown, sparse": (sp.csr_array(np.full((N, 4), np.nan)), "unknown"),
    "counts": (3 * Y, f"holds 3|{OTHERS}4 numbers"),
    "table of text": (np.full((N, 2), "a"), f"table of text|Every column of y is constant|{OTHERS}2 columns"),
    "three axes": (np.zeros((N, 2, 2)), "shape"),
    "complex": (CLASSES + 1j, "[Cc]omplex"),
}


NUMBERS = ("numbers as text", "fractions", "fractions of classes", "counts")  # or classes: outputs of some methods
COUNTS = ("fractions", "counts")  # weights of labels of others


@each_value
@several_supervised
@pytest.mark.parametrize("name", BAD_LABELS)
def test_labels_that_are_none(cls, name):
    y, message = BAD_LABELS[name]
    traits = build(cls).traits
    if traits.takes_numbers and name in NUMBERS or traits.takes_counts and name in COUNTS:
        build(cls).fit(X, y)
        return
    with pytest.raises(ValueError, match=message):
        build(cls).fit(X, y)


@single
def test_several_labels_are_refused_with_the_way_out(cls):
    with pytest.raises(
        ValueError,
        match=rf"{cls.__name__} takes one class per row, but \d+ rows have several.* Use MESD\({cls.__name__}\(\)\)",
    ):
        build(cls).fit(X, Y)
    MESD(build(cls)).fit(X, Y)


@single
def test_rows_without_a_label_are_refused_with_the_way_out(cls):
    lonely = strategies.one_hot(CLASSES)
    lonely[3] = 0.0
    with pytest.raises(ValueError, match=rf"1 rows have no label. Use MESD\({cls.__name__}"):
        build(cls).fit(X, lonely)
    MESD(build(cls)).fit(X, lonely)


def test_single_labels_through_a_kernel_are_refused_likewise():
    with pytest.raises(ValueError, match="MESD"):
        Kernelized(FDA()).fit(X, Y)


OF_CELLS = (MultiOutputRidge, Thresholded, LabelScores)  # classifiers that learn each label from its known rows
FILLING = [c for c in MULTI if build(c).traits.fills_unknown]
DROPPING = [c for c in SUPERVISED if c not in (EmbeddingSearch, *FILLING, *OF_CELLS) and not c().traits.keeps_unknown]
HOLES = np.array([1, 5, 30]), np.array([0, 3, 1])


def assert_equal_outputs(one, other):
    expected = output(other, X)
    np.testing.assert_allclose(output(one, X), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("cls", DROPPING, ids=lambda c: c.__name__)
def test_rows_with_unknown_cells_are_left_out_and_counted(cls):  # the search scales by all rows: tested with it
    if kind(cls) == "single":
        y = CLASSES.astype(float)
        y[HOLES[0]] = np.nan
    else:
        y = Y.copy()
        y[HOLES] = np.nan
    keep = np.setdiff1d(np.arange(N), HOLES[0])
    with pytest.warns(UserWarning, match=r"\b3\b.*rows"):
        some = build(cls).fit(X, y)
    assert_equal_outputs(some, build(cls).fit(X[keep], y_for(cls)[keep]))


def hidden(complete: int) -> np.ndarray:
    """Y with one cell of each row unknown, but for some complete rows."""
    return np.where((np.arange(N)[:, None] < complete) | (np.arange(4) != np.arange(N)[:, None] % 4), Y, np.nan)


@each_value
@pytest.mark.parametrize("complete", [0, 1, 2, 3, N - 1])
@pytest.mark.parametrize("cls", FILLING, ids=lambda c: c.__name__)
def test_an_unknown_cell_counts_as_the_mean_of_its_label_whatever_the_share_of_unknown_cells(cls, complete):
    y = hidden(complete)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", "M(ORP|LSI): y has no effect")
        found = build(cls).fit(X, y)
    filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
    labels = replace(LabelMatrix.of(Y), Y=sp.csc_array(filled))
    assert_equal_outputs(found, build(cls).fit(X, labels))


@pytest.mark.parametrize("cls", [c for c in FILLING if c is not SSDR], ids=lambda c: c.__name__)  # whose graph has all
def test_rows_without_a_known_cell_are_left_out_and_counted(cls):
    y = hidden(0)
    y[HOLES[0]] = np.nan
    keep = np.setdiff1d(np.arange(N), HOLES[0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        some = build(cls).fit(X, y)
    if cls not in (ForestLeaves, Views):  # such rows are placed as new ones
        assert any(re.search("3 of 40 rows have no known label", str(each.message)) for each in told)
    assert_equal_outputs(some, build(cls).fit(X[keep], y[keep]))


WITH_RULE = {c.__name__: build(c) for c in FILLING if "unknown" in c().get_params()}
WITH_RULE["Kernelized(OPLS)"] = Kernelized(OPLS(ridge=0.1), tau=2.0)


@pytest.mark.parametrize("name", WITH_RULE)
def test_unknown_drop_leaves_out_every_row_with_an_unknown_cell(name):
    model, y = clone(WITH_RULE[name]), Y.copy()
    y[HOLES] = np.nan
    keep = np.setdiff1d(np.arange(N), HOLES[0])
    rule = next(parameter for parameter in model.get_params() if parameter.endswith("unknown"))
    with pytest.warns(UserWarning, match="3 of 40 rows have one and are left out of fit"):
        some = model.set_params(**{rule: "drop"}).fit(X, y)
    assert_equal_outputs(some, clone(WITH_RULE[name]).fit(X[keep], Y[keep]))
    with pytest.raises(ValueError, match="only 1 of 40 rows are fully known. Use unknown='auto'"):
        clone(model).fit(X, hidden(1))


def test_mesd_of_class_means_is_copy_lda_with_unknown_cells():
    y = hidden(5)
    expected = CopyLDA(ridge=0.1).fit(X, y)
    for found in (MESD(FDA(ridge=0.1)).fit(X, y), MESD(FDA(ridge=0.1), weighting="none").fit(X, y)):
        assert gram_distance(found.transform(X), expected.transform(X)) < 1e-8


@several_supervised
def test_sparse_unknown_cells_are_the_same_as_dense_ones(cls):
    y = strategies.one_hot(CLASSES) if kind(cls) == "single" else Y.copy()
    y[[1, 5, 30]] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one, other = build(cls).fit(X, y), build(cls).fit(X, sp.csr_array(y))
    np.testing.assert_allclose(output(other, X), output(one, X), rtol=0, atol=1e-10)


@several_supervised
def test_almost_everything_unknown(cls):
    y = np.full(N, np.nan)
    y[0] = 1.0
    with pytest.raises(ValueError, match="only 1 of 40 rows|one class only|sample|distinct"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fit_and_read(cls, y)


@several_multi
def test_one_row_with_known_labels(cls):
    """It is enough for some classifiers; the others say what is missing."""
    y = np.full((N, 4), np.nan)
    y[3] = [1, 0, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = build(cls).fit(X, y)
        except ValueError as error:
            assert re.search("only 1 of 40 rows|one class only|at least 2|distinct", str(error)), error
        else:
            assert all(np.isfinite(values).all() for values in readings(fitted, X).values())


def fit_and_read(cls, y):
    """A classifier may fit on one row; it must not then pretend to more than one class."""
    fitted = build(cls).fit(X, y)
    if len(fitted.classes_) == 1:
        raise ValueError("one class only")


@pytest.mark.parametrize("cls", [CCA, OPLS, PLS, MDDM], ids=lambda c: c.__name__)
def test_a_label_that_every_row_has_is_inert(cls):
    expected = build(cls).fit_transform(X, Y)
    # The ridge chosen by leave-one-out averages over label columns, one of which is now constant: the choice stays.
    assert gram_distance(build(cls).fit_transform(X, np.insert(Y, 1, 1.0, axis=1)), expected) < 1e-8


@multi
def test_full_empty_and_equal_label_columns_together(cls):
    awkward = strategies.labels_awkward(N, 3)
    fitted = build(cls).fit(X, awkward)
    assert np.all(np.isfinite(output(fitted, X)))
    assert len(getattr(fitted, "classes_", awkward.T)) == awkward.shape[1]


def test_equal_label_columns_count_once_in_cca():
    expected = CCA(ridge=0.1).fit_transform(X, Y)
    assert gram_distance(CCA(ridge=0.1).fit_transform(X, np.column_stack([Y, Y[:, 2]])), expected) < 1e-8


@several_supervised
def test_masked_labels_are_unknown(cls):
    hole = np.zeros((N, 4), dtype=bool)
    hole[[1, 5, 30], [0, 3, 1]] = True
    plain, whole = (CLASSES, hole.any(axis=1)) if kind(cls) == "single" else (Y, hole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        masked = readings(build(cls).fit(X, np.ma.array(plain, mask=whole)), X)
        unknown = readings(build(cls).fit(X, np.where(whole, np.nan, plain)), X)
    for method, values in unknown.items():
        np.testing.assert_array_equal(masked[method], values)


SCORING = [cls for cls in SUPERVISED if hasattr(cls, "score") and predicts_labels(cls) and cls is not MLLS]


@each_value
@pytest.mark.parametrize("cls", SCORING, ids=lambda c: c.__name__)
@pytest.mark.parametrize("form", ["classes", "indicator", "sets"])
def test_scores_count_rows_in_every_form_of_labels_and_never_what_is_masked(cls, form):
    y = {"classes": CLASSES, "indicator": Y.astype(int), "sets": [set(np.flatnonzero(row)) for row in Y]}[form]
    fitted = build(cls).fit(X, y)
    assert 0.0 <= fitted.score(X, y) <= 1.0
    if form == "sets":
        return
    hole = np.zeros(np.shape(y), dtype=bool)
    hole[3] = True
    if cls is DEFC:
        with pytest.warns(UserWarning, match="1 of .* rows have one and are left out of score"):
            assert fitted.score(X, np.ma.array(y, mask=hole)) == fitted.score(np.delete(X, 3, 0), np.delete(y, 3, 0))
        return
    with pytest.raises(ValueError, match="y has [14] masked entries.*leave their rows out"):
        fitted.score(X, np.ma.array(y, mask=hole))


def assert_takes_no_part(cls: type, column: np.ndarray) -> None:
    """The label changes neither the embedding nor what is told of the others, and is predicted nowhere."""
    one = build(cls).fit(X, Y)
    told = readings(one, X)
    for place in (2, 4):
        other = build(cls).fit(X, np.insert(Y, place, column, axis=1))
        assert getattr(other, "n_components_", None) == getattr(one, "n_components_", None)
        found = readings(other, X)
        for method, values in found.items():
            if method != "transform":
                assert values.shape == (N, 5)
                values = np.delete(values, place, axis=1)
            np.testing.assert_allclose(values, told[method], rtol=0, atol=1e-10 * np.abs(told[method]).max())
        if "transform" in found:
            assert len(other.get_feature_names_out()) == found["transform"].shape[1]
        if "predict" in found:
            assert not found["predict"][:, place].any()
        if "predict_proba" in found:
            assert np.all(found["predict_proba"][:, place] < 0.5)


@multi
def test_a_label_that_no_row_has_takes_no_part(cls):
    assert_takes_no_part(cls, np.zeros(N))


# Elsewhere rows with any unknown cell are left out, or count as unlabelled.
CELLS = [cls for cls in MULTI if build(cls).traits.keeps_unknown and not issubclass(cls, Propagation)]


@pytest.mark.parametrize("cls", CELLS, ids=lambda c: c.__name__)
def test_a_partly_unknown_label_that_no_row_is_known_to_have_takes_no_part(cls):
    assert_takes_no_part(cls, np.where(np.arange(N) % 3 == 0, np.nan, 0.0))


@pytest.mark.parametrize("cls", [BSML, BSSML], ids=lambda c: c.__name__)
def test_one_class_a_row_is_never_one_that_no_row_has(cls):
    """Also where all others are far less likely than by their numbers."""
    labels = LabelMatrix.of(np.append(CLASSES, 9)).take(np.arange(N))
    fitted = build(cls).fit(X, labels)
    fitted.bias_ = fitted.bias_ - 20.0
    assert labels.c == 5 and np.any(np.all(fitted.decision_function(X)[:, :4] < -np.log(N + 1), axis=1))
    assert fitted.predict(X).max() < 4 and fitted.predict_proba(X).argmax(axis=1).max() < 4


def test_an_empty_class_is_predicted_nowhere():
    wider = np.insert(Y, 2, 0.0, axis=1)
    one, other = MLLS().fit(X, Y), MLLS().fit(X, wider)
    kept = [0, 1, 3, 4]
    np.testing.assert_allclose(other.decision_function(X)[:, kept], one.decision_function(X), atol=1e-12)
    np.testing.assert_array_equal(other.decision_function(X)[:, 2], 0.0)
    np.testing.assert_array_equal(other.predict(X)[:, kept], one.predict(X))
    assert other.predict(X).shape == wider.shape and not other.predict(X)[:, 2].any()


@pytest.mark.parametrize("form", ["classes", "sets", "signs"])
def test_predictions_come_in_the_form_of_y(form):
    names = np.array(["d", "b", "a", "c"])
    y = {"classes": names[CLASSES], "sets": [set(names[row > 0]) for row in Y], "signs": 2 * Y - 1}[form]
    predicted = MLLS().fit(X, y).predict(X)
    if form == "sets":
        assert isinstance(predicted[0], set) and set().union(*predicted) <= set(names)
    else:
        assert set(np.unique(predicted)) <= set(np.unique(y))
