"""A tuned entrant: chosen inside the training part, scored once on the test part, failures with their reason."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from proxembed import OPLS, PCA
from proxembed.data import read
from proxembed.evaluate.splits import standard_split
from proxembed.labels import LabelMatrix
from proxembed.reproduce.benchmark_multilabel import part_name, partly_labelled, reduced
from proxembed.reproduce.entrants import Entrant
from proxembed.reproduce.tuned import Effort, compete, tuning_split, value_of

EFFORT = Effort(3, 60.0, 500)
OPLS_GRID = Entrant("OPLS", OPLS(), {"ridge": (1e-3, 1.0, 1e6)}, "made")


@pytest.fixture(scope="module")
def data(folder):
    return read(folder / "emotions.npz")


def run(entrant, data, effort=EFFORT, sizes=(1, 2)):
    return compete(entrant, data, tuning_split(data, effort, 0), sizes, effort, 0)


def with_test_labels_turned(data):
    Y = data.Y.toarray()
    Y[data.test_idx] = 1 - Y[data.test_idx]
    return replace(data, Y=Y)


def test_the_test_part_has_no_say_in_what_is_chosen(data):
    first, turned = run(OPLS_GRID, data), run(OPLS_GRID, with_test_labels_turned(data))
    untimed = [
        [{k: v for k, v in each.items() if k != "seconds"} for each in found["tried"]] for found in (first, turned)
    ]
    assert first["chosen"] == turned["chosen"] and first["k"] == turned["k"] and untimed[0] == untimed[1]
    assert value_of(first, 2) != value_of(turned, 2)


def test_the_training_labels_have_their_say(data):
    Y = data.Y.toarray()
    Y[data.train_idx] = Y[data.train_idx][:, ::-1]
    assert run(OPLS_GRID, replace(data, Y=Y))["tried"][0]["scores"] != run(OPLS_GRID, data)["tried"][0]["scores"]


def test_the_best_of_the_trials_is_chosen_by_its_mean_over_the_sizes(data):
    found = run(OPLS_GRID, data)
    means = [np.mean(list(each["scores"].values())) for each in found["tried"]]
    best = found["tried"][int(np.argmax(means))]
    assert len(found["tried"]) == 3 and found["chosen"] == best["parameters"]
    assert str(found["k"]) == max(best["scores"], key=best["scores"].__getitem__)


def test_tuning_rows_are_training_rows(data):
    split = tuning_split(data, Effort(3, 1.0, 40), 0)
    rows = np.concatenate([split.train, split.held_out])
    assert len(np.unique(rows)) == 40 and np.isin(rows, data.train_idx).all() and 8 <= len(split.held_out) <= 12


def test_scores_have_every_size_and_all_features_one(data):
    found, whole = run(OPLS_GRID, data, sizes=(1, 2, 3)), run(Entrant("all", None), data)
    assert set(found["scores"]["macro average precision (ridge)"]) == {"1", "2", "3"}
    assert whole["k"] is None and value_of(whole, 2) == value_of(whole, None) > 0.5 and whole["tried"] == []


def test_what_exceeds_its_seconds_is_a_failure_with_its_reason(data):
    found = run(OPLS_GRID, data, Effort(3, 1e-9, 500))
    assert found["failure"].startswith("OutOfBudget") and value_of(found, 2) == 0.0
    assert found["tried"][0]["failure"].startswith("stopped after")


class Broken(PCA, abstract=True):
    """Cannot be fitted."""

    def fit(self, X, y=None):
        raise RuntimeError("no such luck")


def test_an_entrant_that_raises_is_a_failure_with_its_reason(data):
    found = run(Entrant("broken", Broken()), data)
    assert found["failure"] == "RuntimeError: no such luck" and value_of(found, 2) == 0.0


class Shares(BaseEstimator):
    """Stand-in of a transductive method: the mean labels of labelled rows with the same sign of the first feature."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def fit(self, X, y):
        labels = LabelMatrix.of(y)
        known = labels.take(np.flatnonzero(labels.rows_known)).Y.toarray()
        side = self.sign * np.asarray(X)[labels.rows_known, 0] > 0
        self.low_, self.high_ = known[~side].mean(axis=0), known[side].mean(axis=0)
        return self

    def decision_function(self, X):
        return np.where(np.asarray(X)[:, :1] > 0, self.high_, self.low_) - 0.5

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def test_a_transductive_method_counts_with_its_own_scores(data):
    Y = np.hstack([data.Y.toarray(), np.zeros((90, 1), dtype=int)])
    Y[-1, -1] = 1  # a label that only a test row has
    part = partly_labelled(replace(data, Y=Y, label_names=None), 0.9, 500, 0)
    found = run(Entrant("shares", Shares(), {"sign": (-1.0, 1.0)}, direct=True), part)
    assert found["failure"] is None and found["chosen"] == {"method": "Shares"}  # signs as they are
    assert found["k"] is None and value_of(found, 7) == found["scores"]["macro average precision (own scores)"]["None"]
    scores = [next(iter(each["scores"].values())) for each in found["tried"]]
    assert scores[0] == max(scores) > scores[1]


def test_a_failing_transductive_method_has_the_worst_value(data):
    found = run(Entrant("shares", Shares(sign="x"), direct=True), partly_labelled(data, 0.5, 500, 0))
    assert found["failure"] and value_of(found, None) == 0.0


def test_a_share_of_the_labels(data):
    parts = {share: partly_labelled(data, share, 50, 0) for share in (0.2, 0.4)}
    known = {}
    for share, part in parts.items():
        train = part.take(part.train_idx)
        hidden = np.asarray(train.unknown.sum(axis=1)).ravel()
        assert train.X.shape[0] == 50 and set(hidden) == {0, 3} and (hidden == 0).sum() == round(50 * share)
        assert part.take(part.test_idx).unknown is None and len(part.test_idx) == 30
        known[share] = {tuple(row) for row in train.X[hidden == 0]}
    assert known[0.2] < known[0.4]
    assert part_name("yeast", 0.05) == "yeast at 5 %"


def test_a_reduced_set_keeps_its_split(data):
    part = reduced(data, 20, 1)
    split = standard_split(part)
    assert (len(split.train), len(split.held_out)) == (20, 10) and reduced(data, None, 1) is data
    assert {tuple(row) for row in part.X[split.train]} <= {tuple(row) for row in data.X[data.train_idx]}


def test_sparse_sets_take_part(folder):
    data = read(folder / "reuters.npz")
    assert sp.issparse(data.X)
    assert run(OPLS_GRID, data)["failure"] is None
