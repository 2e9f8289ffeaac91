"""Budgets of one fit, one diagnosis and one map: what is cut, in which order, and what is refused."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from proxembed import OPLS, Kernelized, Layout
from proxembed.data import Dataset
from proxembed.evaluate.arms import Arm
from proxembed.evaluate.costs import Shape
from proxembed.splits.splits import Split
from proxembed.workflow import budget as module
from proxembed.workflow.budget import Budget, check_fit, counted_arms, cut_diagnosis, cut_map, maps_work
from proxembed.workflow.one_fit import diagnose_method, draw_map, fit_and_save
from proxembed.workflow.options import OptionError

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(12_000, 3))
DATA = Dataset(FEATURES, (FEATURES[:, :2] > 0).astype(np.uint8))
SPLIT = Split("made", np.arange(9000), np.arange(9000, 12_000))


def fit_work(estimator, shape):
    """A unit a thousand rows, of kernels one more a hundred prototypes; maps as their methods."""
    estimator = estimator.method if isinstance(estimator, Layout) else estimator
    prototypes = estimator.n_prototypes or shape.n if isinstance(estimator, Kernelized) else 0
    return shape.n / 1000 + prototypes / 100


@pytest.fixture(autouse=True)
def forecasts(monkeypatch):
    """Forecasts that a test can add up: fits alone."""
    monkeypatch.setattr(module, "fit_work", fit_work)
    monkeypatch.setattr("proxembed.workflow.plan.machine_speed", lambda: 2.0)
    for name in ("last_work", "all_features_work", "readout_work", "layout_work", "step_work"):
        monkeypatch.setattr(module, name, lambda *given: 0.0)


def test_seconds_are_work_by_the_speed_and_work_goes_before_seconds():
    assert [Budget.of(3.0).has_room(work) for work in (6.0, 6.1)] == [True, False]
    assert Budget.of(3.0, 5.0) == Budget(5.0, 1.0, "--max-work")
    assert Budget.of().asked == Budget.of(inf).asked == inf
    with pytest.raises(OptionError, match="max_seconds=0 is not above 0"):
        Budget.of(0)
    assert Budget.of(60.0).forecast(468.0) == "forecast 234 of 60 s" and Budget.of(60.0).larger(468.0).endswith(" 240")


@pytest.mark.parametrize(("labels", "work", "counted"), [
    (1, 40.0, ("OPLS", "kernels")), (1, 11.2, ("OPLS",)), (1, 10.8, ()), (3, 11.2, ("OPLS",)), (4, 40.0, ()),
])  # fmt: skip
def test_decisions_of_few_labels_are_counted_of_the_cheapest_arms_that_fit(monkeypatch, labels, work, counted):
    monkeypatch.setattr(module, "decision_work", lambda *given: 0.0)
    plan = SimpleNamespace(shape=Shape(2000, 3, 3, labels), phases={"search": 4.0, "last fit and page": 1.0}, work=work)
    plan.refits = lambda method: 3
    arms = Arm("kernels", Kernelized(OPLS(), n_prototypes=100)), Arm("OPLS", OPLS())
    assert counted_arms(plan, arms, 2000) == counted


@pytest.mark.parametrize(
    ("method", "seconds", "remedies"),
    [
        (Kernelized(), 60, "--set n_prototypes=1000 or --max-seconds 200"),  # (132 + 3 (8 + 80)) / 2 = 198 s
        (Kernelized(n_prototypes=1000), 24, "--set n_prototypes=250 or --max-seconds 38"),
        (Kernelized(n_prototypes=250), 20, "-m opls or --max-seconds 23"),
        (OPLS(), 10, "--max-seconds 18"),
    ],
)
def test_a_fit_above_the_budget_is_refused_with_what_would_fit(method, seconds, remedies):
    with pytest.raises(ValueError, match=rf"^forecast \d+ of {seconds} s: use {remedies}\.$"):
        check_fit(Budget.of(seconds), method, DATA)
    check_fit(Budget.of(200), method, DATA)


def test_nothing_is_written_of_a_fit_that_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--max-work 36"):
        fit_and_save(DATA, OPLS(), tmp_path / "m.skops", "proxembed fit", max_work=30)
    assert list(tmp_path.iterdir()) == []


def test_a_diagnosis_loses_shuffles_down_to_19_and_then_rows():
    def cut(work, shuffles=40):
        options = {"n_shuffles": shuffles, "n_resamples": 2, "covariates": {"depth": FEATURES[:, 0]}}
        return cut_diagnosis(Budget.of(max_work=work), OPLS(), DATA, 3, options)

    # 3 folds of 8,000 rows, all rows, two halves: 48; and 24 a shuffle
    assert cut(48 + 40 * 24)[1]["n_shuffles"] == 40 and cut(48 + 40 * 24)[2] == []
    assert cut(48 + 30 * 24)[2] == ["30 shuffles instead of 40"]
    data, options, lines = cut(48 + 19 * 24 - 1)
    assert lines == ["19 shuffles instead of 40", "8,000 of 12,000 rows"] and data.X.shape == (8000, 3)
    assert options["n_shuffles"] == 19 and options["covariates"]["depth"].tolist() == data.X[:, 0].tolist()
    assert cut(48, shuffles=5)[2] == ["3,000 of 12,000 rows"]
    assert cut(1)[2][1:] == [
        "500 of 12,000 rows",
        "forecast 21 of 1 units of work (seconds of one core); the cheapest job is done all the same, --max-work 22 "
        "has room for it",
    ]


def test_a_map_loses_its_honest_form_then_its_method_then_rows_and_a_named_method_stays():
    def cut(work, method=None, free=True):
        found = cut_map(Budget.of(max_work=work), Layout(method or Kernelized()), DATA, SPLIT, free=free)
        assert found.honest == ("no honest map" not in found.lines)
        return repr(found.layout.method), len(found.split.train), found.lines

    few = "Kernelized(OPLS) with 250 prototypes in place of Kernelized(OPLS)"
    assert cut(396) == ("Kernelized()", 9000, [])  # 4 (9 + 90)
    assert cut(198) == ("Kernelized()", 9000, ["no honest map"])
    assert cut(40)[1:] == (9000, ["no honest map", few.replace("250", "1,000")])
    assert cut(25)[1:] == (9000, ["no honest map", few])
    assert cut(20) == ("OPLS()", 9000, ["no honest map", "OPLS in place of Kernelized(OPLS)"])
    assert cut(15.5)[1:] == (5000, ["no honest map", few, "5,000 of 9,000 training rows"])
    assert cut(35, OPLS(), free=False) == ("OPLS()", 9000, ["no honest map"])
    assert cut(17, OPLS(), free=False) == ("OPLS()", 8000, ["no honest map", "8,000 of 9,000 training rows"])
    assert cut(0.9, OPLS(), free=False)[2][2].endswith("--max-work 1 has room for it")


def test_the_maps_of_either_part_and_the_neighbours_in_the_features_are_forecast(monkeypatch):
    parts = {"layout_work": 100.0, "step_work": 10.0, "readout_work": 1.0}
    for name, value in parts.items():
        monkeypatch.setattr(module, name, lambda *given, value=value: value)
    shape = Shape(9000, 3, 3, 2)
    for honest, pairs in ((False, 3), (True, 4)):
        fits = 9.0 * (4 if honest else 2)
        assert maps_work(Layout(OPLS()), shape, 3000, honest) == fits + 3 * 100 + 2 * 10 + 2 * pairs
        assert maps_work(Layout(OPLS(), features=0), shape, 3000, honest) == fits + 2 * 10 + 2 * (pairs - 2)


def test_figures_say_what_was_cut(monkeypatch):
    monkeypatch.setattr(module, "LESS_ROWS", (60,))
    few = DATA.take(np.arange(80))
    found = diagnose_method(few, OPLS(), max_work=0.4, n_shuffles=1, n_resamples=1)
    assert found["cuts"] == ["60 of 80 rows"] and (found["n"], found["n_all"]) == (60, 80)
    record = draw_map(few, layout="components", max_work=0.12)
    assert record["cuts"] == ["no honest map", "OPLS in place of Kernelized(OPLS)"]
    assert record["title"] == "OPLS" and record["train"] == 60
