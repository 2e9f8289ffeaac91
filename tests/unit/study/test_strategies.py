"""The study and the registry of strategies: a planted strategy searches, and one without end stops with the budget."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from joblib import parallel_config

from clocks import set_clock
from proxembed import DEFC, OPLS, EmbeddingSearch
from proxembed.execute.budget import WorkBudget
from proxembed.execute.loop import Evaluator, Strategy, Trial, Work
from proxembed.methods.adaptive import Switches
from proxembed.study.defc.model_strategies import ModelStrategy, work_on
from proxembed.study.method_strategies import MethodStrategy
from proxembed.study.trials import STRATEGIES, Study
from proxembed.workflow.options import OptionError, SearchOptions

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 5))
Y = (X[:, :3] + 0.7 * rng.normal(size=(90, 3)) > 0).astype(int)


class Outcome(NamedTuple):
    score: float


class Falling(Evaluator):
    """The first step is the best."""

    def evaluate(self, config, step):
        return Outcome(-float(step))


class Endless(Strategy):
    """Asks for three pieces of work of four steps each, for ever, and keeps what it is told."""

    def __init__(self):
        self.told = []

    def batches(self, study):
        trial = study.entered["steps"] = Trial(None, "steps")
        while True:
            first = len(study.outcomes)
            yield [Work(trial, range(first + 4 * i, first + 4 * i + 4)) for i in range(3)]

    def tell(self, results):
        self.told += [step for _, step, _ in results]


@pytest.fixture
def registry(monkeypatch):
    for space, known in STRATEGIES.items():
        monkeypatch.setitem(STRATEGIES, space, dict(known))


@pytest.mark.parametrize(
    ("bounds", "number"), [({"max_evals": 17}, 17), ({"patience": 5}, 12), ({"max_seconds": 1e-9}, 1)], ids=str
)
def test_a_strategy_without_end_stops_with_the_budget(bounds, number):
    strategy = Endless()
    study = Study(Falling(), **bounds).run(strategy)
    assert strategy.told == list(range(number)) and not study.interrupted
    assert len(study.outcomes) == len(study.history) == len(study.trials[0].outcomes) == number
    assert {entry["best"] for entry in study.history} == {0.0}


def test_what_is_owed_is_done_after_the_time():
    class Owed(Strategy):
        def batches(self, study):
            trial = study.entered[0] = Trial(None, "owed")
            yield [Work(trial, [1, 2], owed=True)]
            yield [Work(trial, [3], owed=True), Work(trial, [4])]
            yield [Work(trial, [5])]

    study = Study(Falling(), max_seconds=1e-9).run(Owed())
    assert [outcome.score for outcome in study.outcomes] == [-1.0, -2.0, -3.0]


def test_ctrl_c_keeps_what_is_finished_of_a_batch():
    class Interrupted(Falling):
        def evaluate(self, config, step):
            if step == 9:
                raise KeyboardInterrupt
            return super().evaluate(config, step)

    study = Study(Interrupted(), max_evals=100).run(Endless())
    assert study.interrupted and len(study.outcomes) == 8


def test_a_score_that_cannot_be_better_ends_its_piece_of_work():
    class Perfect(Falling):
        perfect = 0.0

        def enough(self, outcome):
            return outcome.score >= self.perfect

    class Twice(Strategy):
        def batches(self, study):
            trial = study.entered[0] = Trial(None, "twice")
            yield [Work(trial, [1, 0, 2]), Work(trial, [0, 3])]

    study = Study(Perfect()).run(Twice())
    assert study.perfect and study.over and not study.spent
    assert [outcome.score for outcome in study.outcomes] == [-1.0, 0.0, 0.0]


def test_a_planted_strategy_searches_methods(registry):
    class OnlyTheFirst(MethodStrategy):
        name, words = "only the first", "one configuration"

        def after(self, study):
            yield from self.rung(study, [self.entered(study, OPLS(ridge=3.0))], study.evaluator.rungs[-1])

    found = EmbeddingSearch(["opls", "mvmd"], 2, strategy="only the first", max_seconds=None).fit(X, Y)
    assert [t["params"] for t in found.trials_] == [{}, {"ridge": 3.0}] and all(t["complete"] for t in found.trials_)
    assert SearchOptions(strategy="only the first").strategy == "only the first"
    with pytest.raises(OptionError, match=f"choose one of {', '.join(STRATEGIES['models'])}\\.$"):
        SearchOptions(engine="defc", strategy="only the first")


def test_a_planted_strategy_searches_models(registry):
    class Lam(ModelStrategy):
        name, words, ends = "lam", "one model", True

        def batches(self, study):
            settings = [{"similarity_sigma": 0.4, "n_neighbors": 20, "lam": lam} for lam in (0.01, 1.0)]
            yield [work_on(study, Switches(3, 5, 0, 5, 2, 2, 2, 0), settings)]

    found = DEFC("lam", max_evals=None).fit(X, Y)
    assert sorted(entry["params"]["lam"] for entry in found.leaderboard_) == [0.01, 1.0] and found.n_models_ == 1


def test_a_name_is_registered_once(registry):
    with pytest.raises(ValueError, match="'random' is registered for methods already"):
        type("Again", (MethodStrategy,), {"name": "random"})
    assert {"halving", "random", "tpe", "auto"} <= set(STRATEGIES["methods"])
    assert {"reduced8", "ga", "random"} <= set(STRATEGIES["models"])


@pytest.mark.parametrize("space", STRATEGIES)
def test_a_strategy_says_what_it_tries(space):
    assert all(len(strategy.words) > 10 and strategy.words[-1] != "." for strategy in STRATEGIES[space].values())


def test_random_methods_are_complete_and_the_seed_decides():
    options = {"strategy": "random", "max_trials": 6, "max_seconds": None}
    with parallel_config(backend="threading"):
        one = EmbeddingSearch(["opls", "mmc"], 2, **options, n_jobs=2).fit(X, Y)
    assert len(one.trials_) == 6 and all(t["complete"] for t in one.trials_)
    assert one.best_score_ == max(t["score"] for t in one.trials_) > 0.5
    again = EmbeddingSearch(["opls", "mmc"], 2, **options).fit(X, Y)
    assert [t["params"] for t in one.trials_] == [t["params"] for t in again.trials_]
    other = EmbeddingSearch(["opls", "mmc"], 2, **options, random_state=1).fit(X, Y)
    assert [t["params"] for t in one.trials_] != [t["params"] for t in other.trials_]


def test_random_methods_stop_with_the_seconds(monkeypatch):
    """The clock goes on with its readings alone, so that the machine may be as slow as it likes."""
    counts = []
    for seconds in (10_000, 20_000):
        set_clock(monkeypatch, step=100.0)
        found = EmbeddingSearch(["opls", "mmc"], 2, strategy="random", max_trials=None, max_seconds=seconds).fit(X, Y)
        assert math.isfinite(found.best_score_)
        counts.append(len(found.trials_))
    assert 1 < counts[0] < counts[1] <= 200


@pytest.mark.parametrize("strategy", ["halving", "random"])
def test_work_bounds_the_search_and_is_the_same_with_any_number_of_workers(strategy):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    Y = (X[:, :3] > 0.3).astype(int)

    def trials(**options):
        search = EmbeddingSearch(
            ["opls", "cca", "mvmd"], 2, None, strategy=strategy, max_work=0.4, refit=False, **options
        )
        search.set_params(max_trials=None).fit(X, Y)
        assert not hasattr(search, "best_estimator_") and not search.stopped_by_clock_
        return [(t["method"], str(t["params"]), t["rows"], t["complete"]) for t in search.trials_], search.work_

    alone, work = trials()
    assert 0.2 < work <= 0.4 and len(alone) > 3
    with parallel_config(backend="threading"):
        assert trials(n_jobs=2) == (alone, work)


def test_a_configuration_whose_last_fit_is_too_dear_is_not_tried():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    bound = WorkBudget(5.0, last_rows=200_000, last_work=5.0)
    search = EmbeddingSearch(["opls", "isomap"], 2, None, max_trials=6, max_work=bound).fit(
        X, (X[:, :3] > 0.3).astype(int)
    )
    assert {t["method"] for t in search.trials_} <= {"OPLS", "Scaled(OPLS)"}


def test_kernels_get_no_more_prototypes_than_the_budget_has():
    X = np.random.default_rng(0).normal(size=(150, 8))
    search = EmbeddingSearch(["kernelized"], 2, None, max_trials=1, max_work=WorkBudget(50.0, prototypes=30))
    assert search.fit(X, (X[:, :3] > 0.3).astype(int)).best_params_["n_prototypes"] == 30
