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

from proxembed.algebra.arrays.blas import symmetric_from_lower
from proxembed.algebra.arrays.centred import block_rows
from proxembed.algebra.pencil.fill import filled_cells
from proxembed.tables.cells import is_empty
from proxembed.tables.rows import small_indices

from .targets import Output, Targets
from .values import (
    CLASSES_OR_NUMBERS,
    COMPLEX,
    class_values,
    entries,
    indicator_cells,
    many_numbers,
    missing_entries,
    object_array,
    refuse_cell,
    refuse_fractions,
    too_many_numbers,
    unwrapped,
)

ABSENT = "y holds no entry equal to marker={!r}; pass the value that stands for an unknown label."
ALL_UNKNOWN = "y is unknown in every cell: at least some rows must carry a label."
BLOCK_ROWS = 1024
DENSE_BYTES = 16 << 20
CACHED_BYTES = 1 << 20  # of the rows of a product
DENSE_PRODUCTS = 150  # in the time of one between sparse columns
MANY_LABELS = 1000  # above which no c x c matrix is decomposed, and no n x c array kept, where there is another way


@dataclass(frozen=True)
class LabelReading:
    """How labels were read: the form of y, and the ``unknown`` cells of each label (None: none); those of them that fit
    has ``filled``, and the ``rule`` for them."""

    form: str
    unknown: Any = None
    filled: Any = None
    rule: str | None = None

    def settled(self, labels: Targets) -> LabelReading:
        """The reading after the labels of the rows that take part are known."""
        return self

    def names(self, classes: Any) -> Any:
        """A name for each label."""
        return classes

    def outputs(self, classes: Any) -> tuple[Output, ...]:
        """The columns of y: one of classes or of label sets, or one per label."""
        none = np.zeros(len(classes), dtype=np.intp)
        unknown, filled = ((none if each is None else each).tolist() for each in (self.unknown, self.filled))
        if self.form in ("classes", "sets"):
            kind, values = {"classes": "classes", "sets": "labels"}[self.form], tuple(classes.tolist())
            return (Output(0, kind, tuple(range(len(classes))), n_unknown=max(unknown, default=0), values=values),)
        kind, found = "real" if self.form == "weights" else "labels", []
        for j, name in enumerate(classes.tolist()):
            rule = self.rule if filled[j] else None
            found.append(Output(name, kind, (j,), n_unknown=unknown[j], n_filled=filled[j], filled_by=rule))
        return tuple(found)


