"""A search in trackers: figures by plain names, reports in skore, and labels as the model predicts them."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import proxembed
from extras import needed
from proxembed.data import Dataset, digits
from proxembed.workflow.labelled_data import frame_dataset
from proxembed.workflow.tracking import figures, truth

QUICK = {"methods": "opls", "n_components": 2, "max_trials": 1, "folds": 2, "shuffles": 0, "max_work": 5}


def split(data, cut):
    n = data.X.shape[0]
    order = np.random.default_rng(0).permutation(n)
    return data.take(order), {"train_idx": np.arange(cut), "test_idx": np.arange(cut, n)}


@pytest.fixture(scope="module")
def found():
    data, parts = split(digits().take(range(160)), 100)
    return proxembed.search(Dataset(data.X, data.Y, label_names=data.label_names, name="made", **parts), **QUICK)


def test_names_of_figures_are_plain(found):
    names = dict(figures(found))
    assert "Jaccard at 10 cosine kNN" in names and "test macro average precision ridge" in names
    entry = next(each for each in found.record["summary"]["best"] if each["arm"] == "OPLS")
    assert names["micro F1 ridge"] == entry["scores"]["micro F1 (ridge)"]["mean"]


def test_skore_has_reports_of_the_model_and_of_the_first_arms(found, tmp_path):
    skore = needed("skore")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        project = skore.Project("made", mode="local", workspace=tmp_path)
        keys = found.log(project, name="chosen", arms=1)
        assert keys == ["chosen", found.leaderboard["arm"][0]]
        summary = project.summarize().frame().set_index("key")
    score = found.model.score(found.dataset.X[100:], found.dataset.Y.toarray()[100:])
    assert set(summary.index) == set(keys) and summary.loc["chosen", "accuracy"] == pytest.approx(score)


def test_skore_needs_rows_that_the_model_has_not_seen(tmp_path):
    whole = proxembed.search(digits().take(range(100)), **QUICK)
    needed("skore")
    with pytest.raises(ValueError, match="the model has seen all rows, and a report of skore is of others"):
        whole.log(type("Project", (), {"put": None, "summarize": None})())


def test_other_trackers_are_refused(found):
    with pytest.raises(ValueError, match="to='wandb' must be 'mlflow', or a skore.Project"):
        found.log("wandb")


@pytest.mark.parametrize("library", ["mlflow", "skore"])
def test_a_tracker_that_is_not_installed_is_named(found, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    to = "mlflow" if library == "mlflow" else type("Project", (), {"put": None, "summarize": None})()
    with pytest.raises(ImportError, match=rf"needs {library}; install it \(pip install 'proxembed\[tracking\]'\)"):
        found.log(to)


def test_labels_are_told_as_the_model_predicts_them():
    X, y = load_wine(return_X_y=True)
    classes = Dataset.from_classes(X, y)
    yes = frame_dataset(pd.DataFrame(X), np.where(y > 0, "yes", "no"))
    several = Dataset(X, np.eye(3, dtype=int)[y] | np.eye(3, dtype=int)[:, ::-1][y])
    numbers = Dataset.from_targets(X, X[:, 0] + 0.5)
    for data in (classes, yes, several, numbers):
        model = proxembed.fit_on(proxembed.OPLS(), data)
        told, known = truth(model, data)
        predicted = np.asarray(model.predict(X))
        assert known.all() and told.shape == predicted.shape
        if data is not numbers:
            assert (told == predicted).mean() > 0.8
    mixed = Dataset.from_targets(X, pd.DataFrame({"a": X[:, 0], "b": np.where(y > 0, "on", "off")}))
    with pytest.raises(ValueError, match="skore takes numbers or labels"):
        truth(None, mixed)
