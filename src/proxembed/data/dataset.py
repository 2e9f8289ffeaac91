"""A labelled data set in memory: features, label indicator, names and split; and labels of several spellings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from proxembed.blocks.weighted import row_weights
from proxembed.data.errors import DataError
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import FrameColumn, frame_of, index_ids, named_columns, rows_of
from proxembed.tables.notes import shorten, spelling_notes
from proxembed.tables.rows import small_indices
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import read_targets
from proxembed.targets.targets import Targets
from proxembed.targets.values import classes_of, indicator_cells, missing_entries, unwrapped

Matrix: TypeAlias = Any  # an array of floats or a csr_array; scipy.sparse is untyped


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Labelled rows: a feature matrix X, a 0/1 label indicator Y and their names; or numbers as outputs in its place.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of numbers of shape (n, d), or TableRows or RawRows of d columns
        Finite features. float32 and float64 are kept, other number types become float64; sparse input becomes
        a `csr_array` and is never made dense. Rows of a table with more than numbers stay as they are: what they
        become is learned from training rows alone, by a `TableEncoder`.
    Y : array, sparse matrix or DataFrame of shape (n, c)
        Label indicator of 0 and 1, NaN where unknown, kept as a uint8 `csc_array`. One label per row is the one-hot
        special case: see `Dataset.from_classes`.
    feature_names : sequence of str, optional
        Names of the d columns of X; None gives those of a DataFrame, else x0, x1, ...
    label_names : sequence of str, optional
        Distinct names of the c columns of Y (class names for one label per row); None gives those of a DataFrame, else
        label0, label1, ...
    name : str
        Name of the data set.
    train_idx, test_idx : sequence of int, optional
        Rows of the standard split, where there is one; they must not overlap.
    licence : str, optional
        Licence or source of the data.
    unknown : boolean array or sparse matrix of shape (n, c), optional
        Cells of Y whose value is not known; Y holds 0, or NaN, there. None where all others are known.
    ids : sequence of str, optional
        Names of the n rows; None gives the index of a DataFrame that has a different text for each row.
    found_ids : sequence of str, optional
        Cells of the n rows in a column that was found to say which row it is, where no column of ids was named.
    groups : sequence of int of shape (n,), optional
        Group of each row, as codes from 0 up; rows of one group belong together and no split may part them.
    times : sequence of float of shape (n,), optional
        Time of each row: numbers, or for dates seconds since 1970.
    source : dict, optional
        How the columns of the file were read, as plain JSON-able data: `read_rows` reads new rows by it.
    notes : sequence of str
        Notes on how the file was read, one line each.
    columns : sequence of (name, reading, example), optional
        Every column of a table with more than numbers.
    values : sequence, optional
        The cells of the one label column as they came in: of each class, in the order of ``label_names``; of one label
        the two values without and with it. A model predicts them. None: it predicts class names, or 0 and 1.
    outputs : Outputs, optional
        Numbers, or columns of several kinds, which `from_targets` and the readers make; Y then has no column.
    sample_weight : sequence of float of shape (n,), optional
        How often each row counts, numbers above 0; an integer w equals w copies of the row. None or all ones: once.
        `weighted` leaves out the rows of weight 0.

    Raises
    ------
    DataError
        Where shapes, values or names do not fit; the message names the argument and the remedy.

    See Also
    --------
    proxembed.data.read : Reads a file.
    proxembed.data.Columns : What the columns of a table are for.

    Examples
    --------
    >>> from proxembed.data import Dataset
    >>> data = Dataset([[0.0, 1.0], [2.0, 0.0], [2.0, 0.0]], [[1, 0], [1, 1], [0, 0]], label_names=["red", "round"])
    >>> data
    Dataset(name='data', n=3, d=2, labels=2)
    >>> data.describe()["rows_without_label"], data.take([0, 1]).Y.toarray().tolist()
    (1, [[1, 0], [1, 1]])
    """

    X: Matrix
    Y: sparse.csc_array
    feature_names: Sequence[str] = None  # type: ignore[assignment]  # None: numbered; a tuple once it is made
    label_names: Sequence[str] = None  # type: ignore[assignment]  # likewise
    name: str = "data"
    train_idx: NDArray[np.intp] | None = None
    test_idx: NDArray[np.intp] | None = None
    licence: str | None = None
    unknown: sparse.csc_array | None = None
    ids: Sequence[str] | None = None
    groups: NDArray[np.intp] | None = None
    times: NDArray[np.float64] | None = None
    source: dict[str, Any] | None = None
    notes: Sequence[str] = ()
    columns: Sequence[tuple[str, str, str]] | None = None
    values: Sequence[Any] | None = None
    outputs: Outputs | None = None
    sample_weight: NDArray[np.float64] | None = None
    found_ids: Sequence[str] | None = None

    def __post_init__(self) -> None:
        masked = [name for name, value in vars(self).items() if isinstance(value, np.ma.MaskedArray)]
        if masked:
            raise DataError(f"{masked[0]} is a masked array; fill it in, and mark unknown cells of Y in `unknown`.")
        (X, columns), (Y, unknown, labels) = _features(self.X), _indicator_and_mask(self)
        (n, d), c = X.shape, Y.shape[1]
        if Y.shape[0] != n:
            raise DataError(f"X has {n} rows but Y has {Y.shape[0]}; give both the same rows in the same order.")
        label_names = _names("label_names", self.label_names, c, "label", found=labels) if c else ()
        if len(set(label_names)) < c:
            twice = next(name for i, name in enumerate(label_names) if name in label_names[:i])
            raise DataError(f"label_names holds {shorten(twice)} twice; give every label a name of its own.")
        train, test = _rows("train_idx", self.train_idx, n), _rows("test_idx", self.test_idx, n)
        if train is not None and test is not None and (both := np.intersect1d(train, test)).size:
            raise DataError(
                f"train_idx and test_idx share {both.size} rows (first: row {both[0]}); a row must be "
                "either for training or for testing."
            )
        for field, value in {
            "X": X,
            "Y": Y,
            "feature_names": _names("feature_names", self.feature_names, d, "x", found=columns),
            "label_names": label_names,
            "train_idx": train,
            "test_idx": test,
            "unknown": unknown,
            "ids": index_ids(self.X) if self.ids is None else _names("ids", self.ids, n, "", "row"),
            "found_ids": None if self.found_ids is None else _names("found_ids", self.found_ids, n, "", "row"),
            "groups": None if self.groups is None else _one_a_row("groups", self.groups, n, "iu").astype(np.intp),
            "notes": tuple(self.notes),
            "columns": None if self.columns is None else tuple(tuple(column) for column in self.columns),
            "values": None if self.values is None else tuple(self.values),
            "sample_weight": _weights(self.sample_weight, n),
            "times": None if self.times is None else _one_a_row("times", self.times, n, "iuf").astype(np.float64),
        }.items():
            object.__setattr__(self, field, value)

    @property
    def row_names(self) -> Sequence[str] | None:
        """The ids of the rows, else those that were found in a column; None without either."""
        return self.found_ids if self.ids is None else self.ids

    def __repr__(self) -> str:
        (n, d), c = self.X.shape, self.Y.shape[1]
        what = f"labels={c}" if self.outputs is None else f"outputs={len(self.outputs.layout.columns)}"
        return f"Dataset(name={self.name!r}, n={n}, d={d}, {what})"

    @classmethod
    def from_classes(
        cls, X: ArrayLike, y: ArrayLike, label_names: Sequence[str] | None = None, **kwargs: Any
    ) -> Dataset:
        """Data set of one class per row; Y is one-hot over the sorted distinct classes of y.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of shape (n,)
            Classes (numbers or text), or, where `label_names` is given, codes 0 .. c-1 into it.
        label_names : sequence of str, optional
            Class names; None takes the classes themselves.
        **kwargs
            Further fields of `Dataset`.

        Raises
        ------
        DataError
            Where y is not 1-D, holds NaN, or holds a code outside 0 .. c-1.

        Examples
        --------
        >>> from proxembed.data import Dataset
        >>> data = Dataset.from_classes([[0.0], [1.0], [3.0]], ["b", "a", "b"])
        >>> data.label_names, data.Y.toarray().tolist()
        (('a', 'b'), [[0, 1], [1, 0], [0, 1]])
        """
        Y, names = one_hot(y, label_names)
        return cls(X, Y, label_names=names, **kwargs)

    @classmethod
    def from_targets(cls, X: ArrayLike, y: Any, target_type: Any = None, **kwargs: Any) -> Dataset:
        """Data set of numbers to predict, or of columns of several kinds: y as the methods that take numbers read it.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array, sparse matrix or table of shape (n,) or (n, q)
            NaN where unknown; the columns of a table keep their names.
        target_type : str or dict, optional
            What y holds ("real", "classes", "labels"), or {column: word}; None: as its values have it.
        **kwargs
            Further fields of `Dataset`.

        Raises
        ------
        DataError
            Where y cannot be read, or holds labels alone.

        Examples
        --------
        >>> from proxembed.data import Dataset
        >>> Dataset.from_targets([[0.0], [1.0], [3.0]], [[0.5, 1], [1.5, 2], [2.0, 5]])
        Dataset(name='data', n=3, d=1, outputs=2)
        """
        try:
            found = read_targets(y, target_type)
        except ValueError as error:
            raise DataError(str(error)) from error
        if not isinstance(found, Outputs):
            raise DataError(
                "y holds labels alone: use Dataset(X, Y) or Dataset.from_classes(X, y), or pass target_type='real'."
            )
        return cls(X, no_labels(found.n), outputs=found, **kwargs)

    @property
    def single_label(self) -> bool:
        """Whether every row has exactly one label, all known."""
        return self.outputs is None and self.unknown is None and bool((self.Y.sum(axis=1, dtype=np.int64) == 1).all())

    @property
    def several_labels(self) -> bool:
        """Whether a row may have several labels, or none; False of outputs."""
        return self.outputs is None and not self.single_label

    @property
    def of_classes(self) -> bool:
        """Whether every row has exactly one label, or an unknown one: the labels are the classes of one column."""
        return self.single_label or (self.values is not None and len(self.label_names) > 1)

    @property
    def y(self) -> Any:
        """Labels as estimators take them: Y, or where cells are unknown a float array with NaN in these cells. A single
        label stays sparse, since a dense column of 0 and 1 means two classes. The outputs where there are some."""
        if self.outputs is not None:
            return self.outputs
        if self.unknown is None:
            return self.Y
        y = self.Y.toarray().astype(np.float64)
        y[self.unknown.toarray()] = np.nan
        return y if y.shape[1] > 1 else sparse.csc_array(y)

    @cached_property
    def targets(self) -> Targets:
        """The targets of all rows: a `LabelMatrix`, or the outputs."""
        return LabelMatrix.of(self.y) if self.outputs is None else self.outputs

    def take(self, rows: ArrayLike) -> Dataset:
        """Data set of the chosen rows, in the order given; the split follows the rows.

        Parameters
        ----------
        rows : sequence of int, or boolean mask of shape (n,)

        Raises
        ------
        DataError
            Where a row number is outside 0 .. n-1 or a mask has another length.

        Examples
        --------
        >>> from proxembed.data import digits
        >>> digits().take([0, 5]).X.shape
        (2, 64)
        """
        n = self.X.shape[0]
        index = np.asarray(rows)
        if index.dtype == bool:
            if index.shape != (n,):
                raise DataError(f"rows is a mask of shape {index.shape}; a mask must have shape ({n},).")
            index = np.flatnonzero(index)
        chosen: Any = _rows("rows", index, n, repeats=True)
        train, test = (
            None if part is None else np.flatnonzero(np.isin(chosen, part)) for part in (self.train_idx, self.test_idx)
        )
        unknown = None if self.unknown is None else self.unknown.tocsr()[chosen]
        return Dataset(
            self.X[chosen],
            self.Y.tocsr()[chosen],
            self.feature_names,
            self.label_names,
            self.name,
            train,
            test,
            self.licence,
            unknown,
            None if self.ids is None else tuple(self.ids[row] for row in chosen),
            None if self.groups is None else self.groups[chosen],
            None if self.times is None else self.times[chosen],
            self.source,
            self.notes,
            self.columns,
            self.values,
            None if self.outputs is None else self.outputs.take(chosen),
            None if self.sample_weight is None else self.sample_weight[chosen],
            None if self.found_ids is None else tuple(self.found_ids[row] for row in chosen),
        )

    def weighted(self, sample_weight: ArrayLike) -> Dataset:
        """Data set whose rows count as often as their weights say, without the rows of weight 0.

        Parameters
        ----------
        sample_weight : sequence of float of shape (n,)
            Numbers of at least 0. Ones alone count as no weights.

        Raises
        ------
        DataError
            For another length, a number below 0 or not finite, and zeros alone.

        Examples
        --------
        >>> from proxembed.data import Dataset
        >>> data = Dataset.from_classes([[0.0], [1.0], [3.0]], ["b", "a", "b"])
        >>> data.weighted([2.0, 0.0, 1.5]).sample_weight.tolist()
        [2.0, 1.5]
        """
        try:
            w = row_weights(sample_weight, self.X.shape[0])
        except ValueError as error:
            raise DataError(str(error)) from error
        if w.all():
            return replace(self, sample_weight=w)
        present = np.flatnonzero(w)
        return replace(replace(self, sample_weight=None).take(present), sample_weight=w[present])

    def describe(self) -> dict[str, Any]:
        """Facts on the data set as a plain dict: sizes, label statistics, and rows and columns to be wary of.

        Returns
        -------
        dict
            `name`, `n`, `d`, `labels`, `sparse`, `single_label`, `density` (the share of known cells that are 1),
            `cardinality` (labels per row: density times labels), `label_sets` (distinct ones, of rows without an
            unknown cell if there are any), `rows_without_label` (no label and no unknown cell),
            `unknown_cells`, `rows_known` (without an unknown cell), `rows_partly_known` (with known and unknown
            cells), `labels_without_row`, `zero_rows`, `duplicate_rows` (rows whose features equal an earlier row's),
            `copied_test_rows` (test rows with the features of a training row, or None),
            `constant_features`, `nonzero_share`, `train`, `test` (sizes or None), `licence`, `groups` (distinct ones,
            or None), `time_order` (whether the rows have times),
            `weights` (sum, effective number of rows (sum w)^2 / sum w^2, and column of the weights; or None),
            `negative` (what a row without the one label is called, or None), `notes` (on how the file was read),
            `outputs` (how each column of numbers, or of another
            kind beside them, was read; None for labels). An empty cell of a table counts as zero.

        Examples
        --------
        >>> from proxembed.data import digits
        >>> facts = digits().describe()
        >>> facts["n"], facts["d"], facts["labels"], facts["label_sets"]
        (1797, 64, 7, 10)
        """
        (n, d), c, Y = self.X.shape, self.Y.shape[1], self.Y.tocsr()
        X: Any = _as_numbers(self.X) if isinstance(self.X, TableRows | RawRows) else self.X
        X = _without_stored_zeros(X) if sparse.issparse(X) else X + 0.0  # -0.0 becomes 0.0
        nonzero = np.diff(X.indptr) if sparse.issparse(X) else np.count_nonzero(X, axis=1)
        holes = np.zeros(n, dtype=np.int64) if self.unknown is None else self.unknown.sum(axis=1, dtype=np.int64)
        empty, known, keys = Y.sum(axis=1, dtype=np.int64) == 0, holes == 0, _row_keys(X)
        known_cells = max(n * c - int(holes.sum()), 1)
        return {
            "name": self.name,
            "n": n,
            "d": d,
            "labels": c,
            "sparse": sparse.issparse(X),
            "single_label": self.single_label,
            "cardinality": Y.nnz * c / known_cells,
            "density": Y.nnz / known_cells,
            "label_sets": len(set(_row_keys(Y[known] if known.any() else Y))),
            "rows_without_label": int((empty & known).sum()),
            "unknown_cells": int(holes.sum()),
            "rows_known": int(known.sum()),
            "rows_partly_known": int(((holes > 0) & (holes < c)).sum()),
            "labels_without_row": int((self.Y.sum(axis=0, dtype=np.int64) == 0).sum()),
            "zero_rows": int((nonzero == 0).sum()),
            "duplicate_rows": n - len(set(keys)),
            "copied_test_rows": self._copied_test_rows(keys),
            "constant_features": _constant(X),
            "nonzero_share": float(nonzero.sum()) / (n * X.shape[1]),
            "train": None if self.train_idx is None else len(self.train_idx),
            "test": None if self.test_idx is None else len(self.test_idx),
            "licence": self.licence,
            "groups": None if self.groups is None else len(np.unique(self.groups)),
            "time_order": self.times is not None,
            "weights": None if self.sample_weight is None else self._weight_facts(),
            "negative": (self.source or {}).get("negative"),
            "notes": list(self.notes),
            "outputs": None if self.outputs is None else self.outputs.describe(),
        }

    def _copied_test_rows(self, keys: list[bytes]) -> int | None:
        """How many test rows have a copy among the training rows; None without test rows."""
        if self.train_idx is None or self.test_idx is None:
            return None
        return int(_copies(keys, self.test_idx, self.train_idx).sum())

    def _weight_facts(self) -> dict[str, Any]:
        """The sum of the weights, the effective number of rows, and the column that held them (None: an array)."""
        w: Any = self.sample_weight
        of = (self.source or {}).get("sample_weight")
        return {"sum": float(w.sum()), "effective": float(w.sum() ** 2 / np.sum(w**2)), "column": of}


