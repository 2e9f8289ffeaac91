"""MVMD and its seven rivals, each with the values tried of its one parameter; sizes by shares of a spectrum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed import CCA, DMLDA, MDDM, MLDA, MLSI, MVMD, PCA

OURS, FEATURES = "MVMD", "all features"
SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
BETAS = tuple(number / 10 for number in range(1, 10))
WHOLE = SHARES[-1]


@dataclass(frozen=True)
class Contender:
    """A method by name; ``values`` are tried of the parameter ``name``, none without one."""

    title: str
    estimator: Any
    name: str = ""
    values: tuple = field(default=())

    def settings(self) -> list[dict[str, Any]]:
        """The settings that are tried.

        >>> Contender("PCA", PCA()).settings()
        [{}]
        """
        return [{self.name: value} for value in self.values] if self.values else [{}]

    def with_share(self, setting: dict[str, Any]) -> Any:
        """The method at a setting, unfitted, with the components that hold .999 of its spectrum."""
        return clone(self.estimator).set_params(n_components=WHOLE, **setting)

    def describe(self) -> dict:
        """As plain data."""
        return {"title": self.title, "method": repr(self.estimator), self.name or "parameter": list(self.values)}


def contenders() -> tuple[Contender, ...]:
    """MVMD first."""
    return (
        Contender(OURS, MVMD(), "beta", BETAS),
        Contender("PCA", PCA()),
        Contender("MDDMp", MDDM(metric="projection")),
        Contender("MDDMf", MDDM(metric="features"), "mix", BETAS),
        Contender("CCA", CCA()),
        Contender("MLSI", MLSI(form="ratio", center=True), "beta", BETAS),
        Contender("MLDA", MLDA()),
        Contender("DMLDA", DMLDA()),
    )


def size_of(eigenvalues: np.ndarray, share: float) -> int:
    """The least number of leading eigenvalues whose sum is at least this share of all: t of (15).

    >>> size_of(np.array([6.0, 3.0, 1.0]), 0.9), size_of(np.array([6.0, 3.0, 1.0]), 0.5)
    (2, 1)
    """
    sums = np.cumsum(np.clip(eigenvalues, 0.0, None))
    return min(int(np.searchsorted(sums, share * sums[-1] * (1 - 1e-12))) + 1, len(sums))


def spectrum_facts(eigenvalues: np.ndarray) -> dict[str, int]:
    """How many leading eigenvalues hold 95 and 99.9 % of the sum.

    >>> spectrum_facts(np.array([100.0, 1.0, 0.01]))
    {'95 %': 1, '99.9 %': 2}
    """
    return {"95 %": size_of(eigenvalues, 0.95), "99.9 %": size_of(eigenvalues, WHOLE)}
