"""VariationalProbit: one Bayesian probit regression a label, without an embedding; all labels at once."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_ndtr, softmax
from sklearn.utils.validation import check_consistent_length

from proxembed.algebra.arrays.blas import one_pool, one_thread
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.estimator.callbacks import steps
from proxembed.estimator.validation import checked_features, learning
from proxembed.params import Param, check_params, param, safe_repr
from proxembed.targets.known import known_columns, known_rows
from proxembed.targets.labels import LabelMatrix

from .ascent import Ascent, ascend, warn_unsettled
from .coupled import check_size
from .precision import TrainingRows, may_keep, posterior
from .truncated import LOG_TWO_PI, GammaPrior, LabelSigns, Precision, absent_odds

CERTAIN = -float(np.log(np.finfo(float).eps / 2))  # log odds from which a probability rounds to 1


def probit_log_odds(mean: np.ndarray, variance: np.ndarray, gap: float, log_prior: np.ndarray | None) -> np.ndarray:
    """log P(+) / P(-) of t ~ N(mean, variance) outside (-gap, gap); log weights of the sides, (2, L), or None."""
    root = np.sqrt(variance)
    odds = log_ndtr((mean - gap) / root) - log_ndtr((-mean - gap) / root)
    return odds if log_prior is None else odds + (log_prior[1] - log_prior[0])


class ProbitClassifier(LabelClassifier, abstract=True):
    """Base of classifiers whose scores are log odds: probabilities beside predictions. A subclass also gives
    ``_means(X)``, the means of the probit scores, whose sign alone decides about a label unless the two sides weigh
    differently (``_prior``) or a row has exactly one class."""

    _prior: ClassVar[np.ndarray | None] = None  # log weights of the sides, (2, L)
    _absent_odds: ClassVar[np.ndarray]  # log odds of the labels that no row of fit has, 0 for the others, (c,)

    def _completed(self, odds: np.ndarray) -> np.ndarray:
        """Log odds (m, c), 0 for labels left out of fit, with those of the labels that no row has."""
        absent = self._absent_odds < 0
        scores = odds + self._absent_odds
        if self._labels.form == "classes" and absent.any():  # of one class per row it is never the largest
            scores[:, absent] += np.minimum(odds[:, ~absent].max(axis=1, keepdims=True), 0.0)
        return scores

    @abstractmethod
    def _means(self, X: Any) -> np.ndarray:
        """The mean of every label's score of checked rows, (m, c)."""

    def _predicted(self, X: Any) -> Any:
        """The labels of checked rows; without the variances where the sign of the mean decides."""
        if self._labels.form == "classes" or (self._prior is not None and not np.array_equal(*self._prior)):
            return super()._predicted(X)
        return self._labels.decode(self._means(X) > 0)

    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows by log odds: positive where the label is predicted. X: (m, d) array or sparse matrix. Returns (m,
        c), or (m,) for 1-D y with two classes. Of several labels per row they end at -36.7 and 36.7, where a
        probability in float64 is 1, so that scores and probabilities rank rows alike."""
        scores = super().decision_function(X)
        return scores if self._labels.form == "classes" else np.clip(scores, -CERTAIN, CERTAIN)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels. X: (m, d) array or sparse matrix. Returns (m, c); with one class per row they
        are those of exactly one label, and sum to one."""
        X = self._checked(X)
        scores = self._finite_scores(X)
        return softmax(scores, axis=1) if self._labels.form == "classes" else expit(np.clip(scores, -CERTAIN, CERTAIN))


MOST_SWEEPS = 1_000_000
SHAPE = Param(above=0)


