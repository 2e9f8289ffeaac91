"""Components of eigenvalue 0 against dense null spaces: fill="null" of methods of low rank."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.base import clone

import strategies
from proxembed import CCA, FDA, HSL, MDDM, MESD, MLDA, MOPE, OPLS, PCA, PLS, SFEHS, SSDR, CopyLDA, Kernelized, RowBlocks
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix


def indefinite(sets):
    """A similarity of label sets with negative eigenvalues."""
    crossed = sets @ sets[:, ::-1].T
    return sets @ sets.T - 0.4 * (crossed + crossed.T)


RIDGE = {"ridge": 0.2, "ridge_scale": "absolute"}
METHODS = {
    "cca": CCA(**RIDGE),
    "pls": PLS(),
    "opls": OPLS(**RIDGE),
    "opls without ridge": OPLS(ridge=0.0),
    "mddm": MDDM(label_kernel="cosine"),
    "mddm features": MDDM(metric="features"),
    "sfehs": SFEHS(estimator="biased"),
    "hsl": HSL(center=False, **RIDGE),
    "fda": MESD(FDA(**RIDGE)),
    "fda within": MESD(FDA(constraint="within", ridge=0.0)),
    "fda within, of classes": MESD(FDA(constraint="within", ridge=0.0)),  # whose B is singular in the wide case
    "copy-lda": CopyLDA(**RIDGE),
    "mlda": MLDA(**RIDGE),
    "mope": MOPE("labels"),
    "mope, negative eigenvalues": MOPE("labels", similarity=indefinite),
    "mope of embeddings": MOPE("labels", similarity="hamming_linear", constraint="embedding", **RIDGE),
}
SHAPES = {"tall": (50, 12), "wide": (24, 40)}


def filled(method, k):
    """A copy that completes its components to k."""
    inner = "method__fill" if isinstance(method, MESD | Kernelized) else "fill"
    return clone(method).set_params(**{inner: "null", "n_components": k})


def rows_of(shape):
    n, d = SHAPES[shape]
    X = strategies.features_dense(n, d, 3)
    X[:, 1] = 2.0 * X[:, 0]  # of lower rank
    return X, strategies.labels_multi(n, 3)


def oracle(method, X, Y):
    """The method, Ap, Bp, the scatter of the rows, the number of positive eigenvalues, and the null space of Ap within
    the row space and the range of Bp."""
    whole = clone(method).fit(X, Y)
    template = whole.template(Rows(X, LabelMatrix.of(Y)))
    n, d = X.shape
    weights = np.ones(n) if template.offset is None else template.offset
    R = X if template.offset is None else X - weights @ X / weights.sum()
    A = R.T @ template.A.todense(n) @ R
    B = np.zeros((d, d)) if template.B is None else R.T @ template.B.todense(n) @ R
    B += (template.b + whole.ridge_) * np.eye(d)
    S = (weights[:, None] * R).T @ R
    V = sl.orth(S, rcond=1e-11)
    V = V @ sl.orth(V.T @ B @ V, rcond=1e-10)
    w, Q = np.linalg.eigh(V.T @ A @ V)
    zero = np.abs(w) <= 1e-9 * np.abs(w).max()
    return whole, A, B, S, int(np.count_nonzero(w[~zero] > 0)), V @ Q[:, zero]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", METHODS)
def test_null_directions_are_those_of_the_dense_pencil(name, shape):
    X, Y = rows_of(shape)
    Y = np.eye(3)[np.arange(len(X)) % 3] if name.endswith("classes") else Y
    whole, A, B, S, own, N = oracle(METHODS[name], X, Y)
    k = own + N.shape[1]
    model = filled(METHODS[name], k).fit(X, Y)
    P, scale = model.components_.T, np.abs(model.eigenvalues_).max()
    few = whole.n_components_
    np.testing.assert_allclose(P[:, :few].T, whole.components_, rtol=0, atol=1e-9 * np.abs(P).max())
    np.testing.assert_array_equal(model.eigenvalues_[own:], 0.0)
    np.testing.assert_allclose(P.T @ B @ P, np.eye(k), rtol=0, atol=1e-7)
    rest = P[:, own:]
    assert np.abs(rest.T @ A @ rest).max() <= 1e-7 * scale
    axes = N @ sl.eigh(N.T @ S @ N)[1][:, ::-1]  # the largest variance first
    L = np.linalg.cholesky(axes.T @ B @ axes)
    expected = np.linalg.solve(L, axes.T).T
    signs = np.sign(np.sum(expected * (B @ rest), axis=0))
    np.testing.assert_allclose(rest, expected * signs, rtol=0, atol=1e-6 * np.abs(expected).max())
    with pytest.raises(ValueError, match=f"more than the {k} components"):
        filled(METHODS[name], k + 1).fit(X, Y)


@pytest.mark.parametrize("shape", SHAPES)
def test_sparse_rows_weights_routes_and_kernels_have_the_same_directions(shape):
    X, Y = rows_of(shape)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    method = OPLS(fill="null", n_components=7, **RIDGE)
    expected = clone(method).fit(X, Y).transform(X)
    assert np.linalg.matrix_rank(expected) == 7
    for solver in ("primal", "dual", "iterative"):
        found = clone(method).set_params(solver=solver).fit(X, Y).transform(X)
        np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=0, atol=1e-5)
    found = clone(method).fit(sp.csr_array(X), Y).transform(sp.csr_array(X))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    kernel = Kernelized(clone(method), kernel="linear").fit(X, Y)
    np.testing.assert_allclose(np.abs(kernel.transform(X)), np.abs(expected), rtol=0, atol=1e-7)
    times = 1 + np.arange(len(X)) % 3
    weighed = clone(method).fit(X, Y, sample_weight=times).transform(X)
    repeated = clone(method).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0)).transform(X)
    np.testing.assert_allclose(weighed, repeated, rtol=0, atol=1e-8)
    huge = clone(method).set_params(ridge_scale="trace").fit(1e120 * X, Y).transform(1e120 * X)
    np.testing.assert_allclose(
        huge, clone(method).set_params(ridge_scale="trace").fit(X, Y).transform(X), rtol=0, atol=1e-8
    )


def test_components_are_completed_where_more_are_asked_for():
    X, Y = rows_of("tall")
    for method in (MDDM(), MESD(FDA()), OPLS()):
        plain, none = clone(method).fit(X, Y), filled(method, None).fit(X, Y)
        np.testing.assert_array_equal(none.components_, plain.components_)
    with pytest.raises(ValueError, match='or fill="null" for components of eigenvalue 0'):
        MDDM(n_components=6).fit(X, Y)
    more = OPLS(extend=True, n_components=6).fit(X, Y)
    both = OPLS(extend=True, fill="null", n_components=6).fit(X, Y)
    np.testing.assert_array_equal(both.components_, more.components_)
    short = filled(MDDM(), 6).fit(X, Y).truncate(5)
    np.testing.assert_array_equal(short.components_, filled(MDDM(), 5).fit(X, Y).components_)
    loadings = filled(OPLS(**RIDGE), 6).fit(X, Y).label_loadings_
    np.testing.assert_array_equal(loadings[4:], 0.0)
    predicted = OPLS(target_type="real", scaling="template", **RIDGE).fit(X, X[:, :2] + Y[:, :2])
    longer = filled(predicted, 6).fit(X, X[:, :2] + Y[:, :2])
    np.testing.assert_allclose(longer.predict(X), predicted.predict(X), rtol=1e-8)


def test_deflation_that_leaves_nothing_is_completed():
    """Of rows whose Krylov space is small, by what is orthogonal to it."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((30, 6)))[0]
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    X = U * np.array([3.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    y = U[:, 0] + U[:, 1]
    most = PLS(deflation="simpls", target_type="real", n_components=2, scaling="template").fit(X, y)
    model = PLS(deflation="simpls", target_type="real", n_components=6, scaling="template", fill="null").fit(X, y)
    np.testing.assert_allclose(model.components_[:2], most.components_, rtol=0, atol=1e-9)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.diag(np.diag(Z.T @ Z)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.components_[2:] @ model.components_[2:].T, np.eye(4), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "fit, words",
    [
        (lambda X, Y: OPLS(fill="null", scaling="eigenvalue", n_components=6).fit(X, Y), 'Use scaling="template"'),
        (lambda X, Y: MDDM(fill="null").fit(RowBlocks.from_arrays(X, Y)), "needs the scatter of all rows"),
        (lambda X, Y: SSDR(OPLS(fill="null"), PCA()).fit(X, Y), 'use fill="none"'),
        (lambda X, Y: MDDM(fill="zero").fit(X, Y), "must be .none. or .null."),
    ],
)
def test_what_has_no_such_directions_is_refused(fit, words):
    with pytest.raises(ValueError, match=words):
        fit(*rows_of("tall"))
