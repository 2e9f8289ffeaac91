"""Template: the pair of operators (A, B) that a spectral method is.

max tr[P'Ap P]  subject to  P'Bp P = I,   Ap = R'AR + a I,   Bp = R'BR + b I.     [mu2012mesd]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .algebra.operators import Operator

GATHERED = 1 << 22


@dataclass(frozen=True)
class Template:
    """A pair of structured operators and what the solver must know beside them.

    ``A`` is always maximised; ``sense=-1`` says that the method states a minimisation, so that the recorded
    eigenvalues are the method's own. ``B=None`` stands for 0. ``offset`` holds the row weights of the mean that
    transform subtracts (None: no centring) and of the row-space restriction. ``target`` is the label factor that
    ``ridge="auto"`` regresses on.
    """

    A: Operator
    B: Operator | None = None
    a: float = 0.0
    b: float = 1.0
    offset: np.ndarray | None = None
    target: Any = None
    sense: int = 1

    def flipped(self) -> Template:
        """(-B, A): within-scatter minimised under the between constraint, a and b likewise."""
        if self.B is None:
            raise ValueError("Only a template with a constraint operator B can be flipped.")
        return replace(self, A=-self.B, B=self.A, a=-self.b, b=self.a)

    def spread(self, index: np.ndarray, n: int) -> Template:
        """The same template on n rows, of which ``index`` are the ones it was made from."""

        def wide(op):
            return None if op is None else op.spread(index, n)

        offset = None
        if self.offset is not None:
            offset = np.zeros(n)
            offset[index] = self.offset
        return replace(self, A=wide(self.A), B=wide(self.B), offset=offset, target=None)

    def rescale(self, factor: float) -> Template:
        """The template with A and a multiplied by a positive factor: same embedding, eigenvalues scaled."""
        return replace(self, A=factor * self.A, a=factor * self.a)


def patch_alignment(patches: Iterable[tuple[Any, Any]], n: int) -> sparse.csr_array:
    """The alignment matrix sum_i S_i A_i S_i' of patches of rows, S_i the selection of the rows of patch i.
    [zhang2009dla]

    Parameters
    ----------
    patches : iterable of (index, A_i): row numbers (m,) of 0..n-1 and a symmetric (m, m) array; each patch has its own
        m. A generator is enough: patches are added up as they come.
    n : the number of rows.

    Returns
    -------
    (n, n) csr_array, symmetric. ``-Sparse(patch_alignment(patches, n))`` is the operator of a method that minimises
    the sum of its patches.

    Raises
    ------
    ValueError
        For row numbers out of range or not whole, and for an A_i that is not symmetric, not finite or of another size;
        the message names the patch.

    Examples
    --------
    >>> from proxembed.template import patch_alignment
    >>> pull = [[1.0, -1.0], [-1.0, 1.0]]
    >>> patch_alignment([([0, 1], pull), ([1, 2], pull)], 3).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    total = sparse.csr_array((n, n))
    rows, columns, values, gathered = [], [], [], 0
    for number, patch in enumerate(patches):
        index, A = _checked_patch(number, *patch, n)
        rows.append(np.repeat(index, len(index)))
        columns.append(np.tile(index, len(index)))
        values.append(A.ravel())
        gathered += A.size
        if gathered > GATHERED:
            total = total + _scattered(rows, columns, values, n)
            rows, columns, values, gathered = [], [], [], 0
    total = total + _scattered(rows, columns, values, n)
    return sparse.csr_array((total + total.T) / 2.0)


def _scattered(rows: list, columns: list, values: list, n: int) -> sparse.csr_array:
    if not rows:
        return sparse.csr_array((n, n))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array(entries, shape=(n, n)).tocsr()


def _checked_patch(number: int, index, A, n: int) -> tuple[np.ndarray, np.ndarray]:
    index, A = np.asarray(index), np.asarray(A, dtype=np.float64)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise ValueError(
            f"patches[{number}]: the rows must be a list of whole numbers, not {index.dtype} of shape {index.shape}."
        )
    if index.size and (index.min() < 0 or index.max() >= n):
        raise ValueError(
            f"patches[{number}]: row {index.max() if index.max() >= n else index.min()} is not among the n={n:,} rows; "
            f"row numbers go from 0 to {n - 1:,}."
        )
    if A.shape != (len(index),) * 2:
        raise ValueError(
            f"patches[{number}]: {len(index)} rows need a {len(index)} x {len(index)} matrix, "
            f"not one of shape {A.shape}."
        )
    if not np.isfinite(A).all() or np.any(np.abs(A - A.T) > 1e-10 * np.abs(A).max(initial=0.0)):
        raise ValueError(f"patches[{number}]: the matrix must be symmetric and finite. Pass (A + A.T) / 2.")
    return index.astype(np.intp), A