def copied_rows(dataset: Dataset, rows: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which of some rows have the features of a row ``among`` others (mask)."""
    return _copies(_feature_keys(dataset), rows, among)


def groups_of_copies(dataset: Dataset) -> NDArray[np.intp]:
    """A group per row, shared by rows of equal features, numbered as they occur."""
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in _feature_keys(dataset)], dtype=np.intp)


def _feature_keys(dataset: Dataset) -> list[bytes]:
    X: Any = _as_numbers(dataset.X) if isinstance(dataset.X, TableRows | RawRows) else dataset.X
    return _row_keys(_without_stored_zeros(X) if sparse.issparse(X) else X + 0.0)


def _copies(keys: list[bytes], rows: np.ndarray, among: np.ndarray) -> np.ndarray:
    known = {keys[row] for row in among}
    return np.array([keys[row] in known for row in rows], dtype=bool)


def no_labels(n: int) -> sparse.csc_array:
    """The label indicator of rows without labels."""
    return sparse.csc_array((n, 0), dtype=np.uint8)


def one_hot(y: ArrayLike, label_names: Sequence[str] | None = None) -> tuple[sparse.csc_array, tuple[str, ...]]:
    """One-hot indicator and class names of 1-D classes, or of codes 0 .. c-1 into `label_names`."""
    try:
        y = classes_of(y)
    except ValueError as error:
        raise DataError(str(error)) from error
    if y.ndim != 1 or y.dtype.kind not in "biufUSO":
        raise DataError(f"y has shape {y.shape} and type {y.dtype}; classes must be one number or text per row.")
    if (missing := missing_entries(y)).any():
        raise DataError(f"y is NaN in row {missing.argmax()}; drop rows without a class or give an indicator Y.")
    if label_names is None:
        classes, codes = np.unique(y, return_inverse=True)
        label_names = [class_name(value) for value in classes]
    elif y.dtype.kind in "USO" or ((y < 0) | (y >= len(label_names)) | (y != np.floor(y))).any():
        allowed = f"the codes 0 to {len(label_names) - 1} of its {len(label_names)} label_names"
        raise DataError(f"y holds values other than {allowed}; give codes, or leave label_names out.")
    else:
        codes = y.astype(np.intp)
    Y = sparse.csr_array((np.ones(len(y), np.uint8), codes, np.arange(len(y) + 1)), (len(y), len(label_names)))
    return Y.tocsc(), tuple(label_names)


def indicator_and_unknown(Y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """An n x c array of 0 and 1, or -1 and 1, that is NaN where unknown, as an indicator and the mask of
    unknown cells."""
    if Y.dtype.kind != "f":
        return Y, None
    unknown = np.isnan(Y)
    negative = -1.0 if (Y == -1).any() else 0.0
    return np.where(unknown, negative, Y).astype(np.float64), unknown  # scipy knows no float16


def class_name(value: Any) -> str:
    """Name of a class: whole numbers without a decimal point."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def _as_numbers(rows: TableRows | RawRows) -> Matrix:
    """The cells of a table as numbers, equal where the cells are equal, and 0 where they are empty."""
    if isinstance(rows, RawRows):
        return rows.array if sparse.issparse(rows.array) else np.nan_to_num(rows.array)
    blocks = []
    for array in rows.arrays:
        if array.dtype == object:
            code = {"": 0, (): 0}
            array = np.array([code.setdefault(cell, len(code)) for cell in array], dtype=np.float64)
        blocks.append(np.nan_to_num(array.reshape(len(rows), -1)))
    return np.hstack(blocks)


def _features(X: Any) -> tuple[Any, list[str] | None]:
    """X as it is kept, and the names of the columns of a DataFrame."""
    if isinstance(X, TableRows | RawRows):
        return _refuse_no_cells(X), None
    try:
        X, names = rows_of(X), None
        if hasattr(X, "columns"):
            X, names = _numbers_of_frame(X)
    except ValueError as error:
        raise DataError(str(error)) from error
    X = small_indices(sparse.csr_array(X)) if sparse.issparse(X) else np.asarray(X)
    if X.dtype == object and all(isinstance(cell, Real) or cell is None for cell in X.flat):
        X = X.astype(np.float64)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(
            f"X has shape {X.shape} and type {X.dtype}; it must be a 2-D array of real numbers. Pass columns of texts "
            "or dates to search or compare as a DataFrame."
        )
    return _finite_features(_refuse_no_cells(X)), names


def _refuse_no_cells(X: Any) -> Any:
    if 0 in X.shape:
        raise DataError(f"X has {X.shape[0]} rows and {X.shape[1]} columns; at least one of each is needed.")
    return X


def _numbers_of_frame(X: Any) -> tuple[Any, list[str]]:
    """The columns of a DataFrame as one array, NaN where empty, and their names; a ValueError for other columns."""
    columns = {name: FrameColumn(cells) for name, cells in named_columns(X).items()}
    if others := [name for name, column in columns.items() if column.place != "number"]:
        raise ValueError(
            f"column {shorten(others[0])} of X holds no numbers; make numbers of it (TableEncoder), or pass X to "
            "search or compare, which read any table."
        )
    numbers = [column.numbers for column in columns.values()]
    return np.column_stack(numbers) if numbers else np.empty(X.shape), list(columns)


def _finite_features(X: Any) -> Any:
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if sparse.issparse(X) else X
    with np.errstate(all="ignore"):
        total = values.sum()
    if not np.isfinite(total) and not (finite := np.isfinite(values)).all():  # a finite sum has finite terms
        first = np.argwhere(~finite)[0]
        row = X.indptr.searchsorted(first[0], side="right") - 1 if sparse.issparse(X) else first[0]
        column = X.indices[first[0]] if sparse.issparse(X) else first[1]
        raise DataError(
            f"X holds {(~finite).sum()} NaN or infinite values (first: row {row}, column {column}); "
            "fill them in or drop their rows."
        )
    return X


def _indicator(Y: Any) -> sparse.csc_array:
    Y = Y if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.dtype.kind not in "biuf":
        raise DataError(
            f"Y has shape {Y.shape} and type {Y.dtype}; it must be an n x c indicator of 0 and 1 "
            "(one class per row: Dataset.from_classes)."
        )
    if Y.shape[1] == 0:
        raise DataError("Y has no columns; at least one label is needed.")
    values = Y.tocoo().data if sparse.issparse(Y) else Y
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size and Y.dtype.kind != "u" and (wrong == -1).all():
        if (values == 0).any() or values.size < Y.shape[0] * Y.shape[1]:
            raise DataError(
                "Y mixes -1, 0 and 1: -1 may mean negative or unknown, and 0 likewise. Use 0 and 1 (or -1 and 1) for "
                "known labels, and mark unknown cells."
            )
        Y, wrong = Y > 0, wrong[:0]
    if wrong.size:
        raise DataError(
            f"Y holds {wrong.flat[0]}; it must hold only 0 and 1 (unknown cells are NaN, or marked in `unknown`); for "
            "numbers to predict use Dataset.from_targets(X, y)."
        )
    Y = small_indices(sparse.csc_array(Y).astype(np.uint8))
    Y.sum_duplicates()
    if (Y.data > 1).any():
        raise DataError("Y stores the same cell twice; sum or drop the repeated entries.")
    Y.eliminate_zeros()
    return Y


def _indicator_and_mask(data: Dataset) -> tuple[sparse.csc_array, sparse.csc_array | None, Any]:
    """The labels as they are kept, the unknown cells (those marked, and those of NaN in Y), and the names of the
    columns of a DataFrame."""
    if data.outputs is not None:
        return no_labels(data.outputs.n), None, None
    Y: Any = frame_of(data.Y)
    unknown, names = data.unknown, getattr(Y, "columns", None)
    Y = Y if sparse.issparse(Y) else _cells_of_labels(Y, table=names is not None)
    if Y.ndim == 2 and Y.dtype.kind == "f" and np.isnan(Y.data if sparse.issparse(Y) else Y).any():
        Y, holes = indicator_and_unknown(Y.toarray() if sparse.issparse(Y) else Y)
        given = sparse.csc_array(np.zeros(Y.shape) if unknown is None else unknown).astype(bool)
        unknown = given + sparse.csc_array(holes) if given.shape == Y.shape else given
    Y = _indicator(Y)
    return Y, _mask(unknown, Y), names


def _cells_of_labels(Y: Any, table: bool) -> Any:
    """Y as an array, of numbers that are NaN where unknown if it holds objects."""
    try:
        Y = np.asarray(unwrapped(Y)[0] if table else Y)
        Y = Y[:, None] if table and Y.ndim == 1 else Y
        return indicator_cells(Y) if Y.dtype == object and Y.ndim == 2 else Y
    except ValueError as error:
        raise DataError(str(error)) from error


def _mask(unknown: Any, Y: sparse.csc_array) -> sparse.csc_array | None:
    if unknown is None:
        return None
    unknown = small_indices(sparse.csc_array(unknown).astype(bool))
    if unknown.shape != Y.shape:
        raise DataError(f"unknown has shape {unknown.shape} but Y has {Y.shape}; both must be n x c.")
    unknown.sum_duplicates()
    unknown.eliminate_zeros()
    if unknown.multiply(Y).nnz:
        raise DataError("Y holds 1 in a cell that is marked unknown; Y must be 0 there.")
    return unknown if unknown.nnz else None


def _names(
    field: str, names: Sequence[str] | None, size: int, stem: str, of: str = "column", found: Any = None
) -> tuple[str, ...]:
    """Names as given, else those ``found`` in a table, else the stem with numbers."""
    names = found if names is None else names
    names = tuple(f"{stem}{j}" for j in range(size)) if names is None else tuple(map(str, names))
    if len(names) != size:
        raise DataError(f"{field} holds {len(names)} names for {size} {of}s; give one name per {of}.")
    return names


def _rows(field: str, rows: ArrayLike | None, n: int, repeats: bool = False) -> NDArray[np.intp] | None:
    if rows is None:
        return None
    rows = np.asarray(rows)
    if rows.size == 0:
        rows = rows.astype(np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or (rows.size and (rows.min() < 0 or rows.max() >= n)):
        raise DataError(
            f"{field} must be a 1-D array of row numbers from 0 to {n - 1}; got shape {rows.shape} and "
            f"type {rows.dtype} with values up to {rows.max() if rows.size else None}."
        )
    if not repeats and len(np.unique(rows)) < len(rows):
        raise DataError(f"{field} names a row twice; give every row at most once.")
    return rows.astype(np.intp)


def _one_a_row(field: str, values: ArrayLike, n: int, kinds: str) -> NDArray[Any]:
    values = np.asarray(values)
    if values.shape != (n,) or values.dtype.kind not in kinds:
        what = "number" if "f" in kinds else "whole number (a code)"
        raise DataError(
            f"{field} has shape {values.shape} and type {values.dtype}; give one {what} per row ({n} rows)."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values)))
        raise DataError(f"{field} holds {values[row]} in row {row}; give every row a finite value.")
    return values


