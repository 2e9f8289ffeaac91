"""Any classifier of scikit-learn on an embedding: labels and scores with a column per label."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from proxembed.execute.configuration import callers_configuration
from proxembed.params import accept_classes
from proxembed.targets.labels import LabelMatrix

SVM = "svm"


def is_unfitted_classifier(value: Any) -> bool:
    """Whether a value is an instance of a classifier that can be cloned.

    >>> from sklearn.svm import LinearSVC
    >>> is_unfitted_classifier(LinearSVC()), is_unfitted_classifier(LinearSVC), is_unfitted_classifier("svm")
    (True, False, False)
    """
    return not isinstance(value, type | str) and hasattr(value, "get_params") and is_classifier(value)


def other_classifier(value: Any) -> Any:
    """The classifier of scikit-learn that a value is, or names ("svm": a linear one of standardised components); None
    where it is none.

    >>> other_classifier("svm").steps[-1][1], other_classifier("1nn")
    (LinearSVC(dual=False), None)
    """
    if isinstance(value, str):
        svm = make_pipeline(StandardScaler(), LinearSVC(dual=False)).set_output(transform="default")
        return svm if value == SVM else None
    return value if is_unfitted_classifier(value) else None


class AnyClassifier:
    """A classifier fitted to the rows of an embedding.

    One class per row where ``one_label`` says so (None: where each row of the fit has exactly one), else a classifier
    per label.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> labels = LabelMatrix.of(["a", "a", "b", "b"])
    >>> fitted = AnyClassifier(LinearSVC(), np.array([[0.0], [1.0], [4.0], [5.0]]), labels)
    >>> fitted.labels(np.array([[0.5], [4.5]])).tolist(), int(fitted.scores(np.array([[0.5]])).argmax())
    ([[True, False], [False, True]], 0)
    """

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
