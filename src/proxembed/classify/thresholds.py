"""The one shared threshold rule: where to cut label scores, the same for every method and rival."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if

from proxembed.estimator.validation import checked_features, learning
from proxembed.estimator.weights import takes_weights, weighed_rows, weights_of, weights_of_known
from proxembed.execute.executor import callers_configuration
from proxembed.measures.calibration import Calibration, calibrated, calibrated_classes, log_odds_of, probabilities_of
from proxembed.params import Param, accept_classes, check_params, param, safe_repr
from proxembed.splits.splits import FOLDS, index_pairs, parts_of
from proxembed.splits.stratification import stratified_parts
from proxembed.targets.known import known_labels
from proxembed.targets.labels import MANY_LABELS, LabelMatrix
from proxembed.targets.values import dense_labels, sparse_labels

from .label_classifier import LabelClassifier
from .ridge import MultiOutputRidge
from .score_products import UnseenScores

SHRINK = 10.0
COLUMNS = 256
MORE_THAN_POSITIVE = 16  # scores per positive cell among which the common cut is looked for first
WEIGHT = Param(low=0)


class Thresholds(NamedTuple):
    """Thresholds of label scores: a label is predicted if its score exceeds its threshold.

    See Also
    --------
    proxembed.classify.tune_thresholds : Chooses cuts.
    proxembed.Thresholded : Cuts and probabilities for any classifier.
    """

    cuts: np.ndarray
    global_cut: float


def _candidates(ranked: np.ndarray, positive: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
    """The cuts just below each score of a positive row, halfway to the next score, with the F1 that each gives, of
    ``total`` positive rows. Largest score first. Any other cut predicts more rows and no more positive ones."""
    values, gained = (each[::-1] for each in np.unique(positive, return_counts=True))
    hits, lower = np.cumsum(gained), np.searchsorted(ranked, values)
    f1 = 2 * hits / (total + len(ranked) - lower)
    under = ranked[np.maximum(lower - 1, 0)]
    middle = under + (values - under) / 2
    middle = np.where(middle < values, middle, under)
    if lower[-1] == 0:  # all scores are predicted
        step = (ranked[-1] - ranked[0]) / max(np.count_nonzero(np.diff(ranked)), 1) / 2
        middle[-1] = min(ranked[0] - step, np.nextafter(ranked[0], -np.inf))
    return middle, f1


class _Largest:
    """The largest of scores that come label by label: ``some`` of them, and perhaps some more."""

    def __init__(self, some: int):
        self.some, self.floor, self.held = some, -np.inf, 0
        self.parts: list[np.ndarray] = []

    def add(self, ranked: np.ndarray) -> None:
        """Add scores, smallest first."""
        self.parts.append(ranked[np.searchsorted(ranked, self.floor, "right") :])
        self.held += len(self.parts[-1])
        if self.held > 2 * self.some:
            every = np.concatenate(self.parts)
            every = np.partition(every, self.held - self.some)[-self.some :]
            self.floor, self.parts, self.held = every.min(), [every], self.some

    def cut(self, positive: np.ndarray, size: int) -> float | None:
        """The cut of largest F1 of all ``size`` scores; None where more of them are needed. A cut that predicts r cells
        has an F1 of at most 2 p / (p + r) for p positive cells, so that the largest scores settle it where they reach a
        larger F1 than that."""
        ranked, total = np.sort(np.concatenate(self.parts)), len(positive)
        if len(ranked) < size:
            positive = positive[positive > ranked[0]]
        if not len(positive):
            return None
        cuts, f1 = _candidates(ranked, positive, total)
        if len(ranked) < size and f1.max() <= 2 * total / (total + len(ranked)):
            return None
        return float(cuts[np.argmax(f1)])


def _columns(S: Any, Y: sp.csc_array, known: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The ranked scores of each label on known cells, and those of its positive rows; labels are read by blocks."""
    for start in range(0, S.shape[1], COLUMNS):
        part = slice(start, start + COLUMNS)
        scores = np.ascontiguousarray(S[:, part].T) if isinstance(S, np.ndarray) else S.of_labels(part)
        for label, own in enumerate(scores, start):
            rows = Y.indices[Y.indptr[label] : Y.indptr[label + 1]]
            if known is None:
                yield np.sort(own), own[rows]
            else:
                yield np.sort(own[known[:, label]]), own[rows[known[rows, label]]]


