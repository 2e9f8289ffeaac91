"""ScoreSpace: a rival that predicts as a model, with scores, places, decisions and probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from proxembed import fit_on
from proxembed.data import Dataset
from proxembed.evaluate.part import INNER_FOLDS, inner_folds
from proxembed.evaluate.rivals.forests import ForestScores
from proxembed.evaluate.rivals.linear import LogisticScores, SVMScores
from proxembed.evaluate.rivals.numbers import PLSNumbers, RidgeNumbers
from proxembed.evaluate.score_space import ScoreSpace
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.persist import load, save

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 4))
NEW = RANDOM.normal(size=(30, 4))
Y = np.column_stack([X[:, 0] + 0.5 * RANDOM.normal(size=90) > 0, X[:, 1] > 0.3]).astype(int)


@pytest.mark.parametrize("form", ["indicator", "classes"])
def test_a_rival_becomes_a_model_that_predicts_embeds_and_is_saved(tmp_path, form):
    """New rows stand at the scores of a fit to all rows, rows of fit at scores of models that have not seen them."""
    data = Dataset(X, Y) if form == "indicator" else Dataset.from_classes(X, np.array(["a", "b"])[Y[:, 0]])
    model = fit_on(ScoreSpace(LogisticScores(), ("C", (0.1, 10.0))), data, scaling="standard")
    state = scaling_fit("standard", X)
    space = model["embedding"]
    alone = LogisticScores(C=space.rival_.C).fit(scaling_apply(state, X), np.asarray(data.Y.toarray()))
    scores = alone.decision_function(scaling_apply(state, NEW))
    np.testing.assert_allclose(model.transform(NEW), scores, rtol=1e-8)
    np.testing.assert_allclose(model.transform(X), space.own_label_scores(), rtol=1e-8)
    assert np.abs(model.transform(X) - alone.decision_function(scaling_apply(state, X))).max() > 1e-3
    P = model.predict_proba(NEW)
    again = load(save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    np.testing.assert_allclose(again.predict_proba(NEW), P)
    if form == "classes":
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.predict(NEW), np.array(["a", "b"])[scores.argmax(axis=1)])
    else:
        np.testing.assert_array_equal(model.predict(NEW), scores > model["readout"].cuts_)
        for own, score in zip(P.T, scores.T, strict=True):  # a sigmoid of the score
            assert (np.diff(own[np.argsort(score)]) >= 0).all()


def test_probabilities_of_margins_are_calibrated():
    """Margins of a support vector machine are no log odds: their sigmoids are."""
    model = fit_on(ScoreSpace(SVMScores()), Dataset(X, Y), scaling="standard")
    assert abs(model.predict_proba(X)[:, 0].mean() - Y[:, 0].mean()) < 0.05
    assert model["readout"].calibration_.slope.shape == (2,)


def test_a_lookup_places_rows_of_fit_at_their_labels_and_unknown_cells_at_their_share():
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[0, 1] = True
    data = Dataset(X, np.where(unknown, 0, Y), unknown=unknown)
    space = ScoreSpace(ForestScores(n_estimators=20), at_targets=True).fit(X, data.y)
    Z = space.transform(X)
    np.testing.assert_array_equal(Z[~unknown], Y[~unknown])
    assert Z[0, 1] == space.own_label_scores()[0, 1] + 0.5 and space.title == "label lookup"
    np.testing.assert_allclose(space.transform(NEW), space.label_scores(NEW) + 0.5)


def test_numbers_are_predicted_as_by_the_rival():
    """In units, also where one column of y is constant; a lookup places rows of fit at their numbers."""
    F = np.column_stack([3 + 100 * X[:, 0], np.ones(90), X[:, 1] - X[:, 2] + RANDOM.normal(size=90)])
    data = Dataset.from_targets(X, F)
    model = fit_on(ScoreSpace(RidgeNumbers()), data, scaling="standard")
    state = scaling_fit("standard", X)
    expected = RidgeNumbers().fit(scaling_apply(state, X), F).predict(scaling_apply(state, NEW))
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-8)
    lookup = fit_on(ScoreSpace(RidgeNumbers(), at_targets=True), data, scaling="standard")
    np.testing.assert_allclose(lookup.transform(X)[:, 0], (F[:, 0] - F[:, 0].mean()) / F[:, 0].std(), rtol=1e-8)
    np.testing.assert_allclose(lookup.predict(NEW), expected, rtol=1e-8)


def test_rows_of_a_group_are_in_one_inner_fold():
    """Of labels, of numbers and without a read-out; out-of-bag scores of a forest, too, are replaced."""
    copies, groups = np.repeat(X, 2, axis=0) + 0.01 * RANDOM.normal(size=(180, 4)), np.repeat(np.arange(90), 2)
    data, fold = Dataset(copies, np.repeat(Y, 2, axis=0), groups=groups), inner_folds(180, groups, INNER_FOLDS, 0)
    for rival, readout in ((ForestScores(n_estimators=5), True), (LogisticScores(), False)):
        model = fit_on(ScoreSpace(rival), data, readout=readout)
        rows, own = model[0].transform(copies), model["embedding"].own_label_scores()
        alone = clone(rival).fit(rows[fold != 1], data.Y.toarray()[fold != 1])
        np.testing.assert_allclose(own[fold == 1], alone.decision_function(rows[fold == 1]), rtol=1e-8)
    numbers = Dataset.from_targets(copies, copies[:, :2] + np.repeat(RANDOM.normal(size=(90, 2)), 2, axis=0))
    rival = fit_on(ScoreSpace(PLSNumbers()), replace(numbers, groups=groups), scaling="none")["embedding"].rival_
    expected = PLSNumbers().fit(copies, numbers.y, fold).own_factor_
    np.testing.assert_allclose(rival.own_factor_, expected, rtol=1e-6)
