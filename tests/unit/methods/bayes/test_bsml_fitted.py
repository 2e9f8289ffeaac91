"""BSML and BSSML after their sweeps: probabilities and transduction by formula, what a fit keeps, rows in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

import strategies
from memory import traced_memory
from proxembed import BSML, BSSML
from proxembed.methods.bayes.bsml import Coupling


def problem(n=40, d=9, c=4, seed=3):
    X, Y = strategies.labelled_rows(n, d, c, seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), Y


def test_empirical_priors_are_smoothed_shares_of_the_known_cells():
    X, Y = problem(60, 9)
    Y[20:, 1], Y[5:, 2] = np.nan, np.nan
    known = ~np.isnan(Y)
    shares = (np.where(known, Y, 0).sum(axis=0) + 1) / (known.sum(axis=0) + 2)
    named, given = (BSSML(class_prior=p, tol=0, max_iter=9).fit(X, Y) for p in ("empirical", list(shares)))
    np.testing.assert_allclose(named.lower_bound_, given.lower_bound_, rtol=1e-13)
    np.testing.assert_allclose(named.predict_proba(X), given.predict_proba(X), rtol=0, atol=1e-12)


def by_formula(fit, X, gap, prior):
    """P(+) of the two sides of a gap, from the fitted arrays."""
    Z1 = np.column_stack([np.ones(len(X)), X @ fit.components_.T])
    mean = Z1 @ np.vstack([fit.bias_, fit.weights_])
    root = np.sqrt(1 + np.stack([np.einsum("ir,rs,is->i", Z1, C, Z1) for C in fit._covariance], axis=1))
    up, down = prior * norm.cdf((mean - gap) / root), (1 - prior) * norm.cdf((-mean - gap) / root)
    return up / (up + down)


def test_probabilities_leave_out_the_gap_and_weigh_the_sides():
    X, Y = problem(60, 9)
    new = problem(30, 9, seed=11)[0]
    fit = BSML(margin=0.5, tol=0, max_iter=10).fit(X, Y)
    np.testing.assert_allclose(fit.predict_proba(new), by_formula(fit, new, 0.5, 0.5), rtol=1e-8)
    Y[30:] = np.nan
    fit = BSSML(class_prior=0.3, gap=0.4, tol=0, max_iter=10).fit(X, Y)
    expected = by_formula(fit, new, 0.4, 0.3)
    np.testing.assert_allclose(fit.predict_proba(new), expected, rtol=1e-8)
    np.testing.assert_array_equal(fit.predict(new), expected > 0.5)
    mean = fit.transform(new) @ fit.weights_ + fit.bias_
    assert np.any((mean > 0) != (expected > 0.5))  # the weights of the sides do decide


def test_transduction_weighs_the_sides_of_the_gap(monkeypatch):
    X, Y = problem(60, 9)
    Y[20:] = np.nan
    real = Coupling._store

    def planted(self, found, model, rows):
        found.state.Z, found.state.B[0] = found.state.Z * 0.5, 0.0
        real(self, found, model, rows)

    monkeypatch.setattr(Coupling, "_store", planted)
    fit = BSSML(class_prior=0.2, gap=1.5, tol=0, max_iter=15).fit(X, Y)
    scores = fit.transductive_scores_
    odds = np.log(0.2 / 0.8) + norm.logcdf(scores - 1.5) - norm.logcdf(-scores - 1.5)
    np.testing.assert_array_equal(fit.transduction_[20:], (odds > 0)[20:])
    assert np.any((odds > 0)[20:] != (scores > 0)[20:])
    plain = np.log(0.2 / 0.8) + norm.logcdf(scores) - norm.logcdf(-scores)
    assert np.any((odds > 0)[20:] != (plain > 0)[20:])


def test_transduction_of_classes_is_the_most_likely_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = [*(X[:30] @ rng.standard_normal((2, 6))).argmax(axis=1), *[None] * 30]
    fit = BSSML(tol=0, max_iter=15).fit(X, y)
    scores = fit.transductive_scores_[30:]
    assert np.any((scores > 0).sum(axis=1) != 1)  # not told by the signs
    np.testing.assert_array_equal(fit.transduction_[30:], fit.classes_[scores.argmax(axis=1)])


def test_components_of_a_thousandth_of_the_longest_are_active(monkeypatch):
    X, Y = problem()
    lengths = np.array([1.0, 0.01, 1e-4])
    real = Coupling._store

    def planted(self, found, model, rows):
        found.state.Q = found.state.Q / np.linalg.norm(found.state.Q, axis=0) * lengths
        real(self, found, model, rows)

    monkeypatch.setattr(Coupling, "_store", planted)
    assert BSML(n_components=3, tol=0, max_iter=3).fit(X, Y).n_active_ == 2


def test_signs_are_predicted_without_variances(monkeypatch):
    X, Y = problem(60, 9)
    Y[30:] = np.nan
    fits = [BSSML(tol=0, max_iter=9).fit(X, Y), BSSML(class_prior=0.4, tol=0, max_iter=9).fit(X, Y)]
    expected = [fit.predict_proba(X) > 0.5 for fit in fits]
    np.testing.assert_array_equal(fits[0].predict(X), expected[0])

    def refuse(self, X):
        raise AssertionError("variances are not wanted")

    monkeypatch.setattr(Coupling, "_scores", refuse)
    np.testing.assert_array_equal(fits[0].predict(X), expected[0])
    with pytest.raises(AssertionError, match="not wanted"):
        fits[1].predict(X)


@pytest.mark.parametrize("shape", [(40, 9), (12, 30)], ids=str)
@pytest.mark.parametrize("form", ["dense", "single", "sparse"])
def test_what_becomes_of_x_and_of_settings_after_fit_does_not_matter(shape, form):
    X, Y = problem(*shape)
    new = problem(5, shape[1], seed=11)[0]
    given = {"dense": X.copy(), "single": X.astype(np.float32), "sparse": sp.csr_array(X)}[form]
    fit = BSSML(n_components=3, predictive="full", tol=0, max_iter=9).fit(given, Y)
    before = fit.transform(new, return_std=True)[1], fit.predict_proba(new)
    (given.data if form == "sparse" else given)[:] = 7.0
    fit.set_params(sigma_z=3.0, margin=0.4, gap=2.0, class_prior=0.1)
    np.testing.assert_array_equal(fit.transform(new, return_std=True)[1], before[0])
    np.testing.assert_array_equal(fit.predict_proba(new), before[1])
    with pytest.raises(ValueError, match="predictive='x' is not allowed"):
        fit.set_params(predictive="x").predict_proba(new)


@pytest.mark.parametrize("holes", [False, True])
def test_blocks_of_features_and_rows_of_x_change_nothing(monkeypatch, holes):
    """Rows of float32 and of sparse matrices are read in blocks; so are the features of few rows."""
    for shape in ((90, 9), (20, 60)):
        X, Y = problem(*shape)
        if holes:
            Y[np.random.default_rng(7).random(Y.shape) < 0.3] = np.nan
        for form in (np.float32, np.float64):
            found = []
            for step in (1000, 7, 1):
                for room in ("algebra.arrays.centred", "methods.bayes.precision"):
                    monkeypatch.setattr(f"proxembed.{room}.block_rows", lambda *_, step=step: step)
                fit = BSSML(tol=0, max_iter=10, accelerate=False).fit(X.astype(form), Y)
                found.append((fit.lower_bound_, fit.predict_proba(X)))
            for bounds, P in found[1:]:
                np.testing.assert_allclose(bounds, found[0][0], rtol=1e-9)
                np.testing.assert_allclose(P, found[0][1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("form", ["mapped", "single"])
def test_rows_are_not_copied(tmp_path, form, holes):
    n, d, dtype = 25_000, 160, np.float64 if form == "mapped" else np.float32
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=dtype, shape=(n, d))
    X[:] = np.random.default_rng(0).standard_normal((n, d))
    Y = (np.asarray(X[:, :2]) > 0).astype(float)
    if holes:
        Y[:6000] = np.nan
    with traced_memory() as memory:
        BSSML(tol=0, max_iter=4).fit(X, Y)
    assert memory.peak < 0.8 * n * d * 8


def test_empirical_priors_favour_the_frequent_side():
    X, Y = problem(60, 9)
    holed = Y.copy()
    holed[10:] = np.nan
    half, shares, each = (BSSML(class_prior=p).fit(X, holed) for p in (0.5, "empirical", list(np.full(4, 0.2))))
    assert each.transduction_[10:].sum() < half.transduction_[10:].sum()
    assert not np.allclose(shares.transductive_scores_, half.transductive_scores_)
