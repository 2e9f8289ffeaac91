"""BSML and BSSML: embedding and classifiers, or regressions, learned together; with labels for all rows or for some."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from proxembed.algebra.arrays.blas import matmul, one_pool, one_thread
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.algebra.pencil.eigen import MAX_COMPONENTS
from proxembed.blocks import lazily
from proxembed.classify.label_classifier import LabelsOrNumbers, fitted_to_labels
from proxembed.estimator.base import Embedder
from proxembed.estimator.callbacks import steps
from proxembed.estimator.explain import Explanation, explanation
from proxembed.estimator.predicts import EXTRAPOLATE_DOC
from proxembed.estimator.rows import Rows
from proxembed.estimator.unweighted import Unweighted
from proxembed.estimator.validation import in_range, index_of
from proxembed.estimator.weights import weighed_rows
from proxembed.params import check_params, param
from proxembed.targets.known import known_columns, known_rows
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.outputs import OutputReading

from .ascent import Ascent, ascend, warn_unsettled
from .coupled import PRIORS, Coupled, Hyper, Scores, State, start
from .measured import MeasuredScores, is_number
from .of_views import checked_views, copies_of_views, present_views
from .precision import TrainingRows
from .probit import MOST_SWEEPS, ProbitClassifier, check_hyper, probit_log_odds
from .truncated import GammaPrior, LabelSigns, absent_odds

ONES, SPARSE = (1.0,) * 6, (1.0, 1.0, 1e-10, 1e10, 1.0, 1.0)
ACTIVE = 1e-3
NARROW = 0.1  # sigma_z where y holds numbers
LARGEST = 1e6
MOST_COMPONENTS, MOST_STARTS = 10_000, 10_000


class Coupling(ProbitClassifier, Embedder, keeps_unknown=True, abstract=True):
    """What the Bayesian methods share: parameters, sweeps and the probabilities of labels. [gonen2014bsml]"""

    role = "method"

    n_components: int | None = param(
        default=None,
        low=1,
        high=MOST_COMPONENTS,
        integer=True,
        choices=(None,),
        doc="Components R; None: one per label that some row has, at most 100.",
    )
    prior: str = param(
        default="entry",
        choices=PRIORS,
        doc="What has a precision of its own: each entry of the projection; each column, so that components without "
        "use vanish; or each row, so that features without use vanish.",
    )
    hyper: tuple[Any, ...] | None = param(
        default=None,
        choices=(None,),
        kind=(tuple, list, np.ndarray),
        doc="Shape and scale of the gamma priors of biases, projection and weights (six numbers); None: ones, and "
        "(1e-10, 1e10) for the projection of prior column or row.",
    )
    sigma_z: float | str = param(
        default="auto",
        low=1e-6,
        high=LARGEST,
        choices=("auto",),
        doc="Standard deviation of z about Q'x; auto: 0.1 where y holds numbers, 1 for labels.",
    )
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
    refresh: int = param(
        default=10,
        low=1,
        integer=True,
        doc="Sweeps between renewals of the projection's precisions, of prior entry; others are renewed every time.",
    )
    accelerate: bool = param(
        default=True, kind=bool, doc="Extrapolate between sweeps; the bound still never decreases."
    )
    predictive: str = param(
        default="corrected",
        choices=("corrected", "full", "printed"),
        doc="Variance of the scores of new rows: with z at its mean, or with its variance too; printed: with z at its "
        "mean, and scores over their variance in place of its root, as section 2.4 of the paper has it.",
    )
    random_state: int | None = param(
        default=0, low=0, integer=True, choices=(None,), doc="Seed of the random starts; None: a new one every time."
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find embedding and classifiers.

        Parameters
        ----------
        X : (n, d) array or CSR of float32 or float64
        y : labels in any form, in BSML numbers too
            Unknown cells are allowed.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts; a row of weight 0 counts as absent.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            With the argument, what is allowed and the remedy.
        """
        with self._learning():
            X, y, weights = weighed_rows(X, y, sample_weight)
            rows = self._validate(X, y, weights)
            found, model = self._best(rows)
            self._store(found, model, rows)
        return self

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """The time of a fit: threads share out columns and blocks, each with one thread of BLAS. With a precision per
        column, or per row, one large decomposition serves all columns, and keeps its threads."""
        with super()._learning():
            check_params(self)
            with one_thread if self.prior == "entry" else one_pool:
                yield

    def _validate(self, X: Any, y: Any, weights: np.ndarray | None = None) -> Rows:
        return self._usable(replace(super()._validate(X, y, weights), counts=weights))

    def _columns(self, labels: LabelMatrix, weights: np.ndarray | None) -> LabelMatrix:
        self._absent_odds = absent_odds(labels, weights)  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        return known_columns(labels, stacklevel=5).drop_empty()

    def _usable(self, rows: Rows) -> Rows:
        """The rows that something can be learned from."""
        labels: Any = rows.labels
        more = " BSSML uses them." if isinstance(labels, LabelMatrix) else ""
        keep, times = known_rows(type(self).__name__, labels, more=more), rows.counts
        if len(keep) == labels.n:
            return Rows(rows.X, labels, counts=times)
        return Rows(rows.X[keep], labels.take(keep), counts=None if times is None else times[keep])

    def _best(self, rows: Rows) -> tuple[Ascent, Coupled]:
        """The start that ends with the largest bound."""
        labels: Any = rows.labels
        fixed = isinstance(self.init, dict)
        R = min(labels.c, MAX_COMPONENTS) if self.n_components is None else int(self.n_components)
        for shape in ((labels.c, R + 1, R + 1), (max(rows.X.shape), R)):
            guard_dense(shape, f"n_components={R}: a factor of the model", remedy="Use fewer components.")
        scores, accelerate = self._scores_of(labels, rows.counts), bool(self.accelerate) and not fixed
        hyper = self._hyper(rows.X.shape[1], R, bool(scores.numbers.any()))
        model = Coupled(rows.X, scores, hyper, R, 1 if fixed else int(self.refresh))
        rng = np.random.default_rng(self.random_state)

        def run(i: int) -> Ascent:
            state = start(self.init if i == 0 else "random", model.X, model.targets, R, hyper.shared, rng)
            turns, most = partial(steps, self, "sweep"), int(self.max_iter)
            return ascend(model, state, max_iter=most, tol=float(self.tol), accelerate=accelerate, turns=turns)

        best = max(map(run, range(1 if fixed else int(self.n_init))), key=lambda found: found.bounds[-1])
        warn_unsettled(self, best, stacklevel=3)
        return best, model

    def _scores_of(self, labels: LabelMatrix, times: np.ndarray | None) -> Scores:
        """What is known of the scores t; ``times``: how often each row occurs."""
        return LabelSigns.of(labels, float(self.margin), times=times)

    def _hyper(self, d: int, R: int, numbers: bool) -> Hyper:
        chosen = (ONES if self.prior == "entry" else SPARSE) if self.hyper is None else self.hyper
        h = check_hyper(type(self).__name__, chosen, 6)
        projection = GammaPrior(h[2], h[3], {"entry": 1, "column": d, "row": R}[self.prior])
        sigma = (NARROW if numbers else 1.0) if self.sigma_z == "auto" else float(self.sigma_z)
        return Hyper(GammaPrior(h[0], h[1]), projection, GammaPrior(h[4], h[5]), sigma**2, self.prior)

    def _store(self, found: Ascent, model: Coupled, rows: Rows) -> None:
        state: State = found.state
        labels: Any = rows.labels
        self.components_ = np.ascontiguousarray(state.Q.T)
        self.weights_, self.bias_ = state.B[1:], state.B[0]
        self.precision_projection_ = state.phi.mean.T
        self.precision_bias_, self.precision_weights_ = state.lam.mean, state.psi.mean
        self.noise_ = 1.0 / np.sqrt(state.noise)
        self.lower_bound_, self.converged_ = found.bounds, bool(found.converged)
        self.n_iter_, self.n_components_ = len(found.bounds), len(self.components_)
        lengths = np.linalg.norm(self.components_, axis=1)
        self.n_active_ = int(np.count_nonzero(lengths > ACTIVE * lengths.max()))
        sizes = np.linalg.norm(self.components_, axis=0)
        self.active_features_ = sizes > ACTIVE * sizes.max()
        served = np.linalg.norm(self.weights_, axis=1, keepdims=True)
        self.label_loadings_ = labels.expand(self.weights_ / np.where(served > 0, served, 1.0))
        self._covariance, self._training = state.cov_B, TrainingRows.of(model.rooted)
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
        v, (k, d), P = self._variance, self.components_.shape, self.precision_projection_
        P = np.broadcast_to(P[:, None], (k, d)) if P.ndim == 1 else P
        return v + np.broadcast_to(self._training.quadratic_forms(X, P.T, v), (X.shape[0], k))

    def _embedded(self, X: Any) -> np.ndarray:
        """The means of z, (m, k)."""
        return CentredMatrix(X).dot(self.components_.T)

    def _of_scores(self, Z: np.ndarray) -> np.ndarray:
        """The means of the scores of the columns that took part, from those of z."""
        return matmul(Z, self.weights_) + self.bias_

    def _means(self, X: Any) -> np.ndarray:
        with one_pool:
            return self._labels.expand(self._of_scores(self._embedded(X)))

    def _scores(self, X: Any) -> np.ndarray:
        return self._completed(self._labels.expand(self._log_odds(X)))

    def _log_odds(self, X: Any) -> np.ndarray:
        """Log odds of the columns that took part, under a noise of 1, (m, L)."""
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
        return probit_log_odds(mean, variance, self._half_width, self._prior)

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


