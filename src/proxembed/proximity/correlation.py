"""Cosines and correlations of pairs of rows: x_i'x_j on the pairs asked for, never on all of them.

Pearson is the cosine of row-centred rows, Spearman that of row-centred mid-ranks, Kendall's tau-b that of the signs of
all differences of two features. Dense pairs are gathered by blocks, sparse rows stay sparse; threads share the blocks.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.stats import kendalltau

from proxembed.algebra.arrays.blas import in_threads
from proxembed.algebra.arrays.matrix import Matrix, centred_lengths
from proxembed.pairs.formulas import cosine, measures_for

from .distances import squared_norms

PAIR_ENTRIES = 1 << 17
KENDALL_ROWS = 2000
SIGN_FEATURES = 128
SIGNED = {kind: measure for kind, measure in measures_for("edge").items() if measure.signed}


def correlations(kind: str, A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Cosine, Pearson, Spearman or Kendall's tau-b of the pairs (A_i, B_j); 0 if a row is zero (cosine) or constant."""
    same = A is B
    if sp.issparse(A) != sp.issparse(B):
        A, B = sp.csr_array(A), sp.csr_array(B)
    measure = SIGNED[kind]
    if kind != "kendall" and not measure.centred:
        A, B = measure.rows(A), measure.rows(B)
        return cosine(pair_dots(A, B, i, j), np.sqrt(squared_norms(A))[i], np.sqrt(squared_norms(B))[j])
    if A.shape[1] < 2:
        raise ValueError(
            f"weights={kind!r} correlates two rows over their features, of which X has {A.shape[1]}: at least 2 are "
            'needed. Use weights="gaussian".'
        )
    if kind == "kendall":
        return _kendall(A, B, i, j)
    rows = measure.rows(A)
    return _pearson(rows, rows if same else measure.rows(B), i, j)


def pair_dots(
    A: Matrix,
    B: Matrix,
    i: np.ndarray,
    j: np.ndarray,
    means: tuple[np.ndarray, np.ndarray] | None = None,
) -> np.ndarray:
    """(a_i - mean_i)'(b_j - mean_j) of each pair, in float64; ``means``: of the rows of A and of B, 0 by default."""
    out = np.empty(len(i))
    sparse = sp.issparse(A)
    width = max(1, (A.nnz + B.nnz) // max(1, A.shape[0] + B.shape[0])) if sparse else A.shape[1]

    def work(part: slice) -> None:
        left, right = A[i[part]].astype(np.float64, copy=False), B[j[part]].astype(np.float64, copy=False)
        if sparse:
            out[part] = left.multiply(right).sum(axis=1)
            return
        if means is not None:
            left, right = left - means[0][i[part], None], right - means[1][j[part], None]
        out[part] = np.einsum("pf,pf->p", left, right)

    in_threads(work, len(i), max(1, PAIR_ENTRIES // max(1, width)))
    if sparse and means is not None:
        out -= A.shape[1] * means[0][i] * means[1][j]
    return out


def _pearson(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    mean_a, length_a = centred_lengths(A)
    mean_b, length_b = (mean_a, length_a) if A is B else centred_lengths(B)
    return cosine(pair_dots(A, B, i, j, (mean_a, mean_b)), length_a[i], length_b[j])


def _kendall(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """tau-b of each pair; 0 where a row is constant."""
    most = max(A.shape[0], B.shape[0])
    if most > KENDALL_ROWS:
        raise ValueError(
            f'weights="kendall" compares all pairs of features for each pair of rows: X has {most:,} rows, at most '
            f'{KENDALL_ROWS:,} are allowed. Use weights="spearman", or a sample of the rows.'
        )
    if A.shape[1] <= SIGN_FEATURES:
        return _kendall_by_signs(A, B, i, j)
    found = [kendalltau(_dense_row(A, p), _dense_row(B, q)).statistic for p, q in zip(i, j, strict=True)]
    return np.nan_to_num(np.array(found, dtype=np.float64))


def _kendall_by_signs(A: Matrix, B: Matrix, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The cosine of the signs of x_a - x_b over all pairs of features: exact counts, a chunk of pairs at a time."""
    dense_a = A.toarray() if sp.issparse(A) else A
    dense_b = dense_a if A is B else B.toarray() if sp.issparse(B) else B
    first, second = np.triu_indices(A.shape[1], 1)
    step = max(1, (1 << 20) // max(1, dense_a.shape[0] + dense_b.shape[0]))
    dots, untied_a, untied_b = np.zeros(len(i)), np.zeros(dense_a.shape[0]), np.zeros(dense_b.shape[0])
    for start in range(0, len(first), step):
        a, b = first[start : start + step], second[start : start + step]
        signs_a, signs_b = ((M[:, a] > M[:, b]) * 1.0 - (M[:, a] < M[:, b]) for M in (dense_a, dense_b))
        dots += pair_dots(signs_a, signs_b, i, j)
        untied_a += np.count_nonzero(signs_a, axis=1)
        untied_b += np.count_nonzero(signs_b, axis=1)
    return cosine(dots, np.sqrt(untied_a)[i], np.sqrt(untied_b)[j])


def _dense_row(X: Matrix, i: int) -> np.ndarray:
    return X[[i]].toarray()[0] if sp.issparse(X) else X[i]
