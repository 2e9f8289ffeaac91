"""Unknown cells of outputs as ridge read-outs, each output fitted on its own known rows, with one penalty for all.

In: rows X, outputs T (0 where unknown), the mask of the unknown cells and how often each row occurs. Out: a value for
each of these cells.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.centred import CentredMatrix, weighted_mean
from proxembed.algebra.arrays.matrix import all_ones, equal_rows, over, unit_of
from proxembed.algebra.operators.structured import Repeats

from .conjugate import conjugate_gradients
from .coordinates import Coordinates
from .linear import DENSE_LIMIT, SAMPLE, best_ridge, evenly_spaced, loo_errors, sampled_loo_errors, solve_definite

FILL_RIDGES = np.logspace(-6, 3, 19)  # over the trace of all rows divided by min(n, d)
WORK = 4e9  # most cubed sides, added up, of the matrices that are decomposed to choose the penalty


def filled_cells(X: Any, T: Any, unknown: Any, weights: np.ndarray | None = None) -> tuple[sparse.csc_array, float]:
    """Values (n, c), CSC, for the unknown cells of T, and the absolute penalty of their ridge regression. ``weights``:
    how often each row occurs (None: once).

    Column j of T (array or CSC, 0 where unknown) is regressed on X over its known rows, with an unpenalised intercept;
    its unknown cells are the predictions. The penalty is that of least squared leave-one-out error over all known
    cells; where the decompositions for all columns take too long, over those of evenly spaced columns. Equal rows of
    equal cells are left out together: they become one row of their number. Filling again by the regression of all rows
    under this penalty changes nothing.

    Columns with the same known rows share one decomposition: for d <= n that of the d x d Gram matrix of all rows less
    that of the unknown ones, for n < d that of a part of the n x n Gram matrix. Larger X is multiplied only."""
    equal = equal_rows(X, sparse.csr_array(sparse.hstack([sparse.csr_array(T), unknown])))
    if equal is not None:
        first, place = equal
        own, times = T[first], np.bincount(place, weights).astype(np.float64)
        values, ridge = _filled(X[first], own, sparse.csc_array(sparse.csr_array(unknown)[first]), times)
        return sparse.csc_array(values.tocsr()[place]), ridge
    return _filled(X, T, unknown, np.ones(X.shape[0]) if weights is None else weights)


def _filled(X: Any, T: Any, unknown: Any, times: np.ndarray) -> tuple[sparse.csc_array, float]:
    """``filled_cells`` of distinct rows that occur ``times`` each."""
    unit = unit_of(X)
    rows = AllRows(over(X, unit), times)
    groups = [KnownRows(rows, columns, hidden) for hidden, columns in _equal_columns(sparse.csc_array(unknown))]
    ridges = FILL_RIDGES * rows.centred.squared_norm(rows.weights) / min(float(times.sum()), X.shape[1])
    errors, paths = _errors_and_paths(groups, T, ridges)
    best = best_ridge(ridges, errors)
    ridge = float(ridges[best])
    values, row, column = [np.zeros(0)], [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for number, group in enumerate(groups):
        if len(group.hidden):
            solved = paths[number][:, best] if number in paths else None
            values.append(group.predictions(T[:, group.columns], ridge, solved).T.ravel())
            row.append(np.tile(group.hidden, len(group.columns)))
            column.append(np.repeat(group.columns, len(group.hidden)))
    places = np.concatenate(row), np.concatenate(column)
    cells = sparse.coo_array((np.concatenate(values), places), shape=T.shape)
    return sparse.csc_array(cells), ridge * unit * unit


def _equal_columns(unknown: sparse.csc_array) -> list[tuple[np.ndarray, np.ndarray]]:
    """The distinct sets of unknown rows, each with the columns that have it."""
    unknown.eliminate_zeros()
    unknown.sort_indices()
    found: dict[bytes, tuple[np.ndarray, list[int]]] = {}
    for j in range(unknown.shape[1]):
        hidden = unknown.indices[unknown.indptr[j] : unknown.indptr[j + 1]]
        found.setdefault(hidden.tobytes(), (hidden, []))[1].append(j)
    return [(hidden, np.array(columns)) for hidden, columns in found.values()]


def _errors_and_paths(
    groups: list["KnownRows"], T: Any, ridges: np.ndarray
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Squared leave-one-out errors of known cells, added up, one per ridge, and the solutions for all ridges of the
    groups that were decomposed for them."""
    side = min(*groups[0].rows.X.shape, SAMPLE)
    total, paths = np.zeros(len(ridges)), {}
    for number in evenly_spaced(len(groups), max(1, int(WORK / side**3))).tolist():
        errors, path = groups[number].errors(T[:, groups[number].columns], ridges)
        total += errors
        if path is not None:
            paths[number] = path
    return total, paths


class AllRows:
    """Rows X that occur ``times`` each, and the smaller Gram matrix of all of them, from which follow those of the
    known rows of each column."""

    def __init__(self, X: Any, times: np.ndarray):
        self.X, self.times = X, times
        self.weights = None if all_ones(times) else times
        n, d = X.shape
        self.centred = CentredMatrix.centred(X, times)
        self.side = "features" if d <= min(n, DENSE_LIMIT) else "rows" if n <= DENSE_LIMIT else "neither"

    @cached_property
    def gram(self) -> np.ndarray:
        """d x d where there are no more features than rows, each as often as it occurs; else n x n, each row once."""
        return self.centred.gram(self.weights) if self.side == "features" else self.centred.outer_gram()


