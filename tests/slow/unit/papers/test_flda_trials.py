"""Trials of the paper's experiment: what the validation part chooses, what the test part may not."""

from dataclasses import replace

import numpy as np
import pytest

from papers.defc.flda_trials import chosen_readout, compete, f1_of, fitted
from papers.entrants import Entrant
from proxembed import CCA, MMC, PCA
from proxembed.classify import FLDAClassifier
from proxembed.measures.metrics import macro_f1

READOUT = {"threshold": "midpoint", "ridge": 1e-4}
SIZES = (2, 5, 40)


def run(entrant, stage, limit=None):
    return compete(entrant, stage, SIZES, READOUT, limit, 0)


def test_the_test_part_has_no_say_in_what_is_chosen(stage):
    entrant = Entrant("CCA", CCA(), {"ridge": (1e-2, 1.0, 1e4)})
    first, turned = run(entrant, stage), run(entrant, replace(stage, Y_test=1 - stage.Y_test))
    assert (first["chosen"], first["k"], first["validation"]) == (turned["chosen"], turned["k"], turned["validation"])
    assert first["test"] != turned["test"]
    moved = run(entrant, replace(stage, R_test=stage.R_test[::-1] ** 2))
    assert (first["chosen"], first["k"], first["validation"]) == (moved["chosen"], moved["k"], moved["validation"])
    assert [each["scores"] for each in first["tried"]] == [each["scores"] for each in moved["tried"]]
    assert first["test"] != moved["test"]


def test_the_best_validation_score_is_chosen_and_scored_as_a_plain_fit_is(stage):
    found = run(Entrant("PCA", PCA(), {}), stage)
    curve = {int(k): value for k, value in found["tried"][0]["scores"].items()}
    assert set(curve) == set(SIZES) and found["validation"] == max(curve.values()) == curve[found["k"]]
    model = PCA(n_components=found["k"]).fit(stage.R)
    classifier = FLDAClassifier(**READOUT).fit(model.transform(stage.R), stage.Y)
    expected = macro_f1(stage.Y_test, classifier.predict(model.transform(stage.R_test))).value
    assert found["test"] == pytest.approx(expected, abs=1e-12)
    assert np.mean(list(found["labels"].values())) == pytest.approx(found["test"])


def test_a_method_with_fewer_components_takes_part_with_all_that_it_has(stage):
    model, Z = fitted(CCA(ridge=0.1), 40, stage.R, stage.y)
    assert Z.shape[1] == model.n_components_ <= 10
    widths = {int(k) for k in run(Entrant("CCA", CCA(ridge=0.1)), stage)["tried"][0]["scores"]}
    assert widths == {2, 5, Z.shape[1]}


def test_without_an_embedding_all_relation_features_count(stage):
    found = run(Entrant("no embedding", None), stage)
    expected = f1_of(stage.R, stage.Y, stage.R_test, stage.Y_test, READOUT)
    assert found["k"] == stage.R.shape[1] and found["test"] == pytest.approx(expected, abs=1e-12)


def test_labels_of_unlabelled_rows_count_nowhere(stage):
    part = stage.with_labels(0.5, 0)
    hidden = np.setdiff1d(np.arange(len(stage.Y)), part.labelled)
    assert np.isnan(part.y[hidden]).all() and not np.isnan(part.y[part.labelled]).any()
    other = replace(part, Y=np.where(np.isin(np.arange(len(part.Y)), hidden)[:, None], 1 - part.Y, part.Y))
    for entrant in (Entrant("CCA", CCA(ridge=0.1)), Entrant("PCA", PCA()), Entrant("none", None)):
        assert run(entrant, part)["test"] == run(entrant, other)["test"]


def test_a_failure_has_its_reason_and_no_score(stage):
    found = run(Entrant("MMC", MMC(), {"lam": (-1.0,)}), stage)
    assert found["test"] is None and found["chosen"] is None and "MMC" in found["failure"]


class Stuck(PCA, abstract=True):
    """Raises what is no ValueError: when it is fitted, or at a part of so many rows."""

    rows = None

    def fit(self, X, y=None):
        if self.rows is None:
            raise RuntimeError("no convergence")
        return super().fit(X, y)

    def transform(self, X):
        if len(X) == self.rows:
            raise RuntimeError("no such rows")
        return super().transform(X)


def test_whatever_is_raised_is_a_failure_with_its_reason(stage, monkeypatch):
    found = run(Entrant("stuck", Stuck()), stage)
    assert found["failure"] == found["tried"][0]["failure"] == "RuntimeError: no convergence" and found["test"] is None
    monkeypatch.setattr(Stuck, "rows", len(stage.R_test) - 9)
    late = run(Entrant("stuck", Stuck()), replace(stage, R_test=stage.R_test[9:], Y_test=stage.Y_test[9:]))
    assert late["failure"] == "on the test part: RuntimeError: no such rows" and late["test"] is None
    assert late["tried"][0]["failure"] is None and late["tried"][0]["scores"]


def test_the_readout_is_the_best_without_an_embedding_on_the_validation_part(stage):
    found = chosen_readout(stage)
    value = f1_of(stage.R, stage.Y, stage.R_validation, stage.Y_validation, found)
    for cut in ("midpoint", "prior"):
        for ridge in (1e-8, 1e-6, 1e-4, 1e-2):
            other = {"threshold": cut, "ridge": ridge}
            assert value >= f1_of(stage.R, stage.Y, stage.R_validation, stage.Y_validation, other)
