"""The strategies of a search of models: eight of them, a nested genetic algorithm over all, and draws at random.

Each model draws from a generator of its own, made of the seed and its switches, and what is evaluated next depends on
scores alone: any number of workers finds the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from proxembed.adaptive import Switches, sample
from proxembed.adaptive.switches import OPTIONS
from proxembed.execute.loop import Trial, Work
from proxembed.study.strategies import SearchStrategy, register
from proxembed.study.study import Study

from .genetic import ELITE, POPULATION, mutated_genes, next_generation
from .parameter_search import ParameterSearch

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
    words: ClassVar[str]  # what the page calls it
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


@register("reduced8")
class Reduced8(ModelStrategy):
    """Eight models: each gets an eighth of the evaluations for its parameters.  [mu2012defc]

    Standardised features; polynomial or Euclidean relations; pairs by polynomial or Gaussian similarity, which weighs
    them; both criteria; the ratio. A model that finds no new setting leaves its share to the others.
    """

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


@register("ga")
class NestedGA(ModelStrategy):
    """A genetic algorithm over the eight switches, 25 models a generation.  [mu2012defc]

    The fitness of a model is the best score that the search of its parameters has found; the elite are two different
    models. Switches are crossed gene by gene and mutate to another option. A model that is bred again goes on with its
    parameters, with half the budget. The search ends with 150 distinct models, or after 5 generations without a better
    score. A bound on evaluations is shared among the models that are still to come: as many as can have 25 settings
    each, but 50 at least, so that models are bred from models.
    """

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


@register("random")
class RandomModels(ModelStrategy):
    """The baseline: models drawn uniformly from all that are distinct, and one draw of parameters each."""

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
    """Any of the 72,576 switch vectors, each as likely.

    >>> random_genome(np.random.default_rng(0)).as_tuple()
    (5, 5, 3, 2, 1, 1, 1, 0)
    """
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
