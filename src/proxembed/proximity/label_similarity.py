"""LabelSimilarity: G, the similarities of rows by their labels, as similarities of the distinct label sets.

In: labels and one of three schemes: label strings, latent labels, similarities of classes. Out: G in [0, 1], known by
blocks of label sets, by pairs of rows, as a low-rank factor where there is one, and never n x n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import in_threads, symmetrise
from proxembed.algebra.arrays.matrix import guard_dense, row_blocks
from proxembed.algebra.pencil.symmetric import eigenvalues
from proxembed.pairs.formulas import ratio
from proxembed.targets.labels import LabelMatrix

from ..params import call_user_function
from .class_similarity import class_similarity
from .latent_labels import Between, latent_between, latent_labels
from .similarity import SET_SIMILARITIES, checked_similarity, mean_differing, similarity_of_sets
from .weights import LOCAL_NEIGHBORS

SCHEMES = ("labels", "latent", "classes")
DEFAULTS = {"labels": "dice", "latent": "cosine", "classes": "dice"}
TABLE = 8  # label sets per pair up to which the similarities of all of them are looked up in a table
SETS = 64
PAIRS = 1 << 16  # looked up at a time: their temporary arrays stay in the cache
Factor = tuple[Any, np.ndarray | None, np.ndarray | None]


@dataclass(frozen=True, eq=False)
class LabelSimilarity:
    """G of n rows: g_ij = between(set of i, set of j) / scale, within [0, 1].

    ``index`` names the label set of each row; ``between(a, b)`` gives the unscaled similarities of sets a with sets b.

    Examples
    --------
    >>> G = label_similarity(LabelMatrix.of(np.array([[1, 0], [1, 1], [1, 0]])), "labels", "dice")
    >>> G.pairs(np.array([0, 0]), np.array([1, 2]))
    array([0.66666667, 1.        ])
    """

    index: np.ndarray
    u: int
    between: Between
    scale: float = 1.0
    low_rank: Factor | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.index)

    def of_sets(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Similarities of the label sets a with the label sets b, (len(a), len(b))."""
        found = self.between(a, b) / self.scale
        return np.clip(found, 0.0, 1.0, out=found)

    def pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """g of the pairs of rows (i_t, j_t): looked up where the label sets are few beside the pairs, else the sets of
        a few i at a time are compared with those of their j."""
        if self.u * self.u <= TABLE * len(i):
            table, out = self._of_all_sets.ravel(), np.empty(len(i))
            for start in range(0, len(i), PAIRS):
                part = slice(start, start + PAIRS)
                out[part] = table.take(self.index[i[part]] * self.u + self.index[j[part]])
            return out
        left, right = self.index[i], self.index[j]
        order = np.argsort(left, kind="stable")
        ascending, first, out = left[order], np.unique(left), np.empty(len(left))
        for start in range(0, len(first), SETS):
            sets = first[start : start + SETS]
            begin, end = np.searchsorted(ascending, (sets[0], sets[-1] + 1))
            here = order[begin:end]
            others, place = np.unique(right[here], return_inverse=True)
            out[here] = self.of_sets(sets, others)[np.searchsorted(sets, left[here]), place]
        return out

    def own(self) -> np.ndarray:
        """g of each label set with itself, (u,)."""
        parts = (np.arange(start, min(start + SETS, self.u)) for start in range(0, self.u, SETS))
        return np.concatenate([np.diag(self.of_sets(part, part)) for part in parts])

    def factor(self) -> Factor | None:
        """(F, S, F'1) with G = F S F' exactly, as ``LowRank`` takes them: F n x q, S a vector (a diagonal), q x q or
        None; F'1 where F holds the rows of a block, else None.

        None for similarities that have no low-rank form.
        """
        return self.low_rank

    def grouped(self) -> tuple[np.ndarray, np.ndarray]:
        """(label set of each row, similarities of the u label sets, u x u, symmetric): G = E Gu E', always exact."""
        return self.index, self._of_all_sets

    @cached_property
    def _of_all_sets(self) -> np.ndarray:
        guard_dense((self.u, self.u), "The similarities of all label sets")
        everyone, G = np.arange(self.u), np.empty((self.u, self.u))
        parts = list(row_blocks(self.u, self.u))

        def work(chosen: slice) -> None:
            for part in parts[chosen]:
                G[part] = self.of_sets(everyone[part], everyone)

        in_threads(work, len(parts), 1)
        return symmetrise(G)


