"""WeightedTargets: the y of the rows of a block with how often each row counts."""

from __future__ import annotations

from typing import Any

import numpy as np


class WeightedTargets:
    """``y`` of some rows (None without labels) and their ``weights``, (m,) numbers of at least 0: what a block (X, y,
    weights) gives in the place of y. Rows of it, by an index or a slice, keep their weights."""

    def __init__(self, y: Any, weights: np.ndarray):
        self.y, self.weights = y, weights
        self.shape = weights.shape

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, rows: Any) -> WeightedTargets:
        own = self.y
        if isinstance(own, list | tuple) and not isinstance(rows, slice):
            own = [own[i] for i in rows]
        elif own is not None:
            own = (own.iloc if hasattr(own, "iloc") else own)[rows]
        return WeightedTargets(own, self.weights[rows])

    def __bool__(self) -> bool:
        return True


def row_weights(sample_weight: Any, n: int, of: str = "y") -> np.ndarray:
    """``sample_weight`` of n rows of ``of`` as float64, (n,). Raises ValueError for another length, for what is not a
    finite number of at least 0, and for zeros alone."""
    try:
        w = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold one number for each row ({error}).") from error
    if w.ndim != 1:
        raise ValueError(f"sample_weight has {w.ndim} dimensions; one is needed, with one number for each row.")
    if len(w) != n:
        raise ValueError(f"sample_weight has {len(w)} values, {of} has {n} rows.")
    wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(wrong):
        raise ValueError(f"sample_weight holds {w[wrong[0]]:g} (row {wrong[0]}); give weights of at least 0.")
    if not w.any():
        raise ValueError("sample_weight is zero for every row.")
    return w


def with_weights(y: Any, sample_weight: Any, rows: int, where: str) -> Any:
    """y with the weights of its rows; y itself for None. ``where``: the block, for a ValueError for weights of another
    length, or that are not finite numbers of at least 0."""
    if sample_weight is None:
        return y
    try:
        w = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight of {where} must hold one number for each row ({error}).") from error
    if w.shape != (rows,):
        raise ValueError(f"sample_weight of {where} has shape {w.shape}; its {rows:,} rows need one number each.")
    wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(wrong):
        raise ValueError(f"sample_weight of {where} holds {w[wrong[0]]:g} (row {wrong[0]})")
    return WeightedTargets(y, w)


def split_weights(y: Any) -> tuple[Any, np.ndarray | None]:
    """The y of a block and its weights; None where each row counts once."""
    return (y.y, y.weights) if isinstance(y, WeightedTargets) else (y, None)
