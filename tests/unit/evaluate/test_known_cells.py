"""Labels with unknown cells: rows with a known cell are learned from and scored, on their known cells alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score, f1_score, hamming_loss, roc_auc_score

from proxembed import OPLS, Kernelized
from proxembed.classify import MultiOutputRidge, Thresholded
from proxembed.classify.ridge import ridge_fit
from proxembed.classify.thresholds import tune_thresholds
from proxembed.evaluate.part import make_part
from proxembed.evaluate.rivals.forests import ForestScores
from proxembed.evaluate.rivals.linear import LogisticScores, SVMScores
from proxembed.evaluate.scoring import Readings
from proxembed.measures.calibration import calibrated, label_calibration_error
from proxembed.measures.measures import MEASURES
from proxembed.measures.metrics import row_jaccard
from proxembed.measures.neighbors import neighbor_scores
from proxembed.measures.statistics import drawn_weights, precision_gain, redrawn_gain
from proxembed.targets.labels import LabelMatrix

N, C = 80, 4


@pytest.fixture(scope="module")
def made():
    """Rows, labels, scores, and a mask with an unknown cell in every row."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(N, 5))
    Y = X[:, :C] + 0.5 * draw.normal(size=(N, C)) > 0.4
    known = draw.random((N, C)) < 0.6
    known[np.arange(N), np.arange(N) % C] = False
    known[np.arange(N), (np.arange(N) + 1) % C] = True
    return X, Y, X[:, :C] + draw.normal(size=(N, C)), known


def with_nan(Y, known):
    return np.where(known, Y, np.nan)


def by_label(function, Y, S, known):
    return np.mean([function(Y[known[:, j], j], S[known[:, j], j]) for j in range(C)])


def test_measures_of_scores_and_labels_are_those_of_the_known_cells(made):
    _, Y, S, known = made
    P = S > 0.2
    expected = {
        "macro average precision": by_label(average_precision_score, Y, S, known),
        "macro AUC": by_label(roc_auc_score, Y, S, known),
        "macro F1": by_label(f1_score, Y, P, known),
        "micro F1": f1_score(Y[known], P[known]),
        "micro AUC": roc_auc_score(Y[known], S[known]),
        "Hamming loss": hamming_loss(Y[known], P[known]),
    }
    for name, value in expected.items():
        measure = MEASURES[name]
        assert measure.value(Y & known, S if measure.reads == "scores" else P, known=known)[0] == pytest.approx(value)
    own = [f1_score(Y[i, known[i]], P[i, known[i]], zero_division=1.0) for i in range(N)]
    assert MEASURES["instance F1"].value(Y, P, known=known)[0] == pytest.approx(np.mean(own))
    right = [np.array_equal(Y[i, known[i]], P[i, known[i]]) for i in range(N)]
    assert MEASURES["subset accuracy"].value(Y, P, known=known)[0] == pytest.approx(np.mean(right))


def test_a_measure_of_which_all_cells_are_known_is_the_measure(made):
    _, Y, S, _ = made
    probabilities, every = 1 / (1 + np.exp(-S)), np.ones(Y.shape, dtype=bool)
    for measure in MEASURES.values():
        if measure.reads.endswith("neighbors") or measure.takes != "labels":
            continue
        reading = {"scores": S, "labels": S > 0, "probabilities": probabilities}[measure.reads]
        assert measure.value(Y, reading, known=every) == pytest.approx(measure.value(Y, reading))


def test_without_a_known_cell_no_measure_has_a_value(made):
    _, Y, S, known = made
    for measure in MEASURES.values():
        if not measure.reads.endswith("neighbors") and measure.takes == "labels":
            value, labels = measure.value(Y & False, S if measure.reads == "scores" else S > 0, known=known & False)
            assert np.isnan(value) and labels == 0, measure.name


def test_neighbours_are_compared_on_the_cells_that_both_rows_know(made):
    _, Y, _, known = made
    near = np.array([[j for j in range(20) if j != i][i % 3 : i % 3 + 4] for i in range(12)])
    weights = sp.csr_array((np.tile([0.4, 0.3, 0.2, 0.1], 12), near.ravel(), np.arange(0, 49, 4)), shape=(12, 20))
    expected = []
    for i in range(12):
        values, used = [], []
        for j, weight in zip(near[i], [0.4, 0.3, 0.2, 0.1], strict=True):
            cells = np.flatnonzero(known[i] & known[j])
            if len(cells):
                ours, theirs = Y[i, cells], Y[j, cells]
                values.append((ours & theirs).sum() / (ours | theirs).sum() if (ours | theirs).any() else 1.0)
                used.append(weight)
        expected.append(np.average(values, weights=used) if used else 0.0)
    held_out, train = slice(0, 12), slice(0, 20)
    found = row_jaccard((Y & known)[held_out], (Y & known)[train], weights, known[train], known=known[held_out])
    assert found == pytest.approx(expected) and len(set(np.round(expected, 6))) > 3
    every = np.ones((20, C), dtype=bool)
    whole = row_jaccard(Y[held_out], Y[train], weights, every, known=every[held_out])
    assert whole == pytest.approx(row_jaccard(Y[held_out], Y[train], weights))
    shares = neighbor_scores(weights, Y[train] & known[train], known[train])
    own = near[5][known[near[5], 2]]
    weight = weights[[5]].toarray().ravel()[own]
    assert len(own) and shares[5, 2] == pytest.approx(weight @ Y[own, 2] / weight.sum())


