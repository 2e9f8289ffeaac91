"""One input: a line of text that anyone can run again, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from . import targets


@dataclass(frozen=True)
class Case:
    """An estimator, its parameters, the kinds of X and y, the sizes and the seed of all that is drawn.

    ``at`` says what gets the odd input: "fit", "transform" (fit gets plain rows, and new rows are stored so), or a call
    on the fitted estimator such as "explain(-1)". The text of a case is one line and is read back by ``Case.read``.

    >>> case = Case("PCA", values="1e+15", params=(("n_components", "2"),))
    >>> print(case)
    PCA; at fit; X 1e+15/array; y plain sets/indicator; 20x5; seed 0; n_components=2
    >>> Case.read(str(case)) == case
    True
    """

    estimator: str
    at: str = "fit"
    values: str = "plain"
    storage: str = "array"
    labels: str = "plain sets"
    form: str = "indicator"
    n: int = 20
    d: int = 5
    seed: int = 0
    params: tuple[tuple[str, str], ...] = field(default=())

    def __str__(self) -> str:
        parts = [self.estimator, f"at {self.at}", f"X {self.values}/{self.storage}", f"y {self.labels}/{self.form}"]
        parts += [f"{self.n}x{self.d}", f"seed {self.seed}", *(f"{name}={value}" for name, value in self.params)]
        return "; ".join(parts)

    @classmethod
    def read(cls, text: str) -> Case:
        """The case of a line of text."""
        estimator, at, X, y, size, seed, *params = text.split("; ")
        values, _, storage = X.removeprefix("X ").partition("/")
        labels, _, form = y.removeprefix("y ").partition("/")
        n, d = map(int, size.split("x"))
        pairs = tuple((name, value) for name, _, value in (param.partition("=") for param in params))
        at, seed = at.removeprefix("at "), int(seed.removeprefix("seed "))
        return cls(estimator, at, values, storage, labels, form, n, d, seed, pairs)

    def with_(self, **changes: Any) -> Case:
        """The case with some of its parts changed."""
        return replace(self, **changes)

    def simpler(self) -> list[Case]:
        """Cases that are plainer than this one in one respect, the greatest step first."""
        found = [self.with_(params=tuple(p for p in self.params if p != left_out)) for left_out in self.params]
        found += [self.with_(values="plain")] if self.values != "plain" else []
        found += [self.with_(storage="array")] if self.storage != "array" else []
        plain = ("plain classes", "plain") if self.labels in targets.CLASSES else ("plain sets", "indicator")
        found += [self.with_(labels=plain[0])] if self.labels != plain[0] else []
        found += [self.with_(form=plain[1])] if self.form != plain[1] else []
        found += [self.with_(n=n) for n in (2, 4, 8) if n < self.n]
        found += [self.with_(d=d) for d in (1, 2, 5) if d < self.d]
        return found
