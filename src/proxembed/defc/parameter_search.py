"""The lower level of the search: the numeric parameters of one model, by a genetic algorithm or on a grid.

Settings are asked for and their scores are told, so that who evaluates them, and when, is left to the caller.
"""

from __future__ import annotations

import math

import numpy as np

from proxembed.adaptive import Limits, Switches, domain
from proxembed.adaptive.parameters import Domain

from .genetic import POPULATION, mutated_genes, next_generation

GENERATIONS = 8
PATIENCE = 3
BARREN = 20
TRIES = 10
OVERSHOOT = 1.2
FIRST_STEP, LAST_STEP = 0.2, 0.05

Setting = tuple[float, ...]


class ParameterSearch:
    """The search of one model's parameters: 25 settings a generation.  [mu2012defc]

    Whole numbers are crossed gene by gene and mutate by a new draw; others, on a log scale of length 1, are crossed by
    going from the worse parent past the better one, or to a point of the box between both, in turn, and mutate by a
    Gaussian step whose size falls from 0.2 to 0.05. A model with one parameter gets a grid, one with none its only
    setting.

    Parameters
    ----------
    switches : the model.
    limits : what the parameters may be on these labels.
    rng : draws everything.
    bounded : whether 8 generations after the first population (nine populations in all), or 3 without a better score,
        end the search; else it goes on until nothing new is found.

    Examples
    --------
    >>> switches = Switches(3, 5, 0, 5, 2, 2, 2, 0)
    >>> search = ParameterSearch(switches, Limits(40, 20, 40), np.random.default_rng(0))
    >>> asked = search.ask(25)
    >>> len(asked), list(asked[0])
    (25, ['similarity_sigma', 'n_neighbors', 'lam'])
    >>> for params in asked:
    ...     search.tell(params, -abs(math.log10(params["lam"])))
    >>> len(search.ask(25)) > 10
    True
    """

    def __init__(self, switches: Switches, limits: Limits, rng: np.random.Generator, *, bounded: bool = True):
        self.switches, self._rng, self._bounded = switches, rng, bounded
        self._domains = {name: domain(name, switches, limits) for name in switches.numeric()}
        self._scores: dict[Setting, float] = {}
        self._population: list[Setting] = []
        self._waiting: list[Setting] = []
        self._generation, self._until = 0, GENERATIONS
        self._best, self._stalled = -math.inf, 0
        self.finished = False

    def ask(self, number: int) -> list[dict[str, float]]:
        """Up to ``number`` settings that were never asked for; none when the search has ended.

        A generation is bred only when the scores of the one before it are told.
        """
        if not self._waiting and not self.finished and number > 0:
            self._waiting = self._next()
            self.finished = not self._waiting
        asked, self._waiting = self._waiting[:number], self._waiting[number:]
        return [dict(zip(self._domains, setting, strict=True)) for setting in asked]

    def tell(self, params: dict[str, float], score: float) -> None:
        """The score of a setting, larger being better."""
        self._scores[tuple(params[name] for name in self._domains)] = score

    @property
    def best(self) -> float:
        """The best score so far, -inf without any."""
        return max(self._scores.values(), default=-math.inf)

    def resume(self) -> None:
        """Go on for half as many generations, from where the search is."""
        self._until, self._stalled = self._generation + GENERATIONS // 2, 0
        self.finished = False

    def _next(self) -> list[Setting]:
        """The next settings to evaluate."""
        if not self._population:
            self._population = self._first()
            return list(self._population)
        if len(self._domains) < 2:
            return []
        for _ in range(BARREN):
            self._stalled = 0 if self.best > self._best else self._stalled + 1
            self._best = self.best
            if self._bounded and (self._generation >= self._until or self._stalled >= PATIENCE):
                return []
            self._generation += 1
            self._population = next_generation(self._population, self._score, self._crossed, self._mutated, self._rng)
            fresh = [setting for setting in dict.fromkeys(self._population) if setting not in self._scores]
            if fresh:
                return fresh
        return []

    def _first(self) -> list[Setting]:
        """A grid for one parameter (in drawn order), draws for several."""
        if len(self._domains) == 1:
            values = grid(next(iter(self._domains.values())))
            return [(values[i],) for i in self._rng.permutation(len(values))]
        found: dict[Setting, None] = {}
        for _ in range(TRIES * POPULATION):
            found[tuple(domain.sample(self._rng) for domain in self._domains.values())] = None
            if len(found) == POPULATION:
                break
        return list(found)

    def _score(self, setting: Setting) -> float:
        return self._scores.get(setting, -math.inf)

    def _crossed(self, number: int, better: Setting, worse: Setting) -> Setting:
        beyond, u = number % 2 == 0, OVERSHOOT * self._rng.random()
        child = []
        for limits, b, w in zip(self._domains.values(), better, worse, strict=True):
            if limits.kind != "log":
                child.append(b if self._rng.random() < 0.5 else w)
                continue
            b, w = _place(limits, b), _place(limits, w)
            child.append(_value(limits, w + u * (b - w) if beyond else b + self._rng.random() * (w - b)))
        return tuple(child)

    def _mutated(self, setting: Setting) -> Setting:
        done = min((self._generation - 1) / (GENERATIONS - 1), 1.0)
        step = FIRST_STEP + done * (LAST_STEP - FIRST_STEP)
        child = list(setting)
        for i in np.flatnonzero(mutated_genes(len(child), self._rng)):
            limits = list(self._domains.values())[i]
            if limits.kind == "log":
                child[i] = _value(limits, _place(limits, child[i]) + step * self._rng.standard_normal())
            else:
                child[i] = self._other(limits, child[i])
        return tuple(child)

    def _other(self, limits: Domain, value: float) -> float:
        """Another value, where a few draws find one."""
        draws = (limits.sample(self._rng) for _ in range(TRIES))
        return next((draw for draw in draws if draw != value), value)


def _place(limits: Domain, value: float) -> float:
    """Where a value lies between both ends on a log scale, in [0, 1]."""
    return math.log2(value / limits.low) / math.log2(limits.high / limits.low)


def _value(limits: Domain, place: float) -> float:
    return limits.clip(limits.low * (limits.high / limits.low) ** min(max(place, 0.0), 1.0))


def grid(limits: Domain, number: int = POPULATION) -> list[float]:
    """All choices, or up to ``number`` values evenly spaced on a log scale, both ends among them.

    Examples
    --------
    >>> from proxembed.adaptive.parameters import Domain
    >>> grid(Domain("log", 0.01, 1.0), 3), grid(Domain("integer", 1, 4), 100)
    ([0.01, 0.1, 1.0], [1, 2, 3, 4])
    """
    if limits.kind == "choice":
        return list(range(int(limits.low), int(limits.high) + 1))
    return list(dict.fromkeys(limits.clip(value) for value in np.geomspace(limits.low, limits.high, number)))
