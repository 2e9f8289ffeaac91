"""The choice among the leaders of a search: its folds and those of the comparison count together."""

from types import SimpleNamespace

import numpy as np
import pytest

from proxembed import MVMD, OPLS, PCA, ForestLeaves, Kernelized, Layout, ReadoutAxes, TargetSpace
from proxembed.splits.splits import Split
from proxembed.workflow.engines import SearchFindings, compared_leaders, near_measures, run_engine
from proxembed.workflow.labelled_data import labelled_data
from proxembed.workflow.options import SearchOptions

NAME = "macro average precision (ridge)"
SEARCHED = {"method": "OPLS", "k": 2, "mean": 0.71, "score": 0.68, "anchored": False, "configurations": 40, "folds": 5}


def entry(arm: str, k: int, by_fold: list[float], failures: tuple = ()) -> dict:
    return {"arm": arm, "k": k, "components": k, "failures": list(failures), "scores": {NAME: {"by_fold": by_fold}}}


def found(**more) -> SearchFindings:
    by_fold = {("OPLS", 2): [0.70, 0.71, 0.72, 0.71, 0.71], ("OPLS", 5): [0.70, 0.70, 0.72, 0.71, 0.71]}
    given = {"choice": SEARCHED, "by_fold": {key: np.array(own) for key, own in by_fold.items()}}
    leaders = (("OPLS", OPLS(n_components=2)),)
    return SearchFindings(leaders, [], 0.0, **given | {"repeated": np.full(5, 0.68)} | more)


def test_folds_of_the_comparison_overturn_what_those_of_the_search_hardly_tell():
    entries = [entry("OPLS", 5, [0.69, 0.66, 0.68]), entry("OPLS", 2, [0.60, 0.61, 0.62])]
    choice = found().choose(entries, NAME)
    assert (choice["method"], choice["k"], choice["folds"], choice["configurations"]) == ("OPLS", 5, 8, 40)
    assert choice["mean"] == pytest.approx(np.mean([0.70, 0.70, 0.72, 0.71, 0.71, 0.69, 0.66, 0.68]))
    # five folds on which the choice was among all forty, and three on which it is between two sizes
    assert choice["score"] == pytest.approx((5 * 0.68 + 0.69 + 0.66 + 0.68) / 8)


def test_the_choice_of_the_search_stays_where_the_comparison_says_the_same():
    entries = [entry("OPLS", 2, [0.69, 0.66, 0.68]), entry("OPLS", 5, [0.69, 0.66, 0.68])]
    assert found().choose(entries, NAME)["k"] == 2


def test_sizes_that_the_search_has_not_scored_are_no_candidates():
    entries = [entry("OPLS", 10, [0.9, 0.9, 0.9]), entry("OPLS", 2, [0.6, 0.6, 0.6])]
    assert found().choose(entries, NAME)["k"] == 2
    assert found().choose(entries[:1], NAME) == SEARCHED
    assert found(choice=None).choose(entries, NAME)["k"] == 10


def test_arms_that_fail_in_the_comparison_are_left():
    entries = [entry("OPLS", 5, [0.9, 0.9, 0.9], ("too few rows",)), entry("OPLS", 2, [0.6, 0.6, 0.6])]
    assert found().choose(entries, NAME)["k"] == 2


def test_the_untuned_kernel_form_is_kept_unless_more_than_a_standard_error_ahead():
    leaders = (("OPLS", OPLS(n_components=2)), ("Kernelized(OPLS)", Kernelized(n_components=2)))
    by_fold = {("OPLS", 2): np.array([0.5, 0.9]), ("Kernelized(OPLS)", 2): np.array([0.7, 0.6])}
    entries = [entry("OPLS", 2, [0.7, 0.7]), entry("Kernelized(OPLS)", 2, [0.7, 0.7])]
    choice = SearchFindings(leaders, [], 0.0, choice=SEARCHED, by_fold=by_fold).choose(entries, NAME)
    assert (choice["method"], choice["anchored"]) == ("Kernelized(OPLS)", True)


