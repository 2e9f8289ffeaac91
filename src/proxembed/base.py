"""Embedder: what every estimator shares (checks, registry, tags, transform); SpectralEmbedder.fit: template, solve,
store.

A method is a class statement: its declared parameters and ``template(rows)``. The constructor, the range checks, the
Parameters docs, the command-line name and the rows in the common tests come from the statement.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from typing import Any, ClassVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .algebra.arrays.centred import CentredMatrix
from .algebra.arrays.parallel import one_pool
from .algebra.pencil.eigen import MAX_COMPONENTS, SOLVERS, Solution, rescaled, solve
from .algebra.pencil.symmetric import fix_signs
from .algebra.template import Template
from .citation import citation, cited_keys
from .explain import Explanation, explanation, label_loadings
from .params import check_params, param, refuse_bare_overrides, shown, with_parameters
from .rows import Rows
from .targets.labels import LabelMatrix
from .validation import checked_features, in_range, learning, refuse_extreme

_REGISTRY: dict[str, type[Embedder]] = {}


def registry() -> dict[str, type[Embedder]]:
    """The public estimators by name, in alphabetical order; the rooms that state them are loaded by the first call."""
    import_module("proxembed.catalogue")
    return dict(sorted(_REGISTRY.items()))


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(param, field))
@dataclass(kw_only=True, eq=False, repr=False)
class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of every estimator: constructor from declared parameters, input checks, registry, tags, citation."""

    labels: ClassVar[str | None] = None
    attributes: ClassVar[str] = ""  # numpydoc lines of what every method of a family learns, told beside its own
    keeps_unknown: ClassVar[bool] = False  # True: rows with unknown labels take part in fit

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        refuse_bare_overrides(cls)
        own_doc = cls.__dict__.get("__doc__")
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        cls.__doc__ = own_doc
        if abstract or cls.__name__.startswith("_"):
            return
        known = _REGISTRY.get(cls.__name__)
        if known is not None and known.__module__ != cls.__module__:
            raise TypeError(
                f"An estimator named {cls.__name__} is already registered by {known.__module__}; choose another name."
            )
        _REGISTRY[cls.__name__] = cls
        if cls.__doc__ is not None:
            cls.__doc__ = with_parameters(cls)

    @property
    def label_kind(self) -> str | None:
        """What y must be: None (ignored), "single" (one class a row) or "multi"."""
        return type(self).labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.label_kind is not None
        tags.target_tags.multi_output = self.label_kind == "multi"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @classmethod
    def citation(cls) -> str:
        """The BibTeX entries of the method and its paper.

        >>> from proxembed import OPLS
        >>> OPLS.citation().splitlines()[0].startswith("@")
        True
        """
        return citation(cited_keys(cls))

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """The time of a fit, with BLAS pools out of each other's way."""
        with learning(self), one_pool:
            yield

    def _input(self, X, reset: bool):
        """X checked and as float64/float32, dense or csr_array; never the caller's object changed."""
        return checked_features(self, X, reset=reset)

    def _rows(self, X, y) -> Rows:
        """All checking, once: parameters, X, y, their lengths, the unknown and what the method can take."""
        check_params(self)
        name = type(self).__name__
        if self.label_kind is None:
            return Rows(self._input(X, reset=True), None)
        if y is None:
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        X = self._input(X, reset=True)
        labels = LabelMatrix.of(y)
        if labels.n != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
                f"y has {labels.n}."
            )
        if labels.unknown is not None and not self.keeps_unknown:
            X, labels = self._without_unknown(X, labels)
        labels = self._columns(labels)
        known = labels if labels.unknown is None else labels.take(np.flatnonzero(labels.rows_any))
        self._check_labels(known)
        self.classes_ = labels.classes_
        return Rows(X, labels)

    def _columns(self, labels: LabelMatrix) -> LabelMatrix:
        """The labels that take part: those that some row has."""
        return labels.drop_empty()

    def _without_unknown(self, X, labels: LabelMatrix):
        keep = np.flatnonzero(labels.rows_known)
        dropped = labels.n - len(keep)
        if len(keep) < 2:
            raise ValueError(
                f"{type(self).__name__} cannot use rows with unknown labels, and only {len(keep)} of {labels.n} rows "
                "are fully known. Use a semi-supervised method or label more rows."
            )
        warnings.warn(
            f"{type(self).__name__} has no rule for unknown labels: {dropped} of {labels.n} rows hold one and "
            "are left out of fit.",
            UserWarning,
            stacklevel=4,
        )
        return X[keep], labels.take(keep)

    def _check_labels(self, labels: LabelMatrix) -> None:
        name = type(self).__name__
        self._check_differ(labels)
        if self.label_kind == "single" and not labels.one_hot:
            several = int(np.count_nonzero(labels.m > 1))
            what = (
                f"{several} rows have several labels" if several else f"{int((labels.m == 0).sum())} rows have no label"
            )
            raise ValueError(
                f"{name} takes one class a row, but {what}. Use MESD({name}()), which takes any label sets."
            )

    def _check_differ(self, labels: LabelMatrix) -> None:
        if not labels.differ:
            raise ValueError(
                f"{type(self).__name__} needs labels that differ between rows, but y holds one class only (every row "
                "has the same labels). Pass rows of at least two classes."
            )


