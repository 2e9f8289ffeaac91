"""SSDR: any supervised method on the labelled rows mixed with any unsupervised method on all rows."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from proxembed.algebra.pencil.eigen import choose_ridge
from proxembed.algebra.pencil.problem import Problem
from proxembed.algebra.pencil.sizes import constraint_size, objective_size
from proxembed.algebra.template import CONSTRAINTS, Template, mix
from proxembed.estimator.base import Prepared, SpectralEmbedder, natural_components
from proxembed.estimator.neighborly import DistinctRows
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import counted_for, held_under
from proxembed.estimator.wrapper import METHOD, MethodWrapper, TemplateWrapper, innermost, refuse_features
from proxembed.params import Param, methods, param
from proxembed.targets.known import warn_partly_known
from proxembed.targets.labels import LabelMatrix

from .fisher import FDA
from .kernelized import Kernelized
from .multilabel import MESD
from .preserving import OLPP

OWN = ("method", "n_components", "scaling", "solver", "ridge", "ridge_scale")  # what is not a setting of a kernel


OBJECTIVE = Param(
    'Of the OLPP that stands for unsupervised=None: W or L; None: "proximity". A given method has its own.',
    choices=(None, "proximity", "laplacian"),
)


class PartlyLabelled(DistinctRows, keeps_unknown=True, whole_rows=True, abstract=True):
    """A method for rows of which some are labelled: labels count for those, features for all. [mu2012mesd]"""

    def count_rows(self, rows: Rows, counts: np.ndarray) -> Rows:
        numbers = rows.labels.numbers
        return replace(rows, labels=held_under(rows.labels, counts) if numbers else rows.labels, counts=counts)

    def check_rows(self, rows: Rows) -> None:
        labels: Any = rows.labels
        if not self.traits.fills_unknown:
            warn_partly_known(type(self).__name__, labels, stacklevel=4)

    def _part(self, rows: Rows) -> tuple[Rows, np.ndarray]:
        """The labelled rows, without the labels that none of them has, and their index."""
        part, index = rows.labelled(self.fill_rule(rows.labels))
        if part.n < 2:
            known = "have a known label" if self.traits.fills_unknown else "are fully known"
            raise ValueError(
                f"{type(self).__name__} needs at least two labelled rows, and only {part.n} of {rows.n} rows {known}. "
                "Label more rows, or use an unsupervised method."
            )
        labels = part.labels.drop_empty()
        self._check_differ(labels)
        return (part if labels is part.labels else replace(part, labels=labels)), index

    def natural_components(self, rows: Rows) -> int:
        return natural_components(self._part(rows)[0])


class Weighed(NamedTuple):
    """A member's template over its sizes, its ridge, and the part of the ridge of the mixture that comes from it."""

    template: Template
    ridge: float | None
    added: float


@dataclass(frozen=True)
class Mixture(Prepared):
    """The templates of the two members, each on its own rows, which fit needs alone."""

    supervised: Template | None = None
    unsupervised: Template | None = None


