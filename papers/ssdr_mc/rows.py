"""The rows of the experiments on SSDR-MC: standardised, or text as unit rows, with labels known for random shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.data import Dataset
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.splits.splits import standard_split

TEXT = "tmc2007-500"


@dataclass(frozen=True)
class LabelledRows:
    """X (n, d), Y (n, c) of bool, and the mask of the published training rows."""

    name: str
    X: Any
    Y: np.ndarray
    training: np.ndarray

    def known(self, share: float, seed: int, draw: int) -> np.ndarray:
        """The mask of a random share of the rows; the rows of a smaller share of the same draw are among them.

        >>> rows = LabelledRows("made", np.eye(4), np.eye(4) > 0, np.ones(4, dtype=bool))
        >>> int(rows.known(0.5, 0, 0).sum()), bool((rows.known(0.25, 0, 0) <= rows.known(0.5, 0, 0)).all())
        (2, True)
        """
        n = len(self.Y)
        mask = np.zeros(n, dtype=bool)
        mask[np.random.default_rng([seed, draw]).permutation(n)[: round(share * n)]] = True
        return mask


def rows_of(
    dataset: Dataset, name: str, seed: int, limit: int | None = None, *, published: bool = False
) -> LabelledRows:
    """The rows of a data set, a random sample of at most ``limit`` of them.

    Dense features are standardised, by the training rows under ``published`` and by all otherwise; text has unit rows.
    """
    n = dataset.X.shape[0]
    training = np.zeros(n, dtype=bool)
    training[standard_split(dataset).train] = True
    rows = np.arange(n)
    if limit is not None and limit < n:
        rows = np.sort(np.random.default_rng(seed).permutation(n)[:limit])
    X, Y, training = dataset.X[rows], dataset.Y.toarray()[rows] > 0, training[rows]
    X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    learned = X[training] if published else X
    return LabelledRows(
        name, scaling_apply(scaling_fit("unit" if name == TEXT else "standard", learned), X), Y, training
    )
