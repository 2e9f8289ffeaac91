"""The rivals that a search left out are compared on its rows, folds and sizes (docs/results/search_rivals.py)."""

import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from proxembed.data import digits
from proxembed.evaluate.arms import ALL_FEATURES, rival_arms
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import summarise
from proxembed.splits.splits import Splitting, standard_split
from proxembed.workflow.plan import drawn_part

sys.path.append(str(Path(__file__).resolve().parents[1] / "docs" / "results"))
import search_rivals  # noqa: E402


@pytest.fixture(scope="module")
def data():
    rows = np.arange(180)
    return replace(digits().take(rows), train_idx=rows[:120], test_idx=rows[120:])


@pytest.fixture(scope="module")
def record(data):
    """What a search on 90 of the 120 training rows records of its comparison, without a rival of the README."""
    part = drawn_part(standard_split(data), 90, None, seed=3)
    taken = {ALL_FEATURES, "label scores"}
    protocol = Protocol(
        tuple(arm for arm in rival_arms(data.X, data.targets, seed=3) if arm.name in taken),
        (2, 5),
        splitting=Splitting(n_folds=2, seed=4),
        standard=True,
        seed=3,
        train_rows=part.train,
    )
    return {"summary": summarise(run(protocol, data), data)}


def test_the_rows_of_the_search_are_compared_again(data, record):
    board = search_rivals.compare_left_out(data, record, ["forest proximity", "label scores"])
    assert {entry["arm"] for entry in board} == {ALL_FEATURES, "label scores", "forest proximity"}
    search_rivals.check_same_rows(board, record["summary"]["leaderboard"])
    then, now = (
        {
            (row["k"], row["measure"]): row["test"]
            for row in search_rivals.lines("s", entries)
            if row["arm"] != "forest proximity"
        }
        for entries in (record["summary"]["leaderboard"], board)
    )
    assert now == then, "a rival that the search has compared has the same values"
    rows = search_rivals.lines("s", board)
    assert {(row["arm"], row["k"], row["measure"]) for row in rows} == {
        (arm, k, measure)
        for arm in ("label scores", "forest proximity")
        for k in (2, 5)
        for measure in search_rivals.MEASURES
    }
    assert set(rows[0]) == set(search_rivals.COLUMNS)


def test_other_rows_are_noticed(data, record):
    other = deepcopy(record)
    other["summary"]["protocol"]["seed"] = 5
    board = search_rivals.compare_left_out(data, other, ["label scores"])
    with pytest.raises(SystemExit, match="all features have other values on the test rows than in the search"):
        search_rivals.check_same_rows(board, record["summary"]["leaderboard"])


def test_a_rival_with_one_of_its_arms_in_the_search_is_not_left_out():
    compared = [ALL_FEATURES, "label lookup", "forest proximity", "OPLS"]
    record = {"summary": {"protocol": {"arms": compared}}}
    assert search_rivals.left_out(record) == ["logistic regression", "label scores", "supervised UMAP"]
