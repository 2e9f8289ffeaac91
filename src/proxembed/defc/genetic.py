"""One generation of a genetic algorithm: elite, tournaments, offspring by crossover or by mutation of one parent."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

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
    """The best two, and offspring of parents that have won a tournament of two; 25 in all.  [mu2012defc]

    Parameters
    ----------
    population : the genomes of this generation, at least one.
    score : the larger the better.
    cross : from (number of the child, better parent, worse parent) to a child; four fifths of the offspring.
    mutate : from a parent to a child; the others.
    rng : decides the tournaments.
    same : what two genomes of one individual have in common: the elite are two different ones, where there are two.

    Returns
    -------
    list of genomes
        The elite first.

    Examples
    --------
    >>> found = next_generation([1, 5, 3], float, lambda i, a, b: a + b, lambda a: a + 1, np.random.default_rng(0))
    >>> found[:2], len(found)
    ([5, 3], 25)
    """

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
    """Which genes of a genome mutate: each with probability 0.1, at least one; bool (number,).

    Examples
    --------
    >>> mutated_genes(3, np.random.default_rng(0)).tolist()
    [False, False, True]
    """
    hit = rng.random(number) < MUTATION
    if not hit.any():
        hit[rng.integers(number)] = True
    return hit
