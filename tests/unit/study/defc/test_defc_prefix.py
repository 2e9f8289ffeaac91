"""All numbers of components at once: predictions equal those of separate fits and of the definitions, exactly."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from proxembed.classify import LabelKNN, apply_thresholds, tune_thresholds
from proxembed.measures.metrics import hamming_loss, macro_average_precision, macro_f1, micro_f1
from proxembed.methods.adaptive import StageRows, Stages, Switches
from proxembed.study.defc import prefixes
from proxembed.study.defc.objective import default_measure, prefix_predictions, prefix_scores
from proxembed.study.defc.prefixes import (
    RIDGE,
    AnyClassifier,
    Discriminants,
    PrefixClassifier,
    cross_fitted,
    nearest_prefixes,
)
from proxembed.targets.labels import LabelMatrix
from unit.classify.contract_cases import checked_in_turn


def problem(seed=0, n=70, m=40, k=9, c=4, several=False):
    """An embedding whose columns lose weight, with labels that it tells something about."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** -np.linspace(0, 2, k)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n + m - c)])
    Z = (rng.normal(size=(c, k)) * 1.2)[y] + rng.normal(size=(n + m, k))
    Y = np.eye(c, dtype=int)[y]
    if several:
        Y |= (Z @ rng.normal(size=(k, c)) > 2).astype(int)
        Y[5] = 0
    labels = LabelMatrix.of(Y if several else y)
    return Z[:n] * scale, labels.take(np.arange(n)), Z[n:] * scale, labels.take(np.arange(n, n + m))


@checked_in_turn(PrefixClassifier(), PrefixClassifier("flda"), PrefixClassifier(LinearSVC()))
def test_scikit_learn_contract(estimator, check):
    if check.func.__name__ == "check_classifiers_multilabel_output_format_predict_proba":
        assert not hasattr(estimator, "predict_proba"), "this check is skipped only for want of probabilities"
    check(estimator)


def by_definition(Z, Z_new, sizes):
    return [((Z_new[:, None, :k] - Z[:, :k]) ** 2).sum(axis=2).argmin(axis=1) for k in sizes]


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_nearest_rows_equal_the_definition(offset):
    Z, _, Z_new, _ = problem()
    found = nearest_prefixes(Z + offset, Z_new + offset, range(1, 10))
    assert np.array_equal(found, by_definition(Z, Z_new, range(1, 10)))
    assert len({tuple(row) for row in found}) > 5


def test_equal_distances_go_to_the_lowest_row():
    rng = np.random.default_rng(3)
    Z, Z_new = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 3, (50, 4)).astype(float)
    found, expected = nearest_prefixes(Z, Z_new, range(1, 5)), by_definition(Z, Z_new, range(1, 5))
    assert np.array_equal(found, expected)
    last = [59 - ((Z_new[:, None, :k] - Z[::-1, :k]) ** 2).sum(axis=2).argmin(axis=1) for k in range(1, 5)]
    assert not np.array_equal(found, last)


def test_rounding_does_not_decide_between_copies():
    Z, _, Z_new, _ = problem()
    copies = np.vstack([Z, Z * (1 + 1e-15)])
    assert np.array_equal(nearest_prefixes(copies, Z_new, [3, 9]), by_definition(Z, Z_new, [3, 9]))
    assert nearest_prefixes(np.vstack([Z * (1 + 1e-4), Z]), Z[:5], [9])[0].tolist() == [70, 71, 72, 73, 74]


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_extreme_sizes_of_the_embedding(size):
    Z, labels, Z_new, _ = problem()
    assert np.array_equal(nearest_prefixes(Z * size, Z_new * size, [1, 9]), by_definition(Z, Z_new, [1, 9]))


def test_blocks_change_nothing():
    Z, _, Z_new, _ = problem(n=900, m=400)
    assert np.array_equal(nearest_prefixes(Z, Z_new, [2, 9]), by_definition(Z, Z_new, [2, 9]))


def test_a_few_sizes_are_those_of_all():
    Z, labels, Z_new, _ = problem(several=True)
    for classifier in ("1nn", "flda"):
        every = list(prefix_predictions(classifier, Z, labels, Z_new))
        some = list(prefix_predictions(classifier, Z, labels, Z_new, [2, 5, 9]))
        assert len(every) == 9
        assert np.array_equal(some, [every[1], every[4], every[8]])


