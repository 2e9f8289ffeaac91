"""EmbeddingSearch: what is tried and kept, the clock, reproducibility, Ctrl-C, unknown labels and groups."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from proxembed import OPLS, EmbeddingSearch, Kernelized, unlabelled
from proxembed.data import read
from proxembed.evaluate.arms import title_of
from proxembed.evaluate.measures import MEASURES
from proxembed.evaluate.metrics import macro_average_precision
from proxembed.evaluate.part import Part
from proxembed.study import candidates as space
from proxembed.study import embedding_search as search
from proxembed.study import study, trials
from proxembed.study.method_strategies import Halving
from proxembed.study.study import Study

FAST = ["opls", "mvmd", "mmc"]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(150, 3)) > 0.4).astype(int)


def found(X, y, methods=tuple(FAST), **options):
    return EmbeddingSearch(list(methods), **{"max_trials": 8, "max_seconds": None, **options}).fit(X, y)


def without_seconds(searched):
    return [{key: value for key, value in trial.items() if key != "seconds"} for trial in searched.trials_]


def test_it_embeds_and_predicts_in_the_form_of_y(made):
    X, Y = made
    searched = found(X, Y)
    k = searched.best_params_["n_components"]
    assert searched.transform(X).shape == (150, k) == searched.fit_transform(X, Y).shape
    assert searched.predict(X).shape == Y.shape and searched.decision_function(X).shape == Y.shape
    assert macro_average_precision(Y, searched.decision_function(X)).value > 0.8
    names = np.array(["red", "green", "blue"])
    sets = [set(names[row > 0].tolist()) for row in Y]
    assert found(X, sets).predict(X) == [
        set(np.sort(names)[row > 0].tolist()) for row in found(X, Y[:, np.argsort(names)]).predict(X)
    ]
    classes = found(X, names[X[:, :3].argmax(axis=1)])
    assert set(classes.predict(X)) <= set(names) and classes.classes_.tolist() == sorted(names)


def test_the_trials_are_plain_and_the_best_is_among_them(made):
    searched = found(*made)
    assert len(searched.trials_) == 8 and not searched.interrupted_
    complete = [t for t in searched.trials_ if t["complete"]]
    best = max(complete, key=lambda t: t["score"])
    assert searched.best_score_ == best["score"] == pytest.approx(np.mean(best["by_fold"]))
    assert all(len(t["by_fold"]) == 5 and t["score"] == max(t["scores"].values()) for t in complete)
    assert searched.best_params_["method"] == best["method"] and searched.best_params_["n_components"] == best["k"]
    assert json.loads(json.dumps(searched.trials_))[0]["method"] == "OPLS"
    leaders = [title_of(leader) for leader in searched.leaders_]
    assert leaders[0] == best["method"] and len(set(leaders)) == len(leaders)
    assert searched.leaders_[0].n_components == best["k"]


def test_the_score_is_that_of_a_plain_loop_over_the_folds(made):
    """Scaling inside the fold, ridge read-out, mean over folds: written out with scikit-learn's pieces."""
    from sklearn.preprocessing import StandardScaler

    from proxembed.classify import MultiOutputRidge
    from proxembed.splits.splitters import StratifiedFolds

    X, Y = made
    values = []
    for train, held_out in StratifiedFolds(5, random_state=4).split(X, Y):
        scale = StandardScaler().fit(X[train])
        method = OPLS(n_components=2).fit(scale.transform(X[train]), Y[train])
        Z, Z_held_out = (method.transform(scale.transform(X[rows])) for rows in (train, held_out))
        scores = MultiOutputRidge(penalty="auto").fit(Z, Y[train]).decision_function(Z_held_out)
        values.append(macro_average_precision(Y[held_out], scores).value)
    searched = found(X, Y, ["opls"], n_components=2, max_trials=1, random_state=4)
    assert searched.trials_[0]["by_fold"] == pytest.approx(values, abs=1e-9)


def test_a_number_of_trials_makes_it_reproducible(made):
    first, again = found(*made, max_trials=12), found(*made, max_trials=12)
    assert without_seconds(first) == without_seconds(again)
    assert np.array_equal(first.transform(made[0]), again.transform(made[0]))
    assert without_seconds(found(*made, max_trials=12, random_state=1)) != without_seconds(first)


def test_several_jobs_change_nothing(made):
    assert without_seconds(found(*made, n_jobs=2)) == without_seconds(found(*made))


