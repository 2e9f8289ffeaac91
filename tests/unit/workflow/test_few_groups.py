"""Rows of few groups: as many folds as there are groups, and no verdict where two groups leave no test rows."""

import numpy as np
import pytest

import proxembed
from proxembed import OPLS
from proxembed.splits.splits import fold_limit
from proxembed.workflow.labelled_data import labelled_data, with_test_rows
from proxembed.workflow.one_fit import diagnose_method

N = 80
CHEAP = {"max_work": 1.5, "shuffles": 0, "methods": "opls"}


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    return X, np.where(X[:, 0] + 0.4 * rng.normal(size=N) > 0, "u", "v")


def words(found):
    return {goal["word"] for goal in found.verdict["goals"].values()}


def test_a_search_on_four_groups_has_a_fold_for_each_that_is_not_tested():
    found = proxembed.search(*rows(), groups=np.arange(N) % 4, **CHEAP)
    assert found.record["summary"]["folds"] == ["1", "2", "3"] and found.verdict["basis"] == "test rows"
    assert words(found) == {"cannot tell"}
    told = {goal["few"] for goal in found.verdict["goals"].values()}
    assert told == {"1 group of scored rows is too few to tell, at least 5 are needed"}


def test_a_search_on_two_groups_has_two_folds_and_cannot_tell():
    found = proxembed.search(*rows(), groups=np.arange(N) % 2, **CHEAP)
    assert found.record["summary"]["folds"] == ["1", "2"] and words(found) == {"cannot tell"}
    assert found.model.transform(rows()[0]).shape[0] == N
    assert any("2 groups" in note for note in found.record["summary"]["dataset"]["notes"])


@pytest.mark.parametrize("groups", [2, 4])
def test_a_comparison_of_few_groups_cannot_tell(groups):
    found = proxembed.compare(*rows(), groups=np.arange(N) % groups, methods="opls", n_components=1)
    assert len(found.record["summary"]["folds"]) == groups and words(found) == {"cannot tell"}
    assert f"{groups} groups of scored rows are too few to tell" in found.verdict["goals"]["predict"]["sentence"]


def test_a_comparison_of_five_groups_can_tell():
    found = proxembed.compare(*rows(), groups=np.arange(N) % 5, methods="opls", n_components=1)
    assert words(found) != {"cannot tell"} and found.verdict["goals"]["predict"]["few"] is None


def test_a_diagnosis_of_few_groups():
    X, y = rows()
    inside, whole = (
        diagnose_method(labelled_data(X, y, groups=groups), OPLS(), n_shuffles=19, n_resamples=2)["verdict"]
        for groups in (np.arange(N) % 3, 2 * (X[:, 0] > 0) + (y == "u"))
    )
    assert inside.startswith("Better than shuffled labels")  # labels vary in each group
    assert whole.startswith("Cannot tell: ") and whole.endswith("shuffles are possible of whole groups; 20 are needed.")


@pytest.mark.parametrize("job", [proxembed.search, proxembed.compare])
def test_one_group_is_refused(job):
    with pytest.raises(ValueError, match="the rows are of 1 group"):
        job(*rows(), groups=np.zeros(N, dtype=int), methods="opls")


@pytest.mark.parametrize(("groups", "train"), [(3, 2), (4, 3), (5, 4), (6, 5)])
def test_folds_of_groups_outside_the_test_rows(groups, train):
    data, split = with_test_rows(labelled_data(*rows(), groups=np.arange(N) % groups), 0)
    assert fold_limit(data, 5, split.train) == train and fold_limit(data, 2, split.train) == 2


def test_a_search_whose_training_rows_share_no_group():
    groups = np.arange(N)
    groups[N - 1] = 0
    X, y = rows()
    found = proxembed.search(X, y, groups=groups, test=[0, N - 1, *range(1, N, 4)], **CHEAP)
    assert found.model.transform(X).shape[0] == N
