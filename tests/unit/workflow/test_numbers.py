"""The main job and a comparison where y holds numbers."""

import numpy as np
import pytest

import proxembed
from proxembed.data import Dataset
from proxembed.evaluate.part import prepare
from proxembed.evaluate.scoring import OutputReadings
from proxembed.measures.outputs import q2_each
from proxembed.methods.pipeline import fit_on
from proxembed.report.measured import measured_view
from proxembed.splits.splits import Split
from proxembed.workflow.options import OptionError
from proxembed.workflow.record import output_sections
from runs import with_few_rivals, without_nested_folds


def data(n=160, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2]]) + 0.4 * rng.normal(size=(n, 2))
    Y[:5, 1] = np.nan
    return X, 100 + 7 * Y


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        with_few_rivals(patch)
        without_nested_folds(patch)
        yield made()


def made():
    X, Y = data()
    options = {"methods": "opls", "n_components": (1, 2), "max_trials": 1, "max_work": 30, "folds": 3, "shuffles": 19}
    return proxembed.search(X, Y, **options)


def test_a_search_judges_numbers_by_q2_and_a_at_10(found):
    goals = found.verdict["goals"]
    assert goals["predict"]["measure"].startswith("Q2") and goals["neighbours"]["measure"].startswith("A@10")
    assert goals["predict"]["arm"] == "OPLS" and goals["predict"]["chance"] == 0
    assert (
        goals["neighbours"]["value"] > 0.5 and goals["neighbours"]["interval"][0] < goals["neighbours"]["interval"][1]
    )
    assert found.model.predict(data()[0]).shape == (160, 2) and "label" not in found.verdict["text"]
    diagnosis = found.record["diagnosis"]
    assert diagnosis["passed"] and len(diagnosis["permuted"]) == 19
    assert max(q2 for q2, _, _ in diagnosis["permuted"]) < diagnosis["held_out"]


def test_the_values_on_the_test_rows_are_those_of_the_model_of_the_training_rows(found):
    X, Y = data()
    whole = Dataset.from_targets(X, Y)
    test = np.sort(found.results.held_out["test"])
    train = np.setdiff1d(np.arange(160), test)
    model = fit_on(proxembed.OPLS(n_components=2), whole.take(train), scaling=found.results.preprocessing)
    part = prepare(whole, Split("test", train, test))
    level, scale = part.standard
    F = (model.predict(X[test]) - level) * scale
    entry = next(e for e in found.record["summary"]["leaderboard"] if (e["arm"], e["k"]) == ("OPLS", 2))
    assert entry["scores"]["Q2 (ridge)"]["test"] == pytest.approx(q2_each(part.Y_held_out, F).mean(), rel=1e-5)


def test_predictions_of_all_features_are_within_the_range_of_the_training_rows():
    X, Y = data()
    whole, test = Dataset.from_targets(X, Y), np.arange(0, 160, 4)
    part = prepare(whole, Split("test", np.setdiff1d(np.arange(160), test), test))
    low, high = part.Y.F.min(axis=0), part.Y.F.max(axis=0)
    scores = OutputReadings(part.X, 50 * part.X_held_out, part).scores
    assert np.allclose(scores.min(axis=0), low) and np.allclose(scores.max(axis=0), high)


def test_a_measure_of_the_other_kind_is_refused_in_one_sentence():
    X, Y = data(n=40)
    with pytest.raises(OptionError, match="Jaccard@10 needs labels; y holds numbers: use A@10"):
        proxembed.search(X, Y, measure="Jaccard@10", max_trials=1)
    with pytest.raises(OptionError, match="Q2 needs numbers; y holds labels"):
        proxembed.compare(X, (X[:, :2] > 0).astype(int), measure="Q2", methods="opls")


def test_a_comparison_of_numbers():
    X, Y = data(n=80)
    found = proxembed.compare(X, Y[:, 0], target_type="real", methods="opls", n_components=1, folds=2)
    assert found.verdict["goals"]["predict"]["measure"].startswith("Q2")
    assert {"all features", "OPLS", "PCA"} <= set(found.leaderboard["arm"])
    with pytest.raises(ValueError, match=r"every column of y is constant"):
        proxembed.search(X, np.full(80, 1.5), target_type="real")


def test_a_map_that_flatters_its_training_rows_has_an_honest_one_beside_that_of_shuffled_outputs():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(90, 60)), rng.normal(size=(90, 2))
    Y[4] = np.nan
    whole, split = Dataset.from_targets(X, Y), Split("test", np.arange(60), np.arange(60, 90))
    summary = {"leaderboard": []}
    shown = {"seed": 0, "lay_out": True, "scaling": "standard"}
    section = output_sections(proxembed.OPLS(ridge=1e-3), whole, split, [], summary, "OPLS", **shown)["measured"]
    planes = section["planes"]
    assert [plane["honest"] for plane in planes] == [False, False, False, True, True]
    plain, _, honest, null = planes[1:]
    assert plain["flatters"] and plain["inside"] > plain["outside"] + 0.1
    assert abs(honest["inside"]) < 0.2 and abs(null["inside"]) < 0.2
    assert len(honest["places"][0]) == 59 + 30 and len(plain["places"][0]) == 30
    words = measured_view({**section, "planes": planes})["honest"]
    assert "partly on their own outputs. So honest maps are shown, too" in words
    assert "No honest map was made" in measured_view({**section, "planes": planes[:3]})["honest"]
    titles = [panel["title"] for panel in measured_view(section)["panels"]]
    assert titles[-2:] == ["Honest map: OPLS", "Honest map: OPLS on shuffled outputs"]
    assert measured_view({**section, "planes": [plane | {"flatters": False} for plane in planes]})["honest"] is None