def with_ones(X: Any) -> Any:
    """[1 X], dense or CSR."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.csr_array(sparse.hstack([sparse.csr_array(ones), X])) if sparse.issparse(X) else np.hstack([ones, X])


@dataclass
class ProbitState:
    """Means B (d+1, L; the bias first) and T (n, L); diagonals of the covariances of B; their prior precisions."""

    B: np.ndarray
    T: np.ndarray
    spread: np.ndarray
    lam: Precision | None = None
    psi: Precision | None = None


class Probit:
    """Rows [1 X] and the sweep: (lambda, Psi), B, T."""

    def __init__(self, X: Any, targets: LabelSigns, bias: GammaPrior, weights: GammaPrior, refresh: int):
        self.X, self.targets, self.bias, self.weights = CentredMatrix(X), targets, bias, weights
        check_size(self.X)
        self.route = posterior(self.X, 1.0, shared=False)
        self.refresh = refresh if may_keep(self.route, targets.shape[1]) else 1

    def start(self) -> ProbitState:
        """B = 0 with unit covariances, T = 0.8 y."""
        shape = (self.X.shape[1], self.targets.shape[1])
        return ProbitState(np.zeros(shape), self.targets.first(), np.ones(shape))

    def sweep(self, state: ProbitState, renew: bool) -> float:
        """Replace every factor, the precisions where ``renew``; return the bound."""
        if renew:
            moment = state.B**2 + state.spread
            self.lam, self.psi = self.bias.posterior(moment[0]), self.weights.posterior(moment[1:])
            self.P = np.vstack([self.lam.mean, self.psi.mean])
            state.B = self.route.refresh(self.P, state.T, self.refresh > 1)
            state.spread = self.route.diagonal
        else:
            state.B = self.route.means(state.T)
        state.lam, state.psi = self.lam, self.psi
        self.update_scores(state)
        return self.bound(state)

    def update_scores(self, state: ProbitState, mass: bool = True) -> None:
        """T, and the sum of log Zeta where wanted."""
        M = self.X.dot(state.B)
        state.T, self.log_zeta = self.targets.expect(lambda part: M[part], mass)

    def bound(self, state: ProbitState) -> float:
        """The lower bound of log p(Y | X) right after T was updated."""
        moment, size = state.B**2 + state.spread, state.B.size
        precisions = state.lam.bound(moment[0]) + state.psi.bound(moment[1:])
        entropy = 0.5 * (size * (LOG_TWO_PI + 1.0) + float(self.route.logdet.sum()))
        return precisions + entropy + self.log_zeta - 0.5 * (size - float(np.sum(self.P * state.spread)))

    def pack(self, state: ProbitState) -> np.ndarray:
        """B as one vector."""
        return state.B.ravel()

    def moved(self, state: ProbitState, point: np.ndarray) -> ProbitState:
        """Another state with the B of a vector, and the T that fits it."""
        beyond = ProbitState(point.reshape(state.B.shape), state.T, state.spread, state.lam, state.psi)
        self.update_scores(beyond, mass=False)
        return beyond


class VariationalProbit(ProbitClassifier, keeps_unknown=True):
    """Variational Bayesian probit regression, one per label: t ~ N(w'x + b, 1), y = sign t, one precision per weight.
    [gonen2014bsml]

    A baseline without an embedding, and a classifier after any embedding (standardise its features first). Unknown
    cells are ignored, and rows without any known label are left out. A label that no row has is not learned: its
    probability is 1 / (known + 2), where known is its number of known cells. With fewer rows than 0.55 times the number
    of features the fitted (and the saved) model holds the training rows, otherwise their d x d product.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (d, c) and (c,)
        Posterior means; zeros for a label that no row has.
    lower_bound_ : list of float
        The bound after every sweep.
    n_iter_, converged_ : int, bool
    classes_ : array of shape (c,)

    Raises
    ------
    ValueError
        A parameter out of range; more than 5,000 rows and features; a bound that is not finite.

    See Also
    --------
    proxembed.BSML : Embedding and classifiers learned together.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import VariationalProbit
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> VariationalProbit().fit(X - 1.5, [[1, 0], [1, 0], [0, 1], [0, 1]]).predict(X - 1.5).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """

    hyper: Sequence[float] = param(
        default=(1.0, 1.0, 1.0, 1.0),
        words="4 finite numbers above 0",
        kw_only=False,
        doc="Shape and scale of the gamma prior of the bias's precision, then of the weights'.",
    )
    tol: float = param(
        default=1e-5,
        low=0,
        doc="Converged when the bound gains less than this share a sweep, on average over the last ten or more; 0: "
        "exactly max_iter sweeps, and ``converged_`` stays False.",
    )
    max_iter: int = param(default=500, low=1, high=MOST_SWEEPS, integer=True, doc="Largest number of sweeps.")
    refresh: int = param(default=10, low=1, integer=True, doc="Sweeps between renewals of the precisions.")
    accelerate: bool = param(
        default=True,
        kind=bool,
        doc="Extrapolate between sweeps; the bound still never decreases.  [anderson1965iterative]",
    )

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one probit per label.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form
            Classes, an indicator, or label sets. Unknown cells are allowed.

        Returns
        -------
        self
        """
        with learning(self):
            a, b = self._priors()
            X = checked_features(self, X, reset=True)
            X, labels = self._known(X, y)
            wide = with_ones(X)
            with one_thread:
                model = Probit(wide, LabelSigns.of(labels, 0.0), a, b, int(self.refresh))
                found: Ascent = ascend(
                    model,
                    model.start(),
                    max_iter=int(self.max_iter),
                    tol=float(self.tol),
                    accelerate=bool(self.accelerate),
                    turns=partial(steps, self, "sweep"),
                )
            warn_unsettled(self, found, stacklevel=2)
            self.coef_, self.intercept_ = labels.expand(found.state.B[1:]), labels.expand(found.state.B[0])
            self._precisions = np.vstack([found.state.lam.mean, found.state.psi.mean])
            self._training = TrainingRows.of(model.X)
            self.lower_bound_, self.converged_ = found.bounds, found.converged
            self.n_iter_ = len(found.bounds)
            self._remember(labels)
        return self

    def _known(self, X: Any, y: Any) -> tuple[Any, LabelMatrix]:
        """Rows and labels of which something is known."""
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None; give labels.")
        labels = LabelMatrix.of(y, self.target_type)
        self._reading_ = labels.reading
        check_consistent_length(X, labels.Y)
        if len(labels.classes_) == 0:
            raise ValueError(f"{name}: y names no label, since every set is empty; give at least one row with a label.")
        odds, known = absent_odds(labels), known_columns(labels)
        present = known.drop_empty()
        if present.c == 0:  # no row has any label: all are learned as they are
            odds, present = np.zeros(len(labels.classes_)), known
        self._absent_odds = odds  # type: ignore[misc]  # ClassVar keeps it from being a parameter
        keep = known_rows(name, present)
        return (X, present) if len(keep) == present.n else (X[keep], present.take(keep))

    def _priors(self) -> tuple[GammaPrior, GammaPrior]:
        hyper = check_hyper(type(self).__name__, self.hyper, 4)
        check_params(self)
        return GammaPrior(hyper[0], hyper[1]), GammaPrior(hyper[2], hyper[3])

    def _scores(self, X: Any) -> np.ndarray:
        with one_pool:
            spread = self._training.quadratic_forms(with_ones(X), self._precisions, 1.0)
        return self._completed(probit_log_odds(self._means(X), 1.0 + self._labels.expand(spread), 0.0, None))

    def _means(self, X: Any) -> np.ndarray:
        return CentredMatrix(X).dot(self.coef_) + self.intercept_


def check_hyper(name: str, hyper: Any, size: int) -> tuple[float, ...]:
    """The shapes and scales of gamma priors as floats, or a ValueError."""
    numbers = tuple(hyper) if isinstance(hyper, tuple | list) or np.ndim(hyper) == 1 else ()
    if len(numbers) != size or not all(SHAPE.permits(v) for v in numbers):
        raise ValueError(
            f"{name}: hyper={safe_repr(hyper)} is not allowed; it must be {size} finite numbers above 0: the shape "
            f"and the scale of each gamma prior, such as {(1.0,) * size}."
        )
    return tuple(float(v) for v in numbers)
