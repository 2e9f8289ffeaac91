"""EmbeddingSearch: what is tried and kept, the clock, reproducibility, Ctrl-C, unknown labels and groups."""

import json
import re
import warnings
from types import SimpleNamespace

import numpy as np
import polars
import pytest
from scipy import sparse
from sklearn.base import clone

from proxembed import OPLS, EmbeddingSearch, Kernelized, TargetSpace, unlabelled
from proxembed.estimator.catalogue import title_of
from proxembed.evaluate import scoring
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.costs import fit_work, shape_of, target_works
from proxembed.evaluate.part import Part
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import Measures
from proxembed.execute import clock
from proxembed.execute.budget import WorkBudget
from proxembed.measures.measures import MEASURES
from proxembed.measures.metrics import macro_average_precision
from proxembed.study import candidates, embedding_search, trials
from proxembed.study.method_strategies import Halving
from proxembed.study.trials import Study

FAST = ["opls", "mvmd", "mmc"]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(150, 3)) > 0.4).astype(int)


def found(X, y, methods=tuple(FAST), **options):
    return EmbeddingSearch(list(methods), **{"max_trials": 8, "max_seconds": None, "cv": 3, **options}).fit(X, y)


@pytest.fixture(scope="module")
def searched(made):
    """One search, which several tests look at."""
    return found(*made)


def without_seconds(searched):
    return [{key: value for key, value in trial.items() if key != "seconds"} for trial in searched.trials_]


def test_it_embeds_and_predicts_in_the_form_of_y(made, searched):
    X, Y = made
    k = searched.best_params_["n_components"]
    assert searched.transform(X).shape == (150, k) == searched.fit_transform(X, Y).shape
    assert searched.predict(X).shape == Y.shape and searched.decision_function(X).shape == Y.shape
    assert macro_average_precision(Y, searched.decision_function(X)).value > 0.8
    names = np.array(["red", "green", "blue"])
    sets = [set(names[row > 0].tolist()) for row in Y]
    assert found(X, sets, max_trials=3).predict(X) == [
        set(np.sort(names)[row > 0].tolist()) for row in found(X, Y[:, np.argsort(names)], max_trials=3).predict(X)
    ]
    classes = found(X, names[X[:, :3].argmax(axis=1)], max_trials=2)
    assert set(classes.predict(X)) <= set(names) and classes.classes_.tolist() == sorted(names)


def test_the_trials_are_plain_and_the_best_is_among_them(searched):
    assert len(searched.trials_) == 8 and not searched.interrupted_
    complete = [t for t in searched.trials_ if t["complete"]]
    best = max(complete, key=lambda t: t["score"])
    assert searched.best_score_ == best["score"] == pytest.approx(np.mean(best["by_fold"]))
    assert all(len(t["by_fold"]) == 3 and t["score"] == max(t["scores"].values()) for t in complete)
    assert searched.best_params_["method"] == best["method"] and searched.best_params_["n_components"] == best["k"]
    assert json.loads(json.dumps(searched.trials_))[0]["method"] == "OPLS"
    leaders = [title_of(leader) for leader in searched.leaders_]
    assert leaders[0] == best["method"] and len(set(leaders)) == len(leaders)
    assert searched.leaders_[0].n_components == best["k"]


def test_the_score_is_that_of_a_plain_loop_over_the_folds(made):
    """Scaling inside the fold, ridge read-out, mean over folds: written out with scikit-learn's pieces."""
    from sklearn.preprocessing import StandardScaler

    from proxembed.classify import MultiOutputRidge
    from proxembed.splits.splits import StratifiedFolds

    X, Y = made
    values = []
    for train, held_out in StratifiedFolds(3, random_state=4).split(X, Y):
        scale = StandardScaler().fit(X[train])
        method = OPLS(n_components=2).fit(scale.transform(X[train]), Y[train])
        Z, Z_held_out = (method.transform(scale.transform(X[rows])) for rows in (train, held_out))
        scores = MultiOutputRidge(penalty="auto").fit(Z, Y[train]).decision_function(Z_held_out)
        values.append(macro_average_precision(Y[held_out], scores).value)
    searched = found(X, Y, ["opls"], n_components=2, max_trials=1, random_state=4)
    assert searched.trials_[0]["by_fold"] == pytest.approx(values, abs=1e-9)


