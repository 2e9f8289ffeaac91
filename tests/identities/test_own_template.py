"""Pairs (A, B) of the user's own against dense eigenproblems, methods of the package, and explicit copies of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp

import strategies
from identities.comparison import IDENTITY, assert_same_embedding, gram_distance
from oracles import copies, dense, local
from proxembed import (
    DLA,
    DNE,
    DONPP,
    FDA,
    LFDA,
    MDDM,
    MESD,
    MFA,
    MMC,
    OLPP,
    OLPPR,
    ONPPR,
    OPLS,
    PCA,
    SONPP,
    SSDR,
    DirectMESD,
    DirectMOPE,
    DirectTemplateEmbedder,
    Kernelized,
    TemplateEmbedder,
    load,
    save,
)
from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank
from proxembed.estimator.rows import Rows
from proxembed.targets.labels import LabelMatrix

N, D = 40, 6
X = strategies.features_dense(N, D, 3)
Y = strategies.labels_multi(N, 3)
Y[5] = 0.0
CLASSES = np.arange(N) // 3 % 3
rng = np.random.default_rng(5)
U = rng.standard_normal((N, N))
A, B = U + U.T, U @ U.T / N
J = np.eye(N) - 1.0 / N
FORMS = {
    "array": (A, B),
    "sparse": (sp.csr_array(A), sp.coo_array(B)),
    "callables": (lambda X, y: A, lambda X, y: sp.csr_array(B)),
    "operators": (LowRank(np.eye(N), A), lambda X, y: LowRank(np.eye(N), B)),
}
ROW, LABEL = np.nonzero(Y)  # of the copies
E = (ROW[:, None] == np.arange(N)) * 1.0
M = Y.sum(axis=1)


def kin(X, y):
    """Of one class per row, positive definite, and of the features too."""
    return np.exp(-np.abs(np.subtract.outer(X[:, 0], X[:, 0]))) * (1.0 + (y[:, None] == y))


def spread(X, y):
    return np.diag(1.0 + X[:, 1] ** 2) + (y[:, None] == y)


# ------------------------------------------------------------------------------------------------ dense eigenproblems


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_projections_solve_the_pencil(form, center):
    given_a, given_b = FORMS[form]
    H = J if center else np.eye(N)
    R = H @ X
    for minimize, sign in ((False, 1), (True, -1)):
        for own, constraint, ridge in ((None, np.eye(D), 0.0), (given_b, X.T @ H @ B @ H @ X, 0.3)):
            options = {"center": center, "minimize": minimize, "ridge": ridge, "ridge_scale": "absolute"}
            fitted = TemplateEmbedder(given_a, own, n_components=3, **options).fit(X, Y)
            P, w = dense.dense_solve(sign * X.T @ H @ A @ H @ X, constraint + ridge * np.eye(D), R, 3)
            np.testing.assert_allclose(fitted.eigenvalues_, sign * w, rtol=1e-9)
            assert gram_distance(fitted.transform(X), R @ P) < IDENTITY


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("center", [True, False])
def test_places_solve_the_pencil(form, center):
    given_a, given_b = FORMS[form]
    for own, S in ((None, np.eye(N)), (given_b, B), (Diagonal(1.0 + CLASSES), np.diag(1.0 + CLASSES))):
        weights = S.sum(axis=1)
        H = np.eye(N) - np.outer(np.ones(N), weights) / weights.sum() if center else np.eye(N)
        w, V = sl.eigh(H.T @ A @ H, S)
        fitted = DirectTemplateEmbedder(given_a, own, n_components=3, center=center).fit(X, Y)
        np.testing.assert_allclose(fitted.eigenvalues_, w[::-1][:3], rtol=1e-7)
        Z = fitted.embedding_
        assert gram_distance(Z, V[:, ::-1][:, :3]) < 1e-6
        np.testing.assert_allclose(Z.T @ S @ Z, np.eye(3), rtol=0, atol=1e-8)
        if center:
            np.testing.assert_allclose(weights @ Z, 0.0, atol=1e-7)
    new = X[:4] + 0.1
    np.testing.assert_allclose(fitted.transform(new), new @ fitted.components_.T + fitted.intercept_, rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 6), (12, 20)], ids=["tall", "wide"])
@pytest.mark.parametrize("center", [True, False])
def test_matrices_of_features_within_the_row_space(shape, center):
    """(31): max P'AP subject to P'(B + ridge I)P = I of d x d matrices that X has no part in; every form and route."""
    n, d = shape
    rows = strategies.features_dense(n, d, 3) + 0.5
    V = rng.standard_normal((d, d))
    Ap, Bp = V + V.T, V @ V.T / d
    R = rows - rows.mean(axis=0) if center else rows
    for given_a, given_b in ((Ap, Bp), (sp.csr_array(Ap), LowRank(np.eye(d), Bp)), (lambda X, y: Ap, lambda X, y: Bp)):
        for minimize, sign in ((False, 1), (True, -1)):
            for own, S, ridge in ((None, np.eye(d), 0.0), (given_b, Bp, 0.3)):
                options = {"center": center, "minimize": minimize, "ridge": ridge, "ridge_scale": "absolute"}
                method = TemplateEmbedder(given_a, own, of="features", takes=None, n_components=3, **options)
                P, w = dense.dense_solve(sign * Ap, S + ridge * np.eye(d), R, 3)
                for solver in ("auto", "dual", "iterative", "thin") if given_a is Ap else ("auto",):
                    if solver == "thin":
                        with pytest.raises(ValueError, match="low rank"):
                            method.set_params(solver=solver).fit(rows)
                        continue
                    fitted = method.set_params(solver=solver).fit(rows)
                    np.testing.assert_allclose(fitted.eigenvalues_, sign * w, rtol=1e-8)
                    assert gram_distance(fitted.transform(rows), R @ P) < 1e-8 * max(1.0, np.abs(R @ P).max() ** 2)
    large = TemplateEmbedder(Ap, Bp, of="features", takes=None, n_components=2, ridge=0.1, ridge_scale="absolute")
    small = large.fit(rows).eigenvalues_.copy()
    np.testing.assert_allclose(large.fit(1e120 * rows).eigenvalues_, small, rtol=1e-8)  # X decides the row space alone


def test_matrices_of_features_in_mesd_and_ssdr():
    """Copies are what a callable is given; in a mixture the matrices are added to those that X makes."""
    within = lambda X, y: sum(np.cov(X[y == k].T, bias=True) * np.sum(y == k) for k in np.unique(y))  # noqa: E731
    total = lambda X, y: np.cov(X.T, bias=True) * len(X)  # noqa: E731
    own = TemplateEmbedder(
        within, total, of="features", takes="single", minimize=True, ridge=0.1, ridge_scale="absolute"
    )
    found = MESD(own, n_components=2).fit(X, Y)
    fda = MESD(FDA(ridge=0.1, ridge_scale="absolute"), n_components=2).fit(X, Y)
    c = X[ROW] - X[ROW].mean(axis=0)
    w = sl.eigh(within(X[ROW], LABEL), c.T @ c + 0.1 * np.eye(D), eigvals_only=True)
    np.testing.assert_allclose(found.eigenvalues_, w[:2], rtol=1e-9)
    np.testing.assert_allclose(found.mean_, fda.mean_, rtol=1e-12)
    known = np.arange(N) % 3 > 0
    partly = np.where(known[:, None], Y, np.nan)
    S, G = np.diag(1.0 + np.arange(D)), U[:D, :D] @ U[:D, :D].T
    both = SSDR(OPLS(), TemplateEmbedder(S, G, of="features", takes=None), mix=0.4, constraint="mixed", balance="trace",
                ridge=0.2, ridge_scale="absolute", n_components=3).fit(X, partly)  # fmt: skip
    H = np.eye(known.sum()) - 1.0 / known.sum()
    part = H @ X[known]
    F = part.T @ Y[known]
    Ap = 0.6 * F @ F.T / np.trace(F @ F.T) + 0.4 * S / np.trace(S)
    Bp = 0.6 * part.T @ part / np.trace(part.T @ part) + 0.4 * G / np.trace(G)
    w = sl.eigh(Ap, Bp + 0.2 * np.eye(D), eigvals_only=True)[::-1]
    np.testing.assert_allclose(both.eigenvalues_, w[:3], rtol=1e-8)


def test_rows_of_weight_0_in_a_diagonal_constraint_are_at_the_origin():
    b = np.where(np.arange(N) < 4, 0.0, 2.0)
    fitted = DirectTemplateEmbedder(A, np.diag(b), center=False, takes=None, n_components=2).fit(X)
    np.testing.assert_array_equal(fitted.embedding_[:4], 0.0)
    np.testing.assert_allclose(fitted.eigenvalues_, np.linalg.eigvalsh(A[4:, 4:])[::-1][:2] / 2.0, rtol=1e-9)


def test_known_methods_are_such_pairs():
    k = {"n_components": 2}
    assert_same_embedding(TemplateEmbedder(takes=None, **k).fit(X), PCA(**k).fit(X), X)
    assert_same_embedding(TemplateEmbedder(**k).fit(X, Y), MDDM(**k).fit(X, Y), X)
    total = lambda X, y: Identity(len(X))  # noqa: E731
    opls = OPLS(ridge=0.2, **k).fit(X, Y)
    assert_same_embedding(TemplateEmbedder(None, total, ridge=0.2, **k).fit(X, Y), opls, X)
    means = lambda X, y: (y[:, None] == y) / np.bincount(y.astype(int))[y.astype(int)]  # noqa: E731
    fda = FDA(ridge=0.0, **k)
    own = TemplateEmbedder(means, lambda X, y: Centering(np.ones(len(X))), takes="single", **k)
    assert_same_embedding(own.fit(X, CLASSES), fda.fit(X, CLASSES), X)
    weights = np.abs(np.triu(A, 1)) + np.abs(np.triu(A, 1)).T
    assert_same_embedding(TemplateEmbedder(weights, takes=None, **k).fit(X), OLPP(weights=weights, **k).fit(X), X)
    similar = Y @ Y.T
    direct = DirectMOPE("labels", similarity="and", **k).fit(X, Y)
    assert_same_embedding(DirectTemplateEmbedder(similar, **k).fit(X, Y), direct, X, eigenvalues=False)


# ---------------------------------------------------------------------------------------------------- copies of rows


@pytest.mark.parametrize("weighting", ["none", "mimj"])
def test_copies_of_rows_are_those_made_by_hand(weighting):
    over = np.where(M > 0, 1.0 / np.maximum(M, 1.0), 0.0) if weighting == "mimj" else np.ones(N)
    mass = (M > 0) * 1.0 if weighting == "mimj" else M
    H = np.eye(N) - np.outer(np.ones(N), mass) / mass.sum()
    stated = []
    for made in (kin, spread):
        stated.append(over[:, None] * (E.T @ made(X[ROW], LABEL) @ E) * over)
    options = {"ridge": 0.1, "ridge_scale": "absolute"}
    found = MESD(TemplateEmbedder(kin, spread, takes="single", **options), weighting=weighting, n_components=3)
    found.fit(X, Y)
    Ap, Bp = (X.T @ H.T @ S @ H @ X for S in stated)
    w = sl.eigh(Ap, Bp + 0.1 * np.eye(D), eigvals_only=True)[::-1]
    np.testing.assert_allclose(found.eigenvalues_, w[:3], rtol=1e-9)
    matrix = MESD(TemplateEmbedder(A, takes="single"), weighting=weighting, n_components=3).fit(X, Y)
    whole = over[:, None] * (E.T @ A[ROW][:, ROW] @ E) * over
    w = np.linalg.eigvalsh(X.T @ H.T @ whole @ H @ X)[::-1]
    np.testing.assert_allclose(matrix.eigenvalues_, w[:3], rtol=1e-9)


@pytest.mark.parametrize("method", [FDA(), TemplateEmbedder(kin, takes="single")], ids=["FDA", "own"])
def test_places_of_copies_are_shared(method):
    if isinstance(method, FDA):
        sizes = Y.sum(axis=0)
        between = (LABEL[:, None] == LABEL) / sizes[LABEL] - 1.0 / len(ROW)
    else:
        between = kin(X[ROW], LABEL)
    H = np.eye(len(ROW)) - 1.0 / len(ROW)
    collapsed = E.T @ H @ between @ H @ E
    seen = M > 0
    w, V = sl.eigh(collapsed[np.ix_(seen, seen)], np.diag(M[seen]))
    found = DirectMESD(method, n_components=2).fit(X, Y)
    np.testing.assert_allclose(found.eigenvalues_, w[::-1][:2], rtol=1e-9)
    assert gram_distance(found.embedding_[seen], V[:, ::-1][:, :2]) < 1e-7
    copied = E @ found.embedding_
    np.testing.assert_allclose(copied.T @ copied, np.eye(2), rtol=0, atol=1e-9)  # of all copies
    np.testing.assert_allclose(copied.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_array_equal(found.embedding_[~seen], 0.0)


RELATIVES = [
    MFA(n_friends=3, n_enemies=8), MFA(n_friends=3, n_enemies=4, pairs="point"), LFDA(n_neighbors=3),
    LFDA(n_neighbors=3, scope="global"), FDA(constraint="within"), DLA(n_friends=3, n_enemies=4), DNE(n_neighbors=4),
    OLPPR(n_neighbors=4), OLPPR(n_neighbors=4, ws="indicator", balance="trace"), DONPP(n_enemies=4),
    ONPPR(n_neighbors=3, n_enemies=4), SONPP(n_neighbors=3), MMC(),
]  # fmt: skip


@pytest.mark.parametrize("several", [False, True], ids=["classes", "label sets"])
@pytest.mark.parametrize("method", RELATIVES, ids=lambda method: repr(method).replace(" ", ""))
def test_direct_forms_of_methods_for_classes(method, several):
    """Z of each method under its own constraint, such as Z'L(Wi)Z = I of MFA, within the range of that matrix; Z'Z = I
    of all copies, about their mean, where it has none. A reconstruction error alone has no positive eigenvalue. The
    matrices are those of copies made by hand."""
    part = X[:24]
    labels = Y[:24] if several else np.eye(3)[CLASSES[:24]]
    between, within = copies.operators(method, local.Copies(part, labels))
    if within is None:
        m = labels.sum(axis=1)
        H, within = np.eye(24) - np.outer(np.ones(24), m) / m.sum(), np.diag(m)
        between = H.T @ between @ H
    w, V = np.linalg.eigh(within)
    half = V[:, w > 1e-10 * w[-1]] / np.sqrt(w[w > 1e-10 * w[-1]])
    values = np.linalg.eigvalsh(half.T @ between @ half)[::-1]
    direct = DirectMESD(method, constraint="method")
    if values[0] <= 1e-9 * np.abs(between).max():
        with pytest.raises(ValueError, match="no eigenvalue is positive"):
            direct.fit(part, labels)
        return
    fitted = direct.fit(part, labels)
    Z, k = fitted.embedding_, fitted.n_components_
    np.testing.assert_allclose(fitted.eigenvalues_ * np.sign(fitted.eigenvalues_[0]), values[:k], rtol=1e-7)
    np.testing.assert_allclose(Z.T @ within @ Z, np.eye(k), rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.diag(Z.T @ between @ Z), values[:k], rtol=1e-7)
    assert np.abs(half.T @ (between @ Z - within @ Z * values[:k])).max() < 1e-7 * values[0]


# ------------------------------------------------------------------------------------------- members, parts, refusals


def test_members_of_ssdr():
    known = np.arange(N) % 3 > 0
    partly = np.where(known[:, None], Y, np.nan)
    k = {"n_components": 2}
    alike = lambda X, y: y @ y.T  # noqa: E731
    both = SSDR(TemplateEmbedder(alike), TemplateEmbedder(A, takes=None), mix=0.3, **k).fit(X, partly)
    H = np.eye(known.sum()) - 1.0 / known.sum()
    part = H @ X[known]
    Ap = 0.7 * part.T @ Y[known] @ Y[known].T @ part + 0.3 * X.T @ J @ A @ J @ X
    np.testing.assert_allclose(both.eigenvalues_, np.linalg.eigvalsh(Ap)[::-1][:2], rtol=1e-9)
    with pytest.raises(ValueError, match="unsupervised"):
        SSDR(TemplateEmbedder(alike), TemplateEmbedder(alike)).fit(X, partly)


def test_rows_left_out_of_fit_are_left_out_of_the_matrices():
    known = np.arange(N) % 3 > 0
    partly = np.where(known[:, None], Y, np.nan)
    with pytest.warns(UserWarning, match="left out of fit"):
        whole = TemplateEmbedder(A, B, n_components=2, ridge=0.1).fit(X, partly)
    part = TemplateEmbedder(A[known][:, known], B[known][:, known], n_components=2, ridge=0.1).fit(X[known], Y[known])
    assert_same_embedding(whole, part, X)
    with (
        pytest.warns(UserWarning, match="left out of fit"),
        pytest.raises(ValueError, match="operator of the 40 rows given to fit, of which 14 are left out"),
    ):
        TemplateEmbedder(Diagonal(np.ones(N))).fit(X, partly)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: TemplateEmbedder(U), "A: the given matrix differs from its transpose"),
        (lambda: TemplateEmbedder(A, B[:3]), r"B: the given matrix has shape \(3, 40\)"),
        (lambda: TemplateEmbedder(lambda X, y: Diagonal(np.ones(3))), "A is an operator of 3 rows; one of 40"),
        (lambda: DirectTemplateEmbedder(A, A), "pass a positive semidefinite B"),
        (lambda: MESD(TemplateEmbedder(A, takes="single"), weighting="printed"), 'Use weighting="none" or "mimj"'),
        (lambda: MESD(DirectTemplateEmbedder(A, takes="single")), "places the rows themselves. Use DirectMESD"),
        (lambda: TemplateEmbedder(A, of="features"), r"A: the given matrix has shape \(40, 40\); \(6, 6\) is needed"),
        (lambda: TemplateEmbedder(Diagonal(np.ones(3)), of="features"), "A is an operator of 3 features; one of 6"),
        (lambda: Kernelized(TemplateEmbedder(np.eye(D), of="features")), "does not fit here"),
        (lambda: DirectMESD(TemplateEmbedder(np.eye(D), of="features", takes="single")), "says nothing of places"),
        (
            lambda: MESD(TemplateEmbedder(np.eye(D), of="features", takes="single"), weighting="mimj"),
            'Use weighting="none"',
        ),
        (lambda: TemplateEmbedder("dice"), "A='dice' is not allowed"),
    ],
)
def test_other_pairs_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(X, Y)


def test_models_with_matrices_are_saved(tmp_path):
    fitted = TemplateEmbedder(A, n_components=2).fit(X, Y)
    again = load(save(fitted, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    rows = Rows(X, LabelMatrix.of(Y))
    assert np.allclose(again.template(rows).A.todense(), J @ A @ J)
