"""The genetic algorithm on both levels, on landscapes whose best point is known: operators, stops, budget."""

import math

import numpy as np
import pytest

from proxembed.execute.loop import Evaluator
from proxembed.methods.adaptive import Limits, Switches, domain
from proxembed.study.defc import model_strategies
from proxembed.study.defc.model_strategies import (
    MODELS,
    REDUCED,
    NestedGA,
    ParameterSearch,
    RandomModels,
    Reduced8,
    mutated_genes,
    next_generation,
)
from proxembed.study.defc.objective import Evaluation
from proxembed.study.trials import Study
from strategies import canonical_switches

LIMITS = Limits(200, 60, 120)
FIVE = Switches(3, 6, 0, 5, 1, 1, 2, 0)  # relation_sigma, similarity_sigma, n_friends, n_enemies, lam
TARGET = (2, 6, 3, 5, 2, 2, 2, 1)


class Landscape(Evaluator):
    """An objective without data: models near the target are better, and so are parameters near lam = 1."""

    limits, cache_stats, perfect = LIMITS, {"hits": 0}, 1.0

    def __init__(self, flat=False):
        self.flat, self.calls = flat, []

    def evaluate(self, switches, params):
        self.calls.append((switches, tuple(params.items())))
        near = sum(a == b for a, b in zip(switches.as_tuple(), TARGET, strict=True)) / 8
        score = 0.5 if self.flat else 0.9 * near - 0.01 * abs(math.log10(params.get("lam", 1.0)))
        return Evaluation(switches.as_tuple(), dict(params), score, 1, (score,), 0.0)


def run(strategy, landscape=None, **options):
    return Study(landscape or Landscape(), **options).run(strategy())


def rounds(search, score, cap=10**6):
    """Ask and tell until the end: the settings of each generation."""
    found = []
    while cap > 0 and (asked := search.ask(min(25, cap))):
        cap -= len(asked)
        found.append(asked)
        for params in asked:
            search.tell(params, score(params))
    return found


def test_a_generation_keeps_the_best_two_and_breeds_four_fifths_by_crossover():
    made = {"crossed": [], "mutated": 0}

    def cross(number, a, b):
        assert a >= b  # the better parent comes first
        made["crossed"].append(number)
        return 1000 + number

    def mutate(a):
        made["mutated"] += 1
        return 2000 + a

    found = next_generation(list(range(25)), float, cross, mutate, np.random.default_rng(0))
    assert found[:2] == [24, 23] and len(found) == 25
    assert made == {"crossed": list(range(18)), "mutated": 5}


def test_tournaments_prefer_the_better_of_two():
    parents = []
    for seed in range(40):
        next_generation(
            list(range(25)), float, lambda _, a, b: parents.extend((a, b)), lambda a: a, np.random.default_rng(seed)
        )
    assert np.mean(parents) == pytest.approx(24 * 2 / 3, abs=0.7)  # mean of the larger of two uniform draws


def test_mutation_hits_a_tenth_of_the_genes_and_never_none():
    rng = np.random.default_rng(0)
    hits = np.array([mutated_genes(8, rng) for _ in range(4000)])
    assert hits.any(axis=1).all()
    assert hits.sum(axis=1).mean() == pytest.approx(8 * 0.1 + 0.9**8, abs=0.05)


def test_settings_are_permitted_distinct_and_asked_for_once():
    search = ParameterSearch(FIVE, LIMITS, np.random.default_rng(0))
    asked = [tuple(p.values()) for part in rounds(search, lambda p: -abs(math.log(p["lam"]))) for p in part]
    assert len(asked) == len(set(asked)) > 50
    for name, values in zip(FIVE.numeric(), zip(*asked, strict=True), strict=True):
        limits = domain(name, FIVE, LIMITS)
        assert all(limits.low <= value <= limits.high and limits.clip(value) == value for value in values)


def test_continuous_genes_are_crossed_on_a_line_and_in_a_box():
    search = ParameterSearch(FIVE, LIMITS, np.random.default_rng(1))
    better, worse = (4.0, 0.25, 3, 50, 10.0), (0.25, 8.0, 40, 7, 0.001)
    logs = np.log([[s[0], s[1], s[4]] for s in (better, worse)])
    shares, beyond = [], 0
    for _ in range(200):
        child = search._crossed(0, better, worse)
        along = (np.log([child[0], child[1], child[4]]) - logs[1]) / (logs[0] - logs[1])
        assert np.ptp(along) < 0.01  # three digits
        beyond += along[0] > 1.01
        shares.append(along[0])
        assert child[2] in (3, 40) and child[3] in (50, 7)
    assert 0 <= min(shares) and 1.1 < max(shares) <= 1.21 and 10 < beyond < 70  # a sixth goes past the better one
    boxes = np.array([search._crossed(1, better, worse) for _ in range(200)])[:, [0, 1, 4]]
    place = (np.log(boxes) - logs[1]) / (logs[0] - logs[1])
    assert place.min() > -0.01 and place.max() < 1.01 and np.ptp(place, axis=1).max() > 0.5


