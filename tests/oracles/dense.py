"""Naive dense definitions: every method as the pencil (Ap, Bp) its publication states, by loops and n x n matrices.

Nothing here is shared with the package. X is a dense n x d array, Y an n x c indicator of 0 and 1; a pencil is
maximised, max tr[P'Ap P] s.t. P'Bp P = I; `mean` is what a new row is shifted by; ridges are absolute. Classes without
rows are dropped first. Everything is O(n^2) or worse on purpose: read it against the formulas, use it on small data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from oracles.hypergraphs import clique_similarity, inverse_or_zero, star_similarity, zhou_similarity

RANK_TOLERANCE = 1e-10


class Pencil(NamedTuple):
    """The two d x d matrices (n x n for methods that embed the rows themselves) and the offset of new rows.

    `seen` marks the rows of non-zero weight; the others are not there for the method (None: all rows are).
    """

    Ap: np.ndarray
    Bp: np.ndarray
    mean: np.ndarray
    seen: np.ndarray | None = None

    def rows(self, X: np.ndarray) -> np.ndarray:
        """The shifted rows that the method sees: their row space is where components live."""
        Xc = X - self.mean
        return Xc if self.seen is None else Xc[self.seen]


# ------------------------------------------------------------------------------------------------ solving, comparing


def row_space(Xc: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d x r) of the rows of Xc: singular values above s_1 max(n, d) eps."""
    _, s, Vt = np.linalg.svd(Xc, full_matrices=False)
    return Vt[s > s[0] * max(Xc.shape) * np.finfo(float).eps].T


def trace_ridge(Bp: np.ndarray, Xc: np.ndarray, ridge: float) -> float:
    """The absolute ridge of a relative one: ridge tr(Bp) / min(n, d), Xc (n x d) the rows of non-zero weight."""
    return ridge * np.trace(Bp) / min(Xc.shape)


def dense_solve(Ap: np.ndarray, Bp: np.ndarray, Xc: np.ndarray, k: int | None = None):
    """(P, w): the k largest generalised eigenpairs inside the row space of Xc, whitened on the range of Bp."""
    V = row_space(Xc)
    b, E = np.linalg.eigh(V.T @ Bp @ V)
    keep = b > RANK_TOLERANCE * b.max()
    R = V @ (E[:, keep] / np.sqrt(b[keep]))
    S = R.T @ Ap @ R
    w, Q = np.linalg.eigh((S + S.T) / 2)
    order = np.argsort(-w)[:k]
    return R @ Q[:, order], w[order]


def subspace_error(P: np.ndarray, Q: np.ndarray) -> float:
    """Largest entry of the difference of the orthogonal projectors on the two column spaces."""
    if P.shape != Q.shape:
        raise ValueError(f"bases of shapes {P.shape} and {Q.shape} cannot span the same space column by column")
    P, Q = np.linalg.qr(P)[0], np.linalg.qr(Q)[0]
    return float(np.abs(P @ P.T - Q @ Q.T).max())


def gram_error(Z1: np.ndarray, Z2: np.ndarray) -> float:
    """Largest entry of Z1 Z1' - Z2 Z2', relative to the largest entry of Z2 Z2'."""
    G = Z2 @ Z2.T
    return float(np.abs(Z1 @ Z1.T - G).max() / np.abs(G).max())


# -------------------------------------------------------------------------------------------------- label-free pieces


def centring(n: int) -> np.ndarray:
    return np.eye(n) - np.ones((n, n)) / n


def drop_empty(Y: np.ndarray) -> np.ndarray:
    return np.asarray(Y, float)[:, np.asarray(Y).sum(axis=0) > 0]


def laplacian(W: np.ndarray) -> np.ndarray:
    return np.diag(W.sum(axis=1)) - W


def no_centre(X: np.ndarray) -> np.ndarray:
    return np.zeros(X.shape[1])


