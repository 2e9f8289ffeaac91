"""Models of the leaderboard: any arm by its name, names that cannot be kept, and a rival that is the answer."""

from types import SimpleNamespace

import numpy as np
import pytest

from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm, embedding_arm
from proxembed.evaluate.rivals.forests import ForestScores
from proxembed.evaluate.rivals.linear import LogisticScores
from proxembed.methods.dependence import OPLS
from proxembed.persist import load, save
from proxembed.workflow.arm_models import arm_model, check_kept, predictor_ahead

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 4))
DATA = Dataset(X, (X[:, :2] > 0).astype(int))
ARMS = (
    Arm("all features", None, True),
    embedding_arm("OPLS", OPLS()),
    Arm("logistic regression", LogisticScores(), True, LogisticScores.grid),
    Arm("forest scores", ForestScores(n_estimators=10), True, lookup=Arm("label lookup", None, True)),
)
FACTS = {"seed": 0, "numbers": False}
RESULTS = SimpleNamespace(arms=ARMS, preprocessing="standard", protocol=FACTS, dataset={})
MEASURE = "macro average precision (ridge)"


def entry(arm, components=4, value=0.5, failures=()):
    scores = {MEASURE: {"mean": value, "test": value, "by_fold": [value - 0.01, value + 0.01]}}
    rest = {"components": components, "scores": scores, "failures": list(failures)}
    return {"arm": arm, "k": None, "rival": arm != "OPLS", **rest}


@pytest.mark.parametrize("name", ["All features", "OPLS", "logistic regression", "forest scores", "label lookup"])
def test_every_row_is_a_model_that_is_saved(tmp_path, name):
    best = [entry(each, 2 if each == "OPLS" else 4) for arm in ARMS for each in arm.names]
    model = arm_model(name, RESULTS, best, DATA)
    assert model.transform(X).shape == (60, 4 if name == "All features" else 2)
    assert (model.predict(X) == DATA.Y.toarray()).mean() > 0.8
    np.testing.assert_array_equal(load(save(model, tmp_path / "m.skops")).predict(X), model.predict(X))
    if name == "label lookup":
        np.testing.assert_array_equal(model.transform(X), DATA.Y.toarray())


def test_names_without_a_model_are_refused():
    best = [entry("OPLS", failures=["ValueError: no"])]
    with pytest.raises(ValueError, match=r"name='PCA' is not on the leaderboard; its rows are OPLS\."):
        arm_model("PCA", RESULTS, best, DATA)
    with pytest.raises(ValueError, match="OPLS failed in the comparison"):
        arm_model("opls", RESULTS, best, DATA)
    check_kept("Logistic Regression", DATA, [])
    check_kept("opls", DATA, ["opls"])
    with pytest.raises(ValueError, match="is neither a rival nor a method; the rivals are all features, "):
        check_kept("logit", DATA, ["opls"])
    with pytest.raises(ValueError, match="UMAP cannot be kept: "):
        check_kept("UMAP", DATA, [])


@pytest.mark.parametrize(
    ("interval", "said", "chosen"),
    [
        ((-0.2, -0.1), "level", "logistic regression"),
        ((-0.2, 0.01), "level", None),
        ((-0.2, -0.005), "worse", "all features"),
    ],
)
def test_the_answer_is_a_rival_only_where_the_embedding_is_worse_by_the_rule_of_the_verdict(interval, said, chosen):
    rival = {"arm": "logistic regression", "k": None, "value": 0.7, "gain": -0.15, "interval": interval}
    ours = {"arm": "OPLS", "k": 1, "value": 0.55, "measure": MEASURE, "word": said, "margin": 0.01}
    ours |= {"components": 1, "rows": 60, "gain": -0.05, "interval": (-0.1, -0.02), "ties": []}
    goal = {**ours, "rival": rival, "base": {"arm": "all features", "k": None, "value": 0.6}}
    best = [entry("OPLS"), entry("logistic regression", value=0.7), entry("all features", value=0.6)]
    verdict = {"goals": {"predict": goal}, "lacks": None, "asked": "predict", "basis": "test rows", "tolerance": 0.03}
    facts = {"d": 4, "labels": 6, "single_label": False}
    summary = {"best": best, "leaderboard": best, "verdict": verdict, "dataset": facts, "folds": []}
    summary["choice"] = {"method": "OPLS", "k": 1}
    better = [entry("label scores", value=0.8), *best]
    assert predictor_ahead({**summary, "leaderboard": better}, RESULTS, ("label scores", None)) is None
    found = predictor_ahead(summary, RESULTS, ("OPLS", None))
    assert (found and found.name) == chosen
    assert ("headline" in summary["verdict"]) == (chosen is not None)
    if chosen is not None:
        assert summary["verdict"]["text"].startswith(summary["verdict"]["headline"])
        lead = {"logistic regression": ".15 (.10 to .20)", "all features": ".05 (.02 to .10)"}[chosen]
        assert f"better than every embedding that was tried, by {lead} (average" in summary["verdict"]["headline"]
        assert summary["saved"]["arm"] == chosen and "--embedding saves" in summary["verdict"]["headline"]
        goal = summary["verdict"]["goals"]["predict"]
        assert goal["advice"] == f"What to do: predict with {chosen} (the saved model)."
        assert found.method.fit(X, DATA.y).transform(X).shape[0] == 60
