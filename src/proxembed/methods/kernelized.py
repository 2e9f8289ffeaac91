"""Kernelized: any method on the coordinates of a kernel."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.matrix import guard_dense, row_blocks
from proxembed.algebra.arrays.moments import Moments
from proxembed.algebra.pencil.coordinates import Coordinates
from proxembed.algebra.pencil.kernel_rows import KernelRows
from proxembed.algebra.template import Template
from proxembed.estimator.base import Prepared, SpectralEmbedder
from proxembed.estimator.known_blocks import moved_centroids
from proxembed.estimator.rows import Rows
from proxembed.estimator.traits import Traits
from proxembed.estimator.wrapper import METHOD, TemplateWrapper, refuse_features
from proxembed.features.kernel import gaussian_coordinates, kernel_coordinates, kernel_map, least_loo, tuning_rows
from proxembed.features.prototypes import PROTOTYPES, prototypes
from proxembed.pairs.relation import (
    checked_relation,
    column_deviations,
    median_squared_distance,
    prototype_scales,
    relation,
    relation_effects,
)
from proxembed.params import call_user_function, methods, param

from .dependence import OPLS
from .relation import KERNEL_MATRIX, KERNELS, RELATION_METRICS, SEED_DOC, WIDTHS, measure_named, sample_size


@dataclass(frozen=True)
class KernelMap:
    """A kernel with its prototypes, and from its values with them the coordinates of any rows: the kernel rows. While
    a method is fitted that needs the coordinates of the feature space, ``map`` takes kernel rows to these; ``level``
    centres them under constraint="coef"."""

    kernel: str | Callable[..., Any]
    degree: float
    constraint: str
    prototypes: Any
    tau: float | None = None
    map: np.ndarray | None = None
    level: np.ndarray | None = None
    n_scale: int = 7
    scales: np.ndarray | None = None

    def coordinates(self, X: Any) -> np.ndarray:
        """Coordinates (m, r) of rows X: their kernel rows, centred or mapped to the feature space where that is
        stated."""
        K = self.values(X)
        if self.map is not None:
            return K @ self.map
        return K if self.level is None else K - K.mean(axis=1, keepdims=True) - self.level

    def values(self, X: Any) -> np.ndarray:
        """The kernel of rows X with the prototypes; X itself where it is precomputed."""
        if self.kernel == "precomputed":
            return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        guard_dense((X.shape[0], self.prototypes.shape[0]), KERNEL_MATRIX)
        K = relation(self.relation, X.astype(np.float64), self.prototypes, **self._params)
        return np.asarray(K, dtype=np.float64)

    def effects(self, weights: np.ndarray) -> np.ndarray:
        """Effect of each feature on combinations of the coordinates, (k, r) to (k, d); see ``relation_effects``."""
        if self.map is not None:
            weights = weights @ self.map.T
        elif self.level is not None:
            weights = weights - weights.mean(axis=1, keepdims=True)
        if self.kernel == "precomputed":  # the features are the kernel values
            return weights * column_deviations(self.prototypes)
        return relation_effects(self.relation, self.prototypes, weights, **self._params)

    @property
    def relation(self) -> str | Callable[..., Any]:
        """The relation to the prototypes that is the kernel: a name, or a function."""
        return self._own_kernel if callable(self.kernel) else KERNELS.get(self.kernel, self.kernel)

    @property
    def _params(self) -> dict[str, Any]:
        return measure_named(self.relation).settings(
            tau=self.tau, degree=self.degree, n_scale=self.n_scale, scale=self.scales
        )

    def _own_kernel(self, X: Any, P: Any) -> np.ndarray:
        """The values of a kernel that is a function."""
        own: Any = self.kernel
        return checked_relation(call_user_function("kernel", own, X, P), (X.shape[0], P.shape[0]), "kernel")


def mapped(kernel: KernelMap, K: np.ndarray) -> tuple[KernelMap, np.ndarray]:
    """The kernel with its map on all rows of fit, and their coordinates, from their kernel matrix K."""
    M = kernel_map(K)
    return replace(kernel, map=M), M / np.einsum("pr,pr->r", M, M)


@dataclass(frozen=True)
class Tuning:
    """The width, the absolute ridge (None: that of the settings, or left to the solver), and the number of rows that
    leave-one-out has chosen them on."""

    tau: float | None
    ridge: float | None
    rows: int


@dataclass(frozen=True)
class OnKernel(Prepared):
    """The kernel that ``lift`` needs, and the template of the wrapped method, which fit needs alone."""

    kernel: KernelMap | None = None
    inner: Template | None = None

    def for_new_rows(self) -> Prepared:
        return OnKernel(**vars(super().for_new_rows()), kernel=self.kernel)


class Kernelized(TemplateWrapper, labels="multi"):
    """Kernel extension of any projection: A_g = K'AK, B_g = K'BK + ridge, Z = K Gamma.  [mu2012mesd]

    Makes a projection non-linear with a kernel. The method runs on the kernel's empirical map, so that P'P = I means
    orthonormal in feature space (``constraint="feature"``), or on the kernel matrix (centred with ``"coef"``, unchanged
    with ``"raw"``). ``tau="auto"`` chooses the Gaussian width and the ridge together by the closed-form leave-one-out
    error of kernel ridge regression of the labels, on ``tuning_rows`` evenly spaced labelled rows if there are more;
    the ridge is then multiplied by the number of rows over that of the sample. With p prototypes the width is chosen on
    tuning_rows^3 / p^2 rows, if that is more (at most 10,000), and the ridge on all rows.
    With n_prototypes it also fits on RowBlocks, and prototypes are chosen from a uniform sample of 10,000 rows (k-means
    takes a last step over all rows).
    Kernelized(FDA()) is kernel FDA [mika1999kfda], Kernelized(PCA()) kernel PCA [scholkopf1998kpca].

    Attributes
    ----------
    method_ : the wrapped method with its parameters.
    tau_ : float or None, the width used.
    ridge_ : float, the ridge used, absolute.
    tuning_rows_ : int, the number of rows that width and ridge were chosen on by leave-one-out; 0 if both are given.
    prototypes_ : (p, d) rows that new rows are compared with (all training rows without n_prototypes).
    components_ : (k, p) array, coefficients of the kernel values with the prototypes: a row is embedded as
        ``components_ @ (k(x) - mean_)``.
    eigenvalues_ : (k,) array.

    Raises
    ------
    ValueError
        For a kernel matrix above the size guard (the message names n_prototypes), a method that places rows directly, a
        measure that is not a kernel without constraint="raw", n_components above the bound, bad X or y.

    See Also
    --------
    proxembed.RelationFeatures : Relations to prototypes as features.
    proxembed.ForestLeaves : The same method on the leaves of a forest.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import OPLS, Kernelized
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = make_pipeline(Kernelized(OPLS(), n_components=6), LabelKNN()).fit(data.X[:500], data.Y[:500])
    >>> model.score(data.X[500:], data.Y[500:]) > 0.9  # rows whose whole label set is right
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
    kernel: str | Callable[..., Any] = param(
        default="gaussian",
        choices=(*KERNELS, "precomputed", *RELATION_METRICS),
        callable=True,
        doc="Kernel: a name, or a callable (m x d, p x d) -> m x p; precomputed: X holds kernel values with the "
        "training rows. The names after it are measures of ``RelationFeatures`` that need not be kernels, for "
        'constraint="raw" alone.',
    )
    tau: float | str = param(
        default="auto",
        above=0,
        choices=("auto",),
        doc='Width of exp(-d^2/tau), and of "alternative"; auto: least leave-one-out error, and 1.',
    )
    n_scale: int = param(
        default=7, low=1, integer=True, doc='Which nearest prototype sets the width of a row under "local_scaling".'
    )
    degree: float = param(default=2, above=0, doc='Degree of "polynomial", (1 + x\'y)^degree.')
    constraint: str = param(
        default="feature",
        choices=("feature", "coef", "raw"),
        doc="Coordinates: the empirical kernel map, the kernel matrix (centred on both sides for a method that centres "
        "rows), or the kernel matrix as it is, A_g = K'AK.",
    )
    n_prototypes: int | None = param(
        default=None, low=1, integer=True, choices=(None,), doc="Prototypes instead of all training rows; None: exact."
    )
    prototypes: str | Callable[..., Any] = param(
        default="kmedoids", choices=tuple(PROTOTYPES), callable=True, doc="How prototypes are chosen."
    )
    tuning_rows: int | None = param(
        default=None,
        low=2,
        integer=True,
        choices=(None,),
        doc="Most rows on which leave-one-out chooses width and ridge, evenly spaced; None: 800, in ``Views`` 2,000.",
    )
    random_state: int | None = param(default=None, low=0, integer=True, choices=(None,), doc=SEED_DOC)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @property
    def traits(self) -> Traits:
        """Labels of the wrapped method, and its sums, of the kernel's values with prototypes chosen from a sample."""
        method, reason = self.inner(), ""
        inner = method.traits
        if self.kernel == "precomputed":
            reason = 'kernel="precomputed" compares all rows with each other; use a named kernel and n_prototypes'
        elif self.n_prototypes is None or self.prototypes == "all":
            reason = 'it compares all rows with each other; set n_prototypes, such as 1000, and prototypes="kmedoids"'
        return replace(
            super().traits,
            labels=inner.labels,
            from_sums=None if reason else inner.from_sums,
            needs_all_rows=reason or f"the wrapped {type(method).__name__} cannot: {inner.needs_all_rows}",
            sample_rows=0 if self.n_prototypes is None else sample_size(self.n_prototypes),
        )

    @property
    def follows_from_sums(self) -> bool:
        """As the method; kernel values of rows that are given have no weights."""
        return self.kernel != "precomputed" and super().follows_from_sums

    @property
    def weighs_rows(self) -> bool:
        return self.kernel != "precomputed" and super().weighs_rows

    @property
    def counts_distinct(self) -> bool:
        """By which width and prototypes are chosen."""
        return True

    @property
    def why_unweighted(self) -> str:
        return "the kernel values of its rows are given" if self.kernel == "precomputed" else super().why_unweighted

    def default_method(self) -> SpectralEmbedder:
        return OPLS()

    def check_method(self, method: SpectralEmbedder, role: str | None = None) -> None:
        if method.class_traits.direct:
            raise ValueError(
                f"{type(method).__name__} places the rows themselves and has no projection to lift; "
                "wrap a projection method."
            )
        refuse_features("Kernelized", method)
        if isinstance(method, Kernelized):
            raise ValueError("Kernelized cannot wrap Kernelized; wrap the inner method once.")
        if method.class_traits.combines:
            raise ValueError(
                f"Kernelized cannot wrap {type(method).__name__}, which is made of two methods; put each of the two "
                "into Kernelized, with the same settings."
            )

    @property
    def tau_(self) -> float | None:
        """The width used; None for a kernel without one."""
        return self.prepared_.kernel.tau

    @property
    def prototypes_(self) -> Any:
        """The rows that new rows are compared with."""
        return self.prepared_.kernel.prototypes

    def prepare(self, rows: Rows) -> Prepared:
        """With prototypes, width (and with it the ridge), and the map from kernel rows to coordinates."""
        if self.kernel in RELATION_METRICS and self.constraint != "raw":
            raise ValueError(
                f"Kernelized: constraint={self.constraint!r} is not allowed with kernel={self.kernel!r}, which need "
                "not be positive semidefinite. Set constraint='raw', or use a kernel such as 'gaussian'."
            )
        settings = super().prepare(rows)
        if rows.summed:  # the kernel was chosen on a sample
            kernel = self.prepared_.kernel
            return OnKernel(**vars(settings) | {"width": kernel.prototypes.shape[0]}, kernel=kernel)
        inner = self.method_.template(rows)
        kernel = KernelMap(self.kernel, self.degree, self.constraint, self._chosen_prototypes(rows))
        measure = measure_named(kernel.relation)
        if "tau" in measure.params and (self.kernel != "gaussian" or self.tau != "auto"):
            kernel = replace(kernel, tau=1.0 if isinstance(self.tau, str) else float(self.tau))
        if measure.ends == "scales":
            scales = prototype_scales(kernel.prototypes, self.n_scale)
            kernel = replace(kernel, n_scale=self.n_scale, scales=scales)
        tuned = self._tuned(rows, inner, kernel, settings)
        if tuned.ridge is not None:
            settings = replace(settings, ridge=tuned.ridge, ridge_scale="absolute")
        kernel, training = self._on_rows(replace(kernel, tau=tuned.tau), rows, inner)
        changed = {"training": training, "width": self._width(kernel, rows)}
        changed["attributes"] = settings.attributes | {"tuning_rows_": tuned.rows}
        return OnKernel(**vars(settings) | changed, kernel=kernel, inner=inner)

    def _width(self, kernel: KernelMap, rows: Rows) -> Any:
        """The prototypes; all rows, each as often as it occurs, where these span the feature space."""
        every = self.n_prototypes is None and self.constraint == "feature"
        return rows.times.sum() if every else kernel.prototypes.shape[0]

    def template(self, rows: Rows) -> Template:
        """That of the wrapped method; of rows in memory ``prepare`` has stated it."""
        inner = self.prepared_.inner
        return super().template(rows) if inner is None else inner

    def sums_of_lifted(self, moments: Moments) -> Moments:
        """The sums of the coordinates, centred by the level of all rows where they are centred kernel rows."""
        kernel = self.prepared_.kernel
        if kernel.level is None:
            return moments
        shift = moments.mean
        self.prepared_ = replace(self.prepared_, kernel=replace(kernel, level=kernel.level + shift))
        return moments.shifted(-shift)

    def lift(self, X: Any) -> Any:
        """The kernel rows (m, p) of rows X, centred under constraint="coef"."""
        return self.prepared_.kernel.coordinates(X)

    def embed(self, X: Any) -> np.ndarray:
        parts = row_blocks(X.shape[0], self.prepared_.kernel.prototypes.shape[0])
        return np.concatenate([super(Kernelized, self).embed(X[part]) for part in parts])

    def feature_effects(self, weights: np.ndarray) -> np.ndarray:
        return self.prepared_.kernel.effects(weights)

    def _chosen_prototypes(self, rows: Rows) -> Any:
        chosen, n = self.n_prototypes is not None and self.kernel != "precomputed", rows.X.shape[0]
        asked: Any = self.n_prototypes
        number = min(int(asked), n) if chosen else n
        guard_dense((n, number), KERNEL_MATRIX)
        if self.kernel == "precomputed" and n != rows.X.shape[1]:
            raise ValueError(
                'kernel="precomputed" takes the square matrix of kernel values between the training rows, '
                f"got {rows.X.shape}."
            )
        X = rows.X.astype(np.float64)
        if not chosen:
            return X
        groups = None if rows.labels is None or self.prototypes != "stratified" else rows.labels.strata()
        found = prototypes(self.prototypes, X, number, groups, self.random_state)[0]
        if rows.source is not None and self.prototypes == "kmeans":
            return moved_centroids(self, rows.source, found)
        return found

    def _on_rows(self, kernel: KernelMap, rows: Rows, inner: Any) -> tuple[KernelMap, Any]:
        """The kernel, with its map of prototypes or with the level that centres its rows, and what is projected."""
        if self.constraint == "feature":
            K = kernel.values(kernel.prototypes)
            self._refuse_equal(K)
            if self.n_prototypes is not None:
                kernel = replace(kernel, map=kernel_map(K))
                return kernel, kernel.coordinates(rows.X)
            named = self.kernel in ("gaussian", "linear", "cosine") or (
                self.kernel == "polynomial" and float(self.degree).is_integer()
            )
            found = KernelRows(K if named else symmetrise(np.array(K)))
            return (kernel, found) if named or found.semidefinite() else mapped(kernel, found.values)
        if inner.offset is None:
            return kernel, kernel.coordinates(rows.X)
        K = kernel.values(rows.X)
        self._refuse_equal(K)
        if self.constraint == "coef":
            mean = K.mean(axis=0) if rows.counts is None else rows.counts @ K / rows.counts.sum()
            kernel = replace(kernel, level=mean - (K.mean() if rows.counts is None else mean.mean()))
            return kernel, K - K.mean(axis=1, keepdims=True) - kernel.level
        return kernel, K

    def explicit(self) -> Prepared:
        prepared = self.prepared_
        if isinstance(prepared.training, KernelRows):
            kernel, known = prepared.kernel, prepared.training
            K = kernel.values(kernel.prototypes) if known.spent else known.values
            kernel, training = mapped(kernel, K)
            self.prepared_ = replace(prepared, kernel=kernel, training=training)
        return self.prepared_

    def of_lifted(self, components: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the kernel map as coefficients of kernel rows, so that new rows need no map."""
        kernel = self.prepared_.kernel
        if kernel.map is None:
            return components, mean
        self.prepared_ = replace(self.prepared_, kernel=replace(kernel, map=None))
        inverse = kernel.map / np.einsum("pr,pr->r", kernel.map, kernel.map)  # its columns are orthogonal
        return np.ascontiguousarray(components @ kernel.map.T), inverse @ mean

    def published(self, P: np.ndarray) -> np.ndarray:
        """As coefficients of kernel rows."""
        M = self.prepared_.kernel.map
        return P if M is None else M @ P

    def _refuse_equal(self, K: np.ndarray) -> None:
        """A ValueError for a kernel under which all prototypes are alike."""
        if len(K) > 1 and np.ptp(K) == 0:
            raise ValueError(
                f"X is constant to this kernel: all its values are {K[0, 0]:g} under kernel={self.kernel!r}. Use "
                f"another kernel, {'a smaller tau than ' + repr(self.tau) if self.kernel == 'gaussian' else 'X scaled'}"
                ", or rows that vary."
            )

    def _tuned(self, rows: Rows, inner: Template, kernel: KernelMap, settings: Prepared) -> Tuning:
        """The width of the Gaussian, and the ridge, of least leave-one-out error of kernel ridge regression of the
        labels on some of the rows."""
        free = self.kernel == "gaussian" and self.tau == "auto"
        target = None if rows.labels is None else rows.labels.Y if inner.target is None else inner.target
        if target is None or (inner.B is None and not free):
            return Tuning(median_squared_distance(rows.X) if free else kernel.tau, None, 0)
        counts = rows.ones if rows.counts is None else rows.counts
        weights = (rows.ones if inner.offset is None else inner.offset) * rows.labels.rows_known * rows.unstated
        few = None if self.n_prototypes is None else kernel.prototypes.shape[0]
        sample, known = tuning_rows(weights, target, self.tuning_rows, few), int(np.count_nonzero(weights > 0))
        chosen = inner.B is not None and settings.ridge == "auto"
        exact = self.constraint == "feature" and self.n_prototypes is None
        if not free and not (chosen and exact and len(sample) < known):
            return Tuning(kernel.tau, None, known if chosen else 0)  # the ridge is left to the solver
        share, given = counts[sample].sum() / counts[weights > 0].sum(), None
        if not chosen and inner.B is not None:
            number: Any = settings.ridge
            size, relative = share * float(number), settings.ridge_scale == "trace"
            given = lambda unit: np.array([size * (unit if relative else 1.0)])  # noqa: E731
        spread = rows.X if len(sample) == known else rows.X[sample]
        widths = median_squared_distance(spread) * WIDTHS if free else np.array([kernel.tau or 1.0])
        own, w = rows.X[sample] if self.kernel != "precomputed" else rows.X[sample][:, sample], weights[sample]
        coordinates_at = self._coordinates_of(own.astype(np.float64), w, kernel)
        dimensions = min(counts[sample].sum(), self._width(kernel, rows))
        tau, ridge = least_loo(widths, coordinates_at, target[sample], dimensions, given)
        left = self.n_prototypes is not None and len(sample) < known  # to the solver, which has all rows
        return Tuning(tau if free else kernel.tau, ridge / share if chosen and not left else None, len(sample))

    def _coordinates_of(self, X: Any, weights: np.ndarray, kernel: KernelMap) -> Callable[[float], Coordinates]:
        """The row-space coordinates of some rows by the width: those of the kernel map on the prototypes, where these
        are fewer than the rows."""
        exact = self.n_prototypes is None or kernel.prototypes.shape[0] >= X.shape[0]
        if self.kernel != "gaussian":
            K = replace(kernel, prototypes=X).values(X)
            return lambda tau: kernel_coordinates(K, weights)
        return gaussian_coordinates(X, weights, None if exact else kernel.prototypes)
