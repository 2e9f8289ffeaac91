"""Direct embeddings: max tr Z'AZ subject to Z'BZ = I, where the rows themselves are placed (R = I), B diagonal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import over, unit_of
from proxembed.algebra.graphs.bottom import Bottom, bottom, leading
from proxembed.algebra.operators.structured import Dense, LowRank, Operator

from .problem import low_rank_terms
from .symmetric import RANGE_TOLERANCE, descending, fix_signs, orthonormalise, top

THIN_UP_TO = 1500


@dataclass(frozen=True)
class Placement:
    """Z (n x k) with its eigenvalues, the bound on k, the spectrum where it is known, and the solver's name."""

    Z: np.ndarray
    eigenvalues: np.ndarray
    bound: int
    solver: str
    spectrum: np.ndarray | None = None
    grams: list[tuple[object, np.ndarray]] = field(default_factory=list)

    def with_positive_eigenvalues(self, A: Operator | None = None, B: Operator | None = None) -> Placement:
        """The components of positive eigenvalue; where one was met that is not, those before it are all there are.
        With the pencil (A, B) beyond its rounding, where no eigenvalue of A may be positive."""
        w = self.eigenvalues
        level = float(np.abs(w).max(initial=0.0))
        if A is not None:
            entries = np.abs(A.diagonal())
            weights = np.ones(len(entries)) if B is None else B.diagonal(len(entries))
            level = np.max(entries[weights > 0] / weights[weights > 0], initial=level)
        keep = int(np.count_nonzero(w > RANGE_TOLERANCE * level))
        return self if keep == len(w) else replace(self, Z=self.Z[:, :keep], eigenvalues=w[:keep], bound=keep)


def solve_direct(A: Operator, k: int | None, B: Operator | None = None, *, dense_up_to: int | None = None) -> Placement:
    """The k leading eigenvectors of A; ``k=None`` asks for all of them that are positive and the spectrum. With ``B``
    those of the pencil (A, B), Z'BZ = I. ``dense_up_to``: rows up to which a matrix that is not of low rank is
    decomposed whole (1,500 by default)."""
    if B is not None:
        return _constrained(A, B, k, dense_up_to)
    n = A.n
    parts = low_rank_terms(A, n)
    columns = sum(leaf.rank_bound for _, leaf in parts) if parts is not None else n
    if parts is not None and _thin_pays(n, columns, k) and all(_stackable(c, leaf) for c, leaf in parts):
        return _thin(parts, n, k)
    if k is None or n <= (THIN_UP_TO if dense_up_to is None else dense_up_to) or 10 * k >= n:
        M = A.todense()
        w, Z = descending((M + M.T) / 2) if k is None else top((M + M.T) / 2, min(k, n))
        bound = n if k is not None else int(np.count_nonzero(w > n * np.finfo(float).eps * w[0]))
        return Placement(fix_signs(Z[:, :bound]), w[:bound], bound, "dual", w if k is None else None)
    w, Z = leading(lambda v: A @ v, n, k)
    return Placement(fix_signs(Z), w, n, "iterative")


def _constrained(A: Operator, B: Operator, k: int | None, dense_up_to: int | None) -> Placement:
    """Under Z'BZ = I: by the roots of a diagonal B, else by the eigenvectors of its dense form; rows and directions in
    which B is 0 take no part. Raises ValueError for a B with negative eigenvalues."""
    n = A.n
    form = B.diagonal_and_factors(n)
    if form is not None and form[0] is not None and not form[1]:
        _refuse_negative(form[0])
        inverse = np.where(form[0] > 0, 1.0 / np.sqrt(np.where(form[0] > 0, form[0], 1.0)), 0.0)
        found = solve_direct(A.weighted(inverse), k, dense_up_to=dense_up_to)
        return replace(found, Z=found.Z * inverse[:, None])
    w, V = descending(B.todense(n))
    _refuse_negative(w)
    keep = w > RANGE_TOLERANCE * w[0]
    half = V[:, keep] / np.sqrt(w[keep])
    found = solve_direct(Dense(symmetrise(half.T @ (A @ half))), k, dense_up_to=dense_up_to)
    return replace(found, Z=half @ found.Z)


def _refuse_negative(w: np.ndarray) -> None:
    least, most = float(w.min()), float(np.abs(w).max())
    if least < -RANGE_TOLERANCE * most or most == 0:
        raise ValueError(
            f"B has eigenvalues from {least:.3g} to {float(w.max()):.3g}, and Z'BZ = I needs a matrix without negative "
            "ones that is not 0: pass a positive semidefinite B."
        )