def test_a_number_of_trials_makes_it_reproducible(made, searched):
    again = found(*made)
    assert without_seconds(searched) == without_seconds(again)
    assert np.array_equal(searched.transform(made[0]), again.transform(made[0]))
    assert without_seconds(found(*made, max_trials=4, random_state=1)) != without_seconds(searched)[:4]


def test_several_jobs_change_nothing(made, searched):
    assert without_seconds(found(*made, n_jobs=2)) == without_seconds(searched)


def test_the_first_are_opls_and_target_space_or_those_that_a_plan_has_kept(made):
    made = tuple(each[:40] for each in made)
    searched = EmbeddingSearch(max_trials=2, max_seconds=None, cv=2, refit=False).fit(*made)
    assert [t["method"] for t in searched.trials_] == ["OPLS", "TargetSpace"]
    assert all(t["complete"] for t in searched.trials_)
    kept = WorkBudget(1e6, anchors=("OPLS", "Kernelized(OPLS)"))
    planned = EmbeddingSearch(max_trials=2, max_seconds=None, max_work=kept, cv=2, refit=False).fit(*made)
    assert [t["method"] for t in planned.trials_] == ["OPLS", "Kernelized(OPLS)"]
    little = EmbeddingSearch(max_trials=2, max_seconds=None, max_work=0.02, cv=2, refit=False).fit(*made)
    assert little.trials_[0]["complete"] and "TargetSpace" not in [t["method"] for t in little.trials_]


def test_anchors_that_a_plan_has_left_out_are_tried_before_all_else_where_they_fit(made, monkeypatch):
    monkeypatch.setattr(embedding_search, "ANCHORS", ("OPLS", "MVMD", "Isomap", "PLS"))
    made = tuple(each[:60] for each in made)

    def tried(most=None, **budget):
        own = WorkBudget(1e6, anchors=("PLS", "OPLS"), **budget)
        study = EmbeddingSearch(max_trials=most, max_seconds=None, max_work=own, cv=2, refit=False)
        return [t["method"] for t in study.fit(*made).trials_]

    assert tried(draws=False) == ["PLS", "OPLS", "MVMD", "Isomap"]
    assert tried(most=5)[:4] == tried(draws=False)
    assert tried(draws=False, last_rows=100_000, last_work=1000.0) == ["PLS", "OPLS", "MVMD"], "too dear at last"


def test_target_space_has_the_bases_that_its_budget_has_room_for(made):
    X, Y = made
    shape = shape_of(X[:75], 3)
    works = target_works(TargetSpace(), shape)
    opls = 2 * fit_work(OPLS(), shape)

    def tried(work, **bounds):
        own = WorkBudget(work, anchors=("OPLS", "TargetSpace"), draws=False, **bounds)
        study = EmbeddingSearch(max_seconds=None, max_work=own, cv=2, n_components=2, refit=False).fit(X, Y)
        space = [t for t in study.trials_ if t["method"] == "TargetSpace" and t["complete"]]
        return [tuple(t["params"].get("bases") or ("all",)) for t in space]

    fewer = ("ridge", "forest", "neighbors"), ("ridge", "neighbors"), ("neighbors",)
    enough = [opls + 2 * sum(works[name] for name in (*bases, "stack")) + 0.01 for bases in fewer]
    assert [tried(work) for work in enough] == [[bases] for bases in fewer]
    assert tried(enough[-1] - 0.08) == [] and tried(1e3)[0] == ("all",)
    assert tried(1e3, bases=fewer[1])[0] == fewer[1], "no more than the plan has room for"
    last = fit_work(TargetSpace(bases=fewer[0]), shape._replace(n=5000))
    assert tried(1e3, last_rows=5000, last_work=1.01 * last)[0] == fewer[0], "nor than the last fit may cost"


