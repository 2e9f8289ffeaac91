"""The portfolio: what it keeps can be read again, the nearest sets come first, and a search starts with it."""

import numpy as np
import pytest

from proxembed import FDA, MESD, MMC, MVMD, OPLS, EmbeddingSearch, Kernelized, ReadoutAxes, Scaled
from proxembed.estimator.catalogue import method_named, name_of
from proxembed.evaluate.costs import Shape
from proxembed.study import candidates as candidates_module
from proxembed.study import method_strategies
from proxembed.study.candidates import NEIGHBORS, SCORES, candidates, plain_name, portfolio, winners
from proxembed.study.method_strategies import Auto

MADE = [
    {"name": "small", "shape": [100, 10, 10.0, 4], "winners": {SCORES: ["MVMD(beta=0.2)", "PLS"], NEIGHBORS: ["CCA"]}},
    {"name": "long", "shape": [10_000, 10, 10.0, 4], "winners": {SCORES: ["MDDM", "PLS"], NEIGHBORS: ["HSL"]}},
    {"name": "wide", "shape": [100, 10_000, 10.0, 4], "winners": {SCORES: ["LPP"], NEIGHBORS: ["LPP"]}},
    {"name": "far", "shape": [10_000, 10_000, 9.0, 99], "winners": {SCORES: ["NPP"], NEIGHBORS: ["NPP"]}},
]


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(candidates_module, "portfolio", lambda: MADE)


def names(found) -> list[str]:
    return [name_of(config) for config in found]


def test_every_winner_of_the_table_is_a_configuration_that_can_be_drawn():
    pools = [candidates(several_labels=several, weighed=True) for several in (True, False)]
    for row in portfolio():
        assert Shape(*row["shape"]).n > 0 and set(row["winners"]) == {SCORES, NEIGHBORS}
        for name in [name for own in row["winners"].values() for name in own]:
            config = method_named(name)
            assert name_of(config) == name == plain_name(config)
            assert any(candidate.covers(config) for pool in pools for candidate in pool), name


def test_the_nearest_three_sets_give_their_best_first(made):
    assert names(winners(Shape(120, 10, 10.0, 4))) == ["MVMD(beta=0.2)", "MDDM", "LPP", "PLS"]
    assert names(winners(Shape(9_000, 9_000, 9.0, 90))) == ["NPP", "LPP", "MDDM", "PLS"]
    assert names(winners(Shape(120, 10, 10.0, 4), neighbors=True)) == ["CCA", "HSL", "LPP"]


def test_a_set_that_is_judged_gives_none(made):
    assert names(winners(Shape(120, 10, 10.0, 4), without=["small"])) == ["MDDM", "LPP", "NPP", "PLS"]


def test_a_name_keeps_what_was_drawn_and_leaves_size_seed_and_prototypes():
    config = ReadoutAxes(Scaled(Kernelized(MVMD(beta=0.123456), tau=2, n_prototypes=9), "unit"), n_components=3)
    assert plain_name(config) == "ReadoutAxes(Scaled(Kernelized(MVMD(beta=0.123), tau=2), kind='unit'))"
    assert config.n_components == 3, "the configuration stays as it is"


@pytest.mark.parametrize(
    ("named", "config", "covered"),
    [
        (["fda"], MESD(FDA(ridge=0.5)), True),
        (["fda"], MESD(MMC()), False),
        (["mvmd(beta=0.2)"], MVMD(beta=0.2, n_components=3), True),
        (["mvmd(beta=0.2)"], MVMD(), False),
        (["opls"], ReadoutAxes(OPLS()), False),
        (["opls"], Scaled(OPLS(), "unit"), True),
    ],
)
def test_what_a_candidate_covers(named, config, covered):
    (candidate,) = candidates(named)
    assert candidate.covers(config) is covered


def test_auto_begins_with_the_winners_that_are_searched(monkeypatch, made):
    monkeypatch.setattr(method_strategies, "optuna_installed", lambda: False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    Y = (X[:, :4] + rng.normal(size=(120, 4)) > 0).astype(int)
    options = {"strategy": "auto", "max_trials": 5, "cv": 2, "refit": False}
    trials = EmbeddingSearch(["pls", "opls", "mvmd", "kernelized"], **options).fit(X, Y).trials_
    assert [t["method"] for t in trials][:2] == ["PLS", "MVMD"], "the first, then the winners that are searched"
    assert trials[1]["params"] == {"beta": 0.2}
    monkeypatch.setattr(Auto, "without", ("small",))
    trials = EmbeddingSearch(["opls", "mvmd", "mddm"], **options).fit(X, Y).trials_
    assert [t["method"] for t in trials][:3] == ["OPLS", "MDDM", "MVMD"] and trials[2]["params"] == {}


def test_winners_that_the_first_half_of_the_work_did_not_reach_are_raced_after_the_defaults(monkeypatch, made):
    monkeypatch.setattr(method_strategies, "optuna_installed", lambda: False)
    entered, race = [], Auto.race

    def without_the_first(self, study, trials, keep=0.0):
        entered.append([name_of(t.config) for t in trials])
        if len(entered) > 1:
            yield from race(self, study, trials, keep)

    monkeypatch.setattr(Auto, "race", without_the_first)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 10))
    Y = (X[:, :4] + rng.normal(size=(120, 4)) > 0).astype(int)
    search = EmbeddingSearch(["pls", "opls", "mvmd"], strategy="auto", max_trials=4, cv=2, refit=False).fit(X, Y)
    assert entered[0] == entered[2] == ["MVMD(beta=0.2)"] and "MVMD" in entered[1]
    assert {"beta": 0.2} in [t["params"] for t in search.trials_]


def test_rows_of_zeros_alone_have_winners():
    assert winners(Shape(120, 10, 0.0, 4))
