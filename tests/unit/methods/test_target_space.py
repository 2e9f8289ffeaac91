"""TargetSpace: stack and places by their formulas, a and g by force, components, numbers, unknown cells."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from proxembed import TargetSpace, load, save
from proxembed.evaluate.costs import Shape, fit_work, target_works
from proxembed.measures.outputs import OutputCells
from proxembed.methods import target_space
from proxembed.methods.around import bounded_by_labels
from proxembed.methods.out_of_fold import BASES, lifted
from proxembed.methods.pipeline import embedding_pipeline
from proxembed.methods.target_space import (
    POWERS,
    SHARES,
    Placing,
    clipped_logits,
    cross_stacked,
    left_out_agreement,
    left_out_jaccard,
    stack_weights,
    stacked,
    standing,
)
from proxembed.splits import stratified_folds

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = (X[:, :4] + 0.7 * RANDOM.normal(size=(60, 4)) > 0.5).astype(int)
NEW = RANDOM.normal(size=(7, 5))
F = np.column_stack([X[:, 0] + 0.1 * X[:, 1] ** 2, 50 * np.sin(X[:, 1]) + 10, RANDOM.normal(size=60)])
SMALL = {"n_estimators": 20}
SPACE = TargetSpace(**SMALL).fit(X, Y)
NUMBERS = TargetSpace(**SMALL).fit(X, F)


def unit(V):
    return V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300)


def full(model, X):
    """The places of rows before they are cut to the components."""
    return model._placing.new(model._predictions(lifted(model._scorers, X)))


def test_the_stack_is_a_logistic_regression_on_logits():
    L = clipped_logits(lifted(SPACE._scorers, NEW))
    assert np.abs(L).max() <= np.log(999) + 1e-12 and L.shape == (7, 5, 4)
    empty = ~Y.any(axis=1)
    assert empty.any() and len(SPACE.stack_) == 5  # to have no label is one more
    scores, T = RANDOM.random((60, 5, 4)), np.column_stack([Y, empty]).astype(float)
    own = clipped_logits(scores)
    B = stack_weights(own, T, np.ones(T.shape))
    for j in range(5):
        same = LogisticRegression(C=0.1, tol=1e-12, solver="newton-cholesky").fit(own[:, j], T[:, j])
        np.testing.assert_allclose(stacked(own, B)[:, j], same.decision_function(own[:, j]), rtol=0, atol=1e-5)
    constant = stack_weights(own, np.ones(T.shape), np.ones(T.shape))
    np.testing.assert_allclose(constant, np.eye(5)[[0] * 5] * np.log(61.0))


def test_a_row_has_no_part_in_its_own_probability():
    scores, folds = clipped_logits(RANDOM.random((60, 4, 3))), stratified_folds(Y, 5)
    T, changed = Y.astype(float), Y.astype(float)
    changed[8] = 1 - changed[8]
    one, other = (cross_stacked(scores, each, np.ones(T.shape), folds) for each in (T, changed))
    own = next(fold.held_out for fold in folds if 8 in fold.held_out)
    np.testing.assert_array_equal(one[own], other[own])
    assert np.abs(np.delete(one, own, axis=0) - np.delete(other, own, axis=0)).max() > 1e-3


def test_share_and_power_are_those_of_the_largest_jaccard_by_force():
    """Of labels that every row has one of, so that to have none is no label."""
    T = np.column_stack([Y, ~Y.any(axis=1)]).astype(float)
    model = TargetSpace(**SMALL).fit(X, T.astype(int))
    P, tried = model.own_predictions_, {}
    for power in POWERS:
        for share in SHARES:
            S, Q, found = unit(share * T + (1 - share) * P**power), unit(P**power), []
            size = np.sqrt(((S - S.mean(axis=0)) ** 2).mean())
            S, Q = (unit(np.column_stack([V - S.mean(axis=0), np.full(60, size)])) for V in (S, Q))
            for i in range(60):
                near = np.round(Q[i] @ S.T, 12)
                near[i] = -2
                cut = np.sort(near)[-10]
                above, level = near > cut, near == cut
                weights = above + level * (10 - above.sum()) / level.sum()
                both, either = T @ T[i], np.maximum(T, T[i]).sum(axis=1)
                found.append(weights @ (both / either) / 10)
            tried[share, power] = np.mean(found)
            placing = Placing(share, power, True)
            value = left_out_jaccard(P, T, np.ones(T.shape, dtype=bool), placing, 5)
            assert value == pytest.approx(tried[share, power], abs=1e-12)
    assert 11 <= len(standing(T, T >= 0, 1.0)) < 60  # of more equal rows eleven stand for all
    assert (model.share_, model.power_) == max(tried, key=lambda pair: round(tried[pair], 12))


def test_rows_stand_where_the_formula_says(monkeypatch):
    p = expit(SPACE._stack.log_odds(lifted(SPACE._scorers, NEW)))
    np.testing.assert_allclose(SPACE.predict_proba(NEW), p[:, :4], atol=1e-12)
    np.testing.assert_allclose(SPACE.transform(NEW), unit(p**SPACE.power_) @ SPACE.axes_, atol=1e-12)
    assert SPACE.share_ > 0  # a row of fit has its own place, also in float32
    np.testing.assert_array_equal(SPACE.transform(X[:5]), SPACE.embedding_[:5])
    assert np.abs(SPACE.embedding_[:5] - full(SPACE, X[:5]) @ SPACE.axes_).max() > 0.05
    honest = TargetSpace(**SMALL, honest=True).fit(X, Y)
    assert honest.share_ == 0
    np.testing.assert_allclose(honest.predict_proba(NEW), SPACE.predict_proba(NEW))
    some = TargetSpace(**SMALL).fit(X.astype(np.float32), Y)
    assert some.transform(NEW.astype(np.float32)).dtype == np.float32
    predicted, rows = [], np.vstack([NEW, X[:3]])
    expected = SPACE.transform(rows), SPACE.label_scores(rows), SPACE.transform(X[:3])
    monkeypatch.setattr(target_space, "lifted", lambda *a: predicted.append(1) or lifted(*a))
    np.testing.assert_array_equal(SPACE.placed_and_scored(X[:3])[0], expected[2])
    found = np.hstack(SPACE.placed_and_scored(rows))
    np.testing.assert_allclose(found, np.hstack(expected[:2]), rtol=0, atol=1e-10)
    assert len(predicted) == 2


def test_components_are_right_singular_vectors_about_zero():
    S = SPACE.embedding_ @ SPACE.axes_.T  # of all components
    np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1.0)
    _, s, V = np.linalg.svd(S, full_matrices=False)
    few = TargetSpace(2, **SMALL).fit(X, Y)
    np.testing.assert_allclose(np.abs(np.sum(few.axes_ * V[:2].T, axis=0)), 1.0)
    np.testing.assert_allclose(few.eigenvalues_, s[:2] ** 2)
    np.testing.assert_allclose(few.transform(NEW), SPACE.truncate(2).transform(NEW), atol=1e-12)
    assert TargetSpace(0.9, **SMALL).fit(X, Y).n_components_ == 1 + np.searchsorted(np.cumsum(s**2), 0.9 * 60)
    assert bounded_by_labels(TargetSpace())
    work = target_works(TargetSpace(), Shape(2000, 50, 50.0, 6))
    assert list(work) == [*BASES, "stack"] and fit_work(TargetSpace(), Shape(2000, 50, 50.0, 6)) == sum(work.values())
    with pytest.raises(ValueError, match="n_components=6 is not allowed: TargetSpace has 1 to 5 components"):
        TargetSpace(6, **SMALL).fit(X, Y)


def test_numbers_are_joined_by_weights_of_at_least_zero():
    assert NUMBERS.bases_ == ("ridge", "kernel", "forest") and NUMBERS.stack_ is None
    G = (F - F.mean(axis=0)) / F.std(axis=0)
    scores = np.clip(lifted(NUMBERS._scorers, NEW), G.min(axis=0)[:, None], G.max(axis=0)[:, None])
    joined = scores @ NUMBERS.weights_
    np.testing.assert_allclose(full(NUMBERS, NEW), joined, atol=1e-10)
    np.testing.assert_allclose(NUMBERS.transform(NEW) @ NUMBERS.axes_.T, joined, atol=1e-10)
    low, high = F.min(axis=0), F.max(axis=0)
    np.testing.assert_allclose(
        NUMBERS.predict(NEW), np.clip(joined * F.std(axis=0) + F.mean(axis=0), low, high), atol=1e-8
    )
    S = NUMBERS.share_ * G + (1 - NUMBERS.share_) * NUMBERS.own_predictions_
    np.testing.assert_allclose(NUMBERS.embedding_ @ NUMBERS.axes_.T, S, atol=1e-10)
    cells = OutputCells(G, np.arange(3), np.zeros(3), np.ones(3))
    P = NUMBERS.own_predictions_
    found = [left_out_agreement(P, cells, Placing(share, 1.0, False)) for share in SHARES]
    assert NUMBERS.share_ == SHARES[int(np.argmax(np.round(found, 12)))]
    assert NUMBERS.score(X, F) > 0.5
    model = embedding_pipeline(TargetSpace(**SMALL), X, scaling="none", numbers=True).fit(
        X, F
    )  # whose last step takes its predictions
    np.testing.assert_allclose(model.predict(NEW), NUMBERS.predict(NEW), atol=1e-8)


def test_weights_of_numbers_are_those_of_scipy_on_stacked_columns(monkeypatch):
    from proxembed.methods import target_space

    seen = {}
    learned = target_space.learned
    monkeypatch.setattr(target_space, "learned", lambda *given: seen.setdefault("own", learned(*given)))
    model = TargetSpace(**SMALL).fit(X, F)
    G = (F - F.mean(axis=0)) / F.std(axis=0)
    A = np.clip(seen["own"][1], G.min(axis=0)[:, None], G.max(axis=0)[:, None])
    np.testing.assert_allclose(model.weights_, nnls(A.reshape(-1, 3), G.ravel())[0], atol=1e-10)


def test_columns_of_several_kinds_and_unknown_cells_take_both_forms():
    table = pd.DataFrame({"size": F[:, 0], "kind": np.array(["a", "b", "c"])[Y[:, 0] + Y[:, 1]], "spread": F[:, 1]})
    table.loc[:5, "size"] = np.nan
    table.loc[3:8, "kind"] = None
    model = TargetSpace(**SMALL).fit(X, table)
    assert model.bases_[-1] == "neighbors" and model.weights_[-1] == 0 and model.stack_.shape == (3, 5)
    assert model.axes_.shape[0] == 5
    predicted = model.predict(X)
    assert list(predicted) == list(table) and (predicted["kind"] == table["kind"])[9:].mean() > 0.6
    assert model.score(X, table) > 0.4
    holes = Y.astype(float)
    holes[RANDOM.random(Y.shape) < 0.2] = np.nan
    holes[:2] = np.nan
    with pytest.warns(UserWarning, match="2 of 60 rows have no known label"):
        some = TargetSpace(**SMALL).fit(X, holes)
    assert len(some.embedding_) == 58 and np.mean((some.predict_proba(X) > 0.5) == Y) > 0.75
    np.testing.assert_allclose(some.transform(X[:2]), full(some, X[:2]) @ some.axes_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = TargetSpace(**SMALL, bases=["neighbors", "ridge"]).fit(X[2:], holes[2:])
    assert none.bases_ == ("neighbors", "ridge")


def test_weights_are_repeats_and_models_come_back(tmp_path):
    times = np.random.default_rng(1).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), times)
    weighted = TargetSpace(**SMALL).fit(X, Y, sample_weight=times)
    repeated = TargetSpace(**SMALL).fit(X[copies], Y[copies])
    np.testing.assert_allclose(weighted.transform(NEW), repeated.transform(NEW), atol=1e-8)
    few = TargetSpace(bases=["ridge", "kernel"])  # a tree of numbers splits equal gains by their rounding
    one = few.fit(X, F, times).predict(NEW)
    np.testing.assert_allclose(one, few.fit(X[copies], F[copies]).predict(NEW), atol=1e-8)
    for model in (SPACE, NUMBERS, TargetSpace(**SMALL).fit(sp.csr_array(np.maximum(X, 0)), Y)):
        same = load(save(model, tmp_path / "model.skops"))
        rows = NEW
        np.testing.assert_array_equal(same.transform(rows), model.transform(rows))


def test_classes_in_one_column_and_rows_that_do_not_vary():
    names = np.array(["x", "y", "z"])[Y[:, 0] + Y[:, 1]]
    model = TargetSpace(**SMALL).fit(X, names)
    assert len(model.stack_) == 3 and set(model.predict(NEW)) <= set("xyz")
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="constant"):
        TargetSpace(**SMALL).fit(np.ones((60, 5)), Y)


def test_few_components_of_classes_show_all_of_them_where_rows_of_fit_stand_at_their_labels():
    """Products of places that are single labels are diagonal: their leading directions would be the largest classes."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(6), [30, 29, 28, 27, 26, 25])
    model = TargetSpace(n_components=2)
    P, T, number = rng.dirichlet(np.ones(6), len(classes)), np.eye(6)[classes], np.arange(len(classes))
    placing = Placing(1.0, 1.0, True)
    model._store(placing.own(P, T, T >= 0), placing.new(P), np.ones(len(classes)), number)
    assert np.count_nonzero(np.abs(model.axes_) > 0.05) > 6, "each axis is of several classes"
    s, V = np.linalg.svd(unit(P), full_matrices=False)[1:]
    np.testing.assert_allclose(np.abs(np.sum(model.axes_ * V[:2].T, axis=0)), 1.0)
    np.testing.assert_allclose(model.eigenvalues_, s[:2] ** 2)
