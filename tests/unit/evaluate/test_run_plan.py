"""What a plan may ask of the protocol: some rows, some decisions, no logistic regression, a deadline."""

from dataclasses import replace

import numpy as np
import pytest

from clocks import set_clock
from proxembed import OPLS
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.run import Protocol, run
from proxembed.splits.splits import Splitting
from unit.evaluate.test_run_parallel import in_this_process  # noqa: F401

ARMS = (Arm("all features", None, rival=True), Arm("OPLS", OPLS()), Arm("shorter", OPLS(ridge=0.1)))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(200, 3)) > 0.3).astype(np.uint8)
    return Dataset(X=X, Y=Y, train_idx=np.arange(140), test_idx=np.arange(140, 200))


@pytest.fixture(scope="module")
def protocol():
    return Protocol(ARMS, (2,), splitting=Splitting(n_folds=5), standard=True)


def measures(results, arm):
    return {(row["fold"] == "test", row["measure"], row["readout"]) for row in results.rows if row["arm"] == arm}


def test_decisions_of_some_arms_are_left_out_and_their_other_figures_stay(data, protocol):
    whole, some = run(protocol, data), run(replace(protocol, decided=("all features", "OPLS")), data)
    for arm in ("all features", "OPLS"):
        assert measures(some, arm) == measures(whole, arm)
    left = {name for _, name, _ in measures(some, "shorter")}
    assert left == {name for name, _ in protocol.measures} and "macro F1" in {
        n for _, n, _ in measures(whole, "shorter")
    }
    kept = [
        [(r["fold"], r["value"]) for r in found.rows if r["arm"] == "shorter" and r["measure"] in left]
        for found in (whole, some)
    ]
    assert kept[0] == kept[1]


def test_rows_that_do_not_take_part_are_on_no_side(data, protocol):
    train, test = np.arange(0, 140, 2), np.arange(140, 200, 3)
    found = run(replace(protocol, train_rows=train, test_rows=test), data)
    assert found.folds["test"] == {"train": 70, "held_out": 20} and np.array_equal(found.held_out["test"], test)
    folds = np.concatenate([rows for name, rows in found.held_out.items() if name != "test"])
    assert np.array_equal(np.sort(folds), train)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_after_the_deadline_two_folds_and_the_test_rows_are_whole(data, protocol, monkeypatch, in_this_process, n_jobs):  # noqa: F811
    set_clock(monkeypatch)
    late = replace(protocol, deadline=-1.0, n_jobs=n_jobs)
    found, whole = run(late, data), run(protocol, data)
    assert {"1", "2", "test"} <= set(found.folds) and len(found.folds) < len(whole.folds) and not found.interrupted
    for fold in ("1", "test"):
        values = [[row["value"] for row in each.rows if row["fold"] == fold] for each in (found, whole)]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-9)
