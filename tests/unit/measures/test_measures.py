"""The registry of measures: one planted here is known wherever a name goes; functions and losses too."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import proxembed
from designs import WHOLE
from proxembed.cli import app
from proxembed.data import Dataset
from proxembed.measures.measures import (
    MEASURES,
    Measure,
    is_loss,
    is_near,
    measure_of,
    neighbors_of,
    register,
    unit_of_measure,
)
from proxembed.report.figures import k_curve
from proxembed.study.embedding_search import EmbeddingSearch
from proxembed.workflow import comparison
from runs import few_rivals, planes_alone  # noqa: F401

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 5))
Y = (X[:, :3] + 0.7 * rng.normal(size=(90, 3)) > 0).astype(int)
FEW, MANY = (X, Y), (np.tile(X, (4, 1)) + 0.3 * rng.normal(size=(360, 5)), np.tile(Y, (4, 1)))
OF_LABELS = {name: measure for name, measure in MEASURES.items() if measure.takes == "labels"}
OF_EACH_KIND = {(measure.reads, measure.loss): name for name, measure in reversed(OF_LABELS.items())}.values()
QUICK = {"methods": "opls", "n_components": (1, 2), "folds": 2}


def one_error(Y, S):
    """Share of rows whose highest score is of a label that they lack."""
    return 1.0 - np.mean(np.asarray(Y)[np.arange(len(S)), np.asarray(S).argmax(axis=1)])


@pytest.fixture(autouse=True)
def two_rivals(few_rivals, monkeypatch):  # noqa: F811
    """The other rivals have tests of their own."""
    whole = comparison.rival_arms
    monkeypatch.setattr(comparison, "rival_arms", lambda *args, **options: whole(*args, **options)[:2])


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr("proxembed.measures.measures.MEASURES", dict(MEASURES))
    return register(Measure("one-error", "scores", one_error, loss=True, worst=1.0, best=0.0))


def test_a_planted_measure_orders_the_leaderboard_of_the_program_and_decides(planted, tmp_path):
    np.savez(tmp_path / "made.npz", X=X, Y=Y)
    words = ["-m", "opls", "-k", "1,2", "--folds", "2", "-j", "1", "--measure", "one-error", "--json"]
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "made.npz"), *words, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads(done.stdout)
    assert found["measures"][0] == "one-error (ridge)"
    means = [entry["scores"]["one-error (ridge)"]["mean"] for entry in found["leaderboard"]]
    assert means == sorted(means) and means[0] < means[-1], "less is better"
    predict = found["verdict"]["goals"]["predict"]
    best, raw = predict["arm"], "all features"
    values = {entry["arm"]: entry["scores"]["one-error (ridge)"]["mean"] for entry in reversed(found["leaderboard"])}
    assert np.sign(predict["gain"]) in (0.0, np.sign(values[raw] - values[best]))


@pytest.mark.parametrize("name", MEASURES if WHOLE else OF_EACH_KIND)
def test_every_measure_is_searched_for_and_compared(name):
    X, Y = MANY if name.startswith("new-new") else FEW
    study = EmbeddingSearch(["opls", "pca"], (1, 2), measure=name, max_trials=2).fit(X, Y)
    assert np.isfinite(study.best_score_) and (study.best_score_ <= 0) == MEASURES[name].loss
    found = proxembed.compare(X, Y, **QUICK, measure=name).record["summary"]
    scores = [entry["scores"][found["measures"][0]]["mean"] for entry in found["leaderboard"]]
    assert found["measures"][0].startswith(name) and scores == sorted(scores, reverse=not MEASURES[name].loss)


def test_new_rows_among_themselves_need_five_rows_per_neighbour():
    measure, W = MEASURES["new-new Jaccard@10"], sp.csr_array(np.roll(np.eye(50), 1, axis=1))
    labels = np.arange(50)[:, None] % 2 == [0, 1]
    assert measure.value(labels, (labels, W)) == (0.0, 2)
    assert measure.is_defined(labels) and not measure.is_defined(labels[:49])
    assert np.isnan(measure.value(labels, None)[0]) and np.isnan(measure.failed(labels[:49]))
    assert measure_of("new-new Jaccard@3").is_defined(labels[:15])


def test_a_function_goes_wherever_a_name_goes():
    def top_label(Y, S):
        return 1.0 - one_error(Y, S)

    found = proxembed.compare(X, Y, **QUICK, measure=top_label)
    assert found.record["summary"]["measures"][0] == "top_label (ridge)"
    assert EmbeddingSearch(["opls"], 2, measure=top_label, max_trials=1).fit(X, Y).best_score_ > 0.5
    searched = proxembed.search(X, Y, **QUICK, measure=top_label, max_trials=1, shuffles=0)
    predict = searched.verdict["goals"]["predict"]
    assert np.isfinite(predict["gain"]) and predict["interval"] is not None
    assert proxembed.diagnose(proxembed.OPLS(), X, Y, 1, measure=top_label, n_resamples=1).measure == "top_label"
    small = proxembed.DEFC("random", max_evals=2, measure=top_label, random_state=0).fit(X, Y)
    assert small.measure_ == "top_label" and 0 < small.best_score_ <= 1 and 0 < small.score(X, Y) <= 1


def test_a_measure_without_an_interval_on_the_test_rows_cannot_be_told():
    searched = proxembed.search(X, Y, **QUICK, measure="Hamming loss", max_trials=1, shuffles=0)
    predict = searched.verdict["goals"]["predict"]
    assert predict["interval"] is None and predict["word"] == "cannot tell"


def test_what_is_no_measure_is_refused_by_its_argument():
    for measure in ("AUC", 3, None, "Jaccard@0", "Jaccard@x"):
        with pytest.raises(ValueError, match="measure=.* is unknown; use one of macro average precision"):
            measure_of(measure)
    with pytest.raises(ValueError, match="reads='score' is unknown"):
        Measure("x", "score", one_error)
    with pytest.raises(ValueError, match="measure='log-loss' reads probabilities; choose one of"):
        proxembed.DEFC(measure="log-loss").fit(X, Y)
    with pytest.raises(ValueError, match="measure='AUC' is unknown; use one of macro average precision"):
        proxembed.compare(X, Y, measure="AUC")


def test_a_measure_is_undefined_where_no_label_allows_it():
    none, some = np.zeros((4, 2)), np.array([[1, 0], [0, 0], [1, 0], [1, 0]])
    precision, auc = measure_of("macro average precision"), measure_of("macro AUC")
    assert np.isnan(precision.failed(none)) and precision.failed(some) == 0 and np.isnan(precision.failed(some, 4))
    assert np.isnan(auc.failed(np.ones((4, 2)))) and auc.failed(some) == 0
    assert measure_of("log-loss").failed(none) > 36


def test_what_a_name_says_of_its_measure():
    assert is_near("Jaccard@5") and is_near("A@5") and not is_near("macro F1")
    assert is_loss("Hamming loss") and not is_loss("my function")
    assert measure_of("Jaccard@5").goal == "neighbours" and measure_of("macro F1").goal == "predict"
    units = [unit_of_measure(name) for name in ("macro F1", "log-loss", "new-new Jaccard@5", "my function")]
    assert units == [" (0 to 1)", " (nats)", " (0 to 1)", ""]


def test_neighbours_are_at_most_the_rows_of_the_smallest_class():
    classes = np.eye(3)[[0, 0, 0, 0, 1, 1, 1, 1, 2]]
    assert neighbors_of(Dataset(np.eye(9), classes), np.arange(9)) == 4


def test_the_axis_of_a_curve_names_the_unit_of_its_measure():
    units = {"log-loss": " (nats)", "Hamming loss": " (0 to 1)", "Jaccard@5": " (0 to 1)", "top_label": ""}
    for name, unit in units.items():
        measure = (lambda Y, S: 3.0) if name == "top_label" else name
        if callable(measure):
            measure.__name__ = name
        summary = proxembed.compare(X, Y, **QUICK, measure=measure).record["summary"]
        words = re.sub("<[^>]*>", " ", k_curve(summary, summary["measures"][0]))
        assert f"{summary['measures'][0]}{unit}" in words and (unit or "0 to 1" not in words)
