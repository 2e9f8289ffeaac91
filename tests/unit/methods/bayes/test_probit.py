"""VariationalProbit against plain updates, a label at a time."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import log_ndtr
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

import strategies
from oracles.coupled import gamma_block, moments
from proxembed import VariationalProbit, load, save

HYPER = (1.3, 0.7, 0.9, 1.4)


def problem(n=40, d=6):
    X, Y = strategies.labelled_rows(n, d, 3, 1)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


def plain(X, y, hyper, sweeps):
    """One label: (lambda, psi), (b, w), t in turn."""
    X1 = np.column_stack([np.ones(len(X)), X])
    a, b = np.append(hyper[0], np.full(X.shape[1], hyper[2])), np.append(hyper[1], np.full(X.shape[1], hyper[3]))
    w, C, t, bounds = np.zeros(X1.shape[1]), np.eye(X1.shape[1]), 0.8 * y, []
    for _ in range(sweeps):
        beta = 1 / (1 / b + (w**2 + np.diag(C)) / 2)
        C = np.linalg.inv(np.diag((a + 0.5) * beta) + X1.T @ X1)
        w = C @ X1.T @ t
        T, Z = moments((X1 @ w)[:, None], y[:, None])
        t = T[:, 0]
        bound = sum(gamma_block(a[f], b[f], a[f] + 0.5, beta[f], w[f] ** 2 + C[f, f]) for f in range(len(w)))
        bound += 0.5 * (len(w) * (np.log(2 * np.pi) + 1) + np.linalg.slogdet(C)[1])
        bounds.append(bound + Z.sum() - 0.5 * np.trace(X1.T @ X1 @ C))
    return w, C, bounds


@pytest.mark.parametrize("shape", [(40, 6), (10, 30)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_equals_the_plain_updates(shape, form):
    X, Y = problem(*shape)
    fit = VariationalProbit(HYPER, tol=0, max_iter=15, refresh=1, accelerate=False).fit(form(X), Y)
    found = [plain(X, 2 * y - 1, HYPER, 15) for y in Y.T]
    np.testing.assert_allclose(fit.lower_bound_, np.sum([bounds for *_, bounds in found], axis=0), rtol=1e-10)
    np.testing.assert_allclose(fit.coef_.T, [w[1:] for w, *_ in found], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fit.intercept_, [w[0] for w, *_ in found], rtol=1e-8, atol=1e-10)
    new = problem(5, shape[1])[0]
    X1 = np.column_stack([np.ones(5), new])
    expected = [norm.cdf(X1 @ w / np.sqrt(1 + np.einsum("if,fg,ig->i", X1, C, X1))) for w, C, _ in found]
    np.testing.assert_allclose(fit.predict_proba(form(new)).T, expected, rtol=1e-7)
    np.testing.assert_array_equal(fit.predict(new).T, np.array(expected) > 0.5)


@pytest.mark.parametrize("refresh", [1, 10])
@pytest.mark.parametrize("accelerate", [False, True])
def test_the_bound_never_falls(refresh, accelerate):
    X, Y = problem(80, 20)
    bounds = np.array(
        VariationalProbit(tol=0, max_iter=60, refresh=refresh, accelerate=accelerate).fit(X, Y).lower_bound_
    )
    assert len(bounds) == 60 and np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:]))


def test_unknown_cells_constrain_nothing():
    X, Y = problem(60, 6)
    holed = Y.copy()
    holed[:25, 0], holed[30:40, 1], holed[50:] = np.nan, np.nan, np.nan
    options = {"tol": 0, "max_iter": 200}
    with pytest.warns(UserWarning, match="10 of 60 rows have no known label and are left out of fit"):
        fit = VariationalProbit(**options).fit(X, holed)
    np.testing.assert_allclose(
        fit.coef_[:, 2], VariationalProbit(**options).fit(X[:50], Y[:50, 2]).coef_[:, 1], atol=1e-3
    )
    full = VariationalProbit(**options).fit(X[:50], Y[:50])
    other = np.where(np.isnan(holed), 1 - Y, holed)[:50]
    assert np.all(np.linalg.norm(fit.coef_ - full.coef_, axis=0)[:2] > 1e-3)
    assert np.mean(fit.predict(X) == Y) > np.mean(VariationalProbit(**options).fit(X[:50], other).predict(X) == Y)


def test_a_label_that_is_unknown_everywhere_has_probability_a_half():
    X, Y = problem()
    with pytest.warns(UserWarning, match="1 of 4 labels are unknown in every row"):
        fit = VariationalProbit().fit(X, np.column_stack([Y[:, :1], np.full(40, np.nan), Y[:, 1:]]))
    P, expected = fit.predict_proba(X), VariationalProbit().fit(X, Y)
    assert np.all(P[:, 1] == 0.5) and np.all(fit.coef_[:, 1] == 0) and fit.predict(X).shape == (40, 4)
    np.testing.assert_allclose(P[:, [0, 2, 3]], expected.predict_proba(X), atol=1e-10)


def test_an_array_of_priors_and_what_becomes_of_x(monkeypatch):
    X, Y = problem(10, 30)
    fit = VariationalProbit(np.array(HYPER)).fit(X, Y)
    P = fit.predict_proba(X.copy())
    new = X.copy()
    X[:] = 5.0
    np.testing.assert_array_equal(fit.predict_proba(new), P)
    monkeypatch.setattr(VariationalProbit, "_scores", None)
    np.testing.assert_array_equal(fit.predict(new), P > 0.5)


def test_exact_sweeps_are_no_convergence():
    assert not VariationalProbit(tol=0, max_iter=5).fit(*problem()).converged_


def test_extrapolation_ends_at_the_same_place():
    X, Y = problem(80, 6)
    slow = VariationalProbit(tol=0, max_iter=500, accelerate=False).fit(X, Y)
    fast = VariationalProbit(tol=0, max_iter=150).fit(X, Y)
    assert fast.lower_bound_[-1] >= slow.lower_bound_[-1] > fast.lower_bound_[-1] - 1e-4
    assert max(fast.lower_bound_[:50]) > slow.lower_bound_[100]
    np.testing.assert_allclose(fast.coef_, slow.coef_, atol=2e-3)


def test_one_class_a_row():
    X, Y = problem()
    classes = np.array(["b", "c", "a"])[Y.argmax(axis=1)]
    fit = VariationalProbit().fit(X, classes)
    P = fit.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(fit.classes_[P.argmax(axis=1)], fit.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hyper": (1, 1)}, "hyper=.*4 finite numbers"),
        ({"hyper": 3}, "hyper="),
        ({"tol": -1}, "tol=-1"),
        ({"tol": "no"}, "tol='no'"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"refresh": 1.5}, "refresh=1.5"),
        ({"accelerate": "yes"}, "accelerate='yes'"),
    ],
)
def test_settings_that_are_refused(options, message):
    with pytest.raises(ValueError, match=f"VariationalProbit: {message}"):
        VariationalProbit(**options).fit(*problem())


def test_saved_and_told(tmp_path):
    X, Y = problem()
    with pytest.warns(ConvergenceWarning, match="VariationalProbit stopped after 2 sweeps"):
        fit = VariationalProbit(max_iter=2).fit(X, Y)
    again = load(save(fit, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), fit.predict_proba(X))
    assert np.all(np.isfinite(log_ndtr(fit.decision_function(X))))


def test_sets_that_name_no_label_are_refused():
    with pytest.raises(ValueError, match="y names no label"):
        VariationalProbit().fit(np.eye(3), [set(), set(), set()])