def test_what_scores_say_of_unknown_cells_changes_nothing(made):
    _, Y, S, known = made
    Y, other = Y & known, np.where(known, S, S[::-1] * 3 + 1)
    weights = drawn_weights(N, n_draws=20)
    for find in (
        lambda S: tune_thresholds(S, Y, known=known).cuts,
        lambda S: np.array(calibrated(S, Y, known)[:5]),
        lambda S: label_calibration_error(Y, 1 / (1 + np.exp(-S)), known=known),
        lambda S: precision_gain(Y, S, np.zeros_like(S), weights, known=known)["interval"],
        lambda S: redrawn_gain(MEASURES["macro AUC"], Y, S, np.zeros_like(S), weights, 0.1, known=known)["interval"],
    ):
        np.testing.assert_array_equal(find(S), find(other))
        assert not np.array_equal(find(S), find(S[::-1]))
    own = tune_thresholds(S[known[:, 1]][:, [1]], Y[known[:, 1]][:, [1]], shrink=0)
    assert tune_thresholds(S, Y, shrink=0, known=known).cuts[1] == pytest.approx(own.cuts[0], abs=np.ptp(S) / 20)


def test_a_label_without_a_known_cell_has_no_figure(made):
    _, Y, S, known = made
    known = known & (np.arange(C) != 3)
    assert np.isnan(label_calibration_error(Y & known, 1 / (1 + np.exp(-S)), known=known)).tolist() == [False] * 3 + [
        True
    ]
    assert calibrated(S, Y & known, known).slope[3] == 0.0
    assert MEASURES["macro average precision"].value(Y & known, S, known=known)[1] == 3


def test_read_outs_take_the_mean_of_a_label_for_its_unknown_cells(made):
    X, Y, _, known = made
    y, means = with_nan(Y, known), (Y & known).sum(axis=0) / known.sum(axis=0)
    filled = np.where(known, Y, means)
    rows = np.arange(0, N, 2), np.arange(1, N, 2)
    part = make_part(X, LabelMatrix.of(y), *rows, "standard")
    own = np.where(known[rows[0]], Y[rows[0]], (Y & known)[rows[0]].sum(axis=0) / known[rows[0]].sum(axis=0))
    assert part.targets == pytest.approx(own)
    readings = Readings(part.X, part.X_held_out, part)
    coef, intercept = ridge_fit(part.X, 2 * own - 1, readings.readout.penalty)
    assert readings.scores == pytest.approx(part.X_held_out @ coef + intercept, abs=1e-6)
    coef, _ = ridge_fit(X, 2 * filled - 1, 0.1)
    assert MultiOutputRidge().fit(X, y).coef_ == pytest.approx(coef)
    assert Thresholded().fit(X, y).predict(X).shape == (N, C)


def test_rows_without_any_known_cell_are_left_out(made):
    X, Y, _, known = made
    y = np.vstack([with_nan(Y, known), np.full((3, C), np.nan)])
    with pytest.warns(UserWarning, match=f"3 of {N + 3} rows have no known label and are left out of fit"):
        found = MultiOutputRidge().fit(np.vstack([X, np.ones((3, 5))]), y)
    assert found.coef_ == pytest.approx(MultiOutputRidge().fit(X, with_nan(Y, known)).coef_)


@pytest.mark.parametrize("whole", [1, 30, N - 1])
def test_rows_known_in_full_change_nothing_of_the_rule(made, whole):
    X, Y, _, known = made
    known = known | (np.arange(N)[:, None] < whole)
    filled = np.where(known, Y, (Y & known).sum(axis=0) / known.sum(axis=0))
    coef, _ = ridge_fit(X, 2 * filled - 1, 0.1)
    assert MultiOutputRidge(penalty=0.1).fit(X, with_nan(Y, known)).coef_ == pytest.approx(coef)


@pytest.mark.parametrize("method", [OPLS(ridge=0.1), Kernelized(OPLS(ridge=0.1), tau=2.0)])
def test_methods_that_are_linear_in_the_labels_take_the_mean_for_unknown_cells(made, method):
    X, Y, _, known = made
    y = with_nan(Y, known)
    found = method.fit(X, y).transform(X)
    expected = method.fit(X, LabelMatrix.of(y).with_means()).transform(X)
    np.testing.assert_array_equal(found, expected)


def test_score_rivals_learn_each_label_from_its_known_rows(made):
    X, Y, _, known = made
    found = LogisticScores().fit(X, with_nan(Y, known))
    alone = LogisticScores().fit(X[known[:, 2]], Y[known[:, 2], 2])
    assert found.coef_[:, 2] == pytest.approx(alone.coef_[:, -1], abs=1e-4)
    svm, some = SVMScores(tol=1e-6).fit(X, with_nan(Y, known)), known[:, 2]
    spread = [np.var(rows, axis=0).sum() for rows in (X, X[some])]
    alone = SVMScores(C=spread[1] / spread[0], tol=1e-6).fit(X[some], Y[some, 2])
    assert svm.coef_[:, 2] == pytest.approx(alone.coef_[:, -1], abs=2e-3)
    forest = ForestScores(n_estimators=50).fit(X, with_nan(Y, known))
    assert average_precision_score(Y[~known[:, 1], 1], forest.own_scores_[~known[:, 1], 1]) > Y[:, 1].mean() + 0.2