def _global_cut(S: Any, Y: sp.csc_array, known: np.ndarray | None, some: int, positive: np.ndarray, size: int) -> float:
    """The cut of largest F1 of all scores together, from more and more of the largest ones."""
    while True:
        some = min(MORE_THAN_POSITIVE * some, size)
        largest = _Largest(some)
        for ranked, _ in _columns(S, Y, known):
            largest.add(ranked)
        if (cut := largest.cut(positive, size)) is not None:
            return cut


def tune_thresholds(
    S: Any,
    Y: Any,
    *,
    shrink: float = SHRINK,
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> Thresholds:
    """Cut scores where F1 is largest: a cut for each label, shrunk to the global cut where the label is rare.

    The rule, written down: (1) the global cut g maximises the micro F1 of all labels cut alike; (2) t_j maximises the
    F1 of label j; cuts lie halfway between neighbouring scores, and of equally good ones that nearest g is taken;
    (3) the cut of label j with n_j positive rows is (n_j t_j + shrink g) / (n_j + shrink). A label without a positive
    row, or whose scores are all equal, gets g. The scores must come from models that have not seen their rows
    (``cross_fitted_scores``), and be comparable between labels.

    Parameters
    ----------
    S : array of shape (n, c), or the products of many labels
        Cross-fitted scores of the training part.
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    shrink : float, default=10
        Weight of the global cut, in positive rows; 0 trusts every label's own cut.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    Thresholds
        ``cuts`` (c,) and ``global_cut``.

    Raises
    ------
    ValueError
        Shapes differ, S is not finite, Y is not 0/1, there is no row, or ``shrink`` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.thresholds import apply_thresholds, tune_thresholds
    >>> S, Y = np.array([[0.1, 0.2], [0.3, 0.4], [0.6, 0.9]]), np.array([[0, 0], [1, 0], [1, 1]])
    >>> found = tune_thresholds(S, Y, shrink=1)
    >>> found.cuts.round(3).tolist(), round(found.global_cut, 3)
    ([0.217, 0.45], 0.25)
    >>> apply_thresholds(S, found).tolist()
    [[False, False], [True, False], [True, True]]
    """
    if not isinstance(S, UnseenScores):
        S = np.asarray(S)
        S = S if S.dtype == np.float32 else S.astype(np.float64, copy=False)
    Y = sp.csc_array(sparse_labels(Y))
    if S.shape != Y.shape or 0 in S.shape:
        raise ValueError(
            f"S and Y must be n x c with one shape; got S {S.shape} and Y {Y.shape}. Score every row and label."
        )
    if not WEIGHT.permits(shrink):
        raise ValueError(f"shrink={safe_repr(shrink)} is not allowed; shrink must be {WEIGHT.allowed()}.")
    if sample_weight is not None:
        return _weighted_thresholds(np.asarray(S), Y.toarray() > 0, float(shrink), known, sample_weight)
    size = Y.shape[0] * Y.shape[1] if known is None else int(np.count_nonzero(known))
    some = MORE_THAN_POSITIVE * max(Y.nnz, 1)
    largest = _Largest(some)
    bests, positive, low, high = [], [], np.inf, -np.inf
    for ranked, own in _columns(S, Y, known):
        positive.append(own)
        bests.append(_best_cuts(ranked, own))
        if len(ranked):
            if not np.isfinite(ranked[[0, -1]]).all():
                raise ValueError(
                    "S must be finite; it holds NaN or infinity. Check the model that produced the scores."
                )
            largest.add(ranked)
            low, high = min(low, ranked[0]), max(high, ranked[-1])
    every = np.concatenate(positive)
    global_cut: Any = float(high)
    if len(every) and low < high:
        global_cut = largest.cut(every, size)
        if global_cut is None:
            global_cut = _global_cut(S, Y, known, some, every, size)
    near = [best[np.argmin(np.abs(best - global_cut))] if len(best) else global_cut for best in bests]
    positives = np.array([len(own) for own in positive])
    weight = np.where(positives > 0, positives / np.maximum(positives + float(shrink), 1), 0.0)
    return Thresholds(weight * np.array(near) + (1 - weight) * global_cut, global_cut)


def _weighted_thresholds(
    S: np.ndarray, Y: np.ndarray, shrink: float, known: np.ndarray | None, w: np.ndarray
) -> Thresholds:
    """The cuts of ``tune_thresholds`` for dense scores of rows that count w times each."""
    if not np.isfinite(S).all():
        raise ValueError("S must be finite; it holds NaN or infinity. Check the model that produced the scores.")
    cells, every = np.ones(Y.shape, dtype=bool) if known is None else known, np.broadcast_to(w[:, None], Y.shape)
    global_cut: Any = float(S[cells].max(initial=-np.inf))
    if (cuts := _weighted_cuts(S[cells], Y[cells], every[cells])) is not None:
        global_cut = float(cuts[0][np.argmax(cuts[1])])
    found = np.full(Y.shape[1], global_cut)
    for j, rows in enumerate(cells.T):
        own, positives = _weighted_cuts(S[rows, j], Y[rows, j], w[rows]), float(w[rows] @ Y[rows, j])
        if own is not None:
            best = own[0][own[1] >= own[1].max() * (1 - 1e-12)]
            near = best[np.argmin(np.abs(best - global_cut))]
            found[j] = (positives * near + shrink * global_cut) / (positives + shrink)
    return Thresholds(found, global_cut)


def _weighted_cuts(s: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """``_candidates`` of rows that count w times each; None without a positive row or where all scores are equal."""
    values, place = np.unique(s, return_inverse=True)
    if not y.any() or len(values) < 2:
        return None
    gained, predicted = (np.cumsum(np.bincount(place, each, len(values))[::-1])[::-1] for each in (w * y, w))
    at = np.unique(place[y])[::-1]
    under = values[np.maximum(at - 1, 0)]
    middle = under + (values[at] - under) / 2
    middle = np.where(middle < values[at], middle, under)
    if at[-1] == 0:  # all scores are predicted
        step = (values[-1] - values[0]) / (len(values) - 1) / 2
        middle[-1] = min(values[0] - step, np.nextafter(values[0], -np.inf))
    return middle, 2 * gained[at] / (gained[0] + predicted[at])


def _best_cuts(ranked: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """The cuts of largest F1 of one label; none without a positive row or where all scores are equal."""
    if not len(positive) or ranked[0] == ranked[-1]:
        return ranked[:0]
    cuts, f1 = _candidates(ranked, positive, len(positive))
    return cuts[f1 >= f1.max() * (1 - 1e-12)]


def apply_thresholds(S: Any, thresholds: Thresholds) -> np.ndarray:
    """Predict every label whose score exceeds its cut.

    Parameters
    ----------
    S : array of shape (m, c)
    thresholds : Thresholds

    Returns
    -------
    bool array of shape (m, c)

    Raises
    ------
    ValueError
        S has another number of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify.thresholds import Thresholds, apply_thresholds
    >>> apply_thresholds(np.array([[0.2, 0.2]]), Thresholds(np.array([0.1, 0.2]), 0.2)).tolist()
    [[True, False]]
    """
    S, cuts = np.asarray(S, dtype=np.float64), np.asarray(thresholds.cuts)
    if S.ndim != 2 or S.shape[1] != len(cuts):
        raise ValueError(f"S must have one column for each of the {len(cuts)} cuts; got shape {S.shape}.")
    return S > cuts


def _label_scores(classifier: Any, X: Any, n_labels: int) -> np.ndarray:
    """One score per label: the decision function, else probabilities."""
    if hasattr(classifier, "decision_function"):
        scores = classifier.decision_function(X)
    elif hasattr(classifier, "predict_proba"):
        scores = classifier.predict_proba(X)
        if isinstance(scores, list):
            scores = np.column_stack(
                [_of_one(part, seen) for part, seen in zip(scores, classifier.classes_, strict=True)]
            )
    else:
        raise TypeError(
            f"classifier={classifier!r} has neither decision_function nor predict_proba; there is nothing to cut."
        )
    scores = np.asarray(scores, dtype=np.float64).reshape(X.shape[0], -1)
    if scores.shape[1] != n_labels:
        raise ValueError(
            f"classifier={classifier!r} gives {scores.shape[1]} scores per row for {n_labels} labels; it must give one "
            "per label. Wrap it in sklearn.multiclass.OneVsRestClassifier."
        )
    return scores


def _of_one(probabilities: np.ndarray, classes: Any) -> np.ndarray:
    """Probability of 1 for one label, whichever of 0 and 1 were seen."""
    column = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, column[0]] if len(column) else np.zeros(len(probabilities))


def label_folds(n_folds: int, Y: Any) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Multi-label stratified folds of the rows of Y, at most as many as rows; rows without a label are spread too."""
    n = Y.shape[0]
    if n < 2:
        raise ValueError(f"{n} rows with known labels cannot be split into folds; label at least 2 rows.")
    n_folds = min(n_folds, n)
    part = stratified_parts(Y, np.full(n_folds, 1 / n_folds))
    return [(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in range(n_folds)]


def _folds(cv: Any, X: Any, Y: np.ndarray) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not FOLDS.permits(cv):
            raise ValueError(f"cv={safe_repr(cv)} is not allowed; a number of folds must be {FOLDS.allowed()}.")
        return label_folds(int(cv), Y)
    if cv is None or (hasattr(cv, "split") and not isinstance(cv, str | bytes)):
        return index_pairs(cv, parts_of(check_cv(cv), X, Y), len(Y))
    return index_pairs(cv, cv, len(Y))


def cross_fitted_scores(
    classifier: Any,
    X: Any,
    Y: Any,
    cv: Any = 5,
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Scores of every row by a classifier that has not seen it, fitted on the other folds.

    Parameters
    ----------
    classifier : estimator
        With ``decision_function`` or ``predict_proba``, one score per label; it is cloned, not fitted.
    X : array or sparse array of shape (n, d)
    Y : array or sparse array of shape (n, c)
        Labels, 0 or 1.
    cv : int, splitter or iterable of (train, test), default=5
        Number of multi-label stratified folds, or a splitter or iterable as in scikit-learn; the test parts must cover
        all rows.
    known : bool array of shape (n, c), optional
        The cells that are known; the classifier gets NaN for the others. None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts, which the classifier gets; None: once.

    Returns
    -------
    array of shape (n, c)

    Raises
    ------
    ValueError
        The folds leave rows without a score, or the classifier does not give one score per label.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import MultiOutputRidge
    >>> from proxembed.classify.thresholds import cross_fitted_scores
    >>> X = np.arange(8.0)[:, None]
    >>> cross_fitted_scores(MultiOutputRidge(), X, np.hstack([X > 3, X < 2])).shape
    (8, 2)
    """
    Y = dense_labels(Y)
    S = np.full(Y.shape, np.nan)
    targets = Y.astype(np.int64) if known is None else np.where(known, Y, np.nan)
    for train, held_out in _folds(cv, X, Y):
        fitted = clone(classifier).fit(X[train], targets[train], **weights_of(sample_weight, train))
        S[held_out] = _label_scores(fitted, X[held_out], Y.shape[1])
    missing = int(np.isnan(S).any(axis=1).sum())
    if missing:
        raise ValueError(f"cv={cv!r} leaves {missing} of {len(S)} rows without a score; its test parts must cover all.")
    return S


def _class_scores(classifier: Any, X: Any, labels: LabelMatrix) -> np.ndarray:
    """One score per class, (m, c), by a classifier fitted to some of the classes; others have the lowest score."""
    scored = hasattr(classifier, "decision_function")
    own = np.asarray(classifier.decision_function(X) if scored else classifier.predict_proba(X), dtype=np.float64)
    if own.ndim == 1:
        own = np.column_stack([-own, own])
    if own.shape[1] == labels.c:
        return own
    scores = np.repeat(own.min(axis=1, keepdims=True), labels.c, axis=1)
    scores[:, np.searchsorted(labels.classes_, classifier.classes_)] = own
    return scores


def _unseen_class_scores(classifier: Any, X: Any, labels: LabelMatrix, cv: Any, w: np.ndarray | None) -> np.ndarray:
    """Scores of the classes of every row by a classifier that has not seen it; a fold whose other rows have one class
    alone scores that class 1 and the others 0."""
    scores = np.full((labels.n, labels.c), np.nan)
    for train, held_out in _folds(cv, X, dense_labels(labels.Y)):
        seen = labels.take(train)
        if np.count_nonzero(seen.nk) == 1:
            scores[held_out] = seen.nk > 0
            continue
        fitted = clone(classifier).fit(X[train], seen.decode(seen.Y), **weights_of(w, train))
        scores[held_out] = _class_scores(fitted, X[held_out], labels)
    if np.isnan(scores).any():
        raise ValueError(f"cv={cv!r} leaves rows without a score; its test parts must cover all.")
    return scores


def _is_scored(classifier: Any) -> bool:
    return hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")


def _has_probabilities(estimator: Any) -> bool:
    """Whether a read-out is calibrated, or may become so."""
    return not hasattr(estimator, "classifier_") or vars(estimator).get("calibration_") is not None


def _is_estimator(value: Any) -> bool:
    return hasattr(value, "fit") and hasattr(value, "get_params") and not isinstance(value, type)


class Thresholded(MetaEstimatorMixin, LabelClassifier):
    """A classifier with thresholds and probabilities, both tuned on cross-fitted scores of the training rows.

    The classifier is fitted on all rows; thresholds (``tune_thresholds``) and probabilities come from inner folds. It
    may be a whole pipeline: then scaling and embedding are also fitted inside the folds, and both stay valid for an
    embedding that has seen the labels. The probability of a label is a sigmoid of its score whose two sides have slopes
    of their own: beta calibration, shrunk to Platt's sigmoid where few rows have the label. A label may be predicted
    below a probability of one half: its cut is that of largest F1. With one class per row there is no cut; the
    probabilities are a softmax of the scores with one slope and a level per class, and the class is the most probable
    one. [platt1999probabilities, kull2017beta, alexandari2020shift] Rows with unknown labels are left out, with a
    warning; if every row has an unknown label, the classifier gets NaN in the unknown cells.

    Attributes
    ----------
    classifier_ : estimator
        Fitted on all rows.
    cuts_ : array of shape (c,), or None with one class per row
    global_cut_ : float or None
    calibration_ : Calibration, or None of a classifier of classes that has no scores
        The map from scores to probabilities.

    Raises
    ------
    ValueError
        A parameter out of range, or a classifier that does not give one score per label.

    See Also
    --------
    proxembed.classify.Thresholds : Cuts of labels.
    proxembed.MultiOutputRidge : One linear score per label.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.classify import Thresholded
    >>> X = np.arange(20.0)[:, None]
    >>> model = Thresholded().fit(X, np.hstack([X > 15, X < 12]).astype(int))
    >>> model.predict([[1.0], [13.0], [19.0]]).tolist()
    [[0, 1], [0, 0], [1, 0]]
    >>> model.predict_proba([[1.0], [19.0]]).round(1).tolist()
    [[0.0, 1.0], [0.7, 0.0]]
    """

    classifier: Any = param(
        default=None,
        choices=(None,),
        words="a scikit-learn estimator, an instance of its class",
        test=_is_estimator,
        kw_only=False,
        doc="With ``decision_function`` or ``predict_proba``, one score per label; None: "
        '``MultiOutputRidge(penalty="auto")``.',
    )
    cv: Any = param(
        default=5,
        words="a number of folds, a splitter or an iterable of (train, test)",
        doc="Number of multi-label stratified folds, or a splitter or iterable as in scikit-learn.",
    )
    shrink: float = param(default=SHRINK, like=WEIGHT, doc="Weight of the global cut, in positive rows.")

    def fit(self, X: Any, y: Any, scores: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier on all rows, tune the cuts, and calibrate.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
        y : labels in any form
            Classes, an indicator, or label sets.
        scores : (number of rows with known labels, c) array, optional
            Scores of these rows by fits of the same kind that have not seen them, to tune on; None:
            ``cross_fitted_scores``.
        sample_weight : (n,) numbers >= 0, optional
            How often each row counts, in the fits and in what is tuned.

        Returns
        -------
        self
        """
        with learning(self):
            check_params(self)
            X = checked_features(self, X, reset=True)
            X, y, w = weighed_rows(X, y, sample_weight)
            X, labels = known_labels(self, X, y, cells=True)
            w = weights_of_known(self, y, w)
            classifier = MultiOutputRidge(penalty="auto") if self.classifier is None else clone(self.classifier)
            classifier = accept_classes(classifier)
            if w is not None and not takes_weights(classifier):
                raise ValueError(
                    f"classifier={classifier!r} takes no sample_weight; leave it out, or take another one."
                )
            with callers_configuration():
                fit: Any = self._fit_classes if labels.form == "classes" else self._fit_labels
                cuts, global_cut, calibration = fit(classifier, X, labels, scores, w)
            self.classifier_, self.cuts_, self.global_cut_ = classifier, cuts, global_cut
            self.calibration_: Calibration | None = calibration
            self._remember(labels)
        return self

    def _fit_classes(
        self, classifier: Any, X: Any, labels: LabelMatrix, scores: Any, w: np.ndarray | None
    ) -> tuple[None, None, Calibration | None]:
        """Fit the classifier to classes; no cuts, and the map to probabilities."""
        if not hasattr(classifier, "predict"):
            raise ValueError(f"classifier={classifier!r} is not a classifier: it has no predict.")
        classifier.fit(X, labels.decode(labels.Y), **weights_of(w))
        if not _is_scored(classifier):
            return None, None, None
        scores = _unseen_class_scores(classifier, X, labels, self.cv, w) if scores is None else np.asarray(scores)
        return None, None, calibrated_classes(scores, labels.Y, w)

    def _fit_labels(
        self, classifier: Any, X: Any, labels: LabelMatrix, scores: Any, w: np.ndarray | None
    ) -> tuple[np.ndarray, float, Calibration]:
        """Fit the classifier to labels; the cuts, and the maps to probabilities."""
        known, Y = labels.known_cells, labels.Y
        scores = cross_fitted_scores(classifier, X, Y, self.cv, known, w) if scores is None else scores
        targets = labels.indicator if known is not None else self._targets(classifier, Y)
        classifier.fit(X, targets, **weights_of(w))
        cuts, global_cut = tune_thresholds(scores, Y, shrink=self.shrink, known=known, sample_weight=w)
        return cuts, global_cut, calibrated(scores, Y, known, w)

    @staticmethod
    def _targets(classifier: Any, Y: Any) -> Any:
        """Labels as a classifier takes them: many stay sparse for our ridge, others may not take that."""
        sparse = isinstance(classifier, MultiOutputRidge) and Y.shape[1] > MANY_LABELS
        return sp.csr_array(Y, dtype=np.float64) if sparse else Y.toarray().astype(np.int64)

    def linear_scores(self) -> tuple[np.ndarray, np.ndarray] | None:
        """W (d, c) and level (c,) of the scores X W - 1 level' of a ridge that is cut; None for other classifiers."""
        if getattr(self, "cuts_", None) is None or not isinstance(self.classifier_, MultiOutputRidge):
            return None
        linear = self.classifier_.linear_scores()
        return linear and (linear[0], linear[1] + self.cuts_)

    def _scores(self, X: Any) -> np.ndarray:
        return _label_scores(self.classifier_, X, len(self.classes_)) - self.cuts_

    def decision_function(self, X: Any) -> np.ndarray:
        """Score rows: positive where the label is predicted, which is the classifier's score less the cut. X: (m, d)
        array or sparse matrix. Returns (m, c); with one class per row the logarithms of the probabilities up to a
        constant of the row, or (m,) the log odds of the second of two classes."""
        X = self._checked(X)
        if self.cuts_ is not None:
            return self._finite_scores(X)
        if (odds := self._class_odds(X)) is not None:
            return odds[:, 1] - odds[:, 0] if odds.shape[1] == 2 else odds
        scored = hasattr(self.classifier_, "decision_function")
        return self.classifier_.decision_function(X) if scored else self.classifier_.predict_proba(X)

    def _class_odds(self, X: Any) -> np.ndarray | None:
        """The log odds of the classes of checked rows; None of a classifier without scores."""
        calibration = vars(self).get("calibration_")  # which models saved before format 11 lack
        return (
            None if calibration is None else log_odds_of(_class_scores(self.classifier_, X, self._labels), calibration)
        )

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels of rows, calibrated on scores of training rows by fits that have not seen them.
        X: (m, d) array or sparse matrix. Returns (m, c), in the order of ``classes_``; with one class per row they sum
        to 1, else each is that of one label."""
        X = self._checked(X)
        if self.cuts_ is None:
            scores = _class_scores(self.classifier_, X, self._labels)
        else:
            scores = _label_scores(self.classifier_, X, len(self.classes_))
        calibration: Any = self.calibration_
        return probabilities_of(scores, calibration)

    def _predicted(self, X: Any) -> Any:
        if self.cuts_ is not None:
            return super()._predicted(X)
        odds = self._class_odds(X)
        return self.classifier_.predict(X) if odds is None else self.classes_[odds.argmax(axis=1)]
