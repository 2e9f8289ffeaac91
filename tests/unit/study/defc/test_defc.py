"""DEFC: what it learns, honest scores, refit, reproducibility, budgets, Ctrl-C, errors."""

import json
import warnings
from itertools import count

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from clocks import set_clock
from papers.defc.trials import by_chance
from proxembed import DEFC, EmbeddingModel, unlabelled
from proxembed.data import banana
from proxembed.execute.budget import OutOfBudget
from proxembed.measures.calibration import calibrated_classes, probabilities_of
from proxembed.methods.adaptive import Limits, Switches
from proxembed.splits.splits import StratifiedFolds
from proxembed.study.defc.objective import Objective
from proxembed.study.defc.search import grown
from proxembed.targets.labels import LabelMatrix

EVALS = 16


def arcs(n, seed, noise=1.0):
    data = banana(n, seed, noise)
    return data.X, data.Y.toarray().argmax(axis=1)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int) + (X[:, 1] > 1)


@pytest.fixture(scope="module")
def several():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 5))
    return X, (X[:, :3] + 0.6 * rng.normal(size=(50, 3)) > 0.3).astype(int)


def found(X, y, *validation, **options):
    return DEFC(**{"max_evals": EVALS, **options}).fit(X, y, *validation)


def without_seconds(leaderboard):
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in leaderboard]


@pytest.mark.parametrize(("classifier", "most"), [("1nn", None), (GaussianNB(), 3)], ids=str)
def test_it_embeds_predicts_and_tells_what_it_has_tried(made, classifier, most):
    tells_what_it_has_tried(made, classifier, most)


def tells_what_it_has_tried(made, classifier, most=None):
    X, y = made
    names = np.array(["red", "green", "blue"])[y]
    search = found(X, names, classifier=classifier, n_components=most)
    assert (
        search.transform(X).shape == (60, search.best_estimator_.n_components_) == search.fit_transform(X, names).shape
    )
    assert set(search.predict(X)) <= set(names) and search.classes_.tolist() == sorted(set(names))
    assert hasattr(search, "decision_function") is (classifier != "1nn")
    assert search.n_evaluations_ == EVALS == len(search.leaderboard_) == len(search.history_) and search.n_models_ == 8
    best = search.leaderboard_[0]
    assert best["score"] == search.best_score_ == max(entry["score"] for entry in search.leaderboard_)
    assert Switches.of(best["switches"]) == search.best_switches_ == search.best_estimator_.switches()
    assert search.best_params_ == {**best["params"], "k": best["k"]}
    scores = [entry["score"] for entry in search.leaderboard_]
    assert scores == sorted(scores, reverse=True) and len(best["by_fold"]) == 5
    assert search.best_score_ == pytest.approx(np.mean(best["by_fold"]))
    assert json.loads(json.dumps(search.leaderboard_[:1]))[0]["k"] == best["k"]
    assert {"hits", "misses", "evictions"} <= set(search.cache_stats_) and search.cache_stats_["hits"] > 0
    assert "best of 16 candidates of 8 models" in search.describe()


def test_the_score_is_that_of_a_plain_loop_over_the_folds(made):
    X, y = made
    search = found(X, y, random_state=4)
    switches, params = search.best_switches_, dict(search.best_params_)
    k, values, unseen = params.pop("k"), [], np.zeros((60, 3))
    for train, held_out in StratifiedFolds(5, random_state=4).split(X, y):
        model = EmbeddingModel.from_switches(switches, params, n_components=k).fit(X[train], y[train])
        nearest = KNeighborsClassifier(1).fit(model.transform(X[train]), y[train])
        values.append(nearest.score(model.transform(X[held_out]), y[held_out]))
        unseen[held_out] = np.eye(3)[nearest.predict(model.transform(X[held_out]))]
    assert search.leaderboard_[0]["by_fold"] == pytest.approx(values, abs=1e-12)
    Z, own = search.transform(X), search.best_estimator_.transform(X)
    scores = np.eye(3)[KNeighborsClassifier(1).fit(own, y).predict(Z)]
    probabilities = probabilities_of(scores, calibrated_classes(unseen, np.eye(3)[y]))
    np.testing.assert_allclose(search.predict_proba(X), probabilities, atol=1e-10)


