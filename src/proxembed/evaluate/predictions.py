"""The scores of held-out rows as one file of plain arrays."""

import io
import zipfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from proxembed.persist import write_whole
from proxembed.targets.values import dense_labels

from .metrics import average_precision
from .results import TEST, Results


def predictions_npz(results: Results) -> bytes:
    """The held-out scores of a comparison as the content of an .npz of plain arrays.

    ``arm``, ``k`` (-1 for all features) and ``fold`` tell, for i = 0, 1, ..., what ``scores_i`` (rows of the fold,
    labels; float32) is; ``rows_FOLD`` holds the numbers of the rows of the data.

    Parameters
    ----------
    results : Results
        With ``keep_predictions=True`` in its protocol.

    Returns
    -------
    bytes
        What ``load_predictions`` reads from a file.

    Examples
    --------
    >>> from proxembed.evaluate.predictions import predictions_npz
    >>> from proxembed.evaluate.results import Results
    >>> predictions_npz(Results({}, {}))[:2]
    b'PK'
    """
    keys = list(results.predictions)
    arrays = {
        "arm": np.array([arm for arm, _, _ in keys], dtype=str),
        "k": np.array([-1 if k is None else k for _, k, _ in keys], dtype=np.int64),
        "fold": np.array([fold for _, _, fold in keys], dtype=str),
    }
    arrays |= {f"scores_{i}": results.predictions[key] for i, key in enumerate(keys)}
    arrays |= {f"rows_{fold}": rows for fold, rows in results.held_out.items()}
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def save_predictions(results: Results, path: str | Path) -> Path:
    """Write the held-out scores of a comparison, see ``predictions_npz``, whole or not at all.

    Parameters
    ----------
    results : Results
        With ``keep_predictions=True`` in its protocol.
    path : str or Path
        Its folder must exist.

    Returns
    -------
    Path

    Raises
    ------
    OSError
        The file cannot be written; an earlier one stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from proxembed.evaluate.predictions import load_predictions, save_predictions
    >>> from proxembed.evaluate.results import Results
    >>> scores = {("OPLS", 2, "1"): np.zeros((3, 1), dtype=np.float32)}
    >>> results = Results({}, {}, predictions=scores, held_out={"1": np.array([4, 5, 7])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found, rows = load_predictions(save_predictions(results, Path(folder) / "predictions.npz"))
    >>> list(found), rows["1"].tolist()
    ([('OPLS', 2, '1')], [4, 5, 7])
    """
    path = Path(path)
    write_whole({path: predictions_npz(results)})
    return path


def load_predictions(path: str | Path) -> tuple[dict[tuple[str, int | None, str], np.ndarray], dict[str, np.ndarray]]:
    """Read what ``save_predictions`` has written.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    (predictions, held_out)
        As in ``Results``.

    Raises
    ------
    OSError
        There is no such file.
    ValueError
        It is not a file of predictions.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            keys = zip(file["arm"].tolist(), file["k"].tolist(), file["fold"].tolist(), strict=True)
            scores = {(arm, None if k < 0 else k, fold): file[f"scores_{i}"] for i, (arm, k, fold) in enumerate(keys)}
            rows = {name.removeprefix("rows_"): file[name] for name in file.files if name.startswith("rows_")}
    except (KeyError, EOFError, AttributeError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a file of predictions: {error}; run the comparison again.") from error
    return scores, rows


def label_precisions(results: Results, Y, arm: str, k: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Average precision of each label at one arm and k, averaged over the validation folds, and the number of folds.

    Parameters
    ----------
    results : Results
        With its predictions.
    Y : array or sparse array of shape (n, c)
        Labels of all rows.
    arm : str
    k : int or None

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
    for fold, rows in results.held_out.items():
        if fold == TEST or fold not in results.folds:
            continue
        truth = dense_labels(Y[rows])
        S = results.predictions.get((arm, k, fold))
        worst = np.where(truth.any(axis=0), 0.0, np.nan)
        each.append(worst if S is None else average_precision(truth, S))
    table = np.array(each).reshape(-1, Y.shape[1])
    folds = np.isfinite(table).sum(axis=0)
    return np.where(folds, np.nansum(table, axis=0) / np.maximum(folds, 1), np.nan), folds
