"""Sweeps to convergence on a model that is solved by hand: extrapolation, refusals, stopping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from proxembed.methods.bayes.ascent import Extrapolation, ascend


@dataclass
class Point:
    u: np.ndarray


class Slow:
    """u -> A u + b with the bound -(u - u*)'(u - u*): plain sweeps never lower it; some moves are spoilt on purpose."""

    refresh = 4

    def __init__(self, spoil=(), lie=()):
        rng = np.random.default_rng(0)
        V, _ = np.linalg.qr(rng.standard_normal((8, 8)))
        self.A = (V * np.linspace(0.2, 0.98, 8)) @ V.T
        self.goal = rng.standard_normal(8)
        self.spoil, self.lie, self.moves, self.sweeps, self.renewed = spoil, lie, 0, 0, []

    def sweep(self, state, renew):
        state.u = self.goal + self.A @ (state.u - self.goal)
        self.renewed.append(renew)
        self.sweeps += 1
        return -1.0 - float(np.sum((state.u - self.goal) ** 2)) - (5.0 if self.sweeps in self.lie else 0.0)

    def pack(self, state):
        return state.u

    def moved(self, state, point):
        self.moves += 1
        return Point(point + 100.0 if self.moves in self.spoil else point)


def test_extrapolation_solves_a_linear_map():
    model = Slow()
    plain = ascend(model, Point(np.zeros(8)), max_iter=60, tol=0, accelerate=False)
    fast = ascend(Slow(), Point(np.zeros(8)), max_iter=60, tol=0, accelerate=True)
    assert np.abs(plain.state.u - model.goal).max() > 1e-2
    np.testing.assert_allclose(fast.state.u, model.goal, atol=1e-6)
    assert len(plain.bounds) == len(fast.bounds) == 60 and not fast.converged


def test_spoilt_moves_are_undone():
    model = Slow(spoil=(3, 9, 10))
    found = ascend(model, Point(np.zeros(8)), max_iter=60, tol=0, accelerate=True)
    assert np.all(np.diff(found.bounds) >= 0) and np.count_nonzero(np.diff(found.bounds) == 0) >= 3
    np.testing.assert_allclose(found.state.u, model.goal, atol=1e-4)


def test_precisions_of_a_refused_sweep_are_renewed_again():
    """The sweep after a refused one that had renewed them renews them from the state that was kept."""
    model = Slow(spoil=(3,))
    found = ascend(model, Point(np.zeros(8)), max_iter=12, tol=0, accelerate=True)
    refused = int(np.flatnonzero(np.diff(found.bounds) == 0)[0]) + 1
    assert refused == 4 and model.renewed[refused] and model.renewed[refused + 1]


def test_sweeps_between_renewals():
    model = Slow()
    ascend(model, Point(np.zeros(8)), max_iter=9, tol=0, accelerate=False)
    assert model.renewed == [True, False, False, False] * 2 + [True]


def test_the_first_point_is_the_sweep_itself():
    extrapolation = Extrapolation(3)
    u, g = np.zeros(3), np.ones(3)
    assert extrapolation.point(u, g) is None
    assert extrapolation.point(g, 1.5 * g) == pytest.approx(2 * g)
    extrapolation.forget()
    assert extrapolation.point(u, g) is None


def test_a_bound_that_falls_by_itself_is_told():
    with pytest.warns(ConvergenceWarning, match="lower bound fell from"):
        ascend(Slow(lie=(5,)), Point(np.zeros(8)), max_iter=6, tol=0, accelerate=False)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf])
def test_a_bound_that_is_no_number_is_refused(bad):
    class Broken(Slow):
        def sweep(self, state, renew):
            return bad if self.sweeps == 2 else super().sweep(state, renew)

    with pytest.raises(ValueError, match="After sweep 3 the lower bound is not finite.*unit variance"):
        ascend(Broken(), Point(np.zeros(8)), max_iter=6, tol=0, accelerate=False)


def test_the_map_of_a_renewal_is_not_compared_with_the_one_before(monkeypatch):
    seen = []

    class Recorded(Extrapolation):
        def point(self, u, g):
            seen.append(self.last is None)
            return super().point(u, g)

    monkeypatch.setattr("proxembed.methods.bayes.ascent.Extrapolation", Recorded)
    model = Slow()
    ascend(model, Point(np.zeros(8)), max_iter=12, tol=0, accelerate=True)
    assert seen == model.renewed and sum(seen) == 3


def test_stops_where_the_gain_is_small():
    found = ascend(Slow(), Point(np.zeros(8)), max_iter=500, tol=1e-3, accelerate=False)
    assert found.converged and len(found.bounds) < 500
    assert found.bounds[-1] - found.bounds[-5] < 4e-3 * abs(found.bounds[-1])
    short = ascend(Slow(), Point(np.zeros(8)), max_iter=5, tol=1e-3, accelerate=False)
    assert not short.converged and len(short.bounds) == 5
