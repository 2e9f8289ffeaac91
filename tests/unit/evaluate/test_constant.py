"""The constant baseline of predictions: its value in every measure, known cells alone, functions without a value."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed.data import digits
from proxembed.evaluate.arms import rival_arms
from proxembed.evaluate.constant import Cells, constant_prediction
from proxembed.evaluate.results import SAME_ROWS, Results, best_of
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import TestGains, constant_entry, summarise
from proxembed.measures.measures import MEASURES, measure_of

SHARES = np.array([0.7, 0.3, 0.05])


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    return Cells(rng.random((2000, 3)) < SHARES), Cells(rng.random((3000, 3)) < SHARES)


def value(name, train, held_out):
    return constant_prediction(measure_of(name), train, held_out).value


def test_of_average_precision_it_is_the_prevalence_of_the_held_out_rows(cells):
    assert value("macro average precision", *cells) == pytest.approx(cells[1].Y.mean(axis=0).mean(), abs=1e-12)


def test_in_other_measures_it_is_what_the_best_constant_reaches(cells):
    held_out = cells[1].Y.mean(axis=0)
    assert value("macro AUC", *cells) == pytest.approx(0.5) == value("balanced accuracy", *cells)
    assert value("micro AUC", *cells) > 0.75, "labels differ in their shares"
    assert value("Hamming loss", *cells) == pytest.approx(np.minimum(held_out, 1 - held_out).mean())
    assert value("macro F1", *cells) == pytest.approx((2 * held_out / (1 + held_out)).mean())
    assert value("subset accuracy", *cells) == pytest.approx((cells[1].Y == [1, 0, 0]).all(axis=1).mean())
    entropy = -(SHARES * np.log(SHARES) + (1 - SHARES) * np.log(1 - SHARES)).mean()
    assert value("log-loss", *cells) == pytest.approx(entropy, abs=0.02)
    assert value("calibration error", *cells) < 0.03


@pytest.mark.parametrize(
    "name", [name for name, each in MEASURES.items() if each.goal == "predict" and each.takes == "labels"]
)
def test_every_measure_of_predictions_has_it_and_learns_from_training_rows_alone(cells, name):
    train, held_out = cells
    found = constant_prediction(measure_of(name), train, held_out)
    assert np.isfinite(found.value) and found.scores.shape == (3,)
    swapped = constant_prediction(measure_of(name), train, Cells(~held_out.Y))
    np.testing.assert_array_equal(swapped.scores, found.scores)
    best, worst = measure_of(name).best, measure_of(name).worst
    assert min(best, worst) <= found.value <= max(best, worst)


def test_unknown_cells_change_nothing(cells):
    rng = np.random.default_rng(1)
    known = [rng.random(each.Y.shape) < 0.7 for each in cells]
    masked = [Cells(each.Y & mask, mask) for each, mask in zip(cells, known, strict=True)]
    held_out = [cells[1].Y[known[1][:, j], j].mean() for j in range(3)]
    assert value("macro average precision", *masked) == pytest.approx(np.mean(held_out), abs=1e-12)
    found = constant_prediction(measure_of("log-loss"), *masked)
    assert found.scores == pytest.approx(SHARES, abs=0.04), "unknown is not no"
    assert value("Hamming loss", *masked) == pytest.approx(value("Hamming loss", *cells), abs=0.03)


def test_a_function_may_have_none(cells):
    def spread(Y, S):
        return float(np.corrcoef(Y[:, 0], S[:, 0])[0, 1])  # NaN of a constant

    def refuses(Y, S):
        raise ValueError("S is constant")

    assert value(spread, *cells) is None is value(refuses, *cells)
    assert value(lambda Y, S: float(-((Y - S) ** 2).mean()), *cells) == pytest.approx(
        -np.mean(SHARES * (1 - SHARES)), abs=0.01
    )


def test_the_best_value_of_a_measure_by_its_name():
    names = ["macro average precision", "log-loss", "Jaccard@7", "mine"]
    assert [best_of(f"{name} (ridge)") for name in names] == [1.0, 0.0, 1.0, np.inf]


def test_a_run_has_the_baseline_of_every_part_and_its_verdict_reads_it():
    data = digits().take(range(150))
    results = run(Protocol(rival_arms(data.X)[:2], (2,)), data)
    assert set(results.constants) == set(results.folds)
    for fold, rows in results.held_out.items():
        assert results.constants[fold].value == pytest.approx(data.Y.tocsr()[rows].mean(axis=0).mean(), abs=0.02)
    near, predict = "Jaccard@10 (cosine kNN)", "macro average precision (ridge)"
    entry = constant_entry(results, list(results.folds), near, predict)
    values = [constant.value for constant in results.constants.values()]
    assert entry["scores"][predict]["mean"] == pytest.approx(np.mean(values)) and near in entry["scores"]
    assert summarise(results)["constant"][near] == entry["scores"][near]


def test_a_gain_over_the_constant_is_measured_on_the_test_rows():
    rng = np.random.default_rng(2)
    Y = rng.random((120, 3)) < 0.4
    own = constant_prediction(measure_of("macro average precision"), Cells(Y), Cells(Y))
    results = Results(
        {}, {}, folds={"test": {}}, held_out={"test": np.arange(120)}, constants={"test": own},
        predictions={("a", 2, "test"): Y + 0.5 * rng.normal(size=Y.shape)},
        measure=measure_of("macro average precision"),
    )  # fmt: skip
    gains = TestGains(
        results, SimpleNamespace(Y=sp.csr_array(Y), groups=None, times=None, unknown=None, sample_weight=None)
    )
    name = "macro average precision (ridge)"
    a, constant = ({"arm": arm, "k": 2, "scores": {name: {"mean": 0.0}}} for arm in ("a", SAME_ROWS))
    found = gains.versus([a], [constant], name)
    reached = measure_of("macro average precision").value(Y, results.predictions["a", 2, "test"])[0]
    assert found["gain"] == pytest.approx(reached - own.value) and found["interval"][0] > 0
