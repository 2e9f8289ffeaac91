"""One arm on one split: the nested sizes of label scores, penalties by groups, failures on folds without positives."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.tree import DecisionTreeRegressor

from proxembed import OPLS, ForestLeaves, Kernelized, LabelScores, Layout, ReadoutAxes, Scaled, TargetSpace, Views
from proxembed.algebra import shared as shared_parts
from proxembed.algebra.pencil import coordinates
from proxembed.algebra.shared import Shared
from proxembed.classify.ridge import fold_penalty, loo_penalty, ridge_fit
from proxembed.data import Dataset, digits
from proxembed.evaluate import scoring
from proxembed.evaluate.arms import Arm, embedding_arm
from proxembed.evaluate.part import INNER_FOLDS, prepare
from proxembed.evaluate.results import NEIGHBORS, RIDGE
from proxembed.evaluate.rivals.forests import ForestScores
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.scoring import Measures, OwnReadings, Scores, embed, refit_on_inner_folds, score
from proxembed.evaluate.verdict import summarise
from proxembed.measures.calibration import calibrated, probabilities_of
from proxembed.measures.measures import AVERAGE_PRECISION, measure_of
from proxembed.measures.metrics import macro_average_precision
from proxembed.measures.neighbors import kept_neighbors
from proxembed.methods.relation import WIDTHS
from proxembed.splits.splits import Split, Splitting

RAW = Arm("all features", None, rival=True)


def grouped(n_groups=24, each=6, d=40, seed=0):
    """Near copies in groups; labels belong to groups."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(n_groups, d))
    Y = centres[:, :2] + draw.normal(size=(n_groups, 2)) > 0
    X = np.repeat(centres, each, axis=0) + 0.05 * draw.normal(size=(n_groups * each, d))
    return X, np.repeat(Y, each, axis=0), np.repeat(np.arange(n_groups), each)


def test_label_scores_have_their_principal_directions_at_every_size_below_the_largest():
    part = prepare(digits().take(range(300)), Split("1", np.arange(200), np.arange(200, 300)))
    arm = Arm("label scores", LabelScores(), rival=True)
    Z = embed(arm, part, (2, 10)).Z
    expected = LabelScores(n_components=2).fit_transform(part.X, part.y)
    assert Z.shape[1] == 7 and Z[:, :2] == pytest.approx(expected, abs=1e-9)


def test_a_search_and_a_comparison_have_the_same_scores_of_an_arm():
    part = prepare(digits().take(range(200)), Split("1", np.arange(150), np.arange(150, 200)))
    arm, average = Arm("OPLS", OPLS()), measure_of(AVERAGE_PRECISION)
    curve = score(arm, part, Measures(((average, RIDGE),), (2, 5))).curve
    compared = score(arm, part, Protocol((arm,), (2, 5)).measures_of(arm))
    rows = [row for row in compared.rows if (row["measure"], row["readout"]) == (AVERAGE_PRECISION, RIDGE)]
    assert curve == compared.curve == {row["k"]: row["value"] for row in rows} and sorted(curve) == [2, 5]
    again = Scores.of(compared.plain())
    assert (again.curve, again.rows, again.notes) == (curve, compared.rows, compared.notes)
    assert again.predictions.keys() == compared.predictions.keys() == {("OPLS", k, "1") for k in (2, 5)}


def test_what_a_plane_keeps_is_measured_for_maps_alone():
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(60, 5)), (rng.random((60, 3)) > 0.5).astype(np.uint8))
    part = prepare(data, Split("test", np.arange(40), np.arange(40, 60)), 0)
    pairs, arm = ((measure_of("Jaccard@10"), NEIGHBORS),), Arm("OPLS", OPLS())
    found = score(arm, part, Measures(pairs, (2, 3), maps=True)).kept
    model = OPLS(n_components=3).fit(part.X, part.labels)
    own = (model.transform(each)[:, :2] for each in (part.X_held_out, part.X))
    assert found == {("OPLS", 2, "test"): pytest.approx(kept_neighbors(part.X_held_out, part.X, *own))}
    assert not score(arm, part, Measures(pairs, (2, 3))).kept


def test_an_arm_without_any_of_the_sizes_says_so():
    part = prepare(digits().take(range(200)), Split("1", np.arange(150), np.arange(150, 200)))
    found = score(Arm("small", OPLS(), largest=2), part, Measures(((measure_of(AVERAGE_PRECISION), RIDGE),), (5,)))
    assert found.curve == {} and found.rows == [] and "fewer components than any n_components" in found.failure


