"""Sums: what a method has to know of rows that are read in blocks, and the fit from it.

In: blocks (X, y). Out: rows with the same sums, few enough for the ordinary steps of a fit. The method states its
template on each block and once more, for what depends on the totals, at the end.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import EXTREME, float_matrix, largest_entry, ordinary
from proxembed.algebra.arrays.moments import Moments, gram_product
from proxembed.algebra.pencil.compressed import Compression, Demand, left_rows
from proxembed.algebra.pencil.eigen import UNTARGETED_RIDGE
from proxembed.algebra.pencil.linear import (
    DENSE_LIMIT,
    LOO_ROWS,
    RIDGE_GRID,
    SAMPLE,
    best_ridge,
    evenly_spaced,
    gcv_errors,
    left_out_sums,
    sampled_loo_errors,
)
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.algebra.template import Template
from proxembed.blocks import split_weights
from proxembed.blocks.row_blocks import RowBlocks, added, stacked
from proxembed.targets.known import warn_left_out
from proxembed.targets.labels import LabelMatrix, refuse_many_numbers
from proxembed.targets.output_totals import OutputTotals, UnscaledBlock
from proxembed.targets.totals import LabelTotals, PartlyKnownRow

from .known_blocks import (
    FeatureInfo,
    all_totals,
    checked_alike,
    label_means,
    label_totals,
    prefetch,
    refuse_few,
    refuse_once,
    refuse_outside,
    sampled_rows,
    totals_of,
    weighted_blocks,
    with_rows,
)
from .rows import BlockRows
from .validation import refuse_lost

WORDS = "PCA or LSI without labels; FDA or MMC for classes; OPLS, CCA, PLS, MDDM or MESD(FDA()) for sets of labels"


def from_sums_of_rows(estimator: Any) -> bool:
    """Whether rows can be added one after another; the error says why not."""
    reason, traits = None, estimator.traits
    if traits.from_sums is None or estimator.fills_null:
        reason = _why_all_rows(estimator)
    elif traits.sample_rows:
        reason = "its prototypes are chosen from a sample of all rows: fit it on RowBlocks, which are read twice"
    elif traits.from_sums == "labels":
        reason = "what a row adds depends on the labels of all rows: fit it on RowBlocks, which are read twice"
    if reason is not None:
        name = type(estimator).__name__
        raise AttributeError(f"{name} with these parameters has no partial_fit and no merge: {reason}.")
    return True


def _why_all_rows(method: Any) -> str:
    needs: str = method.traits.needs_all_rows
    return needs if method.traits.from_sums is None else 'fill="null" needs the scatter of all rows'


def refuse_blocks(method: Any) -> None:
    """A ValueError where a method cannot be fitted on blocks of rows, with what serves instead."""
    if method.traits.from_sums is None or method.fills_null:
        raise ValueError(
            f"{type(method).__name__} cannot be fitted on blocks: {_why_all_rows(method)}. Fit it on a sample, "
            f"such as RowBlocks.sample gives, or use a method that sums of the rows suffice for: {WORDS}."
        )


def summed_rows(method: Any, source: RowBlocks, totals: Any = None) -> SummedRows:
    """The rows of a source as the steps of a fit take them, with the sums that the template of a method asks for.
    ``totals``: those of all labels, where they are known from an earlier reading. If the method takes unknown cells as
    means of labels, the first partly known row ends the reading; the next ones read the means, then the rows again.
    Warns that unknown="fill" fills by means. Raises ValueError for a method that needs more than sums, blocks without
    labels, and what ``fit`` refuses in X and y."""
    refuse_blocks(method)
    method.label_means = "ask" if method.traits.fills_unknown and source.rereadable else None
    try:
        return _summed_rows(method, source, totals)
    except PartlyKnownRow:
        method.label_means = label_means(source)
        if method.traits.unknown == "fill":
            _warn_of_means(method, stacklevel=4)
        return _summed_rows(method, source, totals)
    finally:
        method.label_means = None


def _summed_rows(method: Any, source: RowBlocks, totals: Any) -> SummedRows:
    traits = method.traits
    if traits.sample_rows:
        refuse_once(method, source, "a sample of all rows")
        method.make_ready(sampled_rows(method, source))
        method.release()
    if traits.from_sums == "labels":
        refuse_once(method, source, "the labels of all rows")
        totals = source.reduce(partial(label_totals, method), all_totals, labels=True)
        if isinstance(totals, OutputTotals):
            totals.check()
    found = sums_of_rows(method, source, totals, again=source.rereadable)
    found.copy_to(method)
    sums, reading = found.sums, None
    if source.rereadable:
        reading = Reading(found.checking, source, found.counts, sums.dropped, sums.weighted)
    return sums.rows(method, reading)


def _warn_of_means(method: Any, stacklevel: int) -> None:
    warnings.warn(
        f"{type(method).__name__} takes unknown cells of blocks as the means of their columns: unknown='fill' needs "
        "all rows at once. Fit it on an array, or pass unknown='mean'.",
        UserWarning,
        stacklevel=stacklevel,
    )


@dataclass(frozen=True)
class SumsOfRows(FeatureInfo):
    """The sums of some rows. ``counts``: for each piece of the rows, the rows that weigh something under each row
    weight."""

    sums: Sums
    counts: list[np.ndarray]


def sums_of_rows(
    method: Any, source: RowBlocks, totals: Any = None, classes: Sequence[Any] | None = None, again: bool = False
) -> SumsOfRows:
    """The sums of all rows of a source; ``totals``: those of all labels, where the rows need them first. ``classes``:
    the only labels that are allowed. ``again``: whether the rows will be read again for products with them. Raises
    ValueError for other labels."""
    return source.reduce(partial(_summed_piece, method, totals, classes, again), _joined)


def _summed_piece(method: Any, totals: Any, classes: Any, again: bool, rows: RowBlocks, number: int) -> SumsOfRows:
    checking, sums = copy.copy(method), Sums(again, totals)
    for X, labels, times, dropped in weighted_blocks(checking, rows):
        refuse_outside(labels, classes)
        sums.update(checking, X, labels, dropped, rows.precision, times)
    return SumsOfRows(checking, sums, [np.zeros(0) if sums.moments is None else sums.moments.counts.copy()])


def _joined(parts: Sequence[SumsOfRows]) -> SumsOfRows:
    """Sums of several pieces, which stay as they are: a task of a cluster may be done again."""
    parts = with_rows(parts)
    checking, sums = checked_alike(parts), Sums()
    for part in parts:
        sums.merge(checking, part.sums)
    return SumsOfRows(checking, sums, [count for part in parts for count in part.counts])


class Sums:
    """The sums of a partly fitted method, ``sums_``: all that it keeps of its rows.

    ``partial_fit`` makes and extends them, ``merge`` joins those of two estimators, and ``proxembed.save`` writes the
    estimator with its sums, so that machines exchange sums instead of rows. Dense and sparse rows are added up alike.

    Parameters
    ----------
    rereadable : bool, default=False
        Whether the rows can be read again, so that products with them may take the place of a large X'X.
    totals : LabelTotals or OutputTotals, optional
        Those of all labels or numbers, where an earlier reading found them; otherwise they are counted as rows come.

    Attributes
    ----------
    n : int, the rows that took part.
    dropped : int, the rows left out because a label was unknown.
    classes_ : (c,) array, the labels so far; None for methods without labels, and where y holds numbers.
    label_counts : (c,) array, the rows with each label; None for methods without labels, and where y holds numbers.
    mean : (d,) array, the mean of the rows.

    See Also
    --------
    proxembed.RowBlocks : Rows that are read block by block.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import OPLS
    >>> X, Y = np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 1.0], [0.0, 1.0]]), np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    >>> one, two = OPLS(ridge=0.1).partial_fit(X[:1], Y[:1]), OPLS(ridge=0.1).partial_fit(X[1:], Y[1:])
    >>> sums = one.merge(two).sums_
    >>> sums.n, sums.mean, sums.label_counts
    (4, array([1., 1.]), array([3., 2.]))
    >>> bool(np.allclose(sums.gram(), (X - 1).T @ (X - 1))), bool(np.allclose(sums.label_products(), (X - 1).T @ Y))
    (True, True)
    """

    def __init__(self, rereadable: bool = False, totals: LabelTotals | None = None) -> None:
        self.rereadable = rereadable
        self.totals: Any = totals  # LabelTotals, or OutputTotals of numbers; None without labels
        self.counted = totals is not None
        self.moments: Any = None  # Moments of X, factors and row weights of the template, from the first rows on
        self.unlifted: Any = None  # Moments of X, where the moments are those of lifted rows
        self.dropped = 0
        self.weighted = False  # whether some rows came with weights
        self.widths: list[int] = []
        self.parameters = ""  # of the method, as text: the sums are those of its template

    @property
    def n(self) -> int:
        """Rows that take part."""
        return 0 if self.moments is None else self.moments.n

    @property
    def classes_(self) -> np.ndarray | None:
        """The labels so far, in order."""
        return None if self.totals is None else self.totals.classes_

    @property
    def label_counts(self) -> np.ndarray | None:
        """The rows with each label."""
        return None if self.totals is None else self.totals.nk

    @property
    def mean(self) -> np.ndarray:
        """The mean of the rows."""
        own = self._of_rows()
        return own.origin + own.firsts[0] / own.n

    def gram(self) -> np.ndarray:
        """X'X of the rows less their mean, (d, d). Raises ValueError where the method does without it."""
        own = self._of_rows()
        if 0 not in own.shared:
            raise ValueError(
                "These sums hold no X'X: the method does without it (PLS), or needs it under other weights."
            )
        shift = own.firsts[0]
        return own.gram(0) - np.outer(shift, shift) / own.n

    def label_products(self) -> np.ndarray | None:
        """X'Y, (d, c), of the rows less their mean and Y of 1 and 0, where y holds numbers of what the method makes of
        them (about their means, over their standard deviations); None for methods without labels."""
        if self.totals is None:
            return None
        own, known = self._scaled(self._of_rows()), self.totals.columns
        found = np.zeros((len(self.mean), self.totals.no_rows().width))
        products, counts = own.products[:, : len(known)], own.factor_sums[: len(known)]
        found[:, known] = products - np.outer(own.firsts[0], counts) / own.n
        return found

    def _of_rows(self) -> Moments:
        own = self.moments if self.unlifted is None else self.unlifted
        if own is None:
            raise ValueError("These sums hold no rows yet; add some by partial_fit.")
        return own

    def _scaled(self, moments: Moments) -> Moments:
        """Moments with F in place of what was summed of numbers before their means and scales were known."""
        return moments if self.totals is None or self.counted else self.totals.scaled(moments)

    def _count(self, method: Any, labels: Any, times: np.ndarray | None) -> Any:
        """The labels as they are summed."""
        if self.counted:
            return self.totals.block(labels)
        if isinstance(self.totals, OutputTotals):
            labels = self.totals.memberships(labels)
        own = totals_of(labels, method.traits.from_sums == "labels", times)
        self.totals = own if self.totals is None else self.totals.merged(own)
        return self.totals.summed(labels)

    def update(
        self,
        method: Any,
        X: Any,
        labels: Any,
        dropped: int = 0,
        precision: str = "float64",
        times: np.ndarray | None = None,
    ) -> None:
        """Add checked rows, X (m, d), with their labels; ``dropped``: how many were left out, ``times``: how often each
        occurs."""
        self.dropped += dropped
        if X.shape[0] == 0:
            return
        self.weighted |= times is not None
        _refuse_size(X)
        before = self.totals
        block = None if labels is None else self._count(method, labels, times)
        count = self.totals.n if self.counted else max(self.n + X.shape[0], 2)
        R = _LiftedRows(X, method.lift) if method.traits.sample_rows else X
        demand = _demand(method, BlockRows(X, block, count=count), R)[1]
        widths = [F.shape[1] for F in demand.factors]
        if isinstance(block, UnscaledBlock) and any(F is not block.Y for F in demand.factors):
            raise TypeError(
                f"{type(method).__name__}: sums of numbers are those with Y itself. A template that makes other "
                "factors of Y takes numbers in blocks with from_sums='labels'."
            )
        if self.moments is None:
            self._start(demand, R, isinstance(block, UnscaledBlock) and method.reads_out)
        else:
            self.moments = _carried(self.moments, self.widths, widths, before, self.totals)
        self.widths = widths
        self.moments.update(R, demand.weights, demand.factors, precision, times)
        if R is not X:
            self._update_unlifted(X, [] if block is None else [block.Y], before, times)

    def _update_unlifted(self, X: Any, labels: list[Any], before: LabelTotals | None, times: np.ndarray | None) -> None:
        if self.unlifted is None:
            self.unlifted = Moments(X.shape[1], 1, sum(Y.shape[1] for Y in labels))
        self.unlifted = _unlifted(self.unlifted, before, self.totals)
        self.unlifted.update(X, [None], labels, times=times)

    def _start(self, demand: Demand, R: Any, reads_out: bool) -> None:
        """Moments of no row as yet; ``reads_out``: with X'X, unless the rows can be read again for what it gives."""
        streamed = self.rereadable and demand.streams and R.shape[1] > DENSE_LIMIT and not isinstance(R, _LiftedRows)
        wanted = demand.formed or {0} if reads_out and not self.rereadable else demand.formed
        formed = () if streamed else sorted(wanted)
        columns = sum(F.shape[1] for F in demand.factors)
        self.moments = Moments(R.shape[1], len(demand.weights), columns, formed=formed, inner=bool(demand.inner))

    def merge(self, method: Any, other: Sums) -> None:
        """Add the sums of other rows for the same method, which stay as they are."""
        self.weighted |= other.weighted
        if other.moments is None:
            self.dropped += other.dropped
            return
        if self.moments is None:
            self.totals, self.moments, self.widths = other.totals, other.moments.copy(), list(other.widths)
            self.unlifted = None if other.unlifted is None else other.unlifted.copy()
            self.counted = other.counted
            self.dropped += other.dropped
            return
        totals = self.totals if self.totals is None or self.counted else self.totals.merged(other.totals)
        nothing, lifted = self._no_rows()
        labels = None if totals is None else totals.no_rows() if self.counted else totals.summed_no_rows()
        blank = BlockRows(nothing, labels, count=self.n + other.n)
        widths = [F.shape[1] for F in _demand(method, blank, lifted)[1].factors]
        moments = _carried(self.moments, self.widths, widths, self.totals, totals)
        moments.merge(_carried(other.moments, other.widths, widths, other.totals, totals))
        if self.unlifted is not None:
            self.unlifted = _unlifted(self.unlifted, self.totals, totals)
            self.unlifted.merge(_unlifted(other.unlifted, other.totals, totals))
        self.totals, self.moments, self.widths, self.dropped = totals, moments, widths, self.dropped + other.dropped

    def rows(self, method: Any, reading: Reading | None = None) -> SummedRows:
        """Rows with these sums; ``reading``: how the rows can be read again, such as for the choice of a ridge."""
        self._check(method)
        if isinstance(self.totals, OutputTotals) and not self.counted:
            self.totals.check()
        labels = None if self.totals is None else self.totals.no_rows()
        if labels is not None:
            if self.totals.form == "classes":
                refuse_many_numbers(labels.classes_, self.totals.n, method.target_type, method.traits.takes_numbers)
            method.check_labels(labels)
            method._reading_ = labels.reading
            if isinstance(labels, LabelMatrix):
                method.classes_ = labels.classes_
        moments = self._scaled(self.moments)
        own, width = (moments, None) if self.unlifted is None else (self._scaled(self.unlifted), method.prepared_.width)
        nothing, lifted = self._no_rows()
        dependence = np.nan if labels is None else own.dependence(labels.c)
        blank = BlockRows(nothing, labels, count=self.n, scatter=own.scatter(), dependence=dependence)
        found = Compression(*_demand(method, blank, lifted), method.sums_of_lifted(moments), width)
        if reading is not None and self.unlifted is not None:
            reading = replace(reading, checking=copy.copy(method))  # its lift is settled now
        refuse_lost(*found.lost)
        known = []
        if labels is not None:
            product = found.product(labels.Y)
            labels = self.totals.with_factor(found.stand_in(labels.Y))
            known = [(labels.Y, product)]
        return SummedRows(
            found.compressed_rows(known, None if reading is None else partial(reading.product, self.dropped > 0)),
            labels,
            count=self.n,
            scatter=blank.scatter,
            method=method,
            totals=self.totals,
            found=found,
            reading=reading,
        )

    def _no_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """No rows of X, and of what is summed."""
        summed = np.zeros((0, len(self.moments.origin)))
        return (summed if self.unlifted is None else np.zeros((0, len(self.unlifted.origin)))), summed

    def _check(self, method: Any) -> None:
        """A ValueError for too few rows, and a warning of those left out."""
        name, numbers = type(method).__name__, isinstance(self.totals, OutputTotals)
        refuse_few(method, 0 if self.moments is None else int(self.moments.counts[0]), self.dropped, numbers)
        if self.dropped:
            fills = method.traits.fills_unknown if numbers else method.label_means is not None
            means = (
                ""
                if fills or not method.traits.fills_unknown
                else (
                    " Means of labels are known after all rows: fit on RowBlocks that can be read again uses such rows."
                )
            )
            noun = "output" if numbers else "label"
            n = int(self.moments.counts[0]) + self.dropped
            warn_left_out(name, self.dropped, n, fills, more=means, stacklevel=5, noun=noun)
        if numbers and method.traits.unknown == "fill" and self.totals.reading.rule is not None:
            _warn_of_means(method, stacklevel=7)


