"""Numbers as outputs: the linear methods against NumPy and scikit-learn on four data sets, and against each other."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.cross_decomposition import PLSSVD, PLSRegression
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.linear_model import Ridge

from proxembed import CCA, MDDM, MLLS, MLSI, MORP, MVMD, OPLS, PCA, PLS, SFEHS, SLVM, SSDR, Kernelized, PCovR

SETS = ("jura", "enb", "diabetes", "linnerud")
METHODS = {
    "CCA": CCA(ridge=0.1),
    "OPLS": OPLS(ridge=0.1),
    "PLS": PLS(),
    "PCovR": PCovR(n_components=3, ridge=0.1),
    "MDDM": MDDM(),
    "MDDM features": MDDM(metric="features"),
    "MDDM rbf": MDDM(label_kernel="rbf", n_components=2),
    "SFEHS": SFEHS(n_components=1),
    "SFEHS biased": SFEHS(n_components=1, estimator="biased"),
    "MVMD": MVMD(n_components=2),
    "MVMD traces": MVMD(n_components=2, balance="trace"),
    "MORP": MORP(n_components=2),
    "MLSI": MLSI(n_components=2),
    "MLSI ratio": MLSI(n_components=2, form="ratio", center=True),
    "SLVM": SLVM(n_components=2, ridge=0.1),
    "MLLS": MLLS(),
}
FILLING = [name for name, method in METHODS.items() if method.traits.fills_unknown]  # the others leave such rows out


@pytest.fixture(params=SETS)
def data(request, data_folder):
    return load(request.param, data_folder)


@pytest.fixture
def jura(data_folder):
    return load("jura", data_folder)


@cache
def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """X with standardised columns, and Y in its units; at most 200 rows."""
    if name == "diabetes":
        X, Y = load_diabetes(return_X_y=True)
        Y = Y[:, None] + 0.5  # so that they are no whole numbers
    elif name == "linnerud":
        X, Y = load_linnerud(return_X_y=True)
    else:
        with np.load(folder / f"{name}.npz") as file:
            X, Y = file["X"], file["Y"]
    X, Y = X[:: max(len(X) // 200, 1)], Y[:: max(len(Y) // 200, 1)]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.ascontiguousarray(Y, dtype=np.float64)


def standardised(Y):
    return (Y - Y.mean(axis=0)) / Y.std(axis=0)


def projector(P):
    Q, _ = np.linalg.qr(P)
    return Q @ Q.T


def assert_same_span(P, other, tolerance):
    np.testing.assert_allclose(projector(P), projector(other), rtol=0, atol=tolerance)


def assert_same_up_to_sign(Z, other, tolerance=1e-8):
    signs = np.sign(np.sum(Z * other, axis=0))
    np.testing.assert_allclose(Z * signs, other, rtol=0, atol=tolerance * np.abs(other).max())


def test_the_first_weights_are_those_of_pls_regression(data):
    X, Y = data
    oracle = PLSRegression(1, scale=False, tol=1e-14, max_iter=10_000).fit(X, standardised(Y))
    assert_same_up_to_sign(PLS(n_components=1).fit(X, Y).components_.T, oracle.x_weights_, 1e-7)


def test_pls_spans_what_pls_svd_does(data):
    X, Y = data
    c = Y.shape[1]
    oracle = PLSSVD(c, scale=False).fit(X, standardised(Y))
    assert_same_span(PLS().fit(X, Y).components_.T, oracle.x_weights_, 1e-11)


@pytest.mark.parametrize("scaling", ["auto", "template", "orthonormal", "unit"])
def test_opls_of_full_rank_is_ridge_regression(data, scaling):
    X, Y = data
    ridge = 0.03 * len(X)
    model = OPLS(ridge=ridge, ridge_scale="absolute", scaling=scaling, extrapolate=True).fit(X, Y)
    oracle = Ridge(alpha=ridge).fit(X, Y)
    np.testing.assert_allclose(
        model.coef_, np.atleast_2d(oracle.coef_), rtol=0, atol=1e-11 * np.abs(oracle.coef_).max()
    )
    np.testing.assert_allclose(model.intercept_, oracle.intercept_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(X), oracle.predict(X).reshape(model.predict(X).shape), rtol=1e-10)
    if scaling == "template":
        P, Xc, F = model.components_.T, X - X.mean(axis=0), standardised(Y)
        expected = np.linalg.solve(Xc.T @ Xc + ridge * np.eye(X.shape[1]), Xc.T @ F)
        np.testing.assert_allclose(P @ P.T @ Xc.T @ F, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_opls_of_lower_rank_is_reduced_rank_ridge_regression(data):
    X, Y = data
    ridge, F, Xc = 2.0, standardised(Y), X - X.mean(axis=0)
    stacked = np.vstack([Xc, np.sqrt(ridge) * np.eye(X.shape[1])])
    targets = np.vstack([F, np.zeros((X.shape[1], Y.shape[1]))])
    B = np.linalg.lstsq(stacked, targets, rcond=None)[0]
    V = np.linalg.svd(stacked @ B, full_matrices=False)[2].T
    full = OPLS(ridge=ridge, ridge_scale="absolute").fit(X, Y)
    for k in range(1, Y.shape[1] + 1):
        expected = (B @ V[:, :k] @ V[:, :k].T) * Y.std(axis=0)
        for model in (OPLS(n_components=k, ridge=ridge, ridge_scale="absolute").fit(X, Y), full.truncate(k)):
            np.testing.assert_allclose(model.coef_.T, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_eigenvalues_of_cca_are_squared_canonical_correlations(data):
    X, Y = data
    of_X, of_Y = (sl.qr(A - A.mean(axis=0), mode="economic")[0] for A in (sl.orth(X - X.mean(axis=0)), Y))
    correlations = np.linalg.svd(of_X.T @ of_Y, compute_uv=False)
    np.testing.assert_allclose(CCA(ridge=0.0).fit(X, Y).eigenvalues_, correlations**2, rtol=0, atol=1e-11)


def test_cca_spans_what_opls_of_full_rank_does_whatever_the_scale(data):
    X, Y = data
    one = CCA(ridge=0.2).fit(X, Y).components_.T
    for scale_targets in ("standard", "none", {0: 5.0}):
        assert_same_span(OPLS(ridge=0.2, scale_targets=scale_targets).fit(X, Y).components_.T, one, 1e-8)
        assert_same_span(CCA(ridge=0.2, scale_targets=scale_targets).fit(X, Y).components_.T, one, 1e-8)


def test_four_dependence_methods_are_one(data):
    X, Y = data
    one = PLS().fit(X, Y)
    for method in (MDDM(), SFEHS(estimator="biased", n_components=Y.shape[1]), MVMD(beta=1.0, n_components=Y.shape[1])):
        other = method.fit(X, Y)
        assert_same_up_to_sign(other.components_.T, one.components_.T)
        factor = (len(X) - 1) ** 2 if isinstance(method, SFEHS) else 1.0
        np.testing.assert_allclose(other.eigenvalues_ * factor, one.eigenvalues_, rtol=1e-8)


def test_mlls_without_own_parts_is_opls(data):
    X, Y = data
    beta = 0.1
    one = MLLS(alpha=1e-13, beta=beta, extrapolate=True).fit(X, Y)
    other = OPLS(ridge=len(X) * beta, ridge_scale="absolute", extrapolate=True).fit(X, Y)
    assert_same_span(one.components_.T, other.components_.T, 1e-8)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-9 * np.abs(other.coef_).max())
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-8)


def test_the_predictor_of_mlls_minimises_its_objective(jura):
    """||XW - F||^2/n + alpha ||W - Theta V||^2 + beta ||W||^2 with V = Theta'W, at its Theta: the gradient is 0."""
    X, Y = jura
    alpha, beta, n, Xc, F = 0.7, 0.2, len(X), X - X.mean(axis=0), standardised(Y)
    model = MLLS(alpha=alpha, beta=beta, n_components=2).fit(X, Y)
    W, T = model.coef_.T / Y.std(axis=0), model.components_.T
    gradient = Xc.T @ (Xc @ W - F) / n + alpha * (W - T @ (T.T @ W)) + beta * W
    assert np.abs(gradient).max() < 1e-10