def gaussian_odds(Z, Y, Z_new):
    """Log odds of each class against the others: Gaussian classes, pooled covariance, by explicit inverses."""
    n, k = Z.shape
    ridge = RIDGE * np.array([Z[:, : j + 1].var(axis=0).mean() for j in range(k)])
    means = np.array([Z[y == 1].mean(axis=0) for y in Y.T])
    within = sum((Z[y == 1] - mean).T @ (Z[y == 1] - mean) for y, mean in zip(Y.T, means, strict=True))
    inverse = np.linalg.inv(within / (n - Y.shape[1]) + np.diag(ridge))
    log = [
        -0.5 * np.einsum("ij,jk,ik->i", Z_new - mean, inverse, Z_new - mean) + np.log(y.mean())
        for y, mean in zip(Y.T, means, strict=True)
    ]
    p = np.exp(np.array(log).T - np.max(log, axis=0)[:, None])
    return np.array([np.log(p[:, j]) - np.log(np.delete(p, j, axis=1).sum(axis=1)) for j in range(Y.shape[1])]).T


@pytest.mark.parametrize("c", [2, 4])
def test_discriminants_of_classes_equal_the_formula_for_every_k(c):
    Z, labels, Z_new, _ = problem(c=c)
    Y = labels.Y.toarray()
    model, sizes = Discriminants.fit(Z, labels), range(1, 10)
    for k, scores, chosen in zip(sizes, model.scores(Z_new, sizes), model.classes(Z_new, sizes), strict=True):
        assert np.array_equal(chosen, np.eye(c, dtype=bool)[scores.argmax(axis=1)])
        np.testing.assert_allclose(scores, gaussian_odds(Z[:, :k], Y, Z_new[:, :k]), rtol=1e-6, atol=1e-8)


def test_discriminants_of_labels_equal_the_formula_for_every_k():
    Z, labels, Z_new, _ = problem(several=True)
    found = Discriminants.fit(Z, labels).scores(Z_new, range(1, 10))
    for k, scores in enumerate(found, start=1):
        expected = [
            gaussian_odds(Z[:, :k], np.stack([1 - y, y], axis=1), Z_new[:, :k])[:, 1] for y in labels.Y.toarray().T
        ]
        np.testing.assert_allclose(scores, np.transpose(expected), rtol=1e-6, atol=1e-8)


def test_labels_that_no_row_or_every_row_has():
    Z, labels, Z_new, _ = problem(several=True)
    Y = labels.Y.toarray().astype(int)
    Y[:, 0], Y[:, 3] = 0, 1
    scores = next(Discriminants.fit(Z, LabelMatrix.of(Y)).scores(Z_new, [4]))
    assert (scores[:, 0] < 0).all() and (scores[:, 3] > 0).all() and np.isfinite(scores).all()
    classes = LabelMatrix.of(np.arange(len(Z)) % 5).take(np.arange(len(Z)) % 5 != 2)
    scores = next(Discriminants.fit(Z[np.arange(len(Z)) % 5 != 2], classes).scores(Z_new, [4]))
    assert np.isfinite(scores).all() and (scores.argmax(axis=1) != 2).all()


def test_an_embedding_without_spread_is_still_scored():
    _, labels, _, _ = problem()
    Z = np.zeros((70, 3))
    Z[:, 1] = labels.Y.toarray().argmax(axis=1)  # no spread within classes, columns that do not vary beside it
    for classifier in ("1nn", "flda"):
        scores = prefix_scores(classifier, Z, labels, Z, labels, "subset accuracy")
        assert scores[0] < 0.6 and scores[1] == scores[2] and np.isfinite(scores).all()


VECTORS = [2, 5, 0, 5, 1, 2, 2, 0], [2, 5, 0, 5, 1, 2, 2, 1], [3, 0, 0, 4, 2, 1, 1, 0]
VALUES = {"similarity_sigma": 0.7, "n_friends": 4, "n_enemies": 9, "n_neighbors": 12, "lam": 0.3}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("classifier", ["1nn", "flda"])
@pytest.mark.parametrize("vector", VECTORS)
def test_all_k_at_once_equal_separate_fits(vector, classifier, several):
    """Spec 13.5: an embedding of k components and a classifier on it, one k after the other."""
    X, labels, X_new, _ = problem(seed=1, k=12, several=several)
    part = StageRows(X, labels, X_new)
    full = Stages(part, k_cap=10).embed(Switches.of(vector), VALUES)
    together = list(prefix_predictions(classifier, full.Z, labels, full.Z_val))
    assert len(together) == 10 and any(not np.array_equal(together[0], other) for other in together)
    y = labels.decode(labels.Y)
    for k, found in enumerate(together, start=1):
        short = Stages(part, k_cap=k).embed(Switches.of(vector), VALUES)
        model = PrefixClassifier(classifier).fit(short.Z, y)
        assert np.array_equal(model.predict(short.Z_val), labels.decode(found))
        if classifier == "1nn":
            assert np.array_equal(LabelKNN().fit(short.Z, y).predict(short.Z_val), labels.decode(found))


