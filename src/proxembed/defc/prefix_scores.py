"""How well each number of components serves the labels: predictions and measures for all k of one embedding at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from proxembed.classify import apply_thresholds, tune_thresholds
from proxembed.evaluate.measures import MACRO_F1, MEASURES, Measure, measure_of
from proxembed.targets.labels import LabelMatrix

from .any_classifier import AnyClassifier, other_classifier
from .prefix_classifier import check_classifier, cross_fitted
from .prefixes import Discriminants, nearest_prefixes

ACCURACY = "subset accuracy"
EVERY_TO, PER_OCTAVE = 16, 4


def default_measure(labels: LabelMatrix) -> str:
    """ "subset accuracy" with one class per row, else "macro F1".

    >>> default_measure(LabelMatrix.of([0, 1])), default_measure(LabelMatrix.of([[1, 1], [0, 1]]))
    ('subset accuracy', 'macro F1')
    """
    return ACCURACY if labels.form == "classes" else MACRO_F1


def predicted_measure(measure: str | Measure | Callable[[Any, Any], float]) -> Measure:
    """The measure of a name; ValueError for one that reads neither predicted labels nor scores.

    >>> predicted_measure("macro F1").reads
    'labels'
    """
    found = measure_of(measure)
    if found.reads not in ("labels", "scores"):
        names = ", ".join(name for name, each in MEASURES.items() if each.reads in ("labels", "scores"))
        raise ValueError(f"measure={found.name!r} reads {found.reads}; choose one of {names}, or a function of (Y, S).")
    return found


def searched_sizes(classifier: Any, k_max: int) -> list[int]:
    """The numbers of components at which a search looks, ascending: all of them with Fisher discriminants, which cost
    next to nothing; with nearest rows and other classifiers all up to 16, then four an octave, and the last.
    [mu2012defc]

    Examples
    --------
    >>> searched_sizes("1nn", 40)[14:], len(searched_sizes("flda", 40))
    ([15, 16, 19, 23, 27, 32, 38, 40], 40)
    """
    if isinstance(classifier, str) and classifier == "flda":
        return list(range(1, k_max + 1))
    octaves = int(PER_OCTAVE * np.log2(max(k_max, EVERY_TO) / EVERY_TO))
    beyond = [round(EVERY_TO * 2.0 ** (step / PER_OCTAVE)) for step in range(1, octaves + 1)]
    return sorted({*range(1, min(k_max, EVERY_TO) + 1), *(k for k in beyond if k < k_max), k_max})


def prefix_predictions(
    classifier: Any,
    Z: np.ndarray,
    labels: LabelMatrix,
    Z_val: np.ndarray,
    sizes: Sequence[int] | None = None,
    one_label: bool | None = None,
) -> Iterator[np.ndarray]:
    """Labels that a classifier predicts from the first k columns, for each k.  [mu2012defc]

    Parameters
    ----------
    classifier : "1nn" | "flda" | "svm" | classifier of scikit-learn, fitted anew for each number of columns
    Z : (n, k_max) array, rows of the fit
    labels : their labels, all known
    Z_val : (m, k_max) array
    sizes : numbers of columns, ascending; None for 1 to k_max
    one_label : whether each row gets exactly one label, but for "1nn"; None: where each row of the fit has exactly one

    Returns
    -------
    iterator of bool arrays of shape (m, c)

    Raises
    ------
    ValueError
        For a classifier that is not known.

    Examples
    --------
    >>> Z, labels = np.array([[0.0, 9.0], [1.0, 0.0]]), LabelMatrix.of([0, 1])
    >>> [found.tolist() for found in prefix_predictions("1nn", Z, labels, np.array([[0.9, 8.0]]))]
    [[[False, True]], [[True, False]]]
    """
    check_classifier(classifier)
    sizes = _sizes(Z, sizes)
    if (other := other_classifier(classifier)) is not None:
        return (AnyClassifier(other, Z[:, :k], labels, one_label).labels(Z_val[:, :k]) for k in sizes)
    if classifier == "1nn":
        Y = labels.Y.toarray() > 0
        return (Y[nearest] for nearest in nearest_prefixes(Z, Z_val, sizes))
    discriminants = Discriminants.fit(Z, labels, one_label)
    if discriminants.single:
        return discriminants.classes(Z_val, sizes)
    own = cross_fitted(Z, labels, sizes)
    return (
        apply_thresholds(scores, tune_thresholds(seen, labels.Y))
        for scores, seen in zip(discriminants.scores(Z_val, sizes), own, strict=True)
    )


def prefix_scores(
    classifier: Any,
    Z: np.ndarray,
    labels: LabelMatrix,
    Z_val: np.ndarray,
    labels_val: LabelMatrix,
    measure: str | Measure | Callable[[Any, Any], float],
    sizes: Sequence[int] | None = None,
    one_label: bool | None = None,
) -> np.ndarray:
    """The measure of the predictions from the first k columns, larger is better, for each k.  [mu2012defc]

    Parameters
    ----------
    classifier : "1nn" | "flda" | "svm" | classifier of scikit-learn, fitted anew for each number of columns
    Z : (n, k_max) array, rows of the fit
    labels : their labels, all known
    Z_val : (m, k_max) array
    labels_val : labels of these rows, with the columns of ``labels``
    measure : a measure of predicted labels ("subset accuracy", "macro F1", ...) or of scores ("macro average
        precision", ...; 1-NN scores a label by the nearest row's); a loss has its sign changed
    sizes : numbers of columns, ascending; None for 1 to k_max
    one_label : as in ``prefix_predictions``

    Returns
    -------
    (len(sizes),) array

    Raises
    ------
    ValueError
        For a classifier or measure that is not known.

    Examples
    --------
    >>> Z, labels = np.array([[0.0, 9.0], [1.0, 0.0]]), LabelMatrix.of([0, 1])
    >>> prefix_scores("1nn", Z, labels, np.array([[0.9, 8.0], [1.0, 1.0]]), labels, "subset accuracy").tolist()
    [0.5, 1.0]
    """
    chosen = predicted_measure(measure)
    Y = labels_val.Y.toarray() > 0
    if chosen.reads == "scores":
        readings = _scores(classifier, Z, labels, Z_val, _sizes(Z, sizes), one_label)
    elif chosen.name == ACCURACY and _is_nearest(classifier) and labels.one_hot and labels_val.m.max() <= 1:
        true = np.where(labels_val.m > 0, Y.argmax(axis=1), -1)
        found = labels.Y.toarray().argmax(axis=1)[nearest_prefixes(Z, Z_val, _sizes(Z, sizes))]
        return (found == true).mean(axis=1)
    else:
        readings = prefix_predictions(classifier, Z, labels, Z_val, sizes, one_label)
    return np.array([chosen.score(chosen.value(Y, reading)[0]) for reading in readings])


def _scores(
    classifier: Any,
    Z: np.ndarray,
    labels: LabelMatrix,
    Z_val: np.ndarray,
    sizes: Sequence[int],
    one_label: bool | None,
) -> Iterator[Any]:
    if (other := other_classifier(classifier)) is not None:
        return (AnyClassifier(other, Z[:, :k], labels, one_label).scores(Z_val[:, :k]) for k in sizes)
    if classifier == "1nn":
        return (found.astype(np.float64) for found in prefix_predictions(classifier, Z, labels, Z_val, sizes))
    check_classifier(classifier)
    return Discriminants.fit(Z, labels, one_label).scores(Z_val, sizes)


def _is_nearest(classifier: Any) -> bool:
    return isinstance(classifier, str) and classifier == "1nn"


def _sizes(Z: np.ndarray, sizes: Sequence[int] | None) -> Sequence[int]:
    return range(1, Z.shape[1] + 1) if sizes is None else sizes
