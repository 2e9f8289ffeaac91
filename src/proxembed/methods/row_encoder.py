"""RowEncoder: the first step of a model whose rows go through an encoder of the caller."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.matrix import Matrix, float_matrix
from proxembed.estimator.validation import refuse_masked
from proxembed.features.encoded import check_encoder, encoder_apply, encoder_fit, is_supervised
from proxembed.tables import RawRows, TableRows
from proxembed.tables.frames import is_frame, rows_of
from proxembed.tables.notes import few_names
from proxembed.tables.raw_rows import as_frame, as_numbers
from proxembed.tables.rows import matrix_by_name
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import Outputs
from proxembed.targets.reading import read_targets
from proxembed.targets.targets import Targets


class RowEncoder(TransformerMixin, BaseEstimator):
    """A transformer of the caller in front of a scaling: a clone of it is fitted on the rows given to ``fit``.

    Parameters
    ----------
    encoder : transformer or Pipeline of scikit-learn, unfitted

    Attributes
    ----------
    encoder_ : the fitted clone.
    columns_ : tuple of names of the columns of the raw rows.
    takes_frame_ : bool, whether the encoder takes a DataFrame.
    """

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = is_supervised(self.encoder)
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a clone of the encoder. X: RawRows, array or CSR array; y: targets in any form, for an encoder that needs
        some. sample_weight: (n,), how often each row counts, for an encoder that takes it; others fit each row once."""
        check_encoder(self.encoder)
        rows = X if isinstance(X, RawRows) else _raw_rows(X, self.encoder)
        self.columns_, self.takes_frame_, self.n_features_in_ = rows.names, rows.is_frame, rows.shape[1]
        self.of_cells_ = rows.of_cells
        self.encoder_ = encoder_fit(rows, lambda: _targets(y), sample_weight)
        return self

    def transform(self, X: Any) -> Matrix:
        """What the fitted encoder makes of rows, (m, e). X: RawRows, array, CSR array or DataFrame, by name; TableRows
        of numbers."""
        check_is_fitted(self, "encoder_")
        made = encoder_apply(self.encoder_, self._rows(X))
        self._n_features_out = made.shape[1]
        return made

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Matrix:
        """Fit, and return the encoded rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the encoded features: those that the encoder gives; the columns where it keeps their number."""
        check_is_fitted(self, "_n_features_out")
        names = list(self.columns_)
        try:
            found = np.asarray(self.encoder_.get_feature_names_out(None if self.takes_frame_ else names), dtype=object)
        except (AttributeError, ValueError, TypeError):  # it names none, or none after these columns
            found = np.array(names, dtype=object)
        if len(found) == self._n_features_out:
            return found
        return np.array([f"encoded{j}" for j in range(self._n_features_out)], dtype=object)

    def _rows(self, X: Any) -> Any:
        """New rows as the encoder takes them."""
        if isinstance(X, RawRows):
            return X.X
        X = X if isinstance(X, TableRows) else rows_of(X)
        if self.takes_frame_:
            return self._frame(X)
        if isinstance(X, TableRows):
            numbers = as_numbers(X)
            if numbers is None or tuple(numbers[1]) != self.columns_:
                raise ValueError(
                    f"X has the columns {few_names([column.name for column in X.columns])}; the encoder of this model "
                    f"takes the numbers {few_names(self.columns_)}."
                )
            return numbers[0]
        if is_frame(X):
            return matrix_by_name(X, self.columns_, unknown=True)
        refuse_masked(X)
        X = float_matrix(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )
        return X

    def _frame(self, X: Any) -> Any:
        """The columns of a DataFrame, as the rows of the fit had them; rows of a file as a DataFrame of their cells."""
        if isinstance(X, TableRows) is not self.of_cells_:
            fitted, given = ("the cells of a file", "a DataFrame") if self.of_cells_ else ("a DataFrame", "a file")
            raise ValueError(
                f"the encoder of this model was fitted on {fitted}, and X comes from {given}, whose cells differ (yes "
                f"and no are 1 and 0 in those of a file); pass rows of {fitted}."
            )
        X = as_frame(X) if self.of_cells_ else X
        labels = {str(label): label for label in X.columns} if hasattr(X, "iloc") else None
        if labels is None or (missing := [name for name in self.columns_ if name not in labels]):
            fault = "is none" if labels is None else f"lacks {few_names(missing)}"
            raise ValueError(
                f"the encoder of this model takes a pandas DataFrame with the columns {few_names(self.columns_)}, and "
                f"X {fault}."
            )
        return X[[labels[name] for name in self.columns_]]


def _raw_rows(X: Any, encoder: Any) -> RawRows:
    """An array, CSR array or table as rows before an encoder."""
    if isinstance(X, TableRows):
        return RawRows.of(X, encoder, [column.name for column in X.columns])
    names = [str(name) for name in X.columns] if hasattr(X, "iloc") else None
    X = X if names is not None or issparse(X) else float_matrix(X)
    return RawRows(X, encoder, names or [f"x{j}" for j in range(X.shape[1])])


def _targets(y: Any) -> Targets:
    """Targets in any form."""
    found = read_targets(y)
    return found if isinstance(found, Outputs) else LabelMatrix.of(y)
