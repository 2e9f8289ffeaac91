"""Sweeps to convergence, and their extrapolation: the lower bound is recorded after each and never falls."""

import warnings
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from proxembed.algebra.pencil.symmetric import pseudo_inverse

MEMORY = 6
WINDOW = 10  # sweeps over which extrapolated gains, which come unevenly, are averaged
SHRINK = 1e-10  # ridge of the least squares over the remembered steps, in units of its trace
FALL = 1e-9  # a fall of the bound above this share of it is not rounding


class Model(Protocol):
    """What is swept: updates that never lower the bound, and the vector that is extrapolated between them."""

    refresh: int

    def sweep(self, state: Any, renew: bool) -> float:
        """Replace every factor, those that are renewed seldom where ``renew``; return the bound."""

    def pack(self, state: Any) -> np.ndarray:
        """The extrapolated part of a state as one vector."""

    def moved(self, state: Any, point: np.ndarray) -> Any:
        """Another state with that part replaced and the scores made to fit."""


@dataclass
class Ascent:
    """Where the sweeps ended: the state, the bound after each of them, whether they converged."""

    state: Any
    bounds: list[float]
    converged: bool


def warn_unsettled(estimator: Any, found: Ascent, stacklevel: int) -> None:
    """A ConvergenceWarning where the bound had not settled and was to; ``stacklevel`` as seen by the caller."""
    if found.converged or estimator.tol == 0:
        return
    warnings.warn(
        f"{type(estimator).__name__} stopped after {estimator.max_iter} sweeps before its bound settled; "
        "raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=stacklevel + 1,
    )


class Extrapolation:
    """Anderson's method for a fixed point u = g(u): the combination of the last steps whose residual is least.
    [anderson1965iterative]"""

    def __init__(self, size: int):
        self.steps, self.changes = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self.products = np.zeros((MEMORY, MEMORY))
        self.forget()

    def forget(self) -> None:
        """Start anew: a step was refused."""
        self.count = 0
        self.skip()

    def skip(self) -> None:
        """The next step is not compared with the last one: what is renewed seldom has changed the map."""
        self.last: tuple[np.ndarray, np.ndarray] | None = None

    def point(self, u: np.ndarray, g: np.ndarray) -> np.ndarray | None:
        """Where to go from u with g(u) = g; None while there is nothing to compare with."""
        f = g - u
        if self.last is not None:
            self._remember(g - self.last[0], f - self.last[1])
        self.last = (g, f)
        used = min(self.count, len(self.steps))
        if used == 0:
            return None
        N = self.products[:used, :used]
        weights = pseudo_inverse(N, SHRINK * float(np.trace(N))) @ (self.changes[:used] @ f)
        return g - weights @ self.steps[:used]

    def _remember(self, step: np.ndarray, change: np.ndarray) -> None:
        """Put a step in the place of the oldest one."""
        place = self.count % len(self.steps)
        self.steps[place], self.changes[place] = step, change
        self.count += 1
        used = min(self.count, len(self.steps))
        self.products[place, :used] = self.products[:used, place] = self.changes[:used] @ change


def ascend(
    model: Model,
    state: Any,
    *,
    max_iter: int,
    tol: float,
    accelerate: bool,
    turns: Callable[[int], Iterable[int]] = range,
) -> Ascent:
    """Sweep from a state at most ``max_iter`` times, in ``turns(max_iter)``; tol 0 sweeps in all of them and is never
    converged. With ``accelerate`` the coordinates and the classifiers are extrapolated between sweeps (never the
    bound's own evaluation); a sweep that ends below the best bound is undone and the next one starts plainly from
    there. Raises ValueError where the bound of a plain sweep is not finite."""
    extrapolation = Extrapolation(model.pack(state).size) if accelerate else None
    bounds: list[float] = []
    best, origin, since = state, state, model.refresh
    window = max(WINDOW if accelerate else 2, model.refresh)
    plain, point = True, None
    for _ in turns(max_iter):
        renew = since >= model.refresh
        work = copy(origin)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the bound shows it
            bound = model.sweep(work, renew)
        since = 1 if renew else since + 1
        if bounds and not plain and not bounds[-1] <= bound < np.inf:
            extrapolation.forget()
            bounds.append(bounds[-1])
            origin, plain = best, True
            since = model.refresh if renew else since
            continue
        _check(bounds, bound)
        bounds.append(bound)
        best = work
        if tol > 0 and _settled(bounds, tol, window):
            return Ascent(best, bounds, True)
        if extrapolation is not None:
            if renew and model.refresh > 1:
                extrapolation.skip()
            point = extrapolation.point(model.pack(origin), model.pack(work))
        plain = point is None
        origin = work if point is None else model.moved(work, point)
    return Ascent(best, bounds, False)


def _settled(bounds: list[float], tol: float, window: int) -> bool:
    """Whether the mean gain a sweep is below tol times the bound, over this many sweeps."""
    return len(bounds) > window and bounds[-1] - bounds[-1 - window] < window * tol * abs(bounds[-1])


def _check(bounds: list[float], bound: float) -> None:
    """ValueError for a bound that is not a number, a warning for one that fell by itself."""
    if not np.isfinite(bound):
        raise ValueError(
            f"After sweep {len(bounds) + 1} the lower bound is not finite ({bound}): numbers have become too large for "
            "floating point; scale the features to unit variance."
        )
    if bounds and bound < bounds[-1] - FALL * abs(bounds[-1]):
        warnings.warn(
            f"The lower bound fell from {bounds[-1]:.10g} to {bound:.10g}: rounding has taken over; scale the "
            "features to unit variance.",
            ConvergenceWarning,
            stacklevel=4,
        )
