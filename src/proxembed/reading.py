"""Readings of rows in blocks: checked blocks, the totals of their labels, and a uniform sample of them.

In: RowBlocks and the estimator that is fitted on them. Each reading is a function of a piece and a merge of results.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from .algebra.arrays.matrix import row_blocks
from .features.scaling import ColumnSums
from .rows import Rows
from .sources.row_blocks import RowBlocks, drawn_rows, fewest_keys, stacked
from .targets.labels import LabelMatrix
from .targets.totals import LabelTotals, all_unknown, known_labels
from .validation import checked_features


def refuse_once(method: Any, source: RowBlocks, what: str) -> None:
    if not source.rereadable:
        raise ValueError(
            f"{type(method).__name__} needs {what} before the rows, and these blocks can be read once. Pass a function "
            "that starts a new reading: RowBlocks(lambda: ...)."
        )


def sampled_rows(method: Any, source: RowBlocks) -> Rows:
    """A uniform sample of the rows that take part."""
    size = method.sample_rows
    found = source.reduce(partial(_sample_of_piece, method, size), partial(_one_sample, size))
    found.tell(method)
    refuse_few(method, sum(X.shape[0] for _, X, _ in found.drawn), found.dropped)
    _, X, labels = zip(*found.drawn, strict=True)
    if labels[0] is None:
        return Rows(stacked(X), None, source=source)
    totals = all_totals([LabelTotals.of(own) for own in labels])
    own = [totals.block(part) for part in labels]
    Y = sparse.csc_array(sparse.vstack([part.Y for part in own]))
    return Rows(stacked(X), LabelMatrix(Y, totals.classes_, own[0].form, None, totals.columns), source=source)


@dataclass(frozen=True)
class Told:
    """What is known of some rows; ``checking``, a copy of the estimator, knows their features."""

    checking: Any

    def tell(self, method: Any) -> None:
        """Let an estimator know the features."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.checking, name):
                setattr(method, name, getattr(self.checking, name))


@dataclass(frozen=True)
class Sampled(Told):
    """A uniform sample ``drawn`` of the rows that take part, with how many others were ``dropped``."""

    drawn: list[Any]
    dropped: int


def _sample_of_piece(method: Any, size: int, rows: RowBlocks, number: int) -> Sampled:
    checking, left_out = copy.copy(method), [0]

    def blocks() -> Iterator[tuple[Any, LabelMatrix | None]]:
        for X, labels, dropped in known_blocks(checking, rows):
            left_out[0] += dropped
            if X.shape[0]:
                yield X, labels

    return Sampled(checking, drawn_rows(size, 0, blocks(), number, LabelMatrix.take), left_out[0])


def _one_sample(size: int, parts: Sequence[Sampled]) -> Sampled:
    checking = checked_alike(parts)
    drawn = fewest_keys(size, [part.drawn for part in parts], LabelMatrix.take)
    return Sampled(checking, drawn, sum(part.dropped for part in parts))


def moved_centroids(method: Any, source: RowBlocks, centroids: np.ndarray) -> np.ndarray:
    """Centroids moved to the means of the rows of which each is the nearest: a step of k-means over all rows that take
    part, in one reading."""
    counts, sums = source.reduce(partial(_near_each, method, centroids), _both_added)
    moved = centroids + sums / np.maximum(counts, 1)[:, None]
    return moved.astype(centroids.dtype)


def _near_each(method: Any, centroids: np.ndarray, rows: RowBlocks, number: int) -> tuple[np.ndarray, np.ndarray]:
    """How many rows each centroid is the nearest of, and the sum of their differences from it."""
    k = len(centroids)
    counts, sums = np.zeros(k), np.zeros(centroids.shape)
    for X, _, _ in known_blocks(copy.copy(method), rows):
        for part in row_blocks(X.shape[0], k):
            own = X[part].astype(np.float64)
            near = pairwise_distances_argmin(own, centroids)
            each = sparse.csr_array((np.ones(len(near)), near, np.arange(len(near) + 1)), shape=(len(near), k)).T
            found = each.sum(axis=1)
            counts += found
            if sparse.issparse(own):
                sums += (each @ own).toarray() - found[:, None] * centroids
            else:
                sums += each @ (own - centroids[near])
    return counts, sums


