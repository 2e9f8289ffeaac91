"""A search of thousands of labels: forecasts grow with labels, what grows most is cut first, the record is whole."""

import numpy as np
import pytest
import scipy.sparse as sp

import proxembed
from clocks import set_clock
from proxembed.classify.score_products import FactoredScores
from proxembed.data import Dataset
from proxembed.evaluate import costs
from proxembed.evaluate.arms import ALL_FEATURES, Arm, method_arms
from proxembed.evaluate.rivals.rival import DataFacts, rivals
from proxembed.evaluate.run import Protocol, run
from proxembed.splits.splits import Splitting
from proxembed.targets.labels import MANY_LABELS
from proxembed.workflow import comparison, plan
from proxembed.workflow.comparison import protocol_of
from proxembed.workflow.options import CompareOptions

from .test_plan import planned

COUNTS = (MANY_LABELS + 1, 3000, 9000)


def drawn(n=260, d=12, c=MANY_LABELS + 100):
    """Rows, and labels of the nearest few of them: one row for some labels, many for others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    size = np.maximum((40 / np.arange(1, c + 1) ** 0.4).astype(int), 1)
    nearest = np.argsort(-(X @ rng.normal(size=(d, c)) + rng.normal(size=(n, c))), axis=0)
    rows = np.concatenate([nearest[:count, j] for j, count in enumerate(size)])
    cells = rows, np.repeat(np.arange(c), size)
    train = np.arange(n) < 0.75 * n
    Y = sp.csc_array((np.ones(len(rows), dtype=np.uint8), cells), shape=(n, c))
    return Dataset(X=X, Y=Y, train_idx=np.flatnonzero(train), test_idx=np.flatnonzero(~train))


@pytest.mark.parametrize(
    "work",
    [
        lambda c: costs.readout_work(5000, 1000, 50, c),
        lambda c: costs.decision_work(5000, c, 50),
        lambda c: costs.redrawn_work(1000, c),
        lambda c: costs.last_work(costs.Shape(5000, 200, 200, c)),
    ],
)
def test_forecasts_of_what_is_done_for_every_label_grow_with_labels(work):
    few, some, many = map(work, COUNTS)
    assert 0 < few < some < many


def test_forecasts_of_label_wise_rivals_grow_with_labels():
    label_wise = [rival for rival in rivals() if rival.label_wise]
    assert {rival.title for rival in label_wise} >= {"logistic regression", "linear SVM", "label scores"}
    for rival in label_wise:
        each = [rival.forecast(DataFacts(costs.Shape(5000, 200, 200, c))) for c in COUNTS]
        assert 0 < each[0] < each[1] < each[2], rival.title


def test_label_wise_rivals_are_cut_first_then_thresholds():
    found = planned(1e7, c=3000)
    steps = list(plan._steps(found))
    label_wise = {each.arm.name for each in found.rivals if each.rival.label_wise}
    assert label_wise and set(steps[0]["left_out"]) == label_wise and steps[1] == {"decisions": False}
    assert all(label_wise <= set(step["left_out"]) for step in steps if "left_out" in step)
    few = list(plan._steps(planned(1e7, c=50)))
    assert "share" in few[0] and few[-1] == {"decisions": False}


@pytest.fixture(scope="module")
def searched():
    with pytest.MonkeyPatch.context() as patch:
        set_clock(patch)  # it stands still: what is cut follows from the work that the seconds stand for
        patch.setattr(plan, "machine_speed", lambda: 1.0)
        return proxembed.search(drawn(), max_seconds=3, n_components=(2, 5), seed=0)


def test_a_search_of_many_labels_keeps_its_budget_and_has_a_whole_page(searched):
    budget = searched.record["search"]["budget"]
    assert sum(budget["phases"].values()) <= 2 * budget["work"]
    arms = {row["arm"] for row in searched.results.rows}
    assert arms.isdisjoint(rival.title for rival in rivals() if rival.label_wise) and {"PCA", "all features"} <= arms
    assert any("F1, Hamming loss" in line for line in budget["cuts"])
    assert searched.model is not None and set(searched.verdict["goals"]) >= {"predict", "neighbours"}
    page = searched.report()
    assert f"mean of the other {MANY_LABELS + 50:,} labels" in page
    table = searched.record["label_table"]
    assert len(table) == MANY_LABELS + 100 and all(row["threshold"] is None for row in table)


def test_scores_of_many_labels_are_kept_as_products_of_the_test_rows_alone(searched):
    kept = searched.results.predictions
    assert {fold for _, _, fold in kept} == {"test"}
    assert all(isinstance(scores, FactoredScores) for scores in kept.values())
    primary = "test", "macro average precision", "ridge"
    rows = [row for row in searched.results.rows if (row["fold"], row["measure"], row["readout"]) == primary]
    known = {(row["arm"], row["k"]): row["value"] for row in rows}
    truth = drawn().Y[searched.results.held_out["test"]]
    for (arm, k, _), scores in kept.items():
        again = proxembed.measures.macro_average_precision(truth, np.asarray(scores)).value
        assert known[arm, k] == pytest.approx(again, rel=1e-9)


def test_a_comparison_of_many_labels_leaves_decisions_out_and_says_so():
    found, few = (
        protocol_of(CompareOptions(methods=("opls",)), drawn(n=60, c=c)) for c in (MANY_LABELS + 1, MANY_LABELS)
    )
    assert found.decided == () and comparison.UNDECIDED in found.notes
    assert few.decided is None and comparison.UNDECIDED not in few.notes


def test_a_measure_of_decisions_is_scored_though_others_are_left_out(monkeypatch):
    """Cuts and sigmoids of products, label by label, are those of the scores themselves."""
    monkeypatch.setattr("proxembed.classify.score_products.FactoredScores.of", as_products)
    drew, arms = drawn(n=120, c=12), (*method_arms(("OPLS",)), Arm(ALL_FEATURES, None, True))
    data, shared = Dataset(X=drew.X, Y=drew.Y), {"arms": arms, "sizes": (2,), "splitting": Splitting(n_folds=2)}

    def values(many, measure):
        monkeypatch.setattr("proxembed.classify.score_products.MANY_LABELS", 11 if many else 12)
        rows = run(Protocol(**shared, measure=measure, decided=() if many else None), data).rows
        found = {(row["measure"], row["arm"], row["fold"]): row["value"] for row in rows}
        return {key for key, *_ in found}, {key: value for key, value in found.items() if key[0] == measure}

    for measure in ("macro F1", "log-loss"):
        (few, whole), (fewer, some) = values(False, measure), values(True, measure)
        assert few - fewer >= {"macro F1", "log-loss", "Hamming loss"} - {measure} and len(some) == 4
        assert some == pytest.approx(whole, abs=1e-6)


def as_products(rows, coef, intercept):
    """Scores as a product, whether or not it takes less memory."""
    return FactoredScores(*(np.asarray(part, dtype=np.float32) for part in (rows, coef, intercept)))
