"""Forecasts of work: they grow with the sizes, and what does more costs more."""

import numpy as np
import pytest
import scipy.sparse as sp

from proxembed import OPLS, ForestLeaves, Kernelized, Layout, ReadoutAxes, TargetSpace, Views
from proxembed.evaluate.costs import (
    Shape,
    fit_work,
    fits_work,
    forest_work,
    layout_work,
    machine_speed,
    readout_work,
    shape_of,
    speed_probe,
    step_work,
    table,
    target_works,
)

SHAPE = Shape(1000, 50, 50.0, 5)


def test_the_shape_of_features_counts_what_they_store():
    assert shape_of(np.ones((5, 3)), 2) == Shape(n=5, d=3, w=3.0, c=2)
    X = sp.random_array((70, 11), density=0.3, random_state=0).tocsr()
    assert shape_of(X, 2).stored == X.nnz and shape_of(np.ones((5, 3)), 2).stored == 15


@pytest.mark.parametrize("step", table())
def test_more_rows_cost_more(step):
    assert 0 <= step_work(step, SHAPE) < step_work(step, SHAPE.rows(100_000))


def test_what_does_more_costs_more():
    assert layout_work(500) < layout_work(1000)
    assert readout_work(1000, 300, 10, 5) < readout_work(4000, 1200, 10, 5)
    assert readout_work(1000, 300, 10, 5, "scores") < readout_work(1000, 300, 10, 5)
    plain, honest = (fit_work(Layout(OPLS(), honest=flag), SHAPE) for flag in (False, True))
    assert fit_work(Layout(OPLS(), features=0), SHAPE) < plain < honest - 4 * fit_work(OPLS(), SHAPE)
    assert fit_work(Layout(honest=True), SHAPE) == fit_work(Layout(TargetSpace()), SHAPE), "without refits"
    plain, honest = (fit_work(Layout(honest=flag), SHAPE._replace(grouped=True)) for flag in (False, True))
    assert honest == pytest.approx(plain + 5 * fit_work(TargetSpace(), SHAPE)), "of groups with them"
    assert fit_work(Layout(layout="components"), SHAPE) == fit_work(Kernelized(), SHAPE)
    assert fit_work(Views(OPLS()), SHAPE) < fit_work(Views(OPLS(), weights="folds"), SHAPE)


def test_what_methods_share_counts_once():
    alone, weighed = Kernelized(OPLS()), ReadoutAxes(Kernelized(OPLS()))
    assert fits_work([alone, weighed], SHAPE) == fits_work([weighed, alone], SHAPE) == fit_work(weighed, SHAPE)
    assert fits_work([weighed], SHAPE, [alone]) == pytest.approx(fit_work(weighed, SHAPE) - fit_work(alone, SHAPE)) != 0
    assert (
        fits_work([weighed], SHAPE, [OPLS()]) == fit_work(weighed, SHAPE) and fits_work([alone], SHAPE, [weighed]) == 0
    )
    other = ReadoutAxes(Kernelized(OPLS(ridge=0.5)))
    assert fits_work([alone, other], SHAPE) == fit_work(alone, SHAPE) + fit_work(other, SHAPE)
    views = Views(Kernelized(OPLS()), views=("features", "leaves", "scores"))
    forest, space, leaves = target_works(TargetSpace(), SHAPE)["forest"], TargetSpace(), ForestLeaves()
    alone = sum(fit_work(each, SHAPE) for each in (space, leaves, views))
    assert fits_work([space, leaves, views], SHAPE) == pytest.approx(alone - 2 * forest)
    assert fits_work([ReadoutAxes(views)], SHAPE, [leaves]) == pytest.approx(
        fit_work(ReadoutAxes(views), SHAPE) - forest
    )
    for unlike in (ForestLeaves(min_samples_leaf=5), ForestLeaves(random_state=1), TargetSpace(bases=["ridge"])):
        assert fits_work([leaves], SHAPE, [unlike]) == pytest.approx(fit_work(leaves, SHAPE))
    few = ForestLeaves(n_estimators=50)  # whose trees are the first ones of 300
    assert fits_work([leaves], SHAPE, [few]) == pytest.approx(fit_work(leaves, SHAPE) - forest_work(SHAPE, 50))
    assert fits_work([views, few], SHAPE) == pytest.approx(
        fit_work(views, SHAPE) + fit_work(few, SHAPE) - forest_work(SHAPE, 50)
    )


def test_a_ridge_base_is_forecast_by_what_it_decomposes():
    def ridge(**changed):
        return target_works(TargetSpace(), SHAPE._replace(**changed))["ridge"]

    wide = {"n": 4000, "d": 20_000, "w": 70.0, "c": 90}
    assert ridge(**wide) < 0.5 * fit_work(OPLS(), SHAPE._replace(**wide)), "its penalty is that of 2,000 rows"
    assert 4 < (ridge(**wide | {"n": 8000}) - ridge(**wide)) / (ridge(**wide) - ridge(**wide | {"n": 2000})) < 9
    assert ridge(**wide | {"d": 500}) < 0.2 * ridge(**wide)


def test_a_forest_of_leaves_and_scores_is_forecast_once_and_by_what_rows_store():
    leaves, both = (Views(OPLS(), views=("features", *more)) for more in (("leaves",), ("leaves", "scores")))
    one, two = (fit_work(each, SHAPE) for each in (leaves, both))
    assert 0 < two - one < 0.1 * forest_work(SHAPE, 300) < one
    wide, dense = SHAPE._replace(d=20_000, w=50.0), SHAPE._replace(d=20_000, w=20_000.0)
    assert forest_work(wide, 300) < forest_work(SHAPE, 300) < 0.2 * forest_work(dense, 300)
    assert forest_work(SHAPE._replace(c=3000), 300) == forest_work(SHAPE._replace(c=30), 300), "of leading scores"


def test_the_speed_of_a_machine_is_a_power_of_the_square_root_of_two():
    assert speed_probe() > 0 and round(2 * np.log2(machine_speed()), 9).is_integer()
