"""Sums: what a method has to know of rows that are read in blocks, and the fit from it.

In: blocks (X, y). Out: rows with the same sums, few enough for the ordinary steps of a fit. The method states its
template on each block and once more, for what depends on the totals, at the end.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .algebra.arrays.centred import CentredMatrix
from .algebra.arrays.matrix import EXTREME, float_matrix, largest_entry
from .algebra.arrays.moments import Moments
from .algebra.pencil.compressed import Compression, Demand
from .algebra.pencil.eigen import UNTARGETED_RIDGE
from .algebra.pencil.linear import (
    DENSE_LIMIT,
    LOO_ROWS,
    RIDGE_GRID,
    SAMPLE,
    best_ridge,
    evenly_spaced,
    gcv_errors,
    left_out_errors,
    sampled_loo_errors,
)
from .algebra.pencil.plan import Aim
from .algebra.pencil.problem import Problem
from .algebra.template import Template
from .rows import BlockRows
from .sources import RowBlocks
from .targets.labels import LabelMatrix
from .targets.totals import LabelTotals, known_labels, positions
from .validation import checked_features, refuse_lost

WORDS = "PCA or LSI without labels; FDA or MMC for classes; OPLS, CCA, PLS, MDDM or MESD(FDA()) for sets of labels"


def refuse_blocks(method: Any) -> None:
    """A ValueError where a method cannot be fitted on blocks of rows, with what serves instead."""
    if method.from_sums is None:
        raise ValueError(
            f"{type(method).__name__} cannot be fitted on blocks: {method.needs_all_rows}. Fit it on a sample, such as "
            f"one block of the rows, or use a method that sums of the rows suffice for: {WORDS}."
        )


def summed_rows(method: Any, source: RowBlocks, y: Any = None) -> SummedRows:
    """The rows of a source as the steps of a fit take them, with the sums that the template of a method asks for.

    Raises ValueError for a method that needs more than sums, a y beside the blocks, blocks without labels, and what
    ``fit`` refuses in X and y.
    """
    refuse_blocks(method)
    if y is not None:
        raise ValueError("y must come with the blocks, as pairs (X, y): RowBlocks.from_arrays(X, y).")
    sums = Sums(source.rereadable)
    if method.from_sums == "labels":
        if not source.rereadable:
            raise ValueError(
                f"{type(method).__name__} needs the labels of all rows before the rows, and these blocks can be read "
                "once. Pass a function that starts a new reading: RowBlocks(lambda: ...)."
            )
        sums.count_labels(method, source.labels())
    for X, labels, dropped in known_blocks(method, source):
        sums.update(method, X, labels, dropped, source.precision)
    return sums.rows(method, source if source.rereadable else None)


def known_blocks(method: Any, blocks: Iterable, reset: bool = True) -> Iterator[tuple[Any, LabelMatrix | None, int]]:
    """Checked blocks (X, labels, rows left out): without rows that hold an unknown label; the next one is read
    meanwhile."""
    for X, y in ahead(blocks):
        X = checked_features(method, X, reset=reset, block=True)
        reset = False
        if method.label_kind is None:
            yield X, None, 0
            continue
        labels, index, n = known_labels(_given(method, y))
        if len(index) < n:
            X = X[index]
        yield X, labels, n - len(index)


def ahead(blocks: Iterable) -> Iterator[Any]:
    """The same blocks; a thread reads the next one while one is in use.

    >>> list(ahead([1, 2, 3]))
    [1, 2, 3]
    """
    reading, end = iter(blocks), object()
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, reading, end)
        while (block := following.result()) is not end:
            following = pool.submit(next, reading, end)
            yield block


def _given(method: Any, y: Any) -> Any:
    if y is None:
        raise ValueError(
            f"This {type(method).__name__} estimator requires y to be passed, but the target y is None in a block. "
            "Blocks must be pairs (X, y)."
        )
    return y


class Sums:
    """The sums that a method needs of the rows, of those of all labels first or as blocks come; they can be merged.

    Attributes
    ----------
    n : rows that take part, and ``dropped``: rows left out for an unknown label.
    totals : LabelTotals, None for methods without labels.
    moments : Moments of X, and of the factors and row weights that the method's template names.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import PCA
    >>> X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> one, two = PCA(n_components=1).partial_fit(X[:1]), PCA(n_components=1).partial_fit(X[1:])
    >>> one.merge(two).sums_.n, one.components_
    (4, array([[1., 0.]]))
    """

    def __init__(self, rereadable: bool = False) -> None:
        self.rereadable = rereadable  # so that products with the rows may take the place of a large Gram matrix
        self.totals: LabelTotals | None = None
        self.moments: Moments | None = None
        self.dropped, self.counted = 0, False
        self.widths: list[int] = []
        self.parameters = ""  # of the method, as text: the sums are those of its template

    @property
    def n(self) -> int:
        """Rows that take part."""
        return 0 if self.moments is None else self.moments.n

    def count_labels(self, method: Any, labels: Iterable) -> None:
        """The totals of all labels, before any row is read."""
        for y in labels:
            known, _, _ = known_labels(_given(method, y))
            if known is not None:
                self._count(method, known)
        self.counted = self.totals is not None

    def _count(self, method: Any, labels: LabelMatrix) -> None:
        own = LabelTotals.of(labels, sets=method.from_sums == "labels")
        self.totals = own if self.totals is None else self.totals.merged(own)

    def update(self, method: Any, X, labels: LabelMatrix | None, dropped: int = 0, precision: str = "float64") -> None:
        """Add checked rows, X (m, d), with their labels; ``dropped``: how many were left out."""
        self.dropped += dropped
        if X.shape[0] == 0:
            return
        _refuse_size(X)
        before = self.totals
        if labels is not None and not self.counted:
            self._count(method, labels)
        block = None if labels is None else self.totals.block(labels)
        count = self.totals.n if self.counted else max(self.n + X.shape[0], 2)
        demand = _demand(method, BlockRows(X, block, count=count))[1]
        widths = [F.shape[1] for F in demand.factors]
        if self.moments is None:
            size = len(demand.weights), sum(widths)
            streamed = self.rereadable and demand.streams and X.shape[1] > DENSE_LIMIT
            formed = () if streamed else sorted(demand.formed)
            self.moments = Moments(X.shape[1], *size, formed=formed, inner=demand.inner)
        else:
            self.moments = self._widened(widths, before)
        self.widths = widths
        self.moments.update(X, demand.weights, demand.factors, precision)

    def _widened(self, widths: list[int], before: LabelTotals | None, after: LabelTotals | None = None) -> Moments:
        """The moments with a column for each label that is new."""
        if widths == self.widths:
            return self.moments
        columns = _columns(self.widths, widths, before, self.totals if after is None else after)
        return self.moments.widened(columns, sum(widths))

    def merge(self, method: Any, other: Sums) -> None:
        """Add the sums of other rows for the same method, which stay as they are."""
        if other.moments is None:
            self.dropped += other.dropped
            return
        if self.moments is None:
            self.totals, self.moments, self.widths = other.totals, other.moments.copy(), list(other.widths)
            self.dropped += other.dropped
            return
        totals = None if self.totals is None else self.totals.merged(other.totals)
        nothing = np.zeros((0, len(self.moments.origin)))
        blank = BlockRows(nothing, None if totals is None else totals.first_rows(), count=self.n + other.n)
        widths = [F.shape[1] for F in _demand(method, blank)[1].factors]
        moments = self._widened(widths, self.totals, totals)
        moments.merge(other._widened(widths, other.totals, totals))
        self.totals, self.moments, self.widths, self.dropped = totals, moments, widths, self.dropped + other.dropped

    def rows(self, method: Any, source: RowBlocks | None = None) -> SummedRows:
        """Rows with these sums; ``source``: the blocks, where they can be read again for the choice of a ridge."""
        self._check(method)
        labels = None if self.totals is None else self.totals.first_rows()
        if labels is not None:
            method.check_labels(labels)
            method.classes_ = labels.classes_
        nothing = np.zeros((0, len(self.moments.origin)))
        blank = BlockRows(nothing, labels, count=self.n, scatter=self.moments.scatter())
        found = Compression(*_demand(method, blank), self.moments)
        refuse_lost(*found.lost)
        known = []
        if labels is not None:
            product = found.product(labels.Y)
            labels = self.totals.with_factor(found.stand_in(labels.Y))
            known = [(labels.Y, product)]
        return SummedRows(
            found.compressed_rows(known, lambda: self._again(method, source)),
            labels,
            count=self.n,
            scatter=blank.scatter,
            method=method,
            totals=self.totals,
            found=found,
            source=source,
        )

    def _again(self, method: Any, source: RowBlocks) -> Iterator[Any]:
        """The rows that took part, read once more."""
        if self.dropped:
            return (X for X, _, _ in known_blocks(method, source, reset=False))
        return (float_matrix(X.to_numpy() if hasattr(X, "to_numpy") else X) for X, _ in ahead(source))

    def _check(self, method: Any) -> None:
        """A ValueError for too few rows, and a warning of those left out."""
        name = type(method).__name__
        if self.n < 2:
            raise ValueError(
                f"Found {self.n} row(s) whose labels are known ({self.dropped} left out) while a minimum of 2 is "
                f"required by {name}. Pass more rows, or a semi-supervised method rows of which some are labelled."
            )
        if self.dropped:
            warnings.warn(
                f"{name} has no rule for unknown labels: {self.dropped} of {self.n + self.dropped} rows hold one and "
                "are left out of fit.",
                UserWarning,
                stacklevel=5,
            )


def _demand(method: Any, rows: BlockRows) -> tuple[Template, Demand]:
    template = method.template(rows)
    labels = None if rows.labels is None else rows.labels.Y
    target = template.B is not None and template.target is not None
    return template, Demand(template, rows.X, rows.ones, labels, target)


@dataclass(frozen=True)
class SummedRows(BlockRows):
    """Compressed rows with the sums of all rows of the blocks; ``labels.Y`` stands for the label matrix among them."""

    method: Any = None
    totals: LabelTotals | None = None
    found: Compression | None = None
    source: RowBlocks | None = None

    def state(self, method: Any) -> Template:
        """The template, as it was stated on the blocks, on the compressed rows."""
        return self.found.restated()

    def settled(self, ridge: float | str | None, scale: str | None, template: Template) -> tuple[Any, Any]:
        """The ridge with its unit; for "auto" the chosen one, absolute.

        By leave-one-out where the rows can be read again, else by generalised cross-validation from the sums.
        """
        if ridge != "auto" or template.B is None:
            return ridge, scale
        if self.found.template.target is None:
            return UNTARGETED_RIDGE, "trace"
        aim = Aim(ridge="auto", solver=self.route(self.method.solver))
        problem = Problem(template, self.X, aim=aim, width=self.X.shape[1])
        grid = RIDGE_GRID * problem.ridge_unit
        if self.source is None:
            errors = self._gcv(grid)
        else:
            errors = self._sampled(grid) if problem.plan.sampled else self._left_out(grid)
        return float(grid[best_ridge(grid, errors)]), "absolute"

    def route(self, solver: str) -> str:
        return "iterative" if self.found.streamed and solver == "auto" else solver

    def _gcv(self, grid: np.ndarray) -> np.ndarray:
        found = self.found
        rows = found.moments.counts[found.demand.offset]
        return gcv_errors(found.s, found.target_moments(), found.target_squares(), grid, rows, found.centred)

    def _left_out(self, grid: np.ndarray) -> np.ndarray:
        """Each of some rows left out of the fit of all."""
        found, level = self.found, self.found.target_level()
        mass = float(found.moments.masses[found.demand.offset]) if found.centred else None
        blocks = (found.weighted(*block, level) for block in self._weighing_rows(LOO_ROWS))
        return left_out_errors(blocks, found.s, found.target_moments(), grid, mass)

    def _sampled(self, grid: np.ndarray) -> np.ndarray:
        """Each row of a sample left out of the fit of the others."""
        X, T, w = zip(*self._weighing_rows(SAMPLE), strict=True)
        rows = CentredMatrix(_stacked(X), self.found.mean if self.found.centred else None)
        weights = np.concatenate(w) if self.found.demand.offset else None
        return sampled_loo_errors(rows, weights, _stacked(T), grid)

    def _weighing_rows(self, most: int) -> Iterator[tuple[Any, Any, np.ndarray]]:
        """At most ``most`` evenly spaced rows of non-zero weight, as blocks of (X, targets, weights)."""
        method, seen = self.method, 0
        chosen = evenly_spaced(int(self.found.moments.counts[self.found.demand.offset]), most)
        for X, labels, _ in known_blocks(method, self.source, reset=False):
            if X.shape[0] == 0:
                continue
            rows = BlockRows(X, self.totals.block(labels), count=self.n, scatter=self.scatter)
            template = method.template(rows)
            w = rows.ones if template.offset is None else template.offset
            weighing = np.flatnonzero(w > 0)
            own = weighing[chosen[(chosen >= seen) & (chosen < seen + len(weighing))] - seen]
            seen += len(weighing)
            if len(own):
                yield X[own], template.target[own], w[own]


def _stacked(parts: Sequence[Any]) -> Any:
    return sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(parts[0]) else np.concatenate(parts)


def _columns(old: list[int], new: list[int], before: LabelTotals, after: LabelTotals) -> np.ndarray:
    """The columns of factors of the widths ``old`` among those of the widths ``new``, with columns for new labels."""
    place = np.searchsorted(after.columns, positions(before.classes_, after.classes_)[before.columns])
    columns, start = [], 0
    for narrow, wide in zip(old, new, strict=True):
        columns.append(start + (np.arange(wide) if narrow == wide else place))
        start += wide
    return np.concatenate(columns)


def _refuse_size(X: Any) -> None:
    """A ValueError for entries of which sums of products leave the range of float64."""
    largest = largest_entry(X)
    if largest > 0 and abs(int(np.frexp(largest)[1])) > EXTREME:
        raise ValueError(
            f"The largest value of X in a block is {largest:.3g} in size, too extreme for sums of products. "
            f"Divide X by {largest:.0e}."
        )