def _both_added(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    return reduce(lambda one, other: (one[0] + other[0], one[1] + other[1]), parts)


@dataclass(frozen=True)
class SummedColumns(Told):
    """The sums of the columns of some rows; None where there are no rows."""

    sums: ColumnSums | None


def summed_columns(method: Any, rows: RowBlocks, number: int) -> SummedColumns:
    """The sums of the columns of a piece, for ``RowBlocks.reduce``; ``joint_columns`` merges them."""
    checking = copy.copy(method)
    parts = (ColumnSums.of(X) for X, _, _ in known_blocks(checking, rows))
    first = next(parts, None)
    return SummedColumns(checking, None if first is None else reduce(ColumnSums.merged, parts, first))


def joint_columns(parts: Sequence[SummedColumns]) -> SummedColumns:
    found = [part.sums for part in parts if part.sums is not None]
    return SummedColumns(checked_alike(parts), reduce(ColumnSums.merged, found) if found else None)


def with_rows(parts: Sequence[Told]) -> Sequence[Any]:
    return [part for part in parts if hasattr(part.checking, "n_features_in_")] or parts[:1]


def checked_alike(parts: Sequence[Told]) -> Any:
    """The estimator that knows the features of all parts; a ValueError where these differ."""
    parts = with_rows(parts)
    for part in parts[1:]:
        refuse_other_features(parts[0].checking, part.checking)
    return parts[0].checking


def refuse_other_features(one: Any, other: Any) -> None:
    """A ValueError where two estimators were fitted to rows with different features."""
    names, others = (getattr(each, "feature_names_in_", []) for each in (one, other))
    same = np.array_equal(names, others)
    if one.n_features_in_ != other.n_features_in_ or not same:
        raise ValueError(
            f"All rows must have the same features, but there are {one.n_features_in_} in one part of the rows and "
            f"{other.n_features_in_} in another{'' if same else ', of other names'}."
        )


def refuse_outside(labels: LabelMatrix | None, classes: Sequence[Any] | None) -> None:
    """A ValueError for labels that are not among ``classes``, where these are given."""
    if labels is None or classes is None:
        return
    outside = [value for value in labels.classes_.tolist() if value not in set(np.asarray(classes).tolist())]
    if outside:
        raise ValueError(f"y holds the label {outside[0]!r}, which is not among classes. Add it to classes.")


def label_means(method: Any, source: RowBlocks) -> np.ndarray:
    """The mean of the known cells of each label, over all rows of a source."""
    positive, known = source.reduce(partial(_cell_counts, method), _both_added, labels=True)
    return positive / np.maximum(known, 1)


def _cell_counts(method: Any, labels: Iterable[Any], number: int) -> tuple[Any, Any]:
    """The rows of each label, and those whose cell is known."""
    positive: Any = 0.0
    known: Any = 0.0
    for y in labels:
        if not all_unknown(y):
            own = LabelMatrix.of(y)
            positive, known = positive + own.nk, known + own.known_counts
    return positive, known


def label_totals(method: Any, labels: Iterable[Any], number: int) -> LabelTotals | None:
    """The totals of the labels of some rows; None where all are unknown."""
    known = (known_labels(_given(method, y), method.label_means)[0] for y in labels)
    return all_totals([LabelTotals.of(known_rows, whole=True) for known_rows in known if known_rows is not None])


def all_totals(parts: Sequence[LabelTotals | None]) -> LabelTotals | None:
    known = [part for part in parts if part is not None]
    return reduce(LabelTotals.merged, known) if known else None


def known_blocks(
    method: Any, blocks: Iterable[Any], reset: bool = True
) -> Iterator[tuple[Any, LabelMatrix | None, int]]:
    """Checked blocks (X, labels, rows left out), of the rows that take part; the next one is read meanwhile."""
    for X, y in ahead(blocks):
        X = checked_features(method, X, reset=reset, block=True)
        reset = False
        if method.label_kind is None:
            yield X, None, 0
            continue
        labels, index, n = known_labels(_given(method, y), method.label_means)
        if len(index) < n:
            X = X[index]
        yield X, labels, n - len(index)


def ahead(blocks: Iterable[Any]) -> Iterator[Any]:
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


def refuse_few(method: Any, n: int, dropped: int) -> None:
    if n < 2:
        raise ValueError(
            f"Found {n} row(s) whose labels are known ({dropped} left out) while a minimum of 2 is required by "
            f"{type(method).__name__}. Pass more rows, or a semi-supervised method rows of which some are labelled."
        )
