"""A tuned entrant: chosen inside the training part, scored once on the test part, failures with their reason."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from papers.benchmark.multilabel import partly_labelled
from papers.entrants import Entrant
from papers.experiment import reduced
from papers.part_names import part_name
from papers.tuned import Effort, _failures, compete, timed_out, tuning_splits, value_of
from proxembed import OPLS, PCA
from proxembed.data import read
from proxembed.splits.splits import standard_split
from proxembed.targets.labels import LabelMatrix

EFFORT = Effort(3, 60.0, 500)
OPLS_GRID = Entrant("OPLS", OPLS(), {"ridge": (1e-3, 1.0, 1e6)}, "made")


@pytest.fixture(scope="module")
def data(folder):
    return read(folder / "emotions.npz")


def run(entrant, data, effort=EFFORT, sizes=(1, 2)):
    return compete(entrant, data, tuning_splits(data, effort, 0), sizes, effort, 0)


def with_test_rows_moved(data):
    X = np.array(data.X)
    X[data.test_idx] = 10 - X[data.test_idx][:, ::-1] ** 2
    return replace(data, X=X)


def with_test_labels_turned(data):
    Y = data.Y.toarray()
    Y[data.test_idx] = 1 - Y[data.test_idx]
    return replace(data, Y=Y)


@pytest.mark.parametrize("changed", [with_test_labels_turned, with_test_rows_moved])
def test_the_test_part_has_no_say_in_what_is_chosen(data, changed):
    first, turned = run(OPLS_GRID, data), run(OPLS_GRID, changed(data))
    untimed = [
        [{k: v for k, v in each.items() if k != "seconds"} for each in found["tried"]] for found in (first, turned)
    ]
    assert first["chosen"] == turned["chosen"] and first["k"] == turned["k"] and untimed[0] == untimed[1]
    assert value_of(first, 2) != value_of(turned, 2)


def test_the_training_labels_have_their_say(data):
    Y = data.Y.toarray()
    Y[data.train_idx] = Y[np.random.default_rng(0).permutation(data.train_idx)]
    assert run(OPLS_GRID, replace(data, Y=Y))["tried"][0]["scores"] != run(OPLS_GRID, data)["tried"][0]["scores"]


def test_the_best_of_the_trials_is_chosen_by_its_mean_over_the_sizes(data):
    found = run(OPLS_GRID, data)
    means = [np.mean(list(each["scores"].values())) for each in found["tried"]]
    best = found["tried"][int(np.argmax(means))]
    assert len(found["tried"]) == 3 and found["chosen"] == best["parameters"]
    assert str(found["k"]) == max(best["scores"], key=best["scores"].__getitem__)


def test_tuning_rows_are_training_rows(data):
    splits = tuning_splits(data, Effort(3, 1.0, 40), 0)
    for split in splits:
        rows = np.concatenate([split.train, split.held_out])
        assert len(np.unique(rows)) == 40 and np.isin(rows, data.train_idx).all() and 11 <= len(split.held_out) <= 16
    assert len(splits) == 3 and len(np.unique(np.concatenate([split.held_out for split in splits]))) == 40


def test_many_labelled_rows_are_split_once(folder, monkeypatch, data):
    monkeypatch.setattr("papers.tuned.FEW", 40)
    (split,) = tuning_splits(data, Effort(3, 1.0, 40), 0)
    assert len(split.train) + len(split.held_out) == 40 and 8 <= len(split.held_out) <= 12
    assert len(tuning_splits(data, Effort(3, 1.0, 39), 0)) == 3


def test_of_few_labelled_rows_none_is_left_out_of_tuning(data):
    part = partly_labelled(data, 0.2, 60, 0)
    known = np.flatnonzero(np.asarray(part.unknown.sum(axis=1)).ravel() == 0)
    known = known[np.isin(known, part.train_idx)]
    for limit in (24, 40):
        splits = tuning_splits(part, Effort(3, 1.0, limit), 0)
        assert np.array_equal(np.sort(np.concatenate([split.held_out for split in splits])), known)
        assert all(len(split.train) + len(split.held_out) == limit for split in splits)
    many = tuning_splits(partly_labelled(data, 0.8, 60, 0), Effort(3, 1.0, 20), 0)
    assert sum(len(split.held_out) for split in many) == 10 and len(many[0].train) + len(many[0].held_out) == 20


def test_which_rows_are_tuned_on_is_drawn_apart_from_which_keep_labels(data):
    part = partly_labelled(data, 1.0, 60, 0)
    first = {tuple(row) for row in part.X[np.random.default_rng(0).permutation(standard_split(part).train)[:20]]}
    splits = tuning_splits(part, Effort(3, 1.0, 20), 0)
    assert {tuple(row) for split in splits for row in part.X[split.held_out]} != first


def test_scores_have_every_size_and_all_features_one(data):
    found, whole = run(OPLS_GRID, data, sizes=(1, 2, 3)), run(Entrant("all", None), data)
    assert set(found["scores"]["macro average precision (ridge)"]) == {"1", "2", "3"}
    assert whole["k"] is None and value_of(whole, 2) == value_of(whole, None) > 0.5 and whole["tried"] == []


def test_the_clock_of_tuning_stops_tuning_alone(data):
    found = run(OPLS_GRID, data, Effort(3, 1e-9, 500))
    assert found["failure"] is None and not found["timed_out"] and value_of(found, 2) > 0
    assert [each["failure"] for each in found["tried"]] == ["timed out: the 1e-09 CPU seconds of tuning were spent"]
    assert found["chosen"] == {"method": "OPLS"} and found["k"] == 2


def test_what_the_clock_ends_has_a_reason_and_no_value(data):
    found = run(OPLS_GRID, data, Effort(3, 60.0, 500, last_seconds=1e-9))
    assert found["failure"] == "timed out: the 1e-09 CPU seconds of the last fit were spent" and found["timed_out"]
    assert value_of(found, 1) is value_of(found, 2) is None and timed_out(found, 1) and timed_out(found, 2)
    assert all(not each["failure"] for each in found["tried"]) and list(found["other_sizes"]) == ["1"]


class Idle(PCA, abstract=True):
    """Waits before it is fitted."""

    def fit(self, X, y=None):
        time.sleep(0.4)
        return super().fit(X, y)


def test_waiting_for_others_is_not_counted(data):
    found = run(Entrant("idle", Idle()), data, Effort(3, 0.35, 500, last_seconds=0.35))
    assert found["failure"] is None and found["seconds"] > 1.5 > found["cpu_seconds"]
    assert [each["failure"] for each in found["tried"]] == [None]


def test_a_failure_at_another_size_or_measure_is_told_apart():
    row = {"measure": "macro average precision", "readout": "ridge"}
    rows = [{**row, "k": 1, "failure": None}, {**row, "k": 2, "failure": "no"}]
    assert _failures([*rows, {"measure": "macro F1", "readout": "ridge", "k": 1, "failure": "bad"}]) == {"2": "no"}


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
