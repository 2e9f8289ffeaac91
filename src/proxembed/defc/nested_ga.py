"""The nested genetic algorithm: a population of models, each with its own search of parameters."""

from __future__ import annotations

import math

import numpy as np

from proxembed.adaptive import Switches
from proxembed.adaptive.switches import OPTIONS

from .genetic import ELITE, POPULATION, mutated_genes, next_generation
from .model_search import ModelSearch, random_genome

MODELS = 150
FEWEST_MODELS = 2 * POPULATION
PATIENCE = 5


def nested_ga(search: ModelSearch) -> None:
    """The search of models by a genetic algorithm over the eight switches, 25 a generation.  [mu2012defc]

    The fitness of a model is the best score that the search of its parameters has found; the elite are two different
    models. Switches are crossed gene by gene and mutate to another option. A model that is bred again goes on with its
    parameters, with half the budget. The search ends with 150 distinct models, or after 5 generations without a better
    score. A bound on evaluations is shared among the models that are still to come: as many as can have 25 settings
    each, but 50 at least, so that models are bred from models.

    Parameters
    ----------
    search : ModelSearch, whose budget it spends.

    Examples
    --------
    >>> from proxembed.data import banana
    >>> from proxembed.defc.objective import Objective
    >>> from proxembed.targets.labels import LabelMatrix
    >>> data = banana(60)
    >>> labels = LabelMatrix.of(data.Y.toarray().argmax(axis=1))
    >>> objective = Objective(data.X, labels, [(np.arange(40), np.arange(40, 60))])
    >>> found = ModelSearch(objective, max_evals=30).carry_out(nested_ga)
    >>> len(found.evaluations) <= 30, found.n_models >= 20
    (True, True)
    """
    rng = search.generator()
    population = [random_genome(rng) for _ in range(POPULATION)]
    best, stalled, generation = -math.inf, 0, 0
    fitness: dict[Switches, float] = {}
    while not search.over and stalled < PATIENCE and search.n_models < MODELS:
        generation += 1
        models = [genome.canonical() for genome in population]
        search.optimise(_caps(search, [m for i, m in enumerate(models) if i >= ELITE or m not in fitness], fitness))
        models = list(dict.fromkeys(models))
        fitness.update((switches, search.parameters_of(switches).best) for switches in models)
        search.close_generation(generation, [fitness[switches] for switches in models])
        top = max(fitness.values())
        stalled, best = (0, top) if top > best else (stalled + 1, best)
        population = next_generation(
            population,
            lambda genome: fitness[genome.canonical()],
            lambda _, a, b: _crossed(a, b, rng),
            lambda genome: _mutated(genome, rng),
            rng,
            Switches.canonical,
        )


def _caps(search: ModelSearch, models: list[Switches], known: dict[Switches, float]) -> dict[Switches, float]:
    """How many evaluations each model may take: new ones an even share of what is left, known ones half of that."""
    to_come = MODELS - search.n_models
    total = search.room + len(search.evaluations)
    planned = min(max(total / POPULATION, FEWEST_MODELS), MODELS)
    share = search.room / max(planned - search.n_models, POPULATION)
    share = share if share == math.inf else max(1, int(share))
    caps: dict[Switches, float] = {}
    for switches in dict.fromkeys(models):
        if switches in known:
            search.parameters_of(switches).resume()
            caps[switches] = share if share == math.inf else share // 2
        elif to_come > 0:
            caps[switches], to_come = share, to_come - 1
    return caps


def _crossed(a: Switches, b: Switches, rng: np.random.Generator) -> Switches:
    """Each gene from either parent."""
    genes = zip(a.as_tuple(), b.as_tuple(), rng.random(len(OPTIONS)) < 0.5, strict=True)
    return Switches(*(x if first else y for x, y, first in genes))


def _mutated(genome: Switches, rng: np.random.Generator) -> Switches:
    """Some genes replaced by another of their options."""
    genes = list(genome.as_tuple())
    options = list(OPTIONS.values())
    for i in np.flatnonzero(mutated_genes(len(genes), rng)):
        _, values, first = options[i]
        genes[i] = first + (genes[i] - first + int(rng.integers(1, len(values)))) % len(values)
    return Switches(*genes)
