"""Identities of the coupled Bayesian model: the bound by simulation, limits where two methods are one, symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import gamma, norm

import strategies
from oracles.coupled import Plain
from proxembed import BSML, BSSML, VariationalProbit

DRAWS = 20_000
CASES = {
    "BSML": {},
    "column": {"prior": "column"},
    "row": {"prior": "row"},
    "numbers": {"numbers": (0, 1)},
    "numbers beside labels, row, unknown cells": {"numbers": (1,), "holes": True, "prior": "row"},
    "narrow z, margin": {"v": 0.3, "margin": 0.5},
    "other priors": {"hyper": (1.3, 0.7, 0.9, 1.4, 1.1, 0.8)},
    "BSSML": {"gap": 0.5},
    "BSSML, unequal, column": {"gap": 0.5, "shares": (0.7, 0.3), "prior": "column"},
    "unknown cells free": {"holes": True},
}


def log_normal(x, mean, precision):
    """log N(x | mean, 1 / precision), entry by entry."""
    return 0.5 * (np.log(precision) - np.log(2 * np.pi) - precision * (x - mean) ** 2)


def gaussians(rng, mean, C):
    """DRAWS vectors from N(mean, C) and their log densities."""
    root = np.linalg.cholesky(C)
    noise = rng.standard_normal((DRAWS, len(mean)))
    logdet = np.log(np.diag(root)).sum()
    return mean + noise @ root.T, -0.5 * (noise**2).sum(axis=1) - logdet - 0.5 * len(mean) * np.log(2 * np.pi)


def above(rng, mean, cut):
    """Draws of t ~ N(mean, 1) beyond the cut."""
    return mean - ndtri(rng.random(DRAWS) * ndtr(mean - cut))


def scores(rng, model, i, o, labels):
    """Draws of t_io from its factor, log q, and log p(observation | t)."""
    m, y = model.M[i, o], model.Y[i, o]
    density = lambda t: norm.logpdf(t - m) - model.log_zeta[i, o]  # noqa: E731
    if labels.get("unknown") is None or not labels["unknown"][i, o]:
        t = y * above(rng, y * m, labels.get("margin", 0.0))
        return t, density(t), 0.0
    if labels.get("gap") is None:
        t = m + rng.standard_normal(DRAWS)
        return t, density(t), 0.0
    gap, prior = labels["gap"], np.array(labels.get("shares", (0.5, 0.5)))
    up = np.exp(np.log(prior[1]) + log_ndtr(m - gap) - model.log_zeta[i, o])
    side = rng.random(DRAWS) < up
    t = np.where(side, above(rng, m, gap), -above(rng, -m, gap))
    weight = np.log(np.where(side, prior[1], prior[0]))
    return t, density(t) + weight, weight


def measured(rng, model, i, o, tau):
    """Draws of the t_io of a number: what was measured, or where that is unknown N(m, 1 / tau)."""
    if not model.hidden(o)[i]:
        return model.Y[i, o], 0.0, 0.0
    t = model.M[i, o] + rng.standard_normal(DRAWS) / np.sqrt(tau)
    return t, log_normal(t, model.M[i, o], tau), 0.0


def simulated(model, labels, rng):
    """log p - log q of DRAWS draws from the factorised posterior."""
    a_lam, b_lam, a_phi, b_phi, a_psi, b_psi = model.hyper
    total = np.zeros(DRAWS)

    def precision(a, b, A, beta):
        nonlocal total
        g = gamma.rvs(A, scale=beta, size=DRAWS, random_state=rng)
        total += gamma.logpdf(g, a, scale=b) - gamma.logpdf(g, A, scale=beta)
        return g

    Q, rows = np.empty((DRAWS, model.d, model.R)), None
    if model.prior == "row":
        rows = [precision(a_phi, b_phi, model.A_phi, model.beta_phi[f, 0]) for f in range(model.d)]
    for s in range(model.R):
        Q[..., s], log_q = gaussians(rng, model.Q[:, s], model.C_Q[s])
        total -= log_q
        shared = precision(a_phi, b_phi, model.A_phi, model.beta_phi[0, s]) if model.prior == "column" else None
        for f in range(model.d):
            phi = shared if rows is None else rows[f]
            phi = precision(a_phi, b_phi, model.A_phi, model.beta_phi[f, s]) if phi is None else phi
            total += log_normal(Q[:, f, s], 0.0, phi)
    Z = np.empty((DRAWS, len(model.X), model.R))
    for i, x in enumerate(model.X):
        Z[:, i], log_q = gaussians(rng, model.Z[i], model.C_Z)
        total += log_normal(Z[:, i], np.einsum("f,kfs->ks", x, Q), 1 / model.v).sum(axis=1) - log_q
    for o in range(model.L):
        w, log_q = gaussians(rng, model.B[:, o], model.C_B[o])
        total -= log_q
        total += log_normal(w[:, 0], 0.0, precision(a_lam, b_lam, a_lam + 0.5, model.beta_lam[o]))
        for s in range(model.R):
            total += log_normal(w[:, s + 1], 0.0, precision(a_psi, b_psi, a_psi + 0.5, model.beta_psi[s, o]))
        tau = precision(1e-3, 1e3, model.A_tau[o], model.beta_tau[o]) if o in model.numbers else 1.0
        for i in range(len(model.X)):
            drawn = measured(rng, model, i, o, tau) if o in model.numbers else scores(rng, model, i, o, labels)
            t, log_q, observed = drawn
            total += log_normal(t, (Z[:, i] * w[:, 1:]).sum(axis=1) + w[:, 0], tau) + observed - log_q
    return total


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_the_mean_of_log_p_less_log_q(name):
    case = dict(CASES[name])
    rng = np.random.default_rng(3)
    n, d, R, L = 4, 3, 2, 2
    X, Y = rng.standard_normal((n, d)), np.where(rng.random((n, L)) < 0.5, -1.0, 1.0)
    holes = np.zeros((n, L), dtype=bool)
    holes[[0, 2, 2], [1, 0, 1]] = True
    labels = {key: case.pop(key) for key in ("margin", "gap", "shares") if key in case}
    if case.pop("holes", False) or "gap" in labels:
        labels["unknown"] = holes
    start = [rng.standard_normal(shape) for shape in ((d, R), (n, R), (R + 1, L))]
    T = np.abs(rng.standard_normal((n, L))) * Y
    Y[:, list(case.get("numbers", ()))] *= 0.7
    model = Plain(X, Y, *start, T, **case, **labels)
    for _ in range(6):
        bound = model.sweep()
    differences = simulated(model, labels, rng)
    error = differences.std() / np.sqrt(DRAWS)
    assert abs(differences.mean() - bound) < 4 * error
    assert error < 0.05


def problem(n=50, d=8, c=3, seed=4):
    X, Y = strategies.labelled_rows(n, d, c, seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


@pytest.mark.parametrize(
    "options", [{}, {"prior": "column", "sigma_z": 0.5}, {"prior": "row"}, {"margin": 0.5}], ids=str
)
def test_without_unknown_cells_bssml_is_bsml(options):
    X, Y = problem()
    one, other = (cls(tol=0, max_iter=40, **options).fit(X, Y) for cls in (BSML, BSSML))
    np.testing.assert_allclose(other.lower_bound_, one.lower_bound_, rtol=1e-12)
    np.testing.assert_allclose(other.components_, one.components_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(other.transduction_, Y)


def test_probit_is_the_coupled_model_with_z_held_at_the_features():
    """The blocks (lambda, Psi), (b, W), T with Z = X and no variance of z."""
    X, Y = problem()
    d, c = X.shape[1], Y.shape[1]
    fit = VariationalProbit(tol=0, max_iter=10, refresh=1, accelerate=False).fit(X, Y)
    from proxembed.methods.bayes.coupled import Coupled, Hyper, State
    from proxembed.methods.bayes.truncated import GammaPrior, LabelSigns

    prior = GammaPrior(1.0, 1.0)
    model = Coupled(X, LabelSigns(2 * Y - 1), Hyper(prior, prior, prior), d)
    model.cov_Z = np.zeros((d, d))
    unit = np.repeat(np.eye(d + 1)[None], c, axis=0)
    state = State(np.eye(d), X, np.zeros((d + 1, c)), 0.8 * (2 * Y - 1), np.ones((d, d)), unit, np.ones(c))
    for _ in range(10):
        model.update_classifiers(state)
        model.update_scores(state)
    np.testing.assert_allclose(fit.coef_, state.B[1:], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fit.intercept_, state.B[0], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", [BSML, BSSML])
@pytest.mark.parametrize("prior", ["entry", "column", "row"])
def test_orders_of_rows_labels_and_features_do_not_matter(cls, prior):
    X, Y = problem()
    Y[5:9, 1] = np.nan
    rng = np.random.default_rng(0)
    rows, columns, features = (rng.permutation(k) for k in (50, 3, 8))
    options = {"prior": prior, "tol": 0, "max_iter": 25}
    one = cls(**options).fit(X, Y)
    other = cls(**options).fit(X[rows][:, features], Y[rows][:, columns])
    np.testing.assert_allclose(other.lower_bound_, one.lower_bound_, rtol=1e-8)
    np.testing.assert_allclose(other.predict_proba(X[:, features]), one.predict_proba(X)[:, columns], rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", [BSML, BSSML])
def test_the_opposite_of_a_label_has_the_opposite_scores(cls):
    X, Y = problem()
    Y[5:9, 1] = np.nan
    flipped = Y.copy()
    flipped[:, 1] = 1 - Y[:, 1]
    one, other = (cls(tol=0, max_iter=25).fit(X, labels) for labels in (Y, flipped))
    expected = one.decision_function(X) * np.array([1, -1, 1])
    np.testing.assert_allclose(other.decision_function(X), expected, rtol=1e-5, atol=1e-6)


def test_unequal_class_priors_break_that_symmetry():
    X, Y = problem()
    Y[5:40, 1] = np.nan
    flipped = Y.copy()
    flipped[:, 1] = 1 - Y[:, 1]
    one, other = (BSSML(class_prior=0.2, tol=0, max_iter=25).fit(X, labels) for labels in (Y, flipped))
    assert np.abs(other.decision_function(X)[:, 1] + one.decision_function(X)[:, 1]).max() > 0.1


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)], ids=str)
def test_one_precision_a_column_is_the_entry_route_with_equal_precisions(shape):
    """The eigenbasis, the features' and the rows' side agree where every entry of a column has the same precision."""
    from proxembed.algebra.arrays.centred import CentredMatrix
    from proxembed.methods.bayes.precision import FeaturePosterior, RowPosterior, SharedPosterior

    rng = np.random.default_rng(2)
    X, Z, p = rng.standard_normal(shape), rng.standard_normal((shape[0], 2)), np.array([0.4, 30.0])
    P = np.repeat(p[None], shape[1], axis=0)
    shared = SharedPosterior(CentredMatrix(X), 0.5)
    means = shared.refresh(p, Z)
    for kind in (FeaturePosterior, RowPosterior):
        route = kind(CentredMatrix(X), 0.5)
        np.testing.assert_allclose(route.refresh(P, Z, False), means, rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(route.logdet, shared.logdet, rtol=1e-9)
        np.testing.assert_allclose(route.diagonal.sum(axis=0), shared.diagonal, rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)], ids=str)
def test_one_precision_a_row_is_the_entry_route_with_equal_columns(shape):
    """One factorisation serves all columns, and so do the inverses that it keeps."""
    from proxembed.algebra.arrays.centred import CentredMatrix
    from proxembed.methods.bayes.precision import TrainingRows, posterior

    rng = np.random.default_rng(2)
    X, Z, other = (rng.standard_normal(size) for size in (shape, (shape[0], 3), (shape[0], 3)))
    p = rng.gamma(0.3, 20.0, (shape[1], 1))
    one, each = (posterior(CentredMatrix(X), 0.5, False) for _ in range(2))
    expected = each.refresh(np.repeat(p, 3, axis=1), Z, True)
    np.testing.assert_allclose(one.refresh(p, Z, True), expected, rtol=1e-8, atol=1e-11)
    assert len(one.kept) == 1 and len(each.kept) == 3
    np.testing.assert_allclose(one.means(other), each.means(other), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(one.diagonal, each.diagonal, rtol=1e-12)
    np.testing.assert_allclose(one.logdet, each.logdet, rtol=1e-12)
    forms = TrainingRows.of(CentredMatrix(X)).quadratic_forms(X[:4], p, 0.5)
    K = np.diag(p[:, 0]) + X.T @ X / 0.5
    np.testing.assert_allclose(forms[:, 0], np.diag(X[:4] @ np.linalg.solve(K, X[:4].T)), rtol=1e-8)
