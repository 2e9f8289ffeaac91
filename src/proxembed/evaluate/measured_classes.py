"""What the page shows of columns of classes beside numbers: how well held-out rows of each class are recognised."""

from typing import Any

import numpy as np

from proxembed.measures.metrics import average_precision
from proxembed.measures.statistics import drawn_weights
from proxembed.targets.outputs import Column, Outputs

MOST_CLASSES = 30  # of a column in its table, the most frequent ones
MOST_CONFUSED = 12  # classes up to which a column has a table of confusions


def class_columns(outputs: Outputs) -> list[tuple[int, Column, slice]]:
    """The columns of y that hold classes or 0/1: the number of each, the column, and its columns of F."""
    return [each for each in outputs.layout.spans() if each[1].kind in ("classes", "labels") and not each[1].soft]


def class_section(
    column: Column,
    codes: np.ndarray,
    train: int,
    scores: np.ndarray,
    raw: np.ndarray | None,
    groups: Any = None,
    sample_weight: np.ndarray | None = None,
) -> dict[str, Any]:
    """How well a column of classes is predicted on held-out rows, as plain data.

    Parameters
    ----------
    column : Column
    codes : array of shape (train + m,)
        The number of the class of each row, training rows first; NaN where it is unknown.
    train : int
        Number of training rows.
    scores, raw : arrays of shape (m, q)
        Scores of held-out rows, one column per class (of 0/1 one column): of the model, and of a ridge regression on
        all features (None: not made). The class of largest score is the predicted one, of 0/1 that nearer to the score.
    groups : array of shape (m,), optional
        Groups of held-out rows, which the interval draws as a whole.
    sample_weight : array of shape (m,), optional
        How often each held-out row counts; numbers of rows are not weighted.

    Returns
    -------
    dict
        ``accuracy``; ``balanced``: the mean over the classes of the share of their held-out rows that are right, with
        its 95 % ``interval`` (None below two rows); ``table``: per class its held-out rows, average precisions,
        precision and recall; ``confusion``: rows of each class (down) by the predicted class (across), None above 12.
    """
    names = column.value_names
    known = np.isfinite(codes[train:])
    truth = codes[train:][known].astype(np.intp)
    scores = _per_class(scores[known])
    guess = scores.argmax(axis=1) if len(truth) else truth
    w = np.ones(len(truth)) if sample_weight is None else sample_weight[known]
    counts = np.bincount(codes[np.isfinite(codes)].astype(np.intp), minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    balanced, interval = _balanced(truth, guess, w, None if groups is None else np.asarray(groups)[known])
    confusion = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(confusion, (truth, guess), 1)
    raw = None if raw is None else _per_class(raw[known])
    return {
        "name": str(column.name),
        "classes": [names[j] for j in order],
        "n": len(truth),
        "accuracy": float(np.average(truth == guess, weights=w)) if w.sum() > 0 else None,
        "balanced": balanced,
        "interval": interval,
        "chance": 1.0 / max(len(np.unique(truth)), 1),
        "table": _table(names, order[:MOST_CLASSES], truth, guess, scores, raw, w),
        "confusion": confusion[np.ix_(order, order)].tolist() if len(order) <= MOST_CONFUSED else None,
        "unknown": int(np.isnan(codes).sum()),
    }


def class_places(found: dict[str, Any], column: Column, codes: np.ndarray) -> list[int | None]:
    """For each row the place of its class among ``found["classes"]``; None where it is unknown."""
    place = {column.value_names.index(name): at for at, name in enumerate(found["classes"])}
    return [place[int(code)] if np.isfinite(code) else None for code in codes]


def _per_class(scores: np.ndarray) -> np.ndarray:
    """One column per class: 0/1 has a score of 1 alone."""
    return np.column_stack([1 - scores, scores]) if scores.shape[1] == 1 else scores


def _balanced(
    truth: np.ndarray, guess: np.ndarray, w: np.ndarray, groups: Any
) -> tuple[float | None, list[float] | None]:
    """The mean over the classes of the share of rows that are right, and 1.96 standard deviations of it on rows (whole
    groups) that are drawn again, on both sides."""
    if not w.any():
        return None, None
    member = truth[:, None] == np.unique(truth[w > 0])
    right = member & (truth == guess)[:, None]
    value = float((w @ right / (w @ member)).mean())
    if len(truth) < 2:
        return value, None
    W = drawn_weights(len(truth), groups) * w
    rows, hits = W @ member, W @ right
    shares = np.divide(hits, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
    reach = 1.96 * float(np.nanmean(shares, axis=1).std(ddof=1))
    return value, [max(value - reach, 0.0), min(value + reach, 1.0)]


def _table(
    names: list[str],
    order: np.ndarray,
    truth: np.ndarray,
    guess: np.ndarray,
    scores: np.ndarray,
    raw: Any,
    w: np.ndarray,
) -> list[dict[str, Any]]:
    """The classes, the most frequent first."""
    member = truth[:, None] == np.arange(len(names))
    precisions = [None if each is None else average_precision(member, each, sample_weight=w) for each in (raw, scores)]
    claims = guess[:, None] == np.arange(len(names))
    rows, claimed, right = w @ member, w @ claims, w @ (member & claims)
    return [
        {
            "class": names[j],
            "n": int(member[:, j].sum()),
            "ap_raw": _finite(precisions[0], j),
            "ap_embedded": _finite(precisions[1], j),
            "chance": float(rows[j] / w.sum()) if w.any() else None,
            "recall": float(right[j] / rows[j]) if rows[j] else None,
            "precision": float(right[j] / claimed[j]) if claimed[j] else None,
        }
        for j in order.tolist()
    ]


def _finite(values: Any, j: int) -> float | None:
    return None if values is None or not np.isfinite(values[j]) else float(values[j])
