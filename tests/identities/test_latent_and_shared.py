"""SLVM, MLSI, MORP and MLLS at the ends of their parameters, where they are better-known methods."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import strategies
from identities.comparison import IDENTITY, assert_same_embedding, assert_same_span, span_distance
from invariants.cases import assert_same_gram, projected_rows
from oracles import dense
from proxembed import CCA, LSI, MLLS, MLSI, MORP, OPLS, PCA, SLVM, Kernelized, RowBlocks

FIXTURES = strategies.problems_multi()
WIDE, TALL = FIXTURES[0], FIXTURES[1]
VANISHING = 1e-12


@pytest.fixture(params=FIXTURES, ids=lambda p: p.name)
def problem(request):
    return request.param


def label_rank(problem) -> int:
    return int(np.linalg.matrix_rank(problem.Y - problem.Y.mean(axis=0)))


def top_eigenvectors(K, k):
    return np.linalg.eigh(K)[1][:, ::-1][:, :k]


@pytest.mark.parametrize("beta", [0.0, 0.2, 0.5, 1.0])
def test_slvm_is_the_left_singular_vectors_of_the_stack(problem, beta):
    stack = np.hstack([np.sqrt(beta) * problem.Y, np.sqrt(1 - beta) * problem.dense])
    U, s, _ = np.linalg.svd(stack, full_matrices=False)
    fitted = SLVM(n_components=2, beta=beta, balance="none").fit(problem.X, problem.Y.astype(int))
    assert span_distance(fitted.embedding_, U[:, :2]) < IDENTITY
    np.testing.assert_allclose(fitted.eigenvalues_, s[:2] ** 2, rtol=IDENTITY)


def test_slvm_without_labels_is_lsi(problem):
    slvm = SLVM(n_components=3, beta=0.0).fit(problem.X, problem.Y.astype(int))
    lsi = LSI(n_components=3).fit(problem.X)
    assert span_distance(slvm.embedding_, lsi.transform(problem.X)) < IDENTITY


@pytest.mark.parametrize("penalty", [0.05, 1.0])
def test_ratio_form_of_mlsi_ends_at_opls_and_at_pca(problem, penalty):
    Y, k = problem.Y.astype(int), label_rank(problem)
    ratio = MLSI(n_components=k, beta=1.0, penalty=penalty, form="ratio", center=True).fit(problem.X, Y)
    opls = OPLS(n_components=k, ridge=penalty, ridge_scale="absolute").fit(problem.X, Y)
    assert_same_embedding(ratio, opls, problem.X)
    variance = MLSI(n_components=2, beta=0.0, penalty=VANISHING, form="ratio", center=True).fit(problem.X, Y)
    assert_same_span(variance, PCA(n_components=2).fit(problem.X), 1e-7)


@pytest.mark.parametrize("form", ["inverse", "ratio"])
def test_mlsi_finds_the_joint_kernel_when_the_rows_are_independent(form):
    _, K = dense.joint_kernel(WIDE.dense, WIDE.Y, 0.4, center=False)
    assert np.linalg.matrix_rank(WIDE.dense) == len(K)
    fitted = MLSI(n_components=3, beta=0.4, penalty=VANISHING, form=form).fit(WIDE.X, WIDE.Y.astype(int))
    assert span_distance(fitted.transform(WIDE.X), top_eigenvectors(K, 3)) < 1e-7


def test_morp_finds_the_joint_kernel_when_the_rows_are_independent():
    Xc, K = dense.joint_kernel(WIDE.dense, WIDE.Y, 0.4, center=True)
    assert np.linalg.matrix_rank(Xc) == len(K) - 1
    fitted = MORP(n_components=3, beta=0.4, penalty=VANISHING).fit(WIDE.X, WIDE.Y.astype(int))
    assert span_distance(fitted.transform(WIDE.X), top_eigenvectors(K, 3)) < 1e-7


def test_inverse_forms_ignore_the_labels_where_features_and_labels_are_independent():
    """X'K^-1 X is I / (1 - beta) there."""
    X = strategies.features_dense(60, 8, 4)
    Y = strategies.labels_multi(60, 3, 4)
    assert np.linalg.matrix_rank(np.hstack([np.ones((60, 1)), X, Y])) == 1 + 8 + Y.shape[1]
    shuffled = Y[np.random.default_rng(0).permutation(60)]
    rivals = {MORP(n_components=3): PCA(n_components=3), MLSI(n_components=3): LSI(n_components=3)}
    for method, rival in rivals.items():
        for beta, labels in ((0.1, Y), (0.9, Y), (0.5, shuffled)):
            for options in ({}, {"balance": "trace"}):
                fitted = clone(method).set_params(beta=beta, **options)
                with pytest.warns(UserWarning, match=r'y has no effect.*Use form="ratio" with balance="trace"'):
                    fitted.fit(X, labels)
                assert_same_span(fitted, rival.fit(X), 1e-5)
    with pytest.warns(UserWarning, match="MORP: y has no effect"):
        MORP(n_components=3).fit(RowBlocks.from_arrays(X, Y, block_rows=17))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for options in ({"form": "ratio"}, {"beta": 0.0}, {"beta": 1.0}, {"eps": 1.0}):
            MORP(n_components=3, **options).fit(X, Y)
        MORP(n_components=3).fit(WIDE.X, WIDE.Y.astype(int))
    ratio = MORP(n_components=3, form="ratio", balance="trace").fit(X, Y)
    assert span_distance(ratio.components_.T, PCA(n_components=3).fit(X).components_.T) > 1e-2


