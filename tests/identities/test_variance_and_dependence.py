"""PCA, MVMD, PLS, MDDM, SFEHS, CCA and OPLS where their formulas coincide, and where they must not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import Ridge

import strategies
from identities.comparison import (
    IDENTITY,
    assert_different_span,
    assert_same_embedding,
    assert_same_span,
    span_distance,
)
from oracles import dense, kernels
from proxembed import CCA, FDA, LSI, MDDM, MVMD, OPLS, PCA, PLS, SFEHS

FIXTURES = strategies.problems_multi()


@pytest.fixture(params=FIXTURES, ids=lambda p: p.name)
def problem(request):
    return request.param


def rank_of_labels(problem) -> int:
    Yc = problem.Y - problem.Y.mean(axis=0)
    return int(np.linalg.matrix_rank(Yc))


def ridged(method, ridge, **options):
    return method(ridge=ridge, ridge_scale="absolute", **options)


@pytest.mark.parametrize("coding", ["pm1", "01"])
def test_mvmd_ends_at_pca_and_at_mddm(problem, coding):
    Y = problem.Y.astype(int)
    pca, mddm = PCA(n_components=3).fit(problem.X), MDDM(n_components=3).fit(problem.X, Y)
    variance = MVMD(n_components=3, beta=0.0, coding=coding).fit(problem.X, Y)
    dependence = MVMD(n_components=3, beta=1.0, coding=coding).fit(problem.X, Y)
    assert_same_embedding(variance, pca, problem.X)
    assert_same_embedding(dependence, mddm, problem.X, eigenvalues=False)
    factor = {"pm1": 4.0, "01": 1.0}[coding]  # +1/-1 doubles the centred labels
    np.testing.assert_allclose(dependence.eigenvalues_, factor * mddm.eigenvalues_, rtol=IDENTITY)


def test_mvmd_is_the_svd_of_a_stack(problem):
    beta = 0.3
    Xc = problem.dense - problem.dense.mean(axis=0)
    stack = np.vstack([np.sqrt(1 - beta) * Xc, np.sqrt(beta) * (2 * problem.Y - 1).T @ Xc])
    _, s, Vt = np.linalg.svd(stack, full_matrices=False)
    fitted = MVMD(n_components=3, beta=beta).fit(problem.X, problem.Y.astype(int))
    assert span_distance(fitted.components_.T, Vt[:3].T) < IDENTITY
    np.testing.assert_allclose(fitted.eigenvalues_, s[:3] ** 2, rtol=IDENTITY)


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_mvmd_codings_are_one_family(problem, beta):
    Y = problem.Y.astype(int)
    signs = MVMD(n_components=3, beta=beta, coding="pm1").fit(problem.X, Y)
    zero_one = MVMD(n_components=3, beta=4 * beta / (1 + 3 * beta), coding="01").fit(problem.X, Y)
    assert_same_embedding(zero_one, signs, problem.X, eigenvalues=False)


def test_mddm_with_the_linear_kernel_is_pls(problem):
    Y, k = problem.Y.astype(int), rank_of_labels(problem)
    mddm, pls = MDDM(n_components=k).fit(problem.X, Y), PLS(n_components=k).fit(problem.X, Y)
    assert_same_embedding(mddm, pls, problem.X)


def test_a_callable_label_kernel_is_used_as_it_stands(problem):
    Y = problem.Y.astype(int)
    named = MDDM(n_components=3, label_kernel="rbf", tau=1.7).fit(problem.X, Y)
    given = MDDM(n_components=3, label_kernel=lambda sets: dense.label_kernel(sets, "rbf", 1.7)).fit(problem.X, Y)
    assert_same_embedding(given, named, problem.X)


def test_pca_keeps_the_centred_gram_matrix(problem):
    Xc = problem.dense - problem.dense.mean(axis=0)
    Z = PCA(n_components=int(np.linalg.matrix_rank(Xc))).fit_transform(problem.X)
    np.testing.assert_allclose(Z @ Z.T, Xc @ Xc.T, rtol=0, atol=IDENTITY * np.abs(Xc @ Xc.T).max())


def test_lsi_of_centred_features_is_pca(problem):
    Xc = problem.dense - problem.dense.mean(axis=0)
    assert_same_span(LSI(n_components=3).fit(Xc), PCA(n_components=3).fit(problem.X))


@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_cca_and_opls_span_the_ridge_coefficients_at_full_rank(problem, ridge):
    Y, k = problem.Y.astype(int), rank_of_labels(problem)
    Xc, Yc, _ = dense.centred_pair(problem.dense, problem.Y)
    V = dense.row_space(Xc)
    T = Xc @ V
    coefficients = V @ np.linalg.solve(T.T @ T + ridge * np.eye(T.shape[1]), T.T @ Yc)
    basis = np.linalg.svd(coefficients, full_matrices=False)[0][:, :k]
    cca = ridged(CCA, ridge, n_components=k).fit(problem.X, Y)
    opls = ridged(OPLS, ridge, n_components=k).fit(problem.X, Y)
    softened = ridged(CCA, ridge, n_components=k, ridge_y=0.4).fit(problem.X, Y)
    for fitted in (cca, opls, softened):
        assert span_distance(fitted.components_.T, basis) < IDENTITY


def test_cca_and_opls_differ_below_full_rank():
    X, Y = FIXTURES[1].X, FIXTURES[1].Y.astype(int)
    for k in (1, 2):
        assert_different_span(ridged(CCA, 0.3, n_components=k).fit(X, Y), ridged(OPLS, 0.3, n_components=k).fit(X, Y))


def test_cca_eigenvalues_are_squared_canonical_correlations(problem):
    k = rank_of_labels(problem)
    fitted = CCA(n_components=k, ridge=0.0).fit(problem.X, problem.Y.astype(int))
    correlations = kernels.canonical_correlations(problem.dense, problem.Y)
    np.testing.assert_allclose(fitted.eigenvalues_, correlations[:k] ** 2, rtol=0, atol=IDENTITY)


def test_cca_is_least_squares_when_the_rows_are_independent():
    problem = FIXTURES[0]
    Xc, Yc, _ = dense.centred_pair(problem.dense, problem.Y)
    assert np.linalg.matrix_rank(Xc) == len(Xc) - 1
    w, E = np.linalg.eigh(Yc.T @ Yc)
    W = np.linalg.pinv(Xc) @ Yc @ (E / np.sqrt(w)) @ E.T
    fitted = CCA(n_components=4, ridge=0.0).fit(problem.X, problem.Y.astype(int))
    np.testing.assert_allclose(fitted.eigenvalues_, 1.0, rtol=0, atol=IDENTITY)
    P = fitted.components_.T
    np.testing.assert_allclose(P @ P.T, W @ W.T, rtol=0, atol=IDENTITY * np.abs(W @ W.T).max())


def test_mddm_on_features_is_opls(problem):
    Y = problem.Y.astype(int)
    whole = MDDM(n_components=3, metric="features", mix=1.0).fit(problem.X, Y)
    assert_same_embedding(whole, ridged(OPLS, 0.0, n_components=3).fit(problem.X, Y), problem.X)
    mix = 0.8
    part = MDDM(n_components=3, metric="features", mix=mix).fit(problem.X, Y)
    opls = ridged(OPLS, (1 - mix) / mix, n_components=3).fit(problem.X, Y)
    assert_same_span(part, opls)
    np.testing.assert_allclose(part.eigenvalues_, opls.eigenvalues_ / mix, rtol=IDENTITY)
    none = MDDM(n_components=3, metric="features", mix=0.0).fit(problem.X, Y)
    assert_same_embedding(none, MDDM(n_components=3).fit(problem.X, Y), problem.X)


def test_biased_hsic_is_mddm_and_unbiased_is_not(problem):
    Y = problem.Y.astype(int)
    mddm = MDDM(n_components=2).fit(problem.X, Y)
    biased = SFEHS(n_components=2, estimator="biased").fit(problem.X, Y)
    assert_same_embedding(biased, mddm, problem.X, eigenvalues=False)
    np.testing.assert_allclose(biased.eigenvalues_ * (len(Y) - 1) ** 2, mddm.eigenvalues_, rtol=IDENTITY)
    unbiased = SFEHS(n_components=2).fit(problem.X, Y)
    assert span_distance(unbiased.components_.T, mddm.components_.T) > 1e-4


def test_unbiased_hsic_of_the_embedding_is_the_sum_of_the_eigenvalues(problem):
    fitted = SFEHS(n_components=2).fit(problem.X, problem.Y.astype(int))
    Z = fitted.transform(problem.X)
    value = dense.hsic_unbiased(Z @ Z.T, problem.Y @ problem.Y.T)
    assert fitted.eigenvalues_.sum() == pytest.approx(value, rel=IDENTITY)


@pytest.mark.parametrize("ridge", [0.05, 2.0])
def test_opls_with_its_own_read_out_is_ridge_on_all_features(problem, ridge):
    # Ridge on all features has coefficients W = (Xc'Xc + lam I)^-1 Xc'Yc. OPLS(lam) at full rank spans range(W), so
    # W = Q C with Q an orthonormal basis of the components. Ridge on Z = Xc Q with the same lam minimises
    # ||Xc Q C - Yc||^2 + lam ||C||^2 = ||Xc (QC) - Yc||^2 + lam ||QC||^2, the same objective restricted to range(Q):
    # its minimum is W itself. In the template scaling P'(Xc'Xc + lam I)P = I the same read-out is simply C = Z'Yc,
    # because (Z'Z + lam P'P) C = C.
    Y = problem.Y.astype(int)
    fitted = ridged(OPLS, ridge, n_components=rank_of_labels(problem)).fit(problem.X, Y)
    new = problem.dense[:5] + strategies.features_dense(5, problem.X.shape[1], 77)
    everything = Ridge(alpha=ridge, solver="svd").fit(problem.dense, problem.Y).predict(new)
    Q = np.linalg.qr(fitted.components_.T)[0]
    read_out = Ridge(alpha=ridge, solver="svd").fit((problem.dense - fitted.mean_) @ Q, problem.Y)
    scale = np.abs(everything).max()
    np.testing.assert_allclose(read_out.predict((new - fitted.mean_) @ Q), everything, rtol=0, atol=IDENTITY * scale)
    ybar = problem.Y.mean(axis=0)
    direct = fitted.transform(new) @ (fitted.transform(problem.X).T @ (problem.Y - ybar)) + ybar
    np.testing.assert_allclose(direct, everything, rtol=0, atol=IDENTITY * scale)


def test_ridge_read_out_of_fewer_components_is_not_ridge_on_all_features():
    problem = FIXTURES[1]
    fitted = ridged(OPLS, 0.05, n_components=2).fit(problem.X, problem.Y.astype(int))
    Q = np.linalg.qr(fitted.components_.T)[0]
    everything = Ridge(alpha=0.05).fit(problem.X, problem.Y).predict(problem.X)
    Z = (problem.X - fitted.mean_) @ Q
    assert np.abs(Ridge(alpha=0.05).fit(Z, problem.Y).predict(Z) - everything).max() > 1e-2


def test_opls_on_sparse_rows_is_opls_on_dense_rows():
    problem = next(p for p in FIXTURES if p.name.startswith("text"))
    Y = problem.Y.astype(int)
    sparse = ridged(OPLS, 0.1, n_components=4).fit(problem.X, Y)
    full = ridged(OPLS, 0.1, n_components=4).fit(problem.dense, Y)
    assert_same_embedding(sparse, full, problem.dense)
    np.testing.assert_allclose(sparse.components_, full.components_, rtol=0, atol=IDENTITY)


@settings(max_examples=15, deadline=None)
@given(strategies.general_position(multi=False))
def test_one_hot_labels_make_fda_cca(data):
    X, Y = data
    y = Y.argmax(axis=1)
    fda = ridged(FDA, 0.5, target_type="classes").fit(X, y)  # of few rows of each
    cca = ridged(CCA, 0.5, n_components=fda.n_components_).fit(X, Y.astype(int))
    assert_same_embedding(fda, cca, X)


@settings(max_examples=15, deadline=None)
@given(strategies.general_position())
def test_mddm_is_pls_in_general_position(data):
    X, Y = data
    k = min(rank_of_labels(strategies.Problem("drawn", X, Y)), X.shape[1])
    one, other = MDDM(n_components=k).fit(X, Y.astype(int)), PLS(n_components=k).fit(X, Y.astype(int))
    assert_same_embedding(one, other, X)
