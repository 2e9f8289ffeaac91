"""sandwich_trace(): tr(X'AX) of a structured operator without the d x d matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from proxembed.algebra.operators.structured import Centering, Diagonal, Identity, LowRank, Operator, Sparse

from .centred import CentredMatrix, block_rows


def sandwich_trace(op: Operator, X) -> float:
    """tr(X'AX); X is an array, CSR or CentredMatrix.

    >>> sandwich_trace(Identity(2), np.array([[3.0], [4.0]]))
    25.0
    """
    X = CentredMatrix.of(X)
    return float(sum(c * _leaf_trace(leaf, X) for c, leaf in op.terms()))


def _leaf_trace(leaf: Operator, X: CentredMatrix) -> float:
    if isinstance(leaf, Diagonal | Identity):
        return X.squared_norm(leaf.diagonal(X.shape[0]))
    if isinstance(leaf, Centering):
        w = leaf.row_weights(X.shape[0])
        return CentredMatrix.centred(X.X, w).squared_norm(w)
    if isinstance(leaf, LowRank):
        E = leaf.project(X)
        return float(np.vdot(E.T, leaf.weigh(E.T)))
    return _edge_trace(leaf.W, X) if isinstance(leaf, Sparse) else float(np.trace(leaf.sandwich(X)))


def _edge_trace(W: sparse.csr_array, X: CentredMatrix) -> float:
    """sum_ij w_ij x_i'x_j of centred rows."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if not X.sparse:
        total = 0.0
        for part, near in X.blocks():
            far = W[part] @ X.X
            total += float(np.vdot(near, far if X.mean is None else far - np.outer(degrees[part], X.mean)))
        return total
    total, step = 0.0, block_rows(X.shape[1])
    for start in range(0, X.shape[0], step):
        total += float(X.X[start : start + step].multiply(W[start : start + step] @ X.X).sum())
    if X.mean is None:
        return total
    sums = np.asarray(X.X.T @ degrees).ravel()
    return total - 2 * float(X.mean @ sums) + float(X.mean @ X.mean) * float(degrees.sum())
