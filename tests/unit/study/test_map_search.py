"""EmbeddingSearch(layouts=True): maps among the candidates, on the same folds, in the budget held back for them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from proxembed import MDDM, OPLS, ClassicalMDS, EmbeddingSearch, Kernelized, Layout
from proxembed.estimator.catalogue import title_of
from proxembed.evaluate.costs import fit_work
from proxembed.evaluate.part import make_part
from proxembed.measures.measures import MEASURES
from proxembed.report.views import trials_view
from proxembed.splits.splits import Split, StratifiedFolds, as_splits
from proxembed.study import method_strategies
from proxembed.study.candidates import ANCHORS, candidates
from proxembed.study.method_strategies import WEIGHTS, final_share, layouts_of_best
from proxembed.study.trials import FoldParts, FoldScores, MethodTrial, Rung, Scores, Study, chosen, finalists
from proxembed.targets.labels import LabelMatrix
from runs import short_layouts

__all__ = ["short_layouts"]  # a fixture


@pytest.fixture(scope="module")
def groups():
    """160 rows of eight groups: two components show some of them, the layout of all components every one."""
    group = np.arange(160) % 8
    return 6 * np.eye(8)[group] + np.random.default_rng(0).normal(size=(160, 8)), group


@pytest.fixture(autouse=True)
def one_weight(monkeypatch):
    """Of the features on a map, so that each method is laid out once."""
    monkeypatch.setattr(method_strategies, "WEIGHTS", (None,))


def test_a_map_is_chosen_among_planes_and_layouts_on_the_same_folds(groups, monkeypatch):
    monkeypatch.setattr(method_strategies, "optuna_installed", lambda: False)  # the second trial is a drawn one
    X, group = groups
    options = {"n_components": [5], "max_trials": 2, "cv": 2, "measure": "Jaccard@10", "max_seconds": None}
    found = EmbeddingSearch("opls", layouts=True, **options).fit(X, group)
    trials = {trial["method"]: trial for trial in found.trials_}
    assert set(trials) == {"OPLS", "ReadoutAxes(OPLS)", "Layout(OPLS)", "Layout(ReadoutAxes(OPLS))"}
    assert found.transform(X).shape == (160, 2) and found.best_params_["method"].startswith("Layout(")
    assert list(trials["Layout(OPLS)"]["scores"]) == [2] and list(trials["OPLS"]["scores"]) == [2, 5]
    assert found.best_score_ == max(trial["scores"][2] for trial in found.trials_)
    assert all(method.n_components == 2 for method in found.leaders_)
    values = []
    for split in as_splits(StratifiedFolds(2, random_state=0), X, group):
        part = make_part(X, LabelMatrix.of(group), split.train, split.held_out, "standard")
        layout = Layout(OPLS(), random_state=0).fit(part.X, group[split.train])
        near = (
            NearestNeighbors(n_neighbors=10).fit(layout.transform(part.X)).kneighbors(layout.transform(part.X_held_out))
        )
        values.append(np.mean(group[split.train][near[1]] == group[split.held_out][:, None]))
    assert trials["Layout(OPLS)"]["score"] == pytest.approx(np.mean(values), abs=0.02)


def test_layouts_stay_in_the_part_of_the_budget_that_is_held_back_for_them(groups):
    options = {"max_work": 1.0, "max_seconds": None, "max_trials": None, "cv": 2, "measure": "Jaccard@10"}
    found = EmbeddingSearch(["opls", "mddm"], layouts=True, refit=False, **options).fit(*groups)
    assert found.work_ <= 1 and any(t["complete"] for t in found.trials_ if t["method"].startswith("Layout("))


def test_what_is_laid_out(groups, monkeypatch):
    """The anchors of maps, however they score, and the best of others: all components of what learns from labels, the
    best size of what does not; all at the first weight of the features, then at the others."""
    monkeypatch.setattr(method_strategies, "WEIGHTS", WEIGHTS)
    X, group = groups
    labels = LabelMatrix.of(group)
    splits = [Split(str(i), np.arange(80) + 80 * i, np.arange(80) + 80 * (1 - i)) for i in (0, 1)]
    folds = FoldParts(X, labels, splits, "standard")
    scores = FoldScores(folds, 160, (2, 5), MEASURES["Jaccard@10"], layouts=True)
    study = Study(scores)

    def enter(config, value):
        trial = study.entered[value] = scores.trial(config, 0)
        trial.outcomes = {(80, fold): Scores({2: value - 0.1, 5: value}, 0.0) for fold in (0, 1)}

    def shown():
        return [(title_of(layout), layout.features) for layout in layouts_of_best(study)]

    for config, value in (
        (OPLS(), 0.5),
        (MDDM(), 0.6),
        (ClassicalMDS(), 0.7),
        (Kernelized(), 0.1),
        (Kernelized(ridge=3.0), 0.2),
        (Layout(OPLS()), 0.9),
    ):
        enter(config, value)
    names = ("Kernelized(OPLS)", "ClassicalMDS", "MDDM")
    tried = [(f"Layout({name})", weight) for weight in (None, 0.5, 0.0) for name in names]
    assert shown() == [each for each in tried if each[1] is None or "ClassicalMDS" not in each[0]]
    assert [layout.method.n_components for layout in layouts_of_best(study)] == [None, 5, *[None] * 5]
    for number, each in enumerate(candidates(ANCHORS)):
        enter(each.default(), number / 1000)
    anchors = ("TargetSpace", "Kernelized(OPLS)", "ReadoutAxes(Views(Kernelized(OPLS)))", "ForestLeaves(OPLS)")
    assert shown() == [
        *((f"Layout({name})", None) for name in (*anchors, "ClassicalMDS")),
        *((f"Layout({name})", weight) for weight in (0.5, 0.0) for name in anchors),
    ]
    study.work = 1e-3
    each = [scores.work(layout, step) for layout in layouts_of_best(study) for step in scores.final.steps]
    assert final_share(study) == pytest.approx(sum(each)), "draws leave the work of all maps, whatever it is"


def test_a_further_weight_costs_the_layout_alone_and_takes_the_fit_of_the_first(groups, monkeypatch):
    """Nine rows are placed by their principal scores, so that no layout amplifies rounding."""
    X, group = groups
    labels, fits = LabelMatrix.of(group % 2), []
    splits = [Split("0", np.arange(9), np.arange(5, 40))]
    for kind in (np.float64, np.float32):
        folds = FoldParts(
            sp.csr_array(X.astype(kind)) if kind is np.float64 else X.astype(kind), labels, splits, "none"
        )
        scores = FoldScores(folds, 40, (2,), MEASURES["Jaccard@10"], layouts=True)
        part = folds.part(0)
        with monkeypatch.context() as patched:
            patched.setattr(OPLS, "fit", lambda self, X, y, fit=OPLS.fit: fits.append(len(fits)) or fit(self, X, y))
            found = [scores.evaluate(Layout(OPLS(), features=w), (9, 0)) for w in (None, 0.5, 0.0)]
        for each, weight in zip(found, (None, 0.5, 0.0), strict=True):
            layout = Layout(OPLS(), features=weight).fit(part.X, part.labels)
            kept = part.kept_share(layout.transform(part.X), layout.transform(part.X_held_out))
            assert list(each.kept.values()) == [pytest.approx(kept, abs=1e-12)]
    assert len(fits) == 2, "one fit of each part"
    first, later = (scores.work(Layout(OPLS(), features=w), (9, 0)) for w in (None, 0.5))
    assert first - later == pytest.approx(fit_work(OPLS(), folds.shape(0)[0]))


def test_finalists_come_in_the_order_of_the_best_of_each_family():
    rung = Rung(10, (0,))
    scored = [("A", 0.9), ("B", 0.8), ("C", 0.7), ("A", 0.6), ("B", 0.5)]
    made = {"rungs": (rung,), "final": rung}
    trials = [MethodTrial(OPLS(), title, {(10, 0): Scores({2: s}, 0.0)}, **made) for title, s in scored]
    assert [(t.title, t.score) for t in finalists(reversed(trials))] == [scored[i] for i in (0, 1, 2, 3, 4)]


def test_a_layout_of_the_final_folds_tells_of_its_scores_there(groups):
    X, group = groups
    options = {"max_trials": 1, "cv": 2, "final_cv": 2, "measure": "Jaccard@10", "max_seconds": None, "refit": False}
    found = EmbeddingSearch("opls", n_components=[5], layouts=True, **options).fit(X, group)
    assert found.final_ and found.n_choice_folds_ == 2 and found.n_chosen_from_ == 2
    plane, layout = found.trials_
    assert plane["complete"] and list(plane["final"]) == [2, 5] and not layout["complete"]
    assert layout["final"] == layout["scores"] == {2: layout["score"]} and layout["k"] == 2 and layout["score"] > 0.5
    shown = {row["method"]: (row["k"], row["score"]) for row in trials_view({"trials": found.trials_})}
    assert shown == {"OPLS": (5, plane["final"][5]), "Layout(OPLS)": (2, layout["score"])}


def test_a_map_at_three_components_is_refused_with_the_size_that_it_has(groups):
    X, group = groups
    Y = np.stack([group < 4, group % 2 == 0], axis=1).astype(int)
    with pytest.raises(ValueError, match="fewer components than any n_components asked for; add a smaller number"):
        EmbeddingSearch(["layout"], n_components=3, max_trials=1, max_seconds=None).fit(X, Y)


def test_of_layouts_within_a_standard_error_the_one_that_keeps_most_is_chosen():
    rung = Rung(10, (0, 1, 2))

    def trial(config, values, share):
        scores = [Scores({2: value}, kept={("map", 2, ""): share}) for value in values]
        outcomes = dict(zip(rung.steps, scores, strict=True))
        return MethodTrial(config, title_of(config), outcomes, rungs=(rung,), final=rung)

    best = trial(Layout(OPLS(), features=0), (0.60, 0.50, 0.61), 0.1)
    near = trial(Layout(OPLS(), features=0.5), (0.55, 0.55, 0.55), 0.3)
    behind = trial(Layout(OPLS()), (0.50, 0.40, 0.51), 0.4)
    plane = trial(OPLS(), (0.56, 0.55, 0.55), 0.9)
    kept = chosen([best, near, behind, plane], 2)
    assert kept.trial is near and kept.mean == pytest.approx(0.55) and kept.anchored
    assert chosen([best, near, behind, plane]).trial is best, "of maps alone"
    ahead = trial(OPLS(ridge=1.0), (0.70, 0.70, 0.71), 0.0)
    assert chosen([best, near, ahead], 2).trial is ahead, "a plane that leads is no layout"
    # without each fold: without the first or last best, near and plane are close; without the second best is ahead
    assert list(kept.repeated) == [0.55, 0.50, 0.55]
