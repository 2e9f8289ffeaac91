"""Fingerprints: 64 bits of every row that depend on its values alone, the same for dense and sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .parallel import in_threads


def multipliers(d: int) -> np.ndarray:
    """The fixed odd numbers of d features."""
    return np.random.default_rng(20).integers(1, 2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def fingerprints(X: Any, multipliers: np.ndarray) -> np.ndarray:
    """Sum over columns of a scrambled bit pattern times a fixed odd number, modulo 2^64; zero entries add nothing.

    X: (n, d) array or CSR without repeated entries. Equal rows have equal fingerprints; rows of equal fingerprints are
    equal but for a chance of 2^-64 a pair.
    """
    if sparse.issparse(X):
        terms = _scrambled(X.data) * multipliers[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    out = np.empty(X.shape[0], dtype=np.uint64)

    def work(part: slice) -> None:
        out[part] = _scrambled(X[part]) @ multipliers

    chunk = max(1, (1 << 17) // max(X.shape[1], 1))
    in_threads(work, X.shape[0], chunk, chunk)
    return out


def _scrambled(values: np.ndarray) -> np.ndarray:
    """The bit patterns of float64 values (-0 as 0), mixed so that their sum is not linear in them."""
    bits = np.add(values, 0.0, dtype=np.float64, order="C").view(np.uint64)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(32)
    return bits
