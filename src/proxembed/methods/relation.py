"""Other features for any method: Scaling and RelationFeatures, and what Kernelized shares with the latter."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.blocks import RowBlocks, blocks_of, transform_lazily
from proxembed.estimator.base import Embedder
from proxembed.estimator.direct import stored_like
from proxembed.estimator.known_blocks import FeatureInfo, checked_alike, known_blocks, moved_centroids
from proxembed.estimator.neighborly import path_lengths
from proxembed.estimator.validation import in_range
from proxembed.estimator.weights import checked_weights
from proxembed.features.prototypes import PROTOTYPES, prototypes
from proxembed.features.scaling import BY_SUMS, SCALINGS, ColumnSums, ScalingState, scaling_apply, scaling_fit
from proxembed.pairs.formulas import RELATIONS, PairMeasure, measures_for, median_or_mean, weights_gaussian
from proxembed.pairs.relation import median_squared_distance, prototype_scales, relation, relation_effects
from proxembed.params import check_params, log, param
from proxembed.proximity.backends import nearest
from proxembed.proximity.graph import geodesics, neighbor_graph
from proxembed.targets.labels import LabelMatrix

GEODESIC = "geodesic"  # along a graph of the prototypes, so of no two rows alone
KERNELS = {kernel: measure.uses["relation"] for kernel, measure in measures_for("kernel").items()}
RELATION_METRICS = tuple(kind for kind in RELATIONS if kind not in KERNELS.values())  # no kernels in general
WIDTHS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 16.0])
FUNCTION = PairMeasure("a function of the caller", {})
KERNEL_MATRIX = "The kernel matrix (set n_prototypes to bound it)"
SAMPLE_ROWS = 10_000  # of blocks, among which prototypes and width are chosen
SEED_DOC = "Seed of the choice of prototypes."


class Scaling(Embedder):
    """Scaling of rows or columns: unit length, centring, standardising, PCA, whitening, sublinear tf-idf.  [mu2012defc]

    Statistics come only from the rows given to ``fit``. Sparse X stays sparse except with "center" (guarded), "pca" and
    "whiten" (dense scores). "standard" divides a sparse X without centring it, since the methods centre it themselves.

    Attributes
    ----------
    state_ : the statistics learned.

    Raises
    ------
    ValueError
        For an unknown kind, negative entries under "tfidf", or a dense result above the size guard.

    See Also
    --------
    proxembed.Scaled : A scaling of its own around a method.
    proxembed.TableEncoder : Columns of a table as numbers.

    Examples
    --------
    >>> from proxembed import Scaling
    >>> Scaling("unit").fit_transform([[3.0, 4.0], [0.0, 2.0]])
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    kind: str | Callable[..., Any] = param(
        default="standard",
        choices=tuple(SCALINGS),
        callable=True,
        kw_only=False,
        search=tuple(SCALINGS),
        doc="The scaling.",
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the statistics.

        "center" and "standard" take RowBlocks and dask collections, too, and read them once, without weights.

        Parameters
        ----------
        X : (n, d) array or CSR, RowBlocks or dask collection
        y : ignored
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts.

        Returns
        -------
        self
        """
        with self._learning():
            blocks = blocks_of(X, y)
            if blocks is None:
                own = None if sample_weight is None else checked_weights(sample_weight, X)
                self.state_ = scaling_fit(self.kind, self._validate(X, y).X, sample_weight=own)
            elif sample_weight is None:
                self.state_ = self._of_blocks(blocks)
            else:
                raise ValueError("sample_weight is not allowed for blocks of rows in Scaling; leave it out.")
        return self

    def _of_blocks(self, blocks: RowBlocks) -> ScalingState:
        check_params(self)
        if self.kind not in BY_SUMS:
            raise ValueError(
                f"kind={self.kind!r} is not allowed for blocks of rows; {' and '.join(map(repr, BY_SUMS))} are. Fit "
                "another one on a sample: blocks.sample(10_000) gives (X, y)."
            )
        found = blocks.reduce(partial(_sum_columns, self), _merge_columns)
        found.copy_to(self)
        if found.sums is None:
            raise ValueError("X has no rows; a scaling needs at least one row and one feature.")
        return found.sums.state(self.kind)

    def transform(self, X: Any) -> Any:
        """The scaled rows, (m, d), or (m, r) for "pca" and "whiten"; blocks of them for RowBlocks."""
        check_is_fitted(self, "state_")
        if (later := transform_lazily(self, X)) is not None:
            return later
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = scaling_apply(self.state_, X)
        return in_range(scaled, X, scaled.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.state_.n_features_out


@dataclass(frozen=True)
class SumsOfColumns(FeatureInfo):
    """The sums of the columns of some rows; None where there are no rows."""

    sums: ColumnSums | None


def _sum_columns(method: Any, rows: RowBlocks, number: int) -> SumsOfColumns:
    """The sums of the columns of a piece of the rows."""
    checking = copy.copy(method)
    parts = (ColumnSums.of(X) for X, _, _ in known_blocks(checking, rows))
    first = next(parts, None)
    return SumsOfColumns(checking, None if first is None else reduce(ColumnSums.merged, parts, first))


def _merge_columns(parts: Sequence[SumsOfColumns]) -> SumsOfColumns:
    found = [part.sums for part in parts if part.sums is not None]
    return SumsOfColumns(checked_alike(parts), reduce(ColumnSums.merged, found) if found else None)


class RelationFeatures(Embedder):
    """Relation features: R_ij = phi(x_i, prototype_j), similarities or distances to prototypes as features.
    [mu2012defc]

    Similarities or distances to prototypes replace the features. Any measure can be used, positive semidefinite or not.
    Rows to embed are compared only with the prototypes, never with each other.

    Attributes
    ----------
    prototypes_ : (p, d) array or CSR.
    tau_ : float or None, the width used.
    scale_ : float by which features are divided (the largest on the training rows for "polynomial", else 1).
    local_scales_ : (p,) array, the widths of the prototypes under "local_scaling"; None otherwise.
    paths_ : (p, p) CSR of distances, the graph of the prototypes under "geodesic"; None otherwise.

    Raises
    ------
    ValueError
        For an unknown kind, n_prototypes out of range, "stratified" without y, or a result above the size guard.

    See Also
    --------
    proxembed.Kernelized : The same method on a kernel.

    Examples
    --------
    >>> from proxembed import RelationFeatures
    >>> from proxembed.data import digits
    >>> relate = RelationFeatures("cosine", prototypes="farthest", n_prototypes=50, random_state=0)
    >>> relate.fit_transform(digits().X).shape
    (1797, 50)
    """

    kind: str | Callable[..., Any] = param(
        default="cosine",
        choices=(*RELATIONS, GEODESIC),
        callable=True,
        kw_only=False,
        search=tuple(kind for kind in RELATIONS if kind != "kendall"),
        doc="The measure; kendall compares all pairs of features, geodesic is the Gaussian of the shortest path from a "
        "row to a prototype along the graph of the prototypes' n_neighbors, 0 if there is none.",
    )
    tau: float | None = param(
        default=None,
        above=0,
        choices=(None,),
        search=log(1e-3, 10.0),
        doc='Width; None: the median squared distance for "gaussian", that of paths between prototypes for "geodesic", '
        '1 for "alternative".',
    )
    degree: float = param(default=2, above=0, search=(1, 5), doc='Degree of "polynomial".')
    n_scale: int = param(
        default=7,
        low=1,
        integer=True,
        doc='Which nearest prototype sets the width of a row under "local_scaling"; an equal one is none of them.',
    )
    n_neighbors: int = param(
        default=5, low=1, integer=True, doc='Nearest prototypes with which "geodesic" links a row and a prototype.'
    )
    prototypes: str | Callable[..., Any] = param(
        default="all", choices=tuple(PROTOTYPES), callable=True, doc="How prototypes are chosen."
    )
    n_prototypes: int | None = param(
        default=None, low=1, integer=True, choices=(None,), doc='Number of prototypes; None with "all".'
    )
    random_state: int | None = param(default=None, low=0, integer=True, choices=(None,), doc=SEED_DOC)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the prototypes.

        Of RowBlocks they are chosen from a uniform sample of 10,000 rows (or twice as many as the prototypes), by which
        the width is, too; with "kmeans" they then move to the means of all rows nearest to each.

        Parameters
        ----------
        X : (n, d) array or CSR, or RowBlocks
        y : labels, optional
            Needed by "stratified" alone.

        Returns
        -------
        self
        """
        with self._learning():
            blocks = blocks_of(X, y)
            if blocks is not None:
                X, y = self._sampled(blocks)
            X = self._validate(X, None).X
            groups = None if y is None or self.prototypes != "stratified" else LabelMatrix.of(y).group_of_row()
            number = None if self.n_prototypes is None else min(int(self.n_prototypes), X.shape[0])
            self.prototypes_, _ = prototypes(self.prototypes, X, number, groups, self.random_state)
            if blocks is not None and self.prototypes == "kmeans":
                self.prototypes_ = moved_centroids(self, blocks, self.prototypes_)
            measure = measure_named(self.kind)
            self.tau_ = self.tau
            if self.tau is None and "tau" in measure.params:
                self.tau_ = median_squared_distance(X) if measure.median_width else 1.0
            self.paths_ = self._paths() if self._geodesic else None
            if self._geodesic and self.tau is None:
                self.tau_ = median_squared_path(self.paths_)
            self.local_scales_ = None
            if measure.ends == "scales":
                self.local_scales_ = prototype_scales(self.prototypes_, self.n_scale)
            self.scale_ = 1.0
            if measure.unbounded:
                self.scale_ = (
                    self._largest(X) if blocks is None else blocks.reduce(self._largest_of_piece, max)
                ) or 1.0
        return self

    def _largest_of_piece(self, rows: RowBlocks, number: int) -> float:
        return max((self._largest(self._input(X, reset=False)) for X, _ in rows), default=0.0)

    def _largest(self, X: Any) -> float:
        return float(np.abs(self._relate(X)).max())

    def _sampled(self, blocks: RowBlocks) -> tuple[Any, Any]:
        """The rows of blocks among which prototypes are chosen, with their labels."""
        check_params(self)
        if self.n_prototypes is None or self.prototypes == "all":
            raise ValueError(
                f"n_prototypes={self.n_prototypes!r} with prototypes={self.prototypes!r} is not allowed for blocks of "
                'rows: all rows would be prototypes. Set n_prototypes, such as 1000, and prototypes="kmedoids".'
            )
        return blocks.sample(sample_size(self.n_prototypes))

    def transform(self, X: Any) -> Any:
        """The relation features of rows X, (m, p); blocks of them for RowBlocks."""
        check_is_fitted(self, "prototypes_")
        if (later := transform_lazily(self, X)) is not None:
            return later
        X = self._input(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            R = self._relate(X) / self.scale_
        return in_range(R, X)

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "prototypes_")
        kind = (lambda X, P: self._along_paths(X)) if self._geodesic else self.kind
        return relation_effects(kind, self.prototypes_, weights / self.scale_, **self._settings)

    def _relate(self, X: Any) -> np.ndarray:
        guard_dense((X.shape[0], self.prototypes_.shape[0]), "The relation features")
        if self._geodesic:
            return self._along_paths(X)
        return relation(self.kind, X, self.prototypes_, **self._settings)

    @property
    def _geodesic(self) -> bool:
        return isinstance(self.kind, str) and self.kind == GEODESIC

    def _paths(self) -> Any:
        """The graph of the prototypes, CSR of distances."""
        p = self.prototypes_.shape[0]
        if p == 1:
            return sparse.csr_array((1, 1))
        return neighbor_graph(nearest(self.prototypes_, min(self.n_neighbors, p - 1)), p)

    def _along_paths(self, X: Any) -> np.ndarray:
        """exp(-g^2 / tau), g the shortest path from each row through its nearest prototypes to each prototype."""
        X, p = stored_like(X, self.prototypes_), self.prototypes_.shape[0]
        links = nearest(self.prototypes_, min(self.n_neighbors, p), queries=X)
        R, tau = np.empty((X.shape[0], p)), float(self.tau_ or 1.0)
        for part, length in path_lengths(self.paths_, links, np.arange(p)):
            R[part] = weights_gaussian(length, tau)
        return R

    @property
    def _settings(self) -> dict[str, Any]:
        """The parameters of the measure."""
        return measure_named(self.kind).settings(
            tau=self.tau_, degree=self.degree, n_scale=self.n_scale, scale=self.local_scales_
        )

    @property
    def _n_features_out(self) -> int:
        return self.prototypes_.shape[0]


def median_squared_path(graph: Any) -> float:
    """The median of the squared shortest paths between different prototypes that a path joins; 1 without any."""
    lengths = geodesics(graph)
    found = lengths[np.isfinite(lengths) & ~np.eye(len(lengths), dtype=bool)] ** 2
    return median_or_mean(found) if found.size else 1.0


def sample_size(n_prototypes: int) -> int:
    """The number of rows of blocks among which ``n_prototypes`` prototypes are chosen."""
    return max(SAMPLE_ROWS, 2 * int(n_prototypes))


def measure_named(kind: Any) -> PairMeasure:
    """The measure of a relation; one without parameters for a function."""
    return RELATIONS.get(kind, FUNCTION) if isinstance(kind, str) else FUNCTION