@dataclass(frozen=True)
class LabelMatrix(Targets):
    """Labels of n rows: ``Y`` (n x c CSC of 0/1, unknown stored as 0), ``unknown`` (CSC bool or None), ``classes_``,
    ``form``.

    ``form`` is how y came in: "classes", "indicator", "signs" (-1/+1) or "sets". ``kept_columns`` holds the columns of
    ``classes_`` that Y still has, None for all of them.

    See Also
    --------
    proxembed.data.Dataset : Rows, labels and names.
    """

    Y: sparse.csc_array
    classes_: np.ndarray
    form: str
    unknown: sparse.csc_array | None = None
    kept_columns: Any = None  # np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "Y", small_indices(self.Y))
        object.__setattr__(self, "unknown", small_indices(self.unknown))

    @cached_property
    def m(self) -> np.ndarray:
        """Labels per row."""
        return np.asarray(self.Y.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def nk(self) -> np.ndarray:
        """Rows per label."""
        return np.asarray(self.Y.sum(axis=0), dtype=np.float64).ravel()

    @property
    def noun(self) -> str:
        return "label"

    @property
    def nt(self) -> float:
        """Pairs of a row and one of its labels."""
        return float(self.nk.sum())

    @property
    def indicator(self) -> Any:
        """0 and 1 as CSR of whole numbers; with unknown cells an array of floats, NaN in these cells."""
        if self.unknown is None:
            return sparse.csr_array(self.Y).astype(np.uint8)
        return np.where(self.unknown.toarray(), np.nan, self.Y.toarray())

    def with_means(self, means: np.ndarray | None = None) -> LabelMatrix:
        """The labels with each unknown cell at the mean of its label: that of the known cells, or as given.

        >>> LabelMatrix.of([[1, 0], [np.nan, 1], [0, 1], [0, 1]]).with_means().Y.toarray()[1].round(2).tolist()
        [0.33, 1.0]
        """
        if self.unknown is None:
            return self
        unknown = sparse.csc_array(self.unknown, dtype=np.float64)
        means = self.means() if means is None else means
        return replace(self, Y=sparse.csc_array(self.Y + unknown @ sparse.diags_array(means)), unknown=None)

    def means(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The mean of the known cells of each label, each as often as its row occurs."""
        if weights is None or self.unknown is None:
            return self.nk / np.maximum(self.known_counts, 1)
        known = weights.sum() - self.unknown.T @ weights
        return np.asarray(self.Y.T @ weights) / np.where(known > 0, known, 1.0)

    def fill_unknown(self, rule: str | None, X: Any, weights: np.ndarray | None = None) -> LabelMatrix:
        if rule == "mean" and weights is not None:
            return self.with_means(self.means(weights))
        found: Any = super().fill_unknown(rule, X, weights)
        return found

    def with_fill(self, X: Any, weights: np.ndarray | None = None) -> LabelMatrix:
        """The labels with each unknown cell as the ridge regression of its label predicts it, cut to 0 to 1 (weights to
        at least 0).

        >>> X, Y = np.arange(5.0)[:, None], np.array([[0.0], [0.0], [1.0], [1.0], [np.nan]])
        >>> LabelMatrix.of(np.hstack([Y, 1 - Y[::-1]])).with_fill(X).Y.toarray()[-1].round(1).tolist()
        [1.0, 1.0]
        """
        if self.unknown is None:
            return self
        values, _ = filled_cells(X, self.Y, self.unknown, weights)
        np.clip(values.data, 0.0, np.inf if self.form == "weights" else 1.0, out=values.data)
        return replace(self, Y=sparse.csc_array(self.Y + values), unknown=None)

    @property
    def reading(self) -> LabelReading:
        """How these labels were read, for the estimator that is fitted on them."""
        return LabelReading(self.form, None if self.unknown is None else np.asarray(self.unknown.sum(axis=0)).ravel())

    @property
    def width(self) -> int:
        """Classes, those that no row has among them."""
        return len(self.classes_)

    @property
    def sums(self) -> np.ndarray:
        """Rows per label."""
        return self.nk

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each label by its share of the rows, (c,)."""
        share = self.nk / self.n
        return np.sqrt(share * (1.0 - share))

    @property
    def one_hot(self) -> bool:
        """Whether every row has exactly one label."""
        return self.several == 0 and self.bare == 0

    @property
    def several(self) -> int:
        """Rows with several labels."""
        return int(np.count_nonzero(self.m > 1))

    @property
    def bare(self) -> int:
        """Rows without a label."""
        return int(np.count_nonzero(self.m < 1))

    @property
    def differ(self) -> bool:
        """Whether some label is on in one row and off in another."""
        return bool(np.any((self.nk > 0) & (self.nk < self.n)))

    def take(self, rows: Any) -> LabelMatrix:
        """The labels of some rows (an index or a mask)."""
        unknown = None if self.unknown is None else sparse.csc_array(self.unknown.tocsr()[rows])
        if unknown is not None and unknown.nnz == 0:
            unknown = None
        return replace(self, Y=sparse.csc_array(self.Y.tocsr()[rows]), unknown=unknown)

    def drop_empty(self) -> LabelMatrix:
        """Without the label columns that no row has."""
        keep = np.flatnonzero(self.nk > 0)
        return self if len(keep) == self.c else self.with_columns(keep)

    def with_columns(self, keep: np.ndarray) -> LabelMatrix:
        """With these of its columns alone."""
        unknown = None if self.unknown is None else self.unknown[:, keep]
        if unknown is not None and unknown.nnz == 0:
            unknown = None
        return replace(
            self,
            Y=self.Y[:, keep],
            unknown=unknown,
            kept_columns=keep if self.kept_columns is None else self.kept_columns[keep],
        )

    def two_classes(self) -> LabelMatrix:
        """A lone label as two classes, the rows without it and those with it.

        >>> LabelMatrix.of([[1, 0], [0, 0]]).with_columns(np.array([0])).two_classes().Y.toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        unknown = None if self.unknown is None else sparse.hstack([self.unknown] * 2, format="csc")
        without = 1.0 - self.Y.toarray() - (0.0 if self.unknown is None else self.unknown.toarray())
        return LabelMatrix(sparse.csc_array(np.hstack([without, self.Y.toarray()])), np.arange(2), "classes", unknown)

    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct label sets: (u x c array of 0/1, index of its set for each row)."""
        sets, index = self.distinct_sets()
        return sets.toarray(), index

    def distinct_sets(self) -> tuple[sparse.csr_array, np.ndarray]:
        """``groups`` with the label sets as a sparse matrix."""
        rows, step = self.Y.tocsr(), block_rows(self.c)
        parts = (rows[start : start + step].toarray().astype(bool) for start in range(0, rows.shape[0], step))
        packed = np.concatenate([np.packbits(part, axis=1) for part in parts])
        _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        return rows[first], np.ravel(inverse)

    def group_of_row(self) -> np.ndarray:
        """The number of the label set of each row, found without an array of the sets."""
        return (self.groups() if self.of_block else self.distinct_sets())[1]

    @property
    def gram(self) -> np.ndarray:
        """Y'Y, c x c."""
        return self._shared_under(None)[0]

    @property
    def shares(self) -> np.ndarray:
        """Y'M^-1 1, (c,): rows per label, where each row is shared out among its labels.

        >>> LabelMatrix.of([[1, 0], [1, 1]]).shares.tolist()
        [1.5, 0.5]
        """
        return np.asarray(self.Y.T @ self._parts).ravel()

    @property
    def shared(self) -> np.ndarray:
        """Y'M^-1 Y, c x c: rows with both labels, each row shared out among its labels.

        >>> LabelMatrix.of([[1, 0], [1, 1]]).shared.tolist()
        [[1.5, 0.5], [0.5, 0.5]]
        """
        return self._shared_under(self._parts)[0]

    @property
    def gram_and_shared(self) -> tuple[np.ndarray, np.ndarray]:
        """``gram`` and ``shared``, in one pass over the rows.

        >>> [part.tolist() for part in LabelMatrix.of([[1, 0], [1, 1]]).gram_and_shared]
        [[[2.0, 1.0], [1.0, 1.0]], [[1.5, 0.5], [0.5, 0.5]]]
        """
        if self.several == 0:
            gram = self.gram
            return gram, gram.copy()
        gram, shared = self._shared_under(None, self._parts)
        return gram, shared

    @property
    def _parts(self) -> np.ndarray:
        """The part of a row that each of its labels gets, 0 for rows without a label."""
        return np.divide(1.0, self.m, out=np.zeros(len(self.m)), where=self.m > 0)

    def _shared_under(self, *weights: np.ndarray | None) -> list[np.ndarray]:
        """Y'diag(w)Y for each of some weights w >= 0 (None: ones); by dense blocks where rows have many labels."""
        n, pairs = self.Y.shape[0], float(self.m @ self.m)  # pairs: products of stored entries
        if n * self.c**2 > DENSE_PRODUCTS * pairs:
            return [(self.Y.T @ (self.Y if w is None else sparse.diags_array(w) @ self.Y)).toarray() for w in weights]
        step, totals = block_rows(self.c, DENSE_BYTES), [np.zeros((self.c, self.c)) for _ in weights]
        cached = max(block_rows(self.c, CACHED_BYTES), 4 * self.c)
        Y = self.Y if n <= step else self.Y.tocsr()
        for start in range(0, n, step):
            dense = (Y if n <= step else Y[start : start + step]).toarray()
            for inner in range(0, len(dense), cached):
                rows = dense[inner : inner + cached]
                for w, total in zip(weights, totals, strict=True):
                    total += (rows if w is None else rows * w[start + inner :][: len(rows), None]).T @ rows
        return [symmetric_from_lower(total) for total in totals]

    def sums_of_repeated(self, w: np.ndarray, whole: bool) -> tuple[np.ndarray, Any, np.ndarray]:
        """``gram``, ``shared`` (None unless ``whole``) and ``shares`` of rows that occur w times each."""
        parts = w * self._parts
        grams = self._shared_under(*([w, parts] if whole else [w]))
        return grams[0], grams[1] if whole else None, np.asarray(self.Y.T @ parts).ravel()

    def decode(self, indicator: Any) -> Any:
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
    def of(cls, y: Any, target_type: str | None = "classes") -> LabelMatrix:
        """Read y in any of its forms; every problem is a ValueError that says what to do. ``target_type`` None refuses
        whole numbers that are ``too_many_numbers``."""
        if isinstance(y, LabelMatrix):
            return y
        if target_type not in (None, "classes", "labels"):
            raise ValueError(
                f"target_type={target_type!r}: labels are needed here, and numbers are not; use 'classes'."
            )
        y, names = unwrapped(y)
        if sparse.issparse(y):
            return _from_sparse(y)
        if is_sets(y):
            return _from_sets(y)
        y = entries(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim == 2:
            return _from_indicator(y, names)
        found = _from_classes(y)
        refuse_many_numbers(found.classes_, int(found.nt), target_type)
        return found


def refuse_many_numbers(classes: np.ndarray, rows: int, target_type: str | None, takes_numbers: bool = False) -> None:
    """Raise a ValueError for 1-D classes that are ``too_many_numbers``, unless ``target_type`` says "classes".
    ``takes_numbers``: whether they may be numbers."""
    if target_type is None and too_many_numbers(len(classes), rows) and _are_numbers(classes):
        reason, remedy = many_numbers("y", len(classes), rows)
        raise ValueError(f"{reason}: {CLASSES_OR_NUMBERS if takes_numbers else f'{remedy}.'}")


def _are_numbers(classes: np.ndarray) -> bool:
    return classes.dtype.kind in "iuf" or (classes.dtype == object and isinstance(classes[0], int | float))


def unlabelled(y: Any, marker: Any = -1) -> np.ndarray | sparse.csr_array:
    """y with every entry equal to ``marker`` turned into NaN, the sign for unknown.

    Parameters: y, 1-D classes or an n x c indicator; marker, the value that meant "no label". Returns a new array
    (float for numbers that floats hold exactly, else object), a CSR array for sparse y. Raises ValueError when y does
    not hold the marker, or y is sparse and the marker 0.

    >>> from proxembed import unlabelled
    >>> unlabelled([0, 2, -1, 1], marker=-1)
    array([ 0.,  2., nan,  1.])
    """
    y, _ = unwrapped(y)
    if sparse.issparse(y):
        return _unlabelled_sparse(y, marker)
    values = entries(y)
    rest = ~missing_entries(values)
    rest[rest] = values[rest] != marker
    if not np.any(~rest & ~missing_entries(values)):
        raise ValueError(ABSENT.format(marker))
    if values.dtype.kind in "mM":
        return np.where(rest, values, np.array("NaT", dtype=values.dtype))
    floats = _exact_floats(values[rest].tolist())
    out = np.full(values.shape, np.nan, dtype=object if floats is None else np.float64)
    out[rest] = values[rest] if floats is None else floats
    return out


def _unlabelled_sparse(y: Any, marker: Any) -> sparse.csr_array:
    if marker == 0:
        raise ValueError("y is sparse, and marker=0 stands for all that it does not store; pass y.toarray().")
    y = sparse.csr_array(y, dtype=np.float64, copy=True)
    y.sum_duplicates()
    if not np.any(y.data == marker):
        raise ValueError(ABSENT.format(marker))
    y.data[y.data == marker] = np.nan
    return y


def _exact_floats(values: list[Any]) -> np.ndarray | None:
    """Numbers as float64, or None where these are other numbers, or the values no numbers."""
    array = np.asarray(values)
    floats = array.astype(np.float64) if array.dtype.kind in "biuf" else None
    return floats if floats is not None and floats.tolist() == values else None


def is_sets(y: Any) -> bool:
    """A list (or object array) whose entries are sets, or lists of strings; missing entries stand for unknown rows."""
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    if not isinstance(y, list | tuple | np.ndarray):
        return False
    rows = [e for e in y if not is_empty(e)]
    if not rows:
        return False
    if all(isinstance(e, set | frozenset) for e in rows):
        return True
    if not all(isinstance(e, list | tuple) for e in rows):
        return False
    types = set().union(*(map(type, e) for e in rows))
    if not any(issubclass(t, str) for t in types):
        return not types
    return all(isinstance(v, str) or is_empty(v) for e in rows for v in e)


def _from_sets(y: Iterable[Any]) -> LabelMatrix:
    rows = [None if is_empty(e) else set(e) for e in y]
    for i, row in enumerate(rows):
        if row and any(map(is_empty, row)):
            raise ValueError(
                f"y[{i}] holds an unknown entry (None or NaN) among its labels: a set holds the labels of a row. "
                "Put None in place of the set where no label of the row is known; cells are marked NaN in an "
                "n x c array of 0 and 1."
            )
    names = set().union(*(r for r in rows if r is not None))
    _refuse_bools_among_numbers(rows, len(names))
    classes = object_array(_sorted(names))
    column = {name: j for j, name in enumerate(classes)}
    indices = [sorted(column[v] for v in r) if r else [] for r in rows]
    indptr = np.cumsum([0, *map(len, indices)])
    flat = np.fromiter((j for r in indices for j in r), dtype=np.int64, count=indptr[-1])
    Y = sparse.csr_array((np.ones(len(flat)), flat, indptr), shape=(len(rows), len(classes)))
    missing = np.fromiter((r is None for r in rows), dtype=bool, count=len(rows))
    return LabelMatrix(sparse.csc_array(Y), classes, "sets", _unknown_rows(missing, len(classes)))


def _refuse_bools_among_numbers(rows: list[Any], n_names: int) -> None:
    if len({(isinstance(v, bool | np.bool_), v) for r in rows if r for v in r}) > n_names:
        raise ValueError(
            "y holds True or False beside the label 1 or 0, which are equal; name the labels differently, such as by "
            "strings."
        )


def _sorted(names: set[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda v: (type(v).__name__, str(v)))


def _unknown_rows(missing: np.ndarray, c: int) -> sparse.csc_array | None:
    if not missing.any():
        return None
    return sparse.csc_array(np.repeat(missing[:, None], c, axis=1))


def _from_classes(y: np.ndarray) -> LabelMatrix:
    missing = missing_entries(y)
    if missing.all():
        raise ValueError("y is unknown in every row: at least some rows must carry a label.")
    known = y[~missing]
    if known.dtype == object:
        known = class_values(known)
    if known.dtype.kind in "fO":
        refuse_fractions(known)
    if known.dtype.kind == "f" and missing.any() and np.all(np.abs(known) < 2.0**63):
        known = known.astype(np.int64)  # beside NaN floats stand for integers
    classes, codes = np.unique(known, return_inverse=True)
    if classes.dtype.kind in "ifO" and -1 in classes and len(classes) > 2:
        warnings.warn(
            f"y holds -1 beside {len(classes) - 1} other classes and it is taken as a class. "
            "If it stands for an unknown label, pass proxembed.unlabelled(y, marker=-1).",
            UserWarning,
            stacklevel=5,
        )
    rows = np.flatnonzero(~missing)
    Y = sparse.csc_array((np.ones(len(rows)), (rows, np.ravel(codes))), shape=(len(y), len(classes)))
    return LabelMatrix(Y, classes, "classes", _unknown_rows(missing, len(classes)))


def _from_indicator(y: np.ndarray, names: np.ndarray | None) -> LabelMatrix:
    if y.shape[1] == 0:
        raise ValueError("y has no columns; pass at least one label.")
    classes = np.arange(y.shape[1]) if names is None else names
    if y.dtype.kind in "bui" and not np.any(y & ~np.ones((), dtype=y.dtype)):  # 0 and 1 only: nothing to look for
        return LabelMatrix(_columns_of(y != 0), classes, "indicator")
    values = y if y.dtype.kind in "buif" else indicator_cells(y.astype(object))
    missing = np.isnan(values)
    if missing.all():
        raise ValueError(ALL_UNKNOWN)
    form = _indicator_form(np.unique(values[~missing]))
    Y = _columns_of(~missing & (values > 0))
    return LabelMatrix(Y, classes, form, sparse.csc_array(missing) if missing.any() else None)


def _columns_of(on: np.ndarray) -> sparse.csc_array:
    """A boolean array (n, c) as a CSC array of ones; in a fifth of the time of SciPy's way by coordinates."""
    n, c = on.shape
    columns = np.empty((c, n), dtype=bool)
    for start in range(0, n, BLOCK_ROWS):  # what is transposed stays in the cache
        columns[:, start : start + BLOCK_ROWS] = on[start : start + BLOCK_ROWS].T
    counts = np.count_nonzero(columns, axis=1)
    indices = np.flatnonzero(columns.ravel()) - np.repeat(np.arange(c) * n, counts)
    return sparse.csc_array((np.ones(len(indices)), indices, np.concatenate([[0], np.cumsum(counts)])), shape=on.shape)


def _indicator_form(values: np.ndarray) -> str:
    found = set(values.tolist())
    if found <= {0, 1}:
        return "indicator"
    if found <= {-1, 1}:
        return "signs"
    if found <= {-1, 0, 1}:
        raise ValueError(mixed_signs(found))
    refuse_cell(next(value for value in values.tolist() if value not in (-1, 0, 1)))


def mixed_signs(found: set[float]) -> str:
    """What is wrong with an indicator of -1 and 0, and perhaps 1, and what to do."""
    return (
        f"y mixes {'-1, 0 and 1' if 1 in found else '-1 and 0'}: -1 may mean negative or unknown, and 0 likewise. "
        "Use 0 and 1 (or -1 and +1) for known labels and NaN for unknown ones, e.g. "
        "proxembed.unlabelled(y, marker=0) or marker=-1."
    )


def _from_sparse(y: Any) -> LabelMatrix:
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
