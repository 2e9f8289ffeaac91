"""The dense definitions checked among themselves: the published identities must hold before they judge the package."""

from __future__ import annotations

import numpy as np
import pytest

import strategies
from oracles import dense, hypergraphs, kernels

EXACT = 1e-10


def close(A, B, tolerance=EXACT):
    A, B = np.asarray(A), np.asarray(B)
    assert A.shape == B.shape
    assert np.abs(A - B).max() <= tolerance * max(1.0, np.abs(B).max())


@pytest.fixture(params=range(3), ids=lambda s: f"seed {s}")
def multi(request):
    s = request.param
    X = strategies.features_dense(24 + 8 * s, [40, 7, 12][s], s)
    return X, strategies.labels_awkward(len(X), s) if s == 2 else strategies.labels_multi(len(X), 4, s)


@pytest.fixture(params=range(2), ids=lambda s: f"seed {s}")
def single(request):
    s = request.param
    X = strategies.features_dense(30, [45, 6][s], 10 + s)
    return X, strategies.one_hot(strategies.labels_classes(30, 4, s))


def test_scatters_add_up_and_match_their_matrix_forms(single):
    X, Y = single
    Sb, Sw, St, _ = dense.scatters(X, Y.argmax(axis=1))
    H = Y @ np.diag(1 / Y.sum(axis=0)) @ Y.T
    n = len(X)
    close(Sb + Sw, St)
    close(Sb, X.T @ (H - np.ones((n, n)) / n) @ X)
    close(Sw, X.T @ dense.laplacian(H) @ X)


def test_one_hot_labels_make_fda_cca_mlda_and_hsl_one_problem(single):
    X, Y = single
    reference = dense.fda(X, Y, ridge=0.3)
    rivals = [dense.cca(X, Y, ridge=0.3), dense.mlda(X, Y, ridge=0.3), dense.mesd_fda(X, Y, ridge=0.3)]
    rivals += [dense.hsl(X, Y, e, ridge=0.3) for e in ("clique", "star", "zhou")]
    for rival in rivals:
        close(rival.Ap, reference.Ap)
        close(rival.Bp, reference.Bp)
        close(rival.mean, reference.mean)


def test_copies_give_the_closed_forms_of_multi_label_fisher(multi):
    X, Y = multi
    Y = dense.drop_empty(Y)
    m, nk = Y.sum(axis=1), Y.sum(axis=0)
    Hw, Hm = Y @ np.diag(1 / nk) @ Y.T, np.outer(m, m) / m.sum()
    pencil = dense.mesd_fda(X, Y)
    close(pencil.Ap, X.T @ (Hw - Hm) @ X)
    close(pencil.Bp, X.T @ (np.diag(m) - Hm) @ X)
    close(pencil.mean, X.T @ m / m.sum())
    within = dense.mesd_fda(X, Y, constraint="within")
    close(within.Bp, X.T @ (np.diag(m) - Hw) @ X)
    mmc = dense.mesd_mmc(X, Y, lam=0.7)
    close(mmc.Ap, X.T @ (1.7 * Hw - Hm - 0.7 * np.diag(m)) @ X)


def test_a_laplacian_collapses_with_its_weights(multi):
    X, Y = multi
    Y = dense.drop_empty(Y)
    _, _, Ec, _ = dense.copies(X, Y)
    W = np.random.default_rng(0).random((len(Ec), len(Ec)))
    W = W + W.T
    close(Ec.T @ dense.laplacian(W) @ Ec, dense.laplacian(Ec.T @ W @ Ec))


@pytest.mark.parametrize("weighting", ["mimj", "printed"])
def test_weighted_copies_collapse_to_weighted_matrices(multi, weighting):
    X, Y = multi
    Y = dense.drop_empty(Y)
    m = Y.sum(axis=1)
    inverse = hypergraphs.inverse_or_zero(m)
    factor = np.outer(inverse, inverse)
    Hw, Hm = Y @ np.diag(1 / Y.sum(axis=0)) @ Y.T * factor, np.outer(m, m) / m.sum() * factor
    if weighting == "printed":
        Hw = Hw * (Y @ Y.T)
    pencil = dense.mesd_fda(X, Y, weighting=weighting)
    close(pencil.Bp, X.T @ dense.laplacian(Hm) @ X)
    close(pencil.Ap, X.T @ (dense.laplacian(Hm) - dense.laplacian(Hw)) @ X)
    labelled = X[m > 0]
    D = labelled - labelled.mean(axis=0)
    close(pencil.Bp, len(labelled) / m.sum() * D.T @ D)


def test_copy_lda_is_fisher_on_the_copies(multi):
    X, Y = multi
    one, other = dense.copy_lda(X, Y, ridge=0.2), dense.mesd_fda(X, Y, ridge=0.2)
    for a, b in zip(one, other, strict=True):
        close(np.asarray(a, float), np.asarray(b, float))


def test_mlda_and_dmlda_match_their_matrix_forms(multi):
    X, Y = multi
    Y = dense.drop_empty(Y)
    Q = dense.mlda_weights(Y)
    q, s = Q.sum(axis=0), Q.sum(axis=1)
    close(dense.mlda(X, Y).Ap, X.T @ (Q @ np.diag(1 / q) @ Q.T - np.outer(s, s) / s.sum()) @ X)
    close(dense.mlda(X, Y).Bp, X.T @ (np.diag(s) - np.outer(s, s) / s.sum()) @ X)

    n, c = Y.shape
    for weights in ("labels", "mlda"):
        Q = {"labels": Y, "mlda": dense.mlda_weights(Y)}[weights]
        q, s, one = Q.sum(axis=0), Q.sum(axis=1), np.ones(n)
        Sw = X.T @ (np.diag(s) - Q @ np.diag(1 / q) @ Q.T) @ X
        v = Q @ (1 / q)
        B1 = c * np.eye(n) - np.outer(one, v) - np.outer(v, one) + n * Q @ np.diag(q**-2) @ Q.T
        pencil = dense.dmlda(X, Y, weights)
        close(pencil.Ap, X.T @ B1 @ X - Sw)
        close(pencil.Bp, Sw)