def offset(X: np.ndarray, center: bool) -> np.ndarray:
    return X.mean(axis=0) if center else no_centre(X)


# ------------------------------------------------------------------------------------------------------ variance


def pca(X, Y=None) -> Pencil:
    mean = X.mean(axis=0)
    return Pencil(sum(np.outer(x - mean, x - mean) for x in X), np.eye(X.shape[1]), mean)


def lsi(X, Y=None) -> Pencil:
    return Pencil(sum(np.outer(x, x) for x in X), np.eye(X.shape[1]), no_centre(X))


def mvmd(X, Y, beta=0.5, coding="pm1", balance="none") -> Pencil:
    L = 2 * np.asarray(Y, float) - 1 if coding == "pm1" else np.asarray(Y, float)
    variance, dependence = pca(X).Ap, (H := centring(len(X))) @ L @ L.T @ H
    dependence = X.T @ dependence @ X
    if balance == "trace":
        variance, dependence = variance / np.trace(variance), dependence / np.trace(dependence)
    return Pencil((1 - beta) * variance + beta * dependence, np.eye(X.shape[1]), X.mean(axis=0))


# -------------------------------------------------------------------------------------------------------- Fisher


def scatters(X, y):
    """(Sb, Sw, St, mean) of one class per row, by loops over classes and rows; sums, never divided by n."""
    d = X.shape[1]
    mean, Sb, Sw, St = X.mean(axis=0), np.zeros((d, d)), np.zeros((d, d)), np.zeros((d, d))
    for k in np.unique(y):
        members = X[y == k]
        mu = members.mean(axis=0)
        Sb += len(members) * np.outer(mu - mean, mu - mean)
        for x in members:
            Sw += np.outer(x - mu, x - mu)
            St += np.outer(x - mean, x - mean)
    return Sb, Sw, St, mean


def fisher(Sb, Sw, St, mean, ridge, constraint) -> Pencil:
    B = {"total": St, "within": Sw}[constraint]
    return Pencil(Sb, B + ridge * np.eye(len(B)), mean)


def fda(X, Y, ridge=0.0, constraint="total") -> Pencil:
    return fisher(*scatters(X, np.argmax(Y, axis=1)), ridge, constraint)


def mmc(X, Y, lam=1.0) -> Pencil:
    Sb, Sw, _, mean = scatters(X, np.argmax(Y, axis=1))
    return Pencil(Sb - lam * Sw, np.eye(X.shape[1]), mean)


# ---------------------------------------------------------------------------------------------- copies of the rows


def copies(X, Y):
    """Explicit duplication: (features, class, Ec, owner) of the nt copies; Ec is nt x n, row s marks the owner of s."""
    owner, label = np.nonzero(np.asarray(Y) > 0)
    Ec = np.zeros((len(owner), len(X)))
    Ec[np.arange(len(owner)), owner] = 1.0
    return Ec @ X, label, Ec, owner


def pair_scatter(X, W):
    """1/2 sum_st w_st (x_s - x_t)(x_s - x_t)', the scatter of a symmetric weight matrix, pair by pair."""
    S = np.zeros((X.shape[1], X.shape[1]))
    for s in range(len(X)):
        D = X[s] - X
        S += 0.5 * (D.T * W[s]) @ D
    return S


def copy_scatters(X, Y, weighting):
    """(Sb, Sw, St, mean) of Fisher's weights on the copies; each pair weight is divided by m_i m_j when asked."""
    Y = drop_empty(Y)
    Xt, label, _, owner = copies(X, Y)
    if weighting == "none":
        return scatters(Xt, label)
    m, sizes = Y.sum(axis=1), Y.sum(axis=0)
    share = np.ones((len(Xt), len(Xt))) / len(Xt)
    same = (label[:, None] == label[None, :]) / sizes[label][:, None]
    factor = 1.0 / np.outer(m[owner], m[owner])
    shared = (Y @ Y.T)[np.ix_(owner, owner)] if weighting == "printed" else 1.0  # weights inside classes only
    Sw, St = pair_scatter(Xt, same * factor * shared), pair_scatter(Xt, share * factor)
    return St - Sw, Sw, St, X[m > 0].mean(axis=0)


