"""Measures of a fit on the test rows, and on these without each of a few groups: of two fits they give the interval of
the difference.

The split is the published one and is not drawn again, so that the test rows are all that varies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from papers.groups import row_groups, without_each
from papers.rule import Difference, over_rows
from proxembed.measures.metrics import hamming_loss, log_loss, macro_f1, micro_f1
from proxembed.targets.values import dense_labels

HAMMING, AUC, MACRO, MICRO = "Hamming loss", "average AUC", "macro F1", "micro F1"
LOG_LOSS = "log-loss"
MEASURES = (HAMMING, AUC, MACRO, MICRO)
LOW = frozenset({HAMMING, LOG_LOSS})  # less is better
Values = dict[str, float | None]
Reading = Mapping[str, Any]  # "scores": measure -> value; "without": measure -> value without each group


def measures(Y: np.ndarray, predicted: Any, scores: np.ndarray) -> Values:
    """Hamming loss, average AUC (over labels that test rows have and lack), macro and micro F1.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.bsml.readings import measures
    >>> Y, S = np.array([[1, 0], [0, 0]]), np.array([[0.9, 0.2], [0.4, 0.6]])
    >>> measures(Y, S > 0.5, S)["Hamming loss"], measures(Y, S > 0.5, S)["average AUC"]
    (0.25, 1.0)
    """
    values: tuple = hamming_loss(Y, predicted), area(Y, scores), macro_f1(Y, predicted).value, micro_f1(Y, predicted)
    return dict(zip(MEASURES, values, strict=True))


def of_probabilities(Y: np.ndarray, predicted: Any, P: np.ndarray) -> Values:
    """Average AUC and log-loss, which probabilities decide beyond the labels that they predict.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.bsml.readings import of_probabilities
    >>> of_probabilities(np.array([[1], [0]]), None, np.array([[0.5], [0.5]]))["average AUC"]
    0.5
    """
    return {AUC: area(Y, P), LOG_LOSS: log_loss(Y, P).value}


def area(Y: np.ndarray, scores: np.ndarray) -> float | None:
    """The mean area under the ROC curve over the labels that some row has and some lacks; None without any."""
    both = np.flatnonzero(Y.any(axis=0) & ~Y.all(axis=0))
    return float(np.mean([roc_auc_score(Y[:, j], scores[:, j]) for j in both])) if len(both) else None


def reading(Y: np.ndarray, predicted: Any, scores: np.ndarray, of: Callable[..., Values] = measures) -> Reading:
    """The measures on all test rows, and without each group of them."""
    predicted = dense_labels(predicted)
    parts = without_each(row_groups(len(Y)), lambda kept: of(Y[kept], predicted[kept], scores[kept]))
    whole = of(Y, predicted, scores)
    return {"scores": whole, "without": {name: [part[name] for part in parts] for name in whole}}


def less(one: Reading | None, other: Reading | None, measure: str) -> Difference:
    """How much better one fit is than another in a measure, with its interval over test rows; losses turned round.

    Examples
    --------
    >>> from papers.bsml.readings import less
    >>> one, other = ({"scores": {"micro F1": v}, "without": {"micro F1": [v - 0.1, v + 0.1]}} for v in (0.6, 0.5))
    >>> less(one, other, "micro F1").words
    '+0.1000 (+0.1000 to +0.1000)'
    """
    if one is None or other is None or one["scores"][measure] is None or other["scores"][measure] is None:
        return Difference()
    sign = -1.0 if measure in LOW else 1.0
    cells = [[each["scores"][measure], *each["without"][measure]] for each in (one, other)]
    if any(value is None for values in cells for value in values):
        return Difference(sign * (cells[0][0] - cells[1][0]))
    return over_rows(sign * np.subtract(*cells)[None, :], drawn=False)
