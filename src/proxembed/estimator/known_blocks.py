"""What is read of blocks (X, y): checked rows that take part, a sample of them, and the totals of their labels."""

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

from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.blocks import split_weights
from proxembed.blocks.row_blocks import RowBlocks, added, drawn_rows, fewest_keys, stacked
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.output_totals import OutputTotals, stacked_outputs
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets
from proxembed.targets.totals import LabelTotals, all_unknown, labels_of_block

from .rows import Rows
from .validation import checked_features


def refuse_once(method: Any, source: RowBlocks, what: str) -> None:
    if not source.rereadable:
        raise ValueError(
            f"{type(method).__name__} needs {what} before the rows, and these blocks can be read once. Pass a function "
            "that starts a new reading: RowBlocks(lambda: ...)."
        )


def sampled_rows(method: Any, source: RowBlocks) -> Rows:
    """A uniform sample of the rows that take part."""
    size = method.traits.sample_rows
    found = source.reduce(partial(_sample_of_piece, method, size), partial(_one_sample, size))
    found.copy_to(method)
    refuse_few(method, sum(X.shape[0] for _, X, _ in found.drawn), found.dropped)
    _, X, labels = zip(*found.drawn, strict=True)
    if labels[0] is None:
        return Rows(stacked(X), None, source=source)
    totals = all_totals([totals_of(own) for own in labels])
    if isinstance(totals, OutputTotals):
        return Rows(stacked(X), stacked_outputs(list(labels)), source=source)
    own = [totals.block(part) for part in labels]
    Y = sparse.csc_array(sparse.vstack([part.Y for part in own]))
    return Rows(stacked(X), LabelMatrix(Y, totals.classes_, own[0].form, None, totals.columns), source=source)


