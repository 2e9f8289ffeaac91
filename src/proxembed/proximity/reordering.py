"""Orders of rows in which groups show as blocks about the diagonal: VAT, iVAT and, for rectangular matrices, coVAT.

In: dissimilarities. Out: ``Reordering``, the rows (and columns) in their order and the matrix in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxembed.algebra.arrays.matrix import guard_dense

from .weights import Distances

LIMIT = 2000
SKEW = 1e-10


@dataclass(frozen=True)
class Reordering:
    """An order of the rows and columns of a matrix."""

    rows: np.ndarray
    columns: np.ndarray
    matrix: np.ndarray
    shape: tuple[int, int]

    @property
    def sampled(self) -> bool:
        """Whether rows or columns were left out."""
        return self.matrix.shape != self.shape

    @property
    def words(self) -> str:
        """How many rows and columns were ordered, in words."""
        if self.shape[0] == self.shape[1] and np.array_equal(self.rows, self.columns):
            return _share(len(self.rows), self.shape[0], "rows")
        return " and ".join(map(_share, self.matrix.shape, self.shape, ("rows", "columns")))


def _share(part: int, whole: int, what: str) -> str:
    return f"all {whole:,} {what}" if part == whole else f"an even sample of {part:,} of {whole:,} {what}"


def even_sample(n: int, size: int) -> np.ndarray:
    """Numbers of ``size`` of n rows, drawn evenly, ascending, the same every time; all where there are no more."""
    return np.arange(n) if n <= size else np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def vat(D: Any, *, limit: int = LIMIT) -> Reordering:
    """Order rows so that groups lie together: Prim's walk over the dissimilarities.  [bezdek2002vat]

    The first row is an end of the largest dissimilarity; each next one is the row nearest to those that are placed.
    Ties go to the row whose nearest placed one came last, then to the lower number, so that equal rows stay together.
    O(n^2).

    Parameters
    ----------
    D : array of shape (n, n)
        Dissimilarities: symmetric, finite, at least 0, zero diagonal. Of proximities from 0 to 1 give 1 - W.
    limit : int, default=2000
        Largest number of rows to order; of more, an even sample of this size is ordered, and ``rows`` says which.

    Returns
    -------
    Reordering

    Raises
    ------
    ValueError
        ``D`` is not a matrix of dissimilarities, or ``limit`` is below 1.

    Examples
    --------
    >>> x = np.array([0.0, 10.0, 1.0, 11.0])
    >>> vat(np.abs(x[:, None] - x)).rows
    array([0, 2, 1, 3])
    """
    rows, part = _square(D, limit)
    order = _prim(part)
    size = np.asarray(D).shape[0]
    return Reordering(rows[order], rows[order], part[np.ix_(order, order)], (size, size))


def ivat(D: Any, *, limit: int = LIMIT) -> Reordering:
    """The order of VAT with the minimax distance in place of the dissimilarity.  [havens2012ivat]

    The minimax distance of two rows is the longest step of the path between them whose longest step is shortest: groups
    of any shape become dark blocks. Found row by row from the order of VAT in O(n^2). Above ``limit`` paths run through
    the sample alone.

    Parameters
    ----------
    D : array of shape (n, n)
        As in ``vat``.
    limit : int, default=2000
        As in ``vat``.

    Returns
    -------
    Reordering
        ``matrix`` holds the minimax distances.

    Raises
    ------
    ValueError
        As in ``vat``.

    Examples
    --------
    >>> x = np.array([0.0, 3.0, 1.0, 2.0])
    >>> float(ivat(np.abs(x[:, None] - x)).matrix.max())
    1.0
    """
    found = vat(D, limit=limit)
    steps, paths = found.matrix, np.zeros_like(found.matrix)
    for r in range(1, len(steps)):
        j = int(np.argmin(steps[r, :r]))
        paths[r, :r] = paths[:r, r] = np.maximum(steps[r, j], paths[j, :r])
    return Reordering(found.rows, found.columns, paths, found.shape)


def covat(D: Any, *, limit: int = LIMIT) -> Reordering:
    """Order the rows and the columns of a rectangular matrix together, so that blocks of both show.  [bezdek2007covat]

    VAT of the union of rows and columns: between them D; among rows, and among columns, Euclidean distances of the rows
    (columns) of D, scaled so that their mean over pairs is the mean of D. Of a label matrix Y of 0/1 give 1 - Y.

    Parameters
    ----------
    D : array of shape (n, c)
        Dissimilarities of rows and columns, finite and at least 0.
    limit : int, default=2000
        Largest number of rows, and of columns, to order; of more, an even sample of this size is ordered.

    Returns
    -------
    Reordering

    Raises
    ------
    ValueError
        ``D`` is not a finite matrix of values of at least 0, or ``limit`` is below 1.

    Examples
    --------
    >>> Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> covat(1 - Y).matrix
    array([[0., 1.],
           [0., 1.],
           [1., 0.],
           [1., 0.]])
    """
    D = _matrix(D)
    shape = D.shape
    rows, columns = (even_sample(size, _checked_limit(limit)) for size in shape)
    D = np.asarray(D[np.ix_(rows, columns)], dtype=np.float64)
    n, c = D.shape
    guard_dense((n + c, n + c), "coVAT")
    mean = float(D.mean()) if D.size else 0.0
    union = np.block([[_among(D, mean), D], [D.T, _among(D.T, mean)]])
    order = _prim(union)
    i, j = order[order < n], order[order >= n] - n
    return Reordering(rows[i], columns[j], D[np.ix_(i, j)], (int(shape[0]), int(shape[1])))


def _prim(D: np.ndarray) -> np.ndarray:
    """Prim's order from an end of the largest entry; ties: the row reached from the one placed last, then by number."""
    n = len(D)
    order = np.empty(n, dtype=np.intp)
    near, since = np.full(n, np.inf), np.zeros(n, dtype=np.intp)
    row = int(np.argmax(D.max(axis=1))) if n else 0
    for step in range(n):
        order[step] = row
        closer = D[row] <= near
        near[closer], since[closer] = D[row, closer], step
        near[order[: step + 1]] = np.inf
        nearest = np.flatnonzero(near == near.min())
        row = int(nearest[np.argmax(since[nearest])])
    return order


