"""Numbers of components: a method with k of them, within the bound that its labels set."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ..base import SpectralEmbedder
from ..wrapper import TemplateWrapper
from .around import ComponentWrapper

_BOUNDED: dict[str, bool] = {}


def embedded(method: Any, k: int | None, X: Any, y: Any, X_new: Any) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of the rows of a fit and of new rows, by a clone with k components (None: the natural number).

    Raises FloatingPointError where one of them holds NaN or infinity.
    """
    model = clone(method).set_params(n_components=k)
    Z = np.asarray(model.fit_transform(X, y), dtype=np.float64)
    Z_new = np.asarray(model.transform(X_new), dtype=np.float64)
    if not (np.isfinite(Z).all() and np.isfinite(Z_new).all()):
        raise FloatingPointError("the embedding holds NaN or infinity")
    return Z, Z_new


def with_size(method: Any, k: int | None) -> Any:
    """An unfitted copy of a method with k components (None: the natural number), where it has a choice of them."""
    found = clone(method)
    return found.set_params(n_components=k) if "n_components" in found.get_params(deep=False) else found


def bounded_by_labels(method: Any) -> bool:
    """Whether a method has at most as many components as there are labels.

    A method is asked once, by a fit on a few rows of three labels; a kernel, leaves or a scaling are as the method on
    them.
    """
    while isinstance(method, TemplateWrapper | ComponentWrapper):
        method = method.member()
    if not isinstance(method, SpectralEmbedder) or method.traits.labels is None:
        return False
    model = clone(method).set_params(n_components=5)
    if (name := repr(model)) not in _BOUNDED:
        draw = np.random.default_rng(0)
        y = np.arange(24) % 3 if method.traits.labels == "single" else draw.random((24, 3)) < 0.5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(draw.normal(size=(24, 6)), y)
                _BOUNDED[name] = False
            except ValueError:
                _BOUNDED[name] = True
    return _BOUNDED[name]


def fitted_within_bound(method: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """A fitted clone and its embedding of X; where a part of the rows lacks components, with the natural number.

    The components of a supervised method are bounded by the labels that its rows hold, of which a part may miss some.
    """
    name = f"{method.steps[-1][0]}__n_components" if isinstance(method, Pipeline) else "n_components"
    model = clone(method)
    try:
        return model, np.asarray(model.fit_transform(X, y), dtype=np.float64)
    except ValueError:
        if model.get_params().get(name) is None:
            raise
    model = clone(method).set_params(**{name: None})
    return model, np.asarray(model.fit_transform(X, y), dtype=np.float64)
