"""The scalings of P, the trace ratio, and the read-out that gives SLVM its new rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import strategies
from designs import each_value
from identities.comparison import IDENTITY, span_distance
from oracles import dense
from proxembed import FDA, MORP, OPLS, SLVM

RIDGE = {"ridge": 0.2, "ridge_scale": "absolute"}
SINGLE, TALL = strategies.problems_single()[1], strategies.problems_multi()[1]


@pytest.mark.parametrize("problem", strategies.problems_multi(), ids=lambda p: p.name)
def test_scalings_are_one_solution_in_four_units(problem):
    Y = problem.Y.astype(int)

    def fitted(scaling):
        return OPLS(n_components=3, scaling=scaling, **RIDGE).fit(problem.X, Y)

    template = fitted("template")
    P, w = template.components_.T, template.eigenvalues_
    tolerance = {"rtol": 0, "atol": IDENTITY * np.abs(P).max()}
    np.testing.assert_allclose(fitted("unit").components_.T, P / np.linalg.norm(P, axis=0), **tolerance)
    np.testing.assert_allclose(fitted("eigenvalue").components_.T, P * np.sqrt(w), **tolerance)
    orthonormal = fitted("orthonormal").components_.T
    np.testing.assert_allclose(orthonormal.T @ orthonormal, np.eye(3), rtol=0, atol=1e-12)
    for k in (1, 2, 3):  # nested: the first k columns span what the first k components span
        assert span_distance(orthonormal[:, :k], P[:, :k]) < IDENTITY


def test_eigenvalue_scaling_of_a_minimisation_uses_the_reciprocal():
    # MORP's own scaling: component j times sqrt(1/mu_j), mu_j the minimised value.
    Y = TALL.Y.astype(int)
    template = MORP(n_components=2).fit(TALL.X, Y)
    own = MORP(n_components=2, scaling="eigenvalue").fit(TALL.X, Y)
    expected = template.components_ / np.sqrt(template.eigenvalues_)[:, None]
    np.testing.assert_allclose(own.components_, expected, rtol=0, atol=IDENTITY * np.abs(expected).max())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_trace_ratio_is_a_fixed_point_that_no_ratio_trace_solution_beats(k):
    Sb, Sw, _, _ = dense.scatters(SINGLE.X, SINGLE.classes)
    B = Sw + 0.2 * np.eye(len(Sw))

    def ratio(P):
        Q = np.linalg.qr(P)[0]
        return np.trace(Q.T @ Sb @ Q) / np.trace(Q.T @ B @ Q)

    options = {"n_components": k, "constraint": "within", **RIDGE}
    best = FDA(criterion="trace_ratio", **options).fit(SINGLE.X, SINGLE.classes).components_.T
    np.testing.assert_allclose(best.T @ best, np.eye(k), rtol=0, atol=1e-12)
    shifted = np.linalg.eigvalsh(Sb - ratio(best) * B)
    assert abs(shifted[-k:].sum()) < IDENTITY * np.abs(shifted).max()
    other = FDA(criterion="ratio_trace", **options).fit(SINGLE.X, SINGLE.classes).components_.T
    assert ratio(best) >= ratio(other) * (1 - 1e-12)
    rng = np.random.default_rng(0)
    assert ratio(best) > max(ratio(best + 0.1 * rng.standard_normal(best.shape)) for _ in range(50))


@each_value
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("problem", strategies.problems_multi(), ids=lambda p: p.name)
def test_slvm_places_new_rows_by_ridge_and_seen_rows_where_they_are(problem, center):
    fitted = SLVM(n_components=2, center=center, **RIDGE).fit(problem.X, problem.Y.astype(int))
    new = problem.dense[:6] + 0.1 * strategies.features_dense(6, problem.X.shape[1], 31)
    expected = Ridge(alpha=0.2, solver="svd").fit(problem.dense, fitted.embedding_).predict(new)
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=0, atol=IDENTITY * np.abs(expected).max())
    if len(np.unique(problem.dense, axis=0)) == len(problem.dense):
        np.testing.assert_allclose(fitted.transform(problem.X), fitted.embedding_, rtol=0, atol=1e-12)