def test_unbiased_hsic_is_the_u_centred_label_kernel(multi):
    X, Y = multi
    L = dense.label_kernel(dense.drop_empty(Y), "linear")
    n = len(L)
    L = L - np.diag(np.diag(L))
    r, s, one = L.sum(axis=1), L.sum(), np.ones(n)
    A = L - (np.outer(r, one) + np.outer(one, r)) / (n - 2) + s / ((n - 1) * (n - 2))
    A = (A - np.diag(np.diag(A))) / (n * (n - 3))
    close(A.sum(axis=1), np.zeros(n))
    close(dense.sfehs(X, Y).Ap, X.T @ A @ X)
    close((n - 1) ** 2 * dense.sfehs(X, Y, "biased").Ap, dense.mddm(X, Y).Ap)


def test_variance_and_dependence_ends(multi):
    X, Y = multi
    close(dense.mvmd(X, Y, beta=0.0).Ap, dense.pca(X).Ap)
    close(dense.mvmd(X, Y, beta=1.0, coding="01").Ap, dense.mddm(X, Y).Ap)
    close(dense.mddm(X, Y).Ap, dense.pls(X, Y).Ap)
    mix = 0.8
    features, ridge = dense.mddm(X, Y, "features", mix), dense.opls(X, Y, (1 - mix) / mix)
    close(features.Ap, ridge.Ap)
    close(features.Bp, mix * ridge.Bp)


def test_equal_class_sizes_make_one_hypergraph():
    rng = np.random.default_rng(3)
    n, c, size = 20, 4, 8
    Y = np.zeros((n, c))
    for e in range(c):
        Y[rng.choice(n, size, replace=False), e] = 1.0
    weights = np.ones(c)
    S = hypergraphs.zhou_similarity(Y, weights)
    close(hypergraphs.clique_similarity(Y, weights), S)
    close(hypergraphs.star_similarity(Y, weights), S)
    loop_free = hypergraphs.clique_similarity(Y, weights, self_loops=False)
    some = np.diag((Y.sum(axis=1) > 0).astype(float))
    close(loop_free, (size * S - some) / (size - 1))


def test_latent_methods_meet_cca_opls_and_pca():
    X, Y = strategies.features_dense(40, 8, 5), strategies.labels_multi(40, 4, 5)
    Xc = X - X.mean(axis=0)
    P, _ = dense.dense_solve(*dense.morp(X, Y, beta=1.0, penalty=0.0, eps=0.1)[:2], Xc, 4)
    Yc = Y - Y.mean(axis=0)
    ridge_y = 0.1 * np.trace(Yc @ Yc.T) / len(X)
    Q, _ = dense.dense_solve(*dense.cca(X, Y, ridge_y=ridge_y)[:2], Xc, 4)
    assert dense.subspace_error(P, Q) < 1e-8
    close(dense.mlsi(X, Y, 1.0, 0.2, form="ratio", center=True).Ap, dense.opls(X, Y).Ap)
    P, _ = dense.dense_solve(*dense.mlsi(X, Y, 0.0, 1e-9, form="ratio", center=True)[:2], Xc, 3)
    Q, _ = dense.dense_solve(*dense.pca(X)[:2], Xc, 3)
    assert dense.subspace_error(P, Q) < 1e-8


def test_the_closed_form_of_the_shared_subspace_minimises_its_objective():
    X, Y = strategies.features_dense(40, 10, 6), strategies.labels_multi(40, 5, 6)
    pencil = dense.mlls(X, Y, 0.9, 0.2)
    P, _ = dense.dense_solve(pencil.Ap, pencil.Bp, X - pencil.mean, 2)
    best = dense.mlls_objective(X, Y, np.linalg.qr(P)[0], 0.9, 0.2)
    rng = np.random.default_rng(0)
    rivals = [np.linalg.qr(P + 0.1 * rng.standard_normal(P.shape))[0] for _ in range(50)]
    rivals += [np.linalg.qr(rng.standard_normal(P.shape))[0] for _ in range(50)]
    assert best < min(dense.mlls_objective(X, Y, Theta, 0.9, 0.2) for Theta in rivals)


def test_canonical_correlations_are_the_roots_of_the_eigenvalues():
    X, Y = strategies.features_dense(40, 8, 7), strategies.labels_multi(40, 4, 7)
    pencil = dense.cca(X, Y)
    _, w = dense.dense_solve(pencil.Ap, pencil.Bp, X - pencil.mean, 4)
    close(np.sqrt(w), kernels.canonical_correlations(X, Y))


def test_the_linear_kernel_changes_nothing():
    X, Y = strategies.features_dense(30, 6, 8), strategies.labels_multi(30, 3, 8)
    pencil = dense.opls(X, Y)
    P, w = dense.dense_solve(pencil.Ap, pencil.Bp, X - pencil.mean, 3)
    Z, Zq, wk = kernels.kernel_embedding(lambda T: dense.opls(T, Y), X, X[:5] + 0.1, "linear", 3)
    close(wk, w)
    assert dense.gram_error(Z, (X - pencil.mean) @ P) < EXACT
    assert dense.gram_error(Zq, (X[:5] + 0.1 - pencil.mean) @ P) < EXACT