def test_the_first_two_are_opls_and_its_kernel_form(made):
    searched = EmbeddingSearch(max_trials=3, max_seconds=None).fit(*made)
    assert [t["method"] for t in searched.trials_[:2]] == ["OPLS", "Kernelized(OPLS)"]
    assert all(t["complete"] for t in searched.trials_[:2])


class Clock:
    """A clock that only fits move: rows cubed, so that the last fit on all rows costs more than any before it."""

    def __init__(self, power, unit):
        self.now, self.power, self.unit, self.fits = 0.0, power, unit, []

    def time(self):
        return self.now

    def run_trial(self, estimator, part, sizes, measure, bounded, limit):
        rows = part.X.shape[0]
        seconds = self.unit * (rows / 1000) ** self.power * (10 if type(estimator).__name__ == "Kernelized" else 1)
        self.now += seconds
        self.fits.append((type(estimator).__name__, rows, limit))
        return trials.Outcome({2: 0.5 + len(self.fits) / 1e4}, seconds)


def timed_search(monkeypatch, clock, budget):
    """A search of 3 folds of 3,600 of 5,400 rows by the clock alone."""
    monkeypatch.setattr(study, "time", clock)
    monkeypatch.setattr(trials, "run_trial", clock.run_trial)
    parts = tuple(Part(np.empty((3600, 2)), None, None, None) for _ in range(3))
    monkeypatch.setattr(trials, "first_rows", lambda part, rows: Part(part.X[:rows], None, None, None))
    scores = trials.FoldScores(parts, 5400, (2,), MEASURES["macro average precision"])
    return Study(scores, max_seconds=budget).run(Halving(space.candidates(space.FIRST), space.candidates()))


@pytest.mark.parametrize(("unit", "owed"), [(0.4, True), (0.5, False)])
def test_the_kernel_form_may_take_one_budget_more_and_no_second_one(monkeypatch, unit, owed):
    clock = Clock(1, unit)
    searched = timed_search(monkeypatch, clock, 60.0)
    assert ("Kernelized(OPLS)" in [t.title for t in searched.trials if t.complete]) is owed
    assert clock.now < 120


@pytest.mark.parametrize(("power", "unit"), [(1, 0.05), (2, 0.3), (3, 0.3), (3, 1.0), (3, 4.0)])
def test_seconds_are_kept(monkeypatch, power, unit):
    """The search, and the fit of the best on all rows after it, end within the budget and leave little of it."""
    clock, budget = Clock(power, unit), 60.0
    best = trials.best_trial(timed_search(monkeypatch, clock, budget).trials)
    last = unit * 5.4**power * (10 if best.title.startswith("Kernelized") else 1)
    forced = 3 * unit * 3.6**power
    if forced + last < budget:
        assert clock.now + last <= budget
    else:
        assert [name for name, rows, _ in clock.fits if rows == 3600] == ["OPLS"] * 3
    if unit < 0.1:
        assert clock.now + last >= 0.9 * budget


def test_a_budget_too_small_for_anything_still_gives_the_first_method(made):
    searched = EmbeddingSearch(max_seconds=1e-6, max_trials=None).fit(*made)
    assert searched.best_params_["method"] == "OPLS" and len(searched.best_estimator_) == 3


def test_the_space_of_a_method_without_parameters_ends(made):
    assert len(found(*made, ["pls"], max_trials=None, max_seconds=60).trials_) == 1


def test_a_perfect_score_ends_the_search():
    X = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(40, 2))
    searched = EmbeddingSearch(max_trials=None, max_seconds=60).fit(X, np.repeat(["a", "b"], 20))
    assert searched.best_score_ == 1.0 and len(searched.trials_) <= 2 + len(space.candidates(several_labels=False))


def test_ctrl_c_keeps_the_best_so_far(made, monkeypatch):
    whole, calls = trials.run_trial, []

    def stopped(*arguments, **options):
        if len(calls) == 7:
            raise KeyboardInterrupt
        calls.append(1)
        return whole(*arguments, **options)

    monkeypatch.setattr(trials, "run_trial", stopped)
    searched = found(*made)
    complete = [t for t in searched.trials_ if t["complete"]]
    assert searched.interrupted_ and 1 <= len(complete) < 3 and len(searched.trials_) < 8
    assert searched.best_score_ == max(t["score"] for t in complete)
    assert searched.transform(made[0]).shape[0] == 150


def test_ctrl_c_before_anything_is_finished_is_passed_on(made, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "run_trial", stopped)
    with pytest.raises(KeyboardInterrupt):
        found(*made)


