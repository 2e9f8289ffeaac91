"""Which methods have at most as many components as there are labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ..base import SpectralEmbedder
from ..wrapper import Wrapper
from .around import Around

_BOUNDED: dict[str, bool] = {}


def bounded_by_labels(method: Any) -> bool:
    """Whether a method has at most as many components as there are labels.

    A method is asked once, by a fit on a few rows of three labels; a kernel, leaves or a scaling are as the method on
    them.

    Parameters
    ----------
    method : transformer

    Examples
    --------
    >>> from proxembed import MVMD, OPLS, Kernelized
    >>> from proxembed.methods.label_bounds import bounded_by_labels
    >>> bounded_by_labels(Kernelized(OPLS())), bounded_by_labels(MVMD())
    (True, False)
    """
    while isinstance(method, Wrapper | Around):
        method = method.member("method") if isinstance(method, Wrapper) else method.member()
    if not isinstance(method, SpectralEmbedder) or method.label_kind is None:
        return False
    model = clone(method).set_params(n_components=5)
    if (name := repr(model)) not in _BOUNDED:
        draw = np.random.default_rng(0)
        y = np.arange(24) % 3 if method.label_kind == "single" else draw.random((24, 3)) < 0.5
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(draw.normal(size=(24, 6)), y)
                _BOUNDED[name] = False
            except ValueError:
                _BOUNDED[name] = True
    return _BOUNDED[name]
