"""PrefixClassifier: 1-NN, Fisher discriminants or any other classifier on an embedding, the same on k columns whether
more follow or not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import validate_data

from proxembed.classify import tune_thresholds
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.classify.thresholds import label_folds
from proxembed.estimator.validation import learning
from proxembed.execute.configuration import callers_configuration
from proxembed.params import accept_classes
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix

from .prefixes import Discriminants, nearest_prefixes, of_labels

SVM = "svm"


def is_unfitted_classifier(value: Any) -> bool:
    """Whether a value is an instance of a classifier that can be cloned."""
    return not isinstance(value, type | str) and hasattr(value, "get_params") and is_classifier(value)


def other_classifier(value: Any) -> Any:
    """The classifier of scikit-learn that a value is, or names ("svm": a linear one of standardised components); None
    where it is none.
    """
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
    """Raise a ValueError for what is no classifier of embeddings."""
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
    classifier of scikit-learn ("svm": a linear one).  [mu2012defc]
    """

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
        X = np.asarray(X, dtype=np.float64)
        k = X.shape[1]
        if other_classifier(self.classifier) is not None:
            return self._fitted.scores(X)
        if self.classifier == "1nn":
            return self._Y[nearest_prefixes(self._rows, X, [k])[0]] - 0.5
        scores = next(self._discriminants.scores(X, [k]))
        return scores if self.thresholds_ is None else scores - self.thresholds_.cuts

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