def test_the_stack_of_target_space_predicts_its_labels_at_every_size():
    """In place of a ridge on the components; of groups, cuts are tuned on fits without the group."""
    X, Y, groups = grouped(n_groups=16, each=4, d=6)
    data, split = Dataset(X, Y.astype(np.uint8), groups=groups), Split("1", np.arange(44), np.arange(44, 64))
    part = prepare(data, split)
    space = TargetSpace(n_estimators=5, bases=["ridge", "forest"])
    whole = space.fit(part.X, part.y)
    average = measure_of(AVERAGE_PRECISION)
    expected = macro_average_precision(Y[44:], whole.predict_proba(part.X_held_out)).value
    for arm in (Arm("space", clone(space)), Arm("scaled", Scaled(clone(space), "none"))):
        curve = score(arm, replace(part, groups=None), Measures(((average, RIDGE),), (1, 2))).curve
        assert [*curve] == [1, 2] and [*curve.values()] == pytest.approx([expected] * 2, abs=1e-6)
    arm = Arm("space", clone(space))
    assert refit_on_inner_folds(arm, replace(part, groups=None), (2,)) is None
    found = embed(arm, part, (2,))
    readings = OwnReadings(found.Z, found.Z_held_out, part, refit_on_inner_folds(arm, part, (2,)), found.own)
    assert expit(readings.scores) == pytest.approx(whole.predict_proba(part.X_held_out), abs=1e-6)
    own = calibrated(readings.own_scores, part.Y)
    assert readings.probabilities == pytest.approx(probabilities_of(readings.scores, own))
    out = part.inner == 1
    inner = clone(space).fit(part.X[~out], part.y[~out])
    assert readings.own_scores[out] == pytest.approx(inner.label_scores(part.X[out]))


def test_weighted_axes_share_the_fit_of_their_method_where_it_was_among_the_latest(monkeypatch):
    part = prepare(digits().take(range(120)), Split("1", np.arange(80), np.arange(80, 120)))
    method, whole, fitted = OPLS(ridge=0.5), scoring.scored_embedding, []
    monkeypatch.setattr(scoring, "scored_embedding", lambda *a: fitted.append(a[0]) or whole(*a))
    plain, weighed = (embed(Arm("any", each), part, (2, 10)) for each in (method, ReadoutAxes(method)))
    assert len(fitted) == 1 and np.array_equal(plain.Z[:, :2], weighed.Z[:, :2])
    again = ReadoutAxes(OPLS(ridge=0.5), n_components=2).fit(part.X, part.y)
    assert weighed.at(2)[1] == pytest.approx(again.transform(part.X_held_out), abs=1e-9)
    embed(Arm("any", ReadoutAxes(OPLS(ridge=0.4))), part, (2, 10))
    embed(Arm("any", method), part, (2, 10))
    assert len(fitted) == 2
    for ridge in (1, 2, 3, 4):
        embed(Arm("any", OPLS(ridge=ridge)), part, (2, 10))
    embed(Arm("any", method), part, (2, 10))
    assert len(fitted) == 7


def arms_of_one_forest(trees):
    """The anchors that grow a forest, and the rival with its lookup."""
    views = {"views": ("features", "leaves", "scores"), "weights": 1.0, "n_estimators": trees}
    methods = [TargetSpace(n_estimators=trees)]
    for each in (ForestLeaves(OPLS(), n_estimators=trees), Views(Kernelized(OPLS()), **views)):
        methods += [each, ReadoutAxes(each)]
    rival = Arm("forest", ForestScores(n_estimators=trees - 1), rival=True, lookup=Arm("lookup", None, True))
    return [*(embedding_arm(str(each), each) for each in methods), rival]


