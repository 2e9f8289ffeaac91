"""Direct embeddings: max tr Z'AZ subject to Z'Z = I, where the rows themselves are placed (R = I)."""

from __future__ import annotations

import numpy as np

from .centred import CentredMatrix
from .operators import LowRank, Operator
from .problem import low_rank_terms
from .symmetric import descending, fix_signs, lanczos, orthonormalise, top

THIN_UP_TO = 1500


def solve_direct(A: Operator, k: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, str]:
    """Z (n x k), its eigenvalues, the whole spectrum where k is None, and the solver's name."""
    n = A.n
    parts = low_rank_terms(A, n)
    columns = sum(leaf.rank_bound for _, leaf in parts) if parts is not None else n
    if parts is not None and columns <= THIN_UP_TO and all(c > 0 and leaf.S is None for c, leaf in parts):
        w, Z = _thin(parts, n)
        keep = len(w) if k is None else min(k, len(w))
        return fix_signs(Z[:, :keep]), w[:keep], w, "thin"
    if k is None or n <= THIN_UP_TO or k >= n - 1:
        M = A.todense()
        w, Z = descending((M + M.T) / 2) if k is None else top((M + M.T) / 2, min(k, n))
        return fix_signs(Z), w, (w if k is None else None), "dual"
    w, Z = lanczos(lambda v: A @ v, n, k)
    return fix_signs(Z), w, None, "iterative"


def _thin(parts: list[tuple[float, LowRank]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors of the stacked factors, from their joint Gram matrix."""
    blocks = [(np.sqrt(c), CentredMatrix.centred(leaf.F, leaf.center)) for c, leaf in parts]
    joint = np.block([[c * e * _cross(left, right) for e, right in blocks] for c, left in blocks])
    w, V = descending(joint)
    keep = w > max(w[0], 0.0) * n * np.finfo(float).eps
    w, V = w[keep], V[:, keep] / np.sqrt(w[keep])

    def stack_dot(C: np.ndarray) -> np.ndarray:
        ends = np.cumsum([0, *(block.shape[1] for _, block in blocks)])
        return sum(c * block.dot(C[i:j]) for (c, block), i, j in zip(blocks, ends[:-1], ends[1:], strict=True))

    return w, _LazyColumns(stack_dot, V)


class _LazyColumns:
    """Columns of [F1, F2, ...] V, multiplied out when some of them are asked for."""

    def __init__(self, product, V: np.ndarray):
        self.product, self.V = product, V

    def __getitem__(self, key) -> np.ndarray:
        Z = self.product(self.V[key])
        return orthonormalise(Z, Z)


def _cross(left: CentredMatrix, right: CentredMatrix) -> np.ndarray:
    if left is right:
        return left.gram()
    return left.tdot(right.X) if left.mean is not None or right.mean is None else right.tdot(left.X).T