def mesd_fda(X, Y, ridge=0.0, constraint="total", weighting="none") -> Pencil:
    return fisher(*copy_scatters(X, Y, weighting), ridge, constraint)._replace(seen=Y.sum(axis=1) > 0)


def mesd_mmc(X, Y, lam=1.0, weighting="none") -> Pencil:
    Sb, Sw, _, mean = copy_scatters(X, Y, weighting)
    return Pencil(Sb - lam * Sw, np.eye(X.shape[1]), mean, Y.sum(axis=1) > 0)


# ----------------------------------------------------------------------------------------------------- dependence


def centred_pair(X, Y):
    J = centring(len(X))
    return J @ X, J @ drop_empty(Y), X.mean(axis=0)


def cca(X, Y, ridge=0.0, ridge_y=0.0) -> Pencil:
    Xc, Yc, mean = centred_pair(X, Y)
    C = Yc.T @ Yc + ridge_y * np.eye(Yc.shape[1])
    inverse = np.linalg.pinv(C, rcond=RANK_TOLERANCE, hermitian=True)
    return Pencil(Xc.T @ Yc @ inverse @ Yc.T @ Xc, Xc.T @ Xc + ridge * np.eye(X.shape[1]), mean)


def pls(X, Y) -> Pencil:
    Xc, Yc, mean = centred_pair(X, Y)
    return Pencil(Xc.T @ Yc @ Yc.T @ Xc, np.eye(X.shape[1]), mean)


def pcovr(X, Y, ridge, beta=0.5) -> Pencil:
    """The ridge is that of the fit H of Yc; the constraint has none."""
    Xc, Yc, mean = centred_pair(X, Y)
    S = Xc.T @ Xc
    H = Xc @ np.linalg.solve(S + ridge * np.eye(X.shape[1]), Xc.T @ Yc)
    A = (1 - beta) * Xc @ Xc.T / np.sum(Xc**2) + beta * H @ H.T / np.sum(Yc**2)
    return Pencil(Xc.T @ A @ Xc, S, mean)


def opls(X, Y, ridge=0.0) -> Pencil:
    Xc, Yc, mean = centred_pair(X, Y)
    return Pencil(Xc.T @ Yc @ Yc.T @ Xc, Xc.T @ Xc + ridge * np.eye(X.shape[1]), mean)


def ratio_or_zero(a: float, b: float) -> float:
    return a / b if b > 0 else 0.0


def label_kernel(Y, kind, tau=None) -> np.ndarray:
    """Ky, n x n, one pair of label vectors at a time."""
    kernels: dict[str, Callable] = {
        "linear": lambda a, b: a @ b,
        "rbf": lambda a, b: np.exp(-np.sum((a - b) ** 2) / tau),
        "cosine": lambda a, b: ratio_or_zero(a @ b, np.sqrt((a @ a) * (b @ b))),
        "tanimoto": lambda a, b: ratio_or_zero(a @ b, a @ a + b @ b - a @ b),
    }
    return np.array([[kernels[kind](a, b) for b in Y] for a in Y])


def mddm(X, Y, metric="projection", mix=0.5, kind="linear", tau=None) -> Pencil:
    J = centring(len(X))
    Ap = X.T @ J @ label_kernel(drop_empty(Y), kind, tau) @ J @ X
    eye = np.eye(X.shape[1])
    Bp = eye if metric == "projection" else mix * X.T @ J @ X + (1 - mix) * eye
    return Pencil(Ap, Bp, X.mean(axis=0))


def hsic_biased(K, L) -> float:
    n = len(K)
    J = centring(n)
    return float(np.trace(K @ J @ L @ J)) / (n - 1) ** 2


