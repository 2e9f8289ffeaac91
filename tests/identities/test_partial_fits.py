"""Partial fits are one fit on all rows, in any order of rows, calls and merges."""

import pickle
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import strategies
from designs import WHOLE
from invariants.cases import assert_same_gram, on_cases
from proxembed import (
    FDA,
    HSL,
    LPP,
    MDDM,
    MESD,
    MLDA,
    MLLS,
    MMC,
    OPLS,
    PCA,
    PLS,
    CopyLDA,
    RowBlocks,
    load,
    save,
)

TOLERANCE = 1e-8


def with_ridge(case):
    """The estimator with a given ridge: an automatic one follows from the sums, not from rows left out."""
    estimator = case.build()
    automatic = "auto" in (
        getattr(estimator, "ridge", None),
        getattr(getattr(estimator, "method", None), "ridge", None),
    )
    return case.build(ridge=0.1) if automatic or type(estimator).__name__ == "MESD" else estimator


ROW_LOCAL = on_cases(
    lambda case: case.default and with_ridge(case).traits.from_sums == "rows" and not case.build().traits.sample_rows,
    kinds=("tall", "sparse text"),
)


def told(n: int = 200, d: int = 7, c: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return strategies.labelled_rows(n, d, c, seed)


def parts_of(estimator, X, y, cuts) -> list:
    """One partly fitted copy for each part of the rows."""
    parts = []
    for part in np.split(np.arange(X.shape[0]), cuts):
        parts.append(clone(estimator).partial_fit(X[part], None if y is None else y[part]))
    return parts


@ROW_LOCAL
def test_rows_in_parts_are_the_whole(case, data):
    y = None if case.labels is None else data.y
    whole, found, n = with_ridge(case).fit(data.X, y), with_ridge(case), data.X.shape[0]
    for part in np.split(np.random.default_rng(0).permutation(n), [1, 2, 12]):
        found.partial_fit(data.X[part], None if y is None else y[part])
    assert "components_" not in vars(found)  # solved when a result is asked for
    assert_same_gram(found.transform(data.new), whole.transform(data.new), TOLERANCE)
    assert found.n_components_ == whole.n_components_ and found.ridge_ == pytest.approx(whole.ridge_)


@pytest.mark.parametrize("method", [OPLS(ridge=0.1), CopyLDA(ridge=0.1), PCA(n_components=3), PLS(), MESD(MMC())])
@pytest.mark.parametrize("seed", range(2 if WHOLE else 1))
def test_any_order_of_merges(method, seed):
    X, Y = told()
    y = None if method.traits.labels is None else Y
    draw = np.random.default_rng(seed)
    parts = parts_of(method, X, y, np.sort(draw.choice(np.arange(1, 200), 6, replace=False)))
    while len(parts) > 1:
        one = parts.pop(draw.integers(len(parts)))
        parts[draw.integers(len(parts))].merge(one)
    whole = clone(method).fit(X, y)
    assert parts[0].sums_.n == 200
    assert_same_gram(parts[0].transform(X), whole.transform(X), 1e-11)


@pytest.mark.parametrize("method", [OPLS(ridge=0.1), CopyLDA(ridge=0.1), HSL(ridge=0.1), PLS(), PCA()])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_are_those_of_the_rows(method, form):
    """Mean, counts, X'X and X'Y about the mean, whatever the template names; the rows lie far from 0."""
    X, Y = told()
    X = X + 50.0
    y = None if method.traits.labels is None else Y
    parts = parts_of(method, form(X), y, [1, 70])
    sums = parts[0].merge(parts[2]).merge(parts[1]).sums_
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(sums.mean, X.mean(axis=0))
    assert sums.n == 200 and sums.dropped == 0
    if y is None:
        assert sums.classes_ is sums.label_counts is sums.label_products() is None
    else:
        assert sums.classes_.tolist() == [0, 1, 2, 3] and sums.label_counts.tolist() == Y.sum(axis=0).tolist()
        np.testing.assert_allclose(sums.label_products(), centred.T @ Y, atol=1e-9)
    if isinstance(method, PLS | CopyLDA):
        with pytest.raises(ValueError, match="hold no X'X"):
            sums.gram()
    else:
        np.testing.assert_allclose(sums.gram(), centred.T @ centred, atol=1e-7)


@pytest.mark.parametrize("merged", [True, False])
def test_labels_that_come_later(merged):
    X, Y = told()
    names = np.array(["b", "d", "a", "c"])
    classes = names[np.sort(Y.argmax(axis=1))]
    sets = np.empty(200, dtype=object)
    sets[:] = [set(names[: 2 if i < 120 else 4][row[: 2 if i < 120 else 4] > 0]) for i, row in enumerate(Y)]
    for method, y in ((FDA(ridge=0.1), classes), (OPLS(ridge=0.1), sets), (MLLS(), sets), (HSL(ridge=0.1), sets)):
        parts = parts_of(method, X, y, [60, 120]) if merged else []
        found = reduce(lambda one, other: one.merge(other), parts) if merged else clone(method)
        for part in [] if merged else np.split(np.arange(200), [60, 120]):
            found.partial_fit(X[part], y[part])
        whole = clone(method).fit(X, list(y) if y is sets else y)
        assert found.classes_.tolist() == whole.classes_.tolist()
        assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
        if hasattr(whole, "coef_"):
            np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-8)


