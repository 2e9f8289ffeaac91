"""Strategies with the real optuna."""

import numpy as np
import pytest

from proxembed import EmbeddingSearch, to_optuna
from proxembed.study import trials
from proxembed.study.candidates import candidates
from unit.study.test_model_based import QUICK, X, Y, folds_of, without_seconds


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["tpe", "auto"])
def test_proposals_of_the_real_optuna_are_repeatable_and_resume(strategy, tmp_path, monkeypatch):
    pytest.importorskip("optuna")
    options = {"methods": ["opls", "mvmd", "cca"], "strategy": strategy, "max_trials": 16, **QUICK}
    whole, calls, last = trials.score, [], [None]

    def score(*arguments, **more):
        calls.append(1)
        if len(calls) == last[0]:
            raise KeyboardInterrupt
        return whole(*arguments, **more)

    monkeypatch.setattr(trials, "score", score)
    expected, number = EmbeddingSearch(**options).fit(X, Y), len(calls)
    assert len(expected.trials_) == 16 and expected.best_score_ > 0.7
    assert without_seconds(EmbeddingSearch(**options, n_jobs=2).fit(X, Y)) == without_seconds(expected)
    calls.clear()
    last[0] = number - 9
    assert EmbeddingSearch(**options, storage=tmp_path).fit(X, Y).interrupted_
    calls.clear()
    last[0] = None
    resumed = EmbeddingSearch(**options, storage=tmp_path).fit(X, Y)
    assert len(calls) == 10 and without_seconds(resumed) == without_seconds(expected)
    other = EmbeddingSearch(**options, random_state=1).fit(X, Y)
    assert [t["params"] for t in other.trials_] != [t["params"] for t in expected.trials_]


@pytest.mark.filterwarnings("ignore")
def test_tpe_comes_nearer_to_what_serves():
    """Where the score follows one number alone, later proposals lie nearer to its best value than draws do."""
    pytest.importorskip("optuna")
    from proxembed.study.optuna_study import tpe_proposal

    study, pool = folds_of(), candidates(["mvmd"])
    found = []
    for _ in range(60):
        estimator, proposal = tpe_proposal(study, pool)
        t = study.evaluator.trial(estimator, 0)
        t.proposal = proposal
        study.entered[len(study.entered)] = t
        for step in study.evaluator.rungs[-1].steps:
            t.record(step, trials.Scores({2: 1 - abs(estimator.beta - 0.3)}, 0.1))
        found.append(abs(estimator.beta - 0.3))
    assert np.median(found[30:]) < 0.5 * 0.25, "the median of draws is a quarter"


@pytest.mark.filterwarnings("ignore")
def test_a_search_is_a_study_of_optuna(tmp_path):
    optuna = pytest.importorskip("optuna")
    found = EmbeddingSearch(["opls", "mvmd"], max_trials=8, strategy="auto", **QUICK).fit(X, Y)
    path = f"sqlite:///{tmp_path / 'search.db'}"
    to_optuna(found, path, "mine")
    study = optuna.load_study(study_name="mine", storage=path)
    assert len(study.trials) == 8 and study.best_value == found.best_score_
    assert study.best_params["method"] == found.best_params_["method"]
    states = [trial.state.name for trial in study.trials]
    assert states.count("COMPLETE") == sum(t["complete"] for t in found.trials_)
    assert study.trials[0].user_attrs["by_fold"] == found.trials_[0]["by_fold"]
