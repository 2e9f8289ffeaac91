"""Naive definitions of the local family on label copies, by loops over pairs: read them against the formulas.

Nothing here is shared with the package. A copy is a pair (row, class); with one label per row the copies are the rows.
Every function gives the nt x nt weight matrix of the copies; `collapse` brings it to the rows, `scatter` to features.
"""

from __future__ import annotations

import numpy as np

from oracles.dense import pair_scatter


class Copies:
    """The copies of n rows: `row` and `label` of each, distances of rows, and who may be whose neighbour."""

    def __init__(self, X, Y, rule="distinct", enemy="any", D=None):
        self.X, self.Y, self.rule, self.enemy = np.asarray(X, float), np.asarray(Y, float), rule, enemy
        self.n, self.c = self.Y.shape
        self.m, self.nk = self.Y.sum(axis=1), self.Y.sum(axis=0)
        self.list = [(i, k) for i in range(self.n) for k in range(self.c) if self.Y[i, k]]
        self.nt = len(self.list)
        self.D = np.array([[np.sqrt(((a - b) ** 2).sum()) for b in self.X] for a in self.X]) if D is None else D

    def nearest(self, i, candidates, K):
        return sorted((j for j in candidates if j != i), key=lambda j: (self.D[i, j], j))[:K]

    def members(self, k):
        return [i for i in range(self.n) if self.Y[i, k]]

    def eligible(self, i, k):
        """The rows that may be enemies of the copy (i, k)."""
        if self.enemy == "disjoint":
            return [j for j in range(self.n) if j != i and self.m[j] > 0 and not (self.Y[i] * self.Y[j]).any()]
        return [j for j in range(self.n) if j != i and any(self.Y[j, q] for q in range(self.c) if q != k)]

    def others(self, j, k):
        """The labels of row j but k."""
        return [q for q in range(self.c) if q != k and self.Y[j, q]]

    def matrix(self, weight):
        """W_st = weight(i, k, j, l) for copies s = (i, k), t = (j, l) of different rows."""
        return np.array([[0.0 if i == j else weight(i, k, j, q) for j, q in self.list] for i, k in self.list])

    def collapse(self, W):
        E = np.zeros((self.nt, self.n))
        for s, (i, _) in enumerate(self.list):
            E[s, i] = 1.0
        return E.T @ W @ E


def local_affinity(data, K, scope="class", links=None):
    """a_k(i, j) = exp(-d^2 / (s_i s_j)), s the distance to the K-th nearest row of the class, or of all with labels."""
    scale = {}
    everyone = [i for i in range(data.n) if data.m[i] > 0]
    for k in range(data.c):
        for i in data.members(k):
            pool = data.members(k) if scope == "class" else everyone
            near = data.nearest(i, pool, K)
            scale[i, k] = data.D[i, near[-1]] if near else 1.0

    near = None if links is None else friend_lists(data, links)

    def affinity(i, j, k):
        if near is not None and j not in near[i, k] and i not in near[j, k]:
            return 0.0
        product = scale[i, k] * scale[j, k]
        if product == 0:
            return 1.0 if data.D[i, j] == 0 else 0.0
        return np.exp(-(data.D[i, j] ** 2) / product)

    return affinity


def lfda(data, affinity):
    """(Wlb, Wlw), Wlb in two parts: 1/nt for every pair of copies, and what is added for copies of one class."""
    within = data.matrix(lambda i, k, j, q: affinity(i, j, k) / data.nk[k] if k == q else 0.0)
    total = data.matrix(lambda i, k, j, q: 1 / data.nt)
    inside = data.matrix(
        lambda i, k, j, q: affinity(i, j, k) * (1 / data.nt - 1 / data.nk[k]) - 1 / data.nt if k == q else 0.0
    )
    return total, inside, within


def friend_lists(data, K):
    return {(i, k): set(data.nearest(i, data.members(k), K)) for i, k in data.list}


def friends(data, K, link="undirected"):
    near = friend_lists(data, K)
    if link == "directed":
        return data.matrix(lambda i, k, j, q: float(k == q and j in near[i, k]))
    return data.matrix(lambda i, k, j, q: float(k == q and (j in near[i, k] or i in near[j, k])))


def enemy_lists(data, K, by="point"):
    """The copies that the copy (i, k) chose: a set of (j, l)."""
    chosen = {copy: set() for copy in data.list}
    if by == "point":
        slots = [
            [((i, k), j) for j in sorted(data.eligible(i, k), key=lambda j: (data.D[i, j], j))] for i, k in data.list
        ]
    else:
        slots = []
        for k in range(data.c):
            pairs = [(data.D[i, j], i, j) for i in data.members(k) for j in data.eligible(i, k)]
            slots.append([((i, k), j) for _, i, j in sorted(pairs)])
    for ranked in slots:
        if data.rule == "distinct":
            for (i, k), j in ranked[:K]:
                chosen[i, k] |= {(j, q) for q in data.others(j, k)}
        else:
            single = [((i, k), (j, q)) for (i, k), j in ranked for q in data.others(j, k)]
            for copy, other in single[:K]:
                chosen[copy].add(other)
    return chosen


