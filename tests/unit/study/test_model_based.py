"""TPE and auto: proposals follow from the trials alone, races over folds leave those that are clearly behind."""

import math

import numpy as np
import pytest

from proxembed import OPLS, EmbeddingSearch, Kernelized, Scaled, to_optuna
from proxembed.estimator.catalogue import settings, title_of
from proxembed.measures.measures import MEASURES
from proxembed.splits.splits import Split
from proxembed.study import method_strategies, optuna_study, trials
from proxembed.study.candidates import FIRST, candidates
from proxembed.study.method_strategies import Auto, behind
from proxembed.study.trials import FoldParts, FoldScores, Rung, Study
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow.options import OptionError, SearchOptions

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 6))
Y = (X[:, :3] + 0.5 * rng.normal(size=(120, 3)) > 0.4).astype(int)
QUICK = {"n_components": 2, "max_seconds": None, "refit": False}


def without_seconds(found):
    return [{key: value for key, value in trial.items() if key != "seconds"} for trial in found.trials_]


@pytest.fixture
def without_optuna(monkeypatch):
    monkeypatch.setattr(method_strategies, "optuna_installed", lambda: False)


def folds_of(n_folds=5):
    """A study of these rows on folds of every fifth row."""
    splits = [
        Split(str(i), np.flatnonzero(np.arange(120) % 5 != i), np.flatnonzero(np.arange(120) % 5 == i))
        for i in range(n_folds)
    ]
    parts = FoldParts(X, LabelMatrix.of(Y), splits, "standard")
    return Study(FoldScores(parts, 120, (2,), MEASURES["macro average precision"]))


def given(study, name, *scores):
    """A trial with these scores on the first folds of the last rung."""
    t = study.evaluator.trial(OPLS(ridge=float(len(study.entered) + 1)), 0)
    study.entered[name] = t
    for step, score in zip(study.evaluator.rungs[-1].steps, scores, strict=False):
        t.record(step, trials.Scores({2: score}, 0.1))
    return t


def test_a_trial_is_left_when_it_trails_by_two_standard_errors():
    """The other complete trial is .00, .02, .04, .02, .00 behind: a deviation of .0167, and a bound of .0237."""
    study = folds_of()
    rung = study.evaluator.rungs[-1]
    given(study, "best", 0.8, 0.7, 0.9, 0.8, 0.7)
    two = Rung(rung.rows, rung.folds[:2])
    late = given(study, "late", 0.77, 0.68)
    assert not behind(study, late, two), "one complete trial tells no deviation"
    given(study, "other", 0.8, 0.68, 0.86, 0.78, 0.7)
    bound = 2 * np.std([0.0, 0.02, 0.04, 0.02, 0.0], ddof=1) / math.sqrt(2)
    for gap, left in ((bound - 1e-6, False), (bound + 1e-6, True)):
        assert behind(study, given(study, str(gap), 0.8 - gap, 0.7 - gap), two) is left
    assert not behind(study, late, Rung(rung.rows, rung.folds[:1])), "one fold tells nothing"
    undefined = given(study, "undefined", 0.1, math.nan)
    assert not behind(study, undefined, two)


def test_auto_leaves_some_after_two_folds_and_completes_those_that_are_close(without_optuna):
    options = {"methods": ["opls", "mvmd", "lpp", "npp"], "strategy": "auto", "max_trials": 7, **QUICK}
    found = EmbeddingSearch(**options).fit(X, Y)
    folds = {len(t["by_fold"]) for t in found.trials_}
    assert 5 in folds and folds & {2, 3, 4}, "early ends, and complete ones"
    best = max(t["score"] for t in found.trials_ if t["complete"])
    assert found.best_score_ == best
    left = [t for t in found.trials_ if not t["complete"]]
    assert all(t["score"] < best for t in left)


def test_auto_keeps_half_of_its_work_for_what_comes_after_the_defaults(without_optuna):
    methods = ["opls", "mvmd", "lpp", "cca", "pls", "mddm"]
    found = EmbeddingSearch(methods, strategy="auto", max_trials=None, max_work=0.3, **QUICK).fit(X, Y)
    assert found.work_ <= 0.3 and any(t["complete"] for t in found.trials_)
    assert any(t["params"] for t in found.trials_), "more than defaults"


def test_auto_goes_over_rows_as_halving_does(without_optuna):
    many = np.random.default_rng(1).normal(size=(1000, 5))
    labels = (many[:, :2] > 0.3).astype(int)
    found = EmbeddingSearch(["opls", "mvmd"], strategy="auto", max_trials=6, cv=2, final_cv=2, **QUICK)
    found.fit(many, labels)
    assert found.final_ and found.n_choice_folds_ == 2


def test_the_cheap_methods_come_first():
    study = folds_of()
    strategy = Auto(candidates(FIRST), candidates(["isomap", "kernelized", "opls"]))
    titles = [t.title for t in strategy.defaults(study)]
    assert titles[0] == "OPLS" and set(titles) == {"OPLS", "Isomap", "Kernelized(OPLS)"}


def test_without_optuna_the_remedy_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    remedy = r'needs optuna, which is not installed: install it by pip install "proxembed\[search\]"'
    with pytest.raises(ImportError, match=f'^strategy="tpe" {remedy}'):
        EmbeddingSearch(["opls"], strategy="tpe", max_trials=3, **QUICK).fit(X, Y)
    with pytest.raises(ImportError, match=f"^to_optuna {remedy}"):
        to_optuna(None)
    monkeypatch.setattr(optuna_study, "optuna_installed", lambda: False)
    with pytest.raises(OptionError, match="strategy='tpe' needs optuna, which is not installed: .*, or take 'auto'"):
        SearchOptions(strategy="tpe")


def test_settings_of_a_scaled_kernel_are_named():
    config = Scaled(Kernelized(OPLS(ridge=0.5)), "unit")
    assert settings(config) == {"method__method__ridge": 0.5, "kind": "unit"}
    assert title_of(config) == "Scaled(Kernelized(OPLS))"
