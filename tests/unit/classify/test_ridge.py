"""Multi-output ridge: against scikit-learn's ridge, both intercept rules, every form of y, and the chosen penalty."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from proxembed.classify import MLKNN, FLDAClassifier, LabelKNN, MultiOutputRidge
from proxembed.classify.ridge import loo_penalty
from unit.classify.contract_cases import checked_in_turn


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) + 3
    Y = ((X - 3) @ rng.normal(size=(6, 4)) + rng.normal(size=(40, 4)) > 0.5).astype(int)
    return X, Y


@checked_in_turn(MultiOutputRidge(), MultiOutputRidge("auto"))
def test_scikit_learn_contract(estimator, check):
    if check.func.__name__ == "check_classifiers_multilabel_output_format_predict_proba":
        assert not hasattr(estimator, "predict_proba"), "this check is skipped only for want of probabilities"
    if estimator.penalty == "auto" and check.func.__name__.startswith("check_sample_weight_equivalence"):
        pytest.skip("the choice of the penalty leaves out a row whole, and its repeats one by one")
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("penalty", [0.1, 30.0])
def test_scores_equal_scikit_learns_ridge_on_signs(data, form, penalty):
    X, Y = data
    oracle = Ridge(alpha=penalty).fit(X, 2.0 * Y - 1)
    model = MultiOutputRidge(penalty).fit(form(X), Y)
    np.testing.assert_allclose(model.decision_function(form(X)), oracle.predict(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X) > 0)


def test_more_features_than_rows(data):
    X, Y = data
    oracle = Ridge(alpha=0.5).fit(X[:4], 2.0 * Y[:4] - 1)
    np.testing.assert_allclose(
        MultiOutputRidge(0.5).fit(X[:4], Y[:4]).decision_function(X), oracle.predict(X), rtol=1e-8
    )


def test_penalised_intercept_is_ridge_on_a_column_of_ones(data):
    X, Y = data
    wide, T = np.column_stack([X, np.ones(40)]), 2.0 * Y - 1
    W = np.linalg.solve(wide.T @ wide + 2.0 * np.eye(7), wide.T @ T)
    for form in (np.asarray, sp.csr_array):
        model = MultiOutputRidge(2.0, penalize_intercept=True).fit(form(X), Y)
        np.testing.assert_allclose(model.decision_function(X), wide @ W, rtol=1e-9)


def test_the_targets_signs_or_bits_matter_only_with_a_penalised_intercept(data):
    X, Y = data
    half = Ridge(alpha=5.0).fit(X, Y).predict(X) > 0.5
    np.testing.assert_array_equal(MultiOutputRidge(5.0).fit(X, Y).predict(X), half)


def test_predictions_come_in_the_form_of_y(data):
    X, Y = data
    model = MultiOutputRidge()
    names = np.array(["a", "b", "c", "d"])
    bits = model.fit(X, Y).predict(X)
    np.testing.assert_array_equal(model.fit(X, sp.csc_array(Y)).predict(X), bits)
    np.testing.assert_array_equal(model.fit(X, 2 * Y - 1).predict(X), 2 * bits - 1)
    sets = model.fit(X, [set(names[row > 0]) for row in Y]).predict(X)
    assert sets == [set(names[row > 0]) for row in bits]
    classes = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [2.5, 3.5])]
    assert set(model.fit(X, classes).predict(X)) <= {"low", "mid", "high"}
    assert model.fit(X, classes).score(X, classes) > 0.7
    assert model.fit(X, Y[:, 0]).decision_function(X).shape == (40,)


def test_min_one_fills_only_empty_rows(data):
    X, Y = data
    Y = Y * (np.arange(40) % 3 == 0)[:, None]
    plain, filled = MultiOutputRidge().fit(X, Y), MultiOutputRidge(min_one=True).fit(X, Y)
    empty = plain.predict(X).sum(axis=1) == 0
    assert empty.any() and (~empty).any()
    np.testing.assert_array_equal(filled.predict(X)[~empty], plain.predict(X)[~empty])
    np.testing.assert_array_equal(
        filled.predict(X)[empty].argmax(axis=1), plain.decision_function(X)[empty].argmax(axis=1)
    )
    assert (filled.predict(X)[empty].sum(axis=1) == 1).all()


def test_rows_without_a_known_label_are_left_out_with_a_warning(data):
    X, Y = data
    holes = Y.astype(float)
    holes[:5] = np.nan
    with pytest.warns(UserWarning, match=f"5 of {len(X)} rows have no known label and are left out"):
        model = MultiOutputRidge().fit(X, holes)
    np.testing.assert_allclose(model.coef_, MultiOutputRidge().fit(X[5:], Y[5:]).coef_)


def test_the_chosen_penalty_minimises_explicit_leave_one_out(data):
    X, Y = data
    T = 2.0 * Y - 1
    chosen = loo_penalty(X, T)
    rows = np.arange(40)

    def error(penalty):
        held_out = [Ridge(alpha=penalty).fit(X[rows != i], T[rows != i]).predict(X[[i]])[0] - T[i] for i in rows]
        return np.mean(np.square(held_out))

    assert MultiOutputRidge("auto").fit(X, Y).penalty_ == pytest.approx(chosen)
    assert error(chosen) <= min(error(chosen * step) for step in (0.1, 0.3, 3, 10))
    assert loo_penalty(1e3 * X, T) == pytest.approx(1e6 * chosen)
    assert loo_penalty(sp.csr_array(X), T) == pytest.approx(chosen)
    assert loo_penalty(np.ones((5, 2)), T[:5]) == 0


@pytest.mark.parametrize("penalty", [-1, np.nan, np.inf, "best", None])
def test_impossible_penalties_are_refused_and_name_what_is_allowed(data, penalty):
    with pytest.raises(ValueError, match="penalty=.*must be 'auto' or a number >= 0"):
        MultiOutputRidge(penalty).fit(*data)


def test_rows_that_do_not_fit_are_refused_and_the_input_stays(data):
    X, Y = data
    before = X.copy(), Y.copy()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MultiOutputRidge().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="every row of y"):
        FLDAClassifier().fit(X, np.column_stack([np.full(40, np.nan), Y[:, 1:]]))
    MultiOutputRidge().fit(X, Y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])


@pytest.mark.parametrize("classifier", [MultiOutputRidge(), FLDAClassifier(), MLKNN(), LabelKNN()])
def test_label_sets_that_are_all_empty_are_refused(classifier):
    with pytest.raises(ValueError, match="no label occurs in y; give at least one row with a label"):
        classifier.fit(np.eye(4), [set(), set(), set(), set()])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_many_labels_are_predicted_some_rows_at_a_time(data, form, monkeypatch):
    X, Y = data
    model = MultiOutputRidge(min_one=True).fit(form(X), Y)
    whole = model.predict(form(X))
    scores, scored = MultiOutputRidge._scores, []
    monkeypatch.setattr("proxembed.classify.label_classifier.MANY_LABELS", Y.shape[1] - 1)
    monkeypatch.setattr("proxembed.classify.label_classifier.SCORED_ROWS", 7)
    monkeypatch.setattr(MultiOutputRidge, "_scores", lambda self, X: scored.append(X.shape[0]) or scores(self, X))
    np.testing.assert_array_equal(model.predict(form(X)), whole)
    assert max(scored) == 7 and sum(scored) == len(whole)


def test_a_score_reads_y_as_fit_does_and_refuses_another_form_and_unknown_labels():
    X = np.random.default_rng(0).normal(size=(50, 4))
    Y = (X[:, :3] + 0.3 * X[:, [3]] > 0.2).astype(int)
    sets, words = [set(np.flatnonzero(row).tolist()) for row in Y], np.where(Y[:, 0], "on", "off")
    of_table, of_sets, of_words = (MultiOutputRidge().fit(X, y) for y in (Y, sets, words))
    wanted = of_table.score(X, Y)
    frame = pd.DataFrame(Y)
    for form in (2 * Y - 1, Y > 0, frame, frame.astype("Int64"), pl.DataFrame(Y), sp.csr_array(Y)):
        assert of_table.score(X, form) == wanted
    assert of_sets.score(X, sets) == of_sets.score(X, pd.Series([sorted(row) for row in sets])) == wanted
    assert of_words.score(X, words) == of_words.score(X, words[:, None]) == of_words.score(X, pd.Categorical(words))
    holed = np.where(np.arange(50) < 9, None, words.astype(object))
    for model, y, message in (
        (of_table, sets, "y holds sets of labels, and columns of labels are predicted"),
        (of_sets, Y, "y holds columns of labels, and sets of labels are predicted: give y in the form of that of fit"),
        (of_table, words, "y holds one class per row, and columns of labels are predicted"),
        (of_words, holed, "y has unknown labels, and only known labels can be counted; leave their rows out"),
        (of_table, np.where(X[:, :3] > 1, np.nan, Y), "y has unknown labels"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, y)