class Nested:
    """An estimator whose components come from one eigenproblem: the first k are those of a fit with k components."""

    n_components_: int

    def truncate(self, k: int):
        """The fitted estimator with its first k components only: one solve serves all k."""
        check_is_fitted(self, "n_components_")
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= self.n_components_:
            raise ValueError(
                f"k={shown(k)} is not allowed: this fitted {type(self).__name__} has 1 to {self.n_components_} "
                "components."
            )
        short = copy.copy(self)
        short.n_components = short.n_components_ = k
        for name in ("components_", "eigenvalues_", "label_loadings_"):
            if hasattr(self, name):
                setattr(short, name, getattr(self, name)[:k])
        self._shorten(short, k)
        return short

    def _shorten(self, short: Any, k: int) -> None:
        """Cut what else a method has learned, in its copy of k components."""

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


class SpectralEmbedder(Nested, Embedder, abstract=True):
    """A method that is its template: max tr P'ApP subject to P'BpP = I. [mu2012mesd]"""

    direct: ClassVar[bool] = False
    combines: ClassVar[bool] = False  # True: made of several methods, each of which is lifted by itself
    positive_only: ClassVar[bool] = False
    ridge: ClassVar[float | str | None] = 0.0
    ridge_scale: ClassVar[str | None] = "trace"
    criterion: ClassVar[str] = "ratio_trace"

    n_components: int | float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc="Components k; None: the method's natural number (at most 100); "
        "a float in (0, 1): this share of the positive spectrum.",
    )
    scaling: str = param(
        default="template",
        choices=("template", "orthonormal", "eigenvalue", "unit"),
        doc="Columns of P: P'BpP = I, the Q factor of P, times the root of the eigenvalue, or of unit length.",
    )
    solver: str = param(
        default="auto", choices=SOLVERS, doc="Route of the eigenproblem; auto follows structure and sizes."
    )

    def template(self, rows: Rows) -> Template:
        """The pair (A, B) of the method: the formula, nothing else."""
        raise TypeError(f"{type(self).__name__} must define template(rows).")

    def lift(self, X):
        """The matrix that is projected: X itself, or what a combinator makes of it."""
        return X

    def _width(self, rows: Rows) -> int:
        """The features that the lifted matrix stands for, by which the unit of the ridge counts: those given to fit, or
        the prototypes of a kernel."""
        return rows.X.shape[1]

    def finish(self, P: np.ndarray, R: CentredMatrix) -> np.ndarray:
        """A map back of the eigenvectors, where a method was restated in other variables; R as it was centred."""
        return P

    def fit(self, X, y=None):
        """Find the projection.

        X: (n, d) array or CSR of float32 or float64. y: labels in any form of LabelMatrix; ignored by unsupervised
        methods. Returns self. Raises ValueError with the argument, what is allowed and the remedy.
        """
        with self._learning():
            self._resolve()
            rows = self._rows(X, y)
            chosen = self._chosen(self._solved(rows), rows)
            self._store(chosen, rows)
        self.n_components_ = len(chosen.eigenvalues)
        return self

    def _resolve(self) -> None:
        """Make ready the methods that this one is made of, before anything is checked."""

    def _solved(self, rows: Rows) -> Solution:
        known = rows.labels is not None and rows.labels.unknown is None
        template, R = self._stated(rows), self.lift(rows.X)
        if R is not rows.X:
            refuse_extreme(R, "the features that X is mapped to", "Scale X, such as to unit variance.")
        return solve(
            template,
            R,
            self._request(rows),
            *self._ridge_settings(),
            solver=self.solver,
            criterion=self._criterion(),
            positive_only=self.positive_only and self._wanted() is None,
            also=[rows.labels.Y] if known else [],
            width=self._width(rows),
        )

    def _stated(self, rows: Rows) -> Template:
        """The template, or an error where a share of its spectrum is asked for and the small eigenvalues are wanted."""
        template, k = self.template(rows), self._asked()
        if template.sense < 0 and not self.positive_only and isinstance(k, float) and 0 < k < 1:
            raise ValueError(
                f"{type(self).__name__}: n_components={k!r} is not allowed; the small eigenvalues that are wanted here "
                "hold no share of a spectrum: pass an integer, or None for the natural number."
            )
        return template

    def transform(self, X):
        """The embedding of rows X, (m, d) to (m, k), in X's float type.

        Z = (R - 1 mean') P; a method that places the rows themselves gives a row seen in training its own embedding and
        places others by its rule for new rows.
        """
        check_is_fitted(self, "n_components_")
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._embed(X)
        return in_range(Z, X, left_out=self.direct)

    def _embed(self, X) -> np.ndarray:
        return CentredMatrix(self.lift(X), self.mean_).dot(self.components_.T)

    def truncate(self, k: int):
        """The fitted estimator with its first k components only: one solve serves all k."""
        check_is_fitted(self, "n_components_")
        if self._criterion() == "trace_ratio":
            raise ValueError('Solutions of criterion="trace_ratio" are not nested: fit again with n_components=k.')
        return super().truncate(k)

    def explain(self, component: int = 0, n_features: int = 10, n_labels: int = 10) -> Explanation:
        """Signed top features of a component and the labels it serves, strongest first."""
        check_is_fitted(self, "components_")
        return explanation(self, component, n_features, n_labels)

    def _request(self, rows: Rows) -> int | None:
        """How many components to ask the solver for; None: all, because a share of the spectrum is wanted."""
        k = self._asked()
        if isinstance(k, float):
            if not 0.0 < k < 1.0:
                raise ValueError(
                    f"{type(self).__name__}: n_components={k!r} is not allowed; it must be an integer >= 1, "
                    "a float in (0, 1) or None."
                )
            return None
        return self._natural(rows) if k is None else k

    def _natural(self, rows: Rows) -> int:
        return natural_components(rows)

    def _wanted(self) -> int | float | None:
        return self.n_components

    def _asked(self) -> int | float | None:
        """``n_components`` as Python's own number, whatever numeric type it came in."""
        k = self._wanted()
        return k if k is None else int(k) if isinstance(k, Integral) else float(k)

    def _ridge_settings(self) -> tuple[float | str, str]:
        return self.ridge, self.ridge_scale

    def _criterion(self) -> str:
        return self.criterion

    def _chosen(self, found: Solution, rows: Rows) -> Solution:
        """The solution cut to what was asked for, or an error that names the bound."""
        k, bound = self._asked(), found.bound
        if isinstance(k, float):
            spectrum = np.clip(found.spectrum, 0.0, None)
            return found.first(int(np.searchsorted(np.cumsum(spectrum), k * spectrum.sum())) + 1)
        if k is None:
            return found.first(max(1, found.positive) if self.positive_only else len(found.eigenvalues))
        if k > bound:
            raise ValueError(
                f"n_components={k} is more than the {bound} components that {type(self).__name__} has on these data "
                f"(its rank bound). Use n_components <= {bound}, or None for the natural number."
            )
        return found.first(k)

    def _store(self, found: Solution, rows: Rows) -> None:
        self.eigenvalues_ = found.sense * found.eigenvalues
        self.solver_ = found.solver
        P = rescaled(self.finish(found.P, found.problem.rows), found.eigenvalues, self.scaling, found.sense)
        self.components_ = np.ascontiguousarray(fix_signs(P).T)
        self.mean_ = found.mean if found.mean is not None else np.zeros(self.components_.shape[1])
        self.ridge_ = found.ridge
        if rows.labels is not None:
            self.label_loadings_ = label_loadings(*_labelled(found.problem.rows, rows.labels), self.components_)


