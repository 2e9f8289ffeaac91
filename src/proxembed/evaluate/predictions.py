"""The scores of held-out rows as one file of plain arrays, and the precision of labels from them."""

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.targets.known import known_cells
from proxembed.targets.values import dense_labels

from .metrics import average_precision
from .results import SAME_ROWS, TEST, Results


def predictions_npz(results: Results) -> bytes:
    """The scores of test rows as the content of an .npz of plain arrays; of all folds where no test rows were scored.

    ``arm``, ``k`` (-1 for an arm without a size) and ``fold`` tell, for i = 0, 1, ..., what ``scores_i`` (rows of the
    fold, labels; float32), ``similarity_i`` (each row's mean similarity to its neighbours) and ``new_similarity_i`` (to
    those among the rows of the fold, where these are enough) are; ``rows_FOLD`` holds the numbers of the rows of the
    data, and ``same_rows_FOLD`` their similarity to the same rows for every query.

    Parameters
    ----------
    results : Results
        With ``keep_predictions=True`` in its protocol.

    Returns
    -------
    bytes
        For ``numpy.load``.

    Examples
    --------
    >>> from proxembed.evaluate.predictions import predictions_npz
    >>> from proxembed.evaluate.results import Results
    >>> predictions_npz(Results({}, {}))[:2]
    b'PK'
    """
    folds = [TEST] if TEST in results.folds else list(results.held_out)
    keys = [key for key in results.predictions if key[2] in folds]
    arrays = {
        "arm": np.array([arm for arm, _, _ in keys], dtype=str),
        "k": np.array([-1 if k is None else k for _, k, _ in keys], dtype=np.int64),
        "fold": np.array([fold for _, _, fold in keys], dtype=str),
    }
    arrays |= {f"scores_{i}": results.predictions[key] for i, key in enumerate(keys)}
    for name in ("similarity", "new_similarity"):
        kept = getattr(results, name)
        arrays |= {f"{name}_{i}": kept[key] for i, key in enumerate(keys) if key in kept}
    for fold in folds:
        arrays[f"rows_{fold}"] = results.held_out[fold]
        if (SAME_ROWS, None, fold) in results.similarity:
            arrays[f"same_rows_{fold}"] = results.similarity[SAME_ROWS, None, fold]
    out = io.BytesIO()
    named: dict[str, Any] = arrays
    np.savez_compressed(out, **named)
    return out.getvalue()


def label_precisions(
    results: Results, Y: Any, arm: str, k: int | None, folds: Sequence[str] | None = None, unknown: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Average precision of each label at one arm and k, averaged over folds, and the number of folds.

    Parameters
    ----------
    results : Results
        With its predictions.
    Y : array or sparse array of shape (n, c)
        Labels of all rows.
    arm : str
    k : int or None
    folds : sequence of str, optional
        Names of finished folds; None takes the validation folds.
    unknown : sparse array of shape (n, c), optional
        Cells that are unknown.

    Returns
    -------
    (mean (c,), folds (c,))
        NaN where no fold has a positive row of the label. A fold that failed counts as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.predictions import label_precisions
    >>> from proxembed.evaluate.results import Results
    >>> scores = {("OPLS", 2, "1"): np.array([[0.9, 0.1], [0.2, 0.3]])}
    >>> results = Results({}, {}, predictions=scores, folds={"1": {}}, held_out={"1": np.array([0, 1])})
    >>> label_precisions(results, np.array([[1, 0], [0, 0]]), "OPLS", 2)[0].tolist()
    [1.0, nan]
    """
    Y, each = sp.csr_array(Y), []
    for fold in [fold for fold in results.folds if fold != TEST] if folds is None else folds:
        truth = dense_labels(Y[results.held_out[fold]])
        S = results.predictions.get((arm, k, fold))
        worst = np.where(truth.any(axis=0), 0.0, np.nan)
        cells = known_cells(unknown, results.held_out[fold])
        each.append(worst if S is None else average_precision(truth, S, cells))
    table = np.array(each).reshape(-1, Y.shape[1])
    known = np.isfinite(table).sum(axis=0)
    return np.where(known, np.nansum(table, axis=0) / np.maximum(known, 1), np.nan), known