@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_one_hot_rows_of_several_labels_are_classes(classifier):
    Z, labels, Z_new, labels_new = problem()
    sets, sets_new = (LabelMatrix.of(part.Y.toarray().astype(int)) for part in (labels, labels_new))
    for measure in ("subset accuracy", "macro F1", "Hamming loss", "macro average precision", "macro AUC"):
        scores = [
            prefix_scores(classifier, Z, own, Z_new, new, measure)
            for own, new in ((labels, labels_new), (sets, sets_new))
        ]
        assert np.array_equal(*scores) and np.ptp(scores[0]) > 0
    predictions = [PrefixClassifier(classifier).fit(Z, own).predict(Z_new) for own in (labels, sets)]
    assert np.array_equal(np.eye(4, dtype=int)[predictions[0]], predictions[1])


@pytest.mark.parametrize("classifier", ["1nn", "flda"])
def test_measures_are_those_of_the_predictions(classifier):
    Z, labels, Z_new, labels_new = problem(several=True)
    Y = labels_new.Y.toarray()
    measures = {
        "subset accuracy": lambda found: (found == Y).all(axis=1).mean(),
        "macro F1": lambda found: macro_f1(Y, found).value,
        "micro F1": lambda found: micro_f1(Y, found),
        "Hamming loss": lambda found: -hamming_loss(Y, found),
    }
    predictions = list(prefix_predictions(classifier, Z, labels, Z_new))
    for scoring, measure in measures.items():
        found = prefix_scores(classifier, Z, labels, Z_new, labels_new, scoring)
        assert found.tolist() == [measure(part) for part in predictions]
    ranked = prefix_scores(classifier, Z, labels, Z_new, labels_new, "macro average precision")
    model = PrefixClassifier(classifier).fit(Z, labels)
    raw = model.decision_function(Z_new) + (0 if classifier == "1nn" else model.thresholds_.cuts)
    assert ranked[-1] == pytest.approx(macro_average_precision(Y, raw).value, abs=1e-12)


def test_accuracy_is_the_share_of_right_classes():
    Z, labels, Z_new, labels_new = problem()
    for classifier in ("1nn", "flda"):
        y = PrefixClassifier(classifier).fit(Z[:, :3], labels).predict(Z_new[:, :3])
        expected = float(np.mean(labels_new.decode(labels_new.Y) == y))
        assert prefix_scores(classifier, Z, labels, Z_new, labels_new, "subset accuracy", [3]).tolist() == [expected]


def test_cuts_are_the_shared_rule_on_scores_of_rows_left_out():
    Z, labels, Z_new, _ = problem(several=True)
    for k, found in enumerate(prefix_predictions("flda", Z, labels, Z_new), start=1):
        own = next(cross_fitted(Z, labels, [k]))
        cuts = tune_thresholds(own, labels.Y)
        scores = next(Discriminants.fit(Z, labels).scores(Z_new, [k]))
        assert np.array_equal(found, apply_thresholds(scores, cuts))
        seen = next(Discriminants.fit(Z, labels).scores(Z, [k]))
        assert np.abs(own - seen).max() > 1e-3


def test_two_classes_have_one_decision():
    Z, labels, Z_new, _ = problem(c=2)
    for classifier in ("1nn", "flda"):
        model = PrefixClassifier(classifier).fit(Z, np.where(labels.Y.toarray()[:, 0] > 0, "no", "yes"))
        decision = model.decision_function(Z_new)
        assert decision.shape == (40,)
        assert np.array_equal(model.predict(Z_new), np.where(decision > 0, "yes", "no"))


def test_default_measures():
    assert default_measure(problem()[1]) == "subset accuracy"
    assert default_measure(problem(several=True)[1]) == "macro F1"