def solve_graph(
    A: Operator, B: Operator | None, null: sparse.csr_array, k: int, *, solver: str = "auto", gap: int = 1
) -> Placement:
    """The k leading eigenvectors of a graph operator A <= 0 under Z'BZ = I, off its null space, B None or diagonal.
    null : (n, p) CSR whose columns, with disjoint rows, span the null space of A. solver and gap: as in ``bottom``."""
    M = -sparse_form(A)
    n, p = null.shape
    root = np.ones(n) if B is None else np.sqrt(B.diagonal(n))
    inverse = sparse.diags_array(1.0 / root)
    if B is not None:
        M = sparse.csr_array(inverse @ M @ inverse)
    N = sparse.csr_array(sparse.diags_array(root) @ null)
    N = sparse.csr_array(N @ sparse.diags_array(1.0 / np.sqrt(N.power(2).sum(axis=0))))
    found: Bottom = bottom(M, N, k, solver=solver, gap=gap)
    Z = fix_signs(found.Z / root[:, None])
    return Placement(Z, -found.eigenvalues, n - p, found.solver)


def sparse_form(A: Operator) -> sparse.csr_array:
    """A sum of sparse, diagonal and identity operators as one CSR matrix."""
    total = sparse.csr_array((A.n, A.n))
    for c, leaf in A.terms():
        W = leaf.graph()
        if W is None:
            d, factors = leaf.diagonal_and_factors(A.n) or (None, [])
            if d is None or factors:
                raise TypeError(f"{type(leaf).__name__} has no sparse form.")
            W = sparse.diags_array(d)
        total = total + c * W
    return sparse.csr_array(total)


def _thin_pays(n: int, columns: int, k: int | None) -> bool:
    """Whether the Gram matrix of the factors is the smaller one, where some decomposition is made at all."""
    return columns <= THIN_UP_TO or (columns < n and (k is None or 10 * k >= n))


def _stackable(c: float, leaf: LowRank) -> bool:
    """Whether c F F' is that of a block of centred rows: lazy centring removes the mean where weights are equal."""
    return c > 0 and leaf.S is None and (leaf.center is None or np.ptp(leaf.center) == 0)


def _thin(parts: list[tuple[float, LowRank]], n: int, k: int | None) -> Placement:
    """Left singular vectors of the stacked factors, from their joint Gram matrix."""
    unit = max(unit_of(leaf.F) for _, leaf in parts)
    blocks = [(np.sqrt(c), CentredMatrix.centred(over(leaf.F, unit), leaf.center)) for c, leaf in parts]
    joint, grams = _joint_gram(blocks)
    w, V = descending(joint) if k is None else top(joint, min(k, len(joint)))
    keep = w > max(w[0], 0.0) * n * np.finfo(float).eps
    w, V = w[keep], V[:, keep] / np.sqrt(w[keep])
    ends = np.cumsum([0, *(block.shape[1] for _, block in blocks)])
    Z: Any = sum(block.dot(c * V[i:j]) for (c, block), i, j in zip(blocks, ends[:-1], ends[1:], strict=True))
    bound = len(joint) if keep.all() and k is not None else len(w)
    known = []
    if unit == 1.0:
        known = [(leaf.F, gram) for (_, leaf), gram in zip(parts, grams, strict=True) if leaf.center is None]
    w = w * (unit * unit)
    return Placement(fix_signs(orthonormalise(Z, Z)), w, bound, "thin", w if k is None else None, known)


def _joint_gram(blocks: list[tuple[float, CentredMatrix]]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The Gram matrix of the scaled blocks side by side, and that of each block alone, unscaled."""
    grams = [block.gram() for _, block in blocks]
    rows: list[list[np.ndarray]] = [[np.empty(0)] * len(blocks) for _ in blocks]
    for i, (c, left) in enumerate(blocks):
        rows[i][i] = c**2 * grams[i]
        for j in range(i):
            e, right = blocks[j]
            swap = left.mean is None and right.mean is not None  # what is centred takes the mean off the other, too
            cross = c * e * (right.tdot(left.X).T if swap else left.tdot(right.X))
            rows[i][j], rows[j][i] = cross, cross.T
    return np.block(rows), grams
