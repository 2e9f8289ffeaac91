"""Measures of scores (average precision, AUC), of neighbours' label sets (Jaccard) and of predicted label sets.

Of predicted label sets 0/0 has a stated value everywhere: 0 for a label or for all entries together, 1 for a row whose
true and predicted sets are both empty.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from proxembed.targets.values import dense_labels, sparse_labels

from .ranks import label_precisions

EPS = float(np.finfo(np.float64).eps)
EXCHANGED_ROWS = 400  # rows of ``exchange_score``, at most


class LabelMean(NamedTuple):
    """A mean over labels, with the number of labels that it rests on."""

    value: float
    n_labels: int


def checked_pair(Y: Any, S: Any, kept: bool = False) -> tuple[np.ndarray, Any]:
    """Labels as bool and scores as float64, dense, of one shape (n, c); S must be finite. ``kept``: scores of 32 bits
    and sparse scores stay as they are."""
    Y = dense_labels(Y)
    if not kept or not sp.issparse(S):
        S = np.asarray(S.toarray() if sp.issparse(S) else S)
        S = S if kept and S.dtype == np.float32 else S.astype(np.float64, copy=False)
    if S.shape != Y.shape:
        raise ValueError(f"Y and S must have one shape; got Y {Y.shape} and S {S.shape}. Score every row and label.")
    if not np.isfinite(S.data if sp.issparse(S) else S).all():
        raise ValueError("S must be finite; it holds NaN or infinity. Check the model that produced the scores.")
    return Y, S


def average_precision(
    Y: Any, S: Any, known: np.ndarray | None = None, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Average precision of each label: the mean, over its positive rows, of the precision at that row's score.

    Tied scores are one threshold, so that an uninformative constant score gets the share of positives.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely; of scores of at least 0, a sparse array too.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    array of shape (c,)
        NaN for a label without a positive row.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1 or S is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import average_precision
    >>> average_precision(np.array([[1], [0], [1], [0]]), np.array([[.9], [.8], [.7], [.1]])).round(4).tolist()
    [0.8333]
    """
    Y, S = checked_pair(Y, S, kept=True)
    if known is None:
        return label_precisions(Y, S, sample_weight)
    out = np.full(Y.shape[1], np.nan)
    for j in np.flatnonzero(Y.any(axis=0)):
        cells = known[:, j]
        own = None if sample_weight is None else sample_weight[cells]
        out[j] = label_precisions(Y[cells, j : j + 1], S[cells, j : j + 1], own)[0]
    return out