def test_unknown_names_are_refused():
    Z, labels, Z_new, labels_new = problem()
    with pytest.raises(ValueError, match="classifier='tree' is not known; choose one of 1nn, flda"):
        prefix_predictions("tree", Z, labels, Z_new)
    with pytest.raises(ValueError, match="measure='F1' is unknown"):
        prefix_scores("1nn", Z, labels, Z_new, labels_new, "F1")
    with pytest.raises(ValueError, match="classifier='knn'"):
        PrefixClassifier("knn").fit(Z, labels.decode(labels.Y))


@pytest.mark.parametrize("sizes", [range(1, 10), [3], [2, 5, 9]])
def test_small_problems_at_once_are_the_loop(monkeypatch, sizes):
    Z, _, Z_new, _ = problem(n=30, m=20)
    copies = np.vstack([Z, Z * (1 + 1e-15), np.round(Z, 1)])
    at_once = nearest_prefixes(copies, Z_new, sizes)
    monkeypatch.setattr(prefixes, "SMALL_ENTRIES", 0)
    monkeypatch.setattr(prefixes, "_nearest_at_once", None)
    assert np.array_equal(at_once, nearest_prefixes(copies, Z_new, sizes))


def test_accuracy_of_all_sizes_at_once_counts_a_row_without_a_known_class_as_missed():
    Z, labels, Z_new, labels_new = problem()
    Y = labels_new.Y.toarray()
    Y[:6] = 0
    some = LabelMatrix.of(Y.astype(int))
    found = prefix_scores("1nn", Z, labels, Z_new, some, "subset accuracy")
    each = [np.mean((predicted == Y).all(axis=1)) for predicted in prefix_predictions("1nn", Z, labels, Z_new)]
    assert np.array_equal(found, each) and found.max() <= 34 / 40


# ------------------------------------------------------------------------------------- classifiers of scikit-learn


@pytest.mark.parametrize("classifier", [LinearSVC(), KNeighborsClassifier(3), GaussianNB()], ids=repr)
@pytest.mark.parametrize("several", [False, True])
def test_a_classifier_of_scikit_learn_is_fitted_anew_for_each_number_of_columns(classifier, several):
    Z, labels, Z_new, truth = problem(several=several)
    sizes, Y = (1, 4, 9), labels.Y.toarray().astype(int)
    found = list(prefix_predictions(classifier, Z, labels, Z_new, sizes))
    scores = prefix_scores(classifier, Z, labels, Z_new, truth, "macro average precision", sizes)
    for k, own, score in zip(sizes, found, scores, strict=True):
        if several:
            direct = OneVsRestClassifier(clone(classifier)).fit(Z[:, :k], Y)
            expected = direct.predict(Z_new[:, :k])
        else:
            direct = clone(classifier).fit(Z[:, :k], Y.argmax(axis=1))
            expected = np.eye(labels.c)[direct.predict(Z_new[:, :k])]
        assert np.array_equal(own, expected > 0)
        decides = hasattr(direct, "decision_function")
        S = direct.decision_function(Z_new[:, :k]) if decides else direct.predict_proba(Z_new[:, :k])
        assert score == pytest.approx(macro_average_precision(truth.Y.toarray() > 0, S).value)


def test_a_class_without_rows_is_never_predicted_and_a_lone_one_always():
    Z, y = np.arange(6.0)[:, None], ["a", "a", "a", "c", "c", "c"]
    labels = LabelMatrix.of(["a", "b", "c"]).take(np.array([0, 0, 0, 2, 2, 2]))
    fitted = AnyClassifier(LinearSVC(), Z, labels, one_label=True)
    assert fitted.labels(Z).argmax(axis=1).tolist() == [0, 0, 0, 2, 2, 2]
    assert (fitted.scores(Z).argmin(axis=1) == 1).all()
    lone = AnyClassifier(LinearSVC(), Z[:3], labels.take(np.arange(3)), one_label=True)
    assert lone.labels(Z)[:, 0].all() and PrefixClassifier(LinearSVC()).fit(Z, y).predict([[0.1]]) == ["a"]


@pytest.mark.parametrize("classifier", ["2nn", LinearSVC, 3, None])
def test_what_is_no_classifier_is_refused(classifier):
    with pytest.raises(ValueError, match="is not known; choose one of 1nn, flda, svm, or a classifier of scikit-learn"):
        PrefixClassifier(classifier).fit(np.eye(2), [0, 1])
