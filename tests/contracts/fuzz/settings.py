"""Values of parameters, as expressions: what each declaration allows, and what nobody should pass."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

import proxembed
from contracts.estimators import public
from proxembed.estimator.base import Embedder
from proxembed.params import Integers, Log, Param, declared

NAMES = {"np": np, "nan": np.nan, "inf": np.inf, "Fraction": Fraction, "Decimal": Decimal}


def nothing(*given: Any, **named: Any) -> None:
    """A function that is no kernel, no measure and no rule."""


def holes(*given: Any, **named: Any) -> np.ndarray:
    """A function that gives NaN."""
    return np.full((3, 3), np.nan)


NAMES |= {"nothing": nothing, "holes": holes}
NAMES |= {cls.__name__: cls for cls in public()}
# Settings under which a fit takes milliseconds; a case may override them.
QUICK = {
    "DEFC": {"max_evals": "2", "cv": "2"},
    "EmbeddingSearch": {"methods": "['pca']", "max_trials": "1", "cv": "2"},
    "Thresholded": {"cv": "2"},
    # A number of plain sweeps: neither their end nor the length of their steps depends on other labels or rounding.
    **dict.fromkeys(("BSML", "BSSML", "VariationalProbit"), {"max_iter": "3", "tol": "0.0", "accelerate": "False"}),
    "ForestLeaves": {"n_estimators": "5"},
    "Views": {"n_estimators": "5"},
    "SSDRMC": {"max_iter": "2", "label_threshold": "0.5"},
    **dict.fromkeys(("MLGFHF", "MLGRF", "MLLGC", "SMSE"), {"decision": "'fixed'"}),
}
ODD = (
    "None",
    "True",
    "False",
    "0",
    "1",
    "-1",
    "2",
    "3.0",
    "0.5",
    "-0.5",
    "1.5",
    "10**9",
    "2**31",
    "2**63",
    "10**400",
    "-10**400",
    "1e308",
    "1e-308",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "1j",
    "Fraction(1, 3)",
    "Fraction(10**400, 3)",
    "Decimal('0.5')",
    "np.float32(0.5)",
    "np.float64(nan)",
    "np.int8(3)",
    "np.uint64(2**63)",
    "np.bool_(True)",
    "np.array(2)",
    "np.array([1, 2])",
    "np.array([])",
    "'no such thing'",
    "''",
    "'a\\0'",
    "b'auto'",
    "np.str_('auto')",
    "[]",
    "[1, 'a']",
    "{}",
    "{'Q': 1}",
    "set()",
    "(1.0, nan, 1.0, 1.0, 1.0, 1.0)",
    "range(3)",
    "slice(None)",
    "...",
    "object()",
    "len",
    "nothing",
    "holes",
    "PCA",
    "PCA()",
    "FDA(ridge=10**400)",
    "LaplacianEigenmaps()",
    "Scaling()",
)
# Amounts of work: a large one that is permitted is worked through.
WORK = ("max_evals", "max_seconds", "max_trials", "patience", "max_iter", "n_init", "refine", "n_estimators")
OWN_WORK = ("n_jobs", "progress", "measure")  # processes, and functions whose errors are their author's
METHODS = {
    "method": ("FDA()", "MMC()", "LFDA()", "MFA()"),
    "supervised": ("OPLS()", "MESD(FDA())", "CCA()"),
    "unsupervised": ("PCA()", "LPP()", "LLE()"),
}


def value(expression: str) -> Any:
    """The value that an expression of this module stands for."""
    return eval(expression, dict(NAMES))


def parameters(cls: type) -> list[str]:
    """The names of the constructor's parameters."""
    return [name for name in inspect.signature(cls).parameters if name != "self"]


def declaration(cls: type, name: str) -> Param | None:
    """What an estimator declares of a parameter; None where it declares nothing."""
    return declared(cls)[name][1] if issubclass(cls, Embedder) else None


def _ends(spec: Param) -> list[str]:
    """The ends of a declared range and the numbers next to them."""
    found = []
    for end in (spec.low, spec.high, spec.above, spec.below):
        if end is not None:
            near = (
                (end - 1, end, end + 1)
                if spec.integer
                else (np.nextafter(end, -np.inf), end, np.nextafter(end, np.inf))
            )
            found += [repr(number if isinstance(number, int) else float(number)) for number in near]
    return found


def _laborious(spec: Param | None, number: Any) -> bool:
    """Whether a number asks for more than a little work and is not refused."""
    if not isinstance(number, Real) or isinstance(number, bool) or not number > 20:
        return False
    ends = [] if spec is None else [end for end in (spec.high, spec.below) if end is not None]
    return all(number <= end for end in ends)


def odd(cls: type, name: str) -> list[str]:
    """Expressions that a parameter is tried with: the ends of its range, and values of all kinds."""
    spec = declaration(cls, name)
    found = [*ODD, *([] if spec is None else _ends(spec))]
    if name in WORK:
        found = [expression for expression in found if not _laborious(spec, value(expression))]
    if name in OWN_WORK:
        found = ["0", "1.5", "nan", "'no such thing'", "[]", "object()", "1j"]
    return found


def allowed(cls: type, name: str) -> list[str]:
    """Expressions of ordinary values that a parameter takes; none for those whose values depend on much else."""
    spec = declaration(cls, name)
    if spec is None or name in ("algorithm", "random_state", "similarity", "hyper", "init", "n_components"):
        return []
    if name in METHODS:
        return list(METHODS[name])
    found = [repr(choice) for choice in spec.choices if choice not in ("precomputed", "geodesic", "opentsne", "umap")]
    if spec.kind is bool:
        found += ["True", "False"]
    if spec.numeric:
        tried = (1, 2, 3, 5) if spec.integer else (0.0, 0.1, 0.5, 1.0, 3.0)
        found += [repr(number) for number in (*tried, *_searched(spec.search)) if spec.permits(number)]
    return found


def _searched(search: Any) -> tuple:
    if isinstance(search, Integers | Log):
        return (search.low, search.high)
    return search if isinstance(search, tuple) else ()


def estimator(name: str, params: dict[str, str]):
    """An estimator of the package with parameters by expressions, quick where nothing else is asked for."""
    cls = getattr(proxembed, name)
    return cls(**{key: value(expression) for key, expression in (QUICK.get(name, {}) | params).items()})


def takes(built: Any) -> str | None:
    """The labels that an estimator takes: None, "single" or "multi"."""
    try:
        return built.traits.labels if isinstance(built, Embedder) else "multi"
    except Exception:  # a wrapper of what is no method: refused in fit, whatever y
        return "multi"
