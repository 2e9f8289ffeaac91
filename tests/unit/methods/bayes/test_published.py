"""The published figures on the standard splits, features standardised by the training part, one component a label."""

from __future__ import annotations

import numpy as np
import pytest

from proxembed import BSML, BSSML, VariationalProbit


def split(folder, name):
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        X, Y = file["X"].astype(np.float64), file["Y"].astype(np.float64)
        train, test = file["train_idx"], file["test_idx"]
    deviation = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return X[train], Y[train], X[test], Y[test]


def hamming(predicted, Y):
    return float(np.mean(np.asarray(predicted) != Y))


def assert_bsml_as_published(folder, name, low, high, accelerate):
    X, Y, new, truth = split(folder, name)
    fit = BSML(accelerate=accelerate, tol=0, max_iter=120 if accelerate else 500).fit(X, Y)
    assert low <= hamming(fit.predict(new), truth) <= high


def assert_bssml_as_published(folder, name, low, high, **options):
    X, Y, new, truth = split(folder, name)
    unknown = np.full(truth.shape, np.nan)
    fit = BSSML(**options).fit(np.vstack([X, new]), np.vstack([Y, unknown]))
    assert low <= hamming(fit.transduction_[len(X) :], truth) <= high
    assert abs(hamming(fit.predict(new), truth) - hamming(fit.transduction_[len(X) :], truth)) < 0.005


def assert_extrapolation_saves_sweeps(folder, name, factor):
    """The bound of 320 plain sweeps in a fraction of them."""
    X, Y, _, _ = split(folder, name)
    slow = BSML(accelerate=False, tol=0, max_iter=320).fit(X, Y).lower_bound_[-1]
    assert BSML(tol=0, max_iter=320 // factor).fit(X, Y).lower_bound_[-1] >= slow


FIGURES = [("emotions", 0.209, 0.221), ("yeast", 0.204, 0.206)]
SEMI = [("emotions", 0.195, 0.203), ("yeast", 0.201, 0.205)]
PROBIT = [("emotions", 0.2236), ("yeast", 0.2109)]


@pytest.mark.parametrize(
    ("name", "low", "high", "accelerate"), [*((*row, True) for row in FIGURES), (*FIGURES[0], False)], ids=str
)
def test_bsml(data_folder, name, low, high, accelerate):
    assert_bsml_as_published(data_folder, name, low, high, accelerate)


@pytest.mark.parametrize(("name", "low", "high"), SEMI)
def test_bssml_on_the_rows_that_it_was_given(data_folder, name, low, high):
    assert_bssml_as_published(data_folder, name, low, high)


@pytest.mark.parametrize(("name", "expected"), PROBIT)
def test_probit(data_folder, name, expected):
    X, Y, new, truth = split(data_folder, name)
    assert hamming(VariationalProbit().fit(X, Y).predict(new), truth) == pytest.approx(expected, abs=0.004)


def test_refreshing_seldom_ends_at_the_same_place(data_folder):
    X, Y, new, _ = split(data_folder, "emotions")
    one, ten = (BSML(refresh=r, accelerate=False, tol=0, max_iter=200).fit(X, Y) for r in (1, 10))
    assert ten.lower_bound_[-1] == pytest.approx(one.lower_bound_[-1], rel=1e-4)
    assert np.mean(ten.predict(new) == one.predict(new)) > 0.99


def test_extrapolation_saves_sweeps(data_folder):
    assert_extrapolation_saves_sweeps(data_folder, "emotions", 4)
