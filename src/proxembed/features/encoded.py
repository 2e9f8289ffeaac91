"""Rows through a caller's own encoder: a clone is fitted on training rows, and what it gives is checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from proxembed.algebra.arrays.matrix import Matrix, float_matrix
from proxembed.execute.executor import callers_configuration
from proxembed.tables.raw_rows import RawRows, encoder_text
from proxembed.targets.outputs import Outputs
from proxembed.targets.targets import Targets

SHOWN = 200  # characters of an encoder, and of its own message
EXAMPLE = 1000  # encoded rows, that show sizes and kinds of scaling


def check_encoder(encoder: Any) -> Any:
    """The encoder, if it is an unfitted transformer that can be cloned; else a TypeError."""
    needed = ("fit", "transform", "get_params")
    if isinstance(encoder, type) or not all(hasattr(encoder, name) for name in needed):
        raise TypeError(
            f"encoder={_short(encoder)} is not a transformer of scikit-learn; pass one with fit, transform and "
            "get_params, such as StandardScaler(), or a Pipeline of some."
        )
    return encoder


def is_supervised(encoder: Any) -> bool:
    """Whether an encoder, or one inside it, learns from targets: its tags require some, ``fit`` has no default for y,
    or it selects features by a score or a model (tags of scikit-learn do not always tell)."""
    parts = [encoder, *encoder.get_params(deep=True).values()]
    return any(_learns(part) for part in parts if hasattr(part, "transform") and not isinstance(part, type))


def _learns(part: Any) -> bool:
    from sklearn.feature_selection import SelectorMixin, VarianceThreshold

    y = inspect.signature(part.fit).parameters.get("y") if hasattr(part, "fit") else None
    asks = y is not None and y.default is inspect.Parameter.empty
    selects = isinstance(part, SelectorMixin) and not isinstance(part, VarianceThreshold)
    return bool(asks or selects or hasattr(part, "__sklearn_tags__") and get_tags(part).target_tags.required)


def target_array(targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """The rows whose targets are all known, and these targets as an encoder takes them: classes or one number per row,
    of shape (n,), else an array of shape (n, c)."""
    rows = np.flatnonzero(targets.rows_known)
    own = targets.take(rows)
    if isinstance(own, Outputs):
        y = np.asarray(own)
        return rows, y[:, 0] if y.shape[1] == 1 else y
    if own.one_hot and own.c > 1:
        return rows, np.asarray(own.classes_)[own.Y.tocsr().indices]  # type: ignore[attr-defined]  # labels
    Y = own.Y.toarray()
    return rows, Y[:, 0] if Y.shape[1] == 1 else Y


def encoder_fit(rows: RawRows, targets: Callable[[], Targets], sample_weight: np.ndarray | None = None) -> Any:
    """A clone of the encoder, fitted on the rows; one that needs targets on those whose targets are all known. It gets
    the weights of the rows if its ``fit`` takes ``sample_weight``."""
    fitted, given, weighs = clone(rows.encoder), [rows.X], encoder_weighs(rows.encoder)
    if is_supervised(rows.encoder):
        known, y = target_array(targets())
        given = [rows[known].X, y]
        sample_weight = None if sample_weight is None else sample_weight[known]
    fit = partial(fitted.fit, sample_weight=sample_weight) if weighs and sample_weight is not None else fitted.fit
    _called(rows.encoder, fit, *given)
    return fitted


def encoder_weighs(encoder: Any) -> bool:
    """Whether the ``fit`` of an encoder takes weights of rows; that of a Pipeline does not."""
    return has_fit_parameter(encoder, "sample_weight")


def encoder_apply(fitted: Any, X: Any) -> Matrix:
    """What a fitted encoder makes of rows, as a finite array or CSR array of as many rows."""
    given = _called(fitted, fitted.transform, X)
    try:
        made = float_matrix(given if sp.issparse(given) else np.asarray(given))
    except (TypeError, ValueError) as error:
        raise ValueError(f"encoder={_short(fitted)} gives no matrix of numbers: {error}") from error
    if made.shape[0] != X.shape[0] or not made.shape[1]:
        raise ValueError(
            f"encoder={_short(fitted)} gave an array of shape {made.shape} for {X.shape[0]} rows; it must give one row "
            "of features for each row."
        )
    values = made.data if sp.issparse(made) else made
    if not np.isfinite(values).all():
        row = int((~np.isfinite(made.tocoo().data if sp.issparse(made) else made)).argmax())
        row = int(made.tocoo().row[row]) if sp.issparse(made) else row // made.shape[1]
        raise ValueError(
            f"encoder={_short(fitted)} gave NaN or infinite values (first: row {row} of {made.shape[0]}); let it fill "
            "them in, for example by SimpleImputer()."
        )
    return made


def with_encoder(dataset: Any, encoder: Any, frame: Any = None) -> Any:
    """A data set whose rows go through an encoder; ``frame`` is the DataFrame that it was read from, if any."""
    if encoder is None:
        return dataset
    if isinstance(dataset.X, RawRows):
        raise ValueError("the data set has an encoder already; leave encoder out.")
    rows = RawRows.of(dataset.X, check_encoder(encoder), dataset.feature_names, frame)
    note = f"the rows go through the encoder {_short(encoder)}, fitted on training rows alone"
    if dataset.sample_weight is not None and not encoder_weighs(encoder):
        note += ", each of which counts once there: its fit takes no sample_weight"
    return replace(dataset, X=rows, feature_names=rows.names, notes=(*dataset.notes, note))


def encoded(rows: RawRows, targets: Callable[[], Targets]) -> Matrix:
    """The rows by an encoder fitted on them."""
    return encoder_apply(encoder_fit(rows, targets), rows.X)


def with_example(rows: RawRows, targets: Callable[[], Targets]) -> RawRows:
    """The rows with an example of what an encoder fitted on them gives: sizes and kind of the features."""
    found = encoded(rows, targets)
    step = max(1, -(-found.shape[0] // EXAMPLE))
    return RawRows(rows.X, rows.encoder, rows.names, found[::step], rows.of_cells)


def stacked(*parts: Matrix) -> Matrix:
    """Encoded rows of several parts, one below the other."""
    return sp.csr_array(sp.vstack(parts)) if any(map(sp.issparse, parts)) else np.vstack(parts)


def _called(encoder: Any, function: Callable[..., Any], *given: Any) -> Any:
    """What an encoder's function gives under the configuration of the caller; its errors name the encoder."""
    try:
        with callers_configuration():
            return function(*given)
    except (MemoryError, Warning):
        raise
    except Exception as error:  # other libraries raise errors of any kind
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:SHOWN]
        raise ValueError(f"encoder={_short(encoder)} failed on {given[0].shape[0]} rows ({reason}).") from error


def _short(encoder: Any) -> str:
    text = encoder_text(encoder)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."