def macro_average_precision(
    Y: Any,
    S: Any,
    *,
    min_positives: int = 1,
    absent: str = "skip",
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> LabelMean:
    """Macro average precision: the mean over labels of the average precision, with the number of labels used.

    Parameters
    ----------
    Y : array or sparse array of shape (n, c)
        True labels, 0 or 1.
    S : array of shape (n, c)
        Real scores, larger meaning more likely.
    min_positives : int, default=1
        Labels with fewer positive rows in Y are absent.
    absent : {"skip", "zero"}, default="skip"
        Leave absent labels out of the mean, or count them as 0.
    known : bool array of shape (n, c), optional
        The cells to use; None: all.
    sample_weight : array of shape (n,), optional
        How often each row counts; None: once.

    Returns
    -------
    LabelMean
        ``value`` (NaN when every label is absent and skipped) and ``n_labels``.

    Raises
    ------
    ValueError
        Shapes differ, Y is not 0/1, S is not finite, or an option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.measures import macro_average_precision
    >>> Y = np.array([[1, 0], [0, 0], [1, 0]])
    >>> macro_average_precision(Y, np.array([[.9, .1], [.2, .1], [.8, .3]]))
    LabelMean(value=1.0, n_labels=1)
    """
    if absent not in ("skip", "zero"):
        raise ValueError(f"absent={absent!r} is unknown; use 'skip' or 'zero'.")
    if min_positives < 1:
        raise ValueError(f"min_positives={min_positives!r} must be at least 1: average precision needs a positive row.")
    each = average_precision(Y, S, known, sample_weight)
    present = dense_labels(Y).sum(axis=0) >= min_positives
    n_labels = int(present.sum())
    if absent == "zero":
        return LabelMean(float(np.where(present, each, 0.0).mean()), len(each))
    return LabelMean(float(each[present].mean()) if n_labels else float("nan"), n_labels)


def rarest_average_precision(
    Y: Any,
    S: Any,
    *,
    min_positives: int = 1,
    known: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> LabelMean:
    """Average precision of the label with the fewest positive rows; the mean over labels that have equally few."""
    truth = dense_labels(Y)
    present = truth.sum(axis=0) >= min_positives
    if not present.any():
        return LabelMean(float("nan"), 0)
    counts = _total(truth, sample_weight)
    rarest = present & (counts == counts[present].min())
    each = average_precision(Y, S, known, sample_weight)[rarest]
    return LabelMean(float(each.mean()), int(rarest.sum()))


def row_jaccard(
    Y: Any, Y_train: Any, weights: Any, known_train: Any = None, *, known: Any = None, block: int = 2**26
) -> np.ndarray:
    """For each row the mean similarity between its label set and the label sets of its nearest training rows; where
    cells are unknown ``block`` of them are compared at a time."""
    weights = sp.csr_array(weights)
    if weights.shape != (Y.shape[0], Y_train.shape[0]) or weights.nnz == 0:
        raise ValueError(
            f"weights must have one row for each of the {Y.shape[0]} rows of Y and one column for each of the "
            f"{Y_train.shape[0]} training rows, and hold neighbours; got shape {weights.shape} with {weights.nnz} "
            "entries."
        )
    if Y.shape[1] != Y_train.shape[1]:
        raise ValueError(f"Y has {Y.shape[1]} labels and Y_train {Y_train.shape[1]}; give both the same label columns.")
    row, near = np.repeat(np.arange(Y.shape[0]), np.diff(weights.indptr)), weights.indices
    if known is None and known_train is None:
        return np.bincount(row, weights.data * _set_similarity(Y, Y_train, row, near), minlength=Y.shape[0])
    Y, Y_train = dense_labels(Y), dense_labels(Y_train)
    known = np.ones(Y.shape, dtype=bool) if known is None else known
    known_train = np.ones(Y_train.shape, dtype=bool) if known_train is None else known_train
    similarity, weight = np.empty(len(row)), weights.data.copy()
    step = max(1, block // max(Y.shape[1], 1))
    for start in range(0, len(row), step):
        part = slice(start, start + step)
        both = known[row[part]] & known_train[near[part]]
        ours, theirs = Y[row[part]] & both, Y_train[near[part]] & both
        weight[part] *= both.any(axis=1)
        union = (ours | theirs).sum(axis=1)
        similarity[part] = np.where(union == 0, 1.0, (ours & theirs).sum(axis=1) / np.maximum(union, 1))
    total = np.bincount(row, weight * similarity, minlength=len(Y))
    share = np.bincount(row, weight, minlength=len(Y))
    return np.divide(total, share, out=np.zeros(len(Y)), where=share > 0)


def _set_similarity(Y: Any, Y_train: Any, row: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The Jaccard similarity of the label sets of pairs of rows, from the labels that they have."""
    Y, Y_train = sparse_labels(Y), sparse_labels(Y_train)
    common = np.asarray(Y[row].multiply(Y_train[near]).sum(axis=1)).ravel()
    union = np.diff(Y.indptr)[row] + np.diff(Y_train.indptr)[near] - common
    return np.where(union == 0, 1.0, common / np.maximum(union, 1))


def jaccard_at_k(
    Y: Any, Y_train: Any, weights: Any, known_train: Any = None, *, known: Any = None, sample_weight: Any = None
) -> float:
    """Jaccard@k: the mean similarity between a row's label set and the label sets of its k nearest training rows. Of
    one yes/no label both classes count alike (``class_weights``): one list for all rows has 0.5.

    Parameters, returns and errors as of ``row_jaccard``, whose mean it is; ``sample_weight`` (n,): how often each row
    counts in it.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from proxembed.measures import jaccard_at_k
    >>> jaccard_at_k(np.array([[1, 1, 0]]), np.array([[1, 0, 0], [1, 1, 0]]), sp.csr_array([[0.5, 0.5]]))
    0.75
    """
    similarity = row_jaccard(Y, Y_train, weights, known_train, known=known)
    return _mean(similarity, class_weights(Y, known, sample_weight))


def class_weights(Y: Any, known: Any = None, sample_weight: np.ndarray | None = None) -> np.ndarray | None:
    """How much each row counts for the neighbours of rows. Of one yes/no label (one column, or two of which every row
    has one) the rows of either class count as much together as those of the other, so that the rarer class is not lost
    among the many pairs of rows that both lack the label; else ``sample_weight``, None: each row counts once."""
    if Y.shape[0] == 0 or not is_yes_no(Y):
        return sample_weight
    Y = dense_labels(Y)
    w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    seen = np.ones(len(Y), dtype=bool) if known is None else known[:, 0]
    has = Y[:, -1].astype(bool)
    sides = [seen & has, seen & ~has]
    totals = [w[side].sum() for side in sides]
    if min(totals) == 0:
        return sample_weight
    factor = np.zeros(len(Y))
    for side, total in zip(sides, totals, strict=True):
        factor[side] = sum(totals) / (2 * total)
    return w * factor


def is_yes_no(Y: Any) -> bool:
    """Whether labels (n, c) are one yes/no label: one column, or two of which every row has one."""
    return bool(Y.shape[1] == 1 or (Y.shape[1] == 2 and (np.asarray(Y.sum(axis=1)).ravel() == 1).all()))


def exchange_score(Y: Any, Y_train: Any, weights: Any) -> float:
    """How far rows agree more with their own neighbours than with those of other rows, in standard deviations over all
    ways to exchange the lists of neighbours among the rows (400 evenly spaced ones of more): about normal where
    features have no part. [hoeffding1951]

    Parameters as of ``row_jaccard``. Lists that are equal for all rows have 0.
    """
    weights = sp.csr_array(weights)
    rows = np.unique(np.linspace(0, Y.shape[0] - 1, min(EXCHANGED_ROWS, Y.shape[0])).astype(int))
    weights = weights[rows]
    near, place = np.unique(weights.indices, return_inverse=True)
    ours, theirs = sparse_labels(Y)[rows].astype(np.float32), sparse_labels(Y_train)[near].astype(np.float32)
    common = (ours @ theirs.T).toarray()
    union = np.diff(ours.indptr)[:, None] + np.diff(theirs.indptr)[None, :] - common
    similarity = np.where(union > 0, common / np.maximum(union, 1.0), 1.0)
    lists = sp.csr_array((weights.data, place, weights.indptr), shape=(len(rows), len(near)))
    M = np.asarray(similarity @ lists.T.toarray(), dtype=np.float64)  # of row i and the neighbours of row j
    apart = M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean()
    spread = np.sqrt((apart**2).sum() / max(len(rows) - 1, 1))
    return float(np.trace(apart) / spread) if spread > 1e-9 else 0.0


def same_rows(Y_train: Any, k: int = 10, *, most: int = 5000, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """The k training rows to return to every query: those of the largest mean Jaccard similarity to all label sets.
    ``sample_weight`` (n,): how often each row counts in that mean."""
    Y = sparse_labels(Y_train)
    first, own = distinct_sets(Y)
    G, sizes = Y[first].astype(np.float32), np.diff(Y.indptr)[first]
    reference = np.unique(np.linspace(0, Y.shape[0] - 1, min(most, Y.shape[0])).astype(int))
    times = None if sample_weight is None else sample_weight[reference]
    counts = np.bincount(own[reference], times, minlength=len(first))
    used = np.flatnonzero(counts)
    mean = np.empty(len(first))
    for start in range(0, len(first), 1024):
        part = slice(start, start + 1024)
        common = (G[part] @ G[used].T).toarray()
        union = sizes[part, None] + sizes[used] - common
        mean[part] = np.where(union == 0, 1.0, common / np.maximum(union, 1)) @ counts[used] / counts.sum()
    return np.argsort(-np.round(mean, 12)[own], kind="stable")[:k]


def distinct_sets(Y: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The label sets of rows: the first row of each set, and the number of each row's set; indices are sorted."""
    ends = zip(Y.indptr[:-1], Y.indptr[1:], strict=True)
    number: dict[bytes, int] = {}
    own = np.array([number.setdefault(Y.indices[a:b].tobytes(), len(number)) for a, b in ends], dtype=np.intp)
    return np.unique(own, return_index=True)[1], own


def _checked_sets(Y: Any, Yh: Any) -> tuple[np.ndarray, np.ndarray]:
    Y, Yh = dense_labels(Y), dense_labels(Yh)
    if Y.shape != Yh.shape:
        raise ValueError(f"Y and Yh must have one shape; got Y {Y.shape} and Yh {Yh.shape}. Predict every row.")
    if Y.size == 0:
        raise ValueError(f"Y has shape {Y.shape}; a measure needs at least one row and one label.")
    return Y, Yh


def _ratio(part: np.ndarray, whole: np.ndarray, empty: float) -> np.ndarray:
    """part / whole, and ``empty`` where whole is 0."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), empty)


def _total(cells: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
    """Sums over the rows of cells (n, c), each as often as it counts."""
    return cells.sum(axis=0) if sample_weight is None else sample_weight @ cells


def _mean(values: np.ndarray, sample_weight: np.ndarray | None) -> float:
    """The mean over rows, each as often as it counts, of values (n,) or (n, c)."""
    return float(values.mean() if sample_weight is None else np.average(values, axis=0, weights=sample_weight).mean())


def decision_counts(Y: Any, Yh: Any, known: Any = None, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Rows without (0) and with (1) each label, by whether it is not (0) or is (1) predicted, (2, 2, c); unknown cells
    are left out, and rows count ``sample_weight`` times."""
    has, said = (np.asarray(each) != 0 for each in (Y, Yh))
    cells = np.ones(has.shape) if known is None else known.astype(float)
    cells = cells if sample_weight is None else cells * sample_weight[:, None]
    return np.array([[(cells * (has == own) * (said == guess)).sum(axis=0) for guess in (0, 1)] for own in (0, 1)])


def hamming_loss(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Hamming loss: the share of wrong entries."""
    Y, Yh = _checked_sets(Y, Yh)
    return _mean(Y != Yh, sample_weight)


def label_f1(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """F1 of each label: 2 TP / (2 TP + FP + FN); NaN for a label that no row has and no prediction gives."""
    Y, Yh = _checked_sets(Y, Yh)
    hits, true, predicted = (_total(cells, sample_weight) for cells in (Y & Yh, Y, Yh))
    return _ratio(2 * hits, true + predicted, np.nan)


def macro_f1(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> LabelMean:
    """Macro F1: the mean of the F1 of the labels, 0 for a label that no row has and no prediction gives."""
    each = label_f1(Y, Yh, sample_weight)
    return LabelMean(float(np.where(np.isnan(each), 0.0, each).mean()), len(each))


def micro_f1(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Micro F1: 2 TP / (2 TP + FP + FN) over all entries together; 0 where there is neither truth nor prediction."""
    Y, Yh = _checked_sets(Y, Yh)
    hits, true, predicted = (_total(cells, sample_weight).sum() for cells in (Y & Yh, Y, Yh))
    return float(_ratio(2 * hits, true + predicted, 0.0))


def balanced_accuracy(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> LabelMean:
    """Macro balanced accuracy: mean over labels of the mean recall of positive and of negative rows."""
    Y, Yh = _checked_sets(Y, Yh)
    sides = [(Y, Y & Yh), (~Y, ~Y & ~Yh)]
    (positive, hits), (negative, passed) = ([_total(cells, sample_weight) for cells in side] for side in sides)
    both = (positive > 0) & (negative > 0)
    recalls = _ratio(hits, positive, 0.0), _ratio(passed, negative, 0.0)
    n_labels = int(both.sum())
    return LabelMean(float(np.mean(recalls, axis=0)[both].mean()) if n_labels else float("nan"), n_labels)


def instance_accuracy(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Instance accuracy: the mean over rows of |true and predicted| / |true or predicted|; both empty count 1."""
    Y, Yh = _checked_sets(Y, Yh)
    return _mean(_ratio((Y & Yh).sum(axis=1), (Y | Yh).sum(axis=1), 1.0), sample_weight)


def instance_precision(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Instance precision: the mean over rows of |true and predicted| / |predicted|; both empty count 1, one empty 0."""
    Y, Yh = _checked_sets(Y, Yh)
    each = np.where(Y.any(axis=1) | Yh.any(axis=1), _ratio((Y & Yh).sum(axis=1), Yh.sum(axis=1), 0.0), 1)
    return _mean(each, sample_weight)


def instance_recall(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Instance recall: the mean over rows of |true and predicted| / |true|; both empty count 1, one empty 0."""
    return instance_precision(Yh, Y, sample_weight)


def instance_f1(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Instance F1: the mean over rows of 2 |true and predicted| / (|true| + |predicted|); both empty count 1."""
    Y, Yh = _checked_sets(Y, Yh)
    return _mean(_ratio(2 * (Y & Yh).sum(axis=1), Y.sum(axis=1) + Yh.sum(axis=1), 1.0), sample_weight)


def subset_accuracy(Y: Any, Yh: Any, sample_weight: np.ndarray | None = None) -> float:
    """Subset accuracy: the share of rows whose label set is predicted exactly."""
    Y, Yh = _checked_sets(Y, Yh)
    return _mean((Y == Yh).all(axis=1), sample_weight)


def label_auc(Y: Any, S: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """AUC of each label: the chance that a row with the label scores above one without, ties counting one half."""
    Y, S = checked_pair(Y, S)
    if sample_weight is not None:
        return np.array([_weighted_auc(y, s, sample_weight) for y, s in zip(Y.T, S.T, strict=True)])
    ranks = rankdata(S, axis=0) if len(S) else S
    positives = Y.sum(axis=0).astype(np.float64)
    pairs = positives * (len(Y) - positives)
    above = np.where(Y, ranks, 0.0).sum(axis=0) - positives * (positives + 1) / 2
    return np.where(pairs > 0, above / np.maximum(pairs, 1), np.nan)


def _weighted_auc(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """AUC of one label whose rows count w times each; NaN without positive, or negative, rows."""
    place = np.unique(s, return_inverse=True)[1]
    positive, negative = (np.bincount(place[side], w[side], place.max(initial=0) + 1) for side in (y, ~y))
    pairs, below = positive.sum() * negative.sum(), np.cumsum(negative) - negative / 2
    return float(positive @ below / pairs) if pairs > 0 else float("nan")


def macro_auc(Y: Any, S: Any, sample_weight: np.ndarray | None = None) -> LabelMean:
    """Macro AUC: the mean of the labels' AUC, with the number of labels used."""
    each = label_auc(Y, S, sample_weight)
    used = each[~np.isnan(each)]
    return LabelMean(float(used.mean()) if len(used) else float("nan"), len(used))


def micro_auc(Y: Any, S: Any, sample_weight: np.ndarray | None = None) -> float:
    """Micro AUC: the AUC of all entries taken as one label; NaN where they are all 0 or all 1."""
    Y, S = checked_pair(Y, S)
    w = None if sample_weight is None else np.repeat(sample_weight, Y.shape[1])
    return float(label_auc(Y.reshape(-1, 1), S.reshape(-1, 1), w)[0])


def checked_probabilities(Y: Any, P: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels as bool and probabilities as float64, dense, of one shape (n, c)."""
    Y, P = checked_pair(Y, P)
    if P.size == 0:
        raise ValueError(f"P has shape {P.shape}; a measure needs at least one row and one label.")
    if P.min() < 0 or P.max() > 1:
        raise ValueError(f"P must hold probabilities; got {P.min():g} to {P.max():g}. Calibrate scores first.")
    return Y, P


def label_log_loss(Y: Any, P: Any, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Log-loss of each label: the mean of -log of the probability given to what was true; nats."""
    Y, P = checked_probabilities(Y, P)
    each = -np.log(np.clip(np.where(Y, P, 1 - P), EPS, 1 - EPS))
    return each.mean(axis=0) if sample_weight is None else np.average(each, axis=0, weights=sample_weight)


def log_loss(Y: Any, P: Any, sample_weight: np.ndarray | None = None) -> LabelMean:
    """Mean over labels of the log-loss; every label counts, also one that no row has."""
    each = label_log_loss(Y, P, sample_weight)
    return LabelMean(float(each.mean()), len(each))
