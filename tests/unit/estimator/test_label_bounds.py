"""How many components a method has at most is known before the fit that would tell: nothing dear is fitted twice."""

import numpy as np
import pytest

from proxembed import CCA, FDA, LFDA, MDDM, MESD, MVMD, OLPP, OPLS, PCA, ForestLeaves, Kernelized, Layout, Scaled, Views
from proxembed.evaluate.arms import Arm, embedding_arm
from proxembed.evaluate.costs import Shape, fit_work
from proxembed.evaluate.part import make_part
from proxembed.evaluate.results import RIDGE
from proxembed.evaluate.scoring import Measures, embed, score
from proxembed.execute.budget import WorkBudget
from proxembed.measures.measures import MEASURES
from proxembed.methods.around import bounded_by_labels
from proxembed.splits.splits import Split
from proxembed.study.trials import FoldParts, FoldScores
from proxembed.targets.labels import LabelMatrix

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 8))
Y = (X[:, :2] + rng.normal(size=(90, 2)) > 0).astype(int)
MEASURE = MEASURES["macro average precision"]


@pytest.mark.parametrize(
    "method",
    [
        OPLS(),
        CCA(),
        MDDM(),
        MVMD(),
        PCA(),
        MESD(FDA()),
        MESD(LFDA()),
        Kernelized(OPLS()),
        Scaled(OPLS()),
        Views(MVMD()),
    ],
)
def test_it_is_what_a_fit_of_more_components_than_labels_says(method):
    try:
        type(method)(**{**method.get_params(deep=False), "n_components": 4}).fit(X, Y)
        bounded = False
    except ValueError:
        bounded = True
    assert bounded_by_labels(method) is bounded


def test_maps_and_projections_of_features_alone_are_never_asked(monkeypatch):
    monkeypatch.setattr(Layout, "fit", None)
    assert not bounded_by_labels(Layout(OPLS())) and not bounded_by_labels(PCA())


def counted(monkeypatch):
    fits, whole = [], ForestLeaves.fit
    monkeypatch.setattr(ForestLeaves, "fit", lambda self, *given, **more: fits.append(1) or whole(self, *given, **more))
    return fits


def test_a_forest_is_grown_once_for_all_sizes(monkeypatch):
    fits, forest = counted(monkeypatch), ForestLeaves(OPLS(), n_estimators=5)
    part = make_part(X, LabelMatrix.of(Y), np.arange(60), np.arange(60, 90), "standard")
    found = score(Arm("leaves", forest), part, Measures(((MEASURE, RIDGE),), (1, 2, 5)))
    assert len(fits) == 1 and sorted(found.curve) == [1, 2] and found.bounded and not found.failure
    embedding = embed(embedding_arm("leaves", forest), part, (1, 2, 5))
    assert len(fits) == 1 and embedding.Z.shape[1] == 2 and embedding.bounded  # the same part keeps its last fit


@pytest.mark.parametrize("labels", ["dependent", "classes"])
def test_labels_of_a_lower_rank_than_their_number_are_fitted_once_too(labels, monkeypatch):
    four = (
        np.column_stack([Y, 1 - Y[:, 0], Y[:, 0] * Y[:, 1]]) if labels == "dependent" else np.eye(4)[np.arange(90) % 4]
    )
    part = make_part(X, LabelMatrix.of(four.astype(int)), np.arange(60), np.arange(60, 90), "standard")
    expected = {"OPLS": OPLS().fit(part.X, part.labels).transform(part.X_held_out)}
    fits, whole = [], OPLS.fit
    monkeypatch.setattr(OPLS, "fit", lambda self, *given, **more: fits.append(1) or whole(self, *given, **more))
    assert bounded_by_labels(OPLS(), by_rank=True) and not bounded_by_labels(MVMD(), by_rank=True)
    fits.clear()
    found = embed(Arm("OPLS", OPLS()), part, (1, 4))
    assert part.label_rank == found.Z.shape[1] == 3 and found.bounded and len(fits) == 1
    np.testing.assert_array_equal(found.Z_held_out, expected["OPLS"])


def test_a_kernel_of_all_rows_that_is_too_dear_gets_prototypes():
    n = 5000
    many, labels = np.zeros((n, 2)), LabelMatrix.of(np.arange(n) % 2)
    splits = [Split("1", np.arange(n // 2), np.arange(n // 2, n)), Split("2", np.arange(n // 2, n), np.arange(n // 2))]
    dear = fit_work(Kernelized(OPLS()), Shape(n, 2, 2.0, 2))
    cheap = fit_work(Kernelized(OPLS(), n_prototypes=1000), Shape(n, 2, 2.0, 2))
    assert cheap < dear / 3
    for last, prototypes in ((dear / 2, 1000), (2 * dear, None), (cheap / 2, 1000)):
        scores = FoldScores(
            FoldParts(many, labels, splits, "none"), n, (1,), MEASURE, WorkBudget(100.0, last_work=last)
        )
        config = scores.trial(Kernelized(OPLS()), 0).config
        assert config.n_prototypes == prototypes and scores.permits(config) is (last > cheap)


def test_methods_that_differ_in_an_entry_of_an_array_share_no_fit(monkeypatch):
    weights = np.ones((60, 60)) - np.eye(60)
    other, fits, whole = weights.copy(), [], OLPP.fit
    other[30, 31] = other[31, 30] = 5.0
    monkeypatch.setattr(OLPP, "fit", lambda self, *given, **more: fits.append(1) or whole(self, *given, **more))
    part = make_part(X, LabelMatrix.of(Y), np.arange(60), np.arange(60, 90), "standard")
    for each in (weights, weights.copy(), other):
        embed(embedding_arm("given weights", OLPP(weights=each)), part, (1, 2))
    assert len(fits) == 2
