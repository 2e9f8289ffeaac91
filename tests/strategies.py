"""Seeded generators and hypothesis strategies: features and labels in general position, and the awkward fixtures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from proxembed.methods.adaptive import Switches


def features_dense(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Correlated Gaussian features with an offset: no tied distances, distinct singular values, mean far from 0."""
    rng = np.random.default_rng(seed)
    scale = np.geomspace(2.0, 0.3, d)
    return rng.standard_normal((n, d)) * scale @ rng.standard_normal((d, d)) / np.sqrt(d) + rng.standard_normal(d)


def features_text(n: int = 50, d: int = 300, seed: int = 0) -> sp.csr_array:
    """Non-negative sparse rows of unit norm with Zipf-like columns, as tf-idf makes them; every row has a word."""
    rng = np.random.default_rng(seed)
    rate = 6.0 / (1.0 + np.arange(d)) ** 0.7
    counts = rng.poisson(rate, size=(n, d)).astype(float)
    counts[np.arange(n), rng.integers(0, d, n)] += 1.0
    idf = np.log((1 + n) / (1 + (counts > 0).sum(axis=0))) + 1.0
    X = np.log1p(counts) * idf
    return sp.csr_array(X / np.linalg.norm(X, axis=1, keepdims=True))


def features_duplicate_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Dense features in which the last third of the rows repeats the first third exactly."""
    X = features_dense(n, d, seed)
    third = n // 3
    X[n - third :] = X[:third]
    return X


def labels_classes(n: int, c: int, seed: int = 0) -> np.ndarray:
    """One class per row, classes 0..c-1 of unequal sizes, each with at least two rows."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, c + 1) / np.arange(1, c + 1).sum()
    y = rng.choice(c, size=n, p=share)
    y[: 2 * c] = np.repeat(np.arange(c), 2)
    return rng.permutation(y)


def one_hot(y: np.ndarray) -> np.ndarray:
    """The n x c indicator of a vector of classes."""
    return (np.asarray(y)[:, None] == np.unique(y)[None, :]).astype(float)


def labels_multi(n: int, c: int, seed: int = 0, density: float = 0.4) -> np.ndarray:
    """Multi-label indicator in general position: columns of different sizes, full column rank, no empty row."""
    rng = np.random.default_rng(seed)
    rates = np.clip(density * np.linspace(0.6, 1.4, c), 0.05, 0.95)
    Y = (rng.random((n, c)) < rates).astype(float)
    Y[np.arange(n), rng.integers(0, c, n)] = 1.0
    Y[:2] = 0.0
    Y[0, 0] = Y[1, c - 1] = 1.0
    return Y


def labels_awkward(n: int, seed: int = 0) -> np.ndarray:
    """Multi-label indicator: an empty class, a class of all rows but the zero row, two equal columns and a zero row."""
    Y = labels_multi(n, 4, seed)
    Y = np.column_stack([Y[:, :3], np.zeros(n), np.ones(n), Y[:, 3], Y[:, 1]])
    Y[n // 2] = 0.0
    return Y


def labels_full_class(n: int, seed: int = 0) -> np.ndarray:
    """Multi-label indicator whose second column is 1 in every row."""
    Y = labels_multi(n, 4, seed)
    return np.insert(Y, 1, 1.0, axis=1)


@cache
def every_switches() -> tuple[Switches, ...]:
    """All 72,576 switch vectors, made once."""
    return tuple(Switches.all())


@cache
def canonical_switches() -> tuple[Switches, ...]:
    """The canonical form of each of these."""
    return tuple(switches.canonical() for switches in every_switches())


@dataclass(frozen=True)
class Problem:
    """One fixture: features (dense or CSR), indicator, and a readable name."""

    name: str
    X: np.ndarray | sp.csr_array
    Y: np.ndarray

    @property
    def dense(self) -> np.ndarray:
        return self.X.toarray() if sp.issparse(self.X) else self.X

    @property
    def classes(self) -> np.ndarray:
        """The class of every row (one-hot fixtures only)."""
        if not (self.Y.sum(axis=1) == 1).all():
            raise ValueError(f"problem {self.name!r} is multi-label: it has no single class per row")
        return self.Y.argmax(axis=1)


def told_by_labels(X: np.ndarray, Y: np.ndarray, seed: int) -> np.ndarray:
    """The features plus a direction of its own for every label, so that classes are partly separated."""
    rng = np.random.default_rng(seed + 1000)
    return X + 1.5 * Y @ rng.standard_normal((Y.shape[1], X.shape[1]))


def labelled_rows(n: int, d: int, c: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) that tell the labels, and these, (n, c)."""
    Y = labels_multi(n, c, seed)
    return told_by_labels(features_dense(n, d, seed), Y, seed), Y


def problems_single() -> list[Problem]:
    """Every kind of feature with one class per row."""
    wide, tall, more, few = (one_hot(labels_classes(n, 4, s)) for n, s in ((30, 1), (60, 2), (60, 3), (36, 5)))
    repeated = told_by_labels(features_dense(60, 12, 3), more, 3)
    repeated[:, -1] = repeated[:, 0]
    twins = np.concatenate([few[:24], few[:12]])
    return [
        Problem("wide", told_by_labels(features_dense(30, 60, 1), wide, 1), wide),
        Problem("tall", told_by_labels(features_dense(60, 9, 2), tall, 2), tall),
        Problem("duplicated feature", repeated, more),
        Problem("text", features_text(50, 300, 4), one_hot(labels_classes(50, 4, 4))),
        Problem("duplicate rows", told_by_labels(features_duplicate_rows(36, 8, 5), twins, 5), twins),
    ]


def problems_multi() -> list[Problem]:
    """Every kind of feature with generic and with awkward multi-label indicators."""
    wide, tall, awkward = labels_multi(30, 4, 6), labels_multi(60, 5, 7), labels_awkward(60, 8)
    full = labels_full_class(30, 10)
    repeated = told_by_labels(features_dense(60, 12, 8), awkward, 8)
    repeated[:, -1] = repeated[:, 0]
    return [
        Problem("wide", told_by_labels(features_dense(30, 60, 6), wide, 6), wide),
        Problem("tall", told_by_labels(features_dense(60, 9, 7), tall, 7), tall),
        Problem("duplicated feature, awkward labels", repeated, awkward),
        Problem("text, awkward labels", features_text(50, 300, 9), labels_awkward(50, 9)),
        Problem("wide, full class", told_by_labels(features_dense(30, 60, 10), full, 10), full),
        Problem("duplicate rows, unlike labels", features_duplicate_rows(36, 8, 11), labels_multi(36, 4, 11)),
    ]


@st.composite
def general_position(draw: st.DrawFn, multi: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Hypothesis: (X, Y) of random small sizes in general position, drawn through a seed (no tied distances)."""
    n = draw(st.integers(14, 40), label="n")
    d = draw(st.integers(3, 50), label="d")
    c = draw(st.integers(3, 5), label="c")
    seed = draw(st.integers(0, 2**20), label="seed")
    X = features_dense(n, d, seed)
    Y = labels_multi(n, c, seed + 1) if multi else one_hot(labels_classes(n, c, seed + 1))
    return X, Y