def test_probabilities_are_learnt_on_the_rows_that_were_held_out(made, several):
    """Of classes that no training row has, none; of several labels one each, which rise with the scores."""
    X, y = made
    strange = np.where(np.arange(20) < 5, 9, y[40:])
    search = found(X[:40], y[:40], X[40:], strange, classifier="flda", refit="train", max_evals=4)
    P, S = search.predict_proba(X), search.decision_function(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    known = np.r_[45:60]
    expected = probabilities_of(S, calibrated_classes(S[known], np.eye(3)[y[known]]))
    np.testing.assert_allclose(P, expected, atol=1e-9)
    X, Y = several
    search = found(X, Y, classifier="flda", max_evals=4)
    P, S = search.predict_proba(X), search.decision_function(X)
    assert P.shape == (50, 3) and ((P > 0) & (P < 1)).all()
    for p, s in zip(P.T, S.T, strict=True):
        assert (np.diff(p[np.argsort(s)]) >= -1e-12).all() and np.ptp(p) > 0


def test_the_training_fit_scores_on_validation_rows_as_in_the_search(made, several):
    for classifier in ("1nn", "flda"):
        for (X, y), measure in ((made, None), (several, None), (several, "macro average precision")):
            part = X[:35], y[:35], X[35:], y[35:]
            search = found(*part, classifier=classifier, measure=measure, refit="train", max_evals=8)
            assert search.score(X[35:], y[35:]) == pytest.approx(search.best_score_, abs=1e-12)
            if measure is None and y.ndim == 1:
                assert np.mean(search.predict(X[35:]) == y[35:]) == pytest.approx(search.best_score_)


def test_one_class_a_row_is_the_same_as_an_indicator(made):
    X, y = made
    one, other = found(X, y), found(X, np.eye(3, dtype=int)[y], measure="subset accuracy")
    assert without_seconds(one.leaderboard_) == without_seconds(other.leaderboard_)
    assert np.array_equal(np.eye(3, dtype=int)[one.predict(X)], other.predict(X))
    assert np.array_equal(one.transform(X), other.transform(X))


def test_several_labels_come_back_in_their_form(several):
    X, Y = several
    names = np.array(["a", "b", "c"])
    sets = [set(names[row > 0].tolist()) for row in Y]
    one, other = found(X, Y, max_evals=8), found(X, sets, max_evals=8)
    assert one.measure_ == "macro F1" and one.predict(X).shape == Y.shape
    assert other.predict(X) == [set(names[row > 0].tolist()) for row in one.predict(X)]


def test_sparse_rows_are_the_same(made):
    X, y = made
    one, other = found(X, y, max_evals=8), found(sparse.csr_matrix(X), y, max_evals=8)
    np.testing.assert_allclose(other.transform(sparse.csr_array(X)), one.transform(X), atol=1e-8)


@pytest.mark.parametrize("search", ["reduced8", "ga", "random"])
def test_workers_and_the_cache_change_nothing(made, search):
    with parallel_config(backend="threading"):
        workers_and_the_cache_change_nothing(made, search)


def workers_and_the_cache_change_nothing(made, search):
    X, y = made
    one = found(X, y, X[:20], y[:20][::-1], search=search, max_evals=40)
    two = found(X, y, X[:20], y[:20][::-1], search=search, max_evals=40, n_jobs=2)
    assert without_seconds(one.leaderboard_) == without_seconds(two.leaderboard_)
    assert [e["best"] for e in one.history_] == [e["best"] for e in two.history_]
    assert np.array_equal(one.transform(X), two.transform(X))
    bare = found(X, y, X[:20], y[:20][::-1], search=search, max_evals=40, cache_bytes=0)
    assert without_seconds(one.leaderboard_) == without_seconds(bare.leaderboard_) and bare.cache_stats_["hits"] == 0


def test_the_seed_decides(made):
    first, again, other = (found(*made, random_state=seed) for seed in (1, np.random.RandomState(5), 2))
    assert without_seconds(first.leaderboard_) == without_seconds(found(*made, random_state=1).leaderboard_)
    assert without_seconds(first.leaderboard_) != without_seconds(other.leaderboard_)
    assert again.n_evaluations_ == EVALS


def test_refit_uses_validation_rows_and_lets_counts_grow(made):
    X, y = made
    search = found(X[:30], y[:30], X[30:], y[30:], random_state=3)
    switches, params = search.best_switches_, dict(search.best_params_)
    k = params.pop("k")
    old, new = (Limits.of(LabelMatrix.of(part)) for part in (y[:30], y))
    after = grown(params, switches, old, new, 2.0)
    model = EmbeddingModel.from_switches(switches, after, n_components=k).fit(X, y)
    np.testing.assert_allclose(search.transform(X), model.transform(X), atol=1e-12)
    assert np.array_equal(
        search.predict(X), KNeighborsClassifier(1).fit(model.transform(X), y).predict(model.transform(X))
    )
    alone = found(X[:30], y[:30], X[30:], y[30:], random_state=3, refit="train")
    assert without_seconds(alone.leaderboard_) == without_seconds(search.leaderboard_)
    model = EmbeddingModel.from_switches(switches, params, n_components=k).fit(X[:30], y[:30])
    np.testing.assert_allclose(alone.transform(X), model.transform(X), atol=1e-12)


def test_numbers_of_neighbours_grow_and_all_stays_all():
    pairs, fisher = Switches(3, 5, 0, 5, 1, 1, 2, 0), Switches(3, 5, 0, 5, 2, 1, 2, 0)
    old, new = Limits(40, 20, 40), Limits(50, 25, 50)
    params = {"similarity_sigma": 0.3, "n_friends": 10, "n_enemies": 39, "lam": 0.1}
    assert grown(params, pairs, old, new, 1.25) == {
        "similarity_sigma": 0.3,
        "n_friends": 13,
        "n_enemies": None,
        "lam": 0.1,
    }
    assert grown({"similarity_sigma": 0.3, "n_neighbors": 38, "lam": 0.1}, fisher, old, new, 2.0)["n_neighbors"] == 49
    assert grown({"similarity_sigma": 0.3, "n_neighbors": 2, "lam": 0.1}, fisher, old, new, 1.25)["n_neighbors"] == 3


def test_permuted_validation_labels_leave_the_test_at_chance():
    """Nothing of the validation labels or of the test rows reaches the embedding."""
    (X, y), (X_val, y_val), (X_test, y_test) = arcs(80, 0), arcs(200, 1), arcs(1000, 2)
    rng, gaps = np.random.default_rng(0), []
    for _ in range(8):
        search = found(X, rng.permutation(y), X_val, rng.permutation(y_val), refit="train")
        assert search.best_score_ < 0.5 + 5 * np.sqrt(0.25 / 200)
        predicted = search.predict(X_test)
        gaps.append(np.mean(predicted == y_test) - by_chance(predicted, y_test))
    chance = 4 * 0.5 / np.sqrt(80 * 8)  # rows near a training row stand or fall with its label: 80 draws a fit at most
    assert abs(np.mean(gaps)) < chance < 0.1
    honest = found(X, y, X_val, rng.permutation(y_val), refit="train")
    assert honest.best_score_ < 0.5 + 5 * np.sqrt(0.25 / 200)
    assert found(X, y, X_val, y_val, refit="train").score(X_test, y_test) > 0.8  # what real labels give


def test_arcs_are_told_apart_better_than_before():
    """200 evaluations of the eight models: discriminants that were no good on a curved boundary become good."""
    (X, y), (X_val, y_val), (X_test, y_test) = arcs(150, 3), arcs(300, 4), arcs(1000, 5)
    search = found(X, y, X_val, y_val, classifier="flda", max_evals=200, refit="train")
    from proxembed.classify import FLDAClassifier

    before = 1 - FLDAClassifier().fit(X, y).score(X_test, y_test)
    after = 1 - search.score(X_test, y_test)
    assert search.n_evaluations_ == 200 and after <= 0.5 * before


def test_seconds_end_the_search_and_one_evaluation_is_always_made(made, monkeypatch):
    X, y = made
    set_clock(monkeypatch, step=0.01)
    assert found(X, y, max_evals=None, max_seconds=1e-9).n_evaluations_ == 1
    search = found(X, y, X, y[::-1], max_evals=None, max_seconds=1.0)
    assert 1 < search.n_evaluations_ <= 100
    assert 0.5 < search.history_[-1]["seconds"] < 1.1


def test_patience_ends_a_search_after_the_batch_without_a_gain(made):
    X, y = made
    patient = found(X, y, search="random", max_evals=None, patience=30)
    best = [entry["best"] for entry in patient.history_]
    last_gain = best.index(best[-1]) + 1
    assert patient.n_evaluations_ % 25 == 0 and patient.best_score_ < 1
    assert 30 <= patient.n_evaluations_ - last_gain < 30 + 25
    bounded = found(X, y, search="random", max_evals=patient.n_evaluations_)
    assert [entry["best"] for entry in bounded.history_] == best
    with pytest.raises(ValueError, match="patience=0 is not allowed; patience must be None or an integer >= 1"):
        found(X, y, patience=0)


def test_a_perfect_score_ends_the_search(made):
    X, y = made
    assert found(X, y, X, y, max_evals=200).n_evaluations_ < 200


class Interrupting:
    """An objective that is interrupted at one of its evaluations."""

    def __init__(self, monkeypatch, at):
        evaluate, calls = Objective.evaluate, []

        def interrupted(objective, switches, params):
            calls.append(switches)
            if len(calls) == at:
                raise KeyboardInterrupt
            return evaluate(objective, switches, params)

        monkeypatch.setattr(Objective, "evaluate", interrupted)


def test_ctrl_c_keeps_the_best_so_far(made, monkeypatch):
    Interrupting(monkeypatch, 9)
    search = found(*made)
    assert search.interrupted_ and 0 < search.n_evaluations_ < 9 and len(search.predict(made[0])) == 60
    assert not found(*made).interrupted_


def test_ctrl_c_before_anything_is_known_is_passed_on(made, monkeypatch):
    Interrupting(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        found(*made)


def test_progress_is_told(made):
    told = []
    found(*made, progress=lambda done, total, text: told.append((done, total, text)))
    assert told[-1][:2] == (EVALS, EVALS) and "8 trials" in told[-1][2]


def test_rows_with_unknown_labels_are_left_out_and_counted(made):
    X, y = made
    hole = np.where(np.arange(60) % 20 == 3, -1, y)
    with pytest.warns(UserWarning, match="DEFC cannot use unknown labels: 3 of 60 rows have one and are left out"):
        some = found(X, unlabelled(hole), max_evals=8)
    known = hole >= 0
    assert np.array_equal(some.transform(X), found(X[known], y[known], max_evals=8).transform(X))


def test_a_class_that_only_validation_has_counts_as_missed(made):
    X, y = made
    strange = np.where(np.arange(20) < 5, 9, y[40:])
    search = found(X[:40], y[:40], X[40:], strange)
    assert search.best_score_ <= 15 / 20 and set(search.predict(X)) <= set(y)


BAD = [
    ({"search": "tpe"}, "search='tpe' is not allowed; search must be 'reduced8', 'ga'"),
    (
        {"classifier": "tree"},
        "classifier='tree' is not allowed; classifier must be '1nn', 'flda', 'svm' or a classifier",
    ),
    ({"measure": "auc"}, "measure='auc' is unknown"),
    ({"refit": True}, "refit=True is not allowed; refit must be 'all' or 'train'"),
    ({"max_evals": 0}, "max_evals=0 is not allowed; max_evals must be None or an integer >= 1 and <= 10,000,000"),
    ({"max_evals": 2.5}, "max_evals=2.5"),
    ({"max_evals": 10**9}, "max_evals=1000000000 is not allowed"),
    ({"max_seconds": -1.0}, "max_seconds=-1.0 is not allowed; max_seconds must be None, inf or a number > 0"),
    ({"max_evals": None}, "would never end the search"),
    ({"n_components": 0}, "n_components=0 is not allowed; n_components must be None or an integer >= 1 and <= 100"),
    ({"n_components": 101}, "n_components=101"),
    ({"max_evals": None, "max_seconds": np.inf}, "max_seconds=inf would never end the search"),
    ({"cv": 1}, "cv=1 must be a number of folds from 2 to the 60 rows"),
    ({"cv": 61}, "cv=61 must be a number of folds"),
    ({"cv": True}, "cv=True must be a number of folds"),
    ({"random_state": -1}, "random_state=-1 is not allowed; random_state must be None, an integer >= 0 and <= 4,29"),
    ({"random_state": 2**40}, "random_state=1099511627776 is not allowed"),
    ({"cache_bytes": -1}, "cache_bytes=-1 is not allowed; cache_bytes must be inf or a number >= 0"),
    ({"cache_bytes": "x"}, "cache_bytes='x' is not allowed"),
    ({"cache_bytes": None}, "cache_bytes=None is not allowed"),
    ({"n_jobs": "all"}, "n_jobs='all' is not allowed; n_jobs must be None or an integer >= -1,024 and <= 1,024"),
    ({"n_jobs": 0}, "n_jobs=0 is not allowed; pass a number of processes"),
    ({"n_jobs": 10**18}, "n_jobs=1000000000000000000 is not allowed"),
    ({"progress": len}, "progress=<built-in function len> is not allowed"),
    ({"progress": 3}, "progress=3 is not allowed; progress must be None or a function of .done, total, text"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=lambda v: str(v)[:30])
def test_bad_parameters_are_refused(made, options, message):
    with pytest.raises(ValueError, match=message):
        found(*made, **options)


def test_bad_labels_and_rows_are_refused(made):
    X, y = made
    with pytest.raises(ValueError, match="X_val is given without y_val"):
        found(X, y, X)
    with pytest.raises(ValueError, match="y_val is given without X_val"):
        found(X, y, None, y)
    with pytest.raises(ValueError, match="one class only.*at least two"):
        found(X, np.zeros(60))
    with pytest.raises(ValueError, match="cv=5 leaves training rows of one class only.*smallest class has 1 rows"):
        found(X, np.arange(60) == 7)
    with pytest.raises(ValueError, match="features"):
        found(X, y, X[:, :2], y)
    with pytest.raises(ValueError, match="same columns"):
        found(X, y, X, np.eye(3, dtype=int)[y])


def test_a_failed_fit_leaves_nothing_behind(made):
    X, y = made
    search = found(X, y, max_evals=2)
    with pytest.raises(ValueError, match="max_evals"):
        search.set_params(max_evals=0).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        search.set_params(max_evals=2).fit(X, np.ones(60))
    with pytest.raises(NotFittedError):
        search.transform(X)


def test_the_size_is_capped(made):
    X, y = made
    search = found(X, y, n_components=2, search="random")
    assert all(entry["k"] is None or entry["k"] <= 2 for entry in search.leaderboard_)
    assert search.transform(X).shape[1] <= 2


def test_a_candidate_that_no_longer_has_as_many_components_keeps_those_that_it_has():
    from proxembed.study.defc.objective import Evaluation
    from proxembed.study.defc.search import refitted

    X, y = arcs(30, 0)
    best = Evaluation(
        (2, 0, 0, 5, 2, 1, 2, 0), {"similarity_sigma": 1.0, "n_neighbors": 5, "lam": 0.1}, 1.0, 7, (1.0,), 0.0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert refitted(best, best.params, X, LabelMatrix.of(y)).n_components_ == 2


def test_endless_seconds_are_no_bound(made):
    X, y = made
    told = []
    search = found(X, y, max_seconds=np.inf, max_evals=8, progress=lambda *given: told.append(given))
    assert search.n_evaluations_ == 8 and told[-1][:2] == (8, 8)


class RaisesAtTimes(GaussianNB):
    """A classifier that raises in every 300th fit."""

    fits = count(1)

    def fit(self, X, y):
        if next(self.fits) % 300 == 0:
            raise ValueError("not today")
        return super().fit(X, y)


def test_a_candidate_whose_classifier_raises_counts_as_the_worst(made):
    with pytest.warns(UserWarning, match=r"DEFC: \d+ of 15 candidates raised an exception .* the first: ValueError"):
        search = found(*made, classifier=RaisesAtTimes(), max_evals=15, n_components=4)
    failed = [entry for entry in search.leaderboard_ if entry["failed"]]
    assert 0 < len(failed) < 15 and search.leaderboard_[-len(failed) :] == failed
    assert {entry["score"] for entry in failed} == {-np.inf} and search.best_score_ > 0.5
    assert all(entry["failed"].startswith("it raised ValueError: not today") for entry in failed)


class Raises(ClassifierMixin, BaseEstimator):
    """A classifier that no rows can be given to."""

    def __init__(self, error=ValueError):
        self.error = error

    def fit(self, X, y):
        raise self.error("these rows")


def test_where_every_candidate_raises_the_error_names_the_first(made):
    match = "no candidate can be used on these rows; the first of 4: it raised ValueError: these rows. .* classifier"
    with pytest.raises(ValueError, match=match):
        found(*made, classifier=Raises(), max_evals=4)


@pytest.mark.parametrize("error", [MemoryError, OutOfBudget])
def test_errors_that_are_not_of_the_candidate_end_the_search(made, error):
    with pytest.raises(error, match="these rows"):
        found(*made, classifier=Raises(error), max_evals=4)