def test_the_ratio_form_is_slvm_within_linear_maps_and_the_limit_of_a_large_eps():
    Xc, K = dense.joint_kernel(WIDE.dense, WIDE.Y, 0.4, center=True, balance="trace")
    options = {"n_components": 3, "beta": 0.4, "penalty": VANISHING, "balance": "trace"}
    ratio = MORP(form="ratio", **options).fit(WIDE.X, WIDE.Y.astype(int))
    slvm = SLVM(n_components=3, beta=0.4, center=True).fit(WIDE.X, WIDE.Y.astype(int))
    assert span_distance(ratio.transform(WIDE.X), slvm.embedding_) < 1e-7  # as every vector is Xp
    np.testing.assert_allclose(ratio.eigenvalues_, np.linalg.eigvalsh(K)[::-1][:3], rtol=1e-7)
    Y = TALL.Y.astype(int)
    ratio = MORP(form="ratio", **options).fit(TALL.X, Y)
    limit = MORP(eps=1e4, **options).fit(TALL.X, Y)
    assert_same_span(ratio, limit, 1e-3)


@pytest.mark.parametrize("eps", [1e-3, 1e-1, 10.0])
def test_morp_of_labels_alone_is_cca_with_a_ridge_on_the_labels(eps):
    Y = TALL.Y.astype(int)
    Yc = TALL.Y - TALL.Y.mean(axis=0)
    ridge_y = eps * np.linalg.norm(Yc) ** 2 / len(Y)
    for k in (1, 3):
        morp = MORP(n_components=k, beta=1.0, penalty=VANISHING, eps=eps).fit(TALL.X, Y)
        cca = CCA(n_components=k, ridge=0.0, ridge_y=ridge_y, ridge_scale="absolute").fit(TALL.X, Y)
        assert_same_span(morp, cca, 1e-7)


def test_morp_of_labels_alone_tends_to_opls_as_the_regularisation_grows():
    Y = TALL.Y.astype(int)
    opls = OPLS(n_components=2, ridge=0.0).fit(TALL.X, Y)

    def distance(eps):
        morp = MORP(n_components=2, beta=1.0, penalty=VANISHING, eps=eps).fit(TALL.X, Y)
        return span_distance(morp.components_.T, opls.components_.T)

    far, near, nearest = distance(1.0), distance(1e2), distance(1e4)
    assert far > 1e-3
    assert near < 0.1 * far
    assert nearest < 1e-3 * far


def test_morp_of_features_alone_is_whitened_pca():
    morp = MORP(n_components=3, beta=0.0, penalty=VANISHING, eps=1e-7).fit(TALL.X, TALL.Y.astype(int))
    pca = PCA(n_components=3).fit(TALL.X)
    assert_same_span(morp, pca, 1e-6)
    Z = morp.transform(TALL.X)
    np.testing.assert_allclose(Z.T @ Z, np.eye(3), rtol=0, atol=IDENTITY)