class SSDR(MethodWrapper, PartlyLabelled, labels="multi", combines=True):
    """Semi-supervised combination of two methods: A = mix A_U + (1 - mix) A_S, U on all rows, S on the labelled ones.
    [mu2012mesd]

    Rows without labels (NaN in y) shape the embedding through the unsupervised method, rows with labels also through
    the supervised one. With ``constraint="mixed"``, mix=0 is the supervised method on the labelled rows and mix=1 the
    unsupervised method on all rows; with "projection", each of them under P'P = I. A method that places rows (LLE,
    Isomap) takes part by its matrices, for the projection Z = XP, as NPP is that form of LLE. If few rows are labelled,
    the sum over all rows outweighs theirs: ``balance="trace"`` makes ``mix`` a share. Two ``Kernelized`` methods with
    the same kernel settings share one kernel map of all rows, learned without labels.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array, between the mean of all rows and that of the labelled rows as ``mix`` says; zeros where a member
        is not centred.
    eigenvalues_ : (k,) array; of a minimisation where both members minimise.
    ridge_ : float, the ridge used, absolute: ``mix`` times that of U plus 1 - ``mix`` times that of S.
    supervised_, unsupervised_ : the members with their parameters.

    Raises
    ------
    ValueError
        For a member of the wrong kind, one Kernelized member beside another or two of different kernels, objective
        beside a given unsupervised method, fewer than two labelled rows, n_components above the bound, bad X or y.

    See Also
    --------
    proxembed.SSDRMC : Infers unknown labels as well.
    proxembed.SELF : Local Fisher discriminant analysis with unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from proxembed import FDA, PCA, SSDR
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> even = data.Y[:, [0]].toarray().ravel()
    >>> y = np.where(np.arange(len(even)) < 60, even, np.nan)
    >>> Z = SSDR(FDA(), PCA(), balance="trace", n_components=3).fit(data.X, y).transform(data.X)
    >>> KNeighborsClassifier(1).fit(Z[:60], even[:60]).score(Z[60:], even[60:]) > 0.8  # accuracy of the others
    True
    """

    members = ("supervised", "unsupervised")
    supervised: SpectralEmbedder | None = param(
        default=None,
        like=METHOD,
        kw_only=False,
        search=methods("multi"),
        doc="Any method that takes labels; None: MESD(FDA()).",
    )
    unsupervised: SpectralEmbedder | None = param(
        default=None,
        like=METHOD,
        kw_only=False,
        search=methods(None),
        doc="Any method that takes none; None: OLPP().",
    )
    objective: str | None = param(default=None, like=OBJECTIVE, doc=OBJECTIVE.doc)
    mix: float = param(
        default=0.5, low=0, high=1, search=(0.0, 1.0), doc="Share of the unsupervised method; gamma / (1 + gamma)."
    )
    balance: str = param(
        default="none",
        choices=("none", "trace", "spectral"),
        search=("none", "trace", "spectral"),
        doc="What each term is divided by first: nothing, its absolute trace or its largest absolute eigenvalue.",
    )
    constraint: str = param(
        default="projection",
        choices=CONSTRAINTS,
        search=CONSTRAINTS,
        doc="P'P = I, the constraints of both members mixed like A, or that of the supervised member alone.",
    )
    flip: bool = param(
        default=False,
        kind=bool,
        doc="Minimise the constraint matrix of the supervised method under its objective matrix as constraint.",
    )
    ridge: float | str | None = param(
        default=None, low=0, choices=(None, "auto"), doc="Ridge on the constraint; None: those of the members."
    )
    ridge_scale: str | None = param(
        default=None, choices=(None, "trace", "absolute"), doc="Unit of the ridge; None: those of the members."
    )

    @property
    def traits(self) -> Traits:
        """Labels and unknown cells as the supervised method has them; at mix=1 the components of the other one."""
        supervised = self.inner("supervised").traits
        alone = self.inner("unsupervised").traits if self.mix == 1 else supervised
        return replace(
            super().traits,
            labels=supervised.labels,
            takes_shares=supervised.takes_shares,
            unknown=supervised.unknown,
            takes_numbers=supervised.takes_numbers,
            positive_only=alone.positive_only,
        )

    @property
    def weighs_rows(self) -> bool:
        """Where both members take weights."""
        return all(self.inner(role).weighs_rows for role in self.members)

    @property
    def why_unweighted(self) -> str:
        for member in map(self.inner, self.members):
            if not member.weighs_rows:
                return f"{type(member).__name__} takes none: {member.why_unweighted}"
        return super().why_unweighted

    def default_supervised(self) -> SpectralEmbedder:
        return MESD(FDA())

    def default_unsupervised(self) -> SpectralEmbedder:
        return OLPP() if self.objective is None else OLPP(objective=self.objective)

    def check_method(self, method: SpectralEmbedder, role: str | None = None) -> None:
        """Raise a ValueError for a method that cannot be a member, beside the other one that is set."""
        title, other = type(method).__name__, "supervised" if method.traits.labels is None else "unsupervised"
        if role is not None and (method.traits.labels is None) == (role == "supervised"):
            wanted = "takes labels" if role == "supervised" else "takes no labels"
            raise ValueError(
                f"{role}={title} is not allowed; it must be a method that {wanted}. "
                "The supervised method is the first argument, the unsupervised one the second."
            )
        if role == "unsupervised" and self.objective is not None and self.unsupervised is not None:
            raise ValueError(
                f"objective={self.objective!r} is not allowed with unsupervised={title}: it is that of the OLPP which "
                "stands for unsupervised=None. Leave one of the two out; OLPP takes its objective itself."
            )
        refuse_features("SSDR", method)
        if method.traits.keeps_unknown:
            raise ValueError(f"{title} is semi-supervised by itself and cannot be a member of SSDR. Use it as it is.")
        if method.__sklearn_tags__().input_tags.pairwise:
            raise ValueError(
                f"{title} on precomputed values has no rows of which some are labelled; pass the rows themselves."
            )
        inner = innermost(method)
        if method.fills_null:
            raise ValueError(
                f'{title} with fill="null" cannot be a member of SSDR, whose components are those of both members; use '
                'fill="none".'
            )
        if inner.refines:
            how, use = (
                (" with deflation", "deflation=None") if hasattr(inner, "deflation") else ("", "OPLS, or PCovR alone")
            )
            raise ValueError(
                f"{type(inner).__name__}{how} is not its matrices, and cannot be a member of SSDR; use {use}."
            )
        if type(inner).finish is not SpectralEmbedder.finish and getattr(inner, "whiten", True):
            raise ValueError(
                f"{type(inner).__name__} maps its eigenvectors back or rescales them, which its matrices do not show, "
                "and cannot be a member of SSDR. Use another method, or PCA with whiten=False."
            )
        _check_kernels(method, self.inner(other))

    def check_labels(self, labels: LabelMatrix) -> None:
        self.supervised_.check_labels(labels)

    def prepare(self, rows: Rows) -> Prepared:
        """With the templates of both members, over their sizes as ``balance`` says, and the ridges that they add."""
        part, index = self._part(rows)
        every, known = counted_for(self.unsupervised_, rows.unlabelled()), counted_for(self.supervised_, part)
        self.unsupervised_.make_ready(every)
        base = self.unsupervised_.explicit()
        settings = self._supervised_settings(known)
        unsupervised = _stated_for_projections(self.unsupervised_, every)
        supervised = _stated_for_projections(_inside_kernel(self.supervised_), known)
        if self.flip:
            _check_flip(self.supervised_, supervised)
            supervised = supervised.flipped()
        added = 0.0
        if self.balance != "none" or (self.constraint != "projection" and not self._ridge_given()):
            labelled = _rows_of(base.training, rows, part, index)
            first = self._weighed(self.supervised_, supervised, labelled, base.width)
            second = self._weighed(self.unsupervised_, unsupervised, base.training, base.width, first.ridge)
            supervised, unsupervised, added = first.template, second.template, first.added + second.added
        counts = (self.n_components, settings.n_components, base.n_components)
        alone = self.constraint == "projection" or self.mix == 1
        return Mixture(
            base.training,
            base.width,
            next((k for k in counts if k is not None), None),
            self.ridge if self._ridge_given() else added,
            "absolute",
            "ratio_trace" if alone else settings.criterion,
            supervised=supervised,
            unsupervised=unsupervised,
        )

    def template(self, rows: Rows) -> Template:
        """The mixture of the members' templates, which ``prepare`` has weighed."""
        members = self.prepared_
        supervised = members.supervised.spread(self._part(rows)[1], rows.n)
        return mix(members.unsupervised, supervised, self.mix, self.constraint)

    def lift(self, X: Any) -> Any:
        return self.unsupervised_.lift(X)

    def of_lifted(self, components: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.unsupervised_.of_lifted(components, mean)

    def published(self, P: np.ndarray) -> np.ndarray:
        return self.unsupervised_.published(P)

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.unsupervised_.feature_effects(weights)

    def _supervised_settings(self, part: Rows) -> Prepared:
        """The supervised member made ready; one on a kernel without it, as the other member's map serves both."""
        method = self.supervised_
        if isinstance(method, Kernelized):
            method.prepared_ = TemplateWrapper.prepare(method, part)
            return method.prepared_
        return method.make_ready(part)

    def _weighed(
        self, method: SpectralEmbedder, template: Template, R: Any, width: int, known: float | None = None
    ) -> Weighed:
        """A member's template over its sizes, and its ridge, of which a share is added to that of the mixture."""
        supervised = method is self.supervised_
        share = 1.0 - self.mix if supervised else self.mix
        bound = {"mixed": share, "projection": 0.0}.get(self.constraint, 1.0 if supervised else 0.0)
        if share == 0 and bound == 0:
            return Weighed(template, None, 0.0)
        problem = Problem(template, R, width=width)
        ridge = self._ridge_of(method, problem, known) if bound else 0.0
        if self.balance == "none":
            return Weighed(template, ridge, bound * ridge)
        objective = problem.of_rows(objective_size(problem, self.balance), constraint=False)
        if not 0 < objective < np.inf:
            raise ValueError(
                f"balance={self.balance!r} is not allowed here: the objective of {type(method).__name__} has the "
                f'size {objective:g} by which it would be divided. Use balance="none".'
            )
        constraint = 1.0
        if self.constraint == "mixed":
            constraint = problem.of_rows(constraint_size(problem, self.balance))
        return Weighed(template.rescale(1.0 / objective, 1.0 / constraint), ridge, bound * ridge / constraint)

    def _ridge_of(self, method: SpectralEmbedder, problem: Problem, known: float | None) -> float:
        """The ridge on the constraint of one member, absolute; with ridge="auto" that of the labelled rows for both."""
        if self._ridge_given() or problem.template.B is None:
            return 0.0
        ridge, scale = method.prepared_.ridge, method.prepared_.ridge_scale
        ridge, scale = self.ridge if self.ridge is not None else ridge, self.ridge_scale or scale
        if ridge == "auto" and known is not None:
            return known
        return problem.of_rows(choose_ridge(problem, ridge, scale))

    def _ridge_given(self) -> bool:
        """Whether the ridge is a number to be added as it is."""
        return self.ridge_scale == "absolute" and self.ridge not in (None, "auto")

    def natural_components(self, rows: Rows) -> int:
        if self.mix == 1:
            return self.unsupervised_.natural_components(rows.unlabelled())
        return self.supervised_.natural_components(self._part(rows)[0])


def _inside_kernel(method: SpectralEmbedder) -> SpectralEmbedder:
    """The method that makes the template, where the kernel map is that of another one."""
    return method.method_ if isinstance(method, Kernelized) else method


def _rows_of(R: Any, rows: Rows, part: Rows, index: np.ndarray) -> Any:
    """The labelled rows of the matrix that is projected."""
    return part.X if R is rows.X else R[index]


def _check_kernels(method: SpectralEmbedder, other: SpectralEmbedder) -> None:
    """Two members are projected from one matrix: neither is lifted, or both in the same way."""
    one, two = isinstance(method, Kernelized), isinstance(other, Kernelized)
    if one != two:
        raise ValueError(
            f"{type(method).__name__} and {type(other).__name__} cannot be combined: one runs on a kernel and "
            "the other does not. Put both into Kernelized with the same settings, or neither."
        )
    if one:
        mine, its = method.get_params(deep=False), other.get_params(deep=False)
        unlike = [name for name in mine if name not in OWN and mine[name] != its[name]]
        if unlike:
            raise ValueError(
                f"The two Kernelized members differ in {', '.join(unlike)}; both are projected from one kernel, so "
                "that these must be the same."
            )


def _stated_for_projections(method: SpectralEmbedder, rows: Rows) -> Template:
    """The template of a member; that of a method which places rows, for their projection."""
    template = rows.weighted(method.template(rows))
    if not method.class_traits.direct:
        return template
    if template.A.n != rows.n:
        raise ValueError(
            f"{type(method).__name__} places {template.A.n} of {rows.n} rows by its matrix and the others by them; as "
            "a member of SSDR it needs all: use no landmarks, and joined graph components."
        )
    return template.projected()


def _check_flip(method: SpectralEmbedder, template: Template) -> None:
    if template.B is None:
        raise ValueError(
            f"flip=True is not allowed with {type(method).__name__}, whose constraint is P'P = I; use flip=False."
        )
