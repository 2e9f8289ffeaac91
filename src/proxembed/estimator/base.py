"""Estimator: constructor, role, registry. Embedder: what every embedding shares (checks, tags, transform);
SpectralEmbedder.fit: prepare, template, lift, solve, finish.

A method is a class statement: its declared parameters and ``template(rows)``. The constructor, the range checks, the
Parameters docs, the command-line name and the rows in the common tests come from the statement.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import one_pool
from proxembed.algebra.arrays.centred import CentredMatrix, shows_entries, tall_dot
from proxembed.algebra.operators.of_features import refuse_lifted
from proxembed.algebra.pencil.deflation import with_null_directions
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS, SOLVERS, Solution, rescaled, solve, warn_near_collinear
from proxembed.algebra.pencil.kernel_rows import KernelRows, solve_kernel
from proxembed.algebra.pencil.symmetric import lead_signs
from proxembed.algebra.template import Template
from proxembed.blocks import blocks_of, transform_lazily
from proxembed.params import (
    WithoutRidge,
    check_params,
    complete_parameters,
    constant,
    declared,
    param,
    with_parameters,
)
from proxembed.targets.known import known_rows
from proxembed.targets.label_weights import label_weights
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import OutputReading, Outputs
from proxembed.targets.reading import read_targets
from proxembed.targets.targets import Output, Targets

from .callbacks import TakesCallbacks
from .explain import Explanation, citation, cited_keys, explanation, label_loadings
from .missing import missing_attribute
from .nested import Nested
from .online import DocumentedOnline
from .partial_fits import PartialFits
from .readout import ReadOut, projected_rows
from .reconstruct import Reconstructs
from .rows import Origin, Rows
from .sums import summed_rows
from .traits import Traits
from .validation import (
    all_finite,
    checked_features,
    in_range,
    learning,
    refuse_extreme,
    refuse_more_than_outputs,
    refuse_not_finite,
    refuse_numbers_for,
)
from .weights import WeightedRows, checked_weights, present_rows, refuse_weights, weighted_rows

ROOMS = ("methods", "classify", "evaluate", "study")  # with estimators
ROLES = ("method", "model", "features", "rival", "classifier", "search")
_REGISTRY: dict[str, type[Estimator]] = {}


@cache
def _room_modules() -> frozenset[str]:
    """Names of the modules of the rooms that state estimators; none is imported."""
    root = Path(__file__).parents[1]
    files = [file.relative_to(root.parent) for room in ROOMS for file in (root / room).rglob("*.py")]
    return frozenset(".".join(file.with_suffix("").parts) for file in files if file.stem != "__init__")


def registry(modules: Iterable[str] | None = None) -> dict[str, type[Estimator]]:
    """The registered estimators by name, in alphabetical order, once the rooms that state them are loaded; of these
    ``modules`` alone those that belong to a room."""
    for name in sorted(_room_modules() if modules is None else _room_modules().intersection(modules)):
        import_module(name)
    return dict(sorted(_REGISTRY.items()))


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(param, constant, field))
@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(DocumentedOnline, TakesCallbacks, BaseEstimator):
    """Base of every estimator that a user builds: constructor and documentation from declared parameters, registry. Its
    ``role`` is one of "method" (an embedding), "model" (an assembled embedding), "features" (what other estimators
    embed), "rival" (what an embedding must beat), "classifier" and "search"."""

    role: ClassVar[str]
    class_traits: ClassVar[Traits] = Traits(labels="multi")
    attributes: ClassVar[str] = ""  # numpydoc lines of what every estimator of a family learns, beside its own
    _own_traits: ClassVar[dict[str, Any]] = {}  # the keywords of the class statement
    _names_of_init: ClassVar[tuple[Any, list[str]]]  # the constructor and its parameters, of a class that was asked
    if TYPE_CHECKING:
        target_type: Any = param(default=None, doc="see ``complete_parameters``")

    def __init_subclass__(cls, abstract: bool = False, **own_traits: Any) -> None:
        super().__init_subclass__()
        for name in (each.name for each in fields(Traits)):
            if name in vars(cls) and not isinstance(vars(cls)[name], Field):
                keyword = f"{name}={vars(cls)[name]!r}"
                raise TypeError(f"{cls.__name__}.{name} is a trait: write `class {cls.__name__}(..., {keyword})`.")
        cls._own_traits = own_traits
        stated = ChainMap(*(vars(base).get("_own_traits", {}) for base in cls.__mro__))
        cls.class_traits = replace(Estimator.class_traits, **stated)
        takes_y = cls.class_traits.labels is not None
        here = set() if abstract else set(own_traits)
        complete_parameters(cls, takes_y and not abstract, "takes_shares" in here, "takes_numbers" in here)
        own_doc = cls.__dict__.get("__doc__")
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        cls.__doc__ = own_doc
        if abstract or cls.__name__.startswith("_"):
            return
        cls._register()
        if cls.__doc__ is not None:
            cls.__doc__ = with_parameters(cls)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, read once from the constructor: scikit-learn asks at every clone."""
        init, names = vars(cls).get("_names_of_init", (None, []))
        if init is not cls.__init__:
            names = super()._get_param_names()
            cls._names_of_init = cls.__init__, names
        return list(names)

    @property
    def traits(self) -> Traits:
        """The traits under these parameters: what the class states, and what follows from parameters and methods."""
        own, unknown = self.class_traits, getattr(self, "unknown", "drop")
        return own if own.unknown == unknown else replace(own, unknown=unknown)

    @property
    def reading_so_far(self) -> Any:
        """How y was read; None without y."""
        return vars(self).get("_reading_")

    @property
    def targets_(self) -> tuple[Output, ...]:
        """How each column of y was read: an ``Output`` with name, kind, columns of the factor, mean, scale (as
        ``StandardScaler`` has ``scale_``) and the number of unknown cells."""
        reading = vars(self).get("_reading_")
        if reading is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted to targets: it has no targets_.")
        return reading.outputs(vars(self).get("classes_"))

    @classmethod
    def _register(cls) -> None:
        known = _REGISTRY.get(cls.__name__)
        if known is not None and known.__module__ != cls.__module__:
            raise TypeError(
                f"An estimator named {cls.__name__} is already registered by {known.__module__}; choose another name."
            )
        role = getattr(cls, "role", None)
        if role not in ROLES:
            raise TypeError(f"{cls.__name__}: role={role!r} is not allowed; role must be one of {', '.join(ROLES)}.")
        if role in ("method", "model") and "n_components" not in declared(cls):
            raise TypeError(
                f"{cls.__name__} has no number of components, by which comparisons choose the size of every {role}; "
                f'declare n_components, or state role = "features".'
            )
        _REGISTRY[cls.__name__] = cls


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, labels=None, abstract=True):
    """Base of every embedding: input checks, tags, citation."""

    role = "features"

    if not TYPE_CHECKING:  # to a type checker every name would be an attribute

        def __getattr__(self, name: str) -> Any:
            return missing_attribute(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        labels = self.traits.labels
        tags.target_tags.required = labels is not None
        tags.target_tags.multi_output = labels == "multi"
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

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def resolve(self) -> None:
        """Check the parameters; a wrapper also sets copies of its methods."""
        check_params(self)

    def release(self) -> None:
        """Drop what only fit needs."""

    def _input(self, X: Any, reset: bool, product: bool = False) -> Any:
        """X checked and as float64/float32, dense or csr_array; never the caller's object changed."""
        return checked_features(self, X, reset=reset, product=product)

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        """All checking, once: parameters, X, y, their lengths, the unknown and what the method can take; ``weights``:
        how often each row occurs, by which means of unknown cells are taken."""
        check_params(self)
        name, traits = type(self).__name__, self.traits
        if traits.labels is None:
            X = self._input(X, reset=True)
            return Rows(X, None, origin=Origin(y, X.shape[0]))
        if y is None:
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        X = self._input(X, reset=True)
        labels = read_targets(y, self.target_type, self.target_scaling())
        labels = label_weights(labels, self.target_type == "real") if traits.takes_counts else labels
        self.check_kind(labels)
        self._reading_ = labels.reading
        if labels.n != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {X.shape[0]} rows, "
                f"y has {labels.n}."
            )
        origin, rule, own = Origin(y, labels.n), self.fill_rule(labels), weights
        if rule is not None and (part := labels.take(labels.rows_any)).unknown is not None:
            self._reading_ = replace(self._reading_, filled=part.reading.unknown, rule=rule)
        if labels.unknown is not None and not traits.keeps_unknown:
            keep = self._rows_of_fit(labels)
            X, origin = X[keep], origin.take(keep)
            labels, own = labels.take(keep), None if weights is None else weights[keep]
            labels = labels.fill_unknown(rule, X, own)
        labels = self._columns(labels, own)
        known = labels if labels.unknown is None else labels.take(np.flatnonzero(labels.rows_any))
        self.check_labels(known)
        if isinstance(labels, LabelMatrix):
            self.classes_ = labels.classes_
        self._reading_ = self._reading_.settled(labels)
        return Rows(X, labels, origin=origin)

    def target_scaling(self) -> Any:
        """How numbers in y are scaled."""
        return getattr(self, "scale_targets", "standard")

    def check_kind(self, targets: Targets) -> None:
        """Raise a ValueError for numbers or columns of several kinds, where this estimator takes labels only."""
        if isinstance(targets, LabelMatrix) or self.traits.takes_numbers:
            return
        refuse_numbers_for(self, targets)

    def output_readout(self) -> ReadOut | None:
        """The read-out of numbers that the fit has learned; None if there is none."""
        return vars(self).get("_readout_")

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        """What each feature of X contributes to combinations of the features that are made of it. ``weights`` is (k,
        r), one row per combination; returns (k, d). Where X itself is what is combined, these are the weights; a kernel
        or a relation to prototypes gives the effects of ``pairs.relation.relation_effects``, a forest those of its
        splits."""
        return weights

    def _columns(self, labels: Any, weights: np.ndarray | None) -> Any:
        """The targets that take part: labels that some row has, and columns that differ."""
        return labels.drop_empty()

    def fill_rule(self, labels: Targets) -> str | None:
        """How fit fills the unknown cells of these targets: "fill" or "mean"; None leaves them as they are."""
        traits = self.traits
        if labels.unknown is None or not traits.fills_unknown:
            return None
        automatic = "fill" if labels.numbers else "mean"
        return automatic if traits.unknown == "auto" else traits.unknown

    def _rows_of_fit(self, labels: Targets) -> np.ndarray:
        """The rows that take part in fit."""
        name, fills = type(self).__name__, self.traits.fills_unknown
        keep = np.flatnonzero(labels.rows_any if fills else labels.rows_known)
        if len(keep) < 2:
            what = f"have a known {labels.noun}" if fills else "are fully known"
            unused = f"without a known {labels.noun}" if fills else f"with unknown {labels.noun}s"
            raise ValueError(
                f"{name} cannot use rows {unused}, and only {len(keep)} of {labels.n} rows {what}. "
                f"{self._more_rows(labels)}"
            )
        return known_rows(name, labels, fills)

    def _more_rows(self, labels: Targets) -> str:
        """How more rows can take part in fit."""
        traits, numbers = self.traits, isinstance(labels, Outputs)
        if traits.takes_shares and not traits.fills_unknown and np.count_nonzero(labels.rows_any) > 1:
            more = "pass more rows with known cells" if numbers else "label more rows"
            return f"Use unknown='auto', which fills unknown cells, or {more}."
        return "Pass more rows with known cells." if numbers else "Use a semi-supervised method or label more rows."

    def check_labels(self, labels: Any) -> None:
        """Raise a ValueError for targets that this estimator cannot take."""
        name = type(self).__name__
        self._check_differ(labels)
        if self.traits.labels == "single" and not labels.one_hot:
            what = (
                f"{labels.several} rows have several labels" if labels.several else f"{labels.bare} rows have no label"
            )
            raise ValueError(
                f"{name} takes one class per row, but {what}. Use MESD({name}()), which takes any label sets."
            )

    def _check_differ(self, labels: Targets) -> None:
        if not labels.differ:
            raise ValueError(
                f"{type(self).__name__} needs labels that differ between rows, but y holds one class only (every row "
                "has the same labels). Pass rows of at least two classes."
            )