@pytest.mark.parametrize("beta", [0.1, 0.5])
def test_mlls_without_sharing_spans_the_ridge_coefficients(problem, beta):
    k, n = label_rank(problem), len(problem.Y)
    fitted = MLLS(n_components=k, alpha=1e-9, beta=beta).fit(problem.X, problem.Y.astype(int))
    opls = OPLS(n_components=k, ridge=n * beta, ridge_scale="absolute").fit(problem.X, problem.Y.astype(int))
    assert_same_span(fitted, opls, 1e-6)


def test_mlls_without_sharing_has_the_leading_directions_of_the_ridge_coefficients():
    """Of fewer components than the rank of Xc'Yc, which are not those of OPLS."""
    beta, n, d = 0.1, *TALL.dense.shape
    Xc, Yc = TALL.dense - TALL.dense.mean(axis=0), TALL.Y - TALL.Y.mean(axis=0)
    W = np.linalg.solve(Xc.T @ Xc + n * beta * np.eye(d), Xc.T @ Yc)
    leading = np.linalg.svd(W)[0][:, :2]
    theta = MLLS(n_components=2, alpha=1e-9, beta=beta).fit(TALL.X, TALL.Y.astype(int)).components_
    np.testing.assert_allclose(theta.T @ theta, leading @ leading.T, rtol=0, atol=1e-6)
    opls = OPLS(n_components=2, ridge=n * beta, ridge_scale="absolute", scaling="orthonormal")
    own = opls.fit(TALL.X, TALL.Y.astype(int)).components_
    assert np.abs(own.T @ own - leading @ leading.T).max() > 1e-3


def test_mlls_objective_differs_from_its_trace_ratio_by_a_constant():
    alpha, beta, n = 0.9, 0.2, len(TALL.Y)
    pencil = dense.mlls(TALL.dense, TALL.Y, alpha, beta)
    fitted = MLLS(n_components=2, alpha=alpha, beta=beta).fit(TALL.X, TALL.Y.astype(int))

    def total(Theta):
        gain = np.trace(np.linalg.solve(Theta.T @ pencil.Bp @ Theta, Theta.T @ pencil.Ap @ Theta))
        return dense.mlls_objective(TALL.dense, TALL.Y, Theta, alpha, beta) + alpha / n**2 * gain

    rng = np.random.default_rng(0)
    randoms = [np.linalg.qr(rng.standard_normal(fitted.components_.T.shape))[0] for _ in range(5)]
    values = [total(Theta) for Theta in [fitted.components_.T, *randoms]]
    np.testing.assert_allclose(values, values[0], rtol=IDENTITY)


def test_mlls_predictor_solves_its_own_problem():
    alpha, beta = 0.9, 0.2
    fitted = MLLS(n_components=2, alpha=alpha, beta=beta).fit(TALL.X, TALL.Y.astype(int))
    Xc, Yc, mean = dense.centred_pair(TALL.dense, TALL.Y)
    n, d = Xc.shape
    Theta = fitted.components_.T
    M1 = Xc.T @ Xc / n + (alpha + beta) * np.eye(d)
    W = np.linalg.solve(M1 - alpha * Theta @ Theta.T, Xc.T @ Yc / n)
    new = TALL.dense[:8] + 0.2
    expected = (new - mean) @ W + TALL.Y.mean(axis=0)
    scores = fitted.decision_function(new)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=IDENTITY * np.abs(expected).max())


@pytest.mark.parametrize(
    "kernel",
    [
        {"tau": 9.0},
        {"kernel": "polynomial"},
        {"tau": 9.0, "n_prototypes": 20, "random_state": 0},
        {"tau": 9.0, "n_prototypes": 20, "random_state": 0, "constraint": "coef"},
    ],
)
def test_mlls_inside_a_kernel_is_mlls_of_the_coordinates(kernel):
    """Both penalties are on predictors of the kernel's coordinates: X'X of the rows themselves has no part."""
    X, Y = TALL.X, TALL.Y.astype(int)
    method = MLLS(n_components=2, alpha=0.7, beta=0.02)
    model = Kernelized(method, **kernel).fit(X, Y)
    R = projected_rows(model, X, Y)
    assert_same_gram(model.transform(X), method.fit(R, Y).transform(R), 1e-8)
    if "n_prototypes" in kernel:
        blocks = Kernelized(method, **kernel).fit(RowBlocks.from_arrays(X, Y, block_rows=11))
        assert_same_gram(model.transform(X), blocks.transform(X), 1e-8)
