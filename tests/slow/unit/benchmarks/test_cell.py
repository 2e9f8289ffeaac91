"""One method on one fold: chosen inside the training part, scored once on the held-out rows, failures with reasons."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from benchmarks import OUTPUTS, VERSION
from benchmarks.cell import Effort, compete, inner_splits, make_task
from benchmarks.entrants import DECLARED, KNN, OWN, RIVAL, SEMI, SUPERVISED, UNSUPERVISED, Entrant, entrant, words_of
from benchmarks.folds import make_folds
from proxembed import PCA
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.study.candidates import Candidate
from proxembed.targets.labels import LabelMatrix

EFFORT = Effort(3, 60.0, 60.0)


@pytest.fixture(scope="module")
def data():
    """Rows whose labels are signs of the first features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = X[:, :3] + 0.7 * rng.normal(size=(150, 3)) > 0
    return Dataset(X, Y.astype(int), name="made", train_idx=range(100), test_idx=range(100, 150))


def run(of, data, effort=EFFORT):
    return compete(entrant(of) if isinstance(of, str) else of, make_task(data), effort)


def untimed(row):
    return {name: value for name, value in row.items() if name != "seconds"}


def with_held_out_rows_moved(data):
    X = np.array(data.X)
    X[data.test_idx] = 10 - X[data.test_idx][:, ::-1] ** 2
    return replace(data, X=X)


def with_held_out_labels_turned(data):
    Y = data.Y.toarray()
    Y[data.test_idx] = 1 - Y[data.test_idx]
    return replace(data, Y=Y)


@pytest.mark.parametrize("changed", [with_held_out_labels_turned, with_held_out_rows_moved])
def test_the_held_out_part_has_no_say_in_what_is_chosen(data, changed):
    first, turned = run("MDDM", data), run("MDDM", changed(data))
    assert all(first[name] == turned[name] for name in ("k", "parameters", "tried"))
    assert first["average_precision"] != turned["average_precision"]


def test_the_training_labels_have_their_say(data):
    rng, found = np.random.default_rng(0), set()
    for _ in range(4):
        Y = data.Y.toarray()
        Y[data.train_idx] = Y[rng.permutation(data.train_idx)]
        row = run("MDDM", replace(data, Y=Y))
        found.add((row["k"], row["parameters"]))
    assert len(found) > 1


def test_a_row_of_results_is_complete_and_repeats(data):
    row = run("OPLS", data)
    assert untimed(row) == untimed(run("OPLS", data)) and row["tried"] == 3
    assert row["k"] == row["components"] and 1 <= row["k"] <= 3 and row["failure"] is None and row["version"]
    for name in ("average_precision", "average_precision_knn", "jaccard", "macro_f1", "micro_f1"):
        assert 0.4 < row[name] < 1
    assert 0 < row["kept"] < 1 and row["benchmark"] == VERSION


def test_all_features_and_rivals_have_nothing_to_choose(data):
    for name in ("all features", "logistic regression", KNN):
        row = run(name, data)
        assert row["k"] is None and row["tried"] == 0 and row["failure"] is None and row["average_precision"] > 0.6
    assert run(KNN, data)["jaccard"] is run(KNN, data)["kept"] is None
    row = run("random projection", data)
    assert row["k"] in (2, 3, 5, 6, 10) and row["tried"] == 1


def test_inner_rows_are_training_rows(data, monkeypatch):
    splits = inner_splits(data)
    assert len(splits) == 3 and len(np.unique(np.concatenate([split.held_out for split in splits]))) == 100
    monkeypatch.setattr("benchmarks.cell.FEW", 50)
    (split,) = inner_splits(data)
    assert 20 <= len(split.held_out) <= 30 and set(split.train) | set(split.held_out) == set(data.train_idx)


def test_the_clock_of_tuning_stops_tuning_alone(data):
    row = run("OPLS", data, Effort(3, 1e-9, 60.0))
    assert row["tried"] == 1 and row["failure"] is None and row["parameters"] == "OPLS()"
    assert row["average_precision"] > 0


def test_what_the_clock_ends_has_the_worst_value_and_its_reason(data):
    row = run("OPLS", data, Effort(3, 60.0, 1e-9))
    assert row["failure"].startswith("OutOfBudget: the budget of 1e-09 CPU seconds")
    assert row["average_precision"] == row["jaccard"] == row["micro_f1"] == row["kept"] == 0.0


class Idle(PCA, abstract=True):
    """Waits before it is fitted."""

    def fit(self, X, y=None):
        time.sleep(0.3)
        return super().fit(X, y)


def test_waiting_for_others_is_not_counted(data):
    row = run(Entrant("idle", Arm("idle", Idle()), Candidate(Idle)), data, Effort(3, 0.25, 0.25))
    assert row["failure"] is None and row["seconds"] < 0.3


class Broken(PCA, abstract=True):
    """Cannot be fitted."""

    def fit(self, X, y=None):
        raise RuntimeError("no such luck")


def test_what_raises_has_the_worst_value_and_its_reason(data):
    row = run(Entrant("broken", Arm("broken", Broken()), Candidate(Broken)), data)
    assert row["failure"] == "RuntimeError: no such luck" and row["average_precision"] == 0.0