def test_a_target_space_of_fewer_bases_is_the_one_that_others_must_beat():
    assert trials.untuned(TargetSpace(bases=("neighbors",), random_state=1), "TargetSpace")
    assert not trials.untuned(TargetSpace(n_neighbors=3), "TargetSpace")


class Clock:
    """A clock that only fits move: rows cubed, so that the last fit on all rows costs more than any before it."""

    def __init__(self, power, unit):
        self.now, self.power, self.unit, self.fits = 0.0, power, unit, []

    def __call__(self):
        return self.now

    def score(self, arm, part, measures, natural):
        estimator, rows = arm.estimator, part.X.shape[0]
        seconds = self.unit * (rows / 1000) ** self.power * (10 if type(estimator).__name__ == "Kernelized" else 1)
        self.now += seconds
        self.fits.append((type(estimator).__name__, rows, measures.max_seconds))
        return trials.Scores({2: 0.5 + len(self.fits) / 1e4}, seconds)


def timed_search(monkeypatch, fits, budget, final=()):
    """A search of 3 folds of 3,600 of 5,400 rows by the clock alone, and of final folds of so many rows."""
    monkeypatch.setattr(clock, "monotonic", fits)
    monkeypatch.setattr(trials, "score", fits.score)
    counts = (3600,) * 3 + final
    folds = SimpleNamespace(
        rows=counts, part=lambda fold, rows=None: Part(np.empty((rows or counts[fold], 2)), None, None, None)
    )
    scores = trials.FoldScores(folds, 5400, (2,), MEASURES["macro average precision"], n_race=3)
    return Study(scores, max_seconds=budget).run(
        Halving(candidates.candidates(candidates.FIRST), candidates.candidates())
    )


@pytest.mark.parametrize(("unit", "owed"), [(0.4, True), (0.5, False)])
def test_the_kernel_form_may_take_one_budget_more_and_no_second_one(monkeypatch, unit, owed):
    fits = Clock(1, unit)
    searched = timed_search(monkeypatch, fits, 60.0)
    assert ("Kernelized(OPLS)" in [t.title for t in searched.trials if t.complete]) is owed
    assert fits.now < 120


@pytest.mark.parametrize("final", [(), (4320,) * 5], ids=["one set of folds", "final folds"])
@pytest.mark.parametrize(("power", "unit"), [(1, 0.09), (2, 0.3), (3, 0.3), (3, 1.0), (3, 4.0)])
def test_seconds_are_kept(monkeypatch, power, unit, final):
    """The search, and the fit of the best on all rows after it, end within the budget and leave little of it."""
    fits, budget = Clock(power, unit), 60.0
    best = trials.chosen(timed_search(monkeypatch, fits, budget, final).trials).trial
    last = unit * 5.4**power * (10 if best.title.startswith("Kernelized") else 1)
    forced = 3 * unit * 3.6**power
    if forced + last < budget:
        assert fits.now + last <= budget
    else:
        assert [name for name, rows, _ in fits.fits if rows >= 3600] == ["OPLS"] * 3
    if unit < 0.1:
        assert fits.now + last >= (0.7 if final else 0.9) * budget  # cheap finalists are forecast too dear


def test_a_leader_that_final_folds_cannot_afford_is_not_passed_over(monkeypatch):
    """The kernel form leads the race by far; five final folds of it would take more than the budget, of others not."""

    class Leading(Clock):
        def score(self, arm, *arguments):
            scores = super().score(arm, *arguments)
            return trials.Scores({2: 0.9}, scores.seconds) if type(arm.estimator).__name__ == "Kernelized" else scores

    found = timed_search(monkeypatch, Leading(1, 0.2), 60.0, (4320,) * 5)
    assert trials.chosen(found.trials).trial.title == "Kernelized(OPLS)"
    assert not any(t.has(found.evaluator.final) for t in found.trials)