def test_failures_are_recorded_and_lose(made, monkeypatch):
    whole = trials._fitted

    def broken(estimator, part, k):
        if type(estimator).__name__ == "MVMD":
            raise ValueError("broken on purpose")
        return whole(estimator, part, k)

    monkeypatch.setattr(trials, "_fitted", broken)
    searched = found(*made)
    failed = [t for t in searched.trials_ if t["method"] == "MVMD"]
    assert failed and all("broken on purpose" in t["failure"] and t["score"] == 0 for t in failed)
    assert searched.best_params_["method"] != "MVMD"
    with pytest.raises(ValueError, match="no configuration could be fitted.*broken on purpose"):
        found(*made, ["mvmd"])


def test_rows_with_unknown_labels_are_never_held_out(made, monkeypatch):
    X, Y = made
    y = Y.astype(float)
    y[::5, 1] = np.nan
    kept = []
    whole = search.make_part
    monkeypatch.setattr(search, "make_part", lambda *a: kept.append(a[2:4]) or whole(*a))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        searched = found(X, y)
    assert len(kept) == 5 and searched.trials_[0]["notes"]
    for train, held_out in kept:
        assert not np.isin(np.arange(0, 150, 5), held_out).any() and np.isin(np.arange(0, 150, 5), train).all()
    classes = unlabelled(np.where(np.arange(150) % 7 == 0, -1, Y[:, 0]), marker=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert set(found(X, classes).predict(X)) == {0, 1}


def test_groups_are_never_parted(made, monkeypatch):
    groups, kept = np.arange(150) // 10, []
    whole = search.make_part
    monkeypatch.setattr(search, "make_part", lambda *a: kept.append(a[2:4]) or whole(*a))
    EmbeddingSearch(["opls"], max_trials=1).fit(*made, groups=groups)
    assert all(not np.isin(groups[train], groups[held_out]).any() for train, held_out in kept) and len(kept) == 5


def test_sparse_rows_stay_sparse_and_give_the_same(made):
    X = np.random.default_rng(0).poisson(0.4, size=(150, 12)).astype(float)
    Y = (X[:, :3] > 0).astype(int)
    searched = found(sparse.csr_array(X), Y)
    assert searched.best_estimator_[0].kind == "tfidf"
    assert searched.transform(sparse.csr_array(X)).shape[0] == 150


def test_halving_goes_over_rows_where_they_are_many():
    parts = tuple(Part(np.empty((m, 2)), None, None, None) for m in (4000, 4001))
    assert trials.rungs(parts, 6000) == ((444, 1), (1333, 1), (4000, 1), (4000, 2))
    few = tuple(Part(np.empty((100, 2)), None, None, None) for _ in range(3))
    assert trials.rungs(few, 150) == ((100, 3),)


def trial_of(estimator, *curves):
    """A complete trial of 100 rows: a curve (k -> score) for each fold."""
    found = trials.MethodTrial(estimator, title_of(estimator), goal=(80, len(curves)))
    found.outcomes = {(80, fold): trials.Outcome(curve, 0.1) for fold, curve in enumerate(curves)}
    return found


def test_the_untuned_kernel_form_is_left_for_more_than_a_standard_error():
    anchor = trial_of(Kernelized(random_state=3), {2: 0.5, 5: 0.6}, {2: 0.5, 5: 0.6}, {2: 0.5, 5: 0.6})
    lucky = trial_of(OPLS(), {2: 0.9}, {2: 0.5}, {2: 0.5})
    better = trial_of(OPLS(ridge=1.0), {2: 0.65}, {2: 0.62}, {2: 0.64})
    tuned = trial_of(Kernelized(tau=0.1), {2: 0.9}, {2: 0.55}, {2: 0.45})
    kept = trials.chosen([lucky, anchor, tuned])
    assert (kept.trial, kept.k, kept.mean, kept.anchored) == (anchor, 5, pytest.approx(0.6), True)
    left = trials.chosen([anchor, better])
    assert (left.trial, left.k, left.anchored) == (better, 2, False)
    assert trials.chosen([lucky, tuned]).trial is lucky, "a tuned form is no anchor; of equal means the first"
    failed = trial_of(Kernelized(), {2: 0.7}, {})
    failed.outcomes[80, 1] = trials.Outcome({}, 0.1, failure="broken")
    assert trials.chosen([failed, lucky]).trial is lucky and trials.chosen([failed]) is None


def test_the_score_of_the_choice_repeats_it_without_each_fold():
    """Written out: on each fold the score of the size and trial that the other folds would have chosen."""
    rng = np.random.default_rng(0)
    entrants = [trial_of(OPLS(ridge=r), *({2: a, 5: b} for a, b in rng.normal(size=(5, 2)))) for r in range(1, 40)]
    values = {(t, k): t.by_fold(80, k) for t in entrants for k in (2, 5)}
    expected = []
    for fold in range(5):
        without = {key: np.mean([v for i, v in enumerate(row) if i != fold]) for key, row in values.items()}
        expected.append(values[max(without, key=without.__getitem__)][fold])
    found = trials.chosen(entrants)
    assert found.score == pytest.approx(np.mean(expected)) and found.mean > 0.8 and abs(found.score) < 0.7


def test_the_search_tells_what_its_choice_promises_on_labels_of_chance(made):
    """The labels say nothing: the best mean is above chance, what the choice promises is not."""
    X, Y = made
    shuffled = Y[np.random.default_rng(1).permutation(len(Y))]
    scores = [
        (s.best_score_, s.choice_score_)
        for s in (found(X, shuffled, max_trials=12, random_state=seed) for seed in range(3))
    ]
    base = Y.mean(axis=0).mean()
    best, promised = np.mean(scores, axis=0)
    assert best > promised and abs(promised - base) < 0.1 and best > base + 0.03


def test_other_measures(made):
    X, Y = made
    assert 0.2 < found(X, Y, measure="Jaccard@10", max_trials=3).best_score_ < 1
    accuracy = found(X, Y, measure=lambda truth, scores: np.mean(truth == (scores > 0)), max_trials=3)
    assert 0.7 < accuracy.best_score_ <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_seconds": 0}, "max_seconds=0 is not allowed; max_seconds must be None, inf or a number > 0"),
        ({"max_trials": 2.5}, "max_trials=2.5 is not allowed; max_trials must be None or an integer >= 1"),
        ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
        ({"random_state": "seed"}, "random_state='seed' is not allowed"),
        ({"progress": len}, "progress=<built-in function len> is not allowed"),
        ({"methods": 3}, "methods=3 must be a list of names"),
        ({"measure": len, "max_trials": 1}, "measure=<built-in function len> cannot be called"),
        ({"max_trials": None, "max_seconds": None}, "would search for ever"),
        ({"strategy": "grid"}, "strategy='grid' is not allowed; strategy must be 'halving' or 'random'"),
        ({"strategy": ["random"]}, "strategy=['random'] is not allowed"),
        ({"measure": "accuracy"}, "measure='accuracy' is unknown; use one of macro average precision"),
        ({"n_components": 0}, "n_components=0 must be whole numbers of at least 1"),
        ({"n_components": (2, 1.5)}, "must be whole numbers"),
        ({"methods": ["oplls"]}, "did you mean opls"),
        ({"cv": 151}, "cv=151 must be a number of folds from 2 to the 150 rows"),
    ],
)
def test_bad_parameters_name_the_remedy(made, options, message):
    with pytest.raises(ValueError, match=re.escape(message).replace(r"\.\*", ".*")):
        clone(EmbeddingSearch(**options)).fit(*made)


