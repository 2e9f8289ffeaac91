"""Parameters of a kind of scaling or relation: those that its function takes, no others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def check_params(kind: str, function: Callable[..., Any], params: dict[str, Any]) -> None:
    """Refuse parameters that the function of this kind does not take, and the absence of those it needs.

    Examples
    --------
    >>> check_params("gaussian", lambda X, *, tau: X, {"tau": 1.0})
    """
    known = {k: v for k, v in inspect.signature(function).parameters.items() if v.kind is v.KEYWORD_ONLY}
    for name in params:
        if name not in known:
            allowed = ", ".join(known) or "no parameter"
            raise ValueError(f"{name}={params[name]!r} is not a parameter of kind {kind!r}, which takes: {allowed}.")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in params:
            raise ValueError(f"kind {kind!r} needs the parameter {name}: pass {name}=...")