@dataclass(frozen=True)
class KnownRows:
    """The rows whose cells in some ``columns`` are known: all but the ``hidden`` ones."""

    rows: AllRows
    columns: np.ndarray
    hidden: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """How often each known row occurs; 0 for hidden ones."""
        found = self.rows.times.astype(np.float64)
        found[self.hidden] = 0.0
        return found

    @property
    def known_rows(self) -> np.ndarray:
        """The numbers of the known rows."""
        return np.flatnonzero(self.weights)

    def errors(self, target: Any, ridges: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Squared leave-one-out errors of the known cells of the target (n, q), added up as often as they occur, one
        per ridge, and the solutions of the smaller side under each ridge (side, ridges, q), where it was decomposed for
        them."""
        known, w = self.known_rows, self.weights
        cells = float(w.sum()) * target.shape[1]
        if len(known) < 2:
            return np.zeros(len(ridges)), None
        if min(len(known), self.rows.X.shape[1]) > SAMPLE:
            return cells * sampled_loo_errors(CentredMatrix.centred(self.rows.X, w), w, target, ridges), None
        if self.rows.side == "features":
            rows = CentredMatrix.centred(self.rows.X, w)
            coordinates, goal = Coordinates(rows, w, self._gram(), "features"), rows.tdot(self._repeated(target))
            errors = loo_errors(coordinates, target, ridges)
        else:
            rows, goal, root = self._taken(known), self._goal(target, known), np.sqrt(w[known])
            coordinates = Coordinates(rows, self._own(known), self._kernel(rows, known), "rows")
            errors = loo_errors(coordinates, goal, ridges)
            goal *= root[:, None]
        shrink = 1.0 / (coordinates.s[:, None] ** 2 + ridges)
        moments = matmul(coordinates.vectors.T, goal)[:, None, :] * shrink[:, :, None]
        path = matmul(coordinates.vectors, moments.reshape(len(moments), len(ridges) * goal.shape[1]))
        return cells * errors, path.reshape(len(path), len(ridges), goal.shape[1])

    def predictions(self, target: Any, ridge: float, solved: np.ndarray | None = None) -> np.ndarray:
        """The regression of the known cells of the target (n, q), for the hidden rows; ``solved``: the solution of the
        smaller side (side, q), where it is known."""
        known, w = self.known_rows, self.weights
        if len(known) < 2:
            level = np.asarray(target.sum(axis=0), dtype=np.float64).ravel()  # of one row, or of none
            return np.tile(level, (len(self.hidden), 1))
        if self.rows.side == "features":
            rows = CentredMatrix.centred(self.rows.X, w)
            if solved is None:
                solved = solve_definite(_shifted(self._gram(), ridge), rows.tdot(self._repeated(target)))
            W = solved
        elif len(known) <= DENSE_LIMIT:
            rows, root = self._taken(known), np.sqrt(w[known])[:, None]
            if solved is None:
                solved = solve_definite(_shifted(self._kernel(rows, known), ridge), root * self._goal(target, known))
            W = rows.tdot(root * solved)
        else:
            rows = CentredMatrix.centred(self.rows.X, w)
            W, _ = conjugate_gradients(rows, w, 1.0, ridge, rows.tdot(self._repeated(target)))
        return CentredMatrix(self.rows.X[self.hidden], rows.centre).dot(W) + weighted_mean(target, w)

    def _own(self, part: np.ndarray) -> np.ndarray | None:
        """How often each of some rows occurs; None where every row does once."""
        return None if self.rows.weights is None else self.rows.weights[part]

    def _repeated(self, target: Any) -> Any:
        """diag(w) T, for the known cells."""
        return target if self.rows.weights is None else Repeats(self.rows.weights).of(target)

    def _goal(self, target: Any, known: np.ndarray) -> np.ndarray:
        """The known cells about their mean."""
        goal = target[known]
        goal = goal.toarray() if sparse.issparse(goal) else goal
        own = self._own(known)
        return goal - (goal.mean(axis=0) if own is None else own @ goal / own.sum())

    def _taken(self, known: np.ndarray) -> CentredMatrix:
        return CentredMatrix.centred(self.rows.X[known], self.rows.times[known])

    def _gram(self) -> np.ndarray:
        """The d x d Gram matrix of the known rows about their mean."""
        known = self.known_rows
        if len(self.hidden) > self.rows.X.shape[0] // 2:
            return self._taken(known).gram(self._own(known)).copy()
        hidden = self.rows.centred.take(self.hidden)
        shift = hidden.tdot(self.rows.times[self.hidden])
        parts = hidden.gram(self._own(self.hidden)), np.outer(shift, shift) / self.rows.times[known].sum()
        return self.rows.gram - parts[0] - parts[1]

    def _kernel(self, rows: CentredMatrix, known: np.ndarray) -> np.ndarray:
        """diag(w)^1/2 K diag(w)^1/2 of the known rows about their mean, row by row."""
        own = self._own(known)
        if self.rows.side != "rows":
            return rows.outer_gram(own)
        K = self.rows.gram[np.ix_(known, known)]
        if own is None:
            level = K.mean(axis=0)
            return K - level[:, None] - level[None, :] + level.mean()
        level, root = own @ K / own.sum(), np.sqrt(own)
        K = K - level[:, None] - level[None, :] + own @ level / own.sum()
        return K * np.outer(root, root)


def _shifted(M: np.ndarray, ridge: float) -> np.ndarray:
    """M + ridge I, in place."""
    M[np.diag_indices_from(M)] += ridge
    return M