def label_similarity(
    labels: LabelMatrix,
    scheme: str = "classes",
    similarity: str | Callable[..., Any] | np.ndarray | None = None,
    *,
    tau: float | None = None,
    p: float = 2.0,
    latent: str | Callable[..., Any] | None = None,
    n_latent: int | None = None,
    centred: bool = False,
    class_features: Any = None,
    n_scale: int = LOCAL_NEIGHBORS,
) -> LabelSimilarity:
    """Similarities of rows from their labels by one of three schemes, G; rows with equal labels have equal rows of G.
    [mu2012mesd]

    Parameters
    ----------
    labels : LabelMatrix of n rows and c labels.
    scheme : str
        "labels": of label sets as strings of 0 and 1. "latent": of phi(y) = Py'y. "classes": the mean similarity of
        the classes of both rows, G = M^-1 Y Sigma Y' M^-1.
    similarity : str, callable, array or None
        For "labels" one of "and", "cosine", "dice" (default), "scaled_dice", "jaccard", "hamming", "hamming_linear", or
        a callable sets (u x c) -> u x u. For "latent" one of those of ``latent_between`` ("cosine" by default). For
        "classes" one of those of ``class_similarity`` ("dice" by default), or the c x c array itself.
    tau : float or None
        Width of "hamming", "minkowski", "gaussian", ...; None: the mean over distinct pairs, at least 1 for "hamming".
    p : float
        Power of "minkowski".
    latent, n_latent, centred
        Of ``latent_labels``; "pca" by default.
    class_features : array or sparse matrix of shape (n, d)
        X for the class similarities of features.
    n_scale : int
        Of "local_scaling": which nearest label set sets the scale.

    Returns
    -------
    LabelSimilarity
        Values over their maximum (``scale``), negative ones 0. Rows without labels are similar to none by shared labels
        and by classes, and as the formula says by "hamming" and the distances of latent points.

    Raises
    ------
    ValueError
        For unknown names, ``tau`` or ``p`` out of range and matrices that are not symmetric, of the right size and
        finite.

    Examples
    --------
    >>> labels = LabelMatrix.of(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]]))
    >>> G = label_similarity(labels, "labels", "jaccard")
    >>> index, Gu = G.grouped()
    >>> Gu[np.ix_(index, index)]
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} is not known; choose one of {', '.join(SCHEMES)}.")
    if tau is not None and not 0.0 < tau < np.inf:
        raise ValueError(f"tau={tau!r} is out of range: a finite number above 0 is needed, or None for the default.")
    kind: Any = DEFAULTS[scheme] if similarity is None else similarity
    sets, index = labels.groups()
    if scheme == "labels":
        return _of_strings(labels, sets, index, kind, tau)
    if scheme == "classes":
        Sigma = class_similarity(
            labels, kind, tau=tau, features=class_features, latent="pca" if latent is None else latent,
            n_latent=n_latent, centred=centred, p=p, n_scale=n_scale,
        )  # fmt: skip
        return _of_classes(labels, sets, index, Sigma)
    phi = latent_labels(labels, sets, "pca" if latent is None else latent, n_latent, centred)
    between, largest = latent_between(phi, kind, tau, p, n_scale)
    return LabelSimilarity(index, len(sets), between, largest or 1.0)


def _of_strings(
    labels: LabelMatrix, sets: np.ndarray, index: np.ndarray, kind: Any, tau: float | None
) -> LabelSimilarity:
    """Scheme 1."""
    u, m = len(sets), sets.sum(axis=1)
    if callable(kind):
        guard_dense((u, u), f"similarity={kind!r}: the similarities of all label sets")
        G = checked_similarity(call_user_function("similarity", kind, sets), u, f"similarity={kind!r}")
        np.maximum(G, 0.0, out=G)
        return LabelSimilarity(index, u, lambda a, b: G[np.ix_(a, b)], float(G.max(initial=0.0)) or 1.0)
    if not isinstance(kind, str) or kind not in SET_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of label sets is not known; choose one of {', '.join(SET_SIMILARITIES)}, or pass a "
            "callable."
        )
    weights = ratio(1.0, labels.nk) if kind == "scaled_dice" else np.ones(labels.c)
    width = (mean_differing(sets) if tau is None else tau) if kind == "hamming" else float(labels.c)
    measure, weighted = SET_SIMILARITIES[kind], sets * weights

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return similarity_of_sets(measure, weighted[a] @ sets[b].T, m[a, None], m[b][None, :], width)

    scale = 1.0
    if kind in ("and", "scaled_dice"):  # positive semidefinite: the largest value is on the diagonal
        own = (weighted * sets).sum(axis=1)
        scale = float((own if kind == "and" else own * ratio(1.0, m)).max(initial=0.0)) or 1.0
    return LabelSimilarity(index, u, between, scale, _string_factor(labels, sets, kind, scale))


def _string_factor(labels: LabelMatrix, sets: np.ndarray, kind: str, scale: float) -> Factor | None:
    """Y; M^-1/2 Y; [Y, 1] with a (c + 1) x (c + 1) core for 1 - h/c."""
    Y, c = labels.Y, labels.c
    if kind == "and":
        return Y, np.full(c, 1.0 / scale), _sums(labels, sets)
    if kind == "cosine":
        F = sparse.csc_array(sparse.diags_array(np.sqrt(ratio(1.0, labels.m))) @ Y)
        return F, None, _sums(labels, np.sqrt(ratio(1.0, sets.sum(axis=1)))[:, None] * sets)
    if kind != "hamming_linear":
        return None
    S = np.diag(np.append(np.full(c, 2.0 / c), 1.0))
    S[:c, c] = S[c, :c] = -1.0 / c
    F = sparse.csc_array(sparse.hstack([Y, np.ones((Y.shape[0], 1))]))
    return F, S, _sums(labels, np.column_stack([sets, np.ones(len(sets))]))


def _sums(labels: LabelMatrix, of_sets: np.ndarray) -> np.ndarray | None:
    """F'1 over all rows from the factor's rows of the label sets, where the labels are those of a block."""
    return labels.set_counts() @ of_sets if labels.of_block else None


def _of_classes(labels: LabelMatrix, sets: np.ndarray, index: np.ndarray, Sigma: np.ndarray) -> LabelSimilarity:
    """Scheme 3, (42)."""
    u = len(sets)
    F = sets * ratio(1.0, sets.sum(axis=1))[:, None]
    FS = F @ Sigma

    def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return FS[a] @ F[b].T

    spectrum = eigenvalues(Sigma)
    if spectrum[-1] >= -1e-12 * abs(spectrum[0]):  # positive semidefinite: the largest value is on the diagonal
        scale = float(np.einsum("ij,ij->i", FS, F).max(initial=0.0))
    else:
        everyone = np.arange(u)
        scale = max(float(between(everyone[part], everyone).max()) for part in row_blocks(u, u))
    scale = scale or 1.0
    wide = sparse.csc_array(sparse.diags_array(ratio(1.0, labels.m)) @ labels.Y)
    return LabelSimilarity(index, u, between, scale, (wide, Sigma / scale, _sums(labels, F)))
