"""The shared threshold rule: hand-worked cuts, brute force over all cuts, shrinking, and cuts from inner folds."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proxembed.classify import (
    MLKNN,
    FLDAClassifier,
    LabelKNN,
    MultiOutputRidge,
    Thresholded,
    Thresholds,
    apply_thresholds,
    cross_fitted_scores,
    tune_thresholds,
)
from proxembed.classify.score_products import FactoredScores, UnseenScores
from proxembed.measures.calibration import calibrated, calibrated_classes, probabilities_of
from unit.classify.contract_cases import checked_in_turn


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(120, 4)) > [0.5, 1.5, 3.0, 4.5]).astype(int)
    return X, Y


@checked_in_turn(Thresholded(), Thresholded(FLDAClassifier(), cv=3))
def test_scikit_learn_contract(estimator, check):
    if check.func.__name__ == "check_classifier_multioutput":
        return  # a label is predicted above its cut, not above a probability of one half
    if check.func.__name__.startswith("check_sample_weight"):
        if isinstance(estimator.classifier, FLDAClassifier):
            with pytest.raises(ValueError, match="FLDAClassifier.* takes no sample_weight"):
                estimator.fit(np.eye(6), [0, 1] * 3, sample_weight=np.ones(6))
            return
    check(estimator)


def test_cuts_by_hand():
    S = np.array([[0.9, 0.8], [0.6, 0.4], [0.5, 0.2], [0.1, 0.0]])
    Y = np.array([[1, 0], [0, 1], [1, 0], [0, 0]])
    # Label 0: cutting below 0.5 gives 2*2/(2+3) = 0.8. Label 1: below 0.4 gives 2/3. All entries: three positives, the
    # descending scores are 0.9+ 0.8 0.6 0.5+ 0.4+ 0.2 0.1 0: five entries down F1 is 6/8, the best; the cut is 0.3.
    found = tune_thresholds(S, Y, shrink=0)
    np.testing.assert_allclose(found.cuts, [0.3, 0.3])
    assert found.global_cut == pytest.approx(0.3)
    shrunk = tune_thresholds(np.column_stack([S[:, 0], S[:, 1] - 3]), Y, shrink=3)
    np.testing.assert_allclose(shrunk.global_cut, 0.3)
    np.testing.assert_allclose(shrunk.cuts, [0.3, (1 * -2.7 + 3 * 0.3) / 4])


def f1(Y, chosen):
    """F1 of all cells together."""
    return 2 * np.sum(Y * chosen) / (Y.sum() + chosen.sum())


@pytest.mark.parametrize("decimals", [1, 6])
def test_no_other_cut_is_better(decimals):
    rng = np.random.default_rng(decimals)
    Y = (rng.random((30, 4)) < np.linspace(0.1, 0.9, 4)).astype(int)
    S = np.round(rng.normal(size=Y.shape) + 1.5 * Y, decimals)
    found = tune_thresholds(S, sp.csr_array(Y), shrink=0)
    predicted = apply_thresholds(S, found)
    tries = np.append(np.unique(S), S.min() - 1)
    for j in range(4):
        best = max(f1(Y[:, j], S[:, j] > cut) for cut in tries)
        assert f1_score(Y[:, j], predicted[:, j]) == pytest.approx(best, rel=1e-12)
    best = max(f1(Y, S > cut) for cut in tries)
    assert f1_score(Y, S > found.global_cut, average="micro") == pytest.approx(best, rel=1e-12)


def test_rare_labels_are_shrunk_to_the_global_cut():
    rng = np.random.default_rng(1)
    Y = (rng.random((400, 3)) < [0.5, 0.05, 0.01]).astype(int)
    S = rng.normal(size=Y.shape) + 2 * Y + [0.0, -3.0, -3.0]
    own, shrunk = tune_thresholds(S, Y, shrink=0), tune_thresholds(S, Y, shrink=10)
    n = Y.sum(axis=0)
    np.testing.assert_allclose(shrunk.cuts, (n * own.cuts + 10 * own.global_cut) / (n + 10))
    assert np.abs(shrunk.cuts - own.cuts)[0] < 0.1 < np.abs(shrunk.cuts - own.cuts)[1]
    np.testing.assert_allclose(tune_thresholds(S, Y, shrink=1e12).cuts, own.global_cut)


def test_labels_without_positives_or_of_equal_scores_get_the_global_cut():
    S = np.column_stack([[0.1, 0.2, 0.8, 0.9], [0.5, 0.6, 0.7, 0.8], np.full(4, 0.4)])
    Y = np.column_stack([[0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]])
    found = tune_thresholds(S, Y, shrink=0)
    assert found.cuts[1] == found.cuts[2] == found.global_cut
    assert found.cuts[0] == pytest.approx(0.5)
    for labels in (np.zeros((4, 3)), Y):
        flat = tune_thresholds(np.full((4, 3), 2.0), labels)
        assert not apply_thresholds(np.full((4, 3), 2.0), flat).any() and np.isfinite(flat.cuts).all()
    assert not apply_thresholds(S, tune_thresholds(S, np.zeros((4, 3)))).any()


def test_a_label_that_all_rows_have_is_predicted_for_all():
    S, Y = np.array([[0.1], [0.3], [0.4]]), np.ones((3, 1))
    assert apply_thresholds(S, tune_thresholds(S, Y)).all()


def test_neighbouring_floats_are_cut_apart():
    high = np.nextafter(1.0, 2.0)
    S, Y = np.array([[1.0], [high], [high]]), np.array([[0], [1], [1]])
    np.testing.assert_array_equal(apply_thresholds(S, tune_thresholds(S, Y)), Y == 1)


@pytest.mark.parametrize(
    ("S", "Y", "options", "message"),
    [
        (np.zeros((2, 2)), np.zeros((2, 3)), {}, r"got S \(2, 2\) and Y \(2, 3\)"),
        (np.zeros(3), np.zeros(3), {}, "n x c"),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}, "n x c"),
        (np.full((1, 1), np.nan), np.ones((1, 1)), {}, "S must be finite"),
        (np.zeros((1, 1)), np.full((1, 1), 2), {}, "Y must hold only 0 and 1"),
        (np.zeros((1, 1)), np.full((1, 1), np.nan), {}, "Y must hold only 0 and 1"),
        (np.zeros((1, 1)), np.ones((1, 1)), {"shrink": -1}, "shrink=-1 is not allowed; shrink must be a number"),
        (np.zeros((1, 1)), np.ones((1, 1)), {"shrink": np.inf}, "shrink=inf is not allowed"),
    ],
)
def test_bad_input_is_refused(S, Y, options, message):
    with pytest.raises(ValueError, match=message):
        tune_thresholds(S, Y, **options)


def test_scores_of_other_labels_are_refused():
    with pytest.raises(ValueError, match="one column for each of the 2 cuts"):
        apply_thresholds(np.zeros((3, 3)), Thresholds(np.zeros(2), 0.0))


class Memory(ClassifierMixin, BaseEstimator):
    """Scores a row 1 for the labels it had in training, and 0 where it has not been seen."""

    def fit(self, X, y):
        self.seen_ = {row.tobytes(): labels for row, labels in zip(X, y, strict=True)}
        self.classes_ = np.arange(y.shape[1])
        return self

    def decision_function(self, X):
        return np.stack([self.seen_.get(row.tobytes(), np.zeros(len(self.classes_))) for row in X])


def test_no_row_is_scored_by_a_classifier_that_has_seen_it(data):
    X, Y = data
    assert Memory().fit(X, Y).decision_function(X).sum() == Y.sum()
    for cv in (2, 5, 1000, KFold(4), [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]):
        if cv != 1000:
            np.testing.assert_array_equal(cross_fitted_scores(Memory(), X, Y, cv), 0)
    np.testing.assert_array_equal(cross_fitted_scores(Memory(), X[:9], Y[:9], 1000), 0)


def test_cross_fitted_scores_are_those_of_the_other_folds(data):
    X, Y = data
    S = cross_fitted_scores(MultiOutputRidge(), X, sp.csr_array(Y), KFold(3))
    for train, held_out in KFold(3).split(X):
        expected = MultiOutputRidge().fit(X[train], Y[train]).decision_function(X[held_out])
        np.testing.assert_allclose(S[held_out], expected, rtol=1e-12)


def test_folds_must_cover_all_rows(data):
    X, Y = data
    with pytest.raises(ValueError, match="leaves 60 of 120 rows without a score"):
        cross_fitted_scores(MultiOutputRidge(), X, Y, [(np.arange(60), np.arange(60, 120))])
    with pytest.raises(ValueError, match="cv=1 is not allowed; a number of folds must be an integer >= 2"):
        Thresholded(cv=1).fit(X, Y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_classifier_is_cut_by_the_rule(data, form):
    X, Y = data
    model = Thresholded(MultiOutputRidge(2.0), cv=4, shrink=3).fit(form(X), Y)
    cuts = tune_thresholds(cross_fitted_scores(MultiOutputRidge(2.0), X, Y, 4), Y, shrink=3)
    scores = MultiOutputRidge(2.0).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(model.cuts_, cuts.cuts)
    assert model.global_cut_ == pytest.approx(cuts.global_cut)
    np.testing.assert_allclose(model.decision_function(form(X)), scores - cuts.cuts, atol=1e-10)
    np.testing.assert_array_equal(model.predict(form(X)), scores > cuts.cuts)


def test_tuned_cuts_beat_zero_on_new_rows_of_rare_labels():
    rng = np.random.default_rng(5)
    W = rng.normal(size=(8, 5))
    X = rng.normal(size=(1200, 8))
    Y = (X @ W + 2 * rng.normal(size=(1200, 5)) > 4.5).astype(int)
    train, new = slice(0, 600), slice(600, None)
    plain = f1_score(Y[new], MultiOutputRidge("auto").fit(X[train], Y[train]).predict(X[new]), average="macro")
    tuned = f1_score(Y[new], Thresholded().fit(X[train], Y[train]).predict(X[new]), average="macro")
    assert tuned > plain + 0.1


def test_predictions_come_in_the_form_of_y(data):
    X, Y = data
    bits = Thresholded().fit(X, Y).predict(X)
    np.testing.assert_array_equal(Thresholded().fit(X, 2 * Y - 1).predict(X), 2 * bits - 1)
    names = np.array(["a", "b", "c", "d"])
    sets = Thresholded().fit(X, [set(names[row > 0]) for row in Y]).predict(X)
    assert sets == [set(names[row > 0]) for row in bits]
    one_name = Thresholded().fit(X, [{"a"} if row[0] else set() for row in Y]).predict(X)
    assert {frozenset(found) for found in one_name} == {frozenset(), frozenset({"a"})}


@pytest.mark.parametrize("classes", [2, 3])
def test_with_one_class_a_row_the_most_probable_class_is_predicted(data, classes):
    X, Y = data
    y = np.array(["u", "v", "w"])[Y[:, : classes - 1].sum(axis=1)]
    model, plain = Thresholded().fit(X, y), MultiOutputRidge("auto").fit(X, y)
    assert model.cuts_ is None and model.global_cut_ is None
    P, odds, own = model.predict_proba(X), model.decision_function(X), plain.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    if classes == 2:
        np.testing.assert_allclose(P[:, 1], expit(odds))
        assert (np.diff(odds[np.argsort(own)]) >= 0).all()
    else:
        np.testing.assert_allclose(odds, model.calibration_.slope * own + model.calibration_.offset)
    assert (model.predict(X) == y).mean() >= (plain.predict(X) == y).mean() - 0.03


def test_probabilities_are_calibrated_on_scores_of_models_that_have_not_seen_the_rows(data):
    """Of classes and of labels; whole weights are repeats of rows; a copy of the model without scores has none."""
    X, Y = data
    model, scores = Thresholded(cv=3).fit(X, Y), cross_fitted_scores(MultiOutputRidge("auto"), X, Y, 3)
    raw = model.classifier_.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X), probabilities_of(raw, calibrated(scores, Y)))
    given = Thresholded().fit(X, Y, scores=-scores)
    np.testing.assert_array_equal(given.predict_proba(X), given.predict_proba(X)[:1].repeat(len(X), axis=0))
    y, w = Y[:, 0] + Y[:, 1], 1 + (np.arange(len(X)) % 3 == 0)
    folds = [(np.arange(20, len(X)), np.arange(20)), (np.arange(20), np.arange(20, len(X)))]
    own = np.empty((len(X), 3))
    for train, rest in folds:
        own[rest] = MultiOutputRidge("auto").fit(X[train], y[train]).decision_function(X[rest])
    fitted = Thresholded(cv=folds).fit(X, y)
    found = calibrated_classes(own, np.eye(3)[y])
    raw = fitted.classifier_.decision_function(X)
    np.testing.assert_allclose(fitted.predict_proba(X), probabilities_of(raw, found))
    for target, unseen in ((Y, scores), (y, own)):
        once = Thresholded().fit(X, target, unseen, sample_weight=w)
        often = Thresholded().fit(*(np.repeat(each, w, axis=0) for each in (X, target, unseen)))
        maps = (once.calibration_, often.calibration_)
        np.testing.assert_allclose(*(probabilities_of(unseen, each) for each in maps), rtol=1e-6)


def test_a_class_that_a_fold_lacks_is_scored_lowest_and_a_classifier_without_scores_has_no_probabilities():
    class Sure(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.repeat(self.classes_[:1], len(X))

    X, y = np.arange(13.0)[:, None], np.append(np.repeat(["a", "b"], 6), "c")
    model = Thresholded(LogisticRegression(), cv=3).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (13, 3) and model.predict([[0.0], [8.0]]).tolist() == ["a", "b"] and (P > 0).all()
    alone = Thresholded(LogisticRegression(), cv=2).fit(X[[0, 1, 2, 12]], [0, 0, 0, 1])  # of one class in a fold
    assert alone.predict_proba(X).shape == (13, 2)
    sure = Thresholded(Sure()).fit(X, y)
    assert not hasattr(sure, "predict_proba") and set(sure.predict(X)) == {"a"}


@pytest.mark.parametrize(
    "classifier",
    [
        FLDAClassifier(),
        LabelKNN(5),
        MLKNN(),
        OneVsRestClassifier(LogisticRegression()),
        RandomForestClassifier(10, random_state=0),
        make_pipeline(StandardScaler(), MultiOutputRidge()),
    ],
    ids=lambda c: type(c).__name__,
)
def test_any_classifier_with_a_score_a_label_can_be_cut(data, classifier):
    X, Y = data[0], data[1][:, :3]
    model = Thresholded(classifier, cv=3).fit(X, Y)
    assert f1_score(Y, model.predict(X), average="macro") > 0.6
    assert not hasattr(classifier, "classes_"), "the classifier given is cloned, not fitted"


def test_probabilities_of_a_label_seen_in_one_state_only(data):
    X, Y = data[0][:20], np.column_stack([data[1][:20, 0], np.zeros(20, int), np.ones(20, int)])
    model = Thresholded(RandomForestClassifier(5, random_state=0), cv=2).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X)[:, 1:] + model.cuts_[1:], [[0, 1]] * 20)


def test_what_cannot_be_cut_is_refused(data):
    class Silent(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

    class Narrow(Silent):
        def decision_function(self, X):
            return np.zeros(len(X))

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        Thresholded(Silent()).fit(*data)
    with pytest.raises(ValueError, match="gives 1 scores per row for 4 labels"):
        Thresholded(Narrow()).fit(*data)


def test_rows_without_a_known_label_are_left_out_with_a_warning(data):
    X, Y = data
    holes = Y.astype(float)
    holes[:5] = np.nan
    with pytest.warns(UserWarning, match=f"Thresholded .*: 5 of {len(X)} rows have no known label and are left out"):
        model = Thresholded().fit(X, holes)
    np.testing.assert_allclose(model.cuts_, Thresholded().fit(X[5:], Y[5:]).cuts_)


def test_features_that_are_all_constant_leave_the_shares_of_the_labels():
    """The row space has no dimension: every ridge has the error of the mean."""
    X = np.full((6, 1), 0.1)
    model = Thresholded(cv=2).fit(X, [0, 1, 1, 2, 2, 0])
    np.testing.assert_allclose(model.classifier_.decision_function(X), np.full((6, 3), -1 / 3))  # the mean of 1 and -1
    np.testing.assert_allclose(model.predict_proba(X), np.full((6, 3), 1 / 3))


def test_folds_that_the_rows_do_not_fill_are_refused():
    X, Y = np.array([[0.0], [1.0]]), np.array([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"cv=.* does not split the 2 rows of X"):
        Thresholded(cv=None).fit(X, Y)


def test_what_cannot_predict_classes_is_refused():
    with pytest.raises(ValueError, match="is not a classifier: it has no predict"):
        Thresholded(StandardScaler()).fit(np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize("moved", [0.0, 3.0])
def test_the_common_cut_of_few_positive_cells_is_the_best_of_all_cuts(moved):
    rng = np.random.default_rng(5)
    Y = rng.random((300, 40)) < 0.002
    S = rng.normal(size=Y.shape) + moved * Y  # where nothing is learned, more than the largest scores are needed
    found = tune_thresholds(S, Y)
    ranked = np.sort(S.ravel())
    hits = Y.sum() - np.searchsorted(np.sort(S[Y]), ranked)
    f1 = 2 * hits / (Y.sum() + np.arange(len(ranked), 0, -1))  # of the cut just below each score
    above = (found.global_cut < S).sum()
    assert 2 * Y[found.global_cut < S].sum() / (Y.sum() + above) == pytest.approx(f1.max(), rel=1e-12)


def test_cuts_of_products_are_those_of_their_scores(monkeypatch):
    monkeypatch.setattr("proxembed.classify.thresholds.COLUMNS", 7)
    rng = np.random.default_rng(6)
    folds, k, c = np.arange(90) % 3, 2, 33
    Y, parts = sp.csr_array(rng.random((90, c)) < 0.1), []
    for fold in range(3):
        rows = np.flatnonzero(folds == fold)
        Z = rng.normal(size=(len(rows), k))
        product = FactoredScores.of(Z, rng.normal(size=(k, c)), rng.normal(size=c))
        parts.append((rows, product if fold else np.asarray(product)))
    products = UnseenScores(Y.shape, parts)
    assert all(isinstance(own, FactoredScores) for _, own in parts[1:])
    S = np.empty(Y.shape)
    for rows, own in parts:
        S[rows] = own
    np.testing.assert_allclose(np.asarray(products), S, rtol=1e-5, atol=1e-5)
    found, wanted = tune_thresholds(products, Y), tune_thresholds(S, Y)
    np.testing.assert_allclose(found.cuts, wanted.cuts, rtol=1e-4, atol=1e-4)
    assert found.global_cut == pytest.approx(wanted.global_cut, rel=1e-4)
