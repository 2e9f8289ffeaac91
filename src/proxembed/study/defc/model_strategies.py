"""The strategies of a search of models: eight of them, a nested genetic algorithm over all, and draws at random.

Each model draws from a generator of its own, made of the seed and its switches, and what is evaluated next depends on
scores alone: any number of workers finds the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from proxembed.execute.loop import Trial, Work
from proxembed.methods.adaptive import Limits, Switches, domain, sample
from proxembed.methods.adaptive.copies import Domain
from proxembed.methods.adaptive.switches import OPTIONS

from ..trials import SearchStrategy, Study

POPULATION = 25
ELITE = 2
CROSSOVER = 0.8
MUTATION = 0.1

Genome = TypeVar("Genome", bound=Hashable)


def next_generation(
    population: Sequence[Genome],
    score: Callable[[Genome], float],
    cross: Callable[[int, Genome, Genome], Genome],
    mutate: Callable[[Genome], Genome],
    rng: np.random.Generator,
    same: Callable[[Genome], Hashable] = lambda genome: genome,
) -> list[Genome]:
    """The best two, and offspring of parents that have won a tournament of two; 25 in all.  [mu2012defc]"""

    def winner() -> Genome:
        a, b = (population[i] for i in rng.integers(len(population), size=2))
        return b if score(b) > score(a) else a

    def child(number: int) -> Genome:
        a, b = winner(), winner()
        return cross(number, b, a) if score(b) > score(a) else cross(number, a, b)

    first: dict[Hashable, Genome] = {}
    for genome in sorted(population, key=lambda genome: -score(genome)):
        first.setdefault(same(genome), genome)
    elite = list(first.values())[:ELITE]
    offspring = POPULATION - len(elite)
    crossed = round(CROSSOVER * offspring)
    return elite + [child(i) if i < crossed else mutate(winner()) for i in range(offspring)]


def mutated_genes(number: int, rng: np.random.Generator) -> np.ndarray:
    """Which genes of a genome mutate: each with probability 0.1, at least one; bool (number,)."""
    hit = rng.random(number) < MUTATION
    if not hit.any():
        hit[rng.integers(number)] = True
    return hit


SMALL_BATCH = 4
REDUCED = tuple(Switches(3, r, 0, s, em, 2, 2, 0) for r in (2, 5) for s in (2, 5) for em in (1, 2))
MODELS = 150
FEWEST_MODELS = 2 * POPULATION
PATIENCE = 5

Batches = Iterator[list[Work]]


class ModelTrial(Trial):
    """A model, whose outcomes go by number: its steps are settings."""

    def record(self, step: Any, outcome: Any) -> None:
        """Keep the outcome of a setting."""
        self.outcomes[len(self.outcomes)] = outcome


class ModelStrategy(SearchStrategy):
    """What strategies for models share: the searches of parameters, one of each model, whose settings are the steps."""

    space = "models"
    evaluations: ClassVar[int] = 200  # which the program takes where none are asked for
    ends: ClassVar[bool] = False  # whether it ends without a bound; the searches of parameters too, then

    def __init__(self) -> None:
        self._searches: dict[Switches, ParameterSearch] = {}

    def parameters_of(self, study: Study, switches: Switches) -> ParameterSearch:
        """The search of a model's parameters, begun at the first call and then the same."""
        if switches not in self._searches:
            limits, rng = study.evaluator.limits, study.generator(*switches.as_tuple())
            self._searches[switches] = ParameterSearch(switches, limits, rng, bounded=self.ends)
        return self._searches[switches]

    def tell(self, results: Sequence[tuple[Trial, Any, Any]]) -> None:
        """Tell the scores to the searches of parameters."""
        for trial, params, evaluation in results:
            if trial.config in self._searches:
                self._searches[trial.config].tell(params, evaluation.score)

    def optimise(self, study: Study, caps: Mapping[Switches, float]) -> Batches:
        """Search the parameters of models side by side, each with its largest number of evaluations."""
        searches = {switches: self.parameters_of(study, switches) for switches in caps}
        whole = study.seconds == study.patience == math.inf
        left, batch = dict(caps), POPULATION if whole else SMALL_BATCH
        while not study.over:
            work = []
            for switches, search in searches.items():
                settings = search.ask(int(min(batch, left[switches])))
                left[switches] -= len(settings)
                if settings:
                    work.append(work_on(study, switches, settings))
            if not work:
                break
            yield work


def work_on(study: Study, switches: Switches, settings: list[dict[str, float]]) -> Work:
    """The evaluation of settings of a model, which enters the study with the first of them."""
    trial = study.entered.setdefault(switches, ModelTrial(switches, str(list(switches.as_tuple()))))
    return Work(trial, settings)


def close_generation(study: Study, number: int, scores: Sequence[float]) -> None:
    """Note the best and mean score of a generation's models at the evaluation that ended it."""
    usable = [score for score in scores if score > -math.inf]
    if study.history and usable:
        mean = float(np.mean(usable))
        study.history[-1].update(generation=number, generation_best=max(usable), generation_mean=mean)