@pytest.mark.parametrize(("generation", "step"), [(1, 0.2), (8, 0.05), (30, 0.05)])
def test_the_step_of_a_mutation_shrinks(generation, step):
    switches = Switches(0, 0, 0, 3, 2, 1, 2, 0)  # n_neighbors, lam
    search = ParameterSearch(switches, LIMITS, np.random.default_rng(2))
    search._generation = generation
    start = (5, 1e-2)
    lams = np.array([search._mutated(start)[1] for _ in range(3000)])
    moves = np.log10(lams[lams != start[1]] / start[1]) / 8  # lam has eight decades
    assert np.std(moves) == pytest.approx(step, rel=0.08)
    counts = [search._mutated(start)[0] for _ in range(300)]
    assert len(set(counts)) > 30 and np.mean(np.array(counts) == 5) < 0.7


def test_the_lower_search_ends_after_eight_generations_or_three_stalled():
    rising = iter(range(10**6))
    found = rounds(ParameterSearch(FIVE, LIMITS, np.random.default_rng(0)), lambda p: float(next(rising)))
    assert len(found) == 1 + 8 and len(found[0]) == 25 and all(len(part) <= 23 for part in found[1:])
    search = ParameterSearch(FIVE, LIMITS, np.random.default_rng(0))
    assert len(rounds(search, lambda p: 0.5)) == 1 + 3 and search.finished
    search.resume()
    assert len(rounds(search, lambda p: float(next(rising)))) == 4


def test_it_finds_a_narrow_optimum_that_draws_miss():
    def score(p):
        return -abs(math.log2(p["relation_sigma"] / 3)) - abs(math.log2(p["lam"])) - abs(p["n_friends"] - 7) / 10

    bred, drawn = [], []
    for seed in range(5):
        search = ParameterSearch(FIVE, LIMITS, np.random.default_rng(seed), bounded=False)
        rounds(search, score, cap=200)
        bred.append(search.best)
        rng = np.random.default_rng(seed)
        drawn.append(max(score({n: domain(n, FIVE, LIMITS).sample(rng) for n in FIVE.numeric()}) for _ in range(200)))
    assert np.median(bred) > np.median(drawn) + 0.2


def test_one_parameter_gets_a_grid_and_none_a_single_setting():
    one = ParameterSearch(Switches(0, 0, 0, 3, 2, 1, 3, 0), LIMITS, np.random.default_rng(0))
    (grid,) = rounds(one, lambda p: 0.0)
    values = sorted(p["n_neighbors"] for p in grid)
    assert values[0] == 2 and values[-1] == 199 and 15 < len(set(values)) == len(values) <= 25
    lone = ParameterSearch(Switches(0, 0, 0, 2, 1, 1, 3, 0), LIMITS, np.random.default_rng(0))
    assert len(rounds(lone, lambda p: 0.0)[0]) == 25  # similarity_p and n_enemies: two parameters
    assert domain("similarity_p", Switches(0, 0, 0, 2, 1, 1, 3, 0), LIMITS).kind == "choice"
    degrees = model_strategies.grid(domain("similarity_p", Switches(0, 0, 0, 2, 1, 1, 3, 0), LIMITS))
    assert degrees == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("strategy", [Reduced8, NestedGA, RandomModels])
@pytest.mark.parametrize("number", [1, 7, 30, 333])
def test_the_budget_is_spent_exactly_and_the_best_never_falls(strategy, number):
    landscape = Landscape()
    search = run(strategy, landscape, max_evals=number)
    assert len(search.outcomes) == number == len(landscape.calls) == len(search.history)
    assert len(set(landscape.calls)) == number  # nothing is evaluated twice
    best = [entry["best"] for entry in search.history]
    assert best == sorted(best) and best[-1] == max(found.score for found in search.outcomes)
    assert [entry["evaluations"] for entry in search.history] == list(range(1, number + 1))
    assert all(Switches.of(found.switches).canonical().as_tuple() == found.switches for found in search.outcomes)


@pytest.mark.parametrize("strategy", [Reduced8, NestedGA, RandomModels])
def test_the_seed_alone_decides(strategy):
    first, again, other = (run(strategy, max_evals=150, seed=seed).outcomes for seed in (3, 3, 4))
    assert first == again != other


