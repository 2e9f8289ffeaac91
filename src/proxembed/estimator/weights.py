"""Row weights: how often each row of a fit occurs, and equal rows as one row of their number.

In: ``sample_weight`` as it was given, checked rows. Out: distinct rows on which a template is stated as on those of a
block, with the sums of all rows, and collapsed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import equal_rows, over, unit_of
from proxembed.algebra.pencil.problem import CONSTANT
from proxembed.algebra.template import Template
from proxembed.blocks.weighted import row_weights
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import frame_of
from proxembed.targets.known import take_labels
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.output_totals import OutputBlock, OutputTotals
from proxembed.targets.outputs import quantile_bins, strata_of
from proxembed.targets.targets import Targets
from proxembed.targets.totals import LabelBlock, LabelTotals

from .rows import BlockRows, Rows

INSTEAD = {None: "PCA or LSI", "single": "FDA or MMC", "multi": "OPLS, CCA or PLS"}


def refuse_weights(estimator: Any) -> None:
    """Raise the ValueError of an estimator that takes no weights of rows as it is set."""
    raise ValueError(
        f"{type(estimator).__name__} takes no sample_weight: {estimator.why_unweighted}; use "
        f"{INSTEAD[estimator.traits.labels]} instead."
    )


def without_weights(estimator: Any, more: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments ``given`` by name after X and y to a ``fit`` whose rows have no weights; a ValueError for some, by
    name or first among those by place, ``more``."""
    if any(w is not None for w in (*more[:1], given.pop("sample_weight", None))):
        refuse_weights(estimator)
    return given


