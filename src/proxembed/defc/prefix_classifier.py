"""PrefixClassifier: 1-NN, Fisher discriminants or any other classifier on an embedding, the same on k columns whether
more follow or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from proxembed.classify import tune_thresholds
from proxembed.classify.label_classifier import LabelClassifier
from proxembed.classify.thresholds import label_folds
from proxembed.targets.known import known_labels
from proxembed.targets.labels import LabelMatrix
from proxembed.validation import learning

from .any_classifier import SVM, AnyClassifier, is_unfitted_classifier, other_classifier
from .prefixes import Discriminants, nearest_prefixes, of_labels

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
    """Scores of every row by discriminants that have not seen it, (n, c), for each number of columns of ``sizes``.

    Examples
    --------
    >>> Z, labels = np.arange(10.0)[:, None], LabelMatrix.of(np.arange(10)[:, None] > [4, 7])
    >>> next(cross_fitted(Z, labels, [1])).shape
    (10, 2)
    """
    folds = list(label_folds(FOLDS, labels.Y.toarray() > 0))
    parts = [of_labels(Z[train], labels.take(train)).scores(Z[held_out], sizes) for train, held_out in folds]
    order = np.argsort(np.concatenate([held_out for _, held_out in folds]))
    for scores in zip(*parts, strict=True):
        yield np.concatenate(scores)[order]


class PrefixClassifier(LabelClassifier, abstract=True):
    """The classifier of an embedding search: the nearest row, Fisher discriminants with a shared covariance, or any
    classifier of scikit-learn ("svm": a linear one).  [mu2012defc]

    One label per row: the class of the nearest row, or the class of the largest discriminant. Several: the label set of
    the nearest row, or the labels whose discriminant exceeds its cut, by the shared rule on cross-fitted scores; of
    another classifier what one of it per label predicts.

    Parameters
    ----------
    classifier : {"1nn", "flda", "svm"} or classifier of scikit-learn, default="1nn"
    one_label : bool or None, default=None
        Whether each row gets exactly one label, but for "1nn"; None: where each row of the fit has exactly one.

    Attributes
    ----------
    classes_ : array of shape (c,)
        Classes, or names of the label columns.
    thresholds_ : Thresholds or None
        Cuts of the discriminants where rows have several labels.

    Raises
    ------
    ValueError
        ``classifier`` is unknown, or X or y cannot be used.

    Examples
    --------
    >>> Z = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> PrefixClassifier("flda").fit(Z, ["a", "a", "b", "b"]).predict([[2.4], [2.6]]).tolist()
    ['a', 'b']
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