def test_the_unbiased_dependence_is_its_definition(data):
    X, Y = data
    n, F = len(X), standardised(Y)
    model = SFEHS(n_components=1).fit(X, Y)
    z = X @ model.components_.T
    K, L = z @ z.T, F @ F.T
    np.fill_diagonal(K, 0.0)
    np.fill_diagonal(L, 0.0)
    product = K.sum() * L.sum() / ((n - 1) * (n - 2)) - 2.0 / (n - 2) * (K.sum(axis=0) @ L.sum(axis=0))
    expected = (np.sum(K * L) + product) / (n * (n - 3))
    np.testing.assert_allclose(model.eigenvalues_[0], expected, rtol=1e-8)


def test_traces_are_sums_of_squares(jura):
    X, Y = jura
    X = X @ sl.orth(X.T) + 0.3  # some columns depend on others
    n, Xc, F = len(X), X - X.mean(axis=0), standardised(Y)
    beta, eps, penalty = 0.4, 1e-3, 0.01
    K = beta * F @ F.T + (1 - beta) * Xc @ Xc.T
    inverse = np.linalg.inv(K + eps * np.trace(K) / n * np.eye(n))
    values = sl.eigh(Xc.T @ inverse @ Xc + penalty * np.eye(X.shape[1]), Xc.T @ Xc, eigvals_only=True)
    for method in (MORP(beta=beta, eps=eps, penalty=penalty), MLSI(beta=beta, eps=eps, penalty=penalty, center=True)):
        np.testing.assert_allclose(method.fit(X, Y).eigenvalues_, values[:3], rtol=1e-8)
    for of_targets, of_features, balance in (
        (beta, 1 - beta, "none"),
        (beta / (F**2).sum(), (1 - beta) / (Xc**2).sum(), "trace"),
    ):
        options = {"beta": beta, "penalty": penalty, "form": "ratio", "balance": balance}
        whole = Xc.T @ (of_targets * F @ F.T + of_features * Xc @ Xc.T) @ Xc
        expected = sl.eigh(whole, Xc.T @ Xc + penalty * np.eye(X.shape[1]), eigvals_only=True)[::-1][:3]
        np.testing.assert_allclose(MORP(**options).fit(X, Y).eigenvalues_, expected, rtol=1e-8)
    ratio = MLSI(beta=beta, penalty=penalty, form="ratio").fit(X, Y).eigenvalues_
    whole = X.T @ (beta * F @ F.T + (1 - beta) * X @ X.T) @ X
    expected = sl.eigh(whole, X.T @ X + penalty * np.eye(X.shape[1]), eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(ratio, expected, rtol=1e-8)
    for balance, sizes in {"none": (1.0, 1.0), "trace": (np.linalg.norm(F), np.linalg.norm(X))}.items():
        stack = np.hstack([np.sqrt(beta) * F / sizes[0], np.sqrt(1 - beta) * X / sizes[1]])
        found = SLVM(beta=beta, balance=balance).fit(X, Y).eigenvalues_
        np.testing.assert_allclose(found, np.linalg.svd(stack, compute_uv=False)[:3] ** 2, rtol=1e-8)


def test_variance_and_dependence_are_balanced_by_their_traces(jura):
    X, Y = jura
    Xc, F = X - X.mean(axis=0), standardised(Y)
    S, D = Xc.T @ Xc, Xc.T @ F @ F.T @ Xc
    for coding in ("pm1", "01"):  # numbers are not coded
        for balance, (of_S, of_D) in {"none": (0.7, 0.3), "trace": (0.7 / np.trace(S), 0.3 / np.trace(D))}.items():
            found = MVMD(beta=0.3, coding=coding, balance=balance).fit(X, Y).eigenvalues_
            expected = np.linalg.eigvalsh(of_S * S + of_D * D)[::-1][: len(found)]
            np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_loadings_are_correlations_of_unit_length(jura):
    X, Y = jura
    model = OPLS(ridge=0.1, scale_targets="none").fit(X, Y)
    Z = model.transform(X)
    correlations = np.corrcoef(Z.T, Y.T)[:3, 3:]
    expected = correlations / np.linalg.norm(correlations, axis=1)[:, None]
    np.testing.assert_allclose(model.label_loadings_, expected, rtol=0, atol=1e-10)
    names = [name for name, _ in model.explain(0).labels]
    assert names == [str(j) for j in np.argsort(-np.abs(expected[0]))]


def test_the_gaussian_kernel_of_outputs_is_its_definition(jura):
    X, Y = jura
    F, Xc = standardised(Y), X - X.mean(axis=0)
    squares = np.sum((F[:, None] - F[None]) ** 2, axis=2)
    n = len(X)
    H = np.eye(n) - 1.0 / n
    for tau in (None, 2.0):
        width = squares[np.triu_indices(n, 1)].mean() if tau is None else tau
        A = Xc.T @ H @ np.exp(-squares / width) @ H @ Xc
        found = MDDM(label_kernel="rbf", tau=tau, n_components=4).fit(X, Y).eigenvalues_
        np.testing.assert_allclose(found, np.linalg.eigvalsh(A)[::-1][:4], rtol=1e-8)


@pytest.mark.parametrize("name", METHODS)
def test_labels_read_as_numbers_in_their_units_are_the_same(name, jura):
    X, values = jura
    Y = (values > np.median(values, axis=0)).astype(float)
    method = METHODS[name]
    options = {"coding": "01"} if "MVMD" in name else {"center": True} if name in ("MLSI", "SLVM") else {}
    tau = {"tau": 1.3} if "rbf" in name else {}  # the default width is that of distinct label sets
    method = type(method)(**{**method.get_params(), **options, **tau, "scaling": "template"})
    labels = method.fit_transform(X, Y)
    numbers = type(method)(**{**method.get_params(), "target_type": "real", "scale_targets": "none"}).fit(X, Y)
    assert [output.kind for output in numbers.targets_] == ["real"] * 3
    assert_same_up_to_sign(numbers.transform(X), labels)


def test_class_outputs_span_what_their_one_hot_columns_do(jura):
    X, values = jura
    names = np.column_stack([np.array(list("abc"))[np.digitize(v, np.quantile(v, [0.3, 0.7]))] for v in values.T[:2]])
    one_hot = np.hstack([(names[:, [j]] == np.array(list("abc"))).astype(int) for j in range(2)])
    one, other = CCA(ridge=0.1).fit(X, names), CCA(ridge=0.1).fit(X, one_hot)
    assert one.n_components_ == other.n_components_ == 4
    assert_same_span(one.components_.T, other.components_.T, 1e-8)
    assert np.mean(one.predict(X) == names) > 0.5 and set(np.unique(one.predict(X))) <= set("abc")


@pytest.mark.parametrize("name", METHODS)
def test_units_and_order_of_outputs_do_not_matter(name, jura):
    X, Y = jura
    method, order = METHODS[name], [2, 0, 1]
    expected = method.fit(X, Y).transform(X)
    other = method.fit(X, (Y * [-3.0, 1e-4, 1e4] + [1.0, 5.0, -1e5])[:, order]).transform(X)
    assert_same_up_to_sign(other, expected, 1e-7)


def test_distances_under_eigenvalue_scaling_are_those_of_predictions(data):
    X, Y = data
    model = OPLS(ridge=0.1, extrapolate=True).fit(X, Y)
    predicted = (model.predict(X).reshape(Y.shape) - Y.mean(axis=0)) / Y.std(axis=0)
    np.testing.assert_allclose(pdist(model.transform(X)), pdist(predicted), rtol=0, atol=1e-12 * len(X))


def test_automatic_scaling(jura):
    X, Y = jura
    labels = (Y > np.median(Y, axis=0)).astype(int)
    for method in (OPLS(ridge=0.1), Kernelized(OPLS(ridge=0.1), tau=30.0)):
        params = {"scaling": "eigenvalue"}
        for y in (Y, Y[:, 0]):
            expected = type(method)(**{**method.get_params(deep=False), **params}).fit_transform(X, y)
            np.testing.assert_array_equal(method.fit_transform(X, y), expected)
        plain = type(method)(**{**method.get_params(deep=False), "scaling": "template"}).fit_transform(X, labels)
        np.testing.assert_array_equal(method.fit_transform(X, labels), plain)
    for method in (CCA(ridge=0.1), PLS(), Kernelized(CCA(ridge=0.1), tau=30.0), SSDR(OPLS(ridge=0.1), PCA())):
        plain = type(method)(**{**method.get_params(deep=False), "scaling": "template"}).fit_transform(X, Y)
        np.testing.assert_array_equal(method.fit_transform(X, Y), plain)


@pytest.mark.parametrize("name, hidden", [*((n, 0.0) for n in METHODS), *((n, 0.2) for n in FILLING)])
def test_sparse_outputs_are_the_same_as_dense_ones(name, hidden, jura):
    X, values = jura
    rng = np.random.default_rng(0)
    Y = np.where(rng.random(values.shape) < 0.4, 0.0, values)
    Y[rng.random(Y.shape) < hidden] = np.nan
    Y = Y[np.isfinite(Y).any(axis=1)]
    X = X[: len(Y)]
    method = METHODS[name]
    one = method.fit(X, Y)
    Z = one.transform(X)
    predicted = one.predict(X) if hasattr(one, "predict") else None
    other = method.fit(X, sp.csr_array(Y))
    assert_same_up_to_sign(other.transform(X), Z)
    if predicted is not None:
        np.testing.assert_allclose(other.predict(X), predicted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", FILLING)
def test_unknown_cells_are_at_the_mean_of_the_known_ones(name, jura):
    """The factor of the known cells is as if there were no others, and 0 where a cell is unknown."""
    X, values = jura
    Y = values.copy()
    Y[np.random.default_rng(1).random(Y.shape) < 0.3] = np.nan
    Y[0] = values[0]
    keep = np.isfinite(Y).any(axis=1)
    X, Y = X[keep], Y[keep]
    F = np.nan_to_num((Y - np.nanmean(Y, axis=0)) / np.nanstd(Y, axis=0))
    method = type(METHODS[name])(**METHODS[name].get_params() | {"unknown": "mean"})
    expected = type(method)(**{**method.get_params(), "scale_targets": "none"}).fit_transform(X, F)
    assert_same_up_to_sign(method.fit_transform(X, Y), expected)


@pytest.mark.parametrize("deflation", ["simpls", "nipals"])
def test_deflated_pls_of_one_output_predicts_as_pls_regression(deflation, data):
    X, Y = data
    y, params = Y[:, 0], {"deflation": deflation, "extrapolate": True, "target_type": "real"}
    most = min(6, np.linalg.matrix_rank(X))
    model = PLS(n_components=most, **params).fit(X, y)
    for k in range(1, most + 1):
        expected = PLSRegression(k, scale=False, tol=1e-14, max_iter=10_000).fit(X, y).predict(X).ravel()
        for each in (model.truncate(k), PLS(n_components=k, **params).fit(X, y)):
            np.testing.assert_allclose(each.predict(X), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_nipals_spans_and_predicts_what_pls_regression_does(data):
    X, Y = data
    k = min(5, np.linalg.matrix_rank(X))
    oracle = PLSRegression(k, scale=False, tol=1e-15, max_iter=100_000).fit(X, standardised(Y))
    model = PLS(n_components=k, deflation="nipals", extrapolate=True).fit(X, Y)
    assert_same_span(model.components_.T, oracle.x_rotations_, 1e-6)
    np.testing.assert_allclose(model.coef_ / Y.std(axis=0)[:, None], oracle.coef_, rtol=0, atol=1e-6)


def test_simpls_maximises_covariance_among_orthogonal_scores(jura):
    X, Y = jura
    Xc, F = X - X.mean(axis=0), standardised(Y)
    model = PLS(n_components=6, deflation="simpls").fit(X, Y)
    R, S = model.components_.T, Xc.T @ F
    scores = Xc @ R
    lengths = np.sqrt(np.diag(scores.T @ scores))
    np.testing.assert_allclose(scores.T @ scores / np.outer(lengths, lengths), np.eye(6), atol=1e-10)
    for a in range(6):
        before = sl.orth(Xc.T @ scores[:, :a]) if a else np.zeros((X.shape[1], 0))
        left = S - before @ (before.T @ S)
        best = np.linalg.svd(left)[1][0]
        np.testing.assert_allclose(np.linalg.norm(R[:, a]), 1.0)
        np.testing.assert_allclose([np.linalg.norm(S.T @ R[:, a]), model.eigenvalues_[a] ** 0.5], best, rtol=1e-8)
    assert_same_up_to_sign(R[:, :1], PLS(n_components=1).fit(X, Y).components_.T)


def test_deflation_ends_at_the_rank_of_the_features(jura):
    X, Y = jura
    rank = np.linalg.matrix_rank(X)
    for deflation in ("simpls", "nipals"):
        model = PLS(n_components=rank, deflation=deflation, extrapolate=True).fit(X, Y)
        expected = Ridge(alpha=1e-10).fit(X, Y).predict(X)
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match=f"n_components={rank + 1} is more than the {rank} components"):
            PLS(n_components=rank + 1, deflation=deflation).fit(X, Y)
    Z = Kernelized(PLS(n_components=8, deflation="simpls"), tau=30.0).fit(X, Y).transform(X)
    assert Z.shape == (len(X), 8)
    np.testing.assert_allclose(np.corrcoef(Z.T) - np.eye(8), 0.0, atol=1e-8)
    with pytest.raises(ValueError, match="PLS with deflation is not its matrices"):
        SSDR(PLS(deflation="simpls"), PCA()).fit(X, Y)


def test_extended_opls_adds_principal_components_of_the_rest(data):
    X, Y = data
    c, rank = Y.shape[1], np.linalg.matrix_rank(X)
    k = min(c + 2, rank)
    plain = OPLS(ridge=0.1, extrapolate=True).fit(X, Y)
    model = OPLS(n_components=k, ridge=0.1, extend=True, extrapolate=True).fit(X, Y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=0, atol=1e-8 * np.abs(plain.coef_).max())
    assert_same_span(model.components_[:c].T, plain.components_.T, 1e-8)
    if k == c:
        return
    Q = np.linalg.qr(plain.components_.T)[0]
    rest = (X - X.mean(axis=0)) @ (np.eye(X.shape[1]) - Q @ Q.T)
    U, s, V = np.linalg.svd(rest, full_matrices=False)
    Z = model.transform(X)
    size = np.sqrt(np.sum(rest**2) / len(X))
    assert_same_up_to_sign(Z[:, c:], U[:, : k - c] * s[: k - c] / size, 1e-7)
    np.testing.assert_allclose(Z[:, :c].std(axis=0).mean(), 1.0)
    np.testing.assert_array_equal(model.eigenvalues_[c:], 0.0)
    short = OPLS(n_components=c, ridge=0.1, extend=True).fit(X, Y)
    np.testing.assert_array_equal(short.components_, OPLS(n_components=c, ridge=0.1).fit(X, Y).components_)


def test_the_sentence_for_more_components_than_outputs(jura):
    X, Y = jura
    cases = {
        "n_components=5 exceeds 1, the rank of one output in OPLS: use n_components=1, extend=True, or "
        "PLS(deflation='simpls').": (OPLS(n_components=5), Y[:, 0]),
        "n_components=5 exceeds 3, the rank of 3 outputs in PLS: use n_components=3, or deflation='simpls'.": (
            PLS(n_components=5),
            Y,
        ),
        "n_components=4 exceeds 3, the rank of 3 outputs in CCA: use n_components=3, OPLS(extend=True), or "
        "PLS(deflation='simpls').": (CCA(n_components=4), Y),
    }
    for message, (method, y) in cases.items():
        with pytest.raises(ValueError) as error:
            method.fit(X, y)
        assert str(error.value) == message


@pytest.mark.parametrize("name", ["jura", "diabetes"])
def test_permuted_outputs_are_not_predicted(name, data_folder):
    X, Y = load(name, data_folder)
    train, test = np.arange(len(X)) % 3 > 0, np.arange(len(X)) % 3 == 0
    for seed in range(3):
        F = Y[np.random.default_rng(seed).permutation(len(Y))]
        rest = F[test] - OPLS(target_type="real").fit(X[train], F[train]).predict(X[test]).reshape(F[test].shape)
        assert np.mean(1 - (rest**2).sum(axis=0) / ((F[test] - F[train].mean(axis=0)) ** 2).sum(axis=0)) <= 0.02