def test_the_eight_models_share_the_budget():
    search = run(Reduced8, max_evals=402)
    counts = [sum(found.switches == model.as_tuple() for found in search.outcomes) for model in REDUCED]
    assert counts == [51, 51] + [50] * 6
    assert {model.as_tuple() for model in REDUCED} == {
        (3, r, 0, s, em, 2, 2, 0) for r in (2, 5) for s in (2, 5) for em in (1, 2)
    }


def test_the_upper_search_ends_with_150_models_or_five_stalled_generations():
    assert run(NestedGA, Landscape(flat=True), max_evals=None).history[-1]["generation"] == 6
    search = run(NestedGA, max_evals=None)
    assert len(search.trials) <= MODELS and (len(search.trials) == MODELS or search.history[-1]["generation"] > 5)


def test_the_upper_search_finds_better_models_than_draws():
    bred, drawn = (
        np.median([max(found.score for found in run(s, max_evals=800, seed=seed).outcomes) for seed in range(3)])
        for s in (NestedGA, RandomModels)
    )
    assert bred > drawn + 0.05


def test_a_model_that_is_bred_again_goes_on_with_half_the_budget():
    search = Study(Landscape(), max_evals=3000)
    known, new = Switches.of(TARGET).canonical(), REDUCED[0]
    caps = NestedGA().caps(search, [known, new, known], {known: 0.5})
    assert caps == {known: 12, new: 25}
    assert NestedGA().caps(Study(Landscape()), [known, new], {known: 0.5}) == {known: math.inf, new: math.inf}


@pytest.mark.parametrize(("budget", "share"), [(200, 4), (1250, 25), (3750, 25), (7500, 50)])
def test_a_budget_serves_fifty_models_or_more_with_25_settings_each(budget, share):
    assert set(NestedGA().caps(Study(Landscape(), max_evals=budget), list(REDUCED), {}).values()) == {share}


def test_switches_mutate_to_another_option():
    rng = np.random.default_rng(0)
    genome = Switches(5, 8, 5, 7, 2, 2, 4, 1)
    assert all(model_strategies.mutated(genome, rng) != genome for _ in range(200))
    a, b = Switches(0, 0, 0, 1, 1, 1, 1, 0), genome
    children = np.array([model_strategies.crossed(a, b, rng).as_tuple() for _ in range(400)])
    assert all(set(column) == {x, y} for column, x, y in zip(children.T, a.as_tuple(), b.as_tuple(), strict=True))
    assert np.abs((children == a.as_tuple()).mean(axis=0) - 0.5).max() < 0.1


def test_the_elite_are_two_models_not_two_spellings_of_one():
    spellings = [Switches(0, 0, t, 5, 2, 1, 2, 0) for t in range(4)]  # no relation features: t means nothing
    other = Switches(3, 5, 0, 5, 2, 1, 2, 0)
    score = dict.fromkeys(spellings, 0.9) | {other: 0.5}
    breed = (lambda _, a, b: a, lambda a: a, np.random.default_rng(0))
    assert next_generation([*spellings, other], score.get, *breed, Switches.canonical)[:2] == [spellings[0], other]
    assert next_generation([*spellings, other], score.get, *breed)[:2] == spellings[:2]
    assert len(next_generation(spellings, score.get, *breed, Switches.canonical)) == 25


def test_both_elite_places_of_the_upper_search_hold_different_models(monkeypatch):
    kept = []
    whole = model_strategies.next_generation
    monkeypatch.setattr(model_strategies, "next_generation", lambda *given: kept.append(whole(*given)) or kept[-1])
    for seed in range(2):
        run(NestedGA, max_evals=600, seed=seed)
    assert len(kept) > 8 and all(first.canonical() != second.canonical() for first, second, *_ in kept)


def test_random_models_are_drawn_uniformly_from_the_distinct_ones():
    """A draw that is not canonical is drawn again: made canonical, models of many spellings would come more often."""
    search = run(RandomModels, max_evals=3000)
    spelled = canonical_switches()
    every = set(spelled)
    assert len(every) == 28700
    drawn = [Switches.of(evaluation.switches) for evaluation in search.outcomes]
    for rule in (lambda s: s.r == 0, lambda s: s.o == 0, lambda s: s.p == 2):
        share = np.mean([rule(switches) for switches in every])
        canonical = np.mean([rule(switches) for switches in spelled])
        spread = np.sqrt(share * (1 - share) / 3000)
        found = np.mean([rule(switches) for switches in drawn])
        assert abs(found - share) < 4 * spread < abs(canonical - share) - 4 * spread
