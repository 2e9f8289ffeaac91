"""Similarities of rows by their labels, and what becomes of them, by loops over pairs of Python sets."""

from __future__ import annotations

import math

import numpy as np


def label_sets(Y) -> list[frozenset]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in Y]


def pair_matrix(n: int, value) -> np.ndarray:
    return np.array([[value(i, j) for j in range(n)] for i in range(n)], dtype=float).reshape(n, n)


def mean_differing(sets) -> float:
    """Over all pairs of distinct label sets, at least 1."""
    distinct = list(dict.fromkeys(sets))
    found = [len(distinct[i] ^ distinct[j]) for i in range(len(distinct)) for j in range(i)]
    return max(sum(found) / len(found), 1.0) if found else 1.0


def of_sets(a: frozenset, b: frozenset, kind: str, c: int, nk=None, tau: float = 1.0) -> float:
    """One similarity of two label sets, unscaled."""
    shared = len(a & b)
    if kind == "hamming":
        return math.exp(-len(a ^ b) / tau)
    if kind == "hamming_linear":
        return 1.0 - len(a ^ b) / c
    if not a or not b:
        return 0.0
    return {
        "and": lambda: shared,
        "cooccurrence": lambda: shared,
        "cosine": lambda: shared / math.sqrt(len(a) * len(b)),
        "dice": lambda: 2 * shared / (len(a) + len(b)),
        "scaled_dice": lambda: 2 * sum(1 / nk[k] for k in a & b) / (len(a) + len(b)),
        "jaccard": lambda: shared / len(a | b),
    }[kind]()


def scheme_labels(Y, kind: str, tau: float | None = None) -> np.ndarray:
    """G of scheme 1 before scaling, n x n."""
    sets, nk = label_sets(Y), Y.sum(axis=0)
    width = mean_differing(sets) if tau is None else tau
    return pair_matrix(len(Y), lambda i, j: of_sets(sets[i], sets[j], kind, Y.shape[1], nk, width))


def class_sigma(Y, kind: str, tau: float | None = None) -> np.ndarray:
    """Sigma of scheme 3 from the sets of rows that carry each label."""
    members = label_sets(Y.T)
    used = [rows for rows in members if rows]
    found = [len(used[s] ^ used[t]) for s in range(len(used)) for t in range(s)]
    width = (max(sum(found) / len(found), 1.0) if found else 1.0) if tau is None else tau

    def value(s, t):
        return of_sets(members[s], members[t], kind, len(Y), Y.sum(axis=1), width) if members[s] and members[t] else 0.0

    return pair_matrix(Y.shape[1], value)


def scheme_classes(Y, Sigma) -> np.ndarray:
    """G of scheme 3 before scaling: the mean of Sigma over the labels of both rows."""
    sets = label_sets(Y)

    def value(i, j):
        pairs = [Sigma[s, t] for s in sets[i] for t in sets[j]]
        return sum(pairs) / len(pairs) if pairs else 0.0

    return pair_matrix(len(Y), value)


def priority(w: float, g: float, a: float, b: float, beta: float, gamma: float) -> float:
    """(43) and its generalisation for one pair."""
    labels = 0.0 if g == 0 else g**a
    features = 1.0 if b == 0 else w**b
    return gamma * labels / (1 + beta * (1 - features)) + (1 - gamma) * features


def chosen_by_sorting(Psi: np.ndarray, K: int) -> np.ndarray:
    """The directed matrix of the K largest positive psi of each row, j != i, ties (within rounding) by index."""
    n = len(Psi)
    D = np.zeros((n, n))
    for i in range(n):
        order = sorted((j for j in range(n) if j != i), key=lambda j: (-round(Psi[i, j], 10), j))
        for j in order[:K]:
            D[i, j] = max(Psi[i, j], 0.0)
    return D


def linked(D: np.ndarray, link: str) -> np.ndarray:
    if link == "directed":
        return (D + D.T) / 2
    both = (D > 0) & (D.T > 0)
    either = (D > 0) | (D.T > 0)
    return np.where(both if link == "mutual" else either, np.maximum(D, D.T), 0.0)
