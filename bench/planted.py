"""Sparse rows with Zipf-distributed columns and labels planted in them."""

import numpy as np
from scipy import sparse


def planted_text(n: int, d: int, labels: int, nnz: int, seed: int):
    """X (n x d CSR, float64, ``nnz`` distinct columns a row, unit rows) and Y (n x labels, uint8) that X predicts.

    Column j is drawn with probability proportional to 1/(j + 1). A label is a sparse linear score of the row plus noise
    of half its size, cut so that from 1 to 10 per cent of the rows carry it.
    """
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, d + 1)
    columns = _distinct_columns(rng, n, nnz, np.cumsum(share / share.sum()))
    values = rng.exponential(size=columns.shape) * np.log1p(columns)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.arange(0, n * nnz + 1, nnz, dtype=np.int32)
    X = sparse.csr_array((values.ravel(), columns.ravel().astype(np.int32), indptr), shape=(n, d))
    scores = X @ _label_weights(rng, d, labels)
    scores += 0.5 * scores.std(axis=0) * rng.standard_normal(scores.shape)
    cuts = [np.quantile(scores[:, j], 1 - top) for j, top in enumerate(np.geomspace(0.01, 0.1, labels))]
    return X, (scores > np.array(cuts)).astype(np.uint8)


def _distinct_columns(rng, n: int, nnz: int, cumulative: np.ndarray) -> np.ndarray:
    """Sorted distinct columns a row: twice as many draws, repeats struck out, ``nnz`` of the rest kept by lot."""
    columns = np.empty((n, nnz), dtype=np.int64)
    todo = np.arange(n)
    while todo.size:
        rows = todo[:4096]
        draws = np.sort(np.searchsorted(cumulative, rng.random((rows.size, 2 * nnz + 40))), axis=1)
        draws = np.minimum(draws, len(cumulative) - 1)
        lot = rng.random(draws.shape)
        lot[:, 1:][draws[:, 1:] == draws[:, :-1]] = 2.0
        kept = np.argpartition(lot, nnz - 1, axis=1)[:, :nnz]
        enough = np.take_along_axis(lot, kept, axis=1).max(axis=1) < 2.0
        columns[rows[enough]] = np.sort(np.take_along_axis(draws, kept, axis=1)[enough], axis=1)
        todo = np.concatenate([todo[4096:], rows[~enough]])
    return columns


def _label_weights(rng, d: int, labels: int) -> np.ndarray:
    """One sparse direction a label, on columns of middling frequency."""
    weights = np.zeros((d, labels))
    for j in range(labels):
        chosen = rng.choice(np.arange(10, min(d, 5000)), size=200, replace=False)
        weights[chosen, j] = rng.standard_normal(200)
    return weights
