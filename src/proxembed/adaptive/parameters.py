"""The numeric parameters of a model: what values each may take on given labels, and how a search draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proxembed.targets.labels import LabelMatrix

from .pairs import distinguishing_labels
from .switches import Switches

DEGREES = (1, 2, 3, 4, 5)
SIGMA = (2.0**-5, 2.0**5)
TAU = (1e-3, 10.0)
LAM = {1: (1e-3, 1e3), 2: (1e-6, 1e2)}
AT_THE_TOP = 0.1
DIGITS = 3


@dataclass(frozen=True)
class Limits:
    """How far numbers of neighbours go: rows, the largest class, and the two largest classes together.

    Examples
    --------
    >>> Limits.of(LabelMatrix.of([0, 0, 0, 1, 1, 2]))
    Limits(rows=6, largest=3, largest_two=5)
    """

    rows: int
    largest: int
    largest_two: int

    @classmethod
    def of(cls, labels: LabelMatrix) -> Limits:
        """From the labels of the rows of a fit, a single one as two classes; of overlapping ones at most all rows."""
        labels = distinguishing_labels(labels)
        nk = np.sort(labels.nk.astype(int))[::-1]
        return cls(labels.n, int(nk[0]), int(min(nk[:2].sum(), labels.n)))


@dataclass(frozen=True)
class Domain:
    """The range of one parameter: ``kind`` is "choice", "log" (a number) or "integer" (drawn on a log scale, with a
    mass of a tenth on the upper end, at which the relation holds for all pairs).

    Examples
    --------
    >>> Domain("log", 0.01, 10.0).sample(np.random.default_rng(0))
    0.0645
    """

    kind: str
    low: float
    high: float

    def sample(self, rng: np.random.Generator) -> float | int:
        """One value; numbers are rounded to three digits, so that stages met before are met again."""
        if self.kind == "choice":
            return int(rng.integers(int(self.low), int(self.high) + 1))
        top, u = rng.uniform() < AT_THE_TOP, rng.uniform()
        value = float(np.exp(np.log(self.low) + u * (np.log(self.high) - np.log(self.low))))
        if self.kind == "log":
            return self.clip(value)
        return int(self.high) if top else self.clip(value)

    def clip(self, value: float) -> float | int:
        """The nearest permitted value, an integer where only these are, rounded as a sample is."""
        value = min(max(value, self.low), self.high)
        return float(f"{value:.{DIGITS}g}") if self.kind == "log" else int(round(value))


def domain(name: str, switches: Switches, limits: Limits) -> Domain:
    """The range of a parameter of ``switches.numeric()``.  [mu2012defc]

    A sigma is a multiple of the median squared distance of the preprocessed rows, lam a multiple of the balance of
    both parts of the objective.

    Raises
    ------
    ValueError
        For a name that is no parameter of this model.

    Examples
    --------
    >>> domain("n_friends", Switches(3, 5, 0, 5, 1, 2, 2, 0), Limits(6, 3, 5))
    Domain(kind='integer', low=1, high=2)
    """
    if name not in switches.numeric():
        raise ValueError(f"name={name!r} is no parameter of this model, which has {', '.join(switches.numeric())}.")
    if name == "lam":
        return Domain("log", *LAM[switches.eo])
    if name == "n_friends":
        return Domain("integer", 1, max(1, limits.largest - 1))
    if name == "n_enemies":
        return Domain("integer", 1, max(1, limits.largest_two - 1))
    if name == "n_neighbors":
        return Domain("integer", min(2, limits.rows - 1), limits.rows - 1)
    measure = name.rpartition("_")[2]
    if measure == "p":
        return Domain("choice", DEGREES[0], DEGREES[-1])
    return Domain("log", *(SIGMA if measure == "sigma" else TAU))


def sample(switches: Switches, limits: Limits, rng: np.random.Generator) -> dict[str, float | int]:
    """A value for each parameter of a model.

    Examples
    --------
    >>> sorted(sample(Switches(3, 5, 0, 5, 1, 2, 2, 0), Limits(6, 3, 5), np.random.default_rng(0)))
    ['lam', 'n_enemies', 'n_friends', 'similarity_sigma']
    """
    return {name: domain(name, switches, limits).sample(rng) for name in switches.numeric()}
