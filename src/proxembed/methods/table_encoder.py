"""TableEncoder: rows of a table with cells of every kind as numbers, learned from the rows given to fit."""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from proxembed.blocks.dask_blocks import output_container
from proxembed.estimator.base import Embedder
from proxembed.estimator.validation import in_range, refuse_masked
from proxembed.estimator.weights import checked_weights
from proxembed.features.scaling import scaling_apply, scaling_kind
from proxembed.features.table import TableState, features_fit
from proxembed.tables import Column, TableRows, read_columns
from proxembed.tables.frames import FrameColumn, frame_of, is_frame, named_columns, rows_of
from proxembed.tables.notes import few_names, few_notes
from proxembed.tables.rows import columns_by_position
from proxembed.tables.unseen import warn_of


class TableEncoder(Embedder):
    """Encoding of a table: numbers, dates, categories, truth values, scales, texts, lists and vectors as features.

    The type of a column is detected from its cells, and its encoding is learned from the rows given to ``fit``. An
    empty number becomes the median, with a 0/1 column that marks it. Dates become days since the first, month, day,
    weekday and hour. A category gets one 0/1 column per value (if there are more than 30 values, the most frequent
    ones, and the share of the rows with each value). These columns get mean 0 and variance 1. Texts and lists of names
    become sublinear tf-idf of stems, or names, that occur in two or more rows; each weighs as much as all other columns
    together. Constant columns, ids and groups are dropped. A matrix is standardised if it is dense, turned into tf-idf
    if it is sparse and holds counts, and left unchanged otherwise; NaN in an array is an empty number.

    Attributes
    ----------
    columns_ : tuple of Column, or None for a matrix
        The columns that are features, each with what it holds.
    state_ : what was learned.

    Raises
    ------
    ValueError
        For a column that cannot be read, a cell of new rows that is not what its column holds, or a missing column.

    Warns
    -----
    UnseenCellsWarning
        If most cells of a column of new rows are categories or names that the rows of the fit do not have, or if codes
        such as 01234 have lost their leading zeros.

    See Also
    --------
    proxembed.Scaling : Scaling of dense or sparse features.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> from proxembed import TableEncoder
    >>> table = DataFrame({"age": [30, None, 50, 40], "kind": ["a", "b", "b", "a"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age (empty)', 'kind=a', 'kind=b']
    >>> encoder.transform(DataFrame({"age": [None, 40], "kind": ["unheard", "a"]})).round(2).tolist()
    [[0.0, 1.5, -0.87, -0.87], [0.0, -0.5, 0.87, -0.87]]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the encoding.

        Parameters
        ----------
        X : DataFrame, Arrow table, lazy relation, TableRows, array, or CSR
        y : ignored
        sample_weight : (n,) numbers above 0, optional
            How often each row counts in means, variances, shares and tf-idf.

        Returns
        -------
        self
        """
        with self._learning():
            X = frame_of(X)
            rows = table_of(X)
            if rows is None:
                rows = self._validate(X, y).X
            else:
                names = list(X.columns) if is_frame(X) else [column.name for column in rows.columns]
                self.n_features_in_ = len(names)
                if (is_frame(X) or rows is X) and all(isinstance(name, str) for name in names):
                    self.feature_names_in_ = np.array(names, dtype=object)
            self.state_ = features_fit(
                scaling_kind(rows), rows, None if sample_weight is None else checked_weights(sample_weight, rows)
            )
            self.columns_ = rows.columns if isinstance(rows, TableRows) else None
        return self

    def transform(self, X: Any) -> Any:
        """The features of rows, an array or (where there are texts) a CSR array of shape (m, features)."""
        check_is_fitted(self, "state_")
        if isinstance(self.state_, TableState):
            rows = self._known_columns(X)
            if rows.new:
                warn_of(self.state_.unseen(rows))
            found = scaling_apply(self.state_, rows)
            if issparse(found) and (container := output_container(self)) != "default":
                raise ValueError(
                    f"the output is set to {container!r}, which holds no sparse features, and those of the text and "
                    f"list columns {few_names([block.column for block in self.state_.words])} are sparse. Call "
                    "set_output(transform='default') on the encoder (in a pipeline: on its first step), or leave "
                    "these columns out."
                )
            return found
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = scaling_apply(self.state_, X)
        return in_range(scaled, X, scaled.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: those of the columns, with the value, part or word that a feature stands for."""
        check_is_fitted(self, "state_")
        if isinstance(self.state_, TableState):
            return np.array(self.state_.feature_names, dtype=object)
        return super().get_feature_names_out(input_features)

    def _known_columns(self, X: Any) -> TableRows:
        X = rows_of(X)
        columns: tuple[Column, ...] = self.state_.columns
        if isinstance(X, TableRows):
            if X.columns != columns:
                raise ValueError(
                    f"X has the columns {few_names([column.name for column in X.columns])}, read otherwise than in "
                    "fit; read new rows by the source of the training file (read_rows)."
                )
            return X
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)]))
        if not is_frame(X):
            X = self._by_position(X, names)
        elif (placed := columns_by_position(X, names)) is not None:
            X = placed
        return TableRows(columns, TableRows.of(X, columns).arrays, new=True)

    def _by_position(self, X: Any, names: list[str]) -> dict[str, Any]:
        """The columns of an array by the names of those given to fit."""
        try:
            array = None if issparse(X) else np.asarray(X)
        except ValueError:  # rows of unequal lengths
            array = None
        if array is None or array.ndim != 2:
            raise ValueError(
                f"X is a {type(X).__name__}, but this {type(self).__name__} was fitted on a table; pass a DataFrame "
                f"with the columns {few_names([column.name for column in self.state_.columns])}, or a 2-D array."
            )
        refuse_masked(X)
        if array.shape[1] != len(names):
            raise ValueError(
                f"X has {array.shape[1]} features, but {type(self).__name__} is expecting {len(names)} features as "
                "input."
            )
        return dict(zip(names, array.T, strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.state_.n_features_out


def table_of(X: Any) -> TableRows | None:
    """The rows of a DataFrame, its columns read by their cells; None for a matrix, as one of known numbers is."""
    return table_and_notes(X)[0]


def table_and_notes(X: Any) -> tuple[TableRows | None, tuple[str, ...]]:
    """What ``table_of`` returns, and a note on each column that is left out or read in a way to be checked."""
    if isinstance(X, TableRows):
        return X, ()
    if not is_frame(X):
        return _with_unknown(X), ()
    table = {name: FrameColumn(cells) for name, cells in named_columns(X).items()}
    if all(_is_known(column.array) for column in table.values()):
        return None, ()
    readings = read_columns({name: column.coded[::-1] for name, column in table.items()}, missing=())
    if faults := few_notes((each.name, f"column {each.name!r} {each.problem}") for each in readings if each.problem):
        raise ValueError(f"X cannot be encoded: {'; '.join(faults)}. Leave these columns out.")
    columns = [each.column for each in readings if each.column is not None]
    if not columns:
        notes = few_notes((each.name, f"{each.name}: {each.words}") for each in readings)
        raise ValueError(f"X has no column that is a feature: {'; '.join(notes)}.")
    rows = TableRows(columns, [column.parse(*table[column.name].coded[::-1]) for column in columns])
    return rows, tuple(few_notes((each.name, each.note) for each in readings if each.note))


def _is_known(array: np.ndarray | None) -> bool:
    return array is not None and not (array.dtype.kind == "f" and np.isnan(array).any())


def _with_unknown(X: Any) -> TableRows | None:
    """The rows of an array of numbers some of which are NaN, each column a number; None for any other array."""
    if issparse(X) or np.ma.isMaskedArray(X) or not isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        array = np.asarray(X)
        array = array.astype(np.float64) if array.dtype == object else array
    except (ValueError, TypeError, OverflowError):  # texts, dates, rows of unequal lengths
        return None
    if array.ndim != 2 or array.dtype.kind != "f" or not np.isnan(array).any() or np.isinf(array).any():
        return None
    return TableRows([Column(f"x{j}", "number") for j in range(array.shape[1])], list(array.T.astype(np.float64)))
