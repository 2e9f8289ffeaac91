"""Explicit duplication, n x n: the operators (A, B) of MESD of every single-label method, from matrices over copies.

Nothing here is shared with the package. A matrix over the nt copies is made pair by pair (`oracles.local`), collapsed
by E'WE with the indicator E of copies, weighed, and made a Laplacian last.
"""

from __future__ import annotations

import numpy as np

from oracles import local
from oracles.dense import laplacian


def operators(method, data: local.Copies, weighting: str = "none") -> tuple[np.ndarray, np.ndarray | None]:
    """(A, B), both n x n and maximised; B None stands for P'P = I."""

    def L(W, same):
        return laplacian(local.weighed(data, data.collapse(W), weighting, same))

    return DEFINITIONS[type(method).__name__](method, data, L, weighting)


def fisher_weights(data):
    """Every pair of copies 1/nt; copies of class k 1/n_k. Pairs of one row cancel in the Laplacian."""
    return data.matrix(lambda i, k, j, q: 1 / data.nt), local.class_weights(data, "normalized")


def fda(method, data, L, weighting):
    total, within = fisher_weights(data)
    A = L(total, False) - L(within, True)
    return A, L(total, False) if method.constraint == "total" else L(within, True)


def mmc(method, data, L, weighting):
    total, within = fisher_weights(data)
    return L(total, False) - L(within, True) - method.lam * L(within, True), None


def lfda(method, data, L, weighting):
    constant = method.affinity == "constant"
    near = method.n_neighbors, method.scope, method.n_links
    affinity = (lambda i, j, k: 1.0) if constant else local.local_affinity(data, *near)
    total, inside, within = local.lfda(data, affinity)
    return L(total, False) + L(inside, True), L(within, True)


def mfa(method, data, L, weighting):
    number = method.n_enemies or {"class": 20, "point": 5}[method.pairs]
    return L(local.enemies(data, number, method.pairs), False), L(local.friends(data, method.n_friends), True)


def dla(method, data, L, weighting):
    F = local.friends(data, method.n_friends, "directed")
    G = local.enemies(data, method.n_enemies, link="directed")
    return method.lam * L(G + G.T, False) - L(F + F.T, True), None


def dne(method, data, L, weighting):
    K = method.n_neighbors
    if method.scope == "class":
        return L(local.enemies(data, K), False) - L(local.friends(data, K), True), None
    return L(local.near_by_label(data, K, False), False) - L(local.near_by_label(data, K, True), True), None


def repulsion(data, K, L):
    return L(local.near_by_label(data, K, False, local.alternative(data)), False)


def olppr(method, data, L, weighting):
    away, together = repulsion(data, method.n_neighbors, L), L(local.class_weights(data, method.ws), True)
    if method.balance == "trace":
        away = away * np.trace(data.X.T @ together @ data.X) / np.trace(data.X.T @ away @ data.X)
    return method.beta * away - together, None


def residuals(method, data, weighting):
    """(I - W)'(I - W) over the copies: one residual a copy, its square times 1, or 1/m_i where copies are weighted."""
    M = np.zeros((data.n, data.n))
    share = local.share_of(data, weighting)
    for i, k in data.list:
        near = data.nearest(i, data.members(k), data.n if method.n_neighbors is None else method.n_neighbors)
        if near:
            r = np.zeros(data.n)
            r[i] = 1.0
            r[near] = -local.reconstruction_weights(data, i, near, method.reg)
            M += share(i) * np.outer(r, r)
    return M


def sonpp(method, data, L, weighting):
    return -residuals(method, data, weighting), None


def donpp(method, data, L, weighting):
    G = local.enemies(data, method.n_enemies, link="directed")
    return method.beta * L(G + G.T, False) - residuals(method, data, weighting), None


def onppr(method, data, L, weighting):
    return method.beta * repulsion(data, method.n_enemies, L) - residuals(method, data, weighting), None


DEFINITIONS = {
    "FDA": fda, "MMC": mmc, "LFDA": lfda, "MFA": mfa, "DLA": dla, "DNE": dne, "OLPPR": olppr,
    "SONPP": sonpp, "DONPP": donpp, "ONPPR": onppr,
}  # fmt: skip