def refuse_arguments(estimator: Any, more: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Raise for arguments after X and y, by place (``more``) or by name (``given``), of a ``fit`` whose rows have no
    weights: a ValueError for ``sample_weight``, a TypeError for any other."""
    rest = [*map(repr, more[1:]), *without_weights(estimator, more, given)]
    if rest:
        raise TypeError(f"{type(estimator).__name__}.fit takes X and y, and not {', '.join(rest)}.")


def takes_weights(estimator: Any) -> bool:
    """Whether an estimator, of this library or another, fits rows with weights as it is set; of a pipeline, whether its
    last step does."""
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator.steps[-1][1])
    known = getattr(estimator, "weighs_rows", None)
    return has_fit_parameter(estimator, "sample_weight") if known is None else bool(known)


def check_takes_weights(estimator: Any) -> None:
    """Raise the ValueError of an estimator, of this library or another, that takes no weights of rows as it is set."""
    if takes_weights(estimator):
        return
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if hasattr(last, "why_unweighted"):
        refuse_weights(last)
    raise ValueError(f"{type(last).__name__} takes no sample_weight; take a method whose fit does, or leave it out.")


def weights_of(counts: np.ndarray | None, rows: Any = slice(None)) -> dict[str, np.ndarray]:
    """How often some rows occur, as ``fit`` takes it by name; nothing where each occurs once (None)."""
    return {} if counts is None else {"sample_weight": counts[rows]}


def checked_weights(sample_weight: Any, X: Any, y: Any = None) -> np.ndarray:
    """``sample_weight`` as float64, (n,). Raises ValueError for another length than that of y (of X, where y is None),
    for what is not a finite number of at least 0, and for zeros alone."""
    name, rows = ("X", X) if y is None else ("y", y)
    n = rows.n if isinstance(rows, Targets) else _num_samples(rows)
    return row_weights(sample_weight, n, name)


def present_rows(X: Any, y: Any, w: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """The rows of non-zero weight, as they came; all others are absent."""
    if w.all():
        return X, y, w
    index, X = np.flatnonzero(w), frame_of(X)
    plain = isinstance(X, TableRows | RawRows)
    X = X[index] if plain else _safe_indexing(X.tocsr() if sparse.issparse(X) else X, index)
    return X, None if y is None else take_labels(y, index), w[index]


def weighed_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
    """The rows of non-zero weight with their weights; all rows, and None, without ``sample_weight``."""
    return (X, y, None) if sample_weight is None else present_rows(X, y, checked_weights(sample_weight, X, y))


def weights_of_known(estimator: Any, y: Any, w: np.ndarray | None) -> np.ndarray | None:
    """The weights of the rows that ``known_labels(estimator, X, y, cells=True)`` keeps; None where each counts once."""
    if w is None:
        return None
    return w[LabelMatrix.of(y, getattr(estimator, "target_type", "classes")).rows_any]


@dataclass(frozen=True)
class RepeatedLabels(LabelBlock):
    """Labels of distinct rows that occur ``times`` each."""

    times: np.ndarray = field(default_factory=lambda: np.ones(0))

    @property
    def row_counts(self) -> np.ndarray:
        return self.times

    def two_classes(self) -> LabelMatrix:
        """A lone label as two classes."""
        return repeated_labels(LabelMatrix.two_classes(self), self.times, whole=True)

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct label sets of these rows."""
        return LabelMatrix.groups(self)

    def set_counts(self) -> np.ndarray:
        """Rows of each label set, in the order of ``groups``."""
        return np.bincount(self.groups()[1], self.times)

    def part(self, index: np.ndarray) -> RepeatedLabels:
        """Those of some of the rows."""
        return repeated_labels(self.take(index), self.times[index], whole=False)


@dataclass(frozen=True)
class RepeatedOutputs(OutputBlock):
    """F of distinct rows that occur ``times`` each."""

    times: np.ndarray = field(default_factory=lambda: np.ones(0))

    @property
    def row_counts(self) -> np.ndarray:
        return self.times

    @property
    def default_tau(self) -> float | None:
        """The mean squared distance of two rows of F."""
        return 2.0 * self.centred_squares / max(self.n - 1, 1)

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct rows of F."""
        rows, inverse = np.unique(self.Y.toarray(), axis=0, return_inverse=True)
        return rows, np.ravel(inverse)

    def set_counts(self) -> np.ndarray:
        """Rows of each distinct row of F, in the order of ``groups``."""
        return np.bincount(self.groups()[1], self.times)

    def strata(self) -> np.ndarray:
        return strata_of(self.Y.toarray())

    def fold_labels(self, rows: np.ndarray) -> sparse.csr_array:
        """The fifth of each column of F in which a row lies."""
        F, known = self.Y.tocsr()[rows].toarray(), np.ones(len(rows), dtype=bool)
        return sparse.csr_array(sparse.hstack([quantile_bins(column, known) for column in F.T], format="csr"))

    @property
    def lone_numbers(self) -> np.ndarray | None:
        return self.Y.toarray().ravel() if self.c == 1 else None

    def part(self, index: np.ndarray) -> RepeatedOutputs:
        """F of some of the rows, by the means and scales of all."""
        return replace(self, Y=sparse.csc_array(self.Y.tocsr()[index]), times=self.times[index])


def repeated_labels(labels: Any, times: np.ndarray, whole: bool) -> Any:
    """The targets of distinct rows with the totals of all; ``whole``: with ``LabelTotals.shared``."""
    if isinstance(labels, RepeatedLabels | RepeatedOutputs):
        return labels
    if not isinstance(labels, LabelMatrix):
        totals_of_outputs = OutputTotals.of(labels, times)
        return RepeatedOutputs(totals_of_outputs.block(labels).Y, totals_of_outputs, times=times)
    if labels.kept_columns is not None:
        labels = _on_all_columns(labels)
    totals = LabelTotals.of(labels, weights=times)
    if whole:
        totals = replace(totals, shared=labels.sums_of_repeated(times, True)[1])
    block = totals.block(labels)
    return RepeatedLabels(block.Y, block.classes_, block.form, None, block.kept_columns, totals, times)


def as_given(rows: Rows) -> Rows:
    """Rows with counts and their own targets, unknown cells among them."""
    if not isinstance(rows, WeightedRows):
        return rows
    return Rows(rows.X, rows.plain, origin=rows.origin, counts=rows.counts)


def counted_for(method: Any, rows: Rows) -> Rows:
    """Rows with counts as another method takes them; their ``weighted`` makes its template that of all rows."""
    return rows if rows.counts is None else method.count_rows(replace(rows, counts=None), rows.counts)


def held_under(outputs: Any, times: np.ndarray) -> Any:
    """Numbers of rows that occur ``times`` each, of which parts keep the means and scales of all."""
    return replace(outputs, standard=OutputTotals.of(outputs, times).level_and_scale)


def with_weighted_means(targets: Any, times: np.ndarray | None) -> Any:
    """Targets of rows that occur ``times`` each (None: once), each unknown cell at the mean of its column."""
    if times is None or not isinstance(targets, LabelMatrix):
        return targets.with_means()
    return targets.with_means(targets.means(times))


def _on_all_columns(labels: LabelMatrix) -> LabelMatrix:
    """The labels with the columns that no row has."""
    entries = labels.Y.tocoo()
    shape = (entries.shape[0], labels.width)
    Y = sparse.csc_array((entries.data, (entries.row, labels.kept_columns[entries.col])), shape=shape)
    return LabelMatrix(Y, labels.classes_, labels.form)


@dataclass(frozen=True)
class WeightedRows(BlockRows):
    """Distinct rows that occur ``counts`` times each, fractions allowed. A template is stated on them as on the rows of
    a block, and ``weighted`` makes it that of all rows. ``plain``: their targets, each row once; ``whole``: as of
    ``repeated_labels``."""

    plain: Any = None
    whole: bool = False

    @classmethod
    def of(cls, rows: Rows, counts: np.ndarray, whole: bool) -> WeightedRows:
        """Rows in memory with the number of times that each occurs."""
        labels = None if rows.labels is None else repeated_labels(rows.labels, counts, whole)
        more: dict[str, Any] = {"plain": rows.labels, "whole": whole}
        return cls(rows.X, labels, origin=rows.origin, counts=counts, count=float(counts.sum()), **more)

    @property
    def stated(self) -> None:
        return None

    @property
    def unstated(self) -> np.ndarray:
        return np.asarray(self.counts)

    def take(self, index: np.ndarray) -> Rows:
        origin, counts = None if self.origin is None else self.origin.take(index), np.asarray(self.counts)
        labels = None if self.plain is None else self.plain.take(index)
        return WeightedRows.of(Rows(self.X[index], labels, origin=origin), counts[index], self.whole)

    def part(self, index: np.ndarray) -> Rows:
        counts = np.asarray(self.counts)[index]
        labels = self.labels.part(index)
        return WeightedRows(self.X[index], labels, counts=counts, count=float(counts.sum()), plain=self.plain)

    def relabelled(self, arguments: tuple[Any, ...], setting: Any, made: Callable[[Any], Any]) -> Rows:
        counts = np.asarray(self.counts)
        return super().relabelled(arguments, setting, lambda labels: repeated_labels(made(labels), counts, whole=True))

    def weighted(self, template: Template) -> Template:
        return template if self.repeats is None else template.repeated(self.repeats)

    def squared_norm(self, center: np.ndarray | None) -> float:
        return CentredMatrix.centred(self.X, None if center is None else self.counts).squared_norm(self.counts)

    def traces(self) -> tuple[float, float, float]:
        unit = unit_of(self.X)
        rows = CentredMatrix.centred(over(self.X, unit), self.counts)
        if rows.constant:
            raise ValueError(CONSTANT)
        times: Any = self.repeats
        return rows.squared_norm(self.counts), float(np.sum(rows.tdot(times.of(self.labels.Y)) ** 2)), unit


def merged_rows(rows: Rows, weights: np.ndarray | None = None) -> Rows:
    """The rows that differ in features or targets, with the number of times that each occurs: as ``weights`` has it, or
    the counts of the rows."""
    weights = rows.counts if weights is None else weights
    equal = equal_rows(rows.X, None if rows.labels is None else rows.labels.row_values)
    if equal is None:
        return replace(rows, counts=weights)
    first, place = equal
    return replace(rows.take(first), counts=np.bincount(place, weights).astype(np.float64))


def weighted_rows(method: Any, rows: Rows, weights: np.ndarray | None, merge: bool) -> Rows:
    """The rows of a fit with their weights (None: ones). ``merge``: equal rows, of equal labels, become one row, which
    is what leave-one-out leaves out. Rows of weight one, all of them distinct, stay as they are."""
    if merge:
        merged = merged_rows(rows, weights)
        if merged.X.shape[0] == 1 < rows.X.shape[0]:
            raise ValueError(CONSTANT)
        weights, rows = merged.counts, replace(merged, counts=None)
    if weights is None or bool(np.all(weights == 1.0)):
        return rows
    found = method.count_rows(rows, weights)
    if found.labels is not None:
        method._reading_ = method._reading_.settled(found.labels)
    return found
