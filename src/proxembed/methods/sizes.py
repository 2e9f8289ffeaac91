"""Numbers of components: a method with k of them, within the bound that its labels set."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.wrapper import TemplateWrapper

from .around import ComponentWrapper

_BOUNDED: dict[str, bool] = {}


def embedded(method: Any, X: Any, y: Any, X_new: Any) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of the rows of a fit and of new rows, by a fitted clone of a method or of a pipeline of them."""
    model = clone(method)
    Z = np.asarray(model.fit_transform(X, y), dtype=np.float64)
    return Z, np.asarray(model.transform(X_new), dtype=np.float64)


def embedded_within_bound(method: Any, X: Any, y: Any, X_new: Any) -> tuple[np.ndarray, np.ndarray]:
    """As ``embedded``, with the natural number of components where the rows of the fit lack some.

    The components of a supervised method are bounded by the labels that its rows hold, of which a part may miss some.
    """
    try:
        return embedded(method, X, y, X_new)
    except ValueError:
        if method.get_params().get(_size_of(method)) is None:
            raise
    return embedded(with_size(method, None), X, y, X_new)


def with_size(method: Any, k: int | None) -> Any:
    """An unfitted copy of a method or pipeline with k components (None: the natural number), if it has a choice."""
    found, name = clone(method), _size_of(method)
    return found.set_params(**{name: k}) if name in found.get_params() else found


def _size_of(method: Any) -> str:
    """The parameter that holds the number of components: of a pipeline that of its last step."""
    return f"{method.steps[-1][0]}__n_components" if isinstance(method, Pipeline) else "n_components"


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
