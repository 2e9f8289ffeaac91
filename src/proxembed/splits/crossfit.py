"""Cross-fitting: each row placed by a model that has not seen it, all rows in one frame."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from proxembed.algebra.pencil.symmetric import descending, orthonormal_columns
from proxembed.blocks.row_blocks import RowBlocks, length, some
from proxembed.params import accept_classes, safe_repr
from proxembed.targets.known import take_labels

from .splits import Split

FRAME_ROWS = 10_000  # by which the models of folds of blocks are carried onto that of all rows


class Frame(NamedTuple):
    """A similarity that carries one embedding onto another: z -> scale (z - source) Q + target."""

    Q: np.ndarray
    scale: float
    source: np.ndarray
    target: np.ndarray

    def carry(self, Z: Any) -> np.ndarray:
        """Rows (m, k) of the first embedding in the frame of the second, (m, l)."""
        return self.scale * ((np.asarray(Z, dtype=np.float64) - self.source) @ self.Q) + self.target


def procrustes_frame(Z: Any, target: Any) -> Frame:
    """Orthogonal Procrustes: the rotation or reflection, scale and shift that carry Z nearest to ``target``."""
    Z, target = np.asarray(Z, dtype=np.float64), np.asarray(target, dtype=np.float64)
    source, goal = Z.mean(axis=0), target.mean(axis=0)
    M = (Z - source).T @ (target - goal)
    V = descending(M.T @ M)[1][:, : min(M.shape)]
    U = orthonormal_columns(M @ V)
    Q = U @ V.T
    size = float(np.sum((Z - source) ** 2))
    scale = float(np.sum(Q * M)) / size if size > 0 else 1.0
    return Frame(Q, scale if scale > 0 else 1.0, source, goal)


def crossfit(method: Any, X: Any, y: Any, whole: Any, splits: Iterable[Split], known: Any) -> np.ndarray:
    """Out-of-fold embedding of training rows: each row embedded by a model fitted without it."""
    whole, known = np.asarray(whole, dtype=np.float64), np.asarray(known)
    total, times = np.zeros_like(whole), np.zeros(len(whole))
    for split in splits:
        model = clone(method).fit(X[split.train], take_labels(y, split.train))
        frame = procrustes_frame(model.transform(X[split.train]), whole[split.train])
        total[split.held_out] += frame.carry(model.transform(X[split.held_out]))
        times[split.held_out] += 1
    missing = times == 0
    if (missing & known).any():
        raise ValueError(
            f"cv never holds out {int((missing & known).sum())} of {len(whole)} rows, which so have no out-of-fold "
            "embedding; use folds that hold out every row (the order of time does not)."
        )
    return np.where(missing[:, None], whole, total / np.maximum(times, 1)[:, None])


def crossfit_blocks(method: Any, rows: RowBlocks, n_folds: int = 5, *, seed: int = 0) -> RowBlocks:
    """Out-of-fold embedding of rows in blocks, computed when it is read: as ``crossfit`` of random folds."""
    if isinstance(n_folds, bool) or not isinstance(n_folds, int | np.integer) or n_folds < 2:
        what = safe_repr(n_folds) if np.isscalar(n_folds) else type(n_folds).__name__
        raise ValueError(f"cv={what} is not allowed with blocks of rows; it must be a whole number of at least 2.")
    if not rows.rereadable:
        raise ValueError(
            "Cross-fitting reads the rows several times, and these blocks can be read once. Pass a function that "
            "starts a new reading: RowBlocks(lambda: ...)."
        )
    rows = rows.checked()
    folded = partial(_with_folds, rows, n_folds, seed)
    shared, fold = RowBlocks(lambda: ((X, own) for X, _, own in folded())).sample(FRAME_ROWS, seed=seed)
    target = np.asarray(clone(method).fit(rows).transform(shared), dtype=np.float64)
    placed = []
    for number in range(n_folds):
        model, own = accept_classes(clone(method)), np.flatnonzero(fold != number)
        model.fit(_without_fold(folded, number, rows.precision))
        placed.append((model, procrustes_frame(model.transform(shared[own]), target[own])))
    return RowBlocks(lambda: _out_of_fold(folded(), placed), precision=rows.precision)


def _with_folds(rows: RowBlocks, n_folds: int, seed: int) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """Each block with the fold of each row, the same in every reading."""
    draw = np.random.default_rng(seed)
    return ((X, y, draw.integers(n_folds, size=length(X))) for X, y in rows)


def _without_fold(folded: Callable[[], Iterable[Any]], number: int, precision: str) -> RowBlocks:
    def read() -> Iterator[tuple[Any, Any]]:
        for X, y, fold in folded():
            if len(index := np.flatnonzero(fold != number)):
                yield some(X, index), None if y is None else some(y, index)

    return RowBlocks(read, precision=precision)


def _out_of_fold(folded: Iterable[Any], placed: list[tuple[Any, Frame]]) -> Iterator[tuple[np.ndarray, Any]]:
    for X, y, fold in folded:
        Z = np.empty((len(fold), len(placed[0][1].target)))
        for number in np.unique(fold):
            (model, frame), index = placed[number], np.flatnonzero(fold == number)
            Z[index] = frame.carry(model.transform(some(X, index)))
        yield Z, y
