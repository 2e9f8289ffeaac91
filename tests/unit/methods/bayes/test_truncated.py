"""Moments of cut normals against 150 digits, against scipy, and in the far tails."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm, truncnorm

from designs import each_value
from proxembed.methods.bayes.truncated import excess, gap_mean, hazard, labelled_mean, labelled_moments, variance

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214"
)
POINTS = [-1e6, -1e4, -1000.0, -60.0, -38.5, -25.0, -12.0, -6.5, -6.0, -5.9, -3.0, -0.5, 0.0, 0.5, 3.0, 8.0, 12.0]


def exact(x: float) -> tuple[Decimal, Decimal, Decimal]:
    """h, delta and the variance at x, to far more than double precision."""
    with localcontext() as context:
        context.prec = 150
        point = Decimal(x)
        if x < -14:
            tail = Decimal(0)
            for k in range(1500, 0, -1):
                tail = k / (-point + tail)
            h = -point + tail
        else:
            density = (-point * point / 2).exp() / (2 * PI).sqrt()
            term = total = point
            k = 1
            while abs(term) > Decimal(10) ** -140:
                term = term * point * point / (2 * k + 1)
                total, k = total + term, k + 1
            h = density / (Decimal("0.5") + density * total)
        return h, point + h, 1 - h * (point + h)


@pytest.mark.parametrize("x", POINTS)
def test_against_many_digits(x):
    h, delta, spread = (float(value) for value in exact(x))
    at = np.array([x])
    assert hazard(at)[0] == pytest.approx(h, rel=4e-14)
    assert excess(at)[0] == pytest.approx(delta, rel=4e-14)
    assert variance(at)[0] == pytest.approx(spread, rel=2e-12)


def test_against_scipy():
    x = np.linspace(-12, 12, 97)
    mean = truncnorm.mean(-x, np.inf, loc=x)
    np.testing.assert_allclose(labelled_mean(x, np.ones(97), 0.0), mean, rtol=1e-9)
    np.testing.assert_allclose(labelled_mean(-x, -np.ones(97), 0.0), -mean, rtol=1e-9)
    np.testing.assert_allclose(labelled_mean(x, np.ones(97), 0.5), truncnorm.mean(0.5 - x, np.inf, loc=x), rtol=1e-9)


def test_the_logarithm_of_the_mass():
    x = np.concatenate([-np.logspace(-8, 6, 200), np.logspace(-8, 6, 200), np.linspace(8, 9, 50)])
    for sign in (-1.0, 1.0):
        _, log_mass = labelled_moments(x, np.full(len(x), sign), 0.0)
        np.testing.assert_allclose(log_mass, log_ndtr(sign * x), rtol=2e-14, atol=2e-14)


def test_the_right_tail_is_not_cut_off():
    """phi(x) / Phi(x) is a number up to x = 38.5, although erfcx overflows at 37.7."""
    x = np.array([36.9, 37.1, 38.0, 38.5])
    np.testing.assert_allclose(hazard(x), norm.pdf(x), rtol=1e-9, atol=5e-324)
    assert hazard(x).all() and hazard(np.array([40.0, 1e8])).tolist() == [0.0, 0.0]


def test_nothing_warns_and_everything_is_finite():
    x = np.concatenate([-np.logspace(-8, 8, 60), np.logspace(-8, 8, 60)])
    with np.errstate(all="raise", over="ignore", under="ignore"):
        for sign in (-1.0, 1.0):
            t, log_zeta = labelled_moments(x, np.full(120, sign), 0.5)
            np.testing.assert_array_equal(t, labelled_mean(x, np.full(120, sign), 0.5))
            assert np.all(sign * t > 0.5) and np.all(np.isfinite(log_zeta)) and np.all(np.isfinite(t))
        t, log_zeta = gap_mean(x, 0.5, np.log(0.3), np.log(0.7))
        assert np.all(np.isfinite(t)) and np.all(np.isfinite(log_zeta)) and np.all(variance(x) > 0)


def test_no_jump_where_the_fraction_takes_over():
    below, above = np.array([np.nextafter(-6.0, -7.0)]), np.array([-6.0])
    for function in (hazard, excess, variance):
        assert function(below)[0] == pytest.approx(function(above)[0], rel=1e-12)


@each_value
@pytest.mark.parametrize("m", [-7.0, -2.0, -0.3, 0.0, 0.7, 4.0])
@pytest.mark.parametrize("positive", [0.5, 0.8])
def test_the_gap_against_quadrature(m, positive):
    weight = {-1: 1 - positive, 1: positive}
    parts = {}
    for power in (0, 1):
        parts[power] = sum(
            w * quad(lambda t, p=power: t**p * norm.pdf(t - m), *ends, epsabs=0, epsrel=1e-12, limit=200)[0]
            for w, ends in ((weight[-1], (-np.inf, -0.5)), (weight[1], (0.5, np.inf)))
        )
    t, log_zeta = gap_mean(np.array([m]), 0.5, np.log(1 - positive), np.log(positive))
    assert t[0] == pytest.approx(parts[1] / parts[0], rel=1e-9, abs=1e-11)
    assert log_zeta[0] == pytest.approx(np.log(parts[0]), abs=1e-10)


def test_a_gap_between_equal_sides_is_odd():
    m = np.linspace(0, 50, 23)
    up, down = (gap_mean(s * m, 0.5, np.log(0.5), np.log(0.5)) for s in (1, -1))
    np.testing.assert_array_equal(up[0], -down[0])
    np.testing.assert_array_equal(up[1], down[1])