def test_a_result_between_two_calls():
    X, Y = told()
    model = OPLS(ridge=0.1).partial_fit(X[:100], Y[:100])
    np.testing.assert_allclose(model.components_, OPLS(ridge=0.1).fit(X[:100], Y[:100]).components_, atol=1e-10)
    model.partial_fit(X[100:], Y[100:])
    np.testing.assert_allclose(model.components_, OPLS(ridge=0.1).fit(X, Y).components_, atol=1e-10)


def test_saved_and_loaded_in_between(tmp_path):
    X, Y = told()
    model = MLLS().partial_fit(X[:90], Y[:90])
    save(model, tmp_path / "part.skops")
    again = [pickle.loads(pickle.dumps(model)), load(tmp_path / "part.skops")]
    expected = model.partial_fit(X[90:], Y[90:]).coef_
    for one in again:
        np.testing.assert_array_equal(one.partial_fit(X[90:], Y[90:]).coef_, expected)


def test_settings_of_the_solution_may_change_and_those_of_the_template_may_not():
    X, Y = told()
    model = OPLS(ridge=0.1).partial_fit(X, Y).set_params(ridge=0.3, n_components=2)
    np.testing.assert_allclose(model.components_, OPLS(ridge=0.3, n_components=2).fit(X, Y).components_, atol=1e-10)
    model = MLLS().partial_fit(X, Y)
    model.set_params(alpha=3.0)
    for step in (
        lambda: model.partial_fit(X, Y),
        lambda: model.components_,
        lambda: model.merge(clone(model).partial_fit(X, Y)),
    ):
        with pytest.raises(ValueError, match="arameters"):
            step()


def test_a_ridge_from_the_sums():
    X, Y = told()
    found = OPLS().partial_fit(X[:50], Y[:50]).partial_fit(X[50:], Y[50:])
    once = OPLS().fit(RowBlocks(iter([(X, Y)])))
    assert found.ridge_ == pytest.approx(once.ridge_, rel=1e-10)


def test_blocks_and_unknown_labels():
    X, Y = told()
    y = Y.astype(float)
    y[:30] = np.nan
    model = (
        OPLS(ridge=0.1)
        .partial_fit(RowBlocks.from_arrays(X[:100], y[:100], block_rows=20))
        .partial_fit(X[100:], y[100:])
    )
    with pytest.warns(UserWarning, match="30 of 200 rows"):
        np.testing.assert_allclose(model.components_, OPLS(ridge=0.1).fit(X[30:], Y[30:]).components_, atol=1e-10)


def test_names_of_features():
    X, Y = told()
    table = pd.DataFrame(X, columns=list("abcdefg"))
    model = OPLS(ridge=0.1).partial_fit(table[:50], Y[:50])
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(table[50:][list("gabcdef")], Y[50:])
    with pytest.raises(ValueError, match="of other names"):
        model.merge(OPLS(ridge=0.1).partial_fit(X[50:], Y[50:]))
    assert model.partial_fit(table[50:], Y[50:]).feature_names_in_.tolist() == list("abcdefg")