def test_what_arms_have_in_common_is_computed_once_and_changes_nothing(monkeypatch):
    """One forest of a fold and one of each inner fold, however many arms are made of it."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(90, 5))
    data = Dataset(X, (X[:, :3] + draw.normal(size=(90, 3)) > 0.3).astype(np.uint8))
    pairs = tuple((measure_of(name), RIDGE) for name in (AVERAGE_PRECISION, "macro F1"))
    arms, measures, grown, decomposed = arms_of_one_forest(3), Measures(pairs, (3,), refits=True), [], []
    fit, whole = DecisionTreeRegressor.fit, coordinates.descending
    monkeypatch.setattr(DecisionTreeRegressor, "fit", lambda *a, **k: grown.append(1) or fit(*a, **k))
    monkeypatch.setattr(coordinates, "descending", lambda M: decomposed.append(len(M)) or whole(M))

    def values(part):
        return [row["value"] for arm in arms for row in score(arm, part, measures).rows]

    part = prepare(data, Split("1", np.arange(60), np.arange(60, 90)))
    shared = values(part)
    assert len(grown) == 3 * (1 + INNER_FOLDS) and shared_parts.active() is None
    assert decomposed.count(60) == 2 * len(WIDTHS)  # of the kernel on the rows, and of that on their views
    with part.shared.active():
        Layout(TargetSpace(n_estimators=3), layout="components").fit(part.X, part.labels)
    assert len(grown) == 3 * (1 + INNER_FOLDS) and decomposed.count(60) == 2 * len(WIDTHS)
    alone = values(replace(part, shared=Shared(0)))
    assert shared == pytest.approx(alone, rel=0, abs=1e-12, nan_ok=True) and len(grown) > 50


def test_the_penalty_of_folds_is_that_of_a_plain_loop():
    X, Y, groups = grouped()
    folds, T = groups % 3, 2.0 * Y - 1.0
    penalty = fold_penalty(X, T, folds)

    def error(value):
        total = 0.0
        for fold in range(3):
            out = folds == fold
            coef, intercept = ridge_fit(X[~out], T[~out], value)
            total += np.sum((X[out] @ coef + intercept - T[out]) ** 2)
        return total

    assert all(error(penalty) <= error(penalty * factor) for factor in (10**-0.5, 10**0.5, 0.1, 10.0))
    assert penalty > 10 * loo_penalty(X, T)  # one row left out leaves its near copies in


@pytest.mark.parametrize("given", [True, False])
def test_rows_of_a_group_are_never_on_both_sides_of_an_inner_choice(given):
    X, Y, groups = grouped()
    data = Dataset(X, Y, groups=groups if given else None)
    part = prepare(data, Split("1", np.arange(120), np.arange(120, 144)))
    apart = [set(groups[:120][part.inner == f]) & set(groups[:120][part.inner != f]) for f in range(3)]
    assert any(apart) is not given
    assert (part.groups is not None) is given


class _Semisupervised(OPLS):
    """Keeps the rows it was fitted on."""

    seen = []

    def fit_transform(self, X, y):
        _Semisupervised.seen.append(X)
        known = np.flatnonzero(y.rows_any)
        return OPLS(n_components=self.n_components).fit(X[known], y.take(known)).transform(X)

    def transform(self, X):
        return X[:, : self.n_components]


@pytest.mark.default_configuration
def test_rows_with_unknown_labels_leave_with_their_group():
    X, Y, groups = grouped()
    unknown = np.zeros(Y.shape, dtype=bool)
    unknown[::6] = True
    data = Dataset(X, Y & ~unknown, unknown=unknown, groups=groups)
    part = prepare(data, Split("1", np.arange(120), np.arange(120, 144)))
    for given, rows in ((part, 120 - 6 * 7), (replace(part, groups=None), 120 - 34)):
        _Semisupervised.seen.clear()
        refit_on_inner_folds(Arm("kept", _Semisupervised()), given, (2,))
        assert min(len(X) for X in _Semisupervised.seen) == rows


class Broken(PCA):
    def fit_transform(self, X, y=None):
        raise ValueError("never")


def test_a_failed_arm_on_a_fold_without_positive_rows_is_no_loss_there_and_no_crash():
    draw = np.random.default_rng(0)
    X, times = draw.normal(size=(80, 3)), np.arange(80)
    Y = (X[:, :1] > 0) & (times[:, None] < 60)
    data = Dataset(X, Y, times=times)
    protocol = Protocol((RAW, Arm("broken", Broken()), Arm("PCA", PCA())), sizes=(1,), splitting=Splitting(n_folds=3))
    summary = summarise(run(protocol, data))
    name = "macro average precision (ridge)"
    folds = {entry["arm"]: np.isfinite(entry["scores"][name]["by_fold"]).tolist() for entry in summary["leaderboard"]}
    assert folds["broken"] == folds["PCA"] == folds["all features"] and not all(folds["PCA"])


def test_the_kind_of_splits_that_was_taken_is_recorded():
    X, Y, groups = grouped()
    protocol = Protocol((RAW,), sizes=(1,), splitting=Splitting(n_folds=2))
    assert run(protocol, Dataset(X, Y, groups=groups)).protocol["splitting"]["kind"] == "groups"
    assert run(protocol, Dataset(X, Y, times=np.arange(len(X)))).protocol["splitting"]["kind"] == "time"
    assert run(protocol, Dataset(X, Y)).protocol["splitting"]["kind"] == "stratified"


def test_neighbours_kept_are_of_every_size_where_they_are_asked_for():
    """A map has them anyway; scores of labels are no embedding."""
    data = digits().take(range(0, 600, 4))
    part = prepare(data, Split("1", np.arange(100), np.arange(100, 150)))
    arm, scores = embedding_arm("OPLS", OPLS()), Arm("forest scores", ForestScores(random_state=0), rival=True)
    measures = Measures(((measure_of(AVERAGE_PRECISION), RIDGE),), (2, 5), maps=True)
    assert [key[1] for key in score(arm, part, measures).kept] == [2]
    found = score(arm, part, replace(measures, kept=True)).kept
    model = OPLS(n_components=5).fit(part.X, part.labels)
    Z, new = model.transform(part.X), model.transform(part.X_held_out)
    for k in (2, 5):
        assert found["OPLS", k, "1"] == pytest.approx(kept_neighbors(part.X_held_out, part.X, new[:, :k], Z[:, :k]))
    assert found["OPLS", 2, "1"] < found["OPLS", 5, "1"] < 1
    assert score(RAW, part, replace(measures, kept=True)).kept["all features", None, "1"] == pytest.approx(1.0)
    assert scores.predicts and score(scores, part, replace(measures, kept=True)).kept == {}
