"""LabelMatrix: any form of y as one 0/1 matrix with a mask of the unknown, and every label rule and label error.

In: 1-D classes, an indicator (0/1 or -1/+1; dense, sparse or DataFrame), or a list of label sets; NaN, None and
pandas' NA say unknown. Out: ``LabelMatrix``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .algebra.symmetric import numerical_rank

COMPLEX = "Complex data not supported: y must hold classes, or 0 and 1."
ALL_UNKNOWN = "y is unknown in every cell: at least some rows must carry a label."


@dataclass(frozen=True)
class LabelMatrix:
    """Labels of n rows: ``Y`` (n x c CSC of 0/1, unknown stored as 0), ``unknown`` (CSC bool or None), ``classes_``,
    ``form``.

    ``form`` is how y came in: "classes", "indicator", "signs" (-1/+1) or "sets". ``kept`` holds the columns of
    ``classes_`` that Y still has, None for all of them.
    """

    Y: sparse.csc_array
    classes_: np.ndarray
    form: str
    unknown: sparse.csc_array | None = None
    kept: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Rows."""
        return self.Y.shape[0]

    @property
    def c(self) -> int:
        """Label columns."""
        return self.Y.shape[1]

    @cached_property
    def m(self) -> np.ndarray:
        """Labels a row."""
        return np.asarray(self.Y.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def nk(self) -> np.ndarray:
        """Rows a label."""
        return np.asarray(self.Y.sum(axis=0), dtype=np.float64).ravel()

    @property
    def nt(self) -> float:
        """Pairs of a row and one of its labels."""
        return float(self.nk.sum())

    @cached_property
    def rows_known(self) -> np.ndarray:
        """True where no cell of the row is unknown."""
        if self.unknown is None:
            return np.ones(self.n, dtype=bool)
        return np.asarray(self.unknown.sum(axis=1)).ravel() == 0

    @cached_property
    def rows_any(self) -> np.ndarray:
        """True where at least one cell of the row is known."""
        if self.unknown is None:
            return np.ones(self.n, dtype=bool)
        return np.asarray(self.unknown.sum(axis=1)).ravel() < self.c

    @property
    def one_hot(self) -> bool:
        """Whether every row has exactly one label."""
        return bool(np.all(self.m == 1))

    @property
    def differ(self) -> bool:
        """Whether some label is on in one row and off in another."""
        return bool(np.any((self.nk > 0) & (self.nk < self.n)))

    def take(self, rows) -> LabelMatrix:
        """The labels of some rows (an index or a mask)."""
        unknown = None if self.unknown is None else sparse.csc_array(self.unknown.tocsr()[rows])
        if unknown is not None and unknown.nnz == 0:
            unknown = None
        return replace(self, Y=sparse.csc_array(self.Y.tocsr()[rows]), unknown=unknown)

    def drop_empty(self) -> LabelMatrix:
        """Without the label columns that no row has."""
        keep = np.flatnonzero(self.nk > 0)
        if len(keep) == self.c:
            return self
        unknown = None if self.unknown is None else self.unknown[:, keep]
        return replace(self, Y=self.Y[:, keep], unknown=unknown, kept=keep if self.kept is None else self.kept[keep])

    def expand(self, columns: np.ndarray) -> np.ndarray:
        """An array with one column (or entry) a kept label, as one with a column for every class; zeros elsewhere."""
        if self.kept is None:
            return columns
        full = np.zeros((*columns.shape[:-1], len(self.classes_)))
        full[..., self.kept] = columns
        return full

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct label sets: (u x c array of 0/1, index of its set for each row)."""
        packed = np.packbits(self.Y.toarray().astype(bool), axis=1)
        _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        return self.Y.tocsr()[first].toarray(), np.ravel(inverse)

    @cached_property
    def centred_gram(self) -> np.ndarray:
        """Yc'Yc, c x c."""
        return (self.Y.T @ self.Y).toarray() - np.outer(self.nk, self.nk) / self.n

    @cached_property
    def rank(self) -> int:
        """The rank of the centred label matrix; 0 where all rows have the same labels."""
        return numerical_rank(self.centred_gram)

    def decode(self, indicator) -> Any:
        """Rows of 0/1 in the form y came in."""
        Y = indicator.toarray() if sparse.issparse(indicator) else np.asarray(indicator)
        if self.form == "classes":
            return self.classes_[np.argmax(Y, axis=1)]
        if self.form == "sets":
            return [set(self.classes_[np.flatnonzero(row)].tolist()) for row in Y]
        if self.form == "signs":
            return np.where(Y > 0, 1, -1)
        return Y.astype(int)

    @classmethod
    def of(cls, y: Any) -> LabelMatrix:
        """Read y in any of its forms; every problem is a ValueError that says what to do."""
        if isinstance(y, LabelMatrix):
            return y
        names = None
        if hasattr(y, "columns") and hasattr(y, "to_numpy"):
            names = np.asarray([str(c) for c in y.columns], dtype=object)
            y = y.to_numpy(dtype=object)
        elif hasattr(y, "to_numpy"):
            y = y.to_numpy()
        if sparse.issparse(y):
            return _from_sparse(y)
        if _is_sets(y):
            return _from_sets(y)
        y = _as_array(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        return _from_classes(y) if y.ndim == 1 else _from_indicator(y, names)


def unlabelled(y, marker: Any = -1) -> np.ndarray:
    """y with every entry equal to ``marker`` turned into NaN, the sign for unknown.

    Parameters: y, 1-D classes or an n x c indicator; marker, the value that meant "no label". Returns a new array
    (float for numbers, object for strings). Raises ValueError when y does not hold the marker.

    >>> from proxembed import unlabelled
    >>> unlabelled([0, 2, -1, 1], marker=-1)
    array([ 0.,  2., nan,  1.])
    """
    values = np.asarray(y)
    hit = values == marker
    if not np.any(hit):
        raise ValueError(
            f"y holds no entry equal to marker={marker!r}; pass the value that stands for an unknown label."
        )
    out = values.astype(np.float64 if values.dtype.kind in "biuf" else object)
    out[hit] = np.nan
    return out


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and value != value)
    )


