"""Weights of rows in a comparison, its rivals, intervals and diagnoses."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed import LLE, OPLS, compare, diagnose
from proxembed.data import Dataset, digits
from proxembed.evaluate.arms import Arm, unweighted_rivals
from proxembed.evaluate.gains import paired_gain
from proxembed.evaluate.part import make_part
from proxembed.evaluate.rivals.forests import BoostedScores, ForestScores
from proxembed.evaluate.rivals.linear import LabelScores, LogisticScores, SVMScores
from proxembed.evaluate.rivals.maps import UMAP
from proxembed.evaluate.rivals.numbers import BoostedNumbers, ForestNumbers, PLSNumbers, RidgeNumbers
from proxembed.evaluate.scoring import OutputReadings, Readings
from proxembed.measures.measures import measure_of
from proxembed.measures.statistics import drawn_weights, precision_gain, redrawn_gain
from proxembed.report.sections import data_card
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets
from proxembed.workflow.comparison import protocol_of
from proxembed.workflow.options import CompareOptions

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(60, 5))
Y = X[:, :2] + 0.7 * DRAW.normal(size=(60, 2))
W = DRAW.integers(0, 4, 60).astype(float)
PRESENT, REPEATED = np.flatnonzero(W), np.repeat(np.arange(60), W.astype(int))


@pytest.mark.parametrize("labels", [True, False])
def test_held_out_rows_of_whole_weight_are_repeats_in_a_part(labels):
    """And training rows in the scaling; the penalty of a read-out leaves a row out whole."""
    y = LabelMatrix.of((Y > 0).astype(int)) if labels else read_targets(Y)
    train, test = np.arange(40), np.arange(40, 60)
    own, w = test[W[test] > 0], np.append(np.ones(40), W[40:])
    rows = np.append(train, REPEATED[REPEATED >= 40])
    part = make_part(X, y, train, own, "standard", weights=w)
    repeated = make_part(X[rows], y.take(rows), train, np.arange(40, len(rows)), "standard")
    kind = Readings if labels else OutputReadings
    for name in ("macro F1", "log-loss", "macro average precision", "Jaccard@10") if labels else ("Q2", "R2", "A@10"):
        values = []
        for each in (part, repeated):
            readings, measure = kind(each.X, each.X_held_out, each), measure_of(name)
            values.append(measure.value(each.Y_held_out, readings.of(measure), weights=each.weights_held_out)[0])
        assert values[0] == pytest.approx(values[1], abs=1e-9), name
    every = make_part(X, y, np.arange(60), own, "standard", weights=np.where(W > 0, W, 1e-300))
    expected = (X[0] - X[REPEATED].mean(axis=0)) / X[REPEATED].std(axis=0, ddof=1)
    np.testing.assert_allclose(every.X[0], expected, rtol=1e-9)


@pytest.mark.parametrize("rival", [LogisticScores(), SVMScores(tol=1e-8), LabelScores(penalty=1.0), ForestScores(20)])
def test_rivals_of_labels_take_whole_weights_as_repeats(rival):
    y = (Y > 0).astype(int)
    found, expected = rival.fit(X, y, sample_weight=W), type(rival)(**rival.get_params()).fit(X[REPEATED], y[REPEATED])
    place = "transform" if isinstance(rival, LabelScores) else "decision_function"
    new = X + 1e-3
    np.testing.assert_allclose(getattr(found, place)(new), getattr(expected, place)(new), atol=2e-4)


def test_rivals_of_numbers_take_whole_weights_as_repeats():
    """Of a forest all but a few rows, for which two splits were equally good up to rounding."""
    for rival, share in ((RidgeNumbers(penalty=1.0), 1.0), (ForestNumbers(20), 0.7)):
        found = rival.fit(X[PRESENT], Y[PRESENT], sample_weight=W[PRESENT]).predict(X + 1e-3)
        expected = type(rival)(**rival.get_params()).fit(X[REPEATED], Y[REPEATED]).predict(X + 1e-3)
        assert np.isclose(found, expected, rtol=1e-8).mean() >= share


def test_boosting_counts_weights():
    light = np.where(X[:, 0] > 0, 1.0, 1e-9)
    for rival, y in ((BoostedScores(5), (Y > 0).astype(int)), (BoostedNumbers(5), Y)):
        weighed, plain = (type(rival)(5).fit(X, y, sample_weight=w) for w in (light, None))
        name = "decision_function" if isinstance(rival, BoostedScores) else "predict"
        assert not np.allclose(getattr(weighed, name)(X), getattr(plain, name)(X))


def test_notes_name_rivals_that_are_fitted_without_weights():
    arms = [Arm("a", OPLS()), Arm("ridge regression", RidgeNumbers(), True), Arm("all features", None, True)]
    assert unweighted_rivals(arms) == ()
    told = unweighted_rivals([*arms, Arm("PLSRegression", PLSNumbers(), True), Arm("UMAP", UMAP(), True)])[0]
    assert told == "Fitted without the weights of the rows, which its library does not take: PLSRegression, UMAP."


def test_equal_weights_leave_gains_and_intervals_as_they_are():
    """Rows are drawn, not their copies: twice the weight of every row says nothing more."""
    ours, theirs, twos = X[:, 0], X[:, 1], np.full(60, 2.0)
    once, twice = paired_gain(ours, theirs), paired_gain(ours, theirs, weights=twos)
    assert twice["gain"] == pytest.approx(once["gain"]) and twice["interval"] == pytest.approx(once["interval"])
    truth, draws = Y > 0, drawn_weights(60)
    sides, measure = (truth, X[:, :2], X[:, 2:4]), measure_of("micro AUC")
    for one, two in (
        (precision_gain(*sides, draws), precision_gain(*sides, 2.0 * draws, sample_weight=twos)),
        (
            redrawn_gain(measure, *sides, draws[:20], 0.1),
            redrawn_gain(measure, *sides, 2.0 * draws[:20], 0.1, sample_weight=twos),
        ),
    ):
        assert two["gain"] == pytest.approx(one["gain"], rel=1e-12)
        np.testing.assert_allclose(two["interval"], one["interval"], rtol=1e-5)


def test_methods_without_weights_are_left_out_of_a_comparison_and_named():
    w = np.random.default_rng(0).uniform(0.5, 2, 60)
    data = digits().take(range(60)).weighted(w)
    found = protocol_of(CompareOptions(methods=("opls", "lle"), n_components=2, folds=2), data)
    assert "LLE" not in found.names and "OPLS" in found.names
    assert any(note.startswith("LLE takes no weights of rows") for note in found.notes)
    assert dict(data_card(data.describe()))["rows weighted by sample_weight"].startswith(f"sum {w.sum():.6g}")
    with pytest.raises(ValueError, match="LLE takes no sample_weight"):
        compare(data, methods=["lle"])
    with pytest.raises(ValueError, match="takes no weights of rows"):
        compare(data, methods=["opls"], n_components=2, measure=lambda Y, S: 0.5)


def test_a_diagnosis_leaves_out_rows_of_weight_zero_and_takes_ones_as_none():
    few = {"n_shuffles": 2, "n_resamples": 2, "n_folds": 2}
    plain = diagnose(OPLS(), X, Y, **few)
    assert diagnose(OPLS(), X, Y, sample_weight=np.ones(60), **few) == plain
    weights = np.append(np.ones(60), 0.0)
    assert diagnose(OPLS(), np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]]), sample_weight=weights, **few) == plain
    weighed = diagnose(OPLS(), X, Y, sample_weight=W + 0.5, crossfit=True, **few)
    assert weighed.held_out != plain.held_out and weighed.embedding.shape == (60, 2)
    scaled = diagnose(make_pipeline(StandardScaler(), OPLS()), X, Y, sample_weight=W + 0.5, **few)
    assert scaled.held_out == pytest.approx(weighed.held_out, abs=0.05)
    with pytest.raises(ValueError, match="sample_weight is not allowed with PCA, a transformer of another library"):
        diagnose(PCA(1), X, Y, sample_weight=W, **few)
    with pytest.raises(ValueError, match="LLE takes no sample_weight"):
        diagnose(LLE(), X, Y[:, 0] > 0, sample_weight=W, **few)
    with pytest.raises(ValueError, match="sample_weight is not allowed with per_component=True"):
        diagnose(OPLS(), X, Y, sample_weight=W, per_component=True, **few)


def test_errors_name_the_fault():
    data = Dataset.from_targets(X, Y)
    wrong = np.ones(60)
    wrong[7] = -1
    for w, told in (
        (wrong, r"sample_weight holds -1 \(row 7\); give weights of at least 0"),
        (np.ones(10), "sample_weight has 10 values, y has 60 rows."),
        (np.zeros(60), "sample_weight is zero for every row."),
    ):
        for call in (lambda w: compare(X, Y, sample_weight=w), lambda w: diagnose(OPLS(), X, Y, sample_weight=w),
                     data.weighted):  # fmt: skip
            with pytest.raises(ValueError, match=told):
                call(w)