def test_of_layouts_that_are_not_behind_the_one_that_keeps_most_is_chosen():
    leaders = tuple((f"Layout({name})", Layout(method)) for name, method in (("OPLS", OPLS()), ("PCA", PCA())))
    by_fold = {(name, 2): np.array(values) for (name, _), values in zip(leaders, ([0.7, 0.9], [0.8, 0.7]), strict=True)}
    searched = SearchFindings(leaders, [], 0.0, choice=SEARCHED, by_fold=by_fold)
    entries = [entry(name, 2, [0.7]) | {"kept": {"by_fold": [0.2 + (name == "Layout(PCA)")]}} for name, _ in leaders]
    assert searched.choose(entries, NAME)["method"] == "Layout(PCA)"
    entries[1]["kept"] = None
    assert searched.choose(entries, NAME)["method"] == "Layout(OPLS)"


def test_a_loss_keeps_its_sign():
    name = "Hamming loss (ridge)"
    entries = [entry("OPLS", 2, [0.3, 0.3, 0.3]), entry("OPLS", 5, [0.1, 0.1, 0.1])]
    for each in entries:
        each["scores"] = {name: each["scores"][NAME]}
    by_fold = {("OPLS", 2): np.array([-0.2, -0.2]), ("OPLS", 5): np.array([-0.2, -0.21])}
    choice = found(by_fold=by_fold, repeated=np.array([-0.2, -0.2])).choose(entries, name)
    assert choice["k"] == 5
    assert choice["mean"] == pytest.approx((0.2 + 0.21 + 0.3) / 5)
    assert choice["score"] == pytest.approx((0.2 + 0.2 + 0.3) / 5)


@pytest.mark.parametrize("numbers", [False, True])
def test_a_search_without_a_goal_has_a_leader_for_neighbours(numbers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    Y = X[:, :3] + 0.5 * rng.normal(size=(90, 3))
    data = labelled_data(X, Y if numbers else (Y > 0.3).astype(np.uint8))
    split = Split("test", np.arange(70), np.arange(70, 90))
    given = {"methods": ("opls", "pca", "pls"), "n_components": (2, 3), "max_trials": 3, "max_seconds": None}
    name = "A@10" if numbers else "Jaccard@10"
    for asked in ({}, {"goal": "predict"}, {"measure": name}):
        options = SearchOptions(**given, **asked)
        found = run_engine(options, data, split, None)
        assert bool(found.near_by_fold) == (not asked) == bool(found.further_sizes)
        assert near_measures(options, data) == (() if asked else (name,))
    found = run_engine(SearchOptions(**given), data, split, None)
    near = {key: values.mean() for key, values in found.near_by_fold.items()}
    assert set(near) == set(found.by_fold) and {k for _, k in near} == {2, 3}
    best = max(near, key=near.__getitem__)
    assert best[0] in [leader for leader, _ in found.leaders] and best[1] in found.sizes


def test_a_fourth_leader_is_compared_where_it_shares_the_fit_of_one_of_three():
    leaves = ForestLeaves(OPLS(), n_components=6)
    three = [leaves, Kernelized(OPLS(), n_components=5), TargetSpace(n_components=6)]
    plane = ReadoutAxes(ForestLeaves(OPLS()), n_components=2)
    others = [ReadoutAxes(ForestLeaves(OPLS(), n_estimators=50), n_components=2), PCA(n_components=2)]
    for fourth, taken in ((plane, True), *((each, False) for each in others)):
        study = SimpleNamespace(leaders_=[*three, fourth, MVMD()], further_leaders_=[three[1], fourth])
        assert compared_leaders(study) == three + [fourth] * taken
    unasked = SimpleNamespace(leaders_=[*three, plane], further_leaders_=[three[1]])
    assert compared_leaders(unasked) == three