def test_a_budget_too_small_for_anything_still_gives_the_first_method(made):
    searched = EmbeddingSearch(max_seconds=1e-6, max_trials=None).fit(*made)
    assert searched.best_params_["method"] == "OPLS" and len(searched.best_estimator_) == 3


def test_the_space_of_a_method_without_parameters_ends(made):
    tried = [t["params"] for t in found(*made, ["pls"], max_trials=None, max_seconds=60).trials_]
    assert tried[0] == {} and sorted(t["kind"] for t in tried[1:]) == ["none", "quantile", "unit"], "one a scaling"


def test_ctrl_c_keeps_the_best_so_far(made, monkeypatch):
    whole, calls = trials.score, []

    def stopped(*arguments, **options):
        if len(calls) == 7:
            raise KeyboardInterrupt
        calls.append(1)
        return whole(*arguments, **options)

    monkeypatch.setattr(trials, "score", stopped)
    searched = found(*made)
    complete = [t for t in searched.trials_ if t["complete"]]
    assert searched.interrupted_ and 1 <= len(complete) < 3 and len(searched.trials_) < 8
    assert searched.best_score_ == max(t["score"] for t in complete)
    assert searched.transform(made[0]).shape[0] == 150


def test_ctrl_c_before_anything_is_finished_is_passed_on(made, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "score", stopped)
    with pytest.raises(KeyboardInterrupt):
        found(*made)


def test_failures_are_recorded_and_lose(made, monkeypatch):
    whole = scoring.scored_embedding

    def broken(estimator, *rows):
        if "MVMD" in title_of(estimator):
            raise ValueError("broken on purpose")
        return whole(estimator, *rows)

    monkeypatch.setattr(scoring, "scored_embedding", broken)
    searched = found(*made)
    failed = [t for t in searched.trials_ if "MVMD" in t["method"]]
    assert failed and all("broken on purpose" in t["failure"] and t["score"] == 0 for t in failed)
    assert "MVMD" not in searched.best_params_["method"]
    with pytest.raises(ValueError, match="no configuration could be fitted.*broken on purpose"):
        found(*made, ["mvmd"])


