"""The folds of a search: parts with scaled features, made when a trial first needs them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from proxembed.evaluate.costs import Shape, shape_of
from proxembed.evaluate.part import Part, make_part
from proxembed.splits.folds import Split
from proxembed.targets.labels import LabelMatrix

KEPT = 5  # folds


class FoldParts:
    """The parts of several folds, on all training rows of a fold or on the first of them; the latest are kept.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or TableRows
    labels : LabelMatrix of n rows
    splits : sequence of Split
        Training rows in the order in which the first of them stand for all.
    kind : str
        The scaling, fitted on all training rows of a fold.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.splits.folds import Split
    >>> from proxembed.study.fold_parts import FoldParts
    >>> from proxembed.targets.labels import LabelMatrix
    >>> splits = [Split("1", np.array([3, 0, 1]), np.array([2])), Split("2", np.array([0, 2]), np.array([1, 3]))]
    >>> parts = FoldParts(np.eye(4), LabelMatrix.of([0, 1, 0, 1]), splits, "none")
    >>> parts.rows, parts.part(0, 2).X.tolist()
    ((3, 2), [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    """

    def __init__(self, X: Any, labels: LabelMatrix, splits: Sequence[Split], kind: str):
        self.X, self.labels, self.splits, self.kind = X, labels, tuple(splits), kind
        self.rows = tuple(len(split.train) for split in self.splits)
        self._shapes: dict[tuple[int, int | None], tuple[Shape, int]] = {}
        self._whole: OrderedDict[int, Part] = OrderedDict()
        self._short: OrderedDict[tuple[int, int], Part] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        """Each worker makes its own parts."""
        return {**vars(self), "_whole": OrderedDict(), "_short": OrderedDict()}

    def part(self, fold: int, rows: int | None = None) -> Part:
        """A fold with its first training rows; None: all of them."""
        if rows is None:
            return self._fold(fold)
        return _kept(self._short, (fold, rows), len(self.splits), lambda: first_rows(self._fold(fold), rows))

    def shape(self, fold: int, rows: int | None = None) -> tuple[Shape, int]:
        """Sizes of the features and labels of a part, and the number of its held-out rows."""
        if (fold, rows) not in self._shapes:
            part = self.part(fold, rows)
            self._shapes[fold, rows] = shape_of(part.X, part.labels.c), len(part.Y_held_out)
        return self._shapes[fold, rows]

    def _fold(self, fold: int) -> Part:
        split = self.splits[fold]
        most = min(len(self.splits), KEPT)
        make = partial(make_part, self.X, self.labels, split.train, split.held_out, self.kind)
        return _kept(self._whole, fold, most, make)


def _kept(known: OrderedDict[Any, Part], key: Any, most: int, make: Any) -> Part:
    """What is known under a key, made where it is not; the one that was not asked for longest goes."""
    if key not in known:
        known[key] = make()
        if len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def first_rows(part: Part, rows: int) -> Part:
    """The part with its first training rows only."""
    own = part.unscaled
    own = None if own is None else own._replace(train=own.train[:rows])
    return replace(part, X=part.X[:rows], labels=part.labels.take(np.arange(rows)), unscaled=own)