def test_methods_without_partial_fits():
    X, Y = told()
    for method, words in (
        (LPP(), "links pairs of rows"),
        (MLDA(), "fit it on RowBlocks, which are read twice"),
        (MDDM(label_kernel="rbf"), "fit it on RowBlocks"),
        (HSL(), "fit it on RowBlocks"),
        (MESD(weighting="printed"), "fit it on RowBlocks"),
    ):
        assert not hasattr(method, "partial_fit") and not hasattr(method, "merge")
        with pytest.raises(AttributeError) as raised:
            _ = method.partial_fit
        assert words in str(raised.value.__cause__)
    assert hasattr(MLDA(correlation=False), "partial_fit")


def test_a_call_that_fails_leaves_what_was_there():
    X, Y = told()
    model = OPLS(ridge=0.1)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X * np.nan, Y)
    assert [name for name in vars(model) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.partial_fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="4 features"):
        model.partial_fit(X[100:, :4], Y[100:])
    model.partial_fit(X[100:], Y[100:])
    np.testing.assert_allclose(model.components_, OPLS(ridge=0.1).fit(X, Y).components_, atol=1e-10)


def test_too_few_rows_are_an_error_when_a_result_is_asked_for():
    X, Y = told()
    model = OPLS(ridge=0.1).partial_fit(X[:1], Y[:1])
    for _ in range(2):
        with pytest.raises(ValueError, match="minimum of 2 is required"):
            model.transform(X)
    model.partial_fit(X[1:], Y[1:])
    assert model.n_components_ == 4


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda X, Y: OPLS().partial_fit(X), "requires y"),
        (lambda X, Y: OPLS().partial_fit(RowBlocks.from_arrays(X, Y), Y), "y must come with the blocks"),
        (lambda X, Y: FDA().partial_fit(X[:3], ["a", "b", "c"], classes=["a", "b"]), "label 'c', which is not among"),
        (lambda X, Y: OPLS().partial_fit(X, Y).partial_fit(X, Y[:, :3]), "the same columns"),
        (lambda X, Y: OPLS().partial_fit(X, Y).merge(CopyLDA().partial_fit(X, Y)), "of one class"),
        (lambda X, Y: OPLS().partial_fit(X, Y).merge(OPLS().fit(X, Y)), "call partial_fit on each first"),
        (lambda X, Y: MLLS().partial_fit(X, Y).merge(MLLS(beta=2.0).partial_fit(X, Y)), "the same parameters"),
        (
            lambda X, Y: OPLS().partial_fit(X, Y).merge(OPLS().partial_fit(X[:, :5], Y)),
            "7 in one part of the rows and 5 in another",
        ),
        (lambda X, Y: MESD().partial_fit(X, Y).merge(MESD(MMC()).partial_fit(X, Y)), "the same parameters"),
    ],
)
def test_what_cannot_be_added(step, words):
    X, Y = told()
    with pytest.raises(ValueError, match=words):
        step(X, Y)


def test_fit_starts_again_and_so_does_what_follows_it():
    X, Y = told()
    model = OPLS(ridge=0.1).fit(X + 5, Y)
    with pytest.warns(UserWarning, match="keeps no sums"):
        model.partial_fit(X[:100], Y[:100])
    assert model.partial_fit(X[100:], Y[100:]).sums_.n == 200
    model = OPLS(ridge=0.1).partial_fit(X + 5, Y).fit(X, Y)
    assert not hasattr(model, "sums_")
    np.testing.assert_array_equal(model.components_, OPLS(ridge=0.1).fit(X, Y).components_)


def test_sparse_parts():
    X, Y = told()
    X[X < 0.5] = 0.0
    parts = [OPLS(ridge=0.1).partial_fit(sparse.csr_array(X[:80]), Y[:80]), OPLS(ridge=0.1).partial_fit(X[80:], Y[80:])]
    np.testing.assert_allclose(parts[0].merge(parts[1]).components_, OPLS(ridge=0.1).fit(X, Y).components_, atol=1e-10)


def test_rows_without_labels_are_refused_as_by_fit():
    for call in (OPLS().partial_fit, OPLS().fit):
        with pytest.raises(ValueError, match="This OPLS estimator requires y to be passed, but the target y is None.$"):
            call(np.eye(4))
