"""LabelWeights: numbers of at least 0 as weights of labels, such as counts and memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .labels import LabelMatrix
from .outputs import Outputs
from .targets import Targets


class LabelWeights(LabelMatrix):
    """Labels whose entries are numbers of at least 0 instead of 0 and 1: how much of a label a row has."""

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of each column, (c,)."""
        return np.sqrt(np.clip(np.diag(self.centred_gram), 0.0, None) / self.n)

    @property
    def bare(self) -> int:
        """Rows without a label."""
        return int(np.count_nonzero(self.m == 0))

    @property
    def differ(self) -> bool:
        """Whether some column differs between rows."""
        return bool(np.any(np.diag(self.centred_gram) > 1e-12 * np.diag(self.gram)))


def label_weights(targets: Targets, amounts: bool = False) -> Targets:
    """Several columns of counts, or of memberships from 0 to 1, as ``LabelWeights``, as they are; with ``amounts``
    those of any numbers of at least 0. Other targets unchanged."""
    if not isinstance(targets, Outputs) or not _are_weights(targets, amounts):
        return targets
    names = np.array([column.name for column in targets.layout.columns], dtype=object)
    names = names.astype(np.intp) if all(isinstance(name, int) for name in names) else names
    unknown = None if targets.holes is None else sparse.csc_array(targets.holes)
    raw: Any = targets.raw
    return LabelWeights(sparse.csc_array(raw, dtype=np.float64), names, "weights", unknown)


def _are_weights(targets: Outputs, amounts: bool) -> bool:
    """Whether no number is below 0, and at least two columns are not 0; unless ``amounts``, all are whole or at most
    1."""
    if any(column.kind not in ("real", "labels") for column in targets.layout.columns):
        return False
    low, high = targets.ranges
    if not np.all(low >= 0) or np.count_nonzero(high > 0) < 2:
        return False
    values: Any = targets.raw.data if targets.is_sparse else targets.raw
    return amounts or bool(np.all(high <= 1) or np.all(values == np.rint(values)))