class Shares(BaseEstimator):
    """The mean labels of labelled rows with the same sign of the first feature."""

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


def test_a_method_with_scores_of_its_own_counts_with_these(data):
    for estimator, good in ((Shares(), True), (Shares(-1.0), False)):
        row = run(Entrant("shares", Arm("shares", estimator), own=True), data)
        assert row["failure"] is None and row["k"] is None and (row["macro_f1"] > 0.5) == good
    row = run(Entrant("shares", Arm("shares", Shares(sign="x")), own=True), data)
    assert row["failure"] and row["average_precision"] == 0.0


def test_methods_for_partly_labelled_rows_have_the_other_rows_too(data):
    folds = make_folds(data)
    part = folds.split(folds.sample(data), "iterative", "fifth", 1)
    task = make_task(part)
    known = (folds.iterative != 1) & (folds.labelled == 1)
    assert task.outer.X.shape[0] == len(part.train_idx) > 110 and len(task.inner) == 3
    assert len(task.outer.known_rows) == known.sum() < 40
    for name in ("MESD(SELF)", "MLLGC", "OPLS", "all features"):
        assert compete(entrant(name), task, EFFORT)["failure"] is None


def test_sparse_rows_take_part(data):
    X = sp.csr_array(np.maximum(data.X, 0).round())
    assert run("OPLS", replace(data, X=X))["failure"] is None


@pytest.mark.parametrize("track", DECLARED, ids="-".join)
def test_the_declared_names_are_those_of_the_tables(track):
    assert len(set(DECLARED[track])) == len(DECLARED[track])
    for name in DECLARED[track]:
        assert entrant(name).name == name == entrant(name.upper() if "=" not in name else name).name


def test_configurations_begin_with_the_defaults_and_differ():
    for name in ("MDDM", "MESD(LFDA)", "SSDR(supervised=MDDM, unsupervised=PCA)", "MLLGC"):
        made = entrant(name).configurations(5, 100)
        words = [words_of(each) for each in made]
        assert len(set(words)) == 5 and words == [words_of(each) for each in entrant(name).configurations(5, 100)]
        assert words[0].partition("(")[0] == name.partition("(")[0]
    pair = entrant("SSDR(supervised=MDDM, unsupervised=PCA)").configurations(5, 100)
    assert all(type(each.supervised).__name__ == "MDDM" and isinstance(each.unsupervised, PCA) for each in pair)


def test_kinds():
    kinds = {"all features": RIVAL, KNN: RIVAL, "PCA": UNSUPERVISED, "OPLS": SUPERVISED}
    kinds |= {"MESD(SELF)": SEMI, "SMSE": OWN}
    assert {name: entrant(name).kind for name in kinds} == kinds


def test_unknown_names_are_told_with_near_ones():
    with pytest.raises(ValueError, match="no method or rival is named 'oplss'; did you mean opls"):
        entrant("oplss")
    with pytest.raises(ValueError, match="unknown method 'Nothing'"):
        entrant("MESD(Nothing)")
    with pytest.raises(ValueError, match="'beta' is not a parameter of OPLS"):
        entrant("OPLS(beta=1)")


@pytest.fixture(scope="module")
def numbers():
    """Rows whose outputs are linear in the first three of six features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = X[:, :3] @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(150, 3))
    return Dataset.from_targets(X, Y, "real", name="made", train_idx=range(100), test_idx=range(100, 150))


def test_numbers_are_judged_by_their_own_measures(numbers):
    task = make_task(numbers)
    assert task.numbers and 1 in task.sizes
    row = compete(entrant("OPLS", numbers=True), task, EFFORT)
    assert row["failure"] is None and "average_precision" not in row and 0.8 < row["q2"] < 1
    assert 0.5 < row["agreement"] < 1 and 0 < row["kept"] < 1
    part = task.outer
    X, new = (np.c_[np.ones(each.shape[0]), each] for each in (part.X, part.X_held_out))
    Y, truth = numbers.outputs.raw[:100], numbers.outputs.raw[100:]
    predicted = new @ np.linalg.lstsq(X, Y, rcond=None)[0]
    q2 = np.mean(1 - ((truth - predicted) ** 2).sum(axis=0) / ((truth - Y.mean(axis=0)) ** 2).sum(axis=0))
    assert compete(entrant("all features", numbers=True), task, EFFORT)["q2"] == pytest.approx(q2, abs=0.01)


def test_who_takes_what():
    takes = {name: (entrant(name).takes("all"), entrant(name).takes(OUTPUTS)) for name in TAKES}
    assert takes == TAKES


TAKES = {
    "all features": (True, True), "random projection": (True, True), "PCA": (True, True), "OPLS": (True, True),
    "PLSRegression": (False, True), "logistic regression": (True, False), "MESD(FDA)": (True, False),
    "MLLGC": (True, False), "sklearn.decomposition:PCA": (True, True),
}  # fmt: skip


def test_every_declared_method_takes_its_track():
    for (track, _), names in DECLARED.items():
        assert all(entrant(name, track == OUTPUTS).takes(track) for name in names)
