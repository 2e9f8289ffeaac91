"""ForestLeaves: a method on the leaves of a forest that is grown on the labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.pencil.eigen import left_out
from proxembed.algebra.pencil.linear import best_ridge, ridge_solve
from proxembed.algebra.pencil.symmetric import range_basis
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.rows import Rows, SeenRows
from proxembed.estimator.traits import Traits
from proxembed.estimator.wrapper import METHOD, LabelledFeatures, refuse_features
from proxembed.features.leaves import LeafMap, forest_targets, grown
from proxembed.params import SEED, methods, param
from proxembed.splits.splits import Split, stratified_folds
from proxembed.targets.targets import Targets

from .dependence import OPLS
from .kernelized import Kernelized

RIDGES = np.array([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
RIDGE_FOLDS, RIDGE_TREES = 3, 100  # the folds, and trees of each forest, on which ridge="folds" is chosen


@dataclass(frozen=True)
class OnLeaves(Prepared):
    """The leaves that ``lift`` needs, and the template of the wrapped method, which fit needs alone."""

    leaves: LeafMap | None = None
    inner: Template | None = None

    def for_new_rows(self) -> Prepared:
        return OnLeaves(**vars(super().for_new_rows()), leaves=self.leaves)


class ForestLeaves(LabelledFeatures, labels="multi"):
    """A method on forest leaves: R has (T M)^-1/2 where row i falls into a leaf of M rows in one of T trees.
    [breiman2001forests]

    The forest is grown on the labels, and the method projects its leaves. Two rows are near if many trees put them into
    one leaf. The criterion is the squared error of the 0/1 indicator, or of the standardised numbers of y, on bootstrap
    samples (for more than 50 columns, of their 30 leading principal scores). The vote of the forest is linear in these
    features. Equal rows count as one row in the forest. Around OPLS, CCA and PLS an unknown cell of y is replaced with
    the mean of its column, and a row without any known cell is treated as a new row.

    The leaves of a training row depend on its own labels, so it is farther from the mean than a new row would be.
    ``match_scale`` enlarges new rows by one factor, from the closed-form leave-one-out of the projection, and
    ``rows="oob"`` describes a training row by the trees that were grown without it. A training row keeps its place in
    ``transform``, and so does a row equal to it; with "oob", a row that every tree has drawn is left out of the
    projection and placed at the mean.

    The matrix of the training rows among themselves has n^2 entries (bounded by the size guard), the leaves take 12 n T
    bytes. Trees are grown on the threads of ``joblib.parallel_config(n_jobs=...)``.

    Attributes
    ----------
    method_ : the wrapped method with its parameters.
    n_leaves_ : int, leaves of all trees.
    scale_ : float, the factor of new rows.
    ridge_ : float, the ridge used, absolute.
    components_ : array of shape (k, number of leaves), of the embedding of the leaves.
    eigenvalues_ : (k,) array.

    Raises
    ------
    ValueError
        For a method that places rows directly or makes features of its own, ridge="auto", whose leave-one-out error the
        leaves flatter, n_components above the bound, bad X or y.

    See Also
    --------
    proxembed.Kernelized : The same method on a kernel.
    proxembed.Views : Several kinds of features side by side.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import ForestLeaves
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> leaves = ForestLeaves(n_estimators=50, n_components=6, random_state=0)
    >>> model = make_pipeline(leaves, LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.85  # rows whose whole label set is right
    True
    """

    attributes = ""
    method: SpectralEmbedder | None = param(
        default=None,
        like=METHOD,
        kw_only=False,
        search=methods("multi"),
        doc="Any projection method; None: OPLS().",
    )
    ridge: float | str | None = param(
        default=1.0,
        low=0,
        choices=(None, "folds"),
        doc="Ridge on the constraint; folds: the one from 0.01 to 30 of least squared error of regressing the labels "
        "on the leaves, on three folds left out by forests of at most 100 trees; None: that of the wrapped method.",
    )
    rows: str = param(
        default="all",
        choices=("all", "oob"),
        search=("all", "oob"),
        doc='Trees that describe a training row: all, or ("oob", out of bag) those that were grown without it.',
    )
    forest: str = param(
        default="random",
        choices=("random", "extra"),
        doc="Splits at the best threshold of a feature, or (extremely randomised trees) at one drawn at random.",
    )
    n_estimators: int = param(default=300, low=1, high=100_000, integer=True, doc="Trees T.")
    min_samples_leaf: int = param(default=2, low=1, integer=True, search=(1, 5), doc="Rows that a leaf holds at least.")
    max_features: float | str | None = param(
        default="sqrt",
        above=0,
        high=1,
        choices=("sqrt", "log2", None),
        doc="Share of the features that a split may choose from, or its root or logarithm; None: all.",
    )
    match_scale: bool | None = param(
        default=None,
        choices=(None,),
        kind=bool,
        doc="Enlarge new rows to the spread of the training rows; None: where y holds no numbers.",
    )
    random_state: int | None = param(default=0, like=SEED, doc="Seed of the bootstrap and the splits.")

    def default_method(self) -> SpectralEmbedder:
        return OPLS()

    def check_method(self, method: SpectralEmbedder, role: str | None = None) -> None:
        name = type(method).__name__
        if method.class_traits.direct:
            raise ValueError(f"{name} places the rows themselves and has no projection; wrap a projection method.")
        refuse_features("ForestLeaves", method)
        if isinstance(method, Kernelized):
            raise ValueError(f"ForestLeaves cannot wrap {name}, which makes features of its own; wrap its method.")
        if method.class_traits.combines:
            raise ValueError(f"ForestLeaves cannot wrap {name}, which is made of two methods; wrap one of the two.")
        if self.ridge is None and getattr(method, "ridge", 0.0) == "auto":
            raise ValueError(
                f"ridge=None takes ridge='auto' of {name}, whose leave-one-out error is far too small on leaves that "
                "the labels have shaped; pass a number, such as ridge=1.0."
            )

    @property
    def traits(self) -> Traits:
        """With unknown cells at means, in the forest as in the template."""
        own = super().traits
        return replace(own, unknown="mean") if own.fills_unknown else own

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        rows = super()._validate(X, y, weights)
        return self.filled(rows, weights)

    @property
    def n_leaves_(self) -> int:
        """Leaves of all trees."""
        check_is_fitted(self, "n_components_")
        return len(self.prepared_.leaves.entries)

    def prepare(self, rows: Rows) -> Prepared:
        """With the forest, and the leaves of fit's rows."""
        leaves, training = self._grown(rows, int(self.n_estimators))
        index = np.flatnonzero(np.diff(training.indptr))  # no tree describes a row that all have drawn
        if len(index) == 0:
            raise ValueError(
                "rows='oob' has no tree that was grown without a row: every tree has drawn all rows. Use more trees, "
                "more different rows, or rows='all'."
            )
        n = training.shape[0]
        part = rows if len(index) == n else rows.take(index)
        settings = super().prepare(part)
        inner = self.method_.template(part)
        changed = {"training": training, "width": training.shape[1]}
        if settings.ridge == "folds":
            changed["ridge"] = self._ridge_of_folds(rows)
        inner = inner if part is rows else inner.spread(index, n)
        return OnLeaves(**vars(settings) | changed, leaves=leaves, inner=inner)

    def _grown(self, rows: Rows, n_estimators: int) -> tuple[LeafMap, sparse.csr_array]:
        """The leaves of a forest, and in them the rows that it is grown on."""
        X, Y, counts, number = averaged_rows(rows.X, rows.labels.Y, rows.times)
        leaves, own = grown(
            X,
            forest_targets(rows.labels, Y),
            counts,
            n_estimators=n_estimators,
            min_samples_leaf=int(self.min_samples_leaf),
            max_features=self.max_features,
            random_state=self.random_state,
            forest=self.forest,
        )
        if len(leaves.entries) == leaves.n_trees and X.shape[0] > 1:
            raise ValueError(
                f"min_samples_leaf={self.min_samples_leaf} lets no tree split these {X.shape[0]} distinct rows; use a "
                "smaller one, or pass features that differ between rows of different labels."
            )
        return leaves, (leaves.own_features(own) if self.rows == "all" else leaves.unbiased(own))[number]

    def _ridge_of_folds(self, rows: Rows) -> float:
        """The ridge of least squared error on folds left out; equal rows are in one fold."""
        Y, errors = forest_targets(rows.labels, rows.labels.Y), np.zeros(len(RIDGES))
        Y = Y.toarray() if sparse.issparse(Y) else Y
        for _, own, new in distinct_folds(rows.X, rows.labels, RIDGE_FOLDS):
            part = rows.part(own)
            leaves, R = self._grown(part, min(RIDGE_TREES, int(self.n_estimators)))
            w = None if part.counts is None else part.counts
            R = CentredMatrix.centred(R, part.times)
            gram = R.gram(w) if R.shape[1] <= R.shape[0] else R.outer_gram(w)
            for i, ridge in enumerate(RIDGES * R.squared_norm(w) / min(part.times.sum(), R.shape[1])):
                W, level = ridge_solve(R, Y[own], ridge, gram=gram, weights=w)
                left = leaves.features(rows.X[new]) @ W + level - Y[new]
                errors[i] += np.sum(rows.times[new] @ left**2)
        return float(RIDGES[best_ridge(RIDGES, errors)])

    def lift(self, X: Any) -> Any:
        """The leaves of rows X, (m, number of leaves)."""
        return self.prepared_.leaves.features(X)

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.prepared_.leaves.effects(weights)

    def learn(self, rows: Rows, found: Any) -> None:
        """The places of fit's rows, and the factor of new rows."""
        super().learn(rows, found)
        self._places[np.diff(self.prepared_.training.indptr) == 0] = 0.0
        self.scale_ = scale_of_new_rows(found, rows) if self._matches(rows.labels) else 1.0

    def output_readout(self) -> None:
        """None: a ridge on the embedding predicts numbers from leaves, better than the ridge of the method."""

    def _matches(self, labels: Targets) -> bool:
        return labels.numbers == 0 if self.match_scale is None else bool(self.match_scale)

    def new_places(self, X: Any) -> np.ndarray:
        return self.scale_ * super().new_places(X)


def scale_of_new_rows(found: Any, rows: Rows) -> float:
    """How much farther from the mean a row of fit is placed than the other rows would place it. The root of the
    variance of all components over that of the same with each row left out; of OPLS, for other methods with its
    constraint. 1 where the constraint has no closed form of it. The same for every number of components, so that the
    first of them are those of a fit with fewer."""
    targets, w = forest_targets(rows.labels, rows.labels.Y), rows.times
    targets = targets.toarray() if sparse.issparse(targets) else targets
    values = left_out(found, targets)
    if values is None:
        return 1.0
    C = range_basis(symmetrise(targets.T @ (w[:, None] * values[0])))
    own, without = (float((w @ (each @ C - w @ (each @ C) / w.sum()) ** 2).sum()) for each in values)
    return float(np.sqrt(own / without)) if without > 0 else 1.0


def averaged_rows(X: Any, Y: Any, times: np.ndarray | None = None) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """The distinct rows of X in order of appearance, each with the mean of Y over the rows that are equal to it, and
    their number; ``times``: how often each row occurs."""
    first, number = np.unique(SeenRows(X).find(X), return_inverse=True)
    times = np.ones(len(number)) if times is None else times
    counts = np.bincount(number, times)
    member = sparse.csr_array((times, (number, np.arange(len(number)))), shape=(len(first), len(number)))
    total = member @ Y
    total = total.toarray() if sparse.issparse(total) else total
    return X[first], total / counts[:, None], counts, number


def distinct_folds(X: Any, labels: Targets, n_folds: int, seed: int = 0) -> list[Split]:
    """Stratified folds with equal rows in one fold; fewer where there are fewer distinct rows, and none of one alone.
    The order of the labels has no part in them."""
    _, each, number = np.unique(SeenRows(X).find(X), return_index=True, return_inverse=True)
    n_folds = min(n_folds, len(each))
    if n_folds < 2:
        return []
    Y = labels.fold_labels(each).toarray() > 0
    folds = stratified_folds(Y[:, np.lexsort(Y)], n_folds, seed=seed)
    sides = [np.isin(number, fold.held_out) for fold in folds]
    return [Split(str(i), np.flatnonzero(~out), np.flatnonzero(out)) for i, out in enumerate(sides, start=1)]


@dataclass(frozen=True)
class ForestVotes:
    """What a forest says of the labels: the shares of each among the rows of a leaf, averaged over the trees.
    ``leaves`` and ``votes`` (leaves, c): the shares are q(x) votes, linear in the leaves q(x) of a row."""

    leaves: LeafMap
    votes: np.ndarray

    @classmethod
    def of(
        cls, X: Any, targets: np.ndarray, Y: np.ndarray, counts: np.ndarray, **settings: Any
    ) -> tuple[ForestVotes, Any]:
        """The votes of a forest grown on ``targets``, and the out-of-bag shares of its rows."""
        leaves, own = grown(X, targets, counts, **settings)
        votes, unseen = leaves.votes(own, Y), leaves.unbiased(own)
        described = np.diff(unseen.indptr)[:, None] > 0  # else every tree has drawn the row
        return cls(leaves, votes), np.where(described, unseen @ votes, Y.mean(axis=0))

    def lift(self, X: Any) -> np.ndarray:
        """The shares (m, c) of rows X."""
        return self.leaves.features(X) @ self.votes

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        """What the splits of each feature do to combinations of the shares; see ``LeafMap.effects``."""
        return self.leaves.effects(weights @ self.votes.T)
