"""Template: the pair of operators (A, B) that a spectral method is.

max tr[P'Ap P]  subject to  P'Bp P = I,   Ap = R'AR + a I,   Bp = R'BR + b I.     [mu2012mesd]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .operators.structured import Centering, Identity, LowRank, Operator, Repeats, Sum

GATHERED = 1 << 22
CONSTANT = 1e-8  # share of its diagonal that an operator may make of the constant vector and not know it
CONSTRAINTS = ("mixed", "projection", "supervised")


@dataclass(frozen=True)
class Template:
    """A pair of structured operators and what the solver must know beside them. ``A`` is always maximised; ``sense=-1``
    says that the method states a minimisation, so that the recorded eigenvalues are the method's own. ``B=None`` stands
    for 0. ``offset`` holds the row weights of the mean that transform subtracts (None: no centring) and of the
    row-space restriction. ``target`` is the label factor that ``ridge="auto"`` regresses on. ``rows`` is the X among
    the factors of B that stands for the rows that are projected, whatever a kernel or another lift makes of them.
    ``repeats``: how often each row occurs, where A, B and ``offset`` say so already (``repeated``); None for once.
    ``count``: the rows that compressed ones stand for, where rows occur several times."""

    A: Operator
    B: Operator | None = None
    a: float = 0.0
    b: float = 1.0
    offset: np.ndarray | None = None
    target: Any = None
    sense: int = 1
    rows: Any = None
    repeats: np.ndarray | None = None
    count: float | None = None

    def on(self, R: Any) -> Template:
        """The template for projected rows R, which take the place of ``rows`` among the factors."""
        if self.rows is None or self.rows is R or self.B is None:
            return self
        return replace(self, B=Sum([(c, leaf.with_factor(self.rows, R)) for c, leaf in self.B.terms()]), rows=R)

    def count_rows(self, n: int) -> float:
        """How many of n rows weigh something, each as often as it occurs."""
        if self.count is not None:
            return self.count
        if self.repeats is not None:
            return float(self.repeats.sum() if self.offset is None else self.repeats[self.offset != 0].sum())
        return n if self.offset is None else int(np.count_nonzero(self.offset))

    def repeated(self, repeats: Repeats) -> Template:
        """The template of rows that are repeated, on the distinct ones; stated on these with the sums of all."""
        return replace(
            self,
            A=self.A.repeated(repeats),
            B=None if self.B is None else self.B.repeated(repeats),
            offset=None if self.offset is None else repeats.weights * self.offset,
            repeats=repeats.weights,
        )

    def flipped(self) -> Template:
        """(-B, A), a and b likewise: what was the constraint is minimised, under what was maximised as constraint. A
        minimisation gives (B, -A): what was the constraint is maximised, under what was minimised."""
        if self.B is None:
            raise ValueError("Only a template with a constraint operator B can be flipped.")
        if self.sense < 0:
            return replace(self, A=self.B, B=-self.A, a=self.b, b=-self.a, sense=1)
        return replace(self, A=-self.B, B=self.A, a=-self.b, b=self.a, sense=-1)

    def spread(self, index: np.ndarray, n: int) -> Template:
        """The same template on n rows, of which ``index`` are the ones it was made from."""

        B = None if self.B is None else self.B.spread(index, n)
        offset = None
        if self.offset is not None:
            offset = np.zeros(n)
            offset[index] = self.offset
        return replace(self, A=self.A.spread(index, n), B=B, offset=offset, target=None)

    def rescale(self, factor: float, constraint: float = 1.0) -> Template:
        """A and a times a positive factor, B and b times another: same subspaces, eigenvalues scaled."""
        scaled = replace(self, A=factor * self.A, a=factor * self.a)
        if constraint == 1.0:
            return scaled
        return replace(scaled, B=None if self.B is None else constraint * self.B, b=constraint * self.b)

    def projected(self) -> Template:
        """The template of a method that places rows, Z'BZ = I, stated for their projection Z = XP: the same matrices,
        centred where A knows no constant vector, by the weights of a diagonal B."""
        n, weights = self.A.n, self.offset
        if weights is None and self._knows_no_constant():
            weights = np.ones(n) if self.B is None else self.B.diagonal(n)
        B = (Identity(n) if self.B is None else self.B) if weights is None else Centering(weights)
        return replace(self, B=B, b=0.0, offset=weights)

    def _knows_no_constant(self) -> bool:
        level = float(np.abs(self.A.diagonal()).max(initial=0.0))
        return np.abs(self.A @ np.ones(self.A.n)).max(initial=0.0) <= CONSTANT * level


def mix(unsupervised: Template, supervised: Template, share: float, constraint: str = "mixed") -> Template:
    """``share`` of an unsupervised template and 1 - ``share`` of a supervised one, of the same n rows, (44) and (45):
    A = share A_U + (1 - share) A_S, and B likewise ("mixed"), I ("projection") or B_S ("supervised"). [mu2012mesd] What
    has no share is left out, so that at both ends "mixed" is one of the two. The offset has the weighted mean of both
    means; none, where one of the two is not centred."""
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share={share!r} is not allowed; it must be a number from 0 to 1.")
    if constraint not in CONSTRAINTS:
        raise ValueError(f"constraint={constraint!r} is not allowed; it must be one of {', '.join(CONSTRAINTS)}.")
    parts = [(c, part) for c, part in ((share, unsupervised), (1.0 - share, supervised)) if c > 0]
    bound = {"mixed": parts, "projection": [], "supervised": [(1.0, supervised)]}[constraint]
    return Template(
        _weighted([(c, part.A) for c, part in parts]),
        _weighted([(c, part.B) for c, part in bound if part.B is not None]),
        a=sum(c * part.a for c, part in parts),
        b=sum(c * part.b for c, part in bound) if bound else 1.0,
        offset=_mean_weights([(c, part.offset) for c, part in parts]),
        sense=parts[0][1].sense if len({part.sense for _, part in parts}) == 1 else 1,
    )


def _weighted(terms: list[tuple[float, Operator]]) -> Any:
    """The weighted sum of operators; None for no operator."""
    if not terms:
        return None
    scaled = [op if c == 1.0 else c * op for c, op in terms]
    return sum(scaled[1:], scaled[0])


def _mean_weights(terms: list[tuple[float, np.ndarray | None]]) -> np.ndarray | None:
    """Row weights of which the mean is the weighted mean of those of all terms."""
    given = [(c, w) for c, w in terms if w is not None]
    if len(given) < len(terms):
        return None
    weights = [w for _, w in given]
    if all(np.array_equal(w, weights[0]) for w in weights):
        return weights[0]
    total: Any = sum(c * w / w.sum() for c, w in given)
    return len(weights[0]) * total


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
    >>> from proxembed import patch_alignment
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


def _scattered(rows: list[Any], columns: list[Any], values: list[Any], n: int) -> sparse.csr_array:
    if not rows:
        return sparse.csr_array((n, n))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array(entries, shape=(n, n)).tocsr()


def _checked_patch(number: int, index: Any, A: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
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


def centred(A: Operator, ones: np.ndarray) -> Operator:
    """H A H, H = I - 11'/n, by terms of low rank; ``ones``: uniform weights. Of rows that occur w times and A that says
    so: H'AH with H = I - 1w'/1'w."""
    factor, n = A.low_rank(), len(ones)
    if not np.all(ones == 1.0):
        sums, mass = A @ np.ones(n), ones.sum()
        corner = np.array([[0.0, -1.0 / mass], [-1.0 / mass, sums.sum() / mass**2]])
        return A + LowRank(np.column_stack([sums, ones]), corner)
    if factor is not None:
        return LowRank(factor.F, factor.S, center=ones)
    sums = A @ ones
    if np.abs(sums).max() <= 1e-12 * n * max(np.abs(A.diagonal(n)).max(), 1e-300):
        return A
    corner = np.array([[0.0, -1.0 / n], [-1.0 / n, sums.sum() / n**2]])
    return A + LowRank(np.column_stack([sums, np.ones(n)]), corner)
