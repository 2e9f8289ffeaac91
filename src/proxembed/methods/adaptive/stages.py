"""Stages: candidates one after another on the same rows, with everything shared that can be.

A cache is any object with ``get(key)`` (None for what it does not hold) and ``put(key, value, nbytes)``; what it gives
back must be the value that was put there. Without a cache, or with one that forgets, results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxembed.algebra.arrays.matrix import Matrix
from proxembed.targets.labels import LabelMatrix

from . import pairs, points
from .candidate import Cache, Candidate, Embedded, Setting
from .copies import copies_of
from .pairs import PairOptions
from .switches import Switches

K_CAP = 100


@dataclass(frozen=True)
class StageRows:
    """What is embedded: rows X (n, d), dense or CSR, their labels (all known), and rows X_val (m, d) or None."""

    X: Matrix
    labels: LabelMatrix
    X_val: Matrix | None = None


class Stages:
    """The stages of candidates on one part of the data.  [mu2012defc]"""

    def __init__(
        self,
        part: StageRows,
        cache: Cache | None = None,
        *,
        name: tuple[Any, ...] = (),
        k_cap: int = K_CAP,
        **options: Any,
    ):
        _check_part(part)
        self.labels, chosen = pairs.distinguishing_labels(part.labels), PairOptions(**options)
        copies = copies_of(self.labels, chosen)
        columns = points.varying(part.X)
        new = part.X[:0] if part.X_val is None else part.X_val
        self._dropped = part.X.shape[1] - len(columns)
        self._setting = Setting(
            points.float64(part.X)[:, columns],
            points.float64(new)[:, columns],
            columns,
            part.X.shape[1],
            self.labels,
            pairs.PairLabels(self.labels if copies is None else copies.labels, chosen.label_similarity),
            copies,
            cache,
            tuple(name),
            k_cap,
            chosen,
        )

    @property
    def n(self) -> int:
        """Rows of the fit."""
        return self.labels.n

    def embed(self, switches: Switches, params: Mapping[str, float]) -> Embedded:
        """The embedding of both parts by one candidate, for every k up to min(r, k_cap, n - 1)."""
        values = switches.values(params)
        repairs = [f"{self._dropped} constant features removed"] if self._dropped else []
        try:
            if not len(self._setting.columns):
                raise ValueError("X is constant: no feature varies.")
            return Candidate(self._setting, switches, values, repairs).embed()
        except ValueError as error:
            return Embedded(repairs=tuple(repairs), failed=str(error))


def _check_part(part: StageRows) -> None:
    labels = part.labels
    if labels.unknown is not None:
        raise ValueError("labels hold unknown cells, for which there is no rule here: take the fully known rows.")
    if labels.n != part.X.shape[0]:
        raise ValueError(f"X has {part.X.shape[0]} rows, labels has {labels.n}: one set of labels per row is needed.")
    if part.X_val is not None and part.X_val.shape[1] != part.X.shape[1]:
        raise ValueError(
            f"X_val has {part.X_val.shape[1]} features, X has {part.X.shape[1]}: pass rows with the same columns."
        )
    if not labels.differ:
        raise ValueError("labels are the same in every row: rows of at least two classes are needed.")