def test_rows_with_unknown_labels_are_never_held_out(made, monkeypatch):
    X, Y = made
    y = Y.astype(float)
    y[::5] = np.nan
    kept = []
    whole = trials.make_part
    monkeypatch.setattr(trials, "make_part", lambda *a, **weights: kept.append(a[2:4]) or whole(*a, **weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        searched = found(X, y, max_trials=3)
    assert len(kept) == 3 and searched.trials_[0]["notes"]
    for train, held_out in kept:
        assert not np.isin(np.arange(0, 150, 5), held_out).any() and np.isin(np.arange(0, 150, 5), train).all()
    classes = unlabelled(np.where(np.arange(150) % 7 == 0, -1, Y[:, 0]), marker=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert set(found(X, classes, max_trials=3).predict(X)) == {0, 1}


def test_groups_are_never_parted(made, monkeypatch):
    groups, kept = np.arange(150) // 10, []
    whole = trials.make_part
    monkeypatch.setattr(trials, "make_part", lambda *a, **weights: kept.append(a[2:4]) or whole(*a, **weights))
    EmbeddingSearch(["opls"], max_trials=1).fit(*made, groups=groups)
    assert all(not np.isin(groups[train], groups[held_out]).any() for train, held_out in kept) and len(kept) == 5
    named = np.array(list("abcdefghijklmno"), dtype=object)[groups]
    EmbeddingSearch(["opls"], max_trials=1).fit(*made, groups=named)
    assert all(np.array_equal(one[0], other[0]) for one, other in zip(kept[:5], kept[5:], strict=True))
    EmbeddingSearch(["opls"], max_trials=1).fit(polars.DataFrame(made[0]).lazy(), made[1], groups=groups)
    with pytest.raises(ValueError, match="groups holds None in row 0; give every row a group"):
        EmbeddingSearch(["opls"], max_trials=1).fit(*made, groups=np.where(groups, named, None))


def test_sparse_rows_stay_sparse_and_give_the_same(made):
    X = np.random.default_rng(0).poisson(0.4, size=(150, 12)).astype(float)
    Y = (X[:, :3] > 0).astype(int)
    searched = found(sparse.csr_array(X), Y)
    assert searched.best_estimator_[0].kind == "tfidf"
    assert searched.transform(sparse.csr_array(X)).shape[0] == 150


def test_halving_goes_over_rows_where_they_are_many():
    assert trials.rungs((4000, 4001), 6000) == ((444, (0,)), (1333, (0,)), (4000, (0,)), (4000, (0, 1)))
    assert trials.rungs((100, 100, 100), 150) == ((100, (0, 1, 2)),)


def trial_of(estimator, *curves, final=()):
    """A complete trial of 80 rows: a curve (k -> score) for each fold, and for each final fold of 90 rows."""
    race, folds = trials.Rung(80, tuple(range(len(curves)))), len(curves) + len(final)
    last = trials.Rung(90, tuple(range(len(curves), folds))) if final else race
    found = trials.MethodTrial(estimator, title_of(estimator), rungs=(race,), final=last)
    for step, curve in zip([*race.steps, *(last.steps if final else ())], [*curves, *final], strict=True):
        if curve is not None:
            found.outcomes[step] = trials.Scores(curve, 0.1)
    return found


def test_target_space_is_left_for_more_than_a_standard_error_where_it_was_fitted():
    """Of labels and of maps; where it was not fitted it is the kernel form, see below."""
    kernel = trial_of(Kernelized(), {2: 0.7, 3: 0.7}, {2: 0.7, 3: 0.7}, {2: 0.7, 3: 0.7})
    space = trial_of(TargetSpace(random_state=3), {2: 0.5, 3: 0.5}, {2: 0.75, 3: 0.75}, {2: 0.75, 3: 0.75})
    found = trials.chosen([kernel, space])
    assert (found.trial, found.k, found.anchored) == (space, 3, True), "alike at all sizes: the largest"
    assert trials.chosen([kernel, space], size=2).trial is space
    assert trials.chosen([kernel, space], anchored=False).trial is kernel
    ahead = trial_of(OPLS(), {2: 0.6}, {2: 0.8}, {2: 0.82})
    assert trials.chosen([kernel, space, ahead]).trial is ahead
    first = [t for t in trials.finalists([ahead, kernel, space])]
    assert first[0] is ahead and {*first[1:]} == {space, kernel}


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
    failed.outcomes[80, 1] = trials.Scores({}, 0.1, failure="broken")
    assert trials.chosen([failed, lucky]).trial is lucky and trials.chosen([failed]) is None


def test_the_score_of_the_choice_repeats_it_without_each_fold():
    """Written out: on each fold the score of the size and trial that the other folds would have chosen."""
    rng = np.random.default_rng(0)
    entrants = [trial_of(OPLS(ridge=r), *({2: a, 5: b} for a, b in rng.normal(size=(5, 2)))) for r in range(1, 40)]
    values = {(t, k): t.by_fold(t.final, k) for t in entrants for k in (2, 5)}
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
        ({"max_trials": None, "max_seconds": None}, "would never end the search"),
        ({"strategy": "grid"}, "strategy='grid' is not allowed; strategy must be 'halving', 'random', 'tpe'"),
        ({"strategy": ["random"]}, "strategy=['random'] is not allowed"),
        ({"measure": "accuracy"}, "measure='accuracy' is unknown; use one of macro average precision"),
        ({"n_components": 0}, "n_components=0 must be whole numbers of at least 1"),
        ({"n_components": (2, 1.5)}, "must be whole numbers"),
        ({"methods": ["oplls"]}, "did you mean opls"),
        ({"final_cv": 1}, "final_cv=1 must be a number of folds from 2 to the 150 rows"),
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


def test_a_fold_with_fewer_components_counts_with_all_that_it_has():
    found = trial_of(OPLS(), {2: 0.5, 3: 0.6}, {2: 0.7, 4: 0.8})
    rung = found.rungs[0]
    assert found.means(rung) == {2: pytest.approx(0.6), 4: pytest.approx(0.7)}
    assert found.best(rung) == (pytest.approx(0.7), 4) and found.plain()["by_fold"] == [0.6, 0.8]


def test_the_choice_is_made_on_the_final_folds_alone():
    lucky = trial_of(OPLS(), {2: 0.9}, {2: 0.9}, final=({2: 0.5, 5: 0.55}, {2: 0.5, 5: 0.45}))
    better = trial_of(OPLS(ridge=1.0), {2: 0.6}, {2: 0.6}, final=({2: 0.7}, {2: 0.6}))
    raced = trial_of(OPLS(ridge=2.0), {2: 0.95}, {2: 0.95}, final=({2: 0.99}, None))
    found = trials.chosen([lucky, better, raced])
    assert (found.trial, found.k, found.mean, found.final) == (better, 2, pytest.approx(0.65), True)
    assert found.among == (lucky, better) and found.score == pytest.approx(0.65)
    assert better.plain()["final"] == {2: pytest.approx(0.65)} and better.score == 0.6
    alone = trials.chosen([better, raced])
    assert alone.trial is raced and not alone.final, "one trial on these folds is no choice: the race decides"


def test_finalists_are_the_best_of_each_family_then_others(monkeypatch):
    monkeypatch.setattr(trials.MethodTrial, "family", property(lambda t: t.title))

    def far(name, score, ridge=None, races=2):
        found = trials.MethodTrial(OPLS(ridge=ridge), name, rungs=(RACE[0], RACE[1]), final=trials.Rung(90, (2, 3)))
        for rung in RACE[:races]:
            found.outcomes |= {step: trials.Scores({2: score}, 0.1) for step in rung.steps}
        return found

    RACE = (trials.Rung(40, (0,)), trials.Rung(80, (0, 1)))
    few = [far("a", 0.8), far("a", 0.9), far("b", 0.5), far("c", 0.99, races=1), far("d", 0.7, races=1)]
    assert [(t.title, t.best(t.furthest)[0]) for t in trials.finalists(few)] == [
        ("a", 0.9), ("b", 0.5), ("c", 0.99), ("d", 0.7), ("a", 0.8)]  # fmt: skip
    many = [far(name, score / 10) for score, name in enumerate("abcdefghij")]
    assert [t.title for t in trials.finalists(many)] == list("jihgfedc")
    anchor = far("Kernelized(OPLS)", 0.01)
    anchor.config = Kernelized()
    assert [t.title for t in trials.finalists([*many, anchor])] == ["j", "Kernelized(OPLS)", *"ihgfed"]


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    return X, (X[:, :3] + rng.normal(size=(1000, 3)) > 0.8).astype(int)


def test_from_a_thousand_rows_the_best_few_are_scored_on_folds_of_their_own(many):
    """The score of the choice is that of a plain loop over five folds of another seed."""
    from proxembed.evaluate.part import make_part
    from proxembed.splits.splits import StratifiedFolds
    from proxembed.targets.labels import LabelMatrix

    X, Y = many
    searched = found(X, Y, ["opls", "mvmd", "mmc"], n_components=2, max_trials=6, refit=False)
    assert searched.final_ and searched.n_choice_folds_ == 5 and 3 <= searched.n_chosen_from_ <= 6
    best = searched.leader_scores_[0][searched.leaders_[0].n_components]
    assert len(best) == 5 and np.mean(best) == pytest.approx(searched.best_score_)
    assert np.mean(searched.choice_scores_) == pytest.approx(searched.choice_score_)
    assert len(searched.leader_scores_) == len(searched.leaders_)
    complete = [t for t in searched.trials_ if t["complete"]]
    assert all(len(t["by_fold"]) == 3 for t in complete)
    best = max((t for t in searched.trials_ if t["final"]), key=lambda t: max(t["final"].values()))
    assert best["method"] == searched.best_params_["method"] and searched.best_score_ == max(best["final"].values())
    values = [
        trials.score(
            Arm("best", searched.leaders_[0]),
            make_part(X, LabelMatrix.of(Y), *rows, searched.scaling_),
            Measures(((MEASURES["macro average precision"], RIDGE),), (2,)),
        ).curve[2]
        for rows in StratifiedFolds(5, random_state=2).split(X, Y)
    ]
    assert searched.best_score_ == pytest.approx(np.mean(values), abs=1e-9)


def test_a_search_that_was_ended_on_its_final_folds_goes_on(many, tmp_path, monkeypatch):
    whole, calls, last = trials.score, [], [None]

    def score(*arguments, **options):
        calls.append(1)
        if len(calls) == last[0]:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(trials, "score", score)
    options = {"methods": ["opls", "mvmd"], "n_components": 2, "max_trials": 3, "refit": False}
    expected, number = found(*many, **options), len(calls)
    calls.clear()
    last[0] = number - 3
    ended = found(*many, **options, storage=tmp_path)
    assert ended.interrupted_ and sum(t["final"] is not None for t in ended.trials_) == 2
    calls.clear()
    last[0] = None
    resumed = found(*many, **options, storage=tmp_path)
    assert len(calls) == 4 and without_seconds(resumed) == without_seconds(expected)
    assert resumed.best_score_ == expected.best_score_ and resumed.final_


@pytest.mark.parametrize("final", [0, 3])
def test_what_each_further_measure_would_choose_is_among_the_leaders(final):
    rng = np.random.default_rng(2)
    group = rng.integers(6, size=180)
    X = np.column_stack([np.eye(6)[group] + 0.6 * rng.normal(size=(180, 6)), 3 * rng.normal(size=(180, 2))])
    given = {"n_components": [2, 3, 5], "max_seconds": None, "cv": 3, "final_cv": final, "refit": False}

    def by(measure, max_trials=4, further=()):
        options = {"measure": measure, "further_measures": further, "max_trials": max_trials, **given}
        return EmbeddingSearch(["opls", "pca", "mvmd", "mmc"], **options).fit(X, group)

    alone, both = by(None), by(None, further=["Jaccard@10"])
    tried = [t for t in by("Jaccard@10", 8).trials_ if "ReadoutAxes" not in t["method"]]  # each is tried with them, too
    means = {t["method"]: t["final" if final else "scores"] for t in reversed(tried)}
    assert set(means) == {t["method"] for t in alone.trials_}
    assert both.best_params_ == alone.best_params_ and both.best_score_ == alone.best_score_
    assert [t["by_fold"] for t in both.trials_] == [t["by_fold"] for t in alone.trials_]
    leaders = {title_of(each): each for each in both.leaders_}
    assert list(leaders)[0] == alone.best_params_["method"] and len(leaders) == len(both.leaders_) == 4
    best, plane = both.further_leaders_
    for each, sizes in ((best, (2, 3, 5)), (plane, (2,))):
        value, title, k = max((own[k], title, -k) for title, own in means.items() for k in sizes if k in own)
        assert (title_of(each), each.n_components) == (title, -k) and title in list(leaders)[:3]
        at = list(leaders).index(title)
        assert both.further_scores_["Jaccard@10"][at][-k].mean() == pytest.approx(value)
    assert not alone.further_leaders_ and not alone.further_scores_