class Reduced8(ModelStrategy):
    """Eight models: each gets an eighth of the evaluations for its parameters.  [mu2012defc]"""

    name = "reduced8"
    words = "the reduced search over eight models"

    def batches(self, study: Study) -> Batches:
        """Rounds of the eight, until none finds a new setting."""
        while not study.over:
            before, room = len(study.outcomes), study.evaluations_left
            share, rest = (math.inf, 0) if room == math.inf else divmod(int(room), len(REDUCED))
            yield from self.optimise(study, {switches: share + (i < rest) for i, switches in enumerate(REDUCED)})
            if len(study.outcomes) == before:
                break
        close_generation(study, 1, [self.parameters_of(study, switches).best for switches in REDUCED])


class NestedGA(ModelStrategy):
    """A genetic algorithm over the eight switches, 25 models a generation.  [mu2012defc]"""

    name = "ga"
    words, evaluations, ends = "the nested genetic algorithm", 4000, True

    def batches(self, study: Study) -> Batches:
        """The generations."""
        rng = study.generator()
        population = [random_genome(rng) for _ in range(POPULATION)]
        best, stalled, generation = -math.inf, 0, 0
        fitness: dict[Switches, float] = {}
        while not study.over and stalled < PATIENCE and len(study.trials) < MODELS:
            generation += 1
            models = [genome.canonical() for genome in population]
            fresh = [m for i, m in enumerate(models) if i >= ELITE or m not in fitness]
            yield from self.optimise(study, self.caps(study, fresh, fitness))
            models = list(dict.fromkeys(models))
            fitness.update((switches, self.parameters_of(study, switches).best) for switches in models)
            close_generation(study, generation, [fitness[switches] for switches in models])
            top = max(fitness.values())
            stalled, best = (0, top) if top > best else (stalled + 1, best)
            population = next_generation(
                population,
                lambda genome: fitness[genome.canonical()],
                lambda _, a, b: crossed(a, b, rng),
                lambda genome: mutated(genome, rng),
                rng,
                Switches.canonical,
            )

    def caps(self, study: Study, models: list[Switches], known: Mapping[Switches, Any]) -> dict[Switches, float]:
        """How many evaluations each model may take: new ones an even share of what is left, known ones half of it."""
        room, begun = study.evaluations_left, len(study.trials)
        to_come = MODELS - begun
        planned = min(max((room + len(study.outcomes)) / POPULATION, FEWEST_MODELS), MODELS)
        share = room / max(planned - begun, POPULATION)
        share = share if share == math.inf else max(1, int(share))
        caps: dict[Switches, float] = {}
        for switches in dict.fromkeys(models):
            if switches in known:
                self.parameters_of(study, switches).resume()
                caps[switches] = share if share == math.inf else share // 2
            elif to_come > 0:
                caps[switches], to_come = share, to_come - 1
        return caps


class RandomModels(ModelStrategy):
    """The baseline: models drawn uniformly from all that are distinct, and one draw of parameters each."""

    name = "random"
    words = "random search over all models"

    def batches(self, study: Study) -> Batches:
        """The draws, 25 at a time."""
        rng, visits = study.generator(), Counter[Switches]()
        while not study.over:
            work: list[Work] = []
            while len(work) < POPULATION:
                switches = random_genome(rng)
                if switches != switches.canonical():
                    continue
                visits[switches] += 1
                own = study.generator(*switches.as_tuple(), visits[switches])
                work.append(work_on(study, switches, [sample(switches, study.evaluator.limits, own)]))
            yield work


def random_genome(rng: np.random.Generator) -> Switches:
    """Any of the 72,576 switch vectors, each as likely."""
    return Switches(*(int(rng.integers(first, first + len(values))) for _, values, first in OPTIONS.values()))


def crossed(a: Switches, b: Switches, rng: np.random.Generator) -> Switches:
    """Each gene from either parent."""
    genes = zip(a.as_tuple(), b.as_tuple(), rng.random(len(OPTIONS)) < 0.5, strict=True)
    return Switches(*(x if first else y for x, y, first in genes))


def mutated(genome: Switches, rng: np.random.Generator) -> Switches:
    """Some genes replaced by another of their options."""
    genes = list(genome.as_tuple())
    options = list(OPTIONS.values())
    for i in np.flatnonzero(mutated_genes(len(genes), rng)):
        _, values, first = options[i]
        genes[i] = first + (genes[i] - first + int(rng.integers(1, len(values)))) % len(values)
    return Switches(*genes)


GENERATIONS = 8
INNER_PATIENCE = 3
BARREN = 20
TRIES = 10
OVERSHOOT = 1.2
FIRST_STEP, LAST_STEP = 0.2, 0.05

Setting = tuple[float, ...]


class ParameterSearch:
    """The search of one model's parameters: 25 settings a generation.  [mu2012defc]"""

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
        """Up to ``number`` settings that were never asked for; none when the search has ended."""
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
            if self._bounded and (self._generation >= self._until or self._stalled >= INNER_PATIENCE):
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
    """All choices, or up to ``number`` values evenly spaced on a log scale, both ends among them."""
    if limits.kind == "choice":
        return list(range(int(limits.low), int(limits.high) + 1))
    return list(dict.fromkeys(limits.clip(value) for value in np.geomspace(limits.low, limits.high, number)))