def _demand(method: Any, rows: BlockRows, lifted: Any) -> tuple[Template, Demand]:
    template = method.template(rows).on(lifted)
    labels = None if rows.labels is None else rows.labels.Y
    target = template.B is not None and template.target is not None
    return template, Demand(template, lifted, rows.ones, labels, target)


class _LiftedRows:
    """What the lift of a method makes of the rows of a block, a slice at a time."""

    def __init__(self, X: Any, lift: Callable[[Any], np.ndarray]):
        self._X, self._lift = X, lift
        self.shape = (X.shape[0], lift(X[:1]).shape[1])

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._lift(self._X[rows])


@dataclass(frozen=True)
class Reading:
    """Rows that can be read again: the source, the estimator that checks them, and ``SumsOfRows.counts``."""

    checking: Any
    source: RowBlocks
    counts: list[np.ndarray]
    dropped: int
    weighted: bool = False

    def product(self, dropped: bool, V: np.ndarray, level: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """``gram_product`` over the rows that took part; ``dropped``: whether some were left out."""
        return self.source.reduce(partial(_product_of_piece, self.checking if dropped else None, V, level), added)

    def every(self, weight: int, n: int) -> bool:
        """Whether all n rows that took part weigh something under a row weight, and none was left out or absent."""
        counted = sum(int(count[weight]) for count in self.counts if len(count))
        return not self.dropped and not self.weighted and counted == n

    def starts(self, weight: int) -> np.ndarray:
        """For each piece of the rows, those before it that weigh something under a row weight."""
        counts = [int(count[weight]) if len(count) else 0 for count in self.counts]
        return np.cumsum([0, *counts[:-1]])


def _product_of_piece(
    checking: Any, V: np.ndarray, level: Any, rows: RowBlocks, number: int
) -> tuple[np.ndarray, np.ndarray]:
    blocks: Any
    if checking is None:  # checked before
        pairs = ((X, split_weights(y)[1]) for X, y in prefetch(rows))
        blocks = ((float_matrix(X.to_numpy() if hasattr(X, "to_numpy") else X), times) for X, times in pairs)
    else:
        blocks = ((X, times) for X, _, times, _ in weighted_blocks(checking, rows, reset=False))
    return gram_product(blocks, V, level)


@dataclass(frozen=True)
class SummedRows(BlockRows):
    """Compressed rows with the sums of all rows of the blocks; ``labels.Y`` stands for the label matrix among them."""

    method: Any = None
    totals: LabelTotals | None = None
    found: Compression = None  # type: ignore[assignment]  # always given, after fields that need not be
    reading: Reading | None = None

    @property
    def d(self) -> int:
        """Features of the rows of the blocks."""
        return self.method.n_features_in_

    @property
    def summed(self) -> bool:
        return True

    def score_scatter(self, R: CentredMatrix, P: np.ndarray) -> np.ndarray:
        """By one reading, where the compressed rows are not those of X'X."""
        if self.found.s is not None or self.found.template.B is not None or self.reading is None:
            return super().score_scatter(R, P)
        products, total = self.reading.product(True, P, self.found.mean @ P)
        return P.T @ (products - np.outer(self.found.mean, total))

    def build_template(self, method: Any) -> Template:
        """The template, as it was stated on the blocks, on the compressed rows."""
        return self.found.restated()

    def resolve_ridge(self, ridge: float | str | None, scale: str | None, template: Template) -> tuple[Any, Any]:
        """The ridge with its unit; for "auto" the chosen one, absolute. By leave-one-out where the rows can be read
        again, else by generalised cross-validation from the sums."""
        if ridge != "auto" or template.B is None:
            return ridge, scale
        if self.found.template.target is None:
            return UNTARGETED_RIDGE, "trace"
        aim = Aim(ridge="auto", solver=self.route(self.method.solver))
        problem = Problem(template, self.X, aim=aim, width=self.method.prepared_.width)
        grid = RIDGE_GRID * problem.ridge_unit
        if self.reading is None:
            errors = self._gcv(grid)
        else:
            errors = self._sampled(grid) if problem.plan.sampled else self._left_out(grid)
        return float(grid[best_ridge(grid, errors)]), "absolute"

    def route(self, solver: str) -> str:
        return "iterative" if self.found.streamed and solver == "auto" else solver

    def _gcv(self, grid: np.ndarray) -> np.ndarray:
        found = self.found
        rows = found.moments.occurrences[found.demand.offset]
        return gcv_errors(found.s, found.target_moments(), found.target_squares(), grid, rows, found.centred)

    def _left_out(self, grid: np.ndarray) -> np.ndarray:
        """Each of some rows left out of the fit of all."""
        found, moments = self.found, self.found.target_moments()
        centre = found.mean if found.centred else None
        mass = float(found.moments.masses[found.demand.offset]) if found.centred else None
        form, errors_of = (found.V, centre, found.target_level()), (found.s, moments, grid, mass)
        work = partial(_left_out_piece, self._weighing(LOO_ROWS), form, errors_of)
        errors, seen = self.reading.source.reduce(work, added)
        return errors / (seen * moments.shape[1])

    def _sampled(self, grid: np.ndarray) -> np.ndarray:
        """Each row of a sample left out of the fit of the others."""
        work = partial(_sampled_piece, self._weighing(SAMPLE))
        X, T, w = zip(*self.reading.source.reduce(work, _listed), strict=True)
        rows = CentredMatrix(stacked(X), self.found.mean if self.found.centred else None)
        weights = np.concatenate(w) if self.found.demand.offset or self.reading.weighted else None
        return sampled_loo_errors(rows, weights, stacked(T), grid)

    def _weighing(self, most: int) -> WeighingRows:
        """At most ``most`` evenly spaced rows of non-zero weight."""
        offset = self.found.demand.offset
        chosen = evenly_spaced(int(self.found.moments.counts[offset]), most)
        checking, starts, every = self.reading.checking, self.reading.starts(offset), self.reading.every(offset, self.n)
        return WeighingRows(checking, self.totals, self.n, self.scatter, starts, chosen, every)


@dataclass(frozen=True)
class WeighingRows:
    """Rows of non-zero weight by their numbers ``chosen``; those of a piece begin at its number in ``starts``."""

    checking: Any
    totals: Any  # LabelTotals; None without labels
    n: int
    scatter: tuple[float, float]
    starts: np.ndarray
    chosen: np.ndarray
    every: bool  # whether all rows weigh something, so that those that are chosen can be picked as they are read

    def of(self, rows: RowBlocks, number: int) -> Iterator[Any]:
        """Those among the rows of a piece, as blocks of (X, targets, weights)."""
        seen, picks = int(self.starts[number]), self.every and rows.by_row
        blocks = rows.picked(self.chosen[self.chosen >= seen] - seen) if picks else rows
        for X, labels, times, _ in weighted_blocks(self.checking, blocks, reset=False):
            if X.shape[0] == 0:
                continue
            block = BlockRows(X, self.totals.block(labels), count=self.n, scatter=self.scatter)
            template = self.checking.template(block)
            w = block.ones if template.offset is None else template.offset
            weighing = np.flatnonzero(w > 0)
            among = (self.chosen >= seen) & (self.chosen < seen + len(weighing))
            own = weighing if picks else weighing[self.chosen[among] - seen]
            seen += len(weighing)
            if len(own):
                yield self.checking.lift(X[own]), template.target[own], w[own] if times is None else (w * times)[own]


def _left_out_piece(
    weighing: WeighingRows, form: tuple[Any, ...], errors_of: tuple[Any, ...], rows: RowBlocks, number: int
) -> tuple[Any, ...]:
    """The leave-one-out errors of the chosen rows of a piece, summed."""
    return left_out_sums((left_rows(*form, *block) for block in weighing.of(rows, number)), *errors_of)


def _sampled_piece(weighing: WeighingRows, rows: RowBlocks, number: int) -> list[Any]:
    return list(weighing.of(rows, number))


def _listed(parts: Sequence[list[Any]]) -> list[Any]:
    return [block for part in parts for block in part]


def _carried(moments: Moments, old: list[int], new: list[int], before: Any, after: Any) -> Moments:
    """Moments with factors of the widths ``old``, made under the totals ``before``, as those of the widths ``new``
    under later totals: with a column for each label that is new, and numbers less the same shift."""
    if before is after:
        return moments
    if old != new:
        moments = moments.widened(_columns(old, new, before, after), sum(new))
    return after.recentred(moments, before)


def _unlifted(moments: Moments, before: Any, after: Any) -> Moments:
    """``_carried`` of the moments of X and of the labels as they are summed."""
    if after is None or before is None:
        return moments
    return _carried(moments, [len(moments.squares)], [after.summed_no_rows().c], before, after)


def _columns(old: list[int], new: list[int], before: Any, after: Any) -> np.ndarray:
    """The columns of factors of the widths ``old`` among those of the widths ``new``, with columns for new labels."""
    place = after.places(before)
    columns, start = [], 0
    for narrow, wide in zip(old, new, strict=True):
        columns.append(start + (np.arange(wide) if narrow == wide else place))
        start += wide
    return np.concatenate(columns)


def _refuse_size(X: Any) -> None:
    """A ValueError for entries of which sums of products leave the range of float64."""
    if X.dtype == np.float32 or ordinary(X):
        return
    largest = largest_entry(X)
    if largest > 0 and abs(int(np.frexp(largest)[1])) > EXTREME:
        raise ValueError(
            f"The largest value of X in a block is {largest:.3g} in size, too extreme for sums of products. "
            f"Divide X by {largest:.0e}."
        )
