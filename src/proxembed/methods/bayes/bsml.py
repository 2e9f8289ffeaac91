"""BSML: embedding and probit classifiers learned together, supervised; the estimator that its variants extend."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import matmul, one_pool, one_thread
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS
from proxembed.estimator.base import Embedder
from proxembed.estimator.explain import Explanation, explanation
from proxembed.estimator.rows import Rows
from proxembed.estimator.validation import in_range
from proxembed.params import check_params, param
from proxembed.targets.known import known_columns, known_rows
from proxembed.targets.labels import LabelMatrix

from .ascent import Ascent, ascend, warn_unsettled
from .coupled import Coupled, Hyper, State, start
from .precision import TrainingRows
from .probit import MOST_SWEEPS, ProbitClassifier, check_hyper, probit_log_odds
from .truncated import GammaPrior, LabelSigns, absent_odds

ONES, SPARSE = (1.0,) * 6, (1.0, 1.0, 1e-10, 1e10, 1.0, 1.0)
ACTIVE = 1e-3
LARGEST = 1e6
MOST_COMPONENTS, MOST_STARTS = 10_000, 10_000


class BSML(ProbitClassifier, Embedder, labels="multi", keeps_unknown=True):
    """Bayesian supervised multi-label learning: z ~ N(Q'x, I), t ~ N(W'z + b, 1), y = sign t, all learned together.
    [gonen2014bsml]

    The embedding is the one in which its own probit classifiers work best. With ``ard=True`` the number of components
    follows from the data. Variational inference raises a lower bound of log p(Y | X); sweeps are extrapolated, and the
    bound never decreases. Unknown cells are ignored, and rows without any known label are left out. A label that no row
    has is not learned: its probability is 1 / (known + 2), where known is its number of known cells. Standardise the
    features first.

    ``fit`` does not copy dense float64 rows (also memory-mapped ones) and copies one block at a time of float32 rows;
    random starts with unknown cells copy them for the search of neighbours. With fewer rows than 0.55 times the number
    of features the fitted (and the saved) model holds a copy of the training rows, otherwise their d x d product.

    Attributes
    ----------
    components_ : (k, d) array, the mean of Q'.
    weights_, bias_ : (k, L) and (L,) arrays, the means of W and b; L labels that some row has.
    precision_projection_, precision_weights_, precision_bias_ : expected precisions, (k, d) or (k,), (k, L) and (L,).
    lower_bound_ : list, the bound after every sweep.
    converged_ : whether the bound settled; False with tol=0.
    n_active_ : components longer than 1e-3 of the longest.
    label_loadings_ : (k, c) array, the rows of W at unit length.
    n_iter_, classes_.

    Raises
    ------
    ValueError
        For more than 5,000 rows and features (10,000 with ard), arrays of another shape in init, bad X or y, a bound
        that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import BSML
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> X = (data.X - data.X.mean(axis=0)) / 4
    >>> model = BSML(n_components=2, tol=1e-4).fit(X, data.Y)
    >>> bool(np.mean(model.predict(X) != data.Y.toarray()) < 0.25)  # share of wrong labels
    True
    """

    role = "method"

    n_components: int | None = param(
        default=None,
        low=1,
        high=MOST_COMPONENTS,
        integer=True,
        choices=(None,),
        doc="Components R; None: one per label that some row has, at most 100.",
    )
    ard: bool = param(default=False, kind=bool, doc="One precision per component, so that unneeded ones vanish.")
    hyper: tuple[Any, ...] | None = param(
        default=None,
        choices=(None,),
        kind=(tuple, list, np.ndarray),
        doc="Shape and scale of the gamma priors of biases, projection and weights (six numbers); None: ones, and "
        "(1e-10, 1e10) for the projection with ard.",
    )
    sigma_z: float = param(default=1.0, low=1e-6, high=LARGEST, doc="Standard deviation of z about Q'x.")
    margin: float = param(default=0.0, low=0, high=LARGEST, doc="Known labels require t beyond this.")
    init: str | dict[str, Any] = param(
        default="svd",
        choices=("svd", "random"),
        kind=dict,
        doc="Start: ridge scores, standard normal arrays, or arrays Q (d, R), Z (n, R), B (R+1, L; the bias first) "
        "and T (n, L) with unit covariances, swept plainly and renewed every time.",
    )
    n_init: int = param(
        default=1,
        low=1,
        high=MOST_STARTS,
        integer=True,
        doc="Starts, of which the largest bound is kept; all but the first are random.",
    )
    tol: float = param(
        default=1e-5,
        low=0,
        doc="Converged when the bound gains less than this share a sweep, on average over the last ten or more; 0: "
        "exactly max_iter sweeps, and ``converged_`` stays False.",
    )
    max_iter: int = param(default=500, low=1, high=MOST_SWEEPS, integer=True, doc="Largest number of sweeps.")
    refresh: int = param(default=10, low=1, integer=True, doc="Sweeps between renewals of the projection's precisions.")
    accelerate: bool = param(
        default=True, kind=bool, doc="Extrapolate between sweeps; the bound still never decreases."
    )
    predictive: str = param(
        default="paper",
        choices=("paper", "full", "printed"),
        doc="Variance of the scores of new rows: with z at its mean, or with its variance too; printed: with z at its "
        "mean, and scores over their variance in place of its root, as section 2.4 of the paper has it.",
    )
    random_state: int | None = param(
        default=0, low=0, integer=True, choices=(None,), doc="Seed of the random starts; None: a new one every time."
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find embedding and classifiers. X: (n, d) array or CSR of float32 or float64. y: labels in any form of
        ``LabelMatrix``, unknown cells allowed. Returns self. Raises ValueError with the argument, what is allowed and
        the remedy."""
        with self._learning():
            rows = self._validate(X, y)
            found, model = self._best(rows)
            self._store(found, model, rows)
        return self

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """The time of a fit: threads share out columns and blocks, each with one thread of BLAS. With ``ard`` there is
        one large decomposition in place of many columns, which keeps its threads."""
        with super()._learning():
            check_params(self)
            with one_pool if self.ard else one_thread:
                yield

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        return self._usable(super()._validate(X, y, weights))

    def _columns(self, labels: LabelMatrix) -> LabelMatrix:
        self._absent_odds = absent_odds(labels)  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        return known_columns(labels, stacklevel=5).drop_empty()

    def _usable(self, rows: Rows) -> Rows:
        """The rows that something can be learned from."""
        labels: Any = rows.labels
        keep = known_rows(type(self).__name__, labels, more=" BSSML uses them.")
        return Rows(rows.X, labels) if len(keep) == labels.n else Rows(rows.X[keep], labels.take(keep))

    def _best(self, rows: Rows) -> tuple[Ascent, Coupled]:
        """The start that ends with the largest bound."""
        labels: Any = rows.labels
        fixed = isinstance(self.init, dict)
        R = min(labels.c, MAX_COMPONENTS) if self.n_components is None else int(self.n_components)
        for shape in ((labels.c, R + 1, R + 1), (max(rows.X.shape), R)):
            guard_dense(shape, f"n_components={R}: a factor of the model", remedy="Use fewer components.")
        hyper, accelerate = self._hyper(rows.X.shape[1]), bool(self.accelerate) and not fixed
        model = Coupled(rows.X, self._targets(labels), hyper, R, 1 if fixed else int(self.refresh))
        rng = np.random.default_rng(self.random_state)

        def run(i: int) -> Ascent:
            state = start(self.init if i == 0 else "random", model.X, model.targets, R, hyper.shared, rng)
            return ascend(model, state, max_iter=int(self.max_iter), tol=float(self.tol), accelerate=accelerate)

        best = max(map(run, range(1 if fixed else int(self.n_init))), key=lambda found: found.bounds[-1])
        warn_unsettled(self, best, stacklevel=3)
        return best, model

    def _targets(self, labels: LabelMatrix) -> LabelSigns:
        return LabelSigns.of(labels, float(self.margin))

    def _hyper(self, d: int) -> Hyper:
        chosen = (SPARSE if self.ard else ONES) if self.hyper is None else self.hyper
        h = check_hyper(type(self).__name__, chosen, 6)
        projection = GammaPrior(h[2], h[3], d if self.ard else 1)
        return Hyper(
            GammaPrior(h[0], h[1]),
            projection,
            GammaPrior(h[4], h[5]),
            variance=float(self.sigma_z) ** 2,
            shared=bool(self.ard),
        )

    def _store(self, found: Ascent, model: Coupled, rows: Rows) -> None:
        state: State = found.state
        labels: Any = rows.labels
        self.components_ = np.ascontiguousarray(state.Q.T)
        self.weights_, self.bias_ = state.B[1:], state.B[0]
        self.precision_projection_ = state.phi.mean.T
        self.precision_bias_, self.precision_weights_ = state.lam.mean, state.psi.mean
        self.lower_bound_, self.converged_ = found.bounds, bool(found.converged)
        self.n_iter_, self.n_components_ = len(found.bounds), len(self.components_)
        lengths = np.linalg.norm(self.components_, axis=1)
        self.n_active_ = int(np.count_nonzero(lengths > ACTIVE * lengths.max()))
        served = np.linalg.norm(self.weights_, axis=1, keepdims=True)
        self.label_loadings_ = labels.expand(self.weights_ / np.where(served > 0, served, 1.0))
        self._covariance, self._training = state.cov_B, TrainingRows.of(model.X)
        self._prior = model.targets.log_prior  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        self._half_width, self._variance = self._gap(), model.hyper.variance
        self._remember(labels)

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """The embedding of rows X, (m, d) to (m, k), in X's float type: the means of z. With ``return_std`` a pair: the
        means, and the standard deviations of z, (m, k)."""
        X = self._checked(X)
        with one_pool:
            Z = self._embedded(X)
            if not return_std:
                return in_range(Z, X)
            return in_range(Z, X), in_range(np.sqrt(self._variances(X)), X)

    def explain(self, component: int = 0, n_features: int = 10, n_labels: int = 10) -> Explanation:
        """Signed top features of a component and the labels whose scores it moves, strongest first."""
        check_is_fitted(self, "components_")
        return explanation(self, component, n_features, n_labels)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "components_")
        return self._input(X, reset=False)

    def _variances(self, X: Any) -> np.ndarray:
        """Variances of z, (m, k)."""
        v, d = self._variance, self.components_.shape[1]
        P = np.broadcast_to(self.precision_projection_.reshape(self.n_components_, -1), (self.n_components_, d)).T
        return v + self._training.quadratic_forms(X, P, v)

    def _embedded(self, X: Any) -> np.ndarray:
        """The means of z, (m, k)."""
        return CentredMatrix(X).dot(self.components_.T)

    def _of_scores(self, Z: np.ndarray) -> np.ndarray:
        """The means of the scores of the labels that some row has, from those of z."""
        return matmul(Z, self.weights_) + self.bias_

    def _means(self, X: Any) -> np.ndarray:
        with one_pool:
            return self._labels.expand(self._of_scores(self._embedded(X)))

    def _scores(self, X: Any) -> np.ndarray:
        check_params(self)  # predictive may have been set after fit
        with one_pool:
            Z1 = np.hstack([np.ones((X.shape[0], 1)), self._embedded(X)])
            mean = self._of_scores(Z1[:, 1:])
            variance = 1.0 + np.column_stack([(matmul(Z1, C) * Z1).sum(axis=1) for C in self._covariance])
            if self.predictive == "full":
                moments = self.weights_**2 + np.diagonal(self._covariance, axis1=1, axis2=2).T[1:]
                variance += self._variances(X) @ moments
            elif self.predictive == "printed":
                variance = variance**2
        return self._completed(self._labels.expand(probit_log_odds(mean, variance, self._half_width, self._prior)))

    def _gap(self) -> float:
        """Half the width of the band in which no score of a new row lies."""
        return float(self.margin)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class BSSML(BSML):
    """Bayesian semi-supervised multi-label learning: BSML in which scores of unlabelled cells avoid -gap < t < gap.
    [gonen2014bsml]

    Unlabelled cells push the decision boundary of their label to regions with few rows. All rows are used, also those
    without any label. The default follows the published implementation (known labels require t beyond 0);
    ``margin=0.5`` follows the printed equations.

    Attributes
    ----------
    transduction_ : labels of all rows of fit in the form of y: the known ones, and those predicted for the unknown.
    transductive_scores_ : (n, c) array, the means of the scores t of all rows of fit before they are cut; 0 for labels
        that no row has.
    components_, weights_, bias_, precision_projection_, precision_weights_, precision_bias_, lower_bound_, n_active_,
    n_iter_, converged_, classes_ : as in BSML.

    Raises
    ------
    ValueError
        For more than 5,000 rows and features (10,000 with ard), arrays of another shape in init, bad X or y.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import BSSML
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> X, Y = (data.X - data.X.mean(axis=0)) / 4, data.Y.toarray().astype(float)
    >>> Y[900:] = np.nan
    >>> fit = BSSML(tol=1e-4).fit(X, Y)
    >>> bool(np.mean(fit.transduction_[900:] != data.Y[900:].toarray()) < 0.15)
    True
    """

    gap: float = param(
        default=0.5, above=0, high=LARGEST, doc="Half the width of the band that scores of unlabelled cells avoid."
    )
    class_prior: float | str | Sequence[Any] = param(
        default=0.5,
        above=0,
        below=1,
        choices=("empirical",),
        kind=(list, tuple, np.ndarray),
        doc="Probability that an unlabelled cell is positive: a number, one per label, or 'empirical': a label's "
        "(positive + 1) / (known + 2) known cells (rare labels may then never be predicted).",
    )

    def _usable(self, rows: Rows) -> Rows:
        return rows

    def _targets(self, labels: LabelMatrix) -> LabelSigns:
        return LabelSigns.of(labels, float(self.margin), float(self.gap), self._log_prior(labels))

    def _log_prior(self, labels: LabelMatrix) -> np.ndarray:
        """log c- and log c+ of every label, (2, L)."""
        if isinstance(self.class_prior, str):
            positive = (labels.nk + 1.0) / (labels.known_counts + 2.0)
        else:
            positive = _numbers(self.class_prior)
            if labels.kept is not None and positive.shape == labels.classes_.shape:
                positive = positive[labels.kept]
        if positive.shape not in ((), (labels.c,)) or not np.all((positive > 0) & (positive < 1)):
            raise ValueError(
                f"{type(self).__name__}: class_prior={self.class_prior!r} is not allowed; it must be one number in "
                f"(0, 1), one for each of the {len(labels.classes_)} labels, or 'empirical'."
            )
        positive = np.broadcast_to(positive, labels.c)
        return np.log([1.0 - positive, positive])

    def _store(self, found: Ascent, model: Coupled, rows: Rows) -> None:
        super()._store(found, model, rows)
        labels = rows.labels
        scores = found.state.Z @ self.weights_ + self.bias_
        odds = probit_log_odds(scores, np.ones_like(scores), self._gap(), self._prior)
        chosen = odds > 0
        if labels.form == "classes":
            chosen = np.arange(labels.c) == odds.argmax(axis=1)[:, None]
        known = labels.Y.toarray()
        hidden = np.zeros(known.shape, dtype=bool) if labels.unknown is None else labels.unknown.toarray()
        self.transduction_ = labels.decode(labels.expand(np.where(hidden, chosen, known)))
        self.transductive_scores_ = labels.expand(scores)

    def _gap(self) -> float:
        return float(self.gap)


def _numbers(values: Any) -> np.ndarray:
    """An array of floats; one of no entries, which no labels have, for what is none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
