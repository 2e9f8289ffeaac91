"""Distances kept: classical multidimensional scaling of rows or of given dissimilarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.operators.structured import LowRank
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution
from proxembed.algebra.template import Template
from proxembed.rows import Rows

from ..direct import DirectEmbedder
from ..params import param
from .gower import DoubleCentred, gower_rows, lowest_negative

SCALING_DOC = "Columns of Z: times the root of the eigenvalue (Z Z' = the Gram matrix), or of unit length."


class ClassicalMDS(DirectEmbedder, positive_only=True):
    """Classical multidimensional scaling: A = -1/2 J E J, E the squared dissimilarities, Z = V diag(w)^1/2.
    [torgerson1952mds]

    Inner products of the embedding approximate those that the dissimilarities imply, as closely as k dimensions allow.
    For rows of features, A = Xc Xc' and Z are the scores of principal component analysis, computed without an n x n
    matrix if d < n. New rows are placed by Gower's rule [gower1968mds].

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    eigenvalues_ : (k,) array, descending and positive.
    negative_eigenvalues_ : array, ascending: how far given dissimilarities are from being Euclidean (all of them up to
        1,500 rows, the k lowest at most above that); empty for rows of features.
    components_ : (k, d) array, and
    mean_ : (d,) array, the projection of new rows (metric="euclidean" alone).

    Raises
    ------
    ValueError
        For n_components above the number of positive eigenvalues, constant X, dissimilarities that are not square,
        symmetric and non-negative with a zero diagonal, or above the size guard.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import ClassicalMDS
    >>> E = np.array([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> Z = ClassicalMDS(metric="precomputed").fit_transform(E)
    >>> np.round(np.linalg.norm(Z[1] - Z[2]), 6)
    np.float64(5.0)
    """

    metric: str = param(
        default="euclidean",
        choices=("euclidean", "precomputed"),
        doc="X holds rows of features, or is the n x n matrix of dissimilarities itself.",
    )
    scaling: str = param(default="eigenvalue", choices=("eigenvalue", "template", "unit"), doc=SCALING_DOC)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def template(self, rows: Rows) -> Template:
        if self.metric == "euclidean":
            return Template(LowRank(rows.X, center=rows.ones), offset=rows.ones)
        return Template(DoubleCentred(squared_dissimilarities(rows.X)))

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        found = solve_direct(template.A, k).with_positive_eigenvalues()
        self.negative_eigenvalues_ = np.empty(0)
        if self.metric == "precomputed":
            A: Any = template.A
            self.negative_eigenvalues_ = lowest_negative(A, max(1, len(found.eigenvalues)))
            self.level_ = A.A.mean(axis=1)
        return found

    def learn(self, rows: Rows, found: Solution) -> None:
        if self.metric == "euclidean":
            centred = CentredMatrix.centred(rows.X, rows.ones)
            self.mean_: Any = centred.centre
            self.components_ = np.ascontiguousarray((centred.tdot(self.embedding_) / self.eigenvalues_).T)

    def projects(self) -> bool:
        return self.metric == "euclidean"

    def extend(self, X: Any) -> np.ndarray:
        if self.metric == "euclidean":
            return CentredMatrix(X, self.mean_).dot(self.components_.T)
        return gower_rows(dense(X) ** 2, self.level_, self.embedding_, self.eigenvalues_)

    def natural_components(self, rows: Rows) -> int:
        return max(1, min(2, rows.n - 1, rows.X.shape[1]))


def squared_dissimilarities(X: Any) -> np.ndarray:
    """The entries of a matrix of dissimilarities squared, float64, after the checks that it is one."""
    n, columns = X.shape
    if n != columns:
        raise ValueError(
            f'metric="precomputed" needs a square matrix of dissimilarities between the rows; X is {n} x {columns}. '
            'Pass the n x n matrix, or metric="euclidean" for rows of features.'
        )
    E = dense(X)
    size = float(np.abs(E).max(initial=0.0))
    if E.min(initial=0.0) < 0 or np.abs(np.diag(E)).max(initial=0.0) > 1e-10 * size:
        raise ValueError(
            'metric="precomputed" needs dissimilarities: none below 0 and zeros on the diagonal. '
            "Similarities s can be passed as sqrt(2 - 2 s)."
        )
    if float(np.abs(E - E.T).max(initial=0.0)) > (1e-10 if X.dtype == np.float64 else 1e-5) * size:
        raise ValueError('metric="precomputed" needs a symmetric matrix of dissimilarities. Pass (X + X.T) / 2.')
    E = (E + E.T) / 2
    return E**2


def dense(X: Any) -> np.ndarray:
    """The matrix as a float64 array, refused above the size guard."""
    if sparse.issparse(X):
        guard_dense(X.shape, "The dense form of the dissimilarities")
        return X.toarray().astype(np.float64)
    return np.asarray(X, dtype=np.float64)