def enemies(data, K, by="point", link="undirected"):
    near = enemy_lists(data, K, by)
    if link == "directed":
        return data.matrix(lambda i, k, j, q: float((j, q) in near[i, k]))
    return data.matrix(lambda i, k, j, q: float((j, q) in near[i, k] or (i, k) in near[j, q]))


def neighbor_links(data, K):
    """linked(i, j): one of the rows is among the K nearest labelled rows of the other."""
    everyone = [i for i in range(data.n) if data.m[i] > 0]
    near = {i: set(data.nearest(i, everyone, K)) for i in everyone}
    return lambda i, j: j in near[i] or i in near[j]


def near_by_label(data, K, same, weight=lambda i, j: 1.0):
    """Linked near rows as copies of the same class, or of different ones."""
    linked = neighbor_links(data, K)
    return data.matrix(lambda i, k, j, q: weight(i, j) if (k == q) == same and linked(i, j) else 0.0)


def alternative(data, tau=1.0):
    h = (data.X**2).sum(axis=1)
    return lambda i, j: 1.0 / (tau + data.D[i, j] ** 2 / (h[i] + h[j]))


def class_weights(data, kind):
    return data.matrix(lambda i, k, j, q: 0.0 if k != q else 1.0 / data.nk[k] if kind == "normalized" else 1.0)


def reconstruction(data, K, reg=1e-3, weight=lambda i: 1.0):
    """sum over copies of weight (x_i - sum_j w_j x_j)(...)', each copy from K rows of its class or from all others."""
    d = data.X.shape[1]
    M = np.zeros((d, d))
    for i, k in data.list:
        near = data.nearest(i, data.members(k), data.n if K is None else K)
        if not near:
            continue
        left = data.X[i] - reconstruction_weights(data, i, near, reg) @ data.X[near]
        M += weight(i) * np.outer(left, left)
    return M


def reconstruction_weights(data, i, near, reg):
    """The weights of the rows `near` that reconstruct row i, summing to one."""
    Z = data.X[near] - data.X[i]
    G = Z @ Z.T
    G = np.eye(len(near)) if np.trace(G) == 0 else G + reg * np.trace(G) * np.eye(len(near))
    w = np.linalg.solve(G, np.ones(len(near)))
    return w / w.sum()


def weighed(data, W, weighting, same):
    """A weight matrix of the rows under the weighting of copies; ``same``: it links copies of one class."""
    if weighting == "none":
        return W
    share = np.divide(1.0, data.m, out=np.zeros(data.n), where=data.m > 0)
    W = W * np.outer(share, share)
    return W * (data.Y @ data.Y.T) if weighting == "printed" and same else W


def scatter(data, W, weighting="none", same=True):
    """X'L(H)X, H the weights of the copies collapsed to the rows and weighed, by the pairs of rows."""
    return pair_scatter(data.X, weighed(data, data.collapse(W), weighting, same))


def share_of(data, weighting):
    return (lambda i: 1.0) if weighting == "none" else (lambda i: 1.0 / data.m[i])


def pencil(method, data, weighting="none"):
    """(Ap, Bp) of a method of the family as its publication states it, maximised; Bp None stands for I."""

    def S(W, same):
        return scatter(data, W, weighting, same)

    name = type(method).__name__
    if name == "LFDA":
        affinity = (lambda i, j, k: 1.0) if method.affinity == "constant" else None
        total, inside, within = lfda(
            data, affinity or local_affinity(data, method.n_neighbors, method.scope, method.n_links)
        )
        return S(total, False) + S(inside, True), S(within, True)
    if name == "MFA":
        number = method.n_enemies or {"class": 20, "point": 5}[method.pairs]
        return S(enemies(data, number, method.pairs), False), S(friends(data, method.n_friends), True)
    if name == "DLA":
        F, G = friends(data, method.n_friends, "directed"), enemies(data, method.n_enemies, link="directed")
        return method.lam * S(G + G.T, False) - S(F + F.T, True), None
    if name == "DNE":
        K = method.n_neighbors
        if method.scope == "class":
            return S(enemies(data, K), False) - S(friends(data, K), True), None
        return S(near_by_label(data, K, False), False) - S(near_by_label(data, K, True), True), None
    if name == "OLPPR":
        repulsion = S(near_by_label(data, method.n_neighbors, False, alternative(data)), False)
        attraction = S(class_weights(data, method.ws), True)
        balance = np.trace(attraction) / np.trace(repulsion) if method.balance == "trace" else 1.0
        return method.beta * balance * repulsion - attraction, None
    M = reconstruction(data, method.n_neighbors, method.reg, share_of(data, weighting))
    if name == "SONPP":
        return -M, None
    if name == "DONPP":
        G = enemies(data, method.n_enemies, link="directed")
        return method.beta * S(G + G.T, False) - M, None
    return method.beta * S(near_by_label(data, method.n_enemies, False, alternative(data)), False) - M, None