@dataclass(frozen=True)
class FeatureInfo:
    """The features of some rows, as ``checking``, a copy of the estimator, has learned them."""

    checking: Any

    def copy_to(self, method: Any) -> None:
        """Set the number and the names of the features on an estimator."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.checking, name):
                setattr(method, name, getattr(self.checking, name))


@dataclass(frozen=True)
class RowSample(FeatureInfo):
    """A uniform sample ``drawn`` of the rows that take part, with how many others were ``dropped``."""

    drawn: list[Any]
    dropped: int


def _sample_of_piece(method: Any, size: int, rows: RowBlocks, number: int) -> RowSample:
    checking, left_out = copy.copy(method), [0]

    def blocks() -> Iterator[tuple[Any, LabelMatrix | None]]:
        for X, labels, dropped in known_blocks(checking, rows):
            left_out[0] += dropped
            if X.shape[0]:
                yield X, labels

    return RowSample(checking, drawn_rows(size, 0, blocks(), number, _taken), left_out[0])


def _taken(labels: Targets, rows: Any) -> Targets:
    return labels.take(rows)


def _one_sample(size: int, parts: Sequence[RowSample]) -> RowSample:
    checking = checked_alike(parts)
    drawn = fewest_keys(size, [part.drawn for part in parts], _taken)
    return RowSample(checking, drawn, sum(part.dropped for part in parts))


def moved_centroids(method: Any, source: RowBlocks, centroids: np.ndarray) -> np.ndarray:
    """Centroids moved to the means of the rows of which each is the nearest: a step of k-means over all rows that take
    part, in one reading."""
    counts, sums = source.reduce(partial(_near_each, method, centroids), added)
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


def with_rows(parts: Sequence[FeatureInfo]) -> Sequence[Any]:
    return [part for part in parts if hasattr(part.checking, "n_features_in_")] or parts[:1]


def checked_alike(parts: Sequence[FeatureInfo]) -> Any:
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


def refuse_outside(labels: Any, classes: Sequence[Any] | None) -> None:
    """A ValueError for labels that are not among ``classes``, where these are given."""
    if labels is None or classes is None or isinstance(labels, Outputs):
        return
    outside = [value for value in labels.classes_.tolist() if value not in set(np.asarray(classes).tolist())]
    if outside:
        raise ValueError(f"y holds the label {outside[0]!r}, which is not among classes. Add it to classes.")


def label_means(source: RowBlocks) -> np.ndarray:
    """The mean of the known cells of each label, over all rows of a source."""
    positive, known = source.reduce(_cell_counts, added, labels=True)
    return positive / np.where(known > 0, known, 1.0)


def _cell_counts(labels: Iterable[Any], number: int) -> tuple[Any, Any]:
    """The rows of each label, and those whose cell is known."""
    positive: Any = 0.0
    known: Any = 0.0
    for given in labels:
        y, w = split_weights(given)
        if all_unknown(y):
            continue
        own = LabelMatrix.of(y)
        if w is None:
            positive, known = positive + own.nk, known + own.known_counts
        else:
            hidden = 0.0 if own.unknown is None else own.unknown.T @ w
            positive, known = positive + own.Y.T @ w, known + w.sum() - hidden
    return positive, known


def label_totals(method: Any, labels: Iterable[Any], number: int) -> Any:
    """The totals of the labels of some rows; None where all are unknown."""
    known = (_weighted_targets(method, y) for y in labels)
    return all_totals([totals_of(own, True, times) for own, times, _, _ in known if own is not None])


def totals_of(targets: Any, whole: bool = False, times: np.ndarray | None = None) -> Any:
    """The OutputTotals of numbers, and the LabelTotals of labels; ``whole``: as of these, ``times``: how often each row
    occurs."""
    return OutputTotals.of(targets, times) if isinstance(targets, Outputs) else LabelTotals.of(targets, whole, times)


def _targets_of_block(method: Any, y: Any) -> tuple[Any, np.ndarray, int]:
    """``labels_of_block`` as a method reads y; a ValueError for numbers that it does not take."""
    reading = (method.label_means, method.target_type, method.target_scaling(), method.traits.fills_unknown)
    found = labels_of_block(_given(method, y), *reading)
    if found[0] is not None:
        method.check_kind(found[0])
    return found


def _weighted_targets(method: Any, given: Any) -> tuple[Any, np.ndarray | None, np.ndarray, int]:
    """The targets of the rows of a block that take part (None for no row), how often each occurs (None: once), the
    index of these rows in the block, and how many are left out; those of weight 0 are absent."""
    y, w = split_weights(given)
    present = None if w is None or w.all() else np.flatnonzero(w)
    labels, index, n = _targets_of_block(method, y if present is None else given[present].y)
    index = index if present is None else present[index]
    dropped = n - len(index)
    return labels, None if w is None else w[index], index, dropped


def all_totals(parts: Sequence[Any]) -> Any:
    """The totals of all parts, LabelTotals or OutputTotals; None for no part."""
    known = [part for part in parts if part is not None]
    return reduce(lambda one, other: one.merged(other), known) if known else None


def known_blocks(method: Any, blocks: Iterable[Any]) -> Iterator[tuple[Any, Any, int]]:
    """Checked blocks (X, labels, rows left out), of the rows that take part; the next one is read meanwhile. For what
    is learned of rows that count once: a ValueError for weights."""
    for X, labels, times, dropped in weighted_blocks(method, blocks):
        if times is not None:
            raise ValueError(
                f"{type(method).__name__} takes no sample_weight with blocks: what it learns from a sample of the rows "
                "counts each row once; use rows in memory, or leave the weights out."
            )
        yield X, labels, dropped


def weighted_blocks(
    method: Any, blocks: Iterable[Any], reset: bool = True
) -> Iterator[tuple[Any, Any, np.ndarray | None, int]]:
    """Checked blocks (X, labels, how often each row occurs, rows left out), of the rows that take part; the next one
    is read meanwhile. Times are None where each row occurs once."""
    for X, y in prefetch(blocks):
        found = checked_block(method, X, y, reset)
        reset = False
        yield found


def checked_block(method: Any, X: Any, y: Any, reset: bool) -> tuple[Any, Any, np.ndarray | None, int]:
    """A checked block: the rows that take part, their labels, how often each occurs (None: once), and how many are
    left out. Rows of weight 0 are absent."""
    X = checked_features(method, X, reset=reset, block=True)
    if method.traits.labels is None:
        _, w = split_weights(y)
        return (X, None, w, 0) if w is None or w.all() else (X[w > 0], None, w[w > 0], 0)
    labels, times, index, dropped = _weighted_targets(method, y)
    return (X if len(index) == X.shape[0] else X[index]), labels, times, dropped


def prefetch(blocks: Iterable[Any]) -> Iterator[Any]:
    """The same blocks; a thread reads the next one while one is in use."""
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


def refuse_few(method: Any, n: int, dropped: int, numbers: bool = False) -> None:
    if n < 2:
        noun, more = ("output", "") if numbers else ("label", ", or use a semi-supervised method")
        raise ValueError(
            f"Found {n} row(s) whose {noun}s are known ({dropped} left out) while a minimum of 2 is required by "
            f"{type(method).__name__}. Pass more rows with {noun}s{more}."
        )
