"""The first k components for every k at once: nearest rows by sums of squares, Fisher discriminants by one factor.

In: an embedding whose first k columns are the one for k components, of rows with labels and of rows to be placed.
Out: for each k, the nearest row or the scores of all labels, as one pass over the columns finds them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from proxembed.algebra.arrays.blas import add_product, gram, matmul
from proxembed.algebra.arrays.matrix import largest_entry
from proxembed.algebra.pencil.symmetric import SPD
from proxembed.classify import tune_thresholds
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.classify.thresholds import label_folds
from proxembed.estimator.validation import learning
from proxembed.execute.executor import callers_configuration
from proxembed.measures.calibration import Calibration, calibrated, calibrated_classes, probabilities_of
from proxembed.params import accept_classes
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix

NOISE = 1e-12
BLOCK_ENTRIES = 2**16
SMALL_ENTRIES = 2**15  # up to here one pass over all columns is faster than one per column
RIDGE = 1e-6
SVM = "svm"


def nearest_prefixes(Z: np.ndarray, Z_new: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The nearest row of Z to each row of Z_new by the first k columns, for each k of ``sizes`` (ascending)."""
    last = sizes[-1]
    unit = _unit(Z[:, :last], Z_new[:, :last])
    mean = (Z[:, :last] * unit).mean(axis=0)
    Z, Z_new = Z[:, :last] * unit - mean, Z_new[:, :last] * unit - mean
    if last * len(Z) * len(Z_new) <= SMALL_ENTRIES:
        return _nearest_at_once(Z, Z_new, np.asarray(sizes) - 1)
    starts = [0, *sizes[:-1]]
    right = [np.vstack([Z[:, i:k].T, np.square(Z[:, i:k]).sum(axis=1) / 2]) for i, k in zip(starts, sizes, strict=True)]
    found = np.empty((len(sizes), len(Z_new)), dtype=np.intp)
    step = max(1, BLOCK_ENTRIES // len(Z))
    for start in range(0, len(Z_new), step):
        rows = slice(start, start + step)
        new = Z_new[rows]
        squares, ones = np.cumsum(new**2, axis=1), np.ones((len(new), 1))
        half = np.zeros((len(new), len(Z)))  # half the squared distances, less half the squared length of the new row
        for place, (i, k) in enumerate(zip(starts, sizes, strict=True)):
            add_product(half, 1.0, np.hstack([-new[:, i:k], ones]), right[place])
            found[place, rows] = _first_of_least(half, squares[:, k - 1])
    return found


def _nearest_at_once(Z: np.ndarray, Z_new: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The nearest rows by as many columns as stand before each place and at it, from the distances by all columns."""
    half = np.square(Z_new.T[:, :, None] - Z.T[:, None])
    half = np.cumsum(half, axis=0, out=half)[places].reshape(-1, len(Z)) / 2
    squares = np.cumsum(np.square(Z_new.T), axis=0)[places].reshape(-1) / 2
    return _first_of_least(half, squares).reshape(len(places), -1)


def _unit(*parts: np.ndarray) -> float:
    """A power of two that brings the largest entry near 1, so that squares neither overflow nor vanish."""
    largest = max(largest_entry(part) for part in parts)
    return float(2.0 ** -np.clip(np.frexp(largest)[1], -1000, 1000))


def _first_of_least(half: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """The first column of each row that is at most its least entry plus noise; ``half`` is left as it was."""
    own = np.arange(len(half))
    near = half.argmin(axis=1)
    least = half[own, near]
    limit = least + NOISE * (squares + least)
    half[own, near] = np.inf
    tied = np.flatnonzero(half[own, half.argmin(axis=1)] <= limit)
    half[own, near] = least
    if len(tied):
        near[tied] = (half[tied] <= limit[tied, None]).argmax(axis=1)
    return near


@dataclass(frozen=True)
class Discriminants:
    """Fisher's linear discriminants with a shared covariance, for every number of leading columns.  [fisher1936]"""

    mean: np.ndarray
    root: np.ndarray
    high: np.ndarray
    middle: np.ndarray
    spread: np.ndarray
    prior: np.ndarray
    fixed: np.ndarray
    single: bool

    @classmethod
    def fit(cls, Z: np.ndarray, labels: LabelMatrix, one_label: bool | None = None) -> Discriminants:
        """From rows and their labels, all known; one_label: whether labels are classes, None: where a row has
        one each."""
        return (_of_classes if single_label(labels, one_label) else of_labels)(Z, labels)

    def scores(self, Z_new: np.ndarray, sizes: Sequence[int]) -> Iterator[np.ndarray]:
        """Log odds of each label for new rows, (m, c), for each number of columns of ``sizes`` (ascending)."""
        for score in self._discriminants(Z_new, sizes):
            yield self._odds(score) if self.single else np.where(self.fixed, self.prior, score)

    def classes(self, Z_new: np.ndarray, sizes: Sequence[int]) -> Iterator[np.ndarray]:
        """The class of largest discriminant of new rows, one hot, (m, c), for each number of columns of ``sizes``."""
        for score in self._discriminants(Z_new, sizes):
            score[:, self.fixed] = -np.inf
            found = np.zeros(score.shape, dtype=bool)
            found[np.arange(len(found)), score.argmax(axis=1)] = True
            yield found

    def _discriminants(self, Z_new: np.ndarray, sizes: Sequence[int]) -> Iterator[np.ndarray]:
        U = matmul(Z_new[:, : len(self.mean)] - self.mean, self.root)
        total, done = np.zeros((len(U), len(self.prior))), 0
        for k in sizes:
            total += U[:, done:k] @ self.high[:, done:k].T
            done = k
            yield (total - self.middle[:, k - 1]) / self.spread[:, k - 1] + self.prior

    def _odds(self, score: np.ndarray) -> np.ndarray:
        """Log odds of one class against all others, from log probabilities less a constant per row."""
        score = np.where(self.fixed, -np.inf, score)
        best = score.argmax(axis=1)[:, None]
        top = np.take_along_axis(score, best, axis=1)
        share = np.exp(score - top)
        np.put_along_axis(share, best, 0.0, axis=1)
        others = share.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            odds = score - top - np.log1p(np.maximum(others - share, 0.0))
            np.put_along_axis(odds, best, np.minimum(-np.log(others), -np.log(np.finfo(float).tiny)), axis=1)
        return np.where(self.fixed, self.prior, odds)


def single_label(labels: LabelMatrix, one_label: bool | None) -> bool:
    """Whether exactly one label per row is to be predicted; None: where each of these rows has exactly one."""
    if one_label and not labels.one_hot:
        raise ValueError("one_label=True needs rows with exactly one label each; pass such rows, or one_label=None.")
    return labels.one_hot if one_label is None else bool(one_label)


def _root(scatter: np.ndarray, variance: np.ndarray, freedom: float) -> np.ndarray:
    """V, upper triangular, with V'(scatter / freedom + ridge)V = I; its first k rows and columns are those of k."""
    ridge = RIDGE * np.cumsum(variance) / np.arange(1, len(variance) + 1)
    return SPD(scatter / freedom + np.diag(np.where(ridge > 0, ridge, 1.0))).whiten()


def _of_classes(Z: np.ndarray, labels: LabelMatrix) -> Discriminants:
    present = labels.nk > 0
    means = (labels.Y.T @ Z) / np.maximum(labels.nk, 1.0)[:, None]
    mean = Z.mean(axis=0)
    root = _root(gram(Z - labels.Y @ means), Z.var(axis=0), max(labels.n - int(present.sum()), 1))
    high = np.where(present[:, None], matmul(means - mean, root), 0.0)
    prior = np.where(present, np.log(np.maximum(labels.nk, 1.0) / labels.n), -np.log(2.0 * labels.n + 1.0))
    ones = np.ones_like(high)
    return Discriminants(mean, root, high, np.cumsum(high**2, axis=1) / 2, ones, prior, ~present, True)


def of_labels(Z: np.ndarray, labels: LabelMatrix) -> Discriminants:
    """C_j = (St - s_j g_j g_j') / (n - 2) + ridge of label j from one factor of St: Sherman and Morrison."""
    n, n1 = labels.n, labels.nk
    n0, mean = n - n1, Z.mean(axis=0)
    fixed = (n1 == 0) | (n0 == 0)
    sums = labels.Y.T @ Z
    above = sums / np.maximum(n1, 1.0)[:, None]
    below = (n * mean - sums) / np.maximum(n0, 1.0)[:, None]
    freedom = max(n - 2, 1)
    root = _root(gram(Z - mean), Z.var(axis=0), freedom)
    gap = np.where(fixed[:, None], 0.0, matmul(above - below, root))
    middle = matmul((above + below) / 2 - mean, root)
    spread = 1.0 - (n1 * n0 / n)[:, None] * np.cumsum(gap**2, axis=1) / freedom
    prior = np.where(fixed, np.where(n1 > 0, 1.0, -1.0) * np.log(2.0 * n + 1.0), 0.0)
    prior[~fixed] = np.log(n1[~fixed] / n0[~fixed])
    return Discriminants(
        mean, root, gap, np.cumsum(gap * middle, axis=1), np.maximum(spread, NOISE), prior, fixed, False
    )


def is_unfitted_classifier(value: Any) -> bool:
    """Whether a value is an instance of a classifier that can be cloned."""
    return not isinstance(value, type | str) and hasattr(value, "get_params") and is_classifier(value)


def other_classifier(value: Any) -> Any:
    """The classifier of scikit-learn that a value is, or names ("svm": a linear one of standardised components); None
    where it is none."""
    if isinstance(value, str):
        svm = make_pipeline(StandardScaler(), LinearSVC(dual=False)).set_output(transform="default")
        return svm if value == SVM else None
    return value if is_unfitted_classifier(value) else None


class AnyClassifier:
    """A classifier fitted to the rows of an embedding."""

    @callers_configuration()
    def __init__(self, classifier: Any, Z: np.ndarray, labels: LabelMatrix, one_label: bool | None = None):
        self.single = labels.one_hot if one_label is None else one_label and labels.one_hot
        self.c = labels.c
        Y = labels.Y.toarray() > 0
        if self.single:
            several = Y.any(axis=0).sum() > 1
            self.fitted: Any = accept_classes(clone(classifier)).fit(Z, Y.argmax(axis=1)) if several else None
            self.only = int(Y.argmax(axis=1)[0])
            return
        with warnings.catch_warnings():  # of a label that no row has, or every row: it is predicted so
            warnings.filterwarnings("ignore", message="Label .* present in all training examples", category=UserWarning)
            self.fitted = OneVsRestClassifier(clone(classifier)).fit(Z, Y.astype(int))

    @callers_configuration()
    def labels(self, Z: np.ndarray) -> np.ndarray:
        """Predicted labels, bool (m, c)."""
        if not self.single:
            return np.asarray(self.fitted.predict(Z)).reshape(len(Z), -1) > 0
        found = np.zeros((len(Z), self.c), dtype=bool)
        found[np.arange(len(Z)), self.only if self.fitted is None else self.fitted.predict(Z)] = True
        return found

    @callers_configuration()
    def scores(self, Z: np.ndarray) -> np.ndarray:
        """The decision function, else probabilities, else predicted labels, (m, c); a class without rows is last."""
        if self.fitted is None or not _has_scores(self.fitted):
            return self.labels(Z).astype(np.float64)
        decides = hasattr(self.fitted, "decision_function")
        own = np.asarray(self.fitted.decision_function(Z) if decides else self.fitted.predict_proba(Z))
        if not self.single:
            return own.reshape(len(Z), -1)
        if own.ndim == 1:
            own = np.column_stack([-own, own])
        found = np.full((len(Z), self.c), own.min(initial=0.0) - 1.0)
        found[:, self.fitted.classes_] = own
        return found


def _has_scores(fitted: Any) -> bool:
    return hasattr(fitted, "decision_function") or hasattr(fitted, "predict_proba")


CLASSIFIERS = ("1nn", "flda", SVM)
FOLDS = 5


def check_classifier(classifier: Any) -> None:
    """Raise a ValueError for what is not a classifier of embeddings."""
    if is_unfitted_classifier(classifier) or (isinstance(classifier, str) and classifier in CLASSIFIERS):
        return
    raise ValueError(
        f"classifier={classifier!r} is not known; choose one of {', '.join(CLASSIFIERS)}, or a classifier of "
        "scikit-learn, such as LinearSVC()."
    )


def cross_fitted(Z: np.ndarray, labels: LabelMatrix, sizes: Sequence[int]) -> Iterator[np.ndarray]:
    """Scores of every row by discriminants that have not seen it, (n, c), for each number of columns of ``sizes``."""
    folds = list(label_folds(FOLDS, labels.Y.toarray() > 0))
    parts = [of_labels(Z[train], labels.take(train)).scores(Z[held_out], sizes) for train, held_out in folds]
    order = np.argsort(np.concatenate([held_out for _, held_out in folds]))
    for scores in zip(*parts, strict=True):
        yield np.concatenate(scores)[order]


class PrefixClassifier(LabelClassifier, abstract=True):
    """The classifier of an embedding search: the nearest row, Fisher discriminants with a shared covariance, or any
    classifier of scikit-learn ("svm": a linear one). [mu2012defc]"""

    def __init__(self, classifier: Any = "1nn", *, one_label: Any = None):
        self.classifier = classifier
        self.one_label = one_label

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows, or find the discriminants and cuts. X: (n, k); y: labels in any form. Returns self."""
        with learning(self):
            check_classifier(self.classifier)
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
            X, labels = known_labels(self, X, y)
            self.thresholds_ = None
            self.calibration_: Calibration | None = None
            if (other := other_classifier(self.classifier)) is not None:
                self._fitted = AnyClassifier(other, X, labels, self.one_label)
            elif self.classifier == "1nn":
                self._rows, self._Y = X, labels.Y.toarray() > 0
            else:
                self._discriminants = Discriminants.fit(X, labels, self.one_label)
                if not self._discriminants.single:
                    k = X.shape[1]
                    self.thresholds_ = tune_thresholds(next(cross_fitted(X, labels, [k])), labels.Y)
            self._remember(labels)
        return self

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._uncut(X)
        if other_classifier(self.classifier) is not None:
            return scores
        if self.classifier == "1nn":
            return scores - 0.5
        return scores if self.thresholds_ is None else scores - self.thresholds_.cuts

    def _uncut(self, X: Any) -> np.ndarray:
        """The scores of rows before cuts, (m, c); of nearest rows their labels."""
        X = np.asarray(X, dtype=np.float64)
        k = X.shape[1]
        if other_classifier(self.classifier) is not None:
            return self._fitted.scores(X)
        if self.classifier == "1nn":
            return self._Y[nearest_prefixes(self._rows, X, [k])[0]].astype(np.float64)
        return next(self._discriminants.scores(X, [k]))

    def calibrate(self, S: np.ndarray, labels: LabelMatrix) -> Self:
        """Learn probabilities from scores before cuts of rows that classifiers of this kind have not seen, (n, c), and
        the labels of these rows. Returns self."""
        fit = calibrated_classes if labels.form == "classes" else calibrated
        self.calibration_ = fit(S, labels.Y)
        return self

    @available_if(lambda self: vars(self).get("calibration_") is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the labels of rows, once ``calibrate`` has learnt them. X: (m, k). Returns (m, c), in the
        order of ``classes_``; with one class per row they sum to 1."""
        calibration: Any = self.calibration_
        return probabilities_of(self._uncut(self._checked(X)), calibration)

    def _predicted(self, X: Any) -> Any:
        if other_classifier(self.classifier) is not None:
            return self._labels.decode(self._fitted.labels(np.asarray(X, dtype=np.float64)))
        if self.classifier == "1nn" or not self._discriminants.single:
            return super()._predicted(X)
        X = np.asarray(X, dtype=np.float64)
        return self._labels.decode(next(self._discriminants.classes(X, [X.shape[1]])))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