def _is_sets(y: Any) -> bool:
    """A list (or object array) whose entries are sets, or lists of strings; missing entries stand for unknown rows."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    if not isinstance(y, list | tuple | np.ndarray):
        return False
    entries = [e for e in y if not _is_missing(e)]
    if not entries:
        return False
    if all(isinstance(e, set | frozenset) for e in entries):
        return True
    groups = [e for e in entries if isinstance(e, list | tuple)]
    return len(groups) == len(entries) and all(isinstance(v, str) for e in groups for v in e)


def _as_array(y: Any) -> np.ndarray:
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            "y has rows of different lengths; pass 1-D classes, an n x c array of 0 and 1, or a list of sets of labels."
        ) from error
    if array.ndim not in (1, 2):
        raise ValueError(
            f"y should be a 1d array, got an array of shape {array.shape} instead; "
            "pass 1-D classes, an n x c array of 0 and 1, or a list of sets of labels."
        )
    if array.dtype.kind == "c":
        raise ValueError(COMPLEX)
    return array


def _from_sets(y: Iterable) -> LabelMatrix:
    rows = [None if _is_missing(e) else set(e) for e in y]
    names = set().union(*(r for r in rows if r is not None))
    classes = np.asarray(_sorted(names), dtype=object)
    column = {name: j for j, name in enumerate(classes)}
    indices = [sorted(column[v] for v in r) if r else [] for r in rows]
    indptr = np.cumsum([0, *map(len, indices)])
    flat = np.fromiter((j for r in indices for j in r), dtype=np.int64, count=indptr[-1])
    Y = sparse.csr_array((np.ones(len(flat)), flat, indptr), shape=(len(rows), len(classes)))
    missing = np.fromiter((r is None for r in rows), dtype=bool, count=len(rows))
    return LabelMatrix(sparse.csc_array(Y), classes, "sets", _unknown_rows(missing, len(classes)))


def _sorted(names: set) -> list:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda v: (type(v).__name__, str(v)))


def _unknown_rows(missing: np.ndarray, c: int) -> sparse.csc_array | None:
    if not missing.any():
        return None
    return sparse.csc_array(np.repeat(missing[:, None], c, axis=1))


def _from_classes(y: np.ndarray) -> LabelMatrix:
    missing = np.fromiter((_is_missing(v) for v in y.tolist()), dtype=bool, count=len(y))
    if missing.all():
        raise ValueError("y is unknown in every row: at least some rows must carry a label.")
    known = y[~missing]
    if known.dtype == object:
        known = _plain(known)
    if known.dtype.kind == "f":
        _refuse_fractions(known)
        known = known.astype(np.int64) if missing.any() else known
    classes, codes = np.unique(known, return_inverse=True)
    if classes.dtype.kind in "if" and -1 in classes and len(classes) > 2:
        warnings.warn(
            f"y holds -1 beside {len(classes) - 1} other classes and it is taken as a class. "
            "If it stands for an unknown label, pass proxembed.unlabelled(y, marker=-1).",
            UserWarning,
            stacklevel=5,
        )
    rows = np.flatnonzero(~missing)
    Y = sparse.csc_array((np.ones(len(rows)), (rows, np.ravel(codes))), shape=(len(y), len(classes)))
    return LabelMatrix(Y, classes, "classes", _unknown_rows(missing, len(classes)))


def _plain(values: np.ndarray) -> np.ndarray:
    """An object array as numbers or strings."""
    kinds = {type(v) for v in values.tolist()}
    if all(issubclass(k, bool | int | float | np.number | np.bool_) for k in kinds):
        return np.asarray(values.tolist())
    if all(issubclass(k, str) for k in kinds):
        return values.astype(str)
    raise ValueError(
        f"Unknown label type: y mixes {sorted(k.__name__ for k in kinds)}; use numbers only, "
        "strings only, or sets of labels."
    )


def _refuse_fractions(known: np.ndarray) -> None:
    if not np.all(np.isfinite(known)):
        raise ValueError("Input y contains infinity; labels must be finite, NaN stands for unknown.")
    if np.any(known != np.floor(known)):
        example = known[known != np.floor(known)][0]
        raise ValueError(
            f"Unknown label type: continuous. y holds fractions such as {example:g}; labels are classes or 0 and 1. "
            "Round or bin a continuous target first."
        )


def _from_indicator(y: np.ndarray, names: np.ndarray | None) -> LabelMatrix:
    if y.shape[1] == 0:
        raise ValueError("y has no columns; pass at least one label.")
    if y.dtype.kind in "OUS":
        missing = np.frompyfunc(_is_missing, 1, 1)(y).astype(bool)
        try:
            values = np.where(missing, np.nan, y).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "y is a table of text; an n x c indicator holds 0 and 1. Pass 1-D classes or a list of sets of labels."
            ) from error
    else:
        if y.dtype.kind in "bui" and not np.any(y & ~np.ones((), dtype=y.dtype)):  # 0 and 1 only: nothing to look for
            classes = np.arange(y.shape[1]) if names is None else names
            return LabelMatrix(sparse.csc_array(y.astype(np.float64)), classes, "indicator")
        values = y.astype(np.float64)
    missing = np.isnan(values)
    if missing.all():
        raise ValueError(ALL_UNKNOWN)
    form = _indicator_form(np.unique(values[~missing]))
    Y = sparse.csc_array(np.where(missing, 0.0, values > 0).astype(np.float64))
    unknown = sparse.csc_array(missing) if missing.any() else None
    classes = np.arange(y.shape[1]) if names is None else names
    return LabelMatrix(Y, classes, form, unknown)


def _indicator_form(values: np.ndarray) -> str:
    if not np.all(np.isfinite(values)):
        raise ValueError("Input y contains infinity; labels must be finite, NaN stands for unknown.")
    found = set(values.tolist())
    if found <= {0.0, 1.0}:
        return "indicator"
    if found <= {-1.0, 1.0}:
        return "signs"
    if found == {-1.0, 0.0, 1.0}:
        raise ValueError(
            "y mixes -1, 0 and 1: -1 may mean negative or unknown, and 0 likewise. Use 0 and 1 (or -1 and +1) for "
            "known labels and NaN for unknown ones, e.g. proxembed.unlabelled(y, marker=0) or marker=-1."
        )
    example = next(v for v in values.tolist() if v not in (-1.0, 0.0, 1.0))
    if example != np.floor(example):
        raise ValueError(f"y holds fractions such as {example:g}; an n x c indicator holds 0 and 1, NaN for unknown.")
    raise ValueError(
        f"y holds {example:g}; an n x c indicator holds only 0 and 1 (or -1 and +1), NaN for unknown. "
        "One class a row is passed as a 1-D array."
    )


def _from_sparse(y) -> LabelMatrix:
    if y.dtype.kind == "c":
        raise ValueError(COMPLEX)
    Y = sparse.csc_array(y, dtype=np.float64, copy=True)
    Y.sum_duplicates()
    if Y.shape[1] == 0:
        raise ValueError("y has no columns; pass at least one label.")
    hole = np.isnan(Y.data)
    unknown = None
    if hole.any():
        if hole.sum() == Y.shape[0] * Y.shape[1]:
            raise ValueError(ALL_UNKNOWN)
        unknown = sparse.csc_array((hole, Y.indices, Y.indptr), shape=Y.shape, copy=True)
        unknown.eliminate_zeros()
        Y.data[hole] = 0.0
    Y.eliminate_zeros()
    known_cells = Y.shape[0] * Y.shape[1] - int(hole.sum())
    form = _indicator_form(np.unique(np.append(Y.data, 0.0) if Y.nnz < known_cells else Y.data))
    Y.data = (Y.data > 0).astype(np.float64)
    Y.eliminate_zeros()
    return LabelMatrix(Y, np.arange(Y.shape[1]), form, unknown)
