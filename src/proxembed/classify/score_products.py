"""Scores of many labels, kept as the products of rows and coefficients that they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.targets.labels import MANY_LABELS


@dataclass(frozen=True)
class FactoredScores:
    """Scores of many labels, (m, c), as the product of rows (m, k) and coefficients (k, c), and the intercepts (c,)."""

    rows: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray

    @classmethod
    def of(cls, rows: Any, coef: np.ndarray, intercept: np.ndarray) -> "FactoredScores | None":
        """In 32 bits; None where the scores themselves would take no more."""
        m, k = rows.shape
        if k * (m + coef.shape[1]) >= m * coef.shape[1]:
            return None
        parts = (rows.toarray() if sp.issparse(rows) else rows, coef, intercept)
        return cls(*(np.asarray(part, dtype=np.float32) for part in parts))

    def of_labels(self, part: slice) -> np.ndarray:
        """The scores of some labels, (labels, m)."""
        scores = self.coef[:, part].T @ self.rows.T
        scores += self.intercept[part, None]
        return scores

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The scores, (m, c), those of each label in one piece: measures rank label by label."""
        return np.asarray(self.of_labels(slice(None)).T, dtype=dtype)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The three parts by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class UnseenScores:
    """Scores of n rows, (n, c), by read-outs that have not seen them: for each read-out the numbers of its rows, and
    their scores, (m, c)."""

    shape: tuple[int, int]
    parts: Sequence[tuple[np.ndarray, np.ndarray | FactoredScores]]

    def of_labels(self, part: slice) -> np.ndarray:
        """The scores of some labels, (labels, n)."""
        found = np.empty((len(range(*part.indices(self.shape[1]))), self.shape[0]), dtype=np.float32)
        for rows, scores in self.parts:
            found[:, rows] = scores[:, part].T if isinstance(scores, np.ndarray) else scores.of_labels(part)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.of_labels(slice(None)).T, dtype=dtype)


def joined_scores(shape: tuple[int, int], parts: Iterable[tuple[np.ndarray, Any, Any]]) -> np.ndarray | UnseenScores:
    """Scores of n rows, (n, c), by several read-outs, of many labels as products: for each read-out the numbers of its
    rows, the read-out and the embedding of these rows."""
    many, scores = shape[1] > MANY_LABELS, []
    for rows, readout, Z in parts:
        product = FactoredScores.of(Z, readout.coef, readout.intercept) if many else None
        scores.append((rows, readout.scores(Z) if product is None else product))
    if many:
        return UnseenScores(shape, scores)
    every = np.empty(shape)
    for rows, own in scores:
        every[rows] = own
    return every