class BSML(LabelsOrNumbers, Coupling, labels="multi", keeps_unknown=True, takes_numbers=True):
    """Bayesian supervised multi-label learning: z ~ N(Q'x, I), t ~ N(W'z + b, 1), y = sign t, all learned together.
    [gonen2014bsml]

    The embedding is the one in which its own probit classifiers work best. Numbers in y are t itself, standardised,
    with a noise of their own precision per column in place of 1 (section 4 of the paper); labels and classes beside
    them keep their probits. ``prior="column"`` finds the number of components, ``prior="row"`` selects features.
    Variational inference raises a lower bound of log p(Y | X); sweeps are extrapolated, and the bound never decreases.

    With ``views`` the rows are described in several ways, such as texts in two languages (section 6 of the paper): each
    view has a projection of its own into one space, with one set of classifiers, so that rows with one view are
    classified by what was learned from rows with another. A row takes part once for each view that it has, those with
    an entry other than 0, and is placed at the mean of their places. Where every row has all views, leave ``views``
    out: one projection then weighs them together.

    Unknown cells are ignored, and rows without any known cell are left out. A label that no row has is not learned: its
    probability is 1 / (known + 2), where known is its number of known cells. Standardise the features first. With
    ``sample_weight`` a row takes part in the likelihood as often as its weight says, with the same z and t every time;
    random starts draw once per distinct row.

    ``fit`` does not copy dense float64 rows (also memory-mapped ones) and copies one block at a time of float32 rows;
    random starts with unknown cells copy them for the search of neighbours. With fewer rows than 0.55 times the number
    of features the fitted (and the saved) model holds a copy of the training rows, otherwise their d x d product.

    Attributes
    ----------
    components_ : (k, d) array, the mean of Q'.
    weights_, bias_ : (k, L) and (L,) arrays, the means of W and b; L labels that some row has, or columns of numbers
        that vary.
    precision_projection_, precision_weights_, precision_bias_ : expected precisions; (k, d), (k,) or (1, d) as
        ``prior`` says, (k, L) and (L,).
    noise_ : (L,) array, standard deviations of t about W'z + b: 1 for labels; over those of y for numbers.
    lower_bound_ : list, the bound after every sweep.
    converged_ : whether the bound settled; False with tol=0.
    n_active_ : components longer than 1e-3 of the longest.
    active_features_ : (d,) bool array, features whose weights are longer than 1e-3 of the longest.
    label_loadings_ : (k, c) array, the rows of W at unit length.
    n_iter_, classes_.

    Raises
    ------
    ValueError
        For more than 5,000 rows and features (10,000 with prior="column"), arrays of another shape in init, bad X or y,
        a bound that is not finite.

    See Also
    --------
    proxembed.BSSML : BSML with rows without labels.
    proxembed.VariationalProbit : One Bayesian probit per label.

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

    views: Sequence[Any] | None = param(
        default=None,
        choices=(None,),
        kind=(list, tuple),
        doc="Column numbers of each representation of the rows, every column in one list; None: one representation.",
    )
    extrapolate: bool = param(default=False, kind=bool, doc=EXTRAPOLATE_DOC)
    _views: ClassVar[list[np.ndarray] | None] = None  # as in models saved before there were any

    def _usable(self, rows: Rows) -> Rows:
        """With ``views`` copies of the rows."""
        rows = super()._usable(rows)
        name, d = type(self).__name__, rows.X.shape[1]
        views = None if self.views is None else checked_views(name, self.views, d)
        self._views = views  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        return rows if views is None else copies_of_views(name, rows, views)

    def _number_of_views(self, X: Any) -> np.ndarray:
        """How many views each row has, (m, 1), at least 1."""
        views: Any = self._views
        return np.maximum(present_views(X, views).sum(axis=1), 1)[:, None]

    def _embedded(self, X: Any) -> np.ndarray:
        """Of several views the mean of their places."""
        Z = super()._embedded(X)
        return Z if self._views is None else Z / self._number_of_views(X)

    def _variances(self, X: Any) -> np.ndarray:
        variances = super()._variances(X)
        if self._views is None:
            return variances
        count = self._number_of_views(X)
        return (variances - self._variance) / count**2 + self._variance / count

    def _columns(self, labels: Any, weights: np.ndarray | None) -> Any:
        if isinstance(labels, LabelMatrix):
            return super()._columns(labels, weights)
        return labels.drop_empty() if weights is None else labels.held(weights).drop_empty()

    def _scores_of(self, labels: Any, times: np.ndarray | None) -> Scores:
        if isinstance(labels, LabelMatrix):
            return super()._scores_of(labels, times)
        return MeasuredScores.of(labels, float(self.margin), times)

    def _remember(self, labels: Any) -> None:
        if isinstance(labels, LabelMatrix):
            super()._remember(labels)
        else:
            self._kept_ = labels.kept_columns

    def predict(self, X: Any) -> Any:
        """Predict rows X (m, d) in the form of y: labels as classes (m,), an indicator (m, c) or a list of m sets;
        numbers in their units and types, in the range of the training rows unless ``extrapolate``. Beside numbers,
        labels are those with a probability of at least one half, and classes those with the largest. Blocks of
        them for RowBlocks."""
        check_is_fitted(self, "components_")
        if not isinstance(vars(self).get("_reading_"), OutputReading):
            return super().predict(X)
        if (blocks := lazily(X, self.predict)) is not None:
            return blocks
        index = index_of(X)
        checked = self._checked(X)
        return self._reading_.decoded(in_range(self._raw(checked), checked, np.float64), self.extrapolate, index)

    def _raw(self, X: Any) -> np.ndarray:
        """The means of the numbers in their units, and the probabilities of labels and classes, (m, columns of F)."""
        reading: Any = self._reading_
        with one_pool:
            mean = self._of_scores(self._embedded(X))
        raw = reading.in_units(mean, self._kept_) + reading.level
        kept = np.arange(len(reading.level)) if self._kept_ is None else self._kept_
        signed = np.concatenate([np.full(each.size, not is_number(each)) for each in reading.layout.columns])[kept]
        if signed.any():
            odds = self._log_odds(X)
            raw[:, kept[signed]] = expit(odds[:, signed])
        return raw

    @available_if(fitted_to_labels)
    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows by log odds: positive where the label is predicted. X: (m, d) array or sparse matrix. Returns (m,
        c), or (m,) for 1-D y with two classes. Of several labels per row they end at -36.7 and 36.7, where a
        probability in float64 is 1, so that scores and probabilities rank rows alike."""
        return super().decision_function(X)

    @available_if(fitted_to_labels)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels. X: (m, d) array or sparse matrix. Returns (m, c); with one class per row they
        are those of exactly one label, and sum to one."""
        return super().predict_proba(X)


class BSSML(Unweighted, Coupling, labels="multi", keeps_unknown=True):
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
    components_, weights_, bias_, precision_projection_, precision_weights_, precision_bias_, noise_, lower_bound_,
    n_active_, active_features_, n_iter_, converged_, classes_ : as in BSML.

    Raises
    ------
    ValueError
        For more than 5,000 rows and features (10,000 with prior="column"), arrays of another shape in init, bad X or y.

    See Also
    --------
    proxembed.BSML : Embedding and classifiers learned together.
    proxembed.SSDR : Any supervised with any unsupervised method.

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

    @property
    def why_unweighted(self) -> str:
        return "it has results for each row of fit, which one of weight 0 would lack"

    def _usable(self, rows: Rows) -> Rows:
        return rows

    def _scores_of(self, labels: LabelMatrix, times: np.ndarray | None) -> Scores:
        return LabelSigns.of(labels, float(self.margin), float(self.gap), self._log_prior(labels))

    def _log_prior(self, labels: LabelMatrix) -> np.ndarray:
        """log c- and log c+ of every label, (2, L)."""
        if isinstance(self.class_prior, str):
            positive = (labels.nk + 1.0) / (labels.known_counts + 2.0)
        else:
            positive = _numbers(self.class_prior)
            if labels.kept_columns is not None and positive.shape == labels.classes_.shape:
                positive = positive[labels.kept_columns]
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
