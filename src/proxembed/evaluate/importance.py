"""Permutation importance: what predictions of held-out rows lose when a feature changes places between them.

In: a function from features to predictions, and held-out rows. Out: the loss of Q2 per block of features and output.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MOST_BLOCKS = 200  # of adjacent features that change places together, where there are more features
ORDERED_BLOCKS = 20  # of features in order, such as wavelengths: a row with one strange wavelength is not a spectrum
MOST_ROWS = 200  # held-out rows that are predicted again for each block
CHUNK_BYTES = 2**25


def feature_blocks(d: int, ordered: bool) -> list[np.ndarray]:
    """The numbers of the features that change places together."""
    return np.array_split(np.arange(d), min(d, ORDERED_BLOCKS if ordered else MOST_BLOCKS))


def permutation_losses(
    predict: Callable[[np.ndarray], np.ndarray],
    X: np.ndarray,
    Y: np.ndarray,
    level: np.ndarray,
    blocks: Sequence[Any],
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """The loss of Q2 when the features of a block are exchanged between rows.  [breiman2001forests]

    Parameters
    ----------
    predict : callable
        Maps rows (any, d) to predictions (any, q).
    X, Y : arrays of shape (m, d) and (m, q)
        Held-out rows and their outputs, NaN where unknown.
    level : array of shape (q,)
        Means of the outputs over the training rows.
    blocks : sequence of b int arrays
        Features that are exchanged together.
    sample_weight : array of shape (m,), optional
        How often each row counts; None: once.

    Returns
    -------
    array of shape (b, q), without unit
        Q2 before less Q2 after; 0 for an output that does not differ from its mean.
    """
    draw, known = np.random.default_rng(0), np.isfinite(Y)
    w = np.ones(len(X)) if sample_weight is None else sample_weight
    total, missed = (w @ np.where(known, (Y - each) ** 2, 0.0) for each in (level, predict(X)))
    losses = np.empty((len(blocks), Y.shape[1]))
    step = max(1, CHUNK_BYTES // max(X.nbytes, 1))
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        changed = np.repeat(X[None], len(part), axis=0)
        for rows, block in zip(changed, part, strict=True):
            rows[:, block] = X[draw.permutation(len(X))][:, block]
        found = predict(changed.reshape(-1, X.shape[1])).reshape(len(part), *Y.shape)
        losses[start : start + step] = w @ np.where(known, (Y - found) ** 2, 0.0) - missed
    return np.divide(losses, total, out=np.zeros_like(losses), where=total > 0)