def _among(X: np.ndarray, mean: float) -> np.ndarray:
    """Euclidean distances of the rows of X, scaled to a mean over pairs of ``mean``; zeros where all rows are equal."""
    n = len(X)
    rows = X - X.mean(axis=0) if n else X
    d2 = Distances(X, rows, np.einsum("ij,ij->i", rows, rows))(slice(0, n), slice(0, n))
    distance = np.sqrt(np.maximum((d2 + d2.T) / 2, 0.0))
    np.fill_diagonal(distance, 0.0)
    total = float(distance.sum())
    return distance * (mean * n * (n - 1) / total) if total > 0 else distance


def _checked_limit(limit: Any) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise ValueError(f"limit={limit!r} is not allowed: the most rows to order is a whole number of at least 1.")
    return int(limit)


def _matrix(D: Any) -> np.ndarray:
    """D as a 2-D array of finite values of at least 0."""
    D = np.asarray(D)
    if D.ndim != 2 or D.dtype.kind not in "biuf":
        raise ValueError(f"D has shape {D.shape} and type {D.dtype}: a matrix of real dissimilarities is needed.")
    D = D.astype(np.float64, copy=False)
    if D.size and not (D.min() >= 0 and D.max() < np.inf):
        raise ValueError(
            "D holds NaN, infinity or values below 0: dissimilarities are finite and at least 0. Of proximities from 0 "
            "to 1 give 1 - W."
        )
    return D


def _square(D: Any, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows to order and their dissimilarities, checked."""
    limit, D = _checked_limit(limit), _matrix(D)
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"D has shape {D.shape}: a square matrix is needed; for a rectangular one take covat.")
    rows = even_sample(len(D), limit)
    part = D[np.ix_(rows, rows)]
    slack = SKEW * float(part.max(initial=0.0))
    if np.abs(part - part.T).max(initial=0.0) > slack:
        raise ValueError("D differs from its transpose: symmetric dissimilarities are needed; give (D + D.T) / 2.")
    if np.diagonal(part).max(initial=0.0) > slack:
        raise ValueError(
            "The diagonal of D is not zero: a row is at no distance from itself; of proximities give 1 - W."
        )
    part = (part + part.T) / 2
    np.fill_diagonal(part, 0.0)
    return rows, part
