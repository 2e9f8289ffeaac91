"""The plan of a search: work alone decides, cuts come in their order, the command fits its budget."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import proxembed
from clocks import set_clock
from proxembed.data import Dataset
from proxembed.evaluate import costs
from proxembed.evaluate.arms import entrants
from proxembed.execute import clock
from proxembed.execute.budget import WorkBudget
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow import main_job, plan
from proxembed.workflow.engines import run_engine
from proxembed.workflow.options import OptionError, SearchOptions
from proxembed.workflow.plan import make_plan

# The order of the specification: what comes first is cut first.
ORDER = ("shuffles", "layouts", "leading", "forest", "left_out", "share", "folds", "rows", "prototypes", "sizes")


def drawn(n=400, d=12, c=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X[:, :c] + rng.normal(size=(n, c)) > 0.8).astype(np.uint8)
    train = np.arange(n) < 0.75 * n
    return Dataset(X=X, Y=Y, train_idx=np.flatnonzero(train), test_idx=np.flatnonzero(~train))


def planned(work, n=20_000, d=100, c=50, **options):
    data = SimpleNamespace(X=SimpleNamespace(shape=(n, d)), targets=LabelMatrix.of(np.ones((1, c), int)), outputs=None)
    rows = np.arange(n)
    split = plan.Split("test", rows[: 3 * n // 4], rows[3 * n // 4 :])
    return make_plan(SearchOptions(max_work=work, **options), data, split, (2, 5, 10, 20, 50), 0.0)


def test_plenty_of_work_cuts_nothing_and_leaves_the_rest_to_the_search():
    found = planned(1e7)
    assert found.lines == [] and found.cuts.rows is None and found.cuts.folds == 5
    assert sum(found.phases.values()) == pytest.approx((1 - plan.RESERVE) * 1e7)
    assert found.phases["search"] > 0.94 * (1 - plan.RESERVE) * 1e7


def test_cuts_come_in_their_order():
    found = planned(1e7)
    steps = [
        name
        for step in plan._steps(found.cuts, found.shape, found.rivals, 5000, False)
        for name in step
        if name in ORDER
    ]
    first = list(dict.fromkeys(steps))
    assert first == [name for name in ORDER if name in first] and set(first) | {"left_out"} == set(
        ORDER
    )  # UMAP need not be installed


@pytest.mark.parametrize("work", [600.0, 300.0, 100.0])
def test_cuts_stop_where_the_rest_fits(work):
    found, whole = planned(work), planned(1e7).cuts
    assert sum(found.phases.values()) <= (1.001 - plan.RESERVE) * work
    assert found.phases["search"] >= 0.99 * found.cuts.share * work
    assert found.cuts != whole


def test_some_things_are_never_cut():
    cuts = planned(1.0).cuts
    assert cuts.folds == 3 and cuts.sizes[0] == 2 and cuts.sizes[-1] == 50
    assert cuts.rows >= 1000 and cuts.test_rows >= 1000 and cuts.forest >= 250


def test_what_is_cut_is_told_line_by_line():
    lines = planned(200.0).lines
    assert "diagnosis on 250 rows" in lines and any("3 folds instead of 5" in line for line in lines)
    assert any("of 15,000 training rows" in line for line in lines)


def test_work_alone_decides_not_the_speed_of_the_machine_nor_the_time(monkeypatch):
    one = planned(300.0)
    monkeypatch.setattr(plan, "machine_speed", lambda: 16.0)
    other = planned(300.0)
    assert one.cuts == other.cuts and one.phases == other.phases


def test_seconds_become_work_once_by_the_speed_of_the_machine(monkeypatch):
    monkeypatch.setattr(plan, "machine_speed", lambda: 4.0)
    data = drawn()
    options = SearchOptions(max_seconds=50.0)
    found = make_plan(options, data, plan.Split("test", data.train_idx, data.test_idx), (2, 5), clock.now())
    assert found.work == pytest.approx(200, rel=0.01)
    again = make_plan(SearchOptions(max_work=found.work), data, found.split, (2, 5), 0.0)
    assert again.cuts == found.cuts and again.phases == found.phases


def test_the_search_and_the_known_leaders_settle_the_rest():
    found = planned(2000.0)
    before = found.cuts
    found.settle([("OPLS", proxembed.OPLS())], found.phases["search"])
    assert found.cuts.rows == before.rows and found.cuts.prototypes == before.prototypes


def test_a_phase_must_leave_time_for_those_after_it():
    data = drawn()
    split = plan.Split("test", data.train_idx, data.test_idx)
    late = make_plan(SearchOptions(max_seconds=10.0), data, split, (2, 5), clock.now() - 100)
    assert late.leave_for("last fit and page") < -90
    assert make_plan(SearchOptions(max_work=5.0), data, split, (2, 5), 0.0).leave_for("diagnosis") == np.inf


def test_the_rows_that_take_part_are_rows_of_the_split():
    found = planned(60.0)
    part = found.taking_part()
    assert len(part.train) == found.cuts.rows and np.isin(part.train, found.split.train).all()
    assert len(np.unique(part.train)) == len(part.train) and np.isin(part.held_out, found.split.held_out).all()


@pytest.mark.parametrize("wrong", [0, -1.0, True, "much", np.inf])
def test_work_that_is_none_is_refused(wrong):
    with pytest.raises(OptionError, match="max_work"):
        SearchOptions(max_work=wrong)


def test_work_is_no_budget_of_the_adaptive_model():
    with pytest.raises(OptionError, match="max_trials"):
        SearchOptions(engine="defc", max_work=5.0)


def searched_by_work(work):
    """Trials, leaders and the work done of a search that has so much work."""
    data = drawn()
    options = SearchOptions(max_work=work, max_trials=None, methods=("opls", "cca", "mvmd", "mddm", "pls"))
    found = make_plan(options, data, plan.Split("test", data.train_idx, data.test_idx), (2, 5), 0.0)
    engine = run_engine(options, data, found.taking_part(), None, found)
    trials = [(t["method"], str(t["params"]), t["rows"], t["complete"], t["score"]) for t in engine.trials]
    return trials, [str(leader) for leader in engine.leaders], engine.work


def test_two_searches_of_one_work_are_the_same_however_much_time_they_take(monkeypatch):
    quick = searched_by_work(3.0)
    set_clock(monkeypatch, step=3600.0)
    assert len(quick[0]) >= 5 and searched_by_work(3.0) == quick and quick[2] <= 3.0


def test_a_search_ends_within_its_seconds_with_a_whole_page(monkeypatch):
    """The clock stands still: what is cut follows from the work that the seconds stand for."""
    set_clock(monkeypatch)
    monkeypatch.setattr(plan, "machine_speed", lambda: 1.0)
    found = proxembed.search(drawn(1500, 40, 12), max_seconds=3, n_components=(2, 5))
    budget = found.record["search"]["budget"]
    assert found.model is not None and set(found.verdict["goals"]) >= {"predict", "neighbours"}
    assert sum(budget["phases"].values()) <= 2 * budget["work"]
    assert budget["cuts"] and "Cut to stay within the budget" in found.report()


def test_the_clock_is_told_where_it_decided(monkeypatch):
    data = drawn(200)
    monkeypatch.setattr(plan.Plan, "leave_for", lambda self, *phases: -1.0)
    monkeypatch.setattr(plan, "machine_speed", lambda: 1e6)  # nothing is cut beforehand
    found = proxembed.search(data, methods=["opls"], max_seconds=5, n_components=2, folds=4, shuffles=19, max_trials=1)
    told = found.record["search"]["budget"]["by_clock"]
    assert any("folds were compared" in line for line in told) and any("no diagnosis" in line for line in told)
    assert "The clock decided" in found.report() or "the clock decided" in found.report()


def test_every_method_and_rival_has_its_cost():
    from proxembed.study.candidates import candidates

    shape = costs.Shape(1000, 50, 50.0, 10)
    for each in candidates(None):
        assert 0 < costs.fit_work(each.default(), shape) < costs.fit_work(each.default(), shape.rows(100_000))
    assert all(each.seconds > 0 or each.arm.name in costs.table() for each in entrants(np.eye(2))[1:])


def test_a_spare_rival_is_cut_before_the_diagnosis_and_others_after_it_but_for_those_that_never_are():
    shape = costs.Shape(1000, 50, 50.0, 10)
    known = {entrant.arm.name: entrant for entrant in entrants(np.eye(2))}
    rivals = [known[name] for name in ("all features", "logistic regression", "linear SVM")]
    first, *later = plan._steps(plan.Cuts(20, 5, (2, 5)), shape, rivals, 100, False)
    assert first == {"left_out": ("linear SVM",)} and later[0] == {"diagnosis": 2000}
    assert {"left_out": ("logistic regression", "linear SVM")} in later
    assert next(plan._steps(plan.Cuts(20, 5, (2, 5)), shape, rivals[:2], 100, False)) == {"diagnosis": 2000}
    cut = [
        step["left_out"]
        for step in plan._steps(plan.Cuts(20, 5, (2, 5)), shape, [*known.values()], 100, False)
        if "left_out" in step
    ]
    assert set(cut[-1]) == {name for name, entrant in known.items() if entrant.rival.cut != "never"}


def test_a_budget_of_work_permits_what_its_last_fit_may_cost():
    assert WorkBudget(5.0).permits(1e9) and not WorkBudget(5.0, last_work=1.0).permits(1.5)
    assert replace(WorkBudget(5.0), prototypes=9).prototypes == 9


def test_the_kinds_of_repeat_commands():
    bounded = SimpleNamespace(bounded=True, work=7.5, options=SimpleNamespace(engine="methods"))
    assert main_job.repeat_command("proxembed search a.csv", bounded) == "proxembed search a.csv --max-work 7.5"
    same = main_job.repeat_command("proxembed search a.csv --max-work=3 -j 2", bounded)
    assert same == "proxembed search a.csv -j 2 --max-work 7.5"
    unbounded = SimpleNamespace(bounded=False, work=np.inf, options=None)
    assert main_job.repeat_command("proxembed search a.csv", unbounded) == "proxembed search a.csv"


@pytest.mark.parametrize(("work", "shuffles"), [(8.0, 0), (20.0, 20)])
def test_shuffled_labels_are_left_out_only_where_a_small_diagnosis_would_be_dear(work, shuffles):
    found = planned(work, n=1500, d=40, c=6, methods=["opls", "mddm"])
    small = replace(found.cuts, shuffles=20, diagnosis=250)
    leaders = [proxembed.OPLS()]
    none = replace(small, shuffles=0)
    dearer = sum(found._forecast(small, leaders).values()) - sum(found._forecast(none, leaders).values())
    assert (dearer < plan.LEAST_SAVING * work) == (shuffles > 0)
    assert found.cuts.shuffles == shuffles and not found.cuts.layouts  # which are cut after it
