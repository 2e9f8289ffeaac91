"""Layouts of a part: one fit of a method serves all maps that differ in the weight of the features."""

import numpy as np
from sklearn.base import BaseEstimator, clone

from proxembed.estimator.base import Embedder
from proxembed.execute.ledger import digest
from proxembed.methods.layout import Layout, PlacedRows

from .part import Part


def settings_digest(estimator: Embedder) -> str:
    """A hash of an unfitted method: its class, its parameters, and those of the methods inside it, arrays in full."""
    each = sorted(estimator.get_params(deep=True).items())
    values = [type(value).__name__ if isinstance(value, BaseEstimator) else value for _, value in each]
    return digest(type(estimator).__name__, [name for name, _ in each], values)


def fitted_layout(layout: Layout, part: Part) -> Layout:
    """The layout, fitted to the training rows: one fit of its method serves all maps of a part but honest ones, such as
    those that differ in the weight of the features."""
    layout, (X, y, X_held_out) = clone(layout), part.rows_for(layout)
    if layout.method is None or layout.honest:
        return layout.fit(X, y, groups=part.groups)
    key = settings_digest(layout.method)
    if key not in part.laid_out:
        method, new = layout.member().fit(X, y), X_held_out.astype(np.float64)
        Z, Z_new = (np.asarray(method.transform(rows), dtype=np.float64) for rows in (X, new))
        part.laid_out[key] = PlacedRows(X, Z, new, Z_new)
    return layout.fit_around(part.laid_out[key], X, y)


def map_of(layout: Layout, part: Part) -> tuple[np.ndarray, np.ndarray]:
    """The places of the training and the held-out rows by a fitted layout."""
    X, _, X_held_out = part.rows_for(layout)
    Z, Z_held_out = (np.asarray(layout.transform(rows), dtype=np.float64) for rows in (X, X_held_out))
    return Z, Z_held_out