def _labelled(rows: CentredMatrix, labels: LabelMatrix) -> tuple[CentredMatrix, LabelMatrix]:
    """The rows whose labels are all known, with their labels."""
    if labels.unknown is None:
        return rows, labels
    index = np.flatnonzero(labels.rows_known)
    return rows.take(index), labels.take(index)


def natural_components(rows: Rows) -> int:
    """2 for unsupervised maps, the rank of the labels for the others, at most 100 and at most what the sizes allow."""
    natural = 2 if rows.labels is None else min(rows.labels.c, MAX_COMPONENTS)
    if rows.labels is not None and rows.labels.c <= 10 * MAX_COMPONENTS:
        natural = min(rows.labels.rank, MAX_COMPONENTS)
    return max(1, min(natural, *rows.X.shape))


class PencilEmbedder(SpectralEmbedder, abstract=True):
    """A spectral method with a constraint operator, hence a ridge."""

    ridge: float | str = param(
        default="auto",
        low=0,
        choices=("auto",),
        search="ridge",
        doc="Ridge on the constraint; auto: least leave-one-out error of regressing the labels on X.",
    )
    ridge_scale: str = param(
        default="trace",
        choices=("trace", "absolute"),
        doc="Unit of the ridge: the trace of the constraint over min(n, d), or 1.",
    )
