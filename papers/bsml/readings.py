"""Measures of a fit on the test rows, and on these without each of a few groups: of two fits they give the interval of
the difference.

Of the published split the test rows are all that varies; of random splits of the same sizes the splits are the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from papers.groups import row_groups, without_each
from papers.rule import Difference, over_rows
from proxembed.measures.metrics import hamming_loss, log_loss, macro_auc, macro_f1, micro_f1
from proxembed.targets.values import dense_labels

HAMMING, AUC, MACRO, MICRO = "Hamming loss", "average AUC", "macro F1", "micro F1"
LOG_LOSS = "log-loss"
MEASURES = (HAMMING, AUC, MACRO, MICRO)
LOW = frozenset({HAMMING, LOG_LOSS})  # less is better
Values = dict[str, float | None]
Reading = Mapping[str, Any]  # "scores": measure -> value; "without": measure -> value without each group
Readings = Mapping[int | None, Reading]  # by random draw, under None that of the published split


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
    mean = macro_auc(Y, scores)
    return mean.value if mean.n_labels else None


def reading(
    Y: np.ndarray, predicted: Any, scores: np.ndarray, of: Callable[..., Values] = measures,
    groups: np.ndarray | None = None,
) -> Reading:  # fmt: skip
    """The measures on all test rows, and without each of their ``groups`` (without them those of ``row_groups``)."""
    predicted = dense_labels(predicted)
    groups = row_groups(len(Y)) if groups is None else groups
    parts = without_each(groups, lambda kept: of(Y[kept], predicted[kept], scores[kept]))
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
    cells = _cells(one, other, measure)
    if np.isfinite(cells).all():
        return over_rows(cells[None, :], drawn=False)
    return Difference(float(cells[0])) if np.isfinite(cells[0]) else Difference()


def less_by_draw(ones: Readings, others: Readings, measure: str) -> Difference:
    """``less`` of the published split, or over the random draws that both fits have, with what the draws vary.

    Examples
    --------
    >>> from papers.bsml.readings import less_by_draw
    >>> ones, others = ({draw: {"scores": {"micro F1": v + draw}, "without": {"micro F1": [v, v]}} for draw in (1, 2)}
    ...                 for v in (0.6, 0.5))
    >>> less_by_draw(ones, others, "micro F1").blocks, less_by_draw({}, others, "micro F1").words
    (2, 'not scored in every draw')
    """
    if None in ones or None in others:
        return less(ones.get(None), others.get(None), measure)
    cells = [_cells(ones[draw], others[draw], measure) for draw in ones if draw in others]
    return over_rows(np.array(cells)) if cells else Difference()


def _cells(one: Reading | None, other: Reading | None, measure: str) -> np.ndarray:
    """How much better one fit is, on all test rows and without each group; NaN where one of them has no value."""
    if one is None or other is None:
        return np.array([np.nan])
    sign = -1.0 if measure in LOW else 1.0
    ours, theirs = (
        np.array([each["scores"][measure], *each["without"][measure]], dtype=float) for each in (one, other)
    )
    return sign * (ours - theirs)