def hsic_unbiased(K, L) -> float:
    """The estimator of Song et al.: both diagonals are removed, then three traces."""
    n = len(K)
    K, L, one = K - np.diag(np.diag(K)), L - np.diag(np.diag(L)), np.ones(n)
    middle = (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    return float((np.trace(K @ L) + middle - 2 / (n - 2) * (one @ K @ L @ one)) / (n * (n - 3)))


def sfehs(X, Y, estimator="unbiased", kind="linear", tau=None) -> Pencil:
    """Ap from the estimator itself: HSIC(X P P'X', Ky) is linear in P P', so it is evaluated on a basis of matrices."""
    hsic = {"unbiased": hsic_unbiased, "biased": hsic_biased}[estimator]
    L, V = label_kernel(drop_empty(Y), kind, tau), row_space(X)
    T, r = X @ V, V.shape[1]
    S = np.zeros((r, r))
    for a in range(r):
        for b in range(a, r):
            product = np.outer(T[:, a], T[:, b])
            S[a, b] = S[b, a] = hsic((product + product.T) / 2, L)
    return Pencil(V @ S @ V.T, np.eye(X.shape[1]), X.mean(axis=0))


# ---------------------------------------------------------------------------------------------------- hypergraphs


def hsl(X, Y, expansion="zhou", ridge=0.0, weights=None, self_loops=True, center=True) -> Pencil:
    Y = drop_empty(Y)
    weights = np.ones(Y.shape[1]) if weights is None else np.asarray(weights, float)
    if expansion == "clique":
        S = clique_similarity(Y, weights, self_loops)
    else:
        S = {"star": star_similarity, "zhou": zhou_similarity}[expansion](Y, weights)
    mean = offset(X, center)
    Xc = X - mean
    return Pencil(Xc.T @ S @ Xc, Xc.T @ Xc + ridge * np.eye(X.shape[1]), mean)


# ---------------------------------------------------------------------------------------- latent variables of X and Y


def joint_kernel(X, Y, beta, center, balance="none"):
    Y = drop_empty(Y)
    if center:
        J = centring(len(X))
        X, Y = J @ X, J @ Y
    of_labels, of_features = Y @ Y.T, X @ X.T
    if balance == "trace":
        of_labels, of_features = of_labels / np.trace(of_labels), of_features / np.trace(of_features)
    return X, beta * of_labels + (1 - beta) * of_features


def slvm(X, Y, beta=0.5, center=False, balance="trace") -> Pencil:
    """Direct: the pencil is n x n and its vectors are the embedding of the rows."""
    _, K = joint_kernel(X, Y, beta, center, balance)
    return Pencil(K, np.eye(len(X)), offset(X, center))


def inverse_kernel_pencil(X, Y, beta, penalty, eps, center, balance="none") -> Pencil:
    n = len(X)
    Xc, K = joint_kernel(X, Y, beta, center, balance)
    H = np.linalg.inv(K + eps * np.trace(K) / n * np.eye(n))
    return Pencil(-(Xc.T @ H @ Xc + penalty * np.eye(X.shape[1])), Xc.T @ Xc, offset(X, center))


def morp(X, Y, beta=0.5, penalty=1e-3, eps=1e-6, form="inverse", balance="none") -> Pencil:
    """min tr P'(Xc'K^-1 Xc + penalty I)P, negated; eps is relative to tr(K)/n."""
    return mlsi(X, Y, beta, penalty, eps, form, True, balance)


def mlsi(X, Y, beta=0.5, penalty=1e-3, eps=1e-6, form="inverse", center=False, balance="none") -> Pencil:
    if form == "inverse":
        return inverse_kernel_pencil(X, Y, beta, penalty, eps, center, balance)
    Xc, K = joint_kernel(X, Y, beta, center, balance)
    return Pencil(Xc.T @ K @ Xc, Xc.T @ Xc + penalty * np.eye(X.shape[1]), offset(X, center))


# ---------------------------------------------------------------------------------------- weighted multi-label Fisher


def mlda_weights(Y, correlation=True, normalize=True) -> np.ndarray:
    """Q: the label vector of a row spread by the cosines of the label columns and divided by its number of labels."""
    c = Y.shape[1]
    C = np.eye(c)
    if correlation:
        for s in range(c):
            for t in range(c):
                C[s, t] = Y[:, s] @ Y[:, t] / (np.linalg.norm(Y[:, s]) * np.linalg.norm(Y[:, t]))
    rows = Y @ C
    return inverse_or_zero(Y.sum(axis=1))[:, None] * rows if normalize else rows


def weighted_scatters(X, Q):
    """(Sb, Sw, mean) for soft memberships Q, class by class and row by row; the mean weighs a row by all its Q."""
    n, d = X.shape
    mean = sum(Q[i].sum() * X[i] for i in range(n)) / Q.sum()
    Sb, Sw = np.zeros((d, d)), np.zeros((d, d))
    for q in Q.T:
        mu = sum(q[i] * X[i] for i in range(n)) / q.sum()
        Sb += q.sum() * np.outer(mu - mean, mu - mean)
        for i in range(n):
            Sw += q[i] * np.outer(X[i] - mu, X[i] - mu)
    return Sb, Sw, mean


def mlda(X, Y, correlation=True, normalize=True, ridge=0.0) -> Pencil:
    Sb, Sw, mean = weighted_scatters(X, mlda_weights(drop_empty(Y), correlation, normalize))
    return Pencil(Sb, Sb + Sw + ridge * np.eye(X.shape[1]), mean, Y.sum(axis=1) > 0)


def copy_lda(X, Y, ridge=0.0) -> Pencil:
    return mlda(X, Y, correlation=False, normalize=False, ridge=ridge)


def dmlda(X, Y, weights="labels", ridge=0.0) -> Pencil:
    """The between part is the scatter of the non-members about each class mean."""
    Y = drop_empty(Y)
    Q = {"labels": lambda: Y, "mlda": lambda: mlda_weights(Y)}[weights]()
    _, Sw, _ = weighted_scatters(X, Q)
    n, d = X.shape
    Sb = np.zeros((d, d))
    for q in Q.T:
        mu = sum(q[i] * X[i] for i in range(n)) / q.sum()
        for i in range(n):
            Sb += (1 - q[i]) * np.outer(X[i] - mu, X[i] - mu)
    return Pencil(Sb, Sw + ridge * np.eye(d), X.mean(axis=0))


# ------------------------------------------------------------------------------------------------- shared subspace


def mlls(X, Y, alpha=1.0, beta=0.1) -> Pencil:
    """Solve, then orthonormalise: the subspace is Theta = QR(P)."""
    Xc, Yc, mean = centred_pair(X, Y)
    n, d = X.shape
    inverse = np.linalg.inv(Xc.T @ Xc / n + (alpha + beta) * np.eye(d))
    return Pencil(inverse @ Xc.T @ Yc @ Yc.T @ Xc @ inverse, np.eye(d) - alpha * inverse, mean)


def mlls_objective(X, Y, Theta, alpha, beta) -> float:
    """min over W and V of ||Xc W - Yc||^2 / n + alpha ||W - Theta V||^2 + beta ||W||^2 for a given Theta."""
    Xc, Yc, _ = centred_pair(X, Y)
    n, d = X.shape
    outside = np.eye(d) - Theta @ Theta.T  # the best V is Theta'W
    M = Xc.T @ Xc / n + alpha * outside + beta * np.eye(d)
    W = np.linalg.solve(M, Xc.T @ Yc / n)
    fit = np.linalg.norm(Xc @ W - Yc) ** 2 / n
    return float(fit + alpha * np.linalg.norm(outside @ W) ** 2 + beta * np.linalg.norm(W) ** 2)