def test_labels_that_do_not_differ_are_refused(made):
    with pytest.raises(ValueError, match="one class only"):
        found(made[0], np.ones((150, 2)))
    with pytest.raises(ValueError, match="X has 150 rows, y has 10"):
        found(made[0], made[1][:10])


@pytest.mark.slow
def test_leaves_and_kernel_opls_come_out_best_on_scene(data_folder):
    data = read(data_folder / "scene.npz").take(np.arange(0, 1211, 2))
    methods = ["opls", "kernelized", "forestleaves", "mddm", "mvmd"]
    searched = EmbeddingSearch(methods, max_trials=8, max_seconds=None).fit(data.X, data.Y)
    linear, kernel, leaves = (
        next(t["score"] for t in searched.trials_ if t["method"] == name)
        for name in ("OPLS", "Kernelized(OPLS)", "ForestLeaves(OPLS)")
    )
    assert leaves > kernel > linear + 0.02 and leaves >= searched.best_score_ - 0.01


def test_a_fold_with_fewer_components_counts_with_all_that_it_has():
    found = trials.MethodTrial(OPLS(), "OPLS", goal=(90, 2))
    found.outcomes = {
        (90, fold): trials.Outcome(curve, 0.1) for fold, curve in enumerate([{2: 0.5, 3: 0.6}, {2: 0.7, 4: 0.8}])
    }
    assert found.means(90) == {2: pytest.approx(0.6), 4: pytest.approx(0.7)}
    assert found.best(90) == (pytest.approx(0.7), 4) and found.plain()["by_fold"] == [0.6, 0.8]
