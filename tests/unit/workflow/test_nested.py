"""Nested folds: every row is scored by choices that were made without it, each once in every repeat."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import proxembed
from proxembed.evaluate.results import SAME_ROWS, TEST
from proxembed.workflow import nested
from proxembed.workflow.engines import SearchFindings
from proxembed.workflow.labelled_data import labelled_data, with_test_rows
from proxembed.workflow.nested import CHOICE, NEAR, Choice, at_largest_size, choice_at, outer_counts, outer_splits
from proxembed.workflow.options import SearchOptions
from proxembed.workflow.plan import make_plan
from runs import quick_runs

N = 80
ASKED = {"methods": "opls", "n_components": [1, 2], "max_trials": 2, "max_seconds": None, "shuffles": 0, "folds": 2}


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, :2] + 0.7 * rng.normal(size=(n, 2)) > 0).astype(np.uint8)


@pytest.fixture(autouse=True)
def nested_folds(quick, monkeypatch):
    monkeypatch.setattr(nested, "BELOW", 500)


@pytest.fixture(scope="module")
def found():
    with quick_runs() as patch:
        patch.setattr(nested, "BELOW", 500)
        return proxembed.search(*rows(), **ASKED)


def test_every_row_is_held_out_once_in_every_repeat(found):
    results = found.results
    assert [len(names) for names in results.repeats] == [5, 5] and TEST not in results.folds
    for names in results.repeats:
        assert np.array_equal(np.sort(np.concatenate([results.held_out[name] for name in names])), np.arange(N))
    arms = {(arm, k) for arm, k, _ in results.predictions}
    assert {(CHOICE, None), (CHOICE, 1), (CHOICE, 2), ("all features", None)} <= arms
    assert all(len([key for key in results.predictions if key[:2] == arm]) == 10 for arm in arms)


def test_figures_are_those_of_all_rows_and_the_text_says_so(found):
    goal, summary = found.verdict["goals"]["predict"], found.record["summary"]
    assert found.verdict["basis"] == "nested folds" and goal["rows"] == N and goal["arm"] == CHOICE
    entry = next(each for each in summary["leaderboard"] if (each["arm"], each["k"]) == (CHOICE, None))
    assert goal["value"] == entry["scores"][summary["measures"][0]]["test"]
    assert sum(times for *_, times in summary["nested"]["chosen"]) == 10
    told = "On 80 rows, each held out twice: in 10 nested folds the whole choice was made anew"
    assert found.verdict["note"].startswith(told)
    page = found.report()
    assert "Shown is the first of 10 nested folds" in page and "on the test rows" not in page
    assert found.name == "OPLS" and found.fitted_on.X.shape[0] == N


def test_the_choice_has_the_values_of_what_each_fold_has_chosen(found):
    board, results = found.record["summary"]["leaderboard"], found.results
    values = {(entry["arm"], entry["k"]): entry["scores"] for entry in board}
    name = found.record["summary"]["measures"][0]
    at = {k: values[CHOICE, k][name]["by_fold"] for k in (1, 2)}
    own = values[CHOICE, None][name]["by_fold"]
    assert all(value in (at[1][i], at[2][i]) for i, value in enumerate(own))
    assert {(SAME_ROWS, None, fold) for names in results.repeats for fold in names} <= set(results.similarity)


def test_groups_are_never_divided_and_where_there_are_nested_folds():
    groups, options = np.arange(N) % 7, SearchOptions(**ASKED)
    data = labelled_data(*rows(), groups=groups)
    assert outer_counts(data, options) == (10, 5, 1)
    for split in (split for repeat in outer_splits(data, 0, 10) for split in repeat):
        assert not set(groups[split.train]) & set(groups[split.held_out])
    assert outer_counts(labelled_data(*rows(), groups=np.arange(N) % 5), options) == (5, 1)
    assert outer_counts(labelled_data(*rows(), groups=np.arange(N) % 4), options) == (1,)
    assert outer_counts(labelled_data(*rows(500)), options) == (1,)
    assert outer_counts(data, SearchOptions(engine="defc")) == (1,)


def test_a_method_is_scored_up_to_the_largest_of_its_sizes():
    method = proxembed.ReadoutAxes(proxembed.OPLS())
    choices = [Choice("A", clone(method).set_params(n_components=k), k) for k in (5, 2, 3)]
    assert at_largest_size(choices)["A"].n_components == 5


def test_more_work_never_means_fewer_nested_folds():
    data, options = labelled_data(*rows(140)), SearchOptions(max_work=1.0)
    split, counts = with_test_rows(data, 0)[1], outer_counts(data, options)
    made = [make_plan(options, data, split, (1, 2, 4), 0.0, work, counts) for work in (5, 45, 200)]
    outer = [each.cuts.outer for each in made]
    assert outer == sorted(outer) and outer[0] == 1 and outer[-1] == 10
    assert all(each.cuts.anchors is None for each in made if each.cuts.outer > 1)
    assert all(each.each_search * each.searches == pytest.approx(each.phases["search"]) for each in made)


def test_the_choice_at_one_size_is_the_best_leader_there():
    leaders = (("A", proxembed.OPLS(n_components=2)), ("B", proxembed.PCA(n_components=1)))
    by_fold = {("A", 1): np.array([0.5, 0.5]), ("B", 1): np.array([0.7, 0.6]), ("A", 2): np.array([0.9, 0.8])}
    found = SearchFindings(leaders, [], 0.0, choice={"method": "A", "k": 2}, by_fold=by_fold)
    assert choice_at(found)[::2] == ("A", 2) and choice_at(found, 2)[::2] == ("A", 2)
    assert choice_at(found, 1)[::2] == ("B", 1) and choice_at(found, 1).method.n_components == 1
    near = {("A", 1): np.array([0.4]), ("B", 1): np.array([0.3]), ("A", 2): np.array([0.1]), ("B", 2): np.array([0.2])}
    both = replace(found, near_by_fold=near)
    assert [choice_at(both, k, near=True).name for k in (1, 2)] == ["A", "B"] and choice_at(both, 2).name == "A"


def test_what_each_fold_would_choose_for_neighbours_is_scored_beside_its_choice(found, monkeypatch):
    assert NEAR not in {arm for arm, *_ in found.results.predictions}, "one method alone"

    def two(options, dataset, split, *given):
        leaders = ("A", proxembed.OPLS(n_components=2)), ("B", proxembed.MMC(n_components=2))
        by_fold, near = (
            {(name, k): np.array([v]) for name, v in own for k in (1, 2)}
            for own in ((("A", 1), ("B", 0)), (("A", 0), ("B", 1)))
        )
        choice = {"method": "A", "k": 2, "mean": 1.0, "score": None, "anchored": False, "configurations": 2, "folds": 1}
        return SearchFindings(leaders, [], 0.0, choice=choice, by_fold=by_fold, near_by_fold=near)

    monkeypatch.setattr(nested, "run_engine", two)
    both = proxembed.search(*rows(), **ASKED)
    values = {(row["arm"], row["k"], row["fold"], row["measure"]): row["value"] for row in both.results.rows}
    for k in (1, 2):
        for fold in both.results.held_out:
            assert values[NEAR, k, fold, "Jaccard@10"] == values["B", k, fold, "Jaccard@10"]
            assert values[CHOICE, k, fold, "Jaccard@10"] == values["A", k, fold, "Jaccard@10"]
    assert both.verdict["goals"]["predict"]["arm"] == CHOICE
    assert both.verdict["goals"]["neighbours"]["arm"] in (NEAR, "A", "B", CHOICE)