@dataclass(frozen=True)
class Prepared:
    """What ``prepare(rows)`` gives to the later steps of a fit; methods with more to hand on extend it. ``training`` is
    R, the matrix of fit's rows that is projected, and ``width`` the features that it stands for, by which the unit of
    the ridge counts. ``n_components``, ``ridge``, ``ridge_scale`` and ``criterion`` are those that hold in this fit.
    ``attributes``: what was learned of the rows, by the names of fitted attributes."""

    training: Any
    width: int
    n_components: int | float | None
    ridge: float | str | None
    ridge_scale: str | None
    criterion: str
    attributes: dict[str, Any] = field(default_factory=dict)

    def for_new_rows(self) -> Prepared:
        """What a fitted estimator holds of it: the settings, and what ``lift`` needs; nothing that only fit needs."""
        return Prepared(None, self.width, self.n_components, self.ridge, self.ridge_scale, self.criterion)


class SpectralEmbedder(PartialFits, Reconstructs, Nested, WithoutRidge, Embedder, abstract=True):
    """A method that is its template: max tr P'ApP subject to P'BpP = I. [mu2012mesd]

    ``fit`` is prepare, template, lift, solve, finish. A method defines ``template`` and, where it needs them, others of
    these hooks:

    prepare(rows)
        What later steps need to know of fit's rows, as a ``Prepared``; ``fit`` keeps it as ``prepared_``.
    template(rows)
        The pair (A, B): the formula, nothing else. Sets nothing; reads ``prepared_`` where it needs what was learned.
    lift(X)
        R, the matrix that is projected, of any rows. Sets nothing.
    finish(P, R, eigenvalues)
        The eigenvectors mapped back, where a method was restated in other variables.
    learn(rows, found)
        Fitted attributes beside the components, from the solution.
    natural_components(rows)
        The default number of components.
    check_rows(rows), check_labels(labels)
        Errors for, and warnings of, what the method cannot use.
    shorten(short, k)
        Cuts what else was learned, in a copy of k components.

    A base of methods that place the rows themselves defines ``solve(template, rows, k)``, ``store(found, rows)`` and
    ``embed(X)`` too; ``TemplateWrapper`` is the base of combinators.
    """

    role = "method"
    attributes = """
        components_ : (k, d) array, P'.
        mean_ : (d,) array subtracted before projection.
    """

    n_components: int | float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc="Components k; None: the method's natural number (at most 100); "
        "a float in (0, 1): this share of the positive spectrum.",
    )
    scaling: str = param(
        default="auto",
        choices=("auto", "template", "orthonormal", "eigenvalue", "unit"),
        doc="Columns of P: P'BpP = I, the Q factor of P, times the root of the eigenvalue, or of unit length. auto: "
        '"eigenvalue" for OPLS and its wrappers where y holds numbers, so that distances are those of predictions; '
        'else "template".',
    )
    solver: str = param(
        default="auto", choices=SOLVERS, doc="Route of the eigenproblem; auto follows structure and sizes."
    )

    def prepare(self, rows: Rows) -> Prepared:
        """What later steps need to know of fit's rows; changes nothing but the methods of a wrapper."""
        R, d = self.lift(rows.X), rows.X.shape[1]
        return Prepared(R, d, self.n_components, self.ridge, self.ridge_scale, self.criterion)

    def template(self, rows: Rows) -> Template:
        """The pair (A, B) of the method: the formula, nothing else."""
        raise TypeError(f"{type(self).__name__} must define template(rows).")

    def lift(self, X: Any) -> Any:
        """The matrix that is projected: X itself, or what a combinator makes of it."""
        return X

    def finish(self, P: np.ndarray, R: CentredMatrix, eigenvalues: np.ndarray) -> np.ndarray:
        """A map back of the eigenvectors, where a method was restated in other variables; R as it was centred."""
        return P

    def learn(self, rows: Rows, found: Solution) -> None:
        """Set what else is learned of the rows, from the solution."""

    def natural_components(self, rows: Rows) -> int:
        """The default number of components."""
        return natural_components(rows)

    def check_rows(self, rows: Rows) -> None:
        """Raise a ValueError for, or warn of, checked rows that this method cannot use."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the projection.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64, RowBlocks with y in the blocks, or dask array or DataFrame
            Blocks and dask collections (see ``RowBlocks.from_dask``) only where the method fits from sums.
        y : labels in any form of ``LabelMatrix``, or numbers where the method takes them
            Ignored by unsupervised methods.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent. Those of RowBlocks come with the blocks.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            With the argument, what is allowed and the remedy.
        """
        with self._learning():
            self.resolve()
            blocks = blocks_of(X, y, sample_weight)
            self.solve_rows(self._weighted(X, y, sample_weight) if blocks is None else summed_rows(self, blocks))
        return self

    @property
    def follows_from_sums(self) -> bool:
        """Whether the template of rows that are repeated is known from that of the distinct ones."""
        return self.traits.from_sums is not None

    @property
    def weighs_rows(self) -> bool:
        """Whether rows may have weights."""
        return self.follows_from_sums

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        """Distinct rows with the number of times that each occurs, as the steps of a fit take them."""
        return WeightedRows.of(rows, counts, self.traits.from_sums == "labels")

    @property
    def why_unweighted(self) -> str:
        """Why rows have no weights, where they have none."""
        return self.traits.needs_all_rows

    @property
    def merges_rows(self) -> bool:
        """Whether equal rows become one row of their number: where something is chosen by leaving rows out."""
        return self.weighs_rows and (self.counts_distinct or self.ridge == "auto")

    @property
    def counts_distinct(self) -> bool:
        """Whether something is found among distinct rows, such as neighbours: equal rows become one in any case."""
        return False

    def _weighted(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Checked rows, each with its weight."""
        merge = self.merges_rows
        if sample_weight is None:
            rows = self._validate(X, y)
            return weighted_rows(self, rows, None, merge) if merge else rows
        if not self.weighs_rows:
            refuse_weights(self)
        weights = checked_weights(sample_weight, X, y if self.traits.labels is not None else None)
        X, y, weights = present_rows(X, y, weights)
        rows = self._validate(X, y, weights)
        index = None if rows.origin is None else rows.origin.index
        return weighted_rows(self, rows, weights if index is None else weights[index], merge)

    def solve_rows(self, rows: Rows) -> None:
        """The steps of a fit on checked rows, parameters resolved."""
        self.check_rows(rows)
        self.make_ready(rows)
        chosen = self._chosen(self.solve(self._checked_template(rows), rows, self._n_to_solve(rows)))
        self.store(chosen, rows)
        self.learn(rows, chosen)
        self._learn_readout(rows, chosen)
        own: Any = self
        if hasattr(self, "mean_"):
            own.components_, own.mean_ = self.of_lifted(own.components_, own.mean_)
        self.release()
        self.n_components_ = len(chosen.eigenvalues)

    def _learn_readout(self, rows: Rows, found: Solution) -> None:
        """The read-out of numbers, by the ridge of the method (0 without a constraint)."""
        R = projected_rows(found.problem)
        numbers = isinstance(vars(self).get("_reading_"), OutputReading) and rows.labels is not None
        if R is None or not numbers or not hasattr(self, "components_") or R.shape[1] != self.components_.shape[1]:
            return
        template = getattr(found.problem, "template", None)
        ridge = 0.0 if template is not None and template.B is None else found.ridge
        self._readout_ = ReadOut.of(rows, R, self.components_.T, ridge)

    def make_ready(self, rows: Rows) -> Prepared:
        """``prepare(rows)``, kept as ``prepared_`` with the fitted attributes that it names."""
        self.prepared_ = self.prepare(rows)
        for name, value in self.prepared_.attributes.items():
            setattr(self, name, value)
        return self.prepared_

    def release(self) -> None:
        self.prepared_ = self.prepared_.for_new_rows()

    def solve(self, template: Template, rows: Rows, k: int | None) -> Solution:
        """The eigenvectors of the template, on R; k None: all, because a share of the spectrum is wanted."""
        prepared = self.prepared_
        if isinstance(prepared.training, KernelRows):
            ridge = rows.resolve_ridge(prepared.ridge, prepared.ridge_scale, template)
            plain = rows.route(self.solver) in ("auto", "thin") and prepared.criterion == "ratio_trace"
            plain = plain and not self.refines and not self.fills_null
            thin = solve_kernel if plain else None
            found = thin and thin(rows.weighted(template), prepared.training, k, *ridge, width=prepared.width)
            if found is not None:
                return found
            prepared = self.explicit()
        known = rows.labels is not None and rows.labels.unknown is None
        if prepared.training is not rows.X:
            refuse_lifted(template.A, template.B)
            refuse_extreme(prepared.training, "the features that X is mapped to", "Scale X, such as to unit variance.")
        template = rows.weighted(template.on(prepared.training))
        found = solve(
            template,
            prepared.training,
            k,
            *rows.resolve_ridge(prepared.ridge, prepared.ridge_scale, template),
            solver=rows.route(self.solver),
            criterion=prepared.criterion,
            positive_only=self.traits.positive_only and prepared.n_components is None,
            factors=[rows.labels.Y if rows.repeats is None else rows.repeats.of(rows.labels.Y)] if known else [],
            width=prepared.width,
        )
        if prepared.training is rows.X:
            warn_near_collinear(found, type(self).__name__, getattr(self, "feature_names_in_", None))
        found = self.refine(found, rows, k)
        return self.completed(found, rows) if self.fills_null else found

    @property
    def fills_null(self) -> bool:
        """Whether components of eigenvalue 0 follow those of a low rank, see ``OfLowRank``."""
        return False

    def completed(self, found: Solution, rows: Rows) -> Solution:
        """The solution with as many components of eigenvalue 0 as ``n_components`` asks for beyond the others."""
        k, own = self._n_components(), found.P.shape[1]
        if not isinstance(k, int) or k <= own or self.prepared_.criterion == "trace_ratio":
            return found
        if self.scaling_of(rows) == "eigenvalue":
            raise ValueError(
                'fill="null" has components of eigenvalue 0, which this scaling ends. Use scaling="template".'
            )
        return with_null_directions(found, k)

    @property
    def refines(self) -> bool:
        """Whether ``refine`` changes the solution."""
        return False

    def refine(self, found: Solution, rows: Rows, k: int | None) -> Solution:
        """What a method makes of the solution of its template, where it is not that solution; k as of ``solve``."""
        return found

    def explicit(self) -> Prepared:
        """``prepared_`` with the rows that are projected as a matrix, where their kernel alone was known."""
        return self.prepared_

    def of_lifted(self, components: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Components and mean for what ``lift`` returns of new rows, from those for the rows that were projected."""
        return components, mean

    def published(self, P: np.ndarray) -> np.ndarray:
        """P as ``components_`` has it in the end, by which signs are fixed."""
        return P

    def _checked_template(self, rows: Rows) -> Template:
        """The template, or an error where a share of its spectrum is asked for and the small eigenvalues are wanted."""
        template, k = rows.build_template(self), self._n_components()
        if template.sense < 0 and not self.traits.positive_only and isinstance(k, float) and 0 < k < 1:
            raise ValueError(
                f"{type(self).__name__}: n_components={k!r} is not allowed; the small eigenvalues that are wanted here "
                "hold no share of a spectrum: pass an integer, or None for the natural number."
            )
        return template

    def transform(self, X: Any) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type; of a dask collection a lazy one. Z = (R - 1
        mean') P; a method that places the rows themselves gives a row seen in training its own embedding and places
        others by its rule for new rows."""
        check_is_fitted(self, "n_components_")
        if (later := transform_lazily(self, X)) is not None:
            return later
        plain, name = self.multiplies_rows, type(self).__name__
        X = self._input(X, reset=False, product=plain)
        if plain and not shows_entries(X, self.components_):
            refuse_not_finite(X, name)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._product(X, X.dtype) if plain else self.embed(X)
        return in_range(Z, X, left_out=self.class_traits.direct, owner=name if plain else None)

    def transform_blockwise(
        self,
        X: np.ndarray,
        mean: np.ndarray | None,
        std: np.ndarray | None,
        readout: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> np.ndarray | None:
        """What ``transform`` makes of (X - mean) / std, in one product with all factors. ``readout`` (W, level): of
        this embedding Z the scores Z W - 1 level', in float64, where their product takes no more time than Z. None
        where the embedding is not a product, or ``transform`` or the scores may raise an error."""
        if not (self.transforms_plainly and self.multiplies_rows) or len(self.mean_) != X.shape[1]:
            return None
        V, dtype = self.components_.T, X.dtype
        with np.errstate(over="ignore", invalid="ignore"):
            level = self.mean_ @ V
            if readout is not None:
                (m, d), (k, c) = X.shape, readout[0].shape
                if k != V.shape[1] or (m + k) * d * c > m * k * (d + c) or not shows_entries(X, V.T):
                    return None
                V, level, dtype = V @ readout[0], level @ readout[0] + readout[1], np.dtype(np.float64)
            V = V if std is None else V / std[:, None]
            if not shows_entries(X, V.T):
                return None
            Z = tall_dot(X, V, level, dtype, mean)
        return Z if all_finite(Z) else None

    @property
    def transforms_plainly(self) -> bool:
        """Whether ``transform`` is that of this class, not one of a subclass."""
        return type(self).transform is SpectralEmbedder.transform

    @property
    def multiplies_rows(self) -> bool:
        """Whether the embedding of rows is a product of the rows themselves."""
        own = type(self)
        return own.lift is SpectralEmbedder.lift and own.embed is SpectralEmbedder.embed

    def embed(self, X: Any) -> np.ndarray:
        """The embedding (m, k) of checked rows, in double precision."""
        return self._product(self.lift(X), np.float64)

    def _product(self, R: Any, dtype: Any) -> np.ndarray:
        """(R - 1 mean') P in a float type."""
        return CentredMatrix(R, self.mean_).dot(self.components_.T, dtype)

    def truncate(self, k: int) -> Self:
        """The fitted estimator with its first k components only: one solve serves all k."""
        check_is_fitted(self, "n_components_")
        if self.prepared_.criterion == "trace_ratio":
            raise ValueError('Solutions of criterion="trace_ratio" are not nested: fit again with n_components=k.')
        short: Any = super().truncate(k)
        if "_readout_" in vars(self):
            short._readout_ = self._readout_.first(k)
        return short

    def explain(self, component: int = 0, n_features: int = 10, n_labels: int = 10) -> Explanation:
        """The strongest features of a component, with signs, and the labels that it serves.

        Features are those of X by their names. Their numbers are the weights ``components_[component]`` where X itself
        is projected. Where a kernel map is projected (``Kernelized``), they are effects: the mean absolute derivative
        of the component by the feature, with the sign of the mean derivative, times the standard deviation of the
        feature, both over the prototypes (all training rows without ``n_prototypes``; derivatives at 200 at most).
        A kernel that is a function has no derivative here: its effects are changes under permutation. See
        ``pairs.relation.relation_effects``.

        Parameters
        ----------
        component : int, default=0
        n_features, n_labels : int, default=10
            Most features and labels.

        Returns
        -------
        Explanation
            ``features`` and ``labels``: (name, number) pairs, the largest absolute number first. The numbers of the
            labels are loadings: covariances of the component with the standardised labels, of unit length together.

        Raises
        ------
        ValueError
            ``component`` is not the number of a component.
        """
        check_is_fitted(self, "components_")
        return explanation(self, component, n_features, n_labels)

    def scaling_of(self, rows: Rows) -> str:
        """How the columns of P are scaled for these rows."""
        if self.scaling != "auto":
            return self.scaling
        return self.traits.numbers_scaling if rows.labels is not None and rows.labels.numbers else "template"

    def _n_to_solve(self, rows: Rows) -> int | None:
        """How many components to ask the solver for; None: all, because a share of the spectrum is wanted."""
        k = self._n_components()
        if isinstance(k, float) and not 0.0 < k < 1.0:
            raise ValueError(
                f"{type(self).__name__}: n_components={k!r} is not allowed; it must be an integer >= 1, "
                "a float in (0, 1) or None."
            )
        return self.natural_components(rows) if k is None else None if isinstance(k, float) else k

    def _n_components(self) -> int | float | None:
        """The ``n_components`` of this fit as Python's own number, whatever numeric type it came in."""
        k = self.prepared_.n_components
        return k if k is None else int(k) if isinstance(k, Integral) else float(k)

    def _chosen(self, found: Solution) -> Solution:
        """The solution cut to what was asked for, or an error that names the bound."""
        k, bound = self._n_components(), found.bound
        if isinstance(k, float):
            spectrum = np.clip(np.asarray(found.spectrum), 0.0, None)
            return found.first(int(np.searchsorted(np.cumsum(spectrum), k * spectrum.sum())) + 1)
        if k is None:
            return found.first(max(1, found.positive) if self.traits.positive_only else len(found.eigenvalues))
        if k > bound:
            refuse_more_than_outputs(type(self).__name__, k, bound, vars(self).get("_reading_"))
            most, may_fill = f"{bound} component{'s' * (bound != 1)}", self.get_params(deep=False).get("fill") == "none"
            more = ', or fill="null" for components of eigenvalue 0' if may_fill else ""
            raise ValueError(
                f"n_components={k} is more than the {most} that {type(self).__name__} has on these data "
                f"(its rank bound). Use n_components <= {bound}, or None for the natural number{more}."
            )
        return found.first(k)

    def store(self, found: Solution, rows: Rows) -> None:
        """Set the fitted attributes that every method has."""
        self.eigenvalues_ = found.sense * found.eigenvalues
        self.solver_ = found.solver
        scaling = self.scaling_of(rows)
        if scaling == "eigenvalue" and found.sense < 0:
            found.refuse_zero_eigenvalues()
        P = self.finish(found.P, found.problem.rows, self.eigenvalues_)
        kernel_rows = found.problem.rows if isinstance(found.problem.rows, KernelRows) else None
        P = rescaled(P, found.eigenvalues, scaling, found.sense, kernel_rows)
        self.components_ = np.ascontiguousarray((P * lead_signs(self.published(P))).T)
        self.mean_ = found.mean if found.mean is not None else np.zeros(self.components_.shape[1])
        self.ridge_ = found.ridge
        if rows.labels is not None:
            self.label_loadings_ = label_loadings(found.problem.rows, rows.labels, self.components_, rows.repeats)


def natural_components(rows: Rows) -> int:
    """2 for unsupervised maps, the rank of the labels for the others, at most 100 and at most what the sizes allow."""
    natural = 2 if rows.labels is None else min(rows.labels.c, MAX_COMPONENTS)
    if rows.labels is not None and rows.labels.c <= 10 * MAX_COMPONENTS:
        natural = min(rows.labels.rank, MAX_COMPONENTS)
    return int(max(1, min(natural, rows.n, rows.d)))


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