def _weights(values: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """Weights of n rows, above 0; None where all are 1."""
    if values is None:
        return None
    try:
        w = row_weights(values, n)
    except ValueError as error:
        raise DataError(str(error)) from error
    if not w.all():
        raise DataError(f"sample_weight holds 0 (row {int(np.argmin(w))}); Dataset.weighted leaves such rows out.")
    return None if (w == 1.0).all() else w


def _without_stored_zeros(A: sparse.csr_array) -> sparse.csr_array:
    if (A.data != 0).all():
        return A
    A = A.copy()
    A.eliminate_zeros()
    return A


def _row_keys(A: Matrix) -> list[bytes]:
    """One bytes key per row, equal exactly for equal rows; sparse A stores no zero."""
    if not sparse.issparse(A):
        return [row.tobytes() for row in A]
    A = A if A.has_sorted_indices else A.sorted_indices()
    ends = zip(A.indptr[:-1], A.indptr[1:], strict=True)
    return [A.indices[a:b].tobytes() + b"|" + A.data[a:b].tobytes() for a, b in ends]


def _constant(X: Matrix) -> int:
    varying = X.min(axis=0) != X.max(axis=0)
    return X.shape[1] - int(varying.nnz if sparse.issparse(X) else varying.sum())


def with_spelling_notes(dataset: Dataset) -> Dataset:
    """The data set, with a note on labels that differ only in case, blanks, accents or a last point."""
    notes = spelling_notes(dataset.label_names, np.asarray(dataset.Y.sum(axis=0)).ravel())
    return dataset if set(notes) <= set(dataset.notes) else replace(dataset, notes=(*dataset.notes, *notes))
